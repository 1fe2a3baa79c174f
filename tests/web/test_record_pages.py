"""Pages of audits, objections and definitions, of two logs compared, and the smaller pages of a claim or card."""

import gzip
import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from registry.errors import NotFoundError
from registry.records.claim import ClaimEvent, ClaimEventKind
from registry.records.record import Kind, format_identifier
from registry.registration.log_survey import list_versions
from registry.store import database_schema as schema
from registry.store.ledger import Ledger
from tests.cli.given_out import inside
from tests.store.builders import salting, ticking
from tests.store.growing import World
from tests.store.test_states import BEGINNING
from tests.web.conftest import open_ledger
from tests.web.rich_registry import FIRST, LONG
from web.pages.addresses import PageSettings
from web.pages.model_pages import count_current
from web.pages.page_book import Page, PageBook
from web.shelf.shelf_file import read_state
from web.site.site_export import build_book

CONTEXT, RIVAL, SEALED, REVEALED = "CTX-AISI-2026-0001-J", "CTX-AISI-2026-0002-H", "CUE-AISI-2026-0001-X", "MTH-AISI-2026-0001-F"
AUDIT = format_identifier(Kind.AUDIT, "AISI", 2026, 1)
OBJECTION, CARD = "CON-AISI-2026-0002-R", "CRD-AISI-2026-0001-1"


@pytest.fixture(scope="module")
def rich(_rich: Path) -> Iterator[Ledger]:
    """The registry with every kind of record, open."""
    ledger = open_ledger(_rich)
    with inside(_rich):
        yield ledger
    ledger.close()


@pytest.fixture(scope="module")
def pages(rich: Ledger) -> dict[str, Page]:
    """Every page of it, by address."""
    with rich.view() as view:
        book = build_book(view, PageSettings(base="https://claims.example.org"))
        planned = list(book.plan())
        book.expect(page.address for page in planned)
        return {page.address: book.find(page.address, state=page.state) for page in planned}


@pytest.fixture
def book(rich: Ledger) -> Iterator[PageBook]:
    with rich.view() as view:
        yield build_book(view, PageSettings(base="https://claims.example.org"))


def read_text(page: Page) -> str:
    """Return what a reader sees of a page, without markup."""
    text = re.sub(r"<[^>]+>", " ", page.body.decode())
    return " ".join(text.replace("&#39;", "'").replace("&nbsp;", " ").replace("&gt;", ">").replace("&lt;", "<").split())


def test_an_audit_has_a_page_that_says_whether_it_counts(pages: dict[str, Page]) -> None:
    text = read_text(pages[f"/{AUDIT}/"])

    assert f"It counts. Its outcome counts for {FIRST}@1." in text
    for part in ("contradicted", "Auditor", "Minimum reporting", "no lock", "Entries"):
        assert part in text
    assert f'href="../{FIRST}@1/"' in pages[f"/{AUDIT}/"].body.decode()


def test_all_audits_of_a_claim_are_listed_with_the_reason_why_they_count(pages: dict[str, Page]) -> None:
    listed = pages[f"/{FIRST}/audits/"].body.decode()

    assert f'href="../../{AUDIT}/"' in listed
    assert "Its outcome counts for" in listed
    assert "Not audited" in read_text(pages["/CLM-AISI-2026-0002-Q/audits/"])


def test_a_claim_leads_to_its_audits_objections_and_definitions(pages: dict[str, Page]) -> None:
    page = pages[f"/{FIRST}@1/"].body.decode()

    for name in (AUDIT, "CON-AISI-2026-0001-T"):
        assert f'href="../{name}/"' in page
    assert f'href="../{FIRST}/contest/"' in page


def test_an_objection_has_a_page_with_rival_and_steps(pages: dict[str, Page]) -> None:
    text = read_text(pages[f"/{OBJECTION}/"])

    for part in ("It is open, not yet answered.", "no user writes so", f"from {CONTEXT}@2 to its rival {RIVAL}@1"):
        assert part in text
    assert f'href="../{RIVAL}@1/"' in pages[f"/{OBJECTION}/"].body.decode()


def test_a_reader_learns_how_to_object(pages: dict[str, Page]) -> None:
    text = read_text(pages[f"/{FIRST}/contest/"])

    assert f'caveat contest open {FIRST}@3 --reason "…"' in text.replace("&#34;", '"')
    assert "CON-AISI-2026-0001-T against" in text


def test_a_definition_has_a_page_for_each_version(pages: dict[str, Page]) -> None:
    newest, first = pages[f"/{CONTEXT}/"], pages[f"/{CONTEXT}@1/"]

    assert newest.body == pages[f"/{CONTEXT}@2/"].body
    assert f"A newer version exists: {CONTEXT}@2" in read_text(first)
    assert "<ins>fewer</ins>" in newest.body.decode()
    assert OBJECTION in read_text(newest)
    assert json.loads(pages[f"/{CONTEXT}@1.json"].body)["spec"] == CONTEXT


def test_a_sealed_definition_says_so_and_shows_its_commitment(pages: dict[str, Page], book: PageBook) -> None:
    """One that was revealed shows its text, and when it was revealed."""
    sealed, revealed = read_text(pages[f"/{SEALED}/"]), read_text(pages[f"/{REVEALED}/"])
    recorded = book.view.find_spec(SEALED)

    assert recorded is not None
    assert "Sealed: its text is not public." in sealed
    assert str(recorded.payload.commitment) in sealed
    assert "exam" not in sealed
    assert "Sealed first, revealed by AISI" in revealed
    assert "kept" in revealed


def test_a_page_names_exactly_one_text_by_its_digest(book: PageBook) -> None:
    """Another digest, or a revision without it, is another text or none."""
    recorded = book.view.find_revision(FIRST, 1)
    assert recorded is not None
    digest = recorded.entry.leaf[:16]

    exact = book.find(f"/{FIRST}@1/{digest}/")

    assert digest in exact.body.decode()
    assert 'href="../../' in exact.body.decode()
    with pytest.raises(NotFoundError) as caught:
        book.find(f"/{FIRST}@1/{'0' * 16}/")
    assert caught.value.code == "digest-mismatch"
    with pytest.raises(NotFoundError):
        book.find(f"/{FIRST}@1/{digest[:8]}/")


@pytest.mark.parametrize("address", ["/AUD-AISI-2026-0001-X/", "/CTX-AISI-2026-0001-J@9/", f"/{AUDIT}@1/", f"/{AUDIT}/more/", "/CON-/"])
def test_a_record_that_is_not_there_is_named(book: PageBook, address: str) -> None:
    for ask in (book.find, book.find_address_state):
        with pytest.raises(NotFoundError) as caught:
            ask(address)
        assert caught.value.code in ("not-registered", "address-not-found")


def test_two_revisions_of_a_card_are_compared_word_by_word(pages: dict[str, Page]) -> None:
    page = pages[f"/{CARD}/diff/1..2/"].body.decode()

    assert re.search(r"<del>92%</del>.*<ins>93%</ins>", page)
    assert "Next:" not in page


def test_a_card_has_a_page_of_its_coverage(pages: dict[str, Page]) -> None:
    text = read_text(pages[f"/{CARD}/coverage/"])

    assert "Registered claims" in text
    assert "Not surveyed" in text


def test_a_log_of_another_registry_is_compared_with_disagreements_first(pages: dict[str, Page], book: PageBook) -> None:
    (address,) = [address for address in pages if address.startswith("/compare/") and address != "/compare/"]
    text = read_text(pages[address])

    assert text.index("Disagreements") < text.index("Only in")
    assert "prevalence" in text
    assert "existence" in text
    assert re.search("1 disagreement ?, ", text)
    assert 'href="../compare/"' in pages["/status/"].body.decode()
    # Either may come first; a log that is not here has no page.
    _, _, first, first_digits, second, second_digits, _ = address.split("/")
    assert book.find(f"/compare/{second}/{second_digits}/{first}/{first_digits}/").body != pages[address].body
    with pytest.raises(NotFoundError):
        book.find(f"/compare/{first}/{first_digits}/LAB/0000/")


def test_a_model_version_shows_what_needs_review_and_how_figures_moved(pages: dict[str, Page]) -> None:
    before, after = _find_models(pages)

    assert "Needs review" in read_text(before)
    assert "Change from version to version" in read_text(after)
    assert "<svg" in after.body.decode()


def _find_models(pages: dict[str, Page]) -> tuple[Page, Page]:
    models = {address.split("/")[-2]: page for address, page in pages.items() if address.startswith("/models/") and address.endswith("/")}
    return models["1"], models["2"]


def test_feeds_of_models_and_authorities_have_the_entries_about_their_claims(pages: dict[str, Page]) -> None:
    feed = json.loads(pages["/authorities/AISI/feed.json"].body)

    assert feed["home_page_url"] == "https://claims.example.org/authorities/AISI/"
    assert {"claim revision", "restriction", "objection"} <= {item["title"].split(": ")[1].split(" by ")[0] for item in feed["items"]}
    assert len({item["id"] for item in feed["items"]}) == len(feed["items"])


def test_texts_that_try_to_leave_their_place_are_shown_as_text_on_every_page(pages: dict[str, Page]) -> None:
    """Scripts and images, and characters that would turn the direction of a line; a text as long as a statement is cut."""
    for address, page in pages.items():
        if page.media_type.startswith("text/html") and address != "/verify.html":
            body = page.body.decode()
            assert not re.search(r"<(?:script|img|iframe|style)\b", body), address
            assert "\u202e" not in body, address
            assert LONG[:6_000] not in body, address
    assert "[U+202E]" in pages[f"/{CONTEXT}@1/"].body.decode()
    long = pages[f"/{RIVAL}@1/"].body.decode()
    assert f'href="../{RIVAL}@1.json">all 40\u202f000 characters' in long
    assert LONG in pages[f"/{RIVAL}@1.json"].body.decode()


def test_pages_are_small(pages: dict[str, Page]) -> None:
    """Compressed, as a server sends them; style and fonts are loaded once."""
    style = [page.body for address, page in pages.items() if address.endswith(".css")]
    fonts = [page.body for address, page in pages.items() if address.endswith(".woff2")]

    for address, page in pages.items():
        if address.startswith("/CLM-") and address.count("/") == 2 and address.endswith("/"):
            assert len(gzip.compress(page.body)) <= 15_000, address
    assert sum(len(gzip.compress(body)) for body in style) <= 12_000
    assert sum(map(len, fonts)) <= 60_000
    # With the page itself.
    assert len(style) + len(fonts) + 1 <= 6


def test_the_list_of_models_counts_each_claim_that_is_not_at_its_end(tmp_path: Path) -> None:
    """The search file counts as one does who reads every claim."""
    schema.upgrade(url := f"sqlite:///{tmp_path / 'grown.db'}")
    ledger = Ledger.open(url, clock=ticking(), salt=salting())
    world = World(ledger)
    for step in (*BEGINNING, ("claim", 0, 0), ("claim", 1, 2)):
        assert world.grow(*step) is None
    with ledger.view() as view:
        name = next(claim.claim for claim in view.list_claims() if claim.status.gravest is None)
    with ledger.write(actor=name.split("-")[1]) as writer:
        writer.append(ClaimEvent(claim=name, event=ClaimEventKind.WITHDRAW, reason="retracted"))

    with ledger.view() as view:
        versions = list_versions(view, log="")
        counted = list_versions(view, log="", count_claims=partial(count_current, read_state(view)))
        claims = len(list(view.list_claims()))
    ledger.close()

    found = [(version.model, version.claims, version.audited, version.outcomes) for version in counted]
    assert found == [(version.model, version.claims, version.audited, version.outcomes) for version in versions]
    assert sum(version.claims for version in versions) == claims - 1
    assert any(version.outcomes for version in versions)
