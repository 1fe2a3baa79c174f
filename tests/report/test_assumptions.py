"""Page one says what a verdict assumes, and how often *holds* is false with a rare trigger context where few contexts were drawn."""

from dataclasses import replace
from typing import Literal

import pytest

from registry.records.claim import Form
from registry.records.estimates import Estimate
from registry.records.replay_run import NearDuplicates
from registry.records.verdict import FIRM, ClaimClass, Mode, ReadingVerdict, Standing, Verdict
from registry.report.page_one import ENOUGH, FALSE_HOLDS, describe_few_contexts, describe_unchecked
from registry.report.supplement_assembly import assemble_claim
from tests.report.builders import MADE_AT, estimate, reading, spec_estimate
from tests.report.dossiers import degraded

HOLDS = reading(Form.PREVALENCE, ClaimClass.STABLE, standing=Standing.ESTABLISHED)


def measure(contexts: int, *, tasks: int = 50, design: Literal["random", "fixed", "nested"] = "random") -> Estimate:
    spec = spec_estimate("default", (0.1, 0.08, 0.12), (0.1, 0.08, 0.12), (0.0, -0.02, 0.02))
    counts = replace(spec.n, contexts_deploy=contexts, tasks=tasks)
    return replace(estimate(replace(spec, n=counts)), contexts=design)


@pytest.mark.parametrize("contexts", [5, 8, 20, ENOUGH - 1])
def test_page_one_names_the_contexts_and_every_rate_that_was_simulated(contexts: int) -> None:
    """The rates are printed as they were measured; none is made up for a number of contexts that was not simulated."""
    text = describe_few_contexts(HOLDS, measure(contexts))

    assert text is not None
    assert f"Few contexts ({contexts} of deployment)" in text
    if contexts in FALSE_HOLDS:
        assert f"up to {100 * FALSE_HOLDS[contexts]:.0f} % of simulated verdicts" in text
    else:
        assert all(f"{100 * rate:.0f} % with {count}" in text for count, rate in FALSE_HOLDS.items())


def test_contexts_of_one_task_count_once() -> None:
    """Nested contexts of 20 tasks are 20, however many each task has."""
    text = describe_few_contexts(HOLDS, measure(200, tasks=20, design="nested"))

    assert text is not None
    assert "Few contexts (20 of deployment)" in text


@pytest.mark.parametrize(
    ("verdict", "measured"),
    [
        (HOLDS, measure(ENOUGH)),
        (HOLDS, measure(5, design="fixed")),
        (HOLDS, replace(measure(5), interval="guaranteed")),
        (HOLDS, None),
        (replace(HOLDS, verdict=Verdict.CONTRADICTED), measure(5)),
    ],
)
def test_nothing_is_said_where_the_rate_does_not_apply(verdict: ReadingVerdict, measured: Estimate | None) -> None:
    """Enough contexts, fixed ones, guaranteed intervals, no replay, another verdict."""
    assert describe_few_contexts(verdict, measured) is None


@pytest.mark.parametrize("verdict", sorted(FIRM))
def test_every_firm_verdict_of_a_replay_names_what_no_check_shows(verdict: Verdict) -> None:
    """Independent tasks and no rare kind of task are assumed by each."""
    firm = replace(HOLDS, verdict=verdict)

    assert describe_unchecked(firm, measure(50)).startswith("Assumed, not checked: tasks are independent")
    assert not describe_unchecked(firm, None)


def test_an_open_verdict_needs_no_such_sentence() -> None:
    """What is inconclusive rests on nothing that could be wrong in this way."""
    open_ = reading(Form.PREVALENCE, ClaimClass.UNDETERMINED, mode=Mode.NOISY, resolves="More contexts.")

    assert not describe_unchecked(open_, measure(50))


def test_tasks_that_are_alike_are_a_limit_and_no_assumption() -> None:
    """What a check found is not called unchecked; the rare kind of task still is."""
    dossier = degraded()
    file = dossier.audits[0]
    run = file.runs[0]
    alike = NearDuplicates(compared=20, not_compared=0, found=3, pairs=(("t1", "t2"),))
    found = replace(run.payload, provenance=replace(run.payload.provenance, near_duplicates=alike))
    changed = replace(dossier, audits=(replace(file, runs=(replace(run, payload=found),)),))

    limits = [limit.text for limit in assemble_claim(changed, made_at=MADE_AT).limits]

    assert "3 pairs of tasks have nearly the same text (t1 and t2) and no common family: the intervals are too narrow." in limits
    assert "Assumed, not checked: no rare kind of task was missed." in limits
    assert not any("tasks are independent" in text for text in limits)


def test_page_one_has_both_sentences_among_its_limits() -> None:
    """A supplement whose outcome holds from five contexts names the rate among its limits; one that does not hold says nothing of it."""
    dossier = degraded()
    file = dossier.audits[0]
    outcome = file.restrictions[0]
    held = replace(outcome.payload, classification=replace(outcome.payload.classification, readings=(HOLDS,)))
    changed = replace(dossier, audits=(replace(file, restrictions=(replace(outcome, payload=held),)),))

    limits = [limit.text for limit in assemble_claim(changed, made_at=MADE_AT).limits]

    assert any(text.startswith("Few contexts (5") for text in limits)
    assert any(text.startswith("Assumed, not checked:") for text in limits)
    assert not any(limit.text.startswith("Few contexts") for limit in assemble_claim(dossier, made_at=MADE_AT).limits)
