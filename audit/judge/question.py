"""What is asked about a judge, and the responses it is asked of: both sides of one specification of P_deploy."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from audit.errors import DesignError
from audit.sides import Pair, build_pairs, check_contexts, check_range, drop_ablations, find_arm, name_files
from audit.statistics.estimate_intervals import ScoreScale
from audit.statistics.judge_correction import JudgeAccuracy, JudgedResponses, weigh_responses
from audit.statistics.responses import Floats, RepeatedResponses, ScoreTable, average_repeats, find_relative_weights, find_responses
from audit.statistics.side_moments import find_units
from registry.errors import Fault
from registry.records.analysis_plan import Plan

Rows = npt.NDArray[np.intp]
Counts = npt.NDArray[np.int64]

_EQUAL = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """What is known beside the scores; arrays hold one number for each row of the table, NaN where there is none."""

    labels: Floats | None = None
    """A person's, in the unit of the score; None: there are none."""

    label_source: str = "label"
    """The column, or the file, they come from."""

    rescored: Floats | None = None
    """What the judge gave the same response with its context hidden or swapped, in the unit of the score; None: not asked."""

    rescored_column: str = "rescored"
    marks: Mapping[str, Floats] = field(default_factory=dict)
    """By column, 0 or 1: whether something went wrong with the response or its score, such as `truncated`."""

    accuracy: tuple[JudgeAccuracy, JudgeAccuracy] | None = None
    """Of the judge on the test and on the deployment side, measured elsewhere; None: not known. The same object twice: one
    measurement for both sides."""

    def keep(self, rows: npt.NDArray[np.bool_]) -> "Question":
        """Return the question for some rows of the table (a mask)."""
        return replace(
            self,
            labels=None if self.labels is None else self.labels[rows],
            rescored=None if self.rescored is None else self.rescored[rows],
            marks={name: values[rows] for name, values in self.marks.items()},
        )

    def average(self, responses: RepeatedResponses, scale: ScoreScale) -> "Question":
        """Return the question by response instead of by row, labels and scores mapped to [0, 1]."""
        return replace(
            self,
            labels=None if self.labels is None else responses.average(scale.shrink(self.labels)),
            rescored=None if self.rescored is None else responses.average(scale.shrink(self.rescored)),
            marks={name: responses.average(values) for name, values in self.marks.items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scores:
    """What one judge gave."""

    averaged: ScoreTable
    """One row for each response, repeats averaged, without ablations."""

    question: Question
    """By response, in [0, 1]."""

    responses: RepeatedResponses
    scorings: Floats
    """Every scoring, in [0, 1]; NaN where the judge gave none."""

    counts: Counts
    """By response: how often it was scored."""


def gather(table: ScoreTable, question: Question, scale: ScoreScale) -> Scores:
    """Return the scores of one judge, with the question by response.

    Raises:
        DesignError: two scorings of one response have different labels.
    """
    if table.cue_removed is not None:
        question = question.keep(table.cue_removed.codes < 0)
    table, _ = drop_ablations(table)
    responses, scorings = find_responses(table), scale.shrink(table.score)
    _check_labels(table, responses, question, scale)
    return Scores(
        averaged=average_repeats(table),
        question=question.average(responses, scale),
        responses=responses,
        scorings=scorings,
        counts=responses.count(scorings),
    )


def _check_labels(table: ScoreTable, responses: RepeatedResponses, question: Question, scale: ScoreScale) -> None:
    if question.labels is None:
        return
    labels = scale.shrink(question.labels)
    differs = int(np.count_nonzero(np.abs(labels - responses.average(labels)[responses.of_row]) > _EQUAL))
    if differs:
        found = f"{differs} rows have another label than other scorings of the same response"
        where = f"{name_files(table)}, {question.label_source}"
        raise DesignError(Fault(code="labels-differ", where=where, found=found, advice="give a response one label, whoever scored it"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SideScores:
    """One side, its responses in an order that does not depend on the table's."""

    name: Literal["test", "deploy"]
    judged: JudgedResponses
    """Scored responses to tasks that both sides have scores for, with the person's labels."""

    rescored: JudgedResponses
    """The same, with what the judge gave when it scored them again in place of labels."""

    marks: Mapping[str, JudgedResponses]
    """By column: all responses, excluded ones too; the mark stands as label, and the score is 0."""

    rows: Rows
    """Of the responses of `judged` in the averaged table."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpecScores:
    """Both sides for one specification of P_deploy."""

    pair: Pair
    test: SideScores
    deploy: SideScores
    context_names: tuple[str, ...]
    """By context code."""

    @property
    def sides(self) -> tuple[SideScores, SideScores]:
        """The test side, then the deployment side."""
        return self.test, self.deploy


def split_specs(scores: Scores, plan: Plan, scale: ScoreScale, *, test: str, deploy: str) -> Iterator[SpecScores]:
    """Yield both sides for each specification of P_deploy, in the order of their names.

    Raises:
        DesignError: a side is missing, the sides share no task, weights are no weights, or the contexts contradict the plan.
    """
    table = scores.averaged
    check_range(table, scale)
    test_rows = find_arm(table, test, deploy)
    pairs = build_pairs(table, scale, test_rows, test=test, deploy=deploy)
    check_contexts(table, pairs, plan, test=test, deploy=deploy)
    deploy_rows = np.flatnonzero(table.arm.codes == table.arm.find(deploy))
    for pair in pairs:
        code = table.spec.find(pair.spec)
        own = deploy_rows if code is None else deploy_rows[table.spec.codes[deploy_rows] == code]
        yield SpecScores(
            pair=pair,
            test=_build_side(scores, pair, "test", test_rows, own),
            deploy=_build_side(scores, pair, "deploy", own, test_rows),
            context_names=table.context.labels,
        )


def _build_side(scores: Scores, pair: Pair, name: Literal["test", "deploy"], rows: Rows, other: Rows) -> SideScores:
    table, asked = scores.averaged, scores.question
    rows = rows[np.lexsort([table.sample.codes[rows], table.context.codes[rows], table.task.codes[rows]])]
    used = rows[pair.common[table.task.codes[rows]] & (scores.counts[rows] > 0)]
    nothing = np.full(table.rows, np.nan)
    score = scores.responses.average(scores.scorings)
    both = np.zeros(len(pair.labels), dtype=bool)
    both[np.intersect1d(table.task.codes[rows], table.task.codes[other])] = True
    every, marked = replace(pair, common=both), rows[both[table.task.codes[rows]]]
    return SideScores(
        name=name,
        judged=_judge(table, pair, used, score=score, label=nothing if asked.labels is None else asked.labels),
        rescored=_judge(table, pair, used, score=score, label=nothing if asked.rescored is None else asked.rescored),
        marks={column: _judge(table, every, marked, score=np.zeros(table.rows), label=values) for column, values in asked.marks.items()},
        rows=used,
    )


def _judge(table: ScoreTable, pair: Pair, rows: Rows, *, score: Floats, label: Floats) -> JudgedResponses:
    common = pair.common
    task, context = (np.cumsum(common) - 1).astype(np.int32)[table.task.codes[rows]], table.context.codes[rows]
    tasks = int(np.count_nonzero(common))
    relative = find_relative_weights(pair.weights, common)
    clusters = pair.test.clusters
    units = find_units(clusters, common, relative)
    return JudgedResponses(
        task=task if units.of_task is None else units.of_task.astype(np.int32)[task],
        context=context,
        template=None if clusters.template is None else clusters.template.astype(np.int32)[context],
        score=score[rows],
        label=label[rows],
        weight=weigh_responses(task, context, relative, tasks=tasks),
        tasks=units.number,
    )
