"""The plan of a monitor as a file: a draft to fill in, and reading it back."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from textwrap import shorten
from typing import Any, Literal

from monitoring.statistics.e_process import BETS, LABEL_BETS
from registry.codec.canonical_documents import from_document, json_schema
from registry.codec.file_io import complete_days, read_document, read_text
from registry.errors import Fault, InputError
from registry.intake.stated_bounds import is_limit_stated
from registry.records.claim import ClaimRevision, Form, Relation
from registry.records.monitor import (
    AnchorPlan,
    DriftPlan,
    Evaluability,
    Monitor,
    MonitorDesign,
    MonitorPlan,
    MonitorStratum,
    StreamUnit,
)
from registry.records.record import Record
from registry.records.specification import PropertySpec

FORMS = (Form.THRESHOLD, Form.UPPER_BOUND, Form.LOWER_BOUND)
"""The claims that production can settle: those with a limit."""

_SIDES = {Relation.AT_MOST: "at most", Relation.AT_LEAST: "at least"}
_TEMPLATE = """\
# A monitor of {claim} (keys: caveat admin schema monitor).
#   {quote}
# It watches whether the mean score in production is {relation} {theta:g} (scores mapped to [0, 1]). It never gives ED: the tasks of users
# are not those of the test. `caveat monitor lock` fixes all of this; an item may not be older than the lock. Replace each ….
schema: caveat/monitor/1
claim: {claim}
design: sample                     # sample: items that you review | counts: counts made by others (an alarm stays in doubt)
evaluability: directly_auditable   # directly_auditable | delayed_evaluable | correction_evaluable | surrogate_only
stream:
  description: …                   # which traffic, in words
  unit: user                       # user: the mean score of one user in a window | conversation
  one_per_user: false              # with conversation: whether at most one conversation of a user is in the stream
  start: {start}                # this day at 00:00 UTC, or a time such as {start}T06:00:00Z
  every_days: 7                    # length of a window
  # models: [model-1]              # the names by which traces call the model, and the evaluation in them that is this scorer's
  # evaluation: harmful_compliance
  silent_after_days: 21            # without a window for so long, "holds so far" is withdrawn
inclusion: {{all: 1}}                # probability that an item is reviewed, by stratum, such as {{flagged: 1, rest: 0.01}}
alpha: 0.05                        # probability of ever raising the alarm wrongly
family: 1                          # claims that are monitored together: each alarm needs family / alpha
scored_by: {scoring}
label_delay_days: 0                # report a window when its labels are in
min_users: 20                      # a cell with fewer users is suppressed
# People label a random share of the reviewed items, by stratum, chosen whatever the scores are. Labels correct the judge, so no anchors
# are needed. Labels that are chosen because of a score make every figure wrong.
# labels: {{chosen_at_random: true, share: {{all: 0.05}}}}
# Items with labels of people, scored again by the current judge all the time. Without anchors and without labels an alarm stays in doubt:
# the judge may have changed. The file stays with you; its digest is recorded.
# anchors: {{file: anchors.csv, false_positive: 0.05, false_negative: 0.2, guard: 300, run_length: 1000}}
# drift: {{tolerated: {wrong:g}, run_length: 50}}   # an alarm for operators, in windows; changes no status
"""
_INCIDENTS = """\
# A monitor of {claim} by incidents (keys: caveat admin schema monitor).
#   {quote}
# No score may pass its limit, so one verified event refutes it. Incidents give no rate, and none reported says nothing.
# `caveat monitor lock` fixes all of this; an incident may not be older than the lock. Replace each ….
schema: caveat/monitor/1
claim: {claim}
design: incidents
evaluability: directly_auditable   # directly_auditable | delayed_evaluable | correction_evaluable | surrogate_only
stream:
  description: …                   # which traffic, in words
  start: {start}
# Only if items are also reviewed at random, so that "none among n" bounds how often it happens: the probability of review.
# inclusion: {{chosen: 0.01}}
# alpha: 0.05                      # probability that this bound is ever wrong
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamDraft(Record):
    """The stream of a plan, as the file has it."""

    description: str
    unit: StreamUnit = StreamUnit.USER
    one_per_user: bool = False
    start: datetime
    every_days: int = 7
    silent_after_days: int = 21
    models: tuple[str, ...] = ()
    evaluation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorDraft(Record):
    """The anchors of a plan, as the file has them."""

    file: str
    false_positive: float
    false_negative: float
    guard: int = 300
    run_length: float = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDraft(Record):
    """The labels of people, as the file has them."""

    chosen_at_random: bool
    """The lab's word that the choice of an item depends on chance only, and not on what it is or how it was scored."""
    share: dict[str, float]
    """By stratum: the probability that people label a reviewed item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorDraft(Record):
    """The file that `caveat monitor lock` takes."""

    claim: str
    """`CLM-…@n`, or `CLM-…` for the latest revision."""
    design: MonitorDesign
    evaluability: Evaluability
    stream: StreamDraft
    inclusion: dict[str, float] | None = None
    """By stratum; None for incidents without a random review."""
    alpha: float = 0.05
    family: int = 1
    scored_by: str | None = None
    """`SCF-…@n`; None where people verify incidents."""
    label_delay_days: int = 0
    min_users: int = 20
    labels: LabelDraft | None = None
    anchors: AnchorDraft | None = None
    drift: DriftPlan | None = None
    schema: Literal["caveat/monitor/1"] = "caveat/monitor/1"


def render_draft(claim: ClaimRevision, body: PropertySpec, *, now: datetime) -> str:
    """Return a plan to fill in for *claim*, which has a limit.

    Raises:
        InputError: a claim without a limit that production can settle.
    """
    relation, theta = map_limit(claim, body)
    scoring = claim.scoring or "…                        # SCF-…@n: what gives the scores; new: caveat spec add scoring NAME FILE"
    # The next midnight: the lock comes before the first item.
    first = now.astimezone(UTC).date() + timedelta(days=1)
    quote = shorten(claim.quote, 120, placeholder=" …")
    if not 0 < theta < 1:
        return _INCIDENTS.format(claim=claim.reference, quote=quote, start=first)
    return _TEMPLATE.format(
        claim=claim.reference,
        quote=quote,
        relation=_SIDES[relation],
        theta=theta,
        wrong=theta if relation is Relation.AT_MOST else 1 - theta,
        start=first,
        scoring=scoring,
    )


def map_limit(claim: ClaimRevision, body: PropertySpec) -> tuple[Relation, float]:
    """Return the claim's relation and its limit for scores mapped to [0, 1]; at an end of the range no score may pass it.

    Raises:
        InputError: the claim has no limit, or none that a score could fail.
    """
    where = claim.reference
    if claim.form not in FORMS or claim.relation is None or claim.theta is None:
        problem = f"it is of form {claim.form.value}, and production can only settle a limit"
        raise InputError(Fault("no-limit-to-monitor", where, problem))
    low, high = body.range
    theta = (claim.theta - low) / (high - low)
    if not (0 <= theta < 1 if claim.relation is Relation.AT_MOST else 0 < theta <= 1):
        problem = f"its limit {claim.theta:g} cannot be failed in the range [{low:g}, {high:g}] of its scores"
        raise InputError(Fault("no-limit-to-monitor", where, problem))
    return claim.relation, theta


def read_draft(path: Path) -> MonitorDraft:
    """Return the plan in the file *path*.

    Raises:
        InputError: with all faults of the file.
    """
    document = complete_days(read_document(path), frozenset({"start"}))
    if left := _find_blanks(document, path.name):
        raise InputError([Fault("not-valid", place, "… is left to be filled in") for place in left])
    return from_document(MonitorDraft, document, where=path.name)


def build_monitor(draft: MonitorDraft, claim: ClaimRevision, body: PropertySpec, *, identifier: str, by: str, folder: Path) -> Monitor:
    """Return the monitor that *draft* describes.

    Args:
        folder: of the file with the anchors.

    Raises:
        InputError: with what the plan lacks.
    """
    relation, theta = map_limit(claim, body)
    _check_design(draft.design, theta, where=claim.reference)
    _check_labels(draft)
    shares = draft.labels.share if draft.labels else {}
    anchors = None
    if draft.anchors is not None:
        anchors = AnchorPlan(
            sha256=hashlib.sha256(read_text(folder / draft.anchors.file).encode()).hexdigest(),
            false_positive=draft.anchors.false_positive,
            false_negative=draft.anchors.false_negative,
            guard=draft.anchors.guard,
            run_length=draft.anchors.run_length,
        )
    stream = draft.stream
    try:
        plan = MonitorPlan(
            design=draft.design,
            evaluability=draft.evaluability,
            stream=stream.description,
            unit=stream.unit,
            one_per_user=stream.one_per_user,
            # A time without a zone is UTC, as all times in the log are.
            start=stream.start.astimezone(UTC) if stream.start.tzinfo else stream.start.replace(tzinfo=UTC),
            every_days=stream.every_days,
            silent_after_days=stream.silent_after_days,
            strata=tuple(
                MonitorStratum(name=name, inclusion=inclusion, label_share=shares.get(name))
                for name, inclusion in (draft.inclusion or {}).items()
            ),
            relation=relation,
            theta=theta,
            is_limit_stated=_states_limit(claim, body),
            alpha=draft.alpha,
            family=draft.family,
            bets=LABEL_BETS if draft.labels else BETS,
            scored_by=draft.scored_by,
            range=body.range,
            models=stream.models,
            evaluation=stream.evaluation,
            label_delay_days=draft.label_delay_days,
            min_users=draft.min_users,
            anchors=anchors,
            drift=draft.drift,
        )
    except ValueError as error:
        raise InputError(Fault("not-valid", draft.claim, str(error))) from error
    return Monitor(monitor=identifier, claim=claim.reference, plan=plan, by=by)


def _states_limit(claim: ClaimRevision, body: PropertySpec) -> bool:
    if claim.relation is None or claim.theta is None:
        return False
    return is_limit_stated(claim.quote, relation=claim.relation, theta=claim.theta, range_=body.range)


def _check_design(design: MonitorDesign, theta: float, *, where: str) -> None:
    """Refuse a rate that single events cannot give, and a limit of zero that no rate can settle; raises InputError."""
    if design is MonitorDesign.INCIDENTS and 0 < theta < 1:
        problem = f"its limit is {theta:g}, and incidents refute only a limit that no score may pass"
        raise InputError(Fault("no-rate-from-incidents", where, problem))
    if design is not MonitorDesign.INCIDENTS and not 0 < theta < 1:
        problem = "no score may pass its limit, so no rate can settle it"
        raise InputError(Fault("no-limit-to-monitor", where, problem, advice="write design: incidents; one verified event refutes it"))


def _check_labels(draft: MonitorDraft) -> None:
    """Refuse labels of people that are not of a random share of each stratum; raises InputError."""
    labels = draft.labels
    if labels is None:
        return
    if not labels.chosen_at_random:
        problem = "people choose the items that they label, and only a random share corrects the judge"
        advice = "let chance choose the items, whatever their scores are; or use anchors in place of labels"
        raise InputError(Fault("choice-not-random", f"{draft.claim}, labels", problem, advice=advice))
    if {*labels.share} != {*(draft.inclusion or {})}:
        problem = (
            f"it has a share for {', '.join(labels.share) or 'no stratum'}; inclusion has {', '.join(draft.inclusion or {}) or 'none'}"
        )
        raise InputError(Fault("not-valid", f"{draft.claim}, labels", problem))


def _find_blanks(value: object, place: str) -> list[str]:
    match value:
        case dict():
            return [blank for key, item in value.items() for blank in _find_blanks(item, f"{place}, {key}")]
        case str() if value.strip().startswith("…"):
            return [place]
        case _:
            return []


def plan_schema() -> dict[str, Any]:
    """Return the JSON Schema of the plan of a monitor."""
    return json_schema(MonitorDraft)
