"""`caveat compare`: what two registries or bundles say about the same claims."""

from pathlib import Path

import pytest

from registry.errors import InputError
from registry.exchange.claim_comparison import MatchKind, compare_registries
from registry.exchange.compared_registry import open_compared
from registry.records.claim import Form, Relation
from registry.records.claim_status import Objection
from registry.records.record import Kind
from tests.store import builders
from tests.transfer.registries import Institute

LIMIT = {"form": Form.UPPER_BOUND, "relation": Relation.AT_MOST}


def contest(institute: Institute, claim: str) -> None:
    with institute.ledger.write(actor=institute.code) as writer:
        name = writer.allocate(Kind.OBJECTION, institute.code)[0]
        writer.append(Objection(objection=name, target=f"{claim}@1", by=institute.code, grounds="too few contexts"))


def test_disagreements_come_first_then_what_one_alone_has(aisi: Institute, lab: Institute) -> None:
    """Another limit and an objection of one side are disagreements; punctuation and identifiers are none; order: both, first, second."""
    lab.add_claims(1, quote="It leaks at most so much.", theta=0.1, **LIMIT)
    (contested,) = lab.add_claims(1, quote="It never lies!")
    lab.add_claims(1, quote="It is only here.")
    aisi.add_claims(1, quote="It leaks at most so much.", theta=0.2, **LIMIT)
    aisi.add_claims(1, quote="It never lies.")
    contest(lab, contested)
    with lab.ledger.view() as first, aisi.ledger.view() as second:
        pairs = compare_registries(first, second)

    leading = [(pair.words, pair.differences[0].field, pair.differences[0].first) for pair in pairs[:2]]
    assert leading == [("It never lies!", "objections", "contested"), ("It leaks at most so much.", "theta", 0.1)]
    kinds = [pair.kind for pair in pairs]
    assert kinds == sorted(kinds, key=list(MatchKind).index)
    assert [pair.words for pair in pairs if pair.kind is MatchKind.ONLY_FIRST] == ["It is only here."]
    assert all(pair.first is None for pair in pairs if pair.kind is MatchKind.ONLY_SECOND)


def test_a_bundle_is_compared_without_being_imported(aisi: Institute, tmp_path: Path) -> None:
    """A bundle agrees with the registry it came from; a reader's key is required to have signed it, and without one that is said."""
    aisi.export(tmp_path / "aisi.caveat")
    size = aisi.ledger.list_logs()
    with open_compared(str(tmp_path / "aisi.caveat"), clock=builders.ticking()) as bundle:
        assert bundle.is_verified is False
        with aisi.ledger.view() as view:
            assert {pair.kind for pair in compare_registries(view, bundle.view)} == {MatchKind.SAME}
    with open_compared(str(tmp_path / "aisi.caveat"), clock=builders.ticking(), keys=[aisi.vkey]) as bundle:
        assert bundle.is_verified is True
    assert aisi.ledger.list_logs() == size


def test_a_bundle_of_another_signer_and_a_missing_file_are_refused(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """One error each: the key is not the one that signed, or there is nothing of this name."""
    aisi.export(tmp_path / "aisi.caveat")
    for source, keys in ((tmp_path / "aisi.caveat", [lab.vkey]), (tmp_path / "none.caveat", [])):
        with pytest.raises(InputError), open_compared(str(source), clock=builders.ticking(), keys=keys):
            pass
