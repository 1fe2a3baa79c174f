"""A claim of another registry's log, registered here under an identifier of one's own: audited, contested, and never another claim."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from registry.errors import CaveatError
from registry.exchange.bundle_transfer import take_over
from registry.exchange.foreign_claims import adopt_claim
from registry.records.claim import Form
from registry.records.claim_status import Objection
from registry.records.record import Kind
from registry.records.verdict import Basis, ClaimClass, RestrictionStatus
from registry.report.supplement_assembly import assemble_claim
from registry.store.log_writer import Writer
from tests.store import builders
from tests.transfer.registries import Institute, found


@pytest.fixture
def pair(new_url: Callable[[], str], tmp_path: Path) -> Iterator[tuple[Institute, Institute, str]]:
    """A lab with a quoted claim that its own audit narrows, and an institute that took its log over; with the claim."""
    lab, institute = found(new_url(), "LAB", seed=1), found(new_url(), "AISI", seed=2)
    claim = lab.add_quoted()
    with lab.ledger.write(actor="LAB") as writer:
        _conclude(writer, f"{claim}@1", "LAB", ClaimClass.DEGRADED)
    _take(lab, institute, tmp_path / "lab.jsonl")
    yield lab, institute, claim
    for each in (lab, institute):
        each.ledger.close()


def _take(source: Institute, target: Institute, path: Path) -> None:
    source.export(path)
    take_over(target.ledger, path, actor=target.code, keys=(source.vkey,))


def _conclude(writer: Writer, claim: str, code: str, class_: ClaimClass) -> None:
    audit = writer.allocate(Kind.AUDIT, code)[0]
    writer.append(replace(builders.audit(audit, claim), auditor=code))
    writer.append(builders.restriction(audit, claim, builders.verdict(Form.PREVALENCE, class_, basis=Basis.REPORTED)))


def test_an_adopted_claim_names_its_original_and_has_its_outcomes(pair: tuple[Institute, Institute, str]) -> None:
    """Words, form and model are the original's; log, identifier and entry hash are named; the outcomes of the kept log count."""
    lab, institute, claim = pair

    done = adopt_claim(institute.ledger, lab.origin, claim, owner="AISI")

    with institute.ledger.view() as view, lab.ledger.view() as there:
        here, original = view.dossier(done.claim), there.find_claim(claim)
        supplement = assemble_claim(here, made_at=here.current.entry.at)
    assert original is not None
    said = here.current.payload
    assert (said.quote, said.form, said.theta, said.model) == tuple(
        getattr(original.payload, name) for name in ("quote", "form", "theta", "model")
    )
    assert said.origin == done.origin
    assert (done.origin.claim, done.origin.seq, done.origin.leaf) == (f"{claim}@1", original.entry.seq, original.entry.leaf)
    assert said.claim.startswith("CLM-AISI-")
    assert here.status.restriction is RestrictionStatus.NARROWED
    (outcome,) = here.family.outcomes
    assert (outcome.claim, outcome.log) == (f"{claim}@1", lab.origin)
    assert lab.origin in supplement.verdict
    assert supplement.audit is None


def test_an_adopted_claim_is_audited_and_contested_here(pair: tuple[Institute, Institute, str]) -> None:
    """Its own outcome joins that of the original, and an objection is against the claim here."""
    lab, institute, claim = pair
    done = adopt_claim(institute.ledger, lab.origin, claim, owner="AISI")
    with institute.ledger.write(actor="AISI") as writer:
        _conclude(writer, done.claim, "AISI", ClaimClass.STABLE)
        objection = writer.allocate(Kind.OBJECTION, "AISI")[0]
        writer.append(Objection(objection=objection, target=done.claim, by="AISI", grounds="too few tasks"))

    with institute.ledger.view() as view:
        dossier = view.dossier(done.claim)
    assert [one.log for one in dossier.family.outcomes] == [lab.origin, None]
    assert dossier.status.restriction is RestrictionStatus.NARROWED
    assert [one.objection.payload.objection for one in dossier.objections] == [objection]


def test_adopting_again_records_nothing(pair: tuple[Institute, Institute, str]) -> None:
    """The same revision of the same claim is adopted once."""
    lab, institute, claim = pair
    first = adopt_claim(institute.ledger, lab.origin, claim, owner="AISI")
    with institute.ledger.view() as view:
        before = view.log_size

    again = adopt_claim(institute.ledger, lab.origin, claim, owner="AISI")

    with institute.ledger.view() as view:
        assert view.log_size == before
    assert (again.claim, again.is_new) == (first.claim, False)


def test_a_newer_revision_of_the_original_becomes_a_revision_here(pair: tuple[Institute, Institute, str], tmp_path: Path) -> None:
    """What was found of the earlier one stays."""
    lab, institute, claim = pair
    first = adopt_claim(institute.ledger, lab.origin, claim, owner="AISI")
    with lab.ledger.write(actor="LAB") as writer:
        recorded = writer.find_claim(claim)
        assert recorded is not None
        writer.append(replace(recorded.payload, revision=2, why="another note", note="new"))
    _take(lab, institute, tmp_path / "more.jsonl")

    second = adopt_claim(institute.ledger, lab.origin, claim, owner="AISI")

    assert second.claim == f"{first.claim.partition('@')[0]}@2"
    with institute.ledger.view() as view:
        assert view.status(second.claim.partition("@")[0]).restriction is RestrictionStatus.NARROWED


def test_what_is_not_kept_is_not_adopted(pair: tuple[Institute, Institute, str]) -> None:
    """A log that was not taken over, a claim that it does not have, and this registry's own log."""
    lab, institute, claim = pair
    for log, name, code in (
        ("no one.example/log", claim, "log-not-found"),
        (lab.origin, builders_like(claim), "not-registered"),
        (institute.origin, claim, "own-log"),
    ):
        with pytest.raises(CaveatError) as refused:
            adopt_claim(institute.ledger, log, name, owner="AISI")
        assert refused.value.code == code


def builders_like(claim: str) -> str:
    """Return an identifier of the same authority that nothing has."""
    from registry.records.record import format_identifier, parse_identifier

    parsed = parse_identifier(claim)
    return format_identifier(parsed.kind, parsed.authority, parsed.year, parsed.number + 50)


def test_an_origin_that_differs_from_the_kept_log_is_refused(pair: tuple[Institute, Institute, str]) -> None:
    """Another entry hash, an entry beyond what was taken over, or other words than the original's."""
    lab, institute, claim = pair
    done = adopt_claim(institute.ledger, lab.origin, claim, owner="AISI")
    with institute.ledger.view() as view:
        said = view.dossier(done.claim).current.payload
    assert said.origin is not None
    for changes, code in (
        ({"origin": replace(said.origin, leaf="0" * 64)}, "origin-altered"),
        ({"origin": replace(said.origin, seq=10_000)}, "origin-unknown"),
        ({"quote": "It does scheme."}, "origin-differs"),
    ):
        with pytest.raises(CaveatError) as refused, institute.ledger.write(actor="AISI") as writer:
            writer.append(replace(said, revision=2, why="because", **changes))
        assert refused.value.code == code


def test_an_altered_entry_of_the_kept_log_is_found(pair: tuple[Institute, Institute, str]) -> None:
    """A text changed in the database after it was taken over is not adopted."""
    lab, institute, claim = pair
    with institute.ledger.connect() as connection:
        if connection.dialect.name != "sqlite":
            pytest.skip("the triggers of PostgreSQL are not dropped here")
        connection.exec_driver_sql("DROP TRIGGER body__update")
        connection.exec_driver_sql("UPDATE body SET json = replace(json, 'scheme', 'plot') WHERE log <> 1")
        connection.commit()
    with pytest.raises(CaveatError) as refused:
        adopt_claim(institute.ledger, lab.origin, claim, owner="AISI")
    assert refused.value.code in ("entry-altered", "row-differs")
