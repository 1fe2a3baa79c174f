"""docs/method.md prints the decision table; it must be the one that decides."""

import re
from pathlib import Path

from audit.verdict.decision_table import ACROSS_JUDGES, ACROSS_SPECS, WITH_ESTIMATE, WITHOUT_ESTIMATE, DecisionRow
from registry.records.claim import Form
from registry.report.minimum_reporting import ITEMS
from registry.report.supplement_wording import get_words

PAGE = Path(__file__).parents[2] / "docs" / "method.md"
LIMITS = {Form.THRESHOLD, Form.UPPER_BOUND, Form.LOWER_BOUND}


def describe_forms(forms: frozenset[Form]) -> str:
    names = {
        frozenset(LIMITS): "threshold or bound",
        frozenset(LIMITS | {Form.PREVALENCE}): "any but existence",
        frozenset({Form.UPPER_BOUND, Form.LOWER_BOUND}): "bound",
        frozenset(Form): "any",
    }
    return names.get(forms) or next(iter(forms)).value


def describe_label(row: DecisionRow) -> str:
    qualifier = row.standing or row.mode
    return row.class_.value + (f" · {qualifier.value}" if qualifier else "")


def render(rows: tuple[DecisionRow, ...]) -> str:
    """A table as the page prints it."""
    lines = [
        f"| `{row.name}` | {describe_forms(row.forms)} | {row.when} | {get_words(row.verdict)} | {describe_label(row)} |" for row in rows
    ]
    return "\n".join(["| rule | form | condition, first that holds | verdict | TRACE label |", "|---|---|---|---|---|", *lines])


def test_the_page_prints_the_table_that_decides() -> None:
    """Row by row, with an estimate, without, across specifications and judges."""
    page = PAGE.read_text(encoding="utf-8")

    assert render(WITH_ESTIMATE) in page
    assert render(WITHOUT_ESTIMATE) in page
    assert render(ACROSS_SPECS) in page
    assert render(ACROSS_JUDGES) in page


def test_the_page_names_every_item_of_minimum_reporting() -> None:
    """In the order of the checklist."""
    page = PAGE.read_text(encoding="utf-8")
    section = page[page.index("## Minimum reporting") :]

    assert re.findall(r"^\* `([a-z-]+)`", section, flags=re.MULTILINE) == list(ITEMS)


def test_the_examples_of_the_page_are_what_is_computed(tmp_path: Path) -> None:
    """The case file printed on the page is read, and gives the verdict printed below it."""
    from audit.protocol.case_outcome import run_case
    from audit.verdict.case_file import read_case

    page = PAGE.read_text(encoding="utf-8")
    text = page.partition("```yaml\n")[2].partition("```")[0]
    (tmp_path / "case.yaml").write_text(text, encoding="utf-8")
    case, scores = read_case(tmp_path / "case.yaml")

    assert scores is None
    assert run_case(case, None).restricted.verdict in page
