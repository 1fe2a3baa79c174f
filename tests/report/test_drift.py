"""A claim over model versions: its points, how far it moved, its figure and its section."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from registry.codec.canonical_documents import from_document, to_document
from registry.records.dossier import Dossier
from registry.records.module_findings import Shift
from registry.records.supplement import Drift
from registry.records.verdict import ClaimClass
from registry.report.finding_figures import build_shift_figure
from registry.report.html_rendering import render_drift, render_html
from registry.report.number_format import SHARES
from registry.report.supplement_assembly import assemble_claim
from registry.report.version_drift import (
    MOST_COLUMNS,
    build_drift,
    build_drift_figures,
    build_points,
    build_steps,
    count_keys,
    name_versions,
)
from tests.report.builders import MADE_AT, spec_estimate
from tests.report.drifting import Told, measured, over_versions, shift

OLD, NEW = Told(version="2.1", specs=(measured(0.05, 0.04),)), Told(version="2.2", specs=(measured(0.06, 0.25),))
SILENT = Told(version="2.15", is_audited=False)


def drifted(*versions: Told) -> Drift:
    found = build_drift(over_versions(*versions))
    assert found is not None
    return found


def section(dossier: Dossier) -> str:
    """The section on versions as a reader sees it, without its markup."""
    html = render_html(assemble_claim(dossier, made_at=MADE_AT)).decode()
    part = html[html.index('<section class="part" aria-labelledby="versions">') :]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", part[: part.index("</section>")]))


def test_each_revision_is_a_point_with_the_outcome_that_leads_for_it() -> None:
    """Model, audit, class and estimate of that revision alone; and the record survives being written and read."""
    found = drifted(OLD, SILENT, replace(NEW, class_=ClaimClass.INVERTED))

    assert [point.model.version for point in found.points] == ["2.1", "2.15", "2.2"]
    assert [point.class_ for point in found.points] == [ClaimClass.STABLE, None, ClaimClass.INVERTED]
    assert [point.estimates for point in found.points] == [OLD.specs, (), NEW.specs]
    assert found.points[1].audit is found.points[1].auditor is found.points[1].outcome_entry is None
    assert found.points[0].why is None
    assert found.points[2].theta == 0.1
    assert from_document(Drift, to_document(found), where="drift") == found


def test_one_model_version_has_no_drift_however_often_the_claim_was_revised() -> None:
    """A correction of spelling is no other version; the table of the terminal still has its rows."""
    once, twice = over_versions(OLD), over_versions(OLD, replace(NEW, version="2.1"))

    assert build_drift(once) is build_drift(twice) is None
    assert len(build_points(twice).points) == 2


def test_without_a_comparison_half_widths_add() -> None:
    """[low after − high before, high after − low before], and the method says why it is wide."""
    (step,) = drifted(OLD, NEW).steps
    one, two = OLD.specs[0], NEW.specs[0]
    assert one.ed.low is not None
    assert one.ed.high is not None
    assert two.ed.low is not None
    assert two.ed.high is not None

    assert step.finding is None
    assert step.ed.value == two.ed.value - one.ed.value
    assert (step.ed.low, step.ed.high) == (two.ed.low - one.ed.high, two.ed.high - one.ed.low)
    assert step.phi_deploy.value == pytest.approx(0.21)
    assert "half-widths added" in step.ed.method


def test_a_recorded_comparison_of_the_same_scores_gives_the_numbers() -> None:
    """Its own intervals, which are narrower, and its entry."""
    versions = (OLD, replace(NEW, is_compared=True))
    found = over_versions(*versions)
    finding = found.audits[1].findings[0]

    drift = build_drift(found)

    assert drift is not None
    (step,) = drift.steps
    assert isinstance(finding.payload.body, Shift)
    compared = finding.payload.body.specs[0]
    assert step.finding == finding.entry
    assert (step.phi_test, step.phi_deploy, step.ed) == (compared.phi_test, compared.phi_deploy, compared.ed)


@pytest.mark.parametrize("field", ["before_audit", "before_scores", "after_scores"])
def test_a_comparison_of_another_audit_or_of_other_scores_does_not_speak(field: str) -> None:
    """Then the two recorded estimates are what there is."""
    found = over_versions(OLD, replace(NEW, is_compared=True))
    file, other = found.audits[1], "AUD-EXAMPLE-2026-0099-X" if field == "before_audit" else "ff" * 32
    finding = file.findings[0]
    body = replace(finding.payload.body, **{field: other})  # type: ignore[arg-type]  # the name of one of its fields
    changed = replace(file, findings=(replace(finding, payload=replace(finding.payload, body=body)),))

    drift = build_drift(replace(found, audits=(found.audits[0], changed)))

    assert drift is not None
    assert drift.steps[0].finding is None


def test_a_version_without_an_estimate_is_stepped_over() -> None:
    """The step goes from the last estimate to the next one; nothing is taken as zero."""
    found = drifted(OLD, SILENT, replace(NEW, specs=()), NEW)

    assert [(step.before[-1], step.after[-1]) for step in found.steps] == [("1", "4")]


def test_only_specifications_and_judges_of_both_are_compared() -> None:
    """By name; a judge's scores stand beside those of the same judge."""
    first = (measured(0.1, 0.2, name="api", judge="ann"), measured(0.1, 0.3, name="api", judge="bob"), measured(0.1, 0.2, name="old"))
    second = (measured(0.1, 0.4, name="api", judge="bob"), measured(0.1, 0.2, name="chat"))

    (step,) = drifted(replace(OLD, specs=first), replace(NEW, specs=second)).steps

    assert (step.spec, step.judge) == ("api", "bob")
    assert step.phi_deploy.value == pytest.approx(0.1)


def test_what_cannot_be_subtracted_has_no_interval_or_no_step() -> None:
    """No interval on one side, other levels: the reason; another range of scores is another quantity."""
    bare = replace(OLD, specs=(spec_estimate("default", (0.05,), (0.04,), (0.01,)),))

    (first,), (second,) = drifted(bare, NEW).steps, drifted(replace(OLD, level=0.9), NEW).steps

    assert (first.ed.low, first.ed.reason) == (None, "no interval: the earlier estimate has none")
    assert (second.ed.low, second.ed.reason) == (None, "no interval: those of the estimates are at 90 % and at 95 %")
    assert second.ed.value == pytest.approx(-0.2)
    assert drifted(replace(OLD, range=(0.0, 10.0)), NEW).steps == ()


def test_another_definition_of_deployment_is_told() -> None:
    """The movement is then not of the model alone."""
    other = "CTX-EXAMPLE-2026-0002-X@2"

    (step,) = drifted(OLD, replace(NEW, deploy=other)).steps

    assert f"P_deploy was {OLD.deploy} before and {other} after" in step.ed.method


def test_steps_between_two_moments_of_a_registry() -> None:
    """From the outcome that led then to the one that leads now; the same outcome is no step."""
    then, now = over_versions(OLD), over_versions(OLD, NEW)
    unaudited = replace(now, audits=now.audits[:1])

    assert [(step.before[-1], step.after[-1]) for step in build_steps(then, now)] == [("1", "2")]
    assert build_steps(now, now) == build_steps(then, unaudited) == ()
    assert build_steps(replace(then, revisions=()), now) == ()


def test_a_later_outcome_of_one_revision_does_not_speak_for_another() -> None:
    """Also where it was recorded last."""
    found = over_versions(OLD, NEW)
    late = found.audits[0].restrictions[0]
    later = replace(late, entry=replace(late.entry, seq=999, at=late.entry.at + timedelta(days=9)))
    changed = replace(found, audits=(replace(found.audits[0], restrictions=(later,)), found.audits[1]))

    drift = build_drift(changed)

    assert drift is not None
    assert drift.points[1].estimates == NEW.specs


def test_the_figure_has_a_column_for_each_version_and_none_of_them_is_zero_for_want_of_an_audit() -> None:
    """What was not audited has no marks, and says so."""
    (figure,) = build_drift_figures(drifted(OLD, SILENT, replace(NEW, specs=()), NEW))

    assert [one.gap for one in figure.columns] == [None, "not audited", "no estimate", None]
    assert [one.ed is None for one in figure.columns] == [False, True, True, False]
    assert [one.band is None for one in figure.columns] == [False, True, True, False]
    assert figure.title.count("not audited") == 1
    assert "2.15: not audited." in figure.title
    assert not figure.movements[0].is_paired


def test_marks_stand_where_their_numbers_are() -> None:
    """Higher scores stand higher, θ lies on the edge of where the claim fails, zero in the middle of ±δ."""
    (figure,) = build_drift_figures(drifted(OLD, NEW))
    first, last = figure.columns[0], figure.columns[-1]
    assert last.deploy is not None
    assert last.test is not None
    assert last.band is not None
    assert last.fails is not None

    assert last.deploy.x < last.test.x
    assert last.deploy.x == figure.phi.place(0.25)
    assert last.fails[0] + last.fails[1] == pytest.approx(last.theta)
    assert last.band[0] + last.band[1] / 2 == pytest.approx(figure.zero, abs=0.02)
    assert last.deploy.low is not None
    assert last.deploy.high is not None
    assert last.deploy.high < last.deploy.x < last.deploy.low
    assert first.x < figure.movements[0].right == last.x


def test_a_figure_for_each_specification_and_the_last_versions_of_many() -> None:
    """More stand in the table alone."""
    names = [f"spec-{place}" for place in range(6)]
    several = drifted(*(Told(version=f"2.{v}", specs=tuple(measured(0.1, 0.2, name=name) for name in names)) for v in range(2)))
    many = drifted(*(Told(version=f"2.{v}", specs=(measured(0.1, 0.2),)) for v in range(11)))

    figures, (long,) = build_drift_figures(several), build_drift_figures(many)

    assert [one.name for one in figures] == names[:4]
    assert count_keys(several) == 6
    assert len(long.columns) == MOST_COLUMNS
    assert long.excluded == 3
    assert long.columns[-1].label == ("2.10",)


def test_versions_are_called_by_what_tells_them_apart() -> None:
    """The version; with its name, or its developer, only where these differ."""
    points = drifted(OLD, NEW).points
    renamed = (points[0], replace(points[1], model=replace(points[1].model, name="Falcon")))
    moved = (points[0], replace(points[1], model=replace(points[1].model, developer="Other Lab")))

    assert name_versions(points) == ("2.1", "2.2")
    assert name_versions(renamed) == ("Sparrow 2.1", "Falcon 2.2")
    assert name_versions(moved) == ("Example Lab Sparrow 2.1", "Other Lab Sparrow 2.2")


def test_a_long_name_takes_two_lines_and_is_cut_after_them() -> None:
    """Broken where a person would break it."""
    versions = [Told(version=f"{place}-preview-with-extended-thinking-2026-09-30T12:00:00Z", specs=OLD.specs) for place in range(6)]

    (figure,) = build_drift_figures(drifted(*versions))

    assert all(len(one.label) == 2 for one in figure.columns)
    assert figure.columns[0].label[0] == "0-preview-with-"
    assert figure.columns[0].label[1].endswith("…")


def test_another_quantity_has_no_place_on_the_axes() -> None:
    """Another range of scores, or another property: the column says so, and there is no movement; another version of it is the same."""
    wide = replace(OLD, range=(0.0, 10.0), specs=(measured(0.9, 0.5),))

    (figure,) = build_drift_figures(drifted(wide, NEW))

    found = over_versions(OLD, NEW)
    revisions = {
        name: (replace(found.revisions[0], payload=replace(found.revisions[0].payload, property=name)), found.revisions[1])
        for name in ("PRP-EXAMPLE-2026-0009-X@1", "PRP-EXAMPLE-2026-0001-X@7")
    }
    other, newer = (build_drift(replace(found, revisions=each)) for each in revisions.values())
    assert other is not None
    assert newer is not None
    assert [one.gap for one in figure.columns] == ["other quantity", None]
    assert figure.phi.high <= 1
    assert other.steps == ()
    assert [one.gap for one in build_drift_figures(other)[0].columns] == ["other quantity", None]
    assert len(newer.steps) == 1


def test_the_drawing_carries_its_words_and_escapes_what_others_wrote() -> None:
    """A version's name is data, in a drawing of its own too."""
    hostile = replace(NEW, version='2.2<script>alert("x")</script>\u202e')

    (figure,) = build_drift_figures(drifted(OLD, hostile))
    svg = render_drift(figure)

    assert svg.startswith("<svg")
    assert '<title id="drift-title">' in svg
    assert "<script" not in svg
    assert "\u202e" not in svg


def test_the_section_shows_every_version_and_every_movement() -> None:
    """Numbers with intervals, classes, entries; how each movement was found."""
    dossier = over_versions(OLD, SILENT, replace(NEW, class_=ClaimClass.INVERTED, is_compared=False))
    text = section(dossier)

    assert "not audited" in text
    assert "25.0 % 19.0–31.0 %" in text
    assert "inverted" in text
    assert "only the two estimates" in text
    assert "half-widths added" in text


def test_a_comparison_has_its_block_with_what_a_reader_must_know() -> None:
    """Tasks, movements, warnings, digests of both scores."""
    text = section(over_versions(OLD, replace(NEW, is_compared=True)))

    assert "task by task" in text
    assert "3 tasks of the earlier replay are left out." in text
    assert "00" * 32 in text
    assert "01" * 32 in text


def test_one_revision_has_nothing_to_compare() -> None:
    """It has no section, and the table of what was not done names it."""
    page = render_html(assemble_claim(over_versions(OLD), made_at=MADE_AT)).decode()

    assert 'id="versions"' not in page
    assert "model versions" in page.partition('id="not-done"')[2]


def test_the_figure_of_a_comparison_has_both_sides_and_ed_for_each_specification() -> None:
    """Told apart by shape; a movement of nothing has a figure too."""
    versions = (OLD, NEW)
    body = shift(0, 1, versions)
    still = replace(body, specs=tuple(replace(one, ed=replace(one.ed, value=0.0, low=0.0, high=0.0)) for one in body.specs))

    figure, flat = build_shift_figure(body, SHARES), build_shift_figure(still, SHARES)

    assert figure is not None
    assert flat is not None
    assert [row.shape for row in figure.rows] == ["square", "ring", "circle"]
    assert figure.rows[2].mark.text == "−20.0"
    assert build_shift_figure(replace(body, specs=()), SHARES) is None
