"""Where a registered claim stands: status axes, claim family, reviews of staleness, and objections."""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum

from registry.records.model_version import ModelRef
from registry.records.record import Payload, Record
from registry.records.verdict import FAVOURABLE, FIRM, RestrictionStatus, Verdict, VerdictStanding, find_gravity

# Claim families: claims on one property of one model version that quote the same words of one card,
# with their outcomes.
#
# An outcome follows the words of a claim (decision of 2026-11-23). Whoever revises θ, direction or
# form, registers the claim again, or quotes another revision of the card, keeps the outcomes. They
# stay until a newer revision of the card has other words in that place.

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[%<>=≤≥±]")
SHORTEST_RUN = 5
"""Words in a row that two quotes share by chance too rarely to count."""


class OppositionKind(StrEnum):
    """In what two audits of one claim disagree."""

    VERDICT = "verdict"
    """By one the claim holds, by the other it does not."""
    INTERVAL = "interval"
    """Their intervals of Φ_deploy against one specification have no point in common."""
    WORDS = "words"
    """By the other, another claim on the same words does not hold."""
    WITHDRAWN = "withdrawn"
    """The other was withdrawn, and with it this one would not stand as it does; or this one was withdrawn itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opposition(Record):
    """The outcome of an audit for which another outcome is not established: it disagrees, or was withdrawn."""

    audit: str
    claim: str
    """`CLM-…@n`."""
    verdict: Verdict
    kind: OppositionKind
    lowered_from: VerdictStanding | None
    """The standing of the outcome that is lowered, without this disagreement: it still decides which of equal verdicts leads. None for a
    verdict that has none."""
    log: str | None = None
    """Name of the other registry's log that has it; None for the registry's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyOutcome(Record):
    """An outcome of one claim revision, as the other claims of its family show it."""

    claim: str
    """The revision that was audited, `CLM-…@n`."""
    property: str
    """`PRP-…@n`."""
    model: ModelRef
    audit: str
    verdict: Verdict
    standing: VerdictStanding | None
    """As it counted when this was read."""
    seq: int
    """The entry that recorded the outcome."""
    at: datetime
    """Its time, in UTC."""
    log: str | None = None
    """Name of the other registry's log that has it; None for the registry's own."""
    valid_until: date | None = None
    """The last day on which it counts in full; None where that was not recorded."""
    is_expired: bool = False
    """Whether that day was over when this was read: `standing` is then provisional at most."""
    other_words: str | None = None
    """The card revision, `CRD-…@n`, that has other words in the place that the older of both claims quotes; None while the words are
    the same. An outcome on other words is history: it never leads."""
    question: str = ""
    """What the audited revision claims: its form, with relation and θ where it has them, `threshold <= 0.1`."""
    opposed: Opposition | None = None
    """The gravest outcome that disagrees with it; `standing` is then provisional. None where no other audit does."""
    is_withdrawn: bool = False
    """Whether its audit was withdrawn: it leads only where no other outcome does, and never where it favours the claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family(Record):
    """The family of one claim revision."""

    members: tuple[str, ...] = ()
    """`CLM-…@n`, the other claim revisions of the family, in log order."""
    outcomes: tuple[FamilyOutcome, ...] = ()
    """Of the claim and its family, the gravest first, those on other words last."""
    others: tuple[FamilyOutcome, ...] = ()
    """Of claims on the same words about another property, model version or card, the gravest first."""

    @property
    def gravest(self) -> FamilyOutcome | None:
        """The outcome that leads; None for a family that is not audited."""
        return find_gravest(self.outcomes)


def find_gravest(outcomes: Sequence[FamilyOutcome]) -> FamilyOutcome | None:
    """Return the gravest of *outcomes* on the same words, of equals the latest; None without one that counts."""
    # Outcomes on other words are history and never lead.
    counted = (
        outcome for outcome in outcomes if outcome.other_words is None and not is_void(outcome.verdict, is_withdrawn=outcome.is_withdrawn)
    )
    return min(counted, key=weigh_outcome, default=None)


# Withdrawn audits (decision of 2026-11-27). A withdrawal must not improve a verdict. So what would be
# better without the withdrawn audit is provisional, and a withdrawn adverse outcome is shown until
# another audit has one. The cost: an adverse audit with a mistake in it weighs on the claim until the
# words or the model version change.


def is_void(verdict: Verdict, *, is_withdrawn: bool) -> bool:
    """Whether an outcome counts for nothing: what was withdrawn supports no claim."""
    return is_withdrawn and verdict in FAVOURABLE


def weigh_outcome(outcome: FamilyOutcome) -> tuple[bool, bool, tuple[int, int], float, int]:
    """Return a key that sorts outcomes: those on the same words first, withdrawn ones last of these, then the gravest, then the latest."""
    # A disagreement lowers both sides alike, so it does not change which of equal verdicts is better supported.
    standing = outcome.opposed.lowered_from if outcome.opposed else outcome.standing
    return (
        outcome.other_words is not None,
        outcome.is_withdrawn,
        find_gravity(outcome.verdict, standing),
        -outcome.at.timestamp(),
        -outcome.seq,
    )


# Audits that disagree (decision of 2026-11-26). Two audits of one claim and model version cannot both
# be right if one finds that it holds and the other that it does not, or if their intervals of one
# figure exclude each other. Which one is wrong is not known, so neither verdict is established until
# the words or the model version change. The gravest still
# leads. The cost: a favourable audit can lower an established contradiction to a provisional one.

Intervals = Mapping[str, tuple[float, float]]
"""The intervals of Φ_deploy of an outcome by specification, and judge where there are several."""

_AGAINST = (FIRM - {Verdict.HOLDS}) | {Verdict.CONTRADICTED_IN_PRODUCTION}
_KINDS = (OppositionKind.VERDICT, OppositionKind.WORDS, OppositionKind.INTERVAL, OppositionKind.WITHDRAWN)
_UNLOWERED = (VerdictStanding.ESTABLISHED, VerdictStanding.CONDITIONAL)


def lower_opposed(
    outcomes: Sequence[FamilyOutcome], intervals: Mapping[int, Intervals], beside: Sequence[FamilyOutcome] = ()
) -> list[FamilyOutcome]:
    """Return *outcomes* in the same order; those that another one disagrees with, or that a withdrawal would raise, as provisional.

    Args:
        outcomes: of one claim family; those on other words, and of another property or model version, are not compared.
        intervals: by the entry of an outcome in the registry's own log, as far as they are known.
        beside: of other claims on the same words about the same model version: a claim that was registered again under another
            property, or quoted from another copy of the card, does not hold as if nothing had been found.
    """
    return [_lower(outcome, outcomes, intervals, beside) for outcome in outcomes]


def list_comparable(outcomes: Sequence[FamilyOutcome]) -> list[int]:
    """Return the entries of *outcomes* of which intervals can decide: those in this log that could be lowered, where there are several."""
    entries = [
        outcome.seq for outcome in outcomes if outcome.log is None and outcome.standing in _UNLOWERED and outcome.other_words is None
    ]
    return entries if len(entries) > 1 else []


def _lower(
    outcome: FamilyOutcome, outcomes: Collection[FamilyOutcome], intervals: Mapping[int, Intervals], beside: Collection[FamilyOutcome]
) -> FamilyOutcome:
    if outcome.other_words is not None:
        return outcome
    if (withdrawn := _find_withdrawn(outcome, outcomes)) is not None:
        return _oppose(outcome, withdrawn, OppositionKind.WITHDRAWN)
    if outcome.standing not in _UNLOWERED:
        return outcome
    opposing = [(other, kind) for other in outcomes if (kind := _find_opposition(outcome, other, intervals)) is not None]
    if outcome.verdict is Verdict.HOLDS:
        opposing += [(other, OppositionKind.WORDS) for other in beside if other.verdict in _AGAINST and other.model == outcome.model]
    if not opposing:
        return outcome
    # An opposite verdict says more than an interval.
    opposing = [(other, OppositionKind.WITHDRAWN if other.is_withdrawn else kind) for other, kind in opposing]
    return _oppose(outcome, *min(opposing, key=lambda pair: (_KINDS.index(pair[1]), weigh_outcome(pair[0]))))


def _oppose(outcome: FamilyOutcome, other: FamilyOutcome, kind: OppositionKind) -> FamilyOutcome:
    standing = outcome.standing
    opposed = Opposition(audit=other.audit, claim=other.claim, verdict=other.verdict, kind=kind, lowered_from=standing, log=other.log)
    return replace(outcome, standing=standing and VerdictStanding.PROVISIONAL, opposed=opposed)


def _find_withdrawn(outcome: FamilyOutcome, outcomes: Collection[FamilyOutcome]) -> FamilyOutcome | None:
    """Return the withdrawn outcome that is graver than *outcome*, or *outcome* itself where it is withdrawn; None without one."""
    if outcome.is_withdrawn:
        return outcome
    # A limit is not compared: before the withdrawal the gravest led whatever limit it was found at.
    graver = [
        other
        for other in outcomes
        if other.is_withdrawn
        and other.other_words is None
        and (other.property.partition("@")[0], other.model) == (outcome.property.partition("@")[0], outcome.model)
        and find_gravity(other.verdict, other.standing) < find_gravity(outcome.verdict, outcome.standing)
    ]
    return min(graver, key=weigh_outcome, default=None)


def _find_opposition(outcome: FamilyOutcome, other: FamilyOutcome, intervals: Mapping[int, Intervals]) -> OppositionKind | None:
    about, of_other = ((side.property.partition("@")[0], side.model) for side in (outcome, other))
    if other.other_words is not None or about != of_other:
        return None
    # Another θ is another question: a claim may hold at 85 % and fail at 90 %.
    if outcome.question == other.question and _is_opposite(outcome, other):
        return OppositionKind.VERDICT
    # Only what could be established excludes another interval, and only on one scale.
    if other.standing not in _UNLOWERED or outcome.property != other.property or outcome.log is not None or other.log is not None:
        return None
    own, others = intervals.get(outcome.seq, {}), intervals.get(other.seq, {})
    is_excluded = any(own[spec][0] > others[spec][1] or own[spec][1] < others[spec][0] for spec in own.keys() & others.keys())
    return OppositionKind.INTERVAL if is_excluded else None


def _is_opposite(outcome: FamilyOutcome, other: FamilyOutcome) -> bool:
    """Whether *other* takes from *outcome* what would make it established."""
    if outcome.verdict is Verdict.HOLDS:
        return other.verdict in _AGAINST
    # A favourable audit that lacks a condition takes nothing from an adverse one that has all. Nor does one of another log: whoever
    # keeps that log decides what it says.
    is_firm = other.verdict is Verdict.HOLDS and other.standing in _UNLOWERED and other.log in (None, outcome.log)
    return outcome.verdict in _AGAINST and is_firm


def read_words(text: str) -> tuple[str, ...]:
    """Return the words, numbers and signs of *text* in lower case, without punctuation and layout."""
    return tuple(_WORD.findall(text.casefold()))


def list_phrases(words: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the different runs of `SHORTEST_RUN` words in *words*, in order; fewer words are one phrase, none have no phrase."""
    if len(words) < SHORTEST_RUN:
        return (words,) if words else ()
    return tuple(dict.fromkeys(list_runs(words)))


def list_runs(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield every run of `SHORTEST_RUN` words in *words*, in order."""
    # A registry has a million quotations, and `zip` makes their runs three times as fast as slices do.
    return zip(*(words[at:] for at in range(SHORTEST_RUN)), strict=False)


def number_phrase(phrase: Sequence[str]) -> int:
    """Return the 64 bits, as a signed number, by which a database finds *phrase*. Others may share it, so what is found is compared."""
    return int.from_bytes(hashlib.sha256(" ".join(phrase).encode()).digest()[:8], "big", signed=True)


def contains_words(outer: Sequence[str], inner: Sequence[str]) -> bool:
    """Whether the words *inner* are in *outer* one after the other. No words are in nothing."""
    # Joined with spaces at both ends, so that only whole words match.
    return bool(inner) and f" {' '.join(inner)} " in f" {' '.join(outer)} "


def overlaps_words(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether two quotes count as overlapping by their words only.

    They do if one contains the other, or if they share a run of at least five words that makes up half of the shorter one.
    """
    shorter, longer = sorted((left, right), key=len)
    if contains_words(longer, shorter):
        return True
    # Half of the shorter quotation, so that one common phrase in two long sentences does not link
    # them.
    wanted = max(SHORTEST_RUN, (len(shorter) + 1) // 2)
    runs = {tuple(longer[at : at + wanted]) for at in range(len(longer) - wanted + 1)}
    return any(tuple(shorter[at : at + wanted]) in runs for at in range(len(shorter) - wanted + 1))


# Status of a claim on four independent axes, derived when read.


class Lifecycle(StrEnum):
    """Where a claim is in its life."""

    RESERVED = "reserved"
    REGISTERED = "registered"
    PUBLISHED = "published"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"
    REJECTED = "rejected"


class Dispute(StrEnum):
    """Whether there is an objection."""

    UNDISPUTED = "undisputed"
    CONTESTED = "contested"
    """At least one objection is open, answered or escalated."""
    UPHELD = "upheld"
    """An objection was upheld and none is open."""


class Staleness(StrEnum):
    """Whether what was audited is still what is there."""

    CURRENT = "current"
    NEEDS_REVIEW = "needs_review"
    """Something changed, and it has not been reviewed."""
    STALE = "stale"
    """A person confirmed that a change took away what the claim rests on."""


class CauseKind(StrEnum):
    """What may take away what a claim rests on."""

    SUCCESSOR = "successor"
    """Another version took the place of the claim's model version."""
    DEPRECATION = "deprecation"
    """The claim's model version is no longer offered."""
    CARD = "card"
    """The passage is not in the newest revision of its card, or it has not been looked for."""
    SPEC = "spec"
    """A definition it refers to has a newer version."""
    METHOD = "method"
    """The method of its estimate has a newer version."""
    OBJECTION = "objection"
    """An objection of it, or of a definition it rests on, was upheld after its last audit."""
    EXPIRY = "expiry"
    """No outcome of the claim revision is valid any more: the last one expired."""
    MONITOR = "monitor"
    """A locked monitor of the claim raised an alarm in production after its last audit was opened."""
    REVISION = "revision"
    """It was revised after its last audit, or has a newer revision than the one that is seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleCause(Record):
    """One change that a claim may not have survived."""

    kind: CauseKind
    what: str
    """What came after, as it is called: `Lab Lumen 2`, `CTX-…@2`, `CRD-…@2`, `closed-form/3`, `CON-…`, `CLM-…@2`."""
    entry: int
    """The entry that recorded it."""
    text: str
    """The reason in a sentence without full stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status(Record):
    """A claim's four independent axes, derived when read."""

    lifecycle: Lifecycle
    dispute: Dispute
    staleness: Staleness
    restriction: RestrictionStatus
    stale_because: tuple[str, ...] = ()
    """Each reason in a sentence; empty when current."""
    superseded_by: str | None = None
    """The claim that took its place."""
    causes: tuple[StaleCause, ...] = ()
    """What `stale_because` says, one by one, in the same order; without those that a person dismissed."""
    gravest: FamilyOutcome | None = None
    """The gravest outcome of the claim's family, of which `restriction` follows; None exactly for a family that is not audited."""
    beside: FamilyOutcome | None = None
    """The gravest outcome of other claims on the same words, about another property, model version or card; None without one."""


# Reviews of changes that may affect a claim.


class StalenessVerdict(StrEnum):
    """What a person found."""

    CONFIRMED = "confirmed"
    """The claim no longer stands on evidence."""
    DISMISSED = "dismissed"
    """The change does not touch the claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedCause(Record):
    """A cause by its name; a review speaks of what was on record when it was made, not of a later entry that gives the same cause."""

    kind: CauseKind
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StalenessReview(Payload):
    """A person's decision on causes for a claim revision to be stale; the last one on each cause counts."""

    KIND = "staleness_review"
    claim: str
    """`CLM-…@n`."""
    verdict: StalenessVerdict
    causes: tuple[ReviewedCause, ...]
    """At least one."""
    why: str

    def __post_init__(self) -> None:
        if not self.causes:
            raise ValueError("a review names at least one cause")
        if not self.why.strip():
            raise ValueError("a review needs its reason (why)")


# Objections to a specification or a claim, with their steps.


class ObjectionStep(StrEnum):
    """What may follow an objection."""

    ANSWERED = "answered"
    UPHELD = "upheld"
    REJECTED = "rejected"
    ESCALATED = "escalated"


class ObjectionState(StrEnum):
    """Where an objection stands after its last step."""

    OPEN = "open"
    ANSWERED = "answered"
    ESCALATED = "escalated"
    UPHELD = "upheld"
    REJECTED = "rejected"
    REJECTED_BY_OWNER = "rejected_by_owner"
    """By whoever owns what is contested, alone: no one judges their own cause, so the dispute goes on."""


SETTLED = frozenset({ObjectionState.UPHELD, ObjectionState.REJECTED})
"""What is contested further then needs an objection of its own."""


def owner_of(target: str) -> str:
    """Return the code of the owner of *target*; empty where it is no identifier."""
    return [*target.split("-"), ""][1]


def find_state(step: ObjectionStep | None, *, actor: str, owner: str, by: str) -> ObjectionState:
    """Return where an objection is after *step* (None: before any), recorded by *actor*.

    Who contests may reject, that is withdraw, what they own themselves; any other owner's rejection settles nothing.
    """
    if step is None:
        return ObjectionState.OPEN
    # A rejection by the owner is shown as the owner's and resolves nothing, unless the owner opened
    # the objection.
    if step is ObjectionStep.REJECTED and actor == owner != by:
        return ObjectionState.REJECTED_BY_OWNER
    return ObjectionState(step.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection(Payload):
    """An authority contests a claim or a specification version, optionally with a rival."""

    KIND = "objection"
    objection: str
    """`CON-…`."""
    target: str
    """`CLM-…@n`, or a specification `…@n`."""
    by: str
    """Authority code."""
    grounds: str
    rival: str | None = None
    """`CTX-…@n` offered in its place."""

    def __post_init__(self) -> None:
        if not self.grounds.strip():
            raise ValueError("an objection needs its grounds")


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectionEvent(Payload):
    """A step in an objection."""

    KIND = "objection_event"
    objection: str
    step: ObjectionStep
    note: str
    to: str | None = None
    """Code of the authority it is escalated to; None for other steps, or if none is named."""

    def __post_init__(self) -> None:
        if not self.note.strip():
            raise ValueError("a step of an objection needs a note")
