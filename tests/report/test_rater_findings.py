"""A model judge and the link between recognition and ED in a supplement: their data, their limits, and what they do not show."""

import pytest

from registry.report.html_rendering import render_html
from registry.report.supplement_assembly import assemble_claim
from tests import findings
from tests.report.builders import MADE_AT
from tests.report.dossiers import inverted
from tests.report.found import with_findings
from tests.report.test_html import elements, text_of


def read_section(*bodies: object, name: str) -> str:
    dossier = with_findings(inverted(), *bodies)  # type: ignore[arg-type]
    html = render_html(assemble_claim(dossier, made_at=MADE_AT)).decode()
    return next(text_of(one) for one in elements(html, "section") if one.attrib.get("aria-labelledby") == name)


@pytest.mark.parametrize("pairwise", [False, True])
def test_a_judge_is_printed_with_what_it_left_unanswered(*, pairwise: bool) -> None:
    """Worst case, limit, data and reasons stand there; that no person rated is not hidden by it."""
    said = read_section(findings.realism(pairwise=pairwise), name="naturalness")

    assert "with an accuracy of up to 90 %; the plan’s limit is 75 %" in said
    assert "Unanswered: undecided 10." in said
    assert ("Realism win rate of deployment" in said) is pairwise
    assert "No rater study by persons." in said


def test_a_judge_within_the_limit_shows_nothing() -> None:
    """It is no proof of natural contexts."""
    said = read_section(findings.realism(low=0.5, high=0.5), name="naturalness")

    assert "does not show that the contexts are natural" in said


def test_a_link_is_an_association_wherever_it_stands() -> None:
    """Heading and caption say so; a group without a number gives its reason."""
    said = read_section(findings.recognition_links(), name="layers")

    assert said.count("ssociation, not cause") == 2
    assert "4 tasks have both: a number needs at least 5" in said
    assert "of 3 test-side responses it is not known whether they mention a test; 2 deployment responses mention one" in said
