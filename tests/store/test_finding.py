"""Finding what is recorded: by name, by file, by word, and all that was said of one thing, on every engine."""

from itertools import pairwise

import pytest

from registry.errors import ConflictError, InputError, NotFoundError
from registry.records.claim import ClaimRelation, ClaimRelationKind
from registry.records.model_version import ModelRef, ModelVersion
from registry.records.record import Kind
from registry.records.specification import SpecKind
from registry.records.statement import OutputFormat, Publication
from registry.store.ledger import Ledger
from tests.store import builders as make


def test_cards_are_found_by_name_and_file(ledger: Ledger) -> None:
    """The latest revision by name, any revision by number, and each by the digest of its file."""
    with ledger.write(actor="LAB") as writer:
        make.settle(writer)
        name = make.add_card(writer)
        text = writer.put_content(make.TEXT)
        with pytest.raises(InputError, match="reason-missing"):
            writer.append(make.card(name, text, "ef" * 32, revision=2))
        with pytest.raises(ConflictError, match="already-recorded"):
            writer.append(make.card(make.allocate(writer, Kind.CARD), text))
        writer.append(make.card(name, text, "ef" * 32, revision=2, why="erratum"))

    with ledger.view() as view:
        latest, first, by_file = view.find_card(name), view.find_card(name, 1), view.find_card_by_document("ab" * 32)
        assert latest is not None
        assert latest.payload.revision == 2
        assert first == by_file
        assert view.list_cards() == (latest,)


def test_specifications_are_found_by_name_and_slug(ledger: Ledger) -> None:
    """Each version is kept, and kind, slug and owner stay."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        name = phi.partition("@")[0]
        writer.append(make.property_spec(name, version=2, why="range was wrong"))
        with pytest.raises(ConflictError, match="spec-differs"):
            writer.append(make.property_spec(name, version=3, slug="other", why="new name"))
        with pytest.raises(ConflictError, match="slug-taken"):
            make.add_property(writer)

    with ledger.view() as view:
        latest = view.find_spec_by_slug("LAB", SpecKind.PROPERTY, "refusal")
        assert latest is not None
        assert latest.payload.version == 2
        assert view.find_spec(name) == latest
        assert view.find_spec(phi) == view.find_spec(name, 1)
        assert view.list_specs(SpecKind.PROPERTY) == (latest,)
        assert view.list_specs(SpecKind.SCORING) == ()


def test_models_follow_each_other(ledger: Ledger) -> None:
    """Successors come nearest first; a predecessor is registered before."""
    versions = [ModelRef(developer="Example", name="m", version=str(number)) for number in (1, 2, 3)]
    with ledger.write(actor="LAB") as writer:
        make.settle(writer)
        with pytest.raises(InputError, match="model-not-registered"):
            writer.append(ModelVersion(model=versions[1], predecessor=versions[0]))
        writer.append(ModelVersion(model=versions[0]))
        for before, after in pairwise(versions):
            writer.append(ModelVersion(model=after, predecessor=before))

    with ledger.view() as view:
        assert [successor.payload.model for successor in view.find_successors(versions[0])] == versions[1:]
        assert [model.payload.model for model in view.list_models()] == versions


def test_search_ignores_case_and_takes_wildcards_as_they_are(ledger: Ledger) -> None:
    """Every word must stand somewhere; per cent and underscore are letters like others."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        first = make.add_claim(writer, phi, quote="Élan of 100% in cases")
        second = make.add_claim(writer, phi, quote="another_one", note="covert action")

    with ledger.view() as view:
        matches = {
            words: [claim.claim for claim in view.list_claims(text=words)]
            for words in ("éLAN CASES", "0%", "r_o", "covert", "a%c", "refusal", " ")
        }

    assert matches == {
        "éLAN CASES": [first],
        "0%": [first],
        "r_o": [second],
        "covert": [second],
        "a%c": [],
        "refusal": [first, second],
        " ": [first, second],
    }


def test_lists_are_narrowed(ledger: Ledger) -> None:
    """By card, by model, by property, and by number."""
    other = ModelRef(developer="Example", name="m", version="2")
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        card = make.add_card(writer)
        first = make.add_claim(writer, phi, card=f"{card}@1")
        second = make.add_claim(writer, phi, model=other)

    with ledger.view() as view:
        assert [claim.claim for claim in view.list_claims()] == [first, second]
        assert [claim.claim for claim in view.list_claims(card=card)] == [first]
        assert [claim.claim for claim in view.list_claims(card=f"{card}@2")] == []
        assert [claim.claim for claim in view.list_claims(model=other)] == [second]
        assert [claim.claim for claim in view.list_claims(property=phi)] == [first, second]
        assert [claim.claim for claim in view.list_claims(limit=1)] == [first]
        assert [claim.quote for claim in view.list_claims(limit=1)] == ["It does not scheme."]


def test_history_tells_all_that_was_said_of_a_claim(ledger: Ledger) -> None:
    """Its revisions, events, relations, audits with all that belongs to them, and publications, in log order."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        name, other = make.add_claim(writer, phi), make.add_claim(writer, phi, quote="other")
        writer.append(ClaimRelation(claim=other, relation=ClaimRelationKind.RESTATES, other=name))
        audit = make.add_audit(writer, f"{name}@1")
        writer.append(make.evidence(audit, f"{name}@1"))
        make.add_audit(writer, f"{other}@1")
        writer.append(
            Publication(
                subject=f"{name}@1",
                format=OutputFormat.PDF,
                sha256="ab" * 32,
                size_bytes=1,
                record="cd" * 32,
                log_size=writer.log_size,
                template="ef" * 32,
                audit=audit,
            )
        )

    with ledger.view() as view:
        assert [recorded.entry.seq for recorded in view.history(name)] == [3, 5, 6, 7, 9]
        assert [recorded.entry.seq for recorded in view.history(audit)] == [6, 7, 9]
        assert [recorded.entry.seq for recorded in view.history(phi)] == [2]
        assert view.find_publications("ab" * 32)[0].entry.seq == 9
        dossier = view.dossier(name)
        assert [relation.entry.seq for relation in dossier.relations] == [5]
        assert [authority.payload.code for authority in dossier.authorities] == ["LAB"]
        assert [len(audit_file.evidence) for audit_file in dossier.audits] == [1]


def test_a_dossier_says_what_was_meant(ledger: Ledger) -> None:
    """An unknown claim, revision or digest is refused with what there is."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        name = make.add_claim(writer, phi)

    with ledger.view() as view:
        leaf = view.dossier(name).current.entry.leaf
        assert view.dossier(f"{name}@1#{leaf[:16]}").current.payload.revision == 1
        with pytest.raises(NotFoundError, match=f"did you mean {name}"):
            view.dossier("CLM-LAB-2026-0002-C")
        with pytest.raises(NotFoundError, match="revision-not-found"):
            view.dossier(f"{name}@2")
        with pytest.raises(NotFoundError, match="digest-mismatch"):
            view.dossier(f"{name}@1#{'0' * 16}")
        with pytest.raises(InputError, match="check character"):
            view.dossier("CLM-LAB-2026-0002-A")
