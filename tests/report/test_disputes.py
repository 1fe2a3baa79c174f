"""What pages say of objections and seals: on every page concerned, and confidential renderings over the public record."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.codec.statement_encoding import check_openings, commitment_of, public_record
from registry.errors import InputError
from registry.folder.supplement_publishing import SupplementSubject, WrittenFile, build_publication, collect_facts
from registry.records.claim_status import Dispute, ObjectionEvent, ObjectionStep
from registry.records.dossier import Dossier, Recorded
from registry.records.specification import ContextSpec, Reveal, SpecKind, SpecOpening
from registry.records.statement import OutputFormat
from registry.records.supplement import CardSupplement, Supplement
from registry.report.html_rendering import digest_record, render_html, render_json
from registry.report.pdf_rendering import render_pdf_in_process
from registry.report.status_account import add_openings
from registry.report.supplement_assembly import assemble_card, assemble_claim
from registry.report.supplement_reading import read_supplement
from tests.report.builders import MADE_AT, ORIGIN, Log, card
from tests.report.dossiers import inverted, unaudited

DEPLOY = "CTX-EXAMPLE-2026-0002-X@1"
HIDDEN = "the customer of ACME asks for a refund"
OBJECTION = "CON-EXAMPLE-2026-0001"
OPENING = SpecOpening(
    spec=DEPLOY,
    spec_kind=SpecKind.DEPLOY_CONTEXT,
    salt="5a" * 32,
    body=ContextSpec(name="Coding agent in the wild", description=HIDDEN),
)


def seal(dossier: Dossier) -> Dossier:
    """Return *dossier* with its P_deploy sealed by the commitment of OPENING."""
    specs = tuple(
        replace(one, payload=replace(one.payload, body=None, commitment=commitment_of(OPENING))) if one.payload.spec in DEPLOY else one
        for one in dossier.specs
    )
    return replace(dossier, specs=specs)


def assemble(dossier: Dossier) -> Supplement:
    return assemble_claim(dossier, made_at=MADE_AT)


def step(dossier: Dossier, kind: ObjectionStep, actor: str, dispute: Dispute) -> Dossier:
    """Return *dossier* after one more step in its objection."""
    (file,) = dossier.objections
    said = ObjectionEvent(objection=file.objection.payload.objection, step=kind, note="so")
    later = Log().say(said, actor)
    return replace(dossier, objections=(replace(file, events=(*file.events, later)),), status=replace(dossier.status, dispute=dispute))


def read_pages(data: bytes) -> list[str]:
    """Return the text of each page."""
    with pypdfium2.PdfDocument(BytesIO(data)) as document:
        return [" ".join(page.get_textpage().get_text_range().split()) for page in document]


PUBLIC = assemble(seal(inverted()))
CONFIDENTIAL = add_openings(PUBLIC, [OPENING])


def test_both_renderings_print_the_digest_of_the_public_record() -> None:
    """So the public one proves that nothing but the openings was left out of it."""
    digest = hashlib.sha256(render_json(PUBLIC)).hexdigest()
    shown = [render_html(one).decode().replace('<span class="group">', "").replace("</span>", "") for one in (PUBLIC, CONFIDENTIAL)]

    assert digest_record(CONFIDENTIAL) == digest_record(PUBLIC) == digest
    assert all(digest in one for one in shown)
    assert public_record(CONFIDENTIAL) == PUBLIC


def test_a_confidential_rendering_says_what_its_digest_is_of() -> None:
    """Beside the record digest, which is not that of the record which the file carries; the public one has nothing to say of it."""
    secret = replace(PUBLIC, openings=(OPENING,))

    pages = [render_html(one).decode() for one in (secret, PUBLIC)]

    assert ["A confidential rendering.</strong>" in page for page in pages] == [True, False]


def test_only_the_confidential_rendering_shows_what_is_sealed() -> None:
    """Text, salt and banner stand in it alone; what it carries reads back as it is."""
    public, confidential = render_html(PUBLIC).decode(), render_html(CONFIDENTIAL).decode()

    assert HIDDEN not in public
    assert OPENING.salt not in public
    assert "CONFIDENTIAL" not in public
    assert HIDDEN in confidential
    assert "<title>CONFIDENTIAL: " in confidential
    assert read_supplement(confidential.encode(), where="page") == CONFIDENTIAL
    assert check_openings(CONFIDENTIAL) == ()


def test_every_page_of_a_confidential_pdf_says_so_and_names_the_objection() -> None:
    """One page that is passed on alone still says both."""
    pages = read_pages(render_pdf_in_process(CONFIDENTIAL))

    assert [page for page in pages if "CONFIDENTIAL" not in page] == []
    assert [page for page in pages if f"Contested: {OBJECTION}" not in page] == []


FORGED: Mapping[str, tuple[tuple[SpecOpening, ...], str]] = {
    "another salt": ((replace(OPENING, salt="5b" + "5a" * 31),), "seal-not-opened"),
    "another body": ((replace(OPENING, body=ContextSpec(name="x", description="y")),), "seal-not-opened"),
    "another kind": ((replace(OPENING, spec_kind=SpecKind.TEST_CONTEXT),), "seal-not-opened"),
    "no body of its kind": ((replace(OPENING, spec_kind=SpecKind.PROPERTY),), "seal-not-opened"),
    "not in the record": ((replace(OPENING, spec="CTX-EXAMPLE-2026-0007-X@1"),), "seal-not-needed"),
    "another version": ((replace(OPENING, spec="CTX-EXAMPLE-2026-0002-X@2"),), "seal-not-needed"),
    "never sealed": ((replace(OPENING, spec="CTX-EXAMPLE-2026-0001-X@1"),), "seal-not-needed"),
    "twice": ((OPENING, OPENING), "duplicate"),
}


@pytest.mark.parametrize("name", FORGED)
def test_an_opening_that_does_not_open_the_record_is_a_fault(name: str) -> None:
    """It is found in a file that somebody hands on, and refused before one is drawn."""
    openings, code = FORGED[name]

    faults = check_openings(replace(PUBLIC, openings=openings))
    with pytest.raises(InputError) as caught:
        add_openings(PUBLIC, openings)

    assert [one.code for one in faults] == [code]
    assert caught.value.faults == faults


def test_what_is_revealed_is_no_secret() -> None:
    """An opening beside a reveal would mark pages CONFIDENTIAL that show nothing but what everyone may read."""
    shown: Recorded[Reveal] = Log().say(Reveal(opening=OPENING), "INST")
    supplement = assemble(replace(seal(inverted()), reveals=(shown,)))

    faults = check_openings(replace(supplement, openings=(OPENING,)))

    assert [one.code for one in faults] == ["seal-not-needed"]


@given(bit=st.integers(0, 255))
def test_every_bit_of_a_salt_is_bound(bit: int) -> None:
    """No other salt opens the commitment."""
    salt = (int(OPENING.salt, 16) ^ 1 << bit).to_bytes(32).hex()

    faults = check_openings(replace(PUBLIC, openings=(replace(OPENING, salt=salt),)))

    assert [one.code for one in faults] == ["seal-not-opened"]


@given(name=st.text(max_size=20), description=st.text(max_size=40))
def test_no_other_body_opens_a_commitment(name: str, description: str) -> None:
    """Whatever else it says, it is refused; what was sealed is accepted."""
    body = ContextSpec(name=name, description=description)

    faults = check_openings(replace(PUBLIC, openings=(replace(OPENING, body=body),)))

    assert (faults == ()) is (body == OPENING.body)


def test_a_confidential_file_is_logged_under_the_public_record(tmp_path: Path) -> None:
    """The log tells that it was published, and of which record; not what it showed."""
    subject = SupplementSubject(name="CLM-EXAMPLE-2026-0042-X@1", supplement=CONFIDENTIAL)
    facts = collect_facts(subject)
    place = tmp_path / "x"
    written = WrittenFile(name=subject.name, format=OutputFormat.JSON, path=place, sha256="ab" * 32, error=None, facts=facts, size_bytes=9)

    said = build_publication(written)

    assert subject.is_confidential
    assert (said.record, said.sha256, said.size_bytes) == (digest_record(PUBLIC), "ab" * 32, 9)


def test_a_card_is_not_drawn_confidential(card_supplement: CardSupplement) -> None:
    """It shows no specification that could be opened."""
    with pytest.raises(InputError, match="card-not-confidential"):
        add_openings(card_supplement, [OPENING])


def test_a_revealed_specification_is_shown_to_everybody() -> None:
    """With who revealed it, when, and the commitment that it opens."""
    said = Reveal(opening=OPENING, why="the audit is done")
    shown: Recorded[Reveal] = Log().say(said, "INST")
    supplement = assemble(replace(seal(inverted()), reveals=(shown,)))

    page = render_html(supplement).decode()

    assert HIDDEN in page
    assert "revealed</strong> by INST" in page
    assert commitment_of(OPENING) in page


STATES = [
    (ObjectionStep.ESCALATED, "INST", Dispute.CONTESTED, "Contested:", True),
    (ObjectionStep.REJECTED, "EXAMPLE", Dispute.UNDISPUTED, "rejected by its owner EXAMPLE", False),
    (ObjectionStep.UPHELD, "INST", Dispute.UPHELD, "Objection upheld:", True),
]


@pytest.mark.parametrize(("kind", "actor", "dispute", "words", "stands"), STATES)
def test_page_one_tells_where_a_objection_stands(kind: ObjectionStep, actor: str, dispute: Dispute, words: str, *, stands: bool) -> None:
    """What is settled against the objection is told quietly there, and stands in no margin."""
    page = render_html(assemble(step(inverted(), kind, actor, dispute))).decode()
    page_one = page.partition('class="part"')[0]

    assert words in page_one
    assert ('class="banner"' in page) is stands


def test_a_card_names_what_is_contested_in_the_row_of_each_claim() -> None:
    """One objection of a shared definition stands once in full, and is marked in every row that rests on it."""
    dossiers = [inverted(), unaudited()]
    supplement = assemble_card(dossiers, card(Log()), log_origin=ORIGIN, log_size=40, made_at=MADE_AT)

    page = render_html(supplement).decode()
    row = page.partition('id="row-1"')[2].partition("</tr>")[0]

    assert [len(one.objections) for one in supplement.claims] == [1, 0]
    assert OBJECTION in row
    assert "It concerns 1 of the claims below." in page
    assert "No customer runs without supervision" in page.partition("</span> Objections")[2]
    assert 'class="banner"' in page
