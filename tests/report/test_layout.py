"""The layout of the rendered documents: page ends, hostile inputs, and what a browser and an accessibility checker say of the HTML."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from registry.folder.folder_document import Folder
from registry.folder.folder_pages import render_index
from registry.records.claim import Form
from registry.records.supplement import CardSupplement, ChangeReport, Supplement
from registry.report.html_rendering import render_html
from registry.report.pdf_rendering import render_pdf_in_process
from registry.report.supplement_assembly import assemble_claim
from tests.browser import open_browser
from tests.report.builders import MADE_AT, estimate, spec_estimate
from tests.report.dossiers import unaudited
from tests.report.layout import WIDTHS, answer_questions, find_faults, find_unanswered, list_pages, measure_overflow

PDFS = ["inverted_pdf", "unaudited_pdf", "card_pdf", "change_pdf", "found_pdf"]


def _change(supplement: Supplement, **changes: object) -> Supplement:
    claim = replace(supplement.claim, payload=replace(supplement.claim.payload, **changes))  # type: ignore[arg-type]  # fields by name
    return replace(supplement, claim=claim)


def _with_specs(supplement: Supplement, count: int) -> Supplement:
    """Return *supplement* with so many specifications of P_deploy in its estimate."""
    assert supplement.audit is not None
    assert supplement.audit.result is not None
    spec = spec_estimate("default", (0.05, 0.02, 0.09), (0.25, 0.19, 0.31), (-0.2, -0.27, -0.13))
    many = estimate(*(replace(spec, spec=f"deployment number {number}") for number in range(count)))
    result = replace(supplement.audit.result, payload=replace(supplement.audit.result.payload, estimate=many))
    return replace(supplement, audit=replace(supplement.audit, result=result))


def _with_cues(supplement: Supplement, count: int) -> Supplement:
    """Return *supplement* with so many cues in the context specifications that the claim names."""
    parts = []
    for part in supplement.specs:
        version = part.version
        body = version.payload.body if version else None
        if version is not None and hasattr(body, "contexts"):
            contexts = tuple(replace(item, cues=tuple(f"cue {number}" for number in range(count))) for item in body.contexts)
            version = replace(version, payload=replace(version.payload, body=replace(body, contexts=contexts)))
        parts.append(replace(part, version=version))
    return replace(supplement, specs=tuple(parts))


@pytest.fixture(scope="module")
def hostile_inputs(supplements: Mapping[str, Supplement]) -> Mapping[str, Supplement]:
    base, bare = supplements["inverted"], assemble_claim(unaudited(), made_at=MADE_AT)
    assert base.property is not None
    rtl = "הטענה היא שהמודל מסרב תמיד לבקשות מזיקות "
    named = replace(base, property=replace(base.property, name="a" * 150 + " " + "b" * 149))
    return {
        # One document has as much as possible of everything, so that it is rendered once.
        "everything": _with_cues(_with_specs(_change(named, quote=rtl * 10 + "word " * 2000), 40), 200),
        "right to left": _change(bare, quote=rtl),
        "no figure": _change(bare, form=Form.EXISTENCE, reported=None, relation=None, theta=None),
    }


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One Chromium for all tests here."""
    with open_browser() as opened:
        # The pages forbid scripts; the checker is one.
        yield opened.new_context(bypass_csp=True)


@pytest.fixture(scope="module")
def pages(
    supplements: Mapping[str, Supplement],
    hostile_inputs: Mapping[str, Supplement],
    card_supplement: CardSupplement,
    change_report: ChangeReport,
) -> Mapping[str, bytes]:
    documents = {
        "claim": supplements["found-against"],
        "unaudited": supplements["unaudited"],
        "card": card_supplement,
        "change": change_report,
    }
    return {name: render_html(one) for name, one in {**documents, **hostile_inputs}.items()}


@pytest.mark.parametrize("name", PDFS)
def test_no_page_ends_in_a_heading_and_no_last_page_is_almost_empty(name: str, request: pytest.FixtureRequest) -> None:
    """In every kind of document."""
    assert find_faults(list_pages(request.getfixturevalue(name))) == []


@pytest.mark.parametrize("name", ["inverted_pdf", "unaudited_pdf", "found_pdf"])
def test_page_one_answers_five_questions(name: str, request: pytest.FixtureRequest) -> None:
    """Claim, finding, what may be said, evidence, and whether it is current."""
    answers = answer_questions(list_pages(request.getfixturevalue(name))[0])

    assert [question for question, answered in answers.items() if not answered] == []


@pytest.mark.parametrize("kind", ["card", "change"])
def test_page_one_of_a_card_and_of_a_change_report_answers_five_questions(kind: str, request: pytest.FixtureRequest) -> None:
    """What is compared or claimed, what was found, how sure that is, from which record, and what to do with it."""
    assert find_unanswered(kind, list_pages(request.getfixturevalue(f"{kind}_pdf"))[0]) == []


@pytest.mark.parametrize("name", ["everything", "right to left", "no figure"])
def test_hostile_inputs_keep_page_one(name: str, hostile_inputs: Mapping[str, Supplement]) -> None:
    """A property of 300 characters, 2,000 words from right and left, 40 specifications and 200 cues push nothing off page one."""
    found = list_pages(render_pdf_in_process(hostile_inputs[name]))

    assert [question for question, answered in answer_questions(found[0]).items() if not answered] == []
    assert find_faults(found) == []


def test_nothing_is_wider_than_the_screen(browser: Any, pages: Mapping[str, bytes]) -> None:
    """At the width of a phone, a tablet and a laptop, whatever the input."""
    page, wide = browser.new_page(), {}
    for name, html in pages.items():
        page.set_content(html.decode(), wait_until="domcontentloaded")
        wide |= {(name, width): found[:3] for width in WIDTHS if (found := measure_overflow(page, width))}
    page.close()

    assert wide == {}


def test_the_list_of_a_folder_uses_the_width_of_the_screen(browser: Any) -> None:
    """It has no list of contents, whose narrow column it must not take."""
    page, widths = browser.new_page(), {}
    page.set_content(
        render_index(Folder(log_origin="caveat.log/EXAMPLE", log_size=1, root="0" * 64, began=1, items=()), proofs=frozenset()).decode(),
        wait_until="domcontentloaded",
    )
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        widths[width] = page.evaluate("document.querySelector('main').getBoundingClientRect().width")
    page.close()

    assert {width: taken for width, taken in widths.items() if taken < 0.8 * width} == {}


@pytest.mark.parametrize("name", ["claim", "unaudited", "card", "change"])
def test_an_accessibility_checker_finds_no_violation(name: str, browser: Any, pages: Mapping[str, bytes]) -> None:
    """axe-core, in a browser."""
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page()
    page.set_viewport_size({"width": 1280, "height": 900})
    page.set_content(pages[name].decode(), wait_until="domcontentloaded")
    violations = Axe().run(page).response["violations"]
    page.close()

    assert [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in violations] == []
