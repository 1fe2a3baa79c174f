"""The families of many claims at once: which outcomes their words have, whoever registered the words again."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, TextClause, bindparam, func, select

from registry.errors import NotFoundError
from registry.records.claim import QuoteStatus
from registry.records.claim_status import (
    SHORTEST_RUN,
    Family,
    FamilyOutcome,
    Intervals,
    contains_words,
    find_gravest,
    list_comparable,
    list_phrases,
    list_runs,
    lower_opposed,
    number_phrase,
    overlaps_words,
    read_words,
    weigh_outcome,
)
from registry.records.model_version import ModelRef
from registry.records.verdict import Verdict, VerdictStanding, is_expired, weaken
from registry.store.kinds.audit_kinds import audit_withdrawal, restriction
from registry.store.kinds.claim_kinds import claim_origin, claim_revision, is_unplaced, passage_match
from registry.store.kinds.log_kinds import log_import
from registry.store.log_reader import CHUNK, LogReader, find_log, from_seconds, seen

Place = tuple[str, int, int, int]
"""A passage: card, its revision, first character and one past the last."""
Key = tuple[ModelRef, str]
"""Model version and property (without its version): what all claims of a family are about."""

# Without a limit, a phrase such as "in our evaluations" would compare every quotation with every
# other one.
_MOST_SHARED = 64
"""A run of words that more quotes than this have is boilerplate, and links none of them."""


class Quote(NamedTuple):
    """A claim revision with its words and where they stand."""

    seq: int
    claim: str
    revision: int
    model: ModelRef
    phi: str
    """The property, `PRP-…@n`."""
    card: tuple[str, int] | None
    words: tuple[str, ...]
    """Empty where the text was erased."""
    places: tuple[Place, ...]
    """In its own revision of the card, then as found in others."""
    is_placed: bool
    """Whether it quotes its card word for word; places then decide within one card revision."""
    changes: tuple[tuple[int, bool], ...]
    """Other revisions of the card in which the passage was looked up, in order, and whether it has other words there."""
    origin: tuple[str, str] | None
    """Log and claim that it was adopted from."""
    question: str
    """`FamilyOutcome.question`."""

    @property
    def reference(self) -> str:
        """`CLM-…@n`."""
        return f"{self.claim}@{self.revision}"

    @property
    def key(self) -> Key:
        """What it is about."""
        return self.model, self.phi.partition("@")[0]


_FEW = 20
_SHARE = 8
"""Families are looked up one by one until these are so many, or one in so many outcomes of the log; then the outcomes are read once, for
all readers of this state. Measured: looking one up takes eight times as long as reading an outcome with its quote."""

_SHARE_OF_LOG = 200
"""Of families with all members, so many are looked up as one in so many entries of the log; then all quotes are read once."""

_MOST_KEPT = 50_000
"""All quotes are kept for other readers of a state up to so many: some three kilobytes each."""

ListIgnored = Callable[[LogReader, Collection[str]], frozenset[str]]
"""Gives those of the audits of a log that do not count (a rival's, before its objection is upheld)."""
Outcomes = dict[int, tuple[FamilyOutcome, ...]]
"""By the entry of the claim revision, in log order."""


class _Kept:
    """The outcomes of one state of the log, once there was more to find than to look up; all readers of that state share them."""

    def __init__(self) -> None:
        self.lookups = 0
        self.outcome_count: int | None = None
        self.outcomes: Outcomes = {}
        self.audited: _Index | None = None
        self.quotes: dict[int, Quote] = {}
        """All quotes, where they are few enough to be kept."""
        self.all: _Index | None = None


# A family contains all claims on the same words about the same model version and property. Outcomes
# apply to the words (decision of 2026-11-23), so registering a sentence again does not shed an
# adverse outcome.
class FamilyFinder:
    """Answers for one reading of one log. What a few families need is looked up by index, so that their time does not grow with the log."""

    def __init__(self, reader: LogReader, filled: frozenset[str], *, list_ignored: ListIgnored) -> None:
        """Read *reader*, of which the tables *filled* have anything."""
        self._reader = reader
        self._filled = filled
        self._list_ignored = list_ignored
        self._foreign: dict[str, FamilyFinder | None] = {}
        self._lookups = 0
        self._kept: _Kept = _Kept() if reader.kept is None else reader.kept.setdefault("families", _Kept())
        self._quotes = self._kept.quotes
        self._all = self._kept.all
        """Of the whole log, as `_quotes`, once members were asked for."""

    def find_leading(self, numbers: Sequence[int]) -> list[tuple[FamilyOutcome | None, FamilyOutcome | None]]:
        """Return, for the claim revisions of the entries *numbers*, the gravest outcome of the family, and of others on the same words."""
        # The usual registry has no outcome yet. Reading all quotations would then be wasted.
        if self._filled.isdisjoint((restriction.name, claim_origin.name)):
            return [(None, None)] * len(numbers)
        return [lead(family) for family in self.find(numbers, with_members=False)]

    def find(self, numbers: Sequence[int], *, with_members: bool = True) -> list[Family]:
        """Return the families of the claim revisions that the entries *numbers* recorded, in order.

        Args:
            with_members: whether claims without an outcome are named too; without them it is quicker.
        """
        kept = self._kept
        if with_members:
            self._lookups += len(numbers)
            is_cheap = self._all is None and self._lookups <= max(_FEW, self._reader.log_size // _SHARE_OF_LOG)
        else:
            kept.lookups += len(numbers)
            is_cheap = kept.audited is None and kept.lookups <= self._count_cheap()
        if is_cheap:
            # The state of a page and the page itself ask for the same families.
            asked = ("families", tuple(numbers), with_members)
            return self._reader.recall(asked, lambda: self._look_up(numbers, with_members=with_members))
        if with_members and self._all is None:
            self._quotes = {quote.seq: quote for quote in self._read_quotes(None)}
            self._all = _Index(self._quotes.values())
            if len(self._quotes) <= _MOST_KEPT:
                kept.quotes, kept.all = self._quotes, self._all
        if kept.audited is None:
            # Few quotes have an outcome, so lists of all claims keep these alone in memory.
            rows = _read_outcome_rows(self._reader, None) if restriction.name in self._filled else []
            quotes = self._quotes or {quote.seq: quote for quote in self._read_quotes({row[0] for row in rows})}
            kept.outcomes = self._read_outcomes(rows, quotes)
            kept.audited = _index_audited(kept.outcomes, quotes)
        known = self._quotes or {quote.seq: quote for quote in self._read_quotes(numbers)}
        index = self._all if with_members else None
        return [self._build(known[seq], kept.audited, kept.outcomes, index) for seq in numbers]

    def _count_cheap(self) -> int:
        """Return how many families are looked up one by one before the outcomes of the log are read."""
        if self._kept.outcome_count is None:
            table = restriction
            wanted = select(func.count()).select_from(table).where(self._reader.visible(table), table.c.reading == 0)
            self._kept.outcome_count = int(self._reader.one_value(wanted))
        return max(_FEW, self._kept.outcome_count // _SHARE)

    def _look_up(self, numbers: Sequence[int], *, with_members: bool) -> list[Family]:
        """Return what `find` does, from those quotes alone that an index leads to."""
        known = {quote.seq: quote for quote in self._read_quotes(numbers)}
        own = list(known.values())
        linked = _find_linked(self._reader, own)
        has_outcomes = restriction.name in self._filled
        rows = _read_outcome_rows(self._reader, linked | _find_worded(self._reader, own)) if has_outcomes else []
        kin = linked | _find_comparable(self._reader, own) if with_members else set()
        known |= {quote.seq: quote for quote in self._read_quotes({*kin, *(row[0] for row in rows)} - known.keys())}
        outcomes = self._read_outcomes(rows, known)
        audited = _index_audited(outcomes, known)
        index = _Index(known[seq] for seq in sorted(kin)) if with_members else None
        return [self._build(known[seq], audited, outcomes, index) for seq in numbers]

    def find_outcomes_of(self, claim: str, revision: int) -> tuple[FamilyOutcome, ...]:
        """Return the outcomes of the family of one claim revision; none where it is not registered."""
        table = claim_revision
        here = self._reader.visible(table) & (table.c.claim == claim) & (table.c.revision == revision)
        seq = self._reader.one_value(select(table.c.seq).where(here))
        return () if seq is None else self.find([seq], with_members=False)[0].outcomes

    def _read_quotes(self, numbers: Collection[int] | None) -> Iterator[Quote]:
        return _read_quotes(self._reader, numbers, has_matches=passage_match.name in self._filled)

    def _read_outcomes(self, rows: Sequence[tuple[Any, ...]], quotes: Mapping[int, Quote]) -> Outcomes:
        """Return the outcomes in *rows* that count; *quotes* are those of their claim revisions."""
        audits = {row[2] for row in rows}
        ignored = self._list_ignored(self._reader, audits) if rows else frozenset()
        wanted = select(audit_withdrawal.c.audit).where(self._reader.visible(audit_withdrawal))
        withdrawn = {row.audit for row in self._reader.rows_in(wanted, audit_withdrawal.c.audit, audits)} if rows else frozenset()
        outcomes: dict[int, list[FamilyOutcome]] = defaultdict(list)
        for row in rows:
            if row[2] not in ignored:
                outcome = _build_outcome(row, quotes[row[0]], self._reader.today)
                outcomes[row[0]].append(replace(outcome, is_withdrawn=True) if row[2] in withdrawn else outcome)
        return {seq: tuple(listed) for seq, listed in outcomes.items()}

    def _build(self, quote: Quote, audited: "_Index", outcomes: Outcomes, index: "_Index | None") -> Family:
        # Only claims with outcomes are candidates here, because the verdict of a family depends on
        # them alone. Members without an outcome cost a second, larger search and are listed only on
        # request.
        near = audited.find(quote)
        if not near and index is None and quote.origin is None:
            return _NO_FAMILY
        own = [member for member in near if _is_family(quote, member)]
        shown = [_mark(outcome, _find_other_words(quote, member)) for member in own for outcome in outcomes[member.seq]]
        copies = [outcome for member in near if _is_copy(quote, member) for outcome in outcomes[member.seq]]
        others = [outcome for member in near if not _is_family(quote, member) for outcome in outcomes[member.seq] if outcome not in copies]
        kin = () if index is None else index.find(quote)
        members = tuple(member.reference for member in kin if member.seq != quote.seq and _is_family(quote, member))
        # An adopted claim also takes the outcomes that its original has in the imported log.
        if quote.origin is not None:
            shown += self._find_foreign_outcomes(quote)
        shown, copies, others = self._lower(shown, copies), self._lower(copies, shown), self._lower(others, ())
        return Family(
            members=members, outcomes=tuple(sorted(shown, key=weigh_outcome)), others=tuple(sorted([*copies, *others], key=weigh_outcome))
        )

    def _lower(self, outcomes: list[FamilyOutcome], beside: Sequence[FamilyOutcome]) -> list[FamilyOutcome]:
        """Return *outcomes* as they count next to each other and to those *beside* them."""
        if len(outcomes) + len(beside) < 2 and not any(outcome.is_withdrawn for outcome in outcomes):
            return outcomes
        entries = list_comparable(outcomes)
        intervals = self._reader.recall(("intervals", tuple(entries)), lambda: _read_intervals(self._reader, entries)) if entries else {}
        return lower_opposed(outcomes, intervals, beside)

    def _find_foreign_outcomes(self, quote: Quote) -> Iterator[FamilyOutcome]:
        """Yield the outcomes that the kept log has of the claim that *quote* was adopted from."""
        if quote.origin is None:
            return
        log, reference = quote.origin
        if log not in self._foreign:
            self._foreign[log] = self._open_log(log)
        finder = self._foreign[log]
        if finder is not None:
            claim, _, revision = reference.partition("@")
            yield from (_in_log(outcome, log) for outcome in finder.find_outcomes_of(claim, int(revision)))

    def _open_log(self, origin: str) -> "FamilyFinder | None":
        """Return a finder for the log *origin* as far as it had been taken over at what is seen; None where nothing was."""
        # Outcomes in the other log count only as far as that log had been imported by the entry
        # that is viewed. Otherwise an old view would show a later outcome.
        sizes = select(log_import.c.size).where(self._reader.visible(log_import), log_import.c.origin == origin)
        size = max((row.size for row in self._reader.rows(sizes)), default=None)
        if size is None:
            return None
        try:
            number = self._reader.ask(lambda connection: find_log(connection, origin))
        except NotFoundError:
            return None  # what another log took over is not kept here
        today = self._reader.today
        reader = self._reader.ask(lambda connection: LogReader(connection, limit=size, log_id=number, today=today))
        return FamilyFinder(reader, reader.find_filled(restriction, claim_origin, passage_match), list_ignored=self._list_ignored)


def _read_intervals(reader: LogReader, entries: Sequence[int]) -> dict[int, Intervals]:
    """Return the intervals of Φ_deploy that the outcomes of *entries* rest on, by entry; without those of an erased text."""
    outcomes = {seq: recorded.payload for seq, recorded in reader.find_recorded(entries).items()}
    results = reader.find_recorded(outcome.result for outcome in outcomes.values() if outcome.result is not None)
    intervals: dict[int, Intervals] = {}
    for seq, outcome in outcomes.items():
        estimate = results[outcome.result].payload.estimate if outcome.result in results else outcome.estimate
        sides = [(f"{part.spec} {part.judge or ''}", part.phi_deploy) for part in (estimate.specs if estimate else ())]
        intervals[seq] = {name: (side.low, side.high) for name, side in sides if side.low is not None and side.high is not None}
    return intervals


_NO_FAMILY = Family()
Group = tuple[Key, str | None, int | None] | None
"""Quotes whose words are searched together: of one key, one card and one of its revisions; without card, or without revision for those that
have no place in their card. None for all quotes."""


class _Index:
    """Quotes by all that may link them, so that no quote is compared with all others."""

    def __init__(self, quotes: Iterable[Quote], *, is_grouped: bool = True) -> None:
        """Take in *quotes*; if *is_grouped*, words link only those that can be of one family."""
        self._is_grouped = is_grouped
        self._by_claim: dict[str, list[Quote]] = defaultdict(list)
        self._by_origin: dict[tuple[str, str], list[Quote]] = defaultdict(list)
        self._by_place: dict[tuple[str, int], list[tuple[int, int, Quote]]] = defaultdict(list)
        self._members: dict[Group, list[Quote]] = {}
        self._words: dict[Group, _WordIndex] = {}
        """Of the groups that were searched: where all quotes have a place in their card, that is none."""
        self._groups: dict[Key, list[Group]] = defaultdict(list)
        for quote in quotes:
            self._by_claim[quote.claim].append(quote)
            if quote.origin is not None:
                self._by_origin[_strip(quote.origin)].append(quote)
            for card, revision, start, stop in quote.places:
                self._by_place[card, revision].append((start, stop, quote))
            group = _find_group(quote) if is_grouped else None
            if group not in self._members:
                self._members[group] = []
                self._groups[quote.key].append(group)
            self._members[group].append(quote)
        # Intervals sorted by start, with the longest length per text: candidates for an overlap
        # start at most that far before the passage.
        self._longest: dict[tuple[str, int], int] = {}
        self._starts: dict[tuple[str, int], list[int]] = {}
        for text, placed in self._by_place.items():
            placed.sort(key=lambda interval: interval[:2])
            self._starts[text] = [start for start, _, _ in placed]
            self._longest[text] = max(stop - start for start, stop, _ in placed)

    def find(self, quote: Quote) -> list[Quote]:
        """Return the quotes that are on the same words as *quote*, itself included if it is here, in log order."""
        quotes = {revision.seq: revision for revision in self._by_claim.get(quote.claim, ())}
        if quote.origin is not None:
            quotes |= {adopted.seq: adopted for adopted in self._by_origin.get(_strip(quote.origin), ())}
        for member in self._find_placed(quote):
            quotes[member.seq] = member
        for group in self._list_comparable(quote):
            if group not in self._words:
                self._words[group] = _WordIndex(self._members[group])
            for member in self._words[group].find(quote):
                if member.seq not in quotes and _is_worded_alike(quote, member):
                    quotes[member.seq] = member
        return [quotes[seq] for seq in sorted(quotes)]

    def _find_placed(self, quote: Quote) -> Iterator[Quote]:
        for card, revision, start, stop in quote.places:
            placed = self._by_place.get((card, revision))
            if placed is None:
                continue
            # O(log n) instead of a scan of all passages of the card.
            first = bisect_right(self._starts[card, revision], start - self._longest[card, revision])
            last = bisect_left(self._starts[card, revision], stop)
            yield from (other for _, end, other in placed[first:last] if end > start)

    def _list_comparable(self, quote: Quote) -> Iterator[Group]:
        """Yield the groups in which words can link *quote*: places decide between those of one card revision."""
        if not self._is_grouped:
            yield from self._members
            return
        own, card = _find_group(quote), quote.card[0] if quote.card else None
        for group in self._groups.get(quote.key, ()):
            if group is not None and (card is None or group[1] in (None, card)) and (group != own or group[2] is None):
                yield group


def _find_group(quote: Quote) -> Group:
    if quote.card is None:
        return quote.key, None, None
    return quote.key, quote.card[0], quote.card[1] if quote.is_placed else None


class _WordIndex:
    """Quotes by runs of their words."""

    def __init__(self, quotes: Iterable[Quote]) -> None:
        self._by_run: dict[tuple[str, ...], list[Quote]] = defaultdict(list)
        self._short: dict[tuple[str, ...], list[Quote]] = defaultdict(list)
        """Quotes of fewer words than make a run."""
        for quote in quotes:
            phrases = self._short if len(quote.words) < SHORTEST_RUN else self._by_run
            for phrase in list_phrases(quote.words):
                phrases[phrase].append(quote)

    def find(self, quote: Quote) -> Iterator[Quote]:
        """Yield quotes that share a run with *quote*: those of its rarest run, and those of every run that is no boilerplate."""
        if not quote.words:
            return
        # Most quotes share no run with any other.
        if not self._by_run.keys().isdisjoint(list_runs(quote.words)):
            runs = [self._by_run.get(run, []) for run in list_phrases(quote.words)]
            # The rarest run is always followed, even if it is frequent. Otherwise a quotation that
            # consists only of common phrases would find nothing, not even its exact copy.
            rarest = min(runs, key=len)
            yield from (other for sharing in runs if sharing is rarest or len(sharing) <= _MOST_SHARED for other in sharing)
        # Quotations shorter than a run are not indexed by runs, so they are looked up by all their
        # possible positions.
        for phrase in _list_short(quote.words) if self._short else ():
            yield from self._short.get(phrase, ())


def _list_short(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield every run in *words* that is too short to be indexed unless it is a whole quote."""
    for length in range(1, min(SHORTEST_RUN, len(words) + 1)):
        yield from (words[at : at + length] for at in range(len(words) - length + 1))


def _strip(origin: tuple[str, str]) -> tuple[str, str]:
    return origin[0], origin[1].partition("@")[0]


def _is_worded_alike(left: Quote, right: Quote) -> bool:
    if left.card is not None and right.card is not None and left.card[0] == right.card[0]:
        # If both passages were located in the same revision, their positions decide. Equal words at
        # different places of one card are different statements.
        known = {place[:2] for place in left.places} & {place[:2] for place in right.places}
        return not known and overlaps_words(left.words, right.words)
    return contains_words(left.words, right.words) or contains_words(right.words, left.words)


def _is_family(left: Quote, right: Quote) -> bool:
    """Whether two quotes of the same words are about the same, and of one card; whoever names no card is taken at the words."""
    # Same words about another model version or property are another claim: listed next to the
    # family, not in it.
    if left.key != right.key:
        return False
    if left.claim == right.claim or left.card is None or right.card is None:
        return True
    return left.card[0] == right.card[0]


def _is_copy(quote: Quote, member: Quote) -> bool:
    """Whether *member*, which is on the same words, may be the claim of *quote* once more: under another property, or from another card."""
    if _is_family(quote, member) or quote.model != member.model or _find_other_words(quote, member) is not None:
        return False
    # A few words, such as a figure in a table, are in many claims that have nothing else in common.
    is_long = min(len(quote.words), len(member.words)) >= SHORTEST_RUN
    return quote.key == member.key or is_long or (quote.card is not None and quote.card == member.card)


def _find_other_words(quote: Quote, member: Quote) -> str | None:
    """Return the card revision that gave the passage of the older of both other words; None while the words are the same."""
    if quote.card is None or member.card is None or quote.card[0] != member.card[0] or quote.card == member.card:
        return None
    # An outcome on older words still leads, but it is marked if a later card revision gave the
    # passage other words.
    older, newer = sorted((quote, member), key=lambda side: side.card or ("", 0))
    if newer.card is None or older.card is None or contains_words(newer.words, older.words) or contains_words(older.words, newer.words):
        return None
    looked_up = [(revision, is_other) for revision, is_other in older.changes if older.card[1] < revision <= newer.card[1]]
    return f"{newer.card[0]}@{looked_up[-1][0]}" if looked_up and looked_up[-1][1] else None


_OUTCOMES = """
    SELECT r.seq, o.claim || '@' || o.revision, o.audit, o.seq, e.at, v.verdict, v.standing, w.valid_until
      FROM restriction o
      JOIN verdict v ON v.log = o.log AND v.seq = o.seq AND v.reading = o.reading
      JOIN claim_revision r ON r.log = o.log AND r.claim = o.claim AND r.revision = o.revision
      JOIN entry e ON e.log = o.log AND e.seq = o.seq
      LEFT JOIN outcome_validity w ON w.log = o.log AND w.seq = o.seq
     WHERE o.log = ? AND o.seq <= ? AND o.reading = 0
"""
"""Only reading 0, the claim in its own form: other readings do not decide the status."""


def _read_outcome_rows(reader: LogReader, quotes: Collection[int] | None) -> list[tuple[Any, ...]]:
    """Return the outcomes of the claim revisions that the entries *quotes* recorded (of all when None), in log order."""
    return sorted(_select(reader, _OUTCOMES, "r.seq", quotes), key=itemgetter(3))


def _select(reader: LogReader, statement: str, column: str, numbers: Collection[int] | None) -> list[tuple[Any, ...]]:
    """Return the rows of *statement*, of this log and what is seen of it, in which *column* is one of *numbers* (any when None)."""
    here = (reader.log_id, reader.log_size)
    if numbers is None:
        return reader.driver_rows(statement, *here)
    listed, rows = sorted(numbers), []
    for start in range(0, len(listed), CHUNK):
        chunk = listed[start : start + CHUNK]
        rows += reader.driver_rows(f"{statement} AND {column} IN ({', '.join('?' * len(chunk))})", *here, *chunk)
    return rows


def _build_outcome(row: tuple[Any, ...], quote: Quote, today: date | None) -> FamilyOutcome:
    _, claim, audit, seq, at, words, standing, day = row
    valid_until = None if day is None else date.fromisoformat(day)
    return FamilyOutcome(
        claim=claim,
        property=quote.phi,
        model=quote.model,
        audit=audit,
        verdict=Verdict(words),
        standing=weaken(VerdictStanding(standing) if standing else None, valid_until, today),
        seq=seq,
        at=from_seconds(at),
        valid_until=valid_until,
        is_expired=is_expired(valid_until, today),
        question=quote.question,
    )


def _index_audited(outcomes: Outcomes, quotes: Mapping[int, Quote]) -> "_Index":
    return _Index((quotes[seq] for seq in sorted(outcomes)), is_grouped=False)


def lead(family: Family) -> tuple[FamilyOutcome | None, FamilyOutcome | None]:
    """Return the gravest outcome of *family*, and of others on the same words."""
    return family.gravest, find_gravest(family.others)


def _mark(outcome: FamilyOutcome, other_words: str | None) -> FamilyOutcome:
    return outcome if other_words is None else replace(outcome, other_words=other_words)


def _in_log(outcome: FamilyOutcome, log: str) -> FamilyOutcome:
    opposed = outcome.opposed and replace(outcome.opposed, log=outcome.opposed.log or log)
    return replace(outcome, log=outcome.log or log, opposed=opposed)


def find_linkable(reader: LogReader, numbers: Collection[int]) -> set[int]:
    """Return the entries of all claim revisions that may be of one family with those of *numbers*, or share a place with them."""
    quotes = list(_read_quotes(reader, numbers, has_matches=bool(reader.find_filled(passage_match))))
    return _find_linked(reader, quotes) | _find_comparable(reader, quotes)


def _find_linked(reader: LogReader, quotes: Collection[Quote]) -> set[int]:
    """Return the entries of all claim revisions that identifier, origin or place link with *quotes*."""
    claims = {quote.claim for quote in quotes}
    for quote in quotes:
        for place in quote.places:
            claims |= _find_overlapping(reader, place)
    here, listed = (reader.log_id, reader.log_size), sorted(claims)
    entries = set()
    for start in range(0, len(listed), CHUNK):
        chunk = listed[start : start + CHUNK]
        revisions = f"SELECT seq FROM claim_revision WHERE log = ? AND seq <= ? AND claim IN ({', '.join('?' * len(chunk))})"  # noqa: S608
        entries |= {seq for (seq,) in reader.driver_rows(revisions, *here, *chunk)}
    for log, claim in {_strip(quote.origin) for quote in quotes if quote.origin is not None}:
        entries |= {seq for (seq,) in reader.plain_rows(_ADOPTED, origin=log, claim=claim)}
    return entries


_ADOPTED = select(claim_origin.c.seq).where(
    seen(claim_origin), claim_origin.c.origin == bindparam("origin"), claim_origin.c.claim == bindparam("claim")
)


def _find_worded(reader: LogReader, quotes: Collection[Quote]) -> set[int]:
    """Return the entries of all claim revisions with an outcome that words can link with *quotes*, as `_WordIndex` finds them."""
    entries: set[int] = set()
    wanted: set[int] = set()
    for quote in quotes:
        entries |= {seq for _, seq in _find_phrases(reader, {number_phrase(phrase) for phrase in _list_short(quote.words)}, limit=None)}
        if len(quote.words) >= SHORTEST_RUN:
            wanted |= {number_phrase(phrase) for phrase in list_phrases(quote.words)}
    # One more than the most that are followed shows that a phrase is boilerplate.
    sharing: dict[int, list[int]] = defaultdict(list)
    for number, seq in _find_phrases(reader, wanted, limit=_MOST_SHARED + 1):
        sharing[number].append(seq)
    entries |= {seq for listed in sharing.values() for seq in listed}
    for quote in quotes:
        own = {number_phrase(phrase) for phrase in list_phrases(quote.words)} if len(quote.words) >= SHORTEST_RUN else set()
        # Of a quote of boilerplate alone the rarest phrase counts, so all who share any are needed.
        if own and all(len(sharing.get(number, ())) > _MOST_SHARED for number in own):
            entries |= {seq for _, seq in _find_phrases(reader, own, limit=None)}
    return entries


_SHARING = "SELECT phrase, quote FROM audited_phrase WHERE log = ? AND seq <= ? AND phrase"
_ARMS = 100
"""How many phrases one statement looks up; SQLite takes at most 500 parts of a UNION."""


def _find_phrases(reader: LogReader, numbers: Collection[int], *, limit: int | None) -> Iterator[tuple[Any, ...]]:
    """Yield each of the phrases *numbers* with every claim revision that has it and an outcome; at most *limit* for each phrase."""
    here, listed = (reader.log_id, reader.log_size), sorted(numbers)
    for start in range(0, len(listed), _ARMS):
        chunk = listed[start : start + _ARMS]
        if limit is None:
            yield from reader.driver_rows(f"{_SHARING} IN ({', '.join('?' * len(chunk))})", *here, *chunk)
            continue
        arms = (f"SELECT * FROM ({_SHARING} = ? LIMIT {limit}) AS part_{number}" for number in range(len(chunk)))  # noqa: S608
        yield from reader.driver_rows(" UNION ALL ".join(arms), *(value for number in chunk for value in (*here, number)))


def _find_comparable(reader: LogReader, quotes: Collection[Quote]) -> set[int]:
    """Return the entries of all claim revisions that words can link with *quotes* in one family, with or without an outcome."""
    entries: set[int] = set()
    alike = {(quote.key, quote.card, quote.is_placed): quote for quote in quotes}
    for quote in alike.values():
        model, phi = quote.key
        card, revision = quote.card or (None, None)
        values = {"phi": phi, "developer": model.developer, "model": model.name, "version": model.version, "card": card}
        for statement in _COMPARABLE[quote.card is not None, quote.is_placed]:
            entries |= {seq for (seq,) in reader.plain_rows(statement, card_revision=revision, **values)}
    return entries


def _select_comparable(*conditions: ColumnElement[bool] | TextClause) -> Select[Any]:
    same = {"property": "phi", "developer": "developer", "model": "model", "model_version": "version"}
    about = (claim_revision.c[column] == bindparam(name) for column, name in same.items())
    return select(claim_revision.c.seq).where(seen(claim_revision), *about, *conditions)


_IN_CARD, _REVISION = claim_revision.c.card == bindparam("card"), claim_revision.c.card_revision
_UNPLACED_IN_CARD = _select_comparable(_IN_CARD, is_unplaced)
_WITHOUT_CARD = _select_comparable(claim_revision.c.card.is_(None), is_unplaced)
_COMPARABLE = {
    (False, False): (_select_comparable(),),
    (True, False): (_WITHOUT_CARD, _select_comparable(_IN_CARD)),
    (True, True): (
        _WITHOUT_CARD,
        _UNPLACED_IN_CARD,
        _select_comparable(_IN_CARD, bindparam("card_revision") > _REVISION),
        _select_comparable(_IN_CARD, bindparam("card_revision") < _REVISION),
    ),
}
"""By whether a quote has a card, and a place in it: what words can link it with, as `_Index` compares them. Each statement has an index."""

_LONGEST = 32
_OVERLAPPING = " UNION ALL ".join(
    f"SELECT claim FROM claim_place WHERE log = ? AND card = ? AND card_revision = ? AND size = {size}"  # noqa: S608  (a number)
    f" AND start > ? - {2**size} AND start < ? AND stop > ? AND seq <= ?"
    for size in range(1, _LONGEST)
)
"""A passage of a size class begins less than its size before what it overlaps, so each class is one short range of the index."""


def _find_overlapping(reader: LogReader, place: Place) -> set[str]:
    """Return the claims of which a passage overlaps *place*."""
    card, revision, start, stop = place
    values = (reader.log_id, card, revision, start, stop, start, reader.log_size)
    return {row[0] for row in reader.driver_rows(_OVERLAPPING, *values * (_LONGEST - 1))}


_QUOTES = """
    SELECT r.seq, r.claim, r.revision, r.developer, r.model, r.model_version, r.property, r.property_version, r.card, r.card_revision,
           r.quote_status, r.form, r.relation, r.theta, p.start, p.stop, t.quote, o.origin, o.claim, o.revision
      FROM claim_revision r
      LEFT JOIN claim_text t ON t.log = r.log AND t.seq = r.seq
      LEFT JOIN claim_origin o ON o.log = r.log AND o.seq = r.seq
      LEFT JOIN claim_place p ON p.log = r.log AND p.seq = r.seq
     WHERE r.log = ? AND r.seq <= ?
"""


def _read_quotes(reader: LogReader, numbers: Collection[int] | None, *, has_matches: bool) -> Iterator[Quote]:
    """Yield the claim revisions of the entries *numbers* (all that are seen when None) with words and places, in log order."""
    rows = sorted(_select(reader, _QUOTES, "r.seq", numbers), key=itemgetter(0))
    moved = _read_matches(reader, None if numbers is None else {row[1] for row in rows}) if has_matches and rows else {}
    # One object for each model version: a hundred thousand claims name a handful of models.
    models: dict[tuple[str, str, str], ModelRef] = {}
    for row in rows:
        seq, claim, revision, developer, name, version, phi, phi_version, card, card_revision, status, *claimed = row[:14]
        start, stop, quote, *original = row[14:]
        about_model = models.get((developer, name, version))
        if about_model is None:
            about_model = models[developer, name, version] = ModelRef(developer=developer, name=name, version=version)
        matches = moved.get((claim, revision), ())
        own = ((card, card_revision, start, stop),) if start is not None else ()
        log, adopted, adopted_revision = original
        yield Quote(
            seq=seq,
            claim=claim,
            revision=revision,
            model=about_model,
            phi=f"{phi}@{phi_version}",
            card=None if card is None else (card, card_revision),
            words=read_words(quote or ""),
            places=(*own, *(place for place, _ in matches if place[2] < place[3])) if matches else own,
            is_placed=card is not None and status == QuoteStatus.VERBATIM.value,
            changes=tuple((place[1], is_other) for place, is_other in matches) if matches else (),
            origin=None if log is None else (log, f"{adopted}@{adopted_revision}"),
            question=" ".join(str(part) for part in claimed if part is not None),
        )


def _read_matches(reader: LogReader, claims: Collection[str] | None) -> dict[tuple[str, int], list[tuple[Place, bool]]]:
    """Return where passages stand in other revisions of their card, by claim revision, and whether in other words; gone is empty."""
    places: dict[tuple[str, int], list[tuple[Place, bool]]] = defaultdict(list)
    columns = (passage_match.c.claim, passage_match.c.revision, passage_match.c.card, passage_match.c.card_revision)
    wanted = select(*columns, passage_match.c.start, passage_match.c.stop, passage_match.c.alarm).where(reader.visible(passage_match))
    rows = reader.plain_rows(wanted) if claims is None else reader.rows_in(wanted, passage_match.c.claim, claims)
    for claim, revision, card, number, start, stop, alarm in sorted(rows, key=itemgetter(3)):
        places[claim, revision].append(((card, number, start or 0, stop or 0), bool(alarm)))
    return places
