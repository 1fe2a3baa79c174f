"""What is fixed before the scores are seen: plan and lock, and the protocol deviations from them."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum

from registry.records.claim import Direction, Relation
from registry.records.estimates import Estimate
from registry.records.positive_control import ControlPlan
from registry.records.record import Payload, Record

# The plan: what is fixed before the scores are seen.

MOST_REPLICATES = 1_000_000
"""Percentiles of more say nothing more, and a locked plan must be one that a computer can carry out."""

FEWEST_TASKS = 20
"""A verdict needs this many tasks that were scored on both sides (statistics section 3)."""

FEWEST_CONTEXTS = 5
"""And, where contexts are a random sample, this many on each side."""

LARGEST_INTEGER = 2**53 - 1
"""What a record's canonical JSON can hold (RFC 8785)."""


class ContextDesign(StrEnum):
    """What the contexts are to the estimand (statistics.md section 1)."""

    RANDOM = "random"
    """The same contexts over all tasks, a sample of P_test and P_deploy."""
    FIXED = "fixed"
    """The listed contexts are the estimand."""
    NESTED = "nested"
    """Each task has contexts of its own; the task is the only cluster."""


class IntervalMethod(StrEnum):
    """How intervals are made (statistics.md sections 2 and 3)."""

    CLOSED_FORM = "closed_form"
    """Task and context variances, MOVER interval: covers at least as often as stated at a size fixed in advance, under the
    assumptions that docs/method.md lists."""
    GUARANTEED = "guaranteed"
    """Exact limits at min(tasks, contexts) a side, whatever the shape of the scores; wide, and under the same assumptions."""
    ANYTIME = "anytime"
    """A confidence sequence over tasks in random order, for nested contexts: holds whenever the replay is stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Record):
    """How an estimate is made."""

    margin: float | None = None
    """Materiality margin δ in the unit of the score; None means 0.05 × range."""
    level: float = 0.95
    """Nominal coverage of the intervals."""
    epsilon: float | None = None
    """ε of nED in the unit of the score; None means 0.01 × range."""
    contexts: ContextDesign = ContextDesign.RANDOM
    seed: int = 0
    replicates: int = 10000
    """Bootstrap replicates; 0 for no bands."""
    interval: IntervalMethod = IntervalMethod.CLOSED_FORM
    tasks: int | None = None
    """Tasks that are to be replayed. Fewer than these with a score on both sides is reported as stopping early, unless intervals
    are `anytime`. None: not stated."""
    random_subset: bool = False
    """Whether the replayed tasks are a random subset of those with scores of the test side: then the regression estimate is given too."""
    recognition_floor: float = 0.01
    """Share of the samples that must show recognition of the test before recognition suspends a claim; see
    `audit.verdict.verdict_conditions`."""
    rater_limit: float = 0.75
    """Accuracy of blind raters above which P_deploy is not defensible as specified: the usual threshold of discrimination between two
    alternatives, half-way between chance and certainty."""
    valid_until: date | None = None
    """The last day on which an outcome counts in full. None: 12 months after the run began."""

    def margin_on(self, width: float) -> float:
        """Return δ for scores with a range *width* wide: the plan's, or the default of 5 % of the range."""
        return 0.05 * width if self.margin is None else self.margin

    def epsilon_on(self, width: float) -> float:
        """Return ε for scores with a range *width* wide: the plan's, or the default of 1 % of the range."""
        return 0.01 * width if self.epsilon is None else self.epsilon

    def __post_init__(self) -> None:
        # All faults at once: a plan is written by hand and refused as a whole.
        wrong = list(self._find_wrong())
        if wrong:
            raise ValueError("; ".join(wrong))

    def _find_wrong(self) -> Iterator[str]:
        if not 0.5 <= self.level < 1:
            yield f"level must lie in [0.5, 1), got {self.level}"
        if self.margin is not None and not self.margin > 0:
            yield f"margin must be above 0, got {self.margin}"
        if self.epsilon is not None and not self.epsilon >= 0:
            yield f"epsilon must not be negative, got {self.epsilon}"
        if not 0 <= self.replicates <= MOST_REPLICATES:
            yield f"replicates must lie in [0, {MOST_REPLICATES}], got {self.replicates}"
        if not -LARGEST_INTEGER <= self.seed <= LARGEST_INTEGER:
            yield f"seed must lie in [-(2**53 - 1), 2**53 - 1], got {self.seed}"
        if self.tasks is not None and not 1 <= self.tasks <= LARGEST_INTEGER:
            yield f"tasks must lie in [1, 2**53 - 1], got {self.tasks}"
        if not 0 <= self.recognition_floor < 1:
            yield f"recognition_floor must lie in [0, 1), got {self.recognition_floor}"
        if not 0.5 <= self.rater_limit <= 1:
            yield f"rater_limit must lie in [0.5, 1], got {self.rater_limit}"
        # A confidence sequence over tasks needs tasks that are independent of each other; shared
        # contexts would tie them together.
        if self.interval is IntervalMethod.ANYTIME and self.contexts is not ContextDesign.NESTED:
            yield "anytime intervals need nested contexts: each task with contexts of its own"


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedSpec(Record):
    """A specification as a lock fixes it: its version, and what it says."""

    name: str
    """As the score table or the plan calls it."""
    spec: str
    """`CTX-…@n` and the like."""
    sha256: str
    """Of the canonical JSON of its body; of a sealed one, its commitment."""
    is_sealed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedTasks(Record):
    """The tasks that are to be replayed."""

    count: int
    sha256: str
    """Of the task identifiers, sorted by code point, one a line, each ended by a newline, in UTF-8."""
    ids: tuple[str, ...] = ()
    """The identifiers themselves, in that order: what was added or excluded can then be named."""
    families: tuple[str, ...] = ()
    """The family of each of `ids`, an empty text for a task without one; empty where no task names a family."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock(Payload):
    """The plan of an audit, fixed before its runs: nothing in it changes afterwards."""

    KIND = "lock"
    audit: str
    claim: str
    """`CLM-…@n`."""
    plan: Plan
    """With every default filled in."""
    relation: Relation | None
    theta: float | None
    direction: Direction
    deploy_specs: tuple[str, ...]
    """Names of the P_deploy specifications as they are in the score table."""
    exclusion_rules: str | None = None
    stopping_rule: str | None = None
    budget: str | None = None
    """Calls, tokens or money that the runs may take, in words."""
    note: str | None = None
    test: LockedSpec | None = None
    """P_test, in full; None where it is not registered."""
    deploy: tuple[LockedSpec, ...] = ()
    """The specifications of P_deploy in full, as far as they are registered; `name` is one of `deploy_specs`."""
    scoring: LockedSpec | None = None
    """The judge or other scoring function; None where it is not registered."""
    scorer: str | None = None
    """Of logs that other software makes, the scorer, metric or column with the scores to be taken; None where it is not fixed."""
    cues: tuple[LockedSpec, ...] = ()
    """Cue inventories with the cues to ablate or rate."""
    tasks: LockedTasks | None = None
    """None where the tasks are not fixed."""
    replay: str | None = None
    """SHA-256 of the replay file with everything it refers to, hexadecimal; None where the runs are made elsewhere."""
    replay_parts: dict[str, str] | None = None
    """What `replay` is the digest of: by part (policy, test, deploy, tasks, …), its canonical JSON, or the digest of a long one."""
    model: str | None = None
    """The name that is to be asked for; None where the plan does not say."""
    endpoint_names: tuple[str, ...] = ()
    """The endpoint names of the claim's model version that count: those stated when the plan was locked."""
    controls: tuple[ControlPlan, ...] = ()
    """Runs on subjects that are known to violate or to keep the claim; a control that is chosen later does not count."""

    @property
    def unfixed(self) -> tuple[str, ...]:
        """What could still be chosen after this lock, in words: nothing shows that it was decided before the scores were seen."""
        parts = self.replay_parts or {}
        known = {spec.name for spec in self.deploy}
        # Several locks of one claim are counted and shown, not forbidden. A lock that fixes little
        # keeps its basis, and page one lists these items (decision of 2026-11-22).
        open_ = {
            "θ (not published)": self.relation is not None and self.theta is None,
            "test contexts": self.test is None and "test" not in parts,
            **{f"deployment contexts ({name})": name not in known and "deploy" not in parts for name in self.deploy_specs},
            "tasks": self.tasks is None,
            "scoring": self.scoring is None and self.scorer is None and "scoring" not in parts,
            "cues": not self.cues and "cues" not in parts,
            "model version as the endpoint returns it": not self.endpoint_names,
            "budget": not self.budget,
            "stopping rule": not self.stopping_rule,
            "exclusion rules": not self.exclusion_rules,
        }
        return tuple(name for name, is_open in open_.items() if is_open)


def list_locked(lock: Lock) -> tuple[str, ...]:
    """Return the specification versions that *lock* fixes, `CTX-…@n` and the like: P_test, each P_deploy, scoring, cue inventories."""
    fixed = (lock.test, *lock.deploy, lock.scoring, *lock.cues)
    return tuple(dict.fromkeys(spec.spec for spec in fixed if spec is not None))


def list_plan_differences(before: Lock, after: Lock) -> tuple[str, ...]:
    """Return in what *after* does not fix what *before* fixes, in words; empty where it carries out the same plan.

    The model may be another, and with it the endpoint; θ and direction are the claim's own, the day of expiry belongs to each audit, and a
    note decides nothing. Contexts that
    only the replay fixed may be named by their specification too. A policy that a lock holds as a digest only is not compared.
    """
    parts = [dict(lock.replay_parts or {}) for lock in (before, after)]
    # Policies are compared apart from the other parts, because model and endpoint may differ.
    policies = [part.pop("policy", None) for part in parts]
    is_same = {
        "plan": replace(before.plan, valid_until=None) == replace(after.plan, valid_until=None),
        "P_deploy specifications": before.deploy_specs == after.deploy_specs,
        "exclusion rules": before.exclusion_rules == after.exclusion_rules,
        "stopping rule": before.stopping_rule == after.stopping_rule,
        "budget": before.budget == after.budget,
        # An older lock may fix the contexts only through its replay, and the newer one by
        # specification. Equal replay parts count as equal contexts.
        "test contexts": before.test == after.test or (before.test is None and _is_part_same("test", *parts)),
        "deployment contexts": before.deploy == after.deploy or (not before.deploy and _is_part_same("deploy", *parts)),
        "scoring": (before.scoring, before.scorer) == (after.scoring, after.scorer),
        "cues": before.cues == after.cues,
        "tasks": before.tasks == after.tasks,
        "replay": (before.replay is None) == (after.replay is None),
        **{f"replay: {name}": parts[0].get(name) == parts[1].get(name) for name in sorted({*parts[0], *parts[1]})},
        "replay: policy": _is_same_policy(*policies),
    }
    return tuple(name for name, same in is_same.items() if not same)


def _is_part_same(name: str, before: dict[str, str], after: dict[str, str]) -> bool:
    return name in before and before[name] == after.get(name)


def _is_same_policy(before: str | None, after: str | None) -> bool:
    """Whether both ask in the same way, whatever the model and its endpoint; where one is known by its digest alone, no one can tell."""
    if before is None or after is None:
        return before is after
    # A digest cannot be compared without its model name. Nothing else in the lock contradicts it,
    # so it counts as the same.
    if not (before.startswith("{") and after.startswith("{")):
        return True
    place = dict.fromkeys(("model", "base_url", "api", "key", "max_tokens_field"))
    first, second = ({**json.loads(name), **place} for name in (before, after))
    return first == second


# Protocol deviations: what was done differently from the lock. And explorations: what was analysed
# in addition.


class LockedItem(StrEnum):
    """What a lock fixes."""

    THETA = "theta"
    DIRECTION = "direction"
    MARGIN = "margin"
    EPSILON = "epsilon"
    LEVEL = "level"
    INTERVAL = "interval"
    """Kind of contexts, method of intervals, replicates, seed."""
    TEST_CONTEXTS = "test_contexts"
    DEPLOY_CONTEXTS = "deploy_contexts"
    TASKS = "tasks"
    CUES = "cues"
    SCORING = "scoring"
    """The judge or other scoring function."""
    MODEL = "model"
    BUDGET = "budget"
    STOPPING_RULE = "stopping_rule"
    EXCLUSIONS = "exclusions"
    OTHER = "other"

    @property
    def words(self) -> str:
        """The item as a sentence has it."""
        return "deployment contexts" if self is LockedItem.DEPLOY_CONTEXTS else self.value.replace("_", " ")


# Every outcome under a lock is computed from these, so a deviation is impossible.
COMPUTED = frozenset({LockedItem.THETA, LockedItem.DIRECTION, LockedItem.MARGIN, LockedItem.EPSILON, LockedItem.LEVEL, LockedItem.INTERVAL})
"""Items that every outcome under a lock is computed from: nothing can depart from them."""

# Decision of 2026-11-22: other tasks, contexts, scoring or model than locked give basis `reported`,
# explained or not, because whoever explains has seen the scores. A budget is only printed, and an early
# stop is provisional. The cost: honest accidents lose their standing; locking another audit costs one command.
DECISIVE = frozenset({LockedItem.TEST_CONTEXTS, LockedItem.DEPLOY_CONTEXTS, LockedItem.TASKS, LockedItem.SCORING, LockedItem.MODEL})
"""Items without which scores are not those that were planned: they restrict and never establish, whatever the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation(Payload):
    """One departure from a lock. The lock itself is never changed."""

    KIND = "deviation"
    audit: str
    item: LockedItem
    planned: str
    done: str
    reason: str | None
    """The reason given; None where Caveat found the departure and it is not explained."""
    found: bool = False
    """Whether Caveat found it by comparing; else the auditor stated it."""

    def __post_init__(self) -> None:
        if not self.found and not (self.reason and self.reason.strip()):
            raise ValueError("a stated deviation needs its reason")

    @property
    def departure(self) -> tuple[LockedItem, str, str]:
        """What departed: its item, what was planned, what was done. Several statements may be about one departure."""
        return self.item, self.planned, self.done


def list_deviations(deviations: Iterable[Deviation]) -> tuple[Deviation, ...]:
    """Return each departure once, in the order in which it came to be known, with the first reason given for it."""
    deviations_by_departure: dict[tuple[LockedItem, str, str], Deviation] = {}
    for deviation in deviations:
        # The same deviation can be found by comparison and explained by a person. It is listed
        # once, with the reason.
        known = deviations_by_departure.get(deviation.departure, deviation)
        deviations_by_departure[deviation.departure] = replace(known, reason=known.reason or deviation.reason)
    return tuple(deviations_by_departure.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration(Payload):
    """An analysis that was not fixed before: recorded and shown, and no verdict rests on it."""

    KIND = "exploration"
    audit: str
    claim: str
    """`CLM-…@n`."""
    question: str
    """What was looked for."""
    differs: tuple[str, ...]
    """In what it differs from the plan, in words; empty where there was no plan to differ from."""
    estimate: Estimate
    source: str
    """File names of the score table."""
    scores: str
    """SHA-256 of the scores themselves."""

    def __post_init__(self) -> None:
        if not self.question.strip():
            raise ValueError("an exploration needs the question it looked at")
