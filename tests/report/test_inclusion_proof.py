"""A supplement proves that its entries stand in the log, and nothing in it that was logged can be changed without being found."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis.strategies import data, integers, sampled_from

from registry.codec.canonical_documents import to_document
from registry.codec.statement_encoding import leaf_hash, list_entries, list_recorded, write_statement
from registry.errors import CaveatError, InputError
from registry.records.dossier import Dossier
from registry.records.supplement import CardSupplement, Supplement
from registry.report.claim_outcome import find_leading
from registry.report.html_rendering import render_html, render_json
from registry.report.supplement_assembly import assemble_card, assemble_claim
from registry.report.supplement_reading import read_supplement
from registry.verify.record_checks import check_inclusion
from tests.report.builders import MADE_AT, ORIGIN, Log, card
from tests.report.dossiers import EVERY, inverted
from tests.report.proven import prove, retell, salt_of

Path = tuple[str | int, ...]


@pytest.fixture(scope="module")
def proven() -> Supplement:
    return prove(assemble_claim(inverted(), made_at=MADE_AT))


@pytest.mark.parametrize("build", EVERY.values(), ids=EVERY.keys())
def test_a_supplement_proves_every_entry_it_names(build: Callable[[], Dossier]) -> None:
    """Whatever a supplement shows, each entry it names is proven, and each statement it holds is computed again."""
    supplement = assemble_claim(retell(build()), made_at=MADE_AT)

    found = check_inclusion(prove(supplement))

    assert found.entries == tuple(list_entries(supplement))
    assert found.recomputed == tuple(one.entry.seq for one in list_recorded(supplement))


def test_a_card_supplement_proves_the_entries_of_its_rows() -> None:
    """Claims and outcomes are named by row, so that the table leads to the log."""
    dossier = inverted()
    supplement = _prove_card(dossier)

    _, leading = find_leading(dossier)
    assert leading is not None

    found = check_inclusion(supplement)

    assert {dossier.current.entry.seq, supplement.card.entry.seq} <= set(found.entries)
    assert supplement.claims[0].claim_entry == dossier.current.entry
    assert supplement.claims[0].outcome_entry == leading.entry


def test_what_was_read_from_a_file_is_proven_as_it_stands_there(proven: Supplement) -> None:
    """A reader has the file alone: its JSON is enough, from HTML as well."""
    for data_ in (render_json(proven), render_html(proven)):
        again = read_supplement(data_, where="file")

        assert check_inclusion(again) == check_inclusion(proven)
        assert check_inclusion(again, document=to_document(proven)) == check_inclusion(proven)


def test_nothing_that_was_logged_can_be_changed_unseen(proven: Supplement) -> None:
    """Every text, number and choice in every statement, entry, opening and node is altered in turn, and each is found."""
    document = to_document(proven)
    places = list(_list_proven(document))
    assert len(places) > 400

    unseen = [path for path in places if not _is_found(document, path)]

    assert unseen == []


def test_what_is_told_of_an_entry_without_its_statement_is_not_proven(proven: Supplement) -> None:
    """The proof does not pretend: only number and leaf of such an entry are proven, and `recomputed` leaves it out."""
    other = proven.other_audits[0].entry
    assert proven.card is not None
    forged = replace(proven, card=replace(proven.card, entry=replace(proven.card.entry, actor="MALLORY")))

    found = check_inclusion(forged)

    assert forged.card is not None
    assert forged.card.entry.seq in found.entries
    assert not {forged.card.entry.seq, other.seq} & set(found.recomputed)


@given(data())
def test_parts_of_two_proofs_are_no_proof(proven: Supplement, draw: Any) -> None:
    """Leaving out, doubling, swapping or shifting any part of the proof is found."""
    document = json.loads(json.dumps(to_document(proven)))
    name = draw.draw(sampled_from(("nodes", "openings")))
    parts = document["inclusion"][name]
    at = draw.draw(integers(0, len(parts) - 1))
    match draw.draw(sampled_from(("drop", "double", "swap"))):
        case "drop":
            del parts[at]
        case "double":
            parts.insert(at, parts[at])
        case _:
            parts[at], parts[at - 1] = parts[at - 1], parts[at]

    with pytest.raises(InputError):
        check_inclusion(_read(document))


def test_every_entry_that_does_not_fit_is_named(proven: Supplement) -> None:
    """Two forged statements give two faults, each with its entry."""
    claim = replace(proven.claim, payload=replace(proven.claim.payload, theta=0.2))
    relation = proven.events
    assert proven.audit is not None
    opening = replace(proven.audit.opening, payload=replace(proven.audit.opening.payload, auditor="MALLORY"))
    forged = replace(proven, claim=claim, history=(claim,), audit=replace(proven.audit, opening=opening), events=relation)

    with pytest.raises(InputError) as caught:
        check_inclusion(forged)

    named = {fault.where for fault in caught.value.faults}
    assert named == {f"entry {claim.entry.seq}", f"entry {opening.entry.seq}"}
    assert {fault.code for fault in caught.value.faults} == {"entry-not-proven"}


def test_one_entry_told_in_two_ways_is_refused(proven: Supplement) -> None:
    """A record that names one number with two leaves contradicts itself, whichever is right."""
    other = replace(proven.history[0].entry, leaf="0" * 64)

    with pytest.raises(InputError) as caught:
        check_inclusion(replace(proven, history=(replace(proven.history[0], entry=other),)))

    assert caught.value.code == "entry-inconsistent"


def test_two_statements_beside_one_entry_are_refused(proven: Supplement) -> None:
    """The same entry cannot say two things."""
    other = replace(proven.history[0], payload=replace(proven.history[0].payload, note="another"))

    with pytest.raises(InputError) as caught:
        list_recorded(replace(proven, history=(other,)))

    assert caught.value.code == "entry-inconsistent"


def test_a_supplement_without_a_proof_says_so(proven: Supplement) -> None:
    """Files of earlier versions carry none; that is told, and never taken for a proof."""
    with pytest.raises(InputError) as caught:
        check_inclusion(replace(proven, inclusion=None))

    assert caught.value.code == "proof-missing"


def test_a_proof_of_another_size_is_refused(proven: Supplement) -> None:
    """The log as of another entry is another log."""
    with pytest.raises(InputError) as caught:
        check_inclusion(replace(proven, log_size=proven.log_size + 1))

    assert "the supplement of" in caught.value.faults[0].found


def test_an_older_statement_is_proven_by_its_own_text() -> None:
    """A statement written before its kind had all its fields is given word for word, and must say what stands beside it."""
    supplement, text = _with_older_claim()
    seq = supplement.claim.entry.seq

    assert seq in check_inclusion(prove(supplement, texts={seq: text})).recomputed


def test_the_text_of_an_older_statement_must_say_what_is_shown() -> None:
    """A genuine text beside a forged payload is found, and so is a salt that is not the text's."""
    supplement, text = _with_older_claim()
    seq = supplement.claim.entry.seq
    claim = replace(supplement.claim, payload=replace(supplement.claim.payload, theta=0.5))
    proven = prove(supplement, texts={seq: text})
    assert proven.inclusion is not None
    openings = tuple(replace(one, salt="0" * 32) if one.entry == seq else one for one in proven.inclusion.openings)
    forgeries = (
        replace(proven, claim=claim, history=(claim,)),
        replace(proven, inclusion=replace(proven.inclusion, openings=openings)),
        prove(supplement, texts={seq: text.replace("0.1", "0.3")}),
        prove(supplement, texts={seq: "{}"}),
        prove(supplement, texts={seq: "\ud800"}),
    )

    for forged in forgeries:
        with pytest.raises(InputError) as caught:
            check_inclusion(forged)
        assert caught.value.faults[0].where == f"entry {seq}"


def test_a_text_is_given_only_where_it_is_needed(proven: Supplement) -> None:
    """One record has one form: a text that says what can be written again is refused."""
    claim = proven.claim
    text = write_statement(claim.entry, to_document(claim.payload), salt_of(claim.entry.seq)).decode()

    with pytest.raises(InputError) as caught:
        check_inclusion(prove(replace(proven, inclusion=None), texts={claim.entry.seq: text}))

    assert "written again, is the same" in caught.value.faults[0].found


def test_a_supplement_given_out_before_a_field_was_added_is_still_proven(proven: Supplement) -> None:
    """Its payloads are hashed as they stand in the file, not as a later version of Caveat would write them."""
    document = json.loads(render_json(proven))
    before = dict(document["claim"]["payload"])
    for one in (document["claim"], document["history"][-1]):
        del one["payload"]["note"]
    entry = replace(proven.claim.entry, leaf=leaf_hash(write_statement(proven.claim.entry, document["claim"]["payload"], _salt(proven))))
    for one in (document["claim"], document["history"][-1]):
        one["entry"]["leaf"] = entry.leaf
    older = replace(proven, claim=replace(proven.claim, entry=entry), history=(replace(proven.claim, entry=entry),), inclusion=None)
    document["inclusion"] = to_document(prove(older).inclusion)

    assert "note" in before
    assert check_inclusion(_read(document), document=document).recomputed == check_inclusion(proven).recomputed
    with pytest.raises(InputError):
        check_inclusion(_read(document))


def test_the_alterations_are_such_as_a_record_can_hold(proven: Supplement) -> None:
    """The test of alterations rests on the proof, not on the form: many of its alterations are well-formed records."""
    document = to_document(proven)

    well_formed = sum(_is_well_formed(_change(document, path)) for path in _list_proven(document))

    assert well_formed > 150


def test_a_card_alone_is_proven() -> None:
    """A card without claims names one entry, and that is enough for a proof."""
    log = Log()
    alone = card(log)
    supplement = prove(assemble_card([], alone, log_origin=ORIGIN, log_size=log.size, made_at=MADE_AT))

    assert check_inclusion(supplement).entries == (alone.entry.seq,)


def _salt(supplement: Supplement) -> str:
    return salt_of(supplement.claim.entry.seq)


def _prove_card(dossier: Dossier) -> CardSupplement:
    assert dossier.card is not None
    return prove(assemble_card([dossier], dossier.card, log_origin=ORIGIN, log_size=dossier.log_size, made_at=MADE_AT))


def _with_older_claim() -> tuple[Supplement, str]:
    """A supplement whose claim was recorded without the field `note`, and the statement as it was recorded."""
    supplement = assemble_claim(inverted(), made_at=MADE_AT)
    document = {name: value for name, value in to_document(supplement.claim.payload).items() if name != "note"}
    text = write_statement(supplement.claim.entry, document, _salt(supplement)).decode()
    claim = replace(supplement.claim, entry=replace(supplement.claim.entry, leaf=leaf_hash(text.encode())))
    return replace(supplement, claim=claim, history=(claim,)), text


def _read(document: Mapping[str, Any]) -> Supplement | CardSupplement:
    return read_supplement(json.dumps(document).encode(), where="file")


def _list_proven(value: Any, path: Path = (), *, inside: bool = False) -> Iterator[Path]:
    """Yield the paths of everything in a supplement's document that its proof covers: statements with their entries, and the proof."""
    is_statement = isinstance(value, dict) and value.keys() == {"entry", "payload"}
    covered = inside or is_statement or path == ("inclusion",)
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _list_proven(part, (*path, name), inside=covered)
    elif isinstance(value, list):
        for at, part in enumerate(value):
            yield from _list_proven(part, (*path, at), inside=covered)
    elif covered:
        yield path


def _is_found(document: Mapping[str, Any], path: Path) -> bool:
    """Whether the document with another value at *path* is refused, by the record's own rules or by its proof."""
    changed = _change(document, path)
    try:
        check_inclusion(_read(changed), document=changed)
    except CaveatError:
        return True
    return False


def _is_well_formed(document: Mapping[str, Any]) -> bool:
    try:
        _read(document)
    except CaveatError:
        return False
    return True


def _change(document: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    changed: dict[str, Any] = json.loads(json.dumps(document))
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = _alter(place[path[-1]])
    return changed


def _alter(value: object) -> object:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case None:
            return "x"
        case str() if value[-1:].isdigit():
            return value[:-1] + ("8" if value[-1] == "9" else "9")
        case str():
            return value + "x"
        case _:
            raise AssertionError(value)
