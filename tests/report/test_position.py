"""What a supplement prints of its place in the log: the last section, the QR code, and the foot of page one."""

import hashlib
import re
from dataclasses import replace

import pytest

from registry.records.supplement import CardSupplement, Supplement
from registry.report.html_rendering import describe_position, group_digits, render_html, render_json
from registry.report.supplement_assembly import assemble_card, assemble_claim
from tests.report.builders import MADE_AT, ORIGIN, Log, card
from tests.report.dossiers import inverted, unaudited
from tests.report.proven import prove, retell


@pytest.fixture(scope="module")
def proven() -> Supplement:
    return prove(assemble_claim(retell(inverted()), made_at=MADE_AT))


def _read_section(supplement: Supplement | CardSupplement) -> str:
    """The words of the last section, as they are copied."""
    page = render_html(supplement).decode()
    section = page[page.index('id="verification"') : page.index("</main>")]
    return re.sub(r"\s+", " ", re.sub(r"<(?!/?span)[^>]+>", " ", section.replace("</span>", "")).replace('<span class="group">', ""))


def test_the_last_section_gives_what_is_to_be_compared(proven: Supplement) -> None:
    """Record digest, log, position and root are printed whole, with how much is proven; the QR code adds the identifier."""
    section = _read_section(proven)
    digest = hashlib.sha256(render_json(proven)).hexdigest()
    assert proven.inclusion is not None

    for wanted in (digest, ORIGIN, f"entry {proven.log_size}", proven.inclusion.root):
        assert wanted in section
    assert re.search(r"\d+ entries under this root, \d+ of them word for word", section)
    assert "It proves neither truth nor completeness" in section


def test_a_supplement_without_proof_claims_none() -> None:
    """A record of an earlier version is drawn, and says that it proves nothing of the log."""
    supplement = assemble_claim(unaudited(), made_at=MADE_AT)

    section = _read_section(supplement)

    assert "the record has no proof of inclusion in the log" in section
    assert "Proof." not in section
    assert "root sha256" not in describe_position(supplement, "0" * 64)


def test_one_proven_entry_is_told_in_the_singular() -> None:
    """A card without claims names one entry, of which it holds the leaf alone."""
    log = Log()
    alone = prove(assemble_card([], card(log), log_origin=ORIGIN, log_size=log.size, made_at=MADE_AT))

    section = _read_section(alone)

    assert "1 entry under this root, 0 of them word for word" in section


def test_every_entry_word_for_word_is_told_so() -> None:
    """Where the record holds every statement it names, nothing is left to the leaf."""
    proven = prove(replace(assemble_claim(retell(unaudited()), made_at=MADE_AT), card=None))

    assert re.search(r"(\d+) entries under this root, \1 of them word for word", _read_section(proven))


def test_the_code_says_in_lines_what_the_table_says(proven: Supplement) -> None:
    """Who scans it reads identifier, digest, position and root; nothing is fetched."""
    assert proven.inclusion is not None

    assert describe_position(proven, "d" * 64).split("\n") == [
        proven.identifier,
        f"record sha256 {'d' * 64}",
        f"log {ORIGIN} entry {proven.log_size}",
        f"root sha256 {proven.inclusion.root}",
    ]


def test_the_foot_of_page_one_names_the_root(proven: Supplement) -> None:
    """Somebody who has page one alone can still ask for the checkpoint."""
    assert proven.inclusion is not None
    page = render_html(proven).decode()

    foot = page[page.index('<p class="foot') :].partition("</p>")[0]

    assert f"{proven.identifier} · root {proven.inclusion.root[:16]}… of {proven.log_size} entries" in foot


def test_groups_of_digits_are_copied_as_one() -> None:
    """The space between groups is drawn, not written; and what is no digest cannot become markup."""
    assert re.sub(r"<[^>]+>", "", str(group_digits("0123456789abcdef" * 4))) == "0123456789abcdef" * 4
    assert "<b>" not in str(group_digits("<b>"))
