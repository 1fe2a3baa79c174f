"""Changes that many claims may not have survived, without those settled by a new audit or dismissed."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from sqlalchemy import Column, Select, func, select

from registry.records.analysis_plan import list_locked
from registry.records.claim_status import CauseKind, StaleCause, StalenessVerdict
from registry.records.estimates import Estimate
from registry.records.model_version import Descent, ModelLink, ModelRef
from registry.records.monitor import Attribution
from registry.records.specification import SpecKind
from registry.records.system_card import MatchResult
from registry.store.database_tables import body
from registry.store.kinds.audit_kinds import lock
from registry.store.kinds.claim_kinds import card_revision, passage_match, reviewed_cause, staleness_review
from registry.store.kinds.definition_kinds import model_version, spec, spec_version
from registry.store.kinds.monitor_kinds import monitor, monitor_incident, monitor_window
from registry.store.log_reader import KEYS, LogReader, seen
from registry.store.version_lineage import Lineage, read_lineage

Reference = tuple[str, int]
"""An identifier and its revision or version."""

Newest = tuple[int, int]
"""The highest revision or version of an identifier, and its entry."""

_MOST_SHARED = 50_000
"""Combinations of model version, card and definitions of which the causes are kept."""

Name = tuple[str, str]
"""A cause by its kind and what came after."""


class ClaimHead(NamedTuple):
    """What a claim revision refers to. A tuple: a hundred thousand are made for a long list."""

    seq: int
    claim: str
    revision: int
    model: ModelRef
    card: Reference | None
    specs: tuple[Reference, ...]
    """Property, scoring and test context; the deployment contexts are added when gathered."""
    has_passage: bool
    """Whether it quotes its card word for word, so that its passage can be looked up in another revision."""


class ExpiredOutcome(NamedTuple):
    """The audit of a claim revision whose outcome was valid the longest, and is no more."""

    audit: str
    entry: int
    """Of the outcome."""
    valid_until: str


class RecordedOutcome(NamedTuple):
    """The outcome of a claim revision that counts."""

    entry: int
    result: int | None
    """Entry of the result that it rests on; None for one that carries its own estimate, or has none."""
    audit: str
    opened: int
    """Entry of the audit's opening."""
    rival_of: str | None
    """The objection under whose rival it was found."""
    expired: ExpiredOutcome | None = None
    """Given where every outcome of the claim revision expired."""


class UpheldObjection(NamedTuple):
    """An objection that was upheld."""

    objection: str
    target: str
    entry: int
    """Of the step that says so."""


class ClaimGround(NamedTuple):
    """What one claim revision rests on, as far as it is not in its head."""

    specs: tuple[Reference, ...]
    audited: int | None
    """The revision that the claim's last audit was about."""
    outcome: RecordedOutcome | None
    upheld: tuple[UpheldObjection, ...]


class StaleReasons(NamedTuple):
    """Why a claim revision is stale, or may be."""

    causes: tuple[StaleCause, ...]
    is_confirmed: bool
    """Whether a person confirmed one of them."""


class CauseReview(NamedTuple):
    """What a person decided last of one cause."""

    verdict: StalenessVerdict
    entry: int


_METHOD = re.compile(r"([^/\s]+)/(\d{1,9})(?!\d)")
"""How an estimate names its method: `closed-form/2`, and then what more there is to say."""

_CURRENT = StaleReasons((), is_confirmed=False)
_NOTHING: Mapping[Name, CauseReview] = {}


# Decision of 2026-11-22: nine kinds of cause make a claim stale. They are derived when read, each
# with the entry that recorded it; nothing is stored as a status. A cause is potential until a
# person reviews it, or until an outcome of a later audit covers it. The cost: a deprecation that is
# taken back and repeated must be reviewed again.
class CauseFinder:
    """Answers for one reading; what hangs on a card, model or specification is asked once and remembered."""

    def __init__(self, reader: LogReader, filled: Collection[str]) -> None:
        """Answer from *reader*; *filled* are the tables that have anything."""
        self._reader = reader
        self._filled = filled
        self._cards: dict[str, Newest] = {}
        self._specs: dict[str, Newest] = {}
        self._newest_methods: dict[str, tuple[int, int, str]] | None = None
        self._shared: dict[tuple[ModelRef, StaleCause | None, tuple[Reference, ...]], tuple[StaleCause, ...]] = {}

    def find(self, heads: Sequence[ClaimHead], grounds: Sequence[ClaimGround]) -> list[StaleReasons]:
        """Return why each of *heads* is stale, in order."""
        # Most claims have no cause. They share one constant result.
        reviews = self._reviews(heads)
        return [
            self._judge(causes, reviews.get((head.claim, head.revision), _NOTHING)) if causes else _CURRENT
            for head, causes in zip(heads, self._list(heads, grounds, reviews), strict=True)
        ]

    def candidates(self, heads: Sequence[ClaimHead], grounds: Sequence[ClaimGround]) -> list[tuple[StaleCause, ...]]:
        """Return for each of *heads* every cause that a person may decide on: also those that were dismissed."""
        return self._list(heads, grounds, self._reviews(heads))

    def _judge(self, causes: tuple[StaleCause, ...], reviews: Mapping[Name, CauseReview]) -> StaleReasons:
        if not reviews:
            return StaleReasons(causes, is_confirmed=False)
        verdicts = [(cause, _find_verdict(cause, reviews)) for cause in causes]
        # Dismissed causes are removed. A confirmed one makes the claim stale, the others leave it
        # needs review.
        left = tuple(stale_cause for stale_cause, verdict in verdicts if verdict is not StalenessVerdict.DISMISSED)
        return StaleReasons(left, is_confirmed=any(verdict is StalenessVerdict.CONFIRMED for _, verdict in verdicts))

    def _list(
        self, heads: Sequence[ClaimHead], grounds: Sequence[ClaimGround], reviews: Mapping[Reference, Mapping[Name, CauseReview]]
    ) -> list[tuple[StaleCause, ...]]:
        self._find_newest(self._cards, _NEWEST_CARDS, {head.card[0] for head in heads if head.card})
        self._find_newest(self._specs, _NEWEST_SPECS, {name for ground in grounds for name, _ in ground.specs})
        match_results = self._match_results(heads)
        outcomes = [claim_ground.outcome for claim_ground in grounds if claim_ground.outcome is not None]
        methods = self._methods(outcomes)
        alarms = self._find_alarms(heads)
        stale_causes = []
        for head, ground in zip(heads, grounds, strict=True):
            card = self._find_card(head, head.card, match_results.get((head.claim, head.revision))) if head.card else None
            causes = self._find_shared(head.model, card, ground.specs, reviews.get((head.claim, head.revision)))
            if ground.outcome is not None:
                causes = (*causes, *methods.get(ground.outcome.entry, ()), *_find_upheld(ground.outcome, ground.upheld))
                causes = (*causes, *_find_expired(ground.outcome))
            opened = ground.outcome.opened if ground.outcome else 0
            causes = (*causes, *(cause for cause in alarms.get((head.claim, head.revision), ()) if cause.entry > opened))
            # An audit is about one revision. A later revision of the claim has not been audited.
            if ground.audited is not None and ground.audited < head.revision:
                causes = (*causes, _find_revised(head, ground.audited))
            stale_causes.append(causes)
        return self._settle(stale_causes, grounds) if outcomes else stale_causes

    def _find_shared(
        self, model: ModelRef, card: StaleCause | None, specs: tuple[Reference, ...], reviews: Mapping[Name, CauseReview] | None
    ) -> tuple[StaleCause, ...]:
        """Return the causes that claims have in common; most of them share all, so they are made once."""
        # A dismissed successor opens the search for its own successor, so the result depends on the
        # reviews and cannot be shared.
        if reviews:
            return tuple(self._find_causes(model, card, specs, reviews))
        key = (model, card, specs)
        causes = self._shared.get(key)
        if causes is None:
            # Bounds the memory on a registry in which every claim has its own card and
            # specifications.
            if len(self._shared) > _MOST_SHARED:
                self._shared.clear()
            causes = self._shared[key] = tuple(self._find_causes(model, card, specs, _NOTHING))
        return causes

    def _find_causes(
        self, model: ModelRef, card: StaleCause | None, specs: Sequence[Reference], reviews: Mapping[Name, CauseReview]
    ) -> Iterator[StaleCause]:
        lineage = self.lineage
        yield from _find_successors(lineage, model, reviews)
        if (event := lineage.deprecation(model)) is not None:
            last = f", the last day it is offered is {event.on.isoformat()}" if event.on else ""
            entry = lineage.deprecation_entry(model) or 0
            yield StaleCause(kind=CauseKind.DEPRECATION, what=str(model), entry=entry, text=f"{model} was deprecated{last}")
        if card is not None:
            yield card
        for name, version in dict.fromkeys(specs):
            newest, entry = self._specs[name]
            if newest > version:
                text = f"{name}@{version} has a newer version, @{newest}"
                yield StaleCause(kind=CauseKind.SPEC, what=f"{name}@{newest}", entry=entry, text=text)

    def _find_card(self, head: ClaimHead, card: Reference, match_result: tuple[MatchResult, int] | None) -> StaleCause | None:
        """Return why a newer revision of *card* makes the claim stale; None when there is none, or its passage still stands there."""
        name, revision = card
        newest, entry = self._cards[name]
        if newest <= revision:
            return None
        # If the passage is still there with the same words, a new card revision changes nothing for
        # the claim.
        if match_result is not None and match_result[0] in (MatchResult.UNCHANGED, MatchResult.MOVED):
            return None
        if match_result is not None:
            became = "reworded in" if match_result[0] is MatchResult.REWORDED else "gone from"
            return StaleCause(
                kind=CauseKind.CARD, what=f"{name}@{newest}", entry=match_result[1], text=f"its passage is {became} {name}@{newest}"
            )
        newer = f"{name}@{revision} has a newer revision, @{newest}"
        unseen = f"{newer}; the place of its passage there was not looked up (caveat card diff {name} --record)"
        return StaleCause(kind=CauseKind.CARD, what=f"{name}@{newest}", entry=entry, text=unseen if head.has_passage else newer)

    def _find_alarms(self, heads: Sequence[ClaimHead]) -> dict[Reference, list[StaleCause]]:
        """Return the alarms of monitors by claim revision, each with the window that raised it; without those of a changed judge."""
        alarms = self._find_incidents(heads)
        table = monitor_window
        if table.name not in self._filled:
            return alarms
        self._add_judges(heads, alarms)
        columns = (table.c.seq, table.c.monitor, table.c.claim, table.c.revision, table.c.attribution)
        wanted = select(*columns).where(self._reader.visible(table), table.c.alarm.is_not(None)).order_by(table.c.seq)
        first: dict[str, Any] = {}
        last: dict[str, str] = {}
        for row in self._reader.rows_in(wanted, table.c.claim, {head.claim for head in heads}):
            first.setdefault(row.monitor, row)
            last[row.monitor] = row.attribution
        for name, row in first.items():
            if last[name] != Attribution.JUDGE:
                text = f"{name} raised an alarm: scores in production passed the claim's limit"
                alarms[row.claim, row.revision].append(StaleCause(kind=CauseKind.MONITOR, what=name, entry=row.seq, text=text))
        return alarms

    def _add_judges(self, heads: Sequence[ClaimHead], alarms: defaultdict[Reference, list[StaleCause]]) -> None:
        """Add to *alarms* the claims with a monitor by a judge that the anchors of another monitor saw change."""
        alarmed = monitor.alias("alarmed")
        same = (alarmed.c.log == monitor.c.log) & (alarmed.c.scoring == monitor.c.scoring) & (alarmed.c.monitor != monitor.c.monitor)
        own = (monitor_window.c.log == alarmed.c.log) & (monitor_window.c.monitor == alarmed.c.monitor)
        columns = (monitor.c.claim, monitor.c.revision, monitor.c.monitor, monitor.c.scoring, alarmed.c.monitor.label("by"))
        wanted = (
            select(*columns, func.min(monitor_window.c.seq).label("seq"))
            .where(seen(monitor), seen(monitor_window), same, own, monitor_window.c.judge_alarm.is_not(None))
            .group_by(*columns)
        )
        rows = self._reader.rows_in(wanted, monitor.c.claim, {head.claim for head in heads})
        for row in sorted(rows, key=lambda row: (row.seq, row.monitor)):
            text = f"the anchors of {row.by} show that the judge {row.scoring} changed, which scores {row.monitor} too"
            cause = StaleCause(kind=CauseKind.MONITOR, what=row.by, entry=row.seq, text=text)
            # Several monitors of one claim have the cause once.
            if all(known.what != row.by for known in alarms[row.claim, row.revision]):
                alarms[row.claim, row.revision].append(cause)

    def _find_incidents(self, heads: Sequence[ClaimHead]) -> defaultdict[Reference, list[StaleCause]]:
        """Return by claim revision the first verified incident of each monitor."""
        causes: defaultdict[Reference, list[StaleCause]] = defaultdict(list)
        table = monitor_incident
        if table.name not in self._filled:
            return causes
        columns = (table.c.seq, table.c.monitor, table.c.claim, table.c.revision, table.c.incident)
        wanted = select(*columns).where(self._reader.visible(table), table.c.verified == 1).order_by(table.c.seq)
        known: set[str] = set()
        for row in self._reader.rows_in(wanted, table.c.claim, {head.claim for head in heads}):
            if row.monitor not in known:
                known.add(row.monitor)
                text = f"{row.monitor} has a verified incident in production, {row.incident}"
                causes[row.claim, row.revision].append(StaleCause(kind=CauseKind.MONITOR, what=row.monitor, entry=row.seq, text=text))
        return causes

    def _match_results(self, heads: Sequence[ClaimHead]) -> dict[Reference, tuple[MatchResult, int]]:
        """Return the outcome of the passages of claim revisions in the newest revision of their card, where they were looked for.

        One that is reworded in its spelling alone counts as unchanged: it asks no one for a decision.
        """
        newest = self._cards if passage_match.name in self._filled else {}
        # Only claims whose card has a newer revision need a lookup.
        older = [head.claim for head in heads if head.card and newest.get(head.card[0], (0, 0))[0] > head.card[1]]
        table = passage_match
        columns = (table.c.claim, table.c.revision, table.c.card, table.c.card_revision, table.c.match_result, table.c.alarm, table.c.seq)
        rows = self._reader.rows_in(select(*columns).where(self._reader.visible(table)), table.c.claim, older)
        return {
            (row.claim, row.revision): (
                MatchResult(row.match_result) if row.alarm or row.match_result != MatchResult.REWORDED else MatchResult.UNCHANGED,
                row.seq,
            )
            for row in rows
            if newest.get(row.card, (0, 0))[0] == row.card_revision
        }

    def _methods(self, outcomes: Sequence[RecordedOutcome]) -> dict[int, tuple[StaleCause, ...]]:
        """Return the newer versions of the methods of estimates, by outcome; estimates are read only where a method is registered."""
        # Estimates are decoded only if some method is registered; decoding is the most expensive
        # step here.
        newest = self._registered_methods() if outcomes else {}
        if not newest:
            return {}
        by_entry = {outcome.result or outcome.entry: outcome.entry for outcome in outcomes}
        there = self._reader.rows_in(select(body.c.seq).where(self._reader.visible(body)), body.c.seq, by_entry)
        causes: dict[int, tuple[StaleCause, ...]] = {}
        for recorded in self._reader.recorded(row.seq for row in there):
            estimate: Estimate | None = recorded.payload.estimate
            if estimate is not None:
                causes[by_entry[recorded.entry.seq]] = tuple(_find_newer_methods(estimate, newest))
        return causes

    def _settle(self, stale_causeses: list[tuple[StaleCause, ...]], grounds: Sequence[ClaimGround]) -> list[tuple[StaleCause, ...]]:
        """Take out the newer definitions that the outcome which counts was found under: its audit was opened later, its lock fixes them."""
        # An audit that was opened after a new definition may have used it. Only then is its lock
        # read.
        late = {
            ground.outcome.audit
            for causes, ground in zip(stale_causeses, grounds, strict=True)
            if ground.outcome and any(_may_be_settled(cause, ground.outcome) for cause in causes)
        }
        if not late:
            return stale_causeses
        wanted = select(lock.c.seq).where(self._reader.visible(lock))
        locks = self._reader.recorded(row.seq for row in self._reader.rows_in(wanted, lock.c.audit, late))
        fixed = {recorded.payload.audit: frozenset(list_locked(recorded.payload)) for recorded in locks}
        return [
            causes
            if ground.outcome is None or ground.outcome.audit not in late
            else tuple(
                stale_cause
                for stale_cause in causes
                if not (_may_be_settled(stale_cause, ground.outcome) and stale_cause.what in fixed.get(ground.outcome.audit, ()))
            )
            for causes, ground in zip(stale_causeses, grounds, strict=True)
        ]

    def _reviews(self, heads: Sequence[ClaimHead]) -> dict[Reference, dict[Name, CauseReview]]:
        """Return what people decided last, by claim revision and cause."""
        if staleness_review.name not in self._filled:
            return {}
        table, cause = staleness_review, reviewed_cause
        columns = (table.c.seq, table.c.claim, table.c.revision, table.c.verdict, cause.c.kind, cause.c.what)
        joined = (
            select(*columns).join(cause, (cause.c.log == table.c.log) & (cause.c.seq == table.c.seq)).where(self._reader.visible(table))
        )
        reviews: dict[Reference, dict[Name, CauseReview]] = defaultdict(dict)
        # In log order: a later review of the same cause replaces the earlier one.
        for row in self._reader.rows_in(joined.order_by(table.c.seq), table.c.claim, {head.claim for head in heads}):
            reviews[row.claim, row.revision][row.kind, row.what] = CauseReview(StalenessVerdict(row.verdict), row.seq)
        return reviews

    @cached_property
    def lineage(self) -> Lineage:
        """Which model versions come from which."""
        kept = {} if self._reader.kept is None else self._reader.kept
        if "lineage" not in kept:
            kept["lineage"] = read_lineage(self._reader) if model_version.name in self._filled else Lineage((), ())
        lineage: Lineage = kept["lineage"]
        return lineage

    def _registered_methods(self) -> dict[str, tuple[int, int, str]]:
        """Return the newest version of each registered method, its entry and identifier, by slug; of several owners the highest."""
        if self._newest_methods is None:
            same = (spec.c.log == spec_version.c.log) & (spec.c.spec == spec_version.c.spec)
            wanted = select(spec.c.slug, spec_version.c.version, spec_version.c.seq, spec_version.c.spec).join(spec, same)
            kept = self._reader.visible(spec_version) & (spec_version.c.kind == SpecKind.METHOD.value)
            # Sorted so that the last row per slug wins: the highest version, and of equal versions
            # the earliest entry.
            rows = self._reader.rows(wanted.where(kept).order_by(spec_version.c.version, spec_version.c.seq.desc()))
            self._newest_methods = {row.slug: (row.version, row.seq, row.spec) for row in rows}
        return self._newest_methods

    def _find_newest(self, known: dict[str, Newest], statement: Select[Any], names: set[str]) -> None:
        """Add to *known* the newest number of each of *names* and its entry."""
        known |= {row[0]: (row[1], row[2]) for row in self._reader.rows_by(statement, names - known.keys())}


def _select_newest(name: Column[Any], number: Column[Any]) -> Select[Any]:
    """Numbers are gapless, so the last entry has the highest."""
    newest = select(name, func.max(number), func.max(name.table.c.seq))
    return newest.where(seen(name.table), name.in_(KEYS)).group_by(name)


_NEWEST_CARDS = _select_newest(card_revision.c.card, card_revision.c.revision)
_NEWEST_SPECS = _select_newest(spec_version.c.spec, spec_version.c.version)


def _find_successors(lineage: Lineage, model: ModelRef, reviews: Mapping[Name, CauseReview]) -> Iterator[StaleCause]:
    """Yield what took the place of *model*; where a person dismissed that, also what took its place in turn."""
    # `seen` ends cycles, which only an imported log can contain. By default only the direct
    # successor is a cause: one question at a time (decision of 2026-11-22).
    seen, waiting = {model}, list(lineage.replacing(model))
    while waiting:
        link = waiting.pop(0)
        if link.model in seen:
            continue
        seen.add(link.model)
        cause = StaleCause(kind=CauseKind.SUCCESSOR, what=str(link.model), entry=link.entry, text=_describe_link(link))
        yield cause
        if _find_verdict(cause, reviews) is StalenessVerdict.DISMISSED:
            waiting += lineage.replacing(link.model)


def _describe_link(link: ModelLink) -> str:
    if link.descent is Descent.SNAPSHOT:
        return f"{link.predecessor} has a later snapshot, {link.model}"
    return f"{link.predecessor} was followed by {link.model}"


def _find_verdict(cause: StaleCause, reviews: Mapping[Name, CauseReview]) -> StalenessVerdict | None:
    """Return what was decided of *cause*; a decision from before the entry that recorded it does not speak of it."""
    # A review applies only to causes recorded before it. The same cause after it is a new question.
    review = reviews.get((cause.kind.value, cause.what))
    return review.verdict if review and review.entry > cause.entry else None


def _find_newer_methods(estimate: Estimate, newest: Mapping[str, tuple[int, int, str]]) -> Iterator[StaleCause]:
    methods = (_METHOD.match(spec_estimate.ed.method) for spec_estimate in estimate.specs)
    for slug, digits in dict.fromkeys((method[1], method[2]) for method in methods if method):
        version, entry, name = newest.get(slug, (0, 0, ""))
        if version > int(digits):
            text = f"its estimate is by {slug}/{digits}, and {slug}/{version} is registered ({name}@{version})"
            yield StaleCause(kind=CauseKind.METHOD, what=f"{slug}/{version}", entry=entry, text=text)


def _find_upheld(outcome: RecordedOutcome, upheld: Sequence[UpheldObjection]) -> Iterator[StaleCause]:
    for objection in upheld:
        # An audit that was opened after the decision, or that replayed under the rival, has taken
        # the objection into account.
        if objection.entry > outcome.opened and objection.objection != outcome.rival_of:
            text = f"{objection.objection} against {objection.target} was upheld after its last audit was opened"
            yield StaleCause(kind=CauseKind.OBJECTION, what=objection.objection, entry=objection.entry, text=text)


def _find_expired(outcome: RecordedOutcome) -> Iterator[StaleCause]:
    if outcome.expired is not None:
        audit, entry, day = outcome.expired
        yield StaleCause(kind=CauseKind.EXPIRY, what=audit, entry=entry, text=f"its last audit, {audit}, expired: it was valid until {day}")


def _find_revised(head: ClaimHead, audited: int) -> StaleCause:
    text = f"the claim was revised to @{head.revision} after its last audit, which was about @{audited}"
    return StaleCause(kind=CauseKind.REVISION, what=f"{head.claim}@{head.revision}", entry=head.seq, text=text)


def _may_be_settled(cause: StaleCause, outcome: RecordedOutcome) -> bool:
    return cause.kind is CauseKind.SPEC and outcome.opened > cause.entry
