"""The families of many claims at once: which outcomes their words have, whoever registered the words again."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, or_, select

from registry.errors import NotFoundError
from registry.records.claim import QuoteStatus
from registry.records.claim_status import (
    SHORTEST_RUN,
    Family,
    FamilyOutcome,
    contains_words,
    find_gravest,
    overlaps_words,
    read_words,
    weigh_outcome,
)
from registry.records.model_version import ModelRef
from registry.records.verdict import Verdict, VerdictStanding, is_expired, weaken
from registry.store.database_tables import entry
from registry.store.kinds.audit_kinds import outcome_validity, restriction, verdict
from registry.store.kinds.claim_kinds import claim_origin, claim_place, claim_revision, claim_text, is_unplaced, passage_match
from registry.store.kinds.log_kinds import log_import
from registry.store.log_reader import LogReader, find_log, from_seconds

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

    @property
    def reference(self) -> str:
        """`CLM-…@n`."""
        return f"{self.claim}@{self.revision}"

    @property
    def key(self) -> Key:
        """What it is about."""
        return self.model, self.phi.partition("@")[0]


_FEW = 20
"""Up to so many families are looked up one by one; for more, all quotes are read once."""


# A family contains all claims on the same words about the same model version and property. Outcomes
# apply to the words (decision of 2026-11-23), so registering a sentence again does not shed an
# adverse outcome.
class FamilyFinder:
    """Answers for one reading of one log. What a few families need is looked up by index, so that their time does not grow with the log."""

    def __init__(self, reader: LogReader, filled: frozenset[str], *, list_ignored: Callable[[LogReader], frozenset[str]]) -> None:
        """Read *reader*, of which the tables *filled* have anything.

        Args:
            list_ignored: gives the audits of a log that do not count (a rival's, before its objection is upheld).
        """
        self._reader = reader
        self._filled = filled
        self._list_ignored = list_ignored
        self._foreign: dict[str, FamilyFinder | None] = {}
        self._quotes: dict[int, Quote] = {}
        self._all: _Index | None = None
        """Of all quotes, once they were read."""

    def find_leading(self, numbers: Sequence[int]) -> list[tuple[FamilyOutcome | None, FamilyOutcome | None]]:
        """Return, for the claim revisions of the entries *numbers*, the gravest outcome of the family, and of others on the same words."""
        # The usual registry has no outcome yet. Reading all quotations would then be wasted.
        if self._filled.isdisjoint((restriction.name, claim_origin.name)):
            return [(None, None)] * len(numbers)
        families = self.find(numbers, with_members=False)
        return [(family.gravest, find_gravest(family.others)) for family in families]

    def find(self, numbers: Sequence[int], *, with_members: bool = True) -> list[Family]:
        """Return the families of the claim revisions that the entries *numbers* recorded, in order.

        Args:
            with_members: whether claims without an outcome are named too; without them it is quicker.
        """
        if self._all is None and len(numbers) <= _FEW:
            own = {quote.seq: quote for quote in self._read_quotes(numbers)}
            near = _find_candidates(self._reader, own.values()) if with_members else ()
            index = _Index(self._read_quotes(near))
            return [self._build(own[seq], index) for seq in numbers]
        if not self._quotes:
            self._quotes = {quote.seq: quote for quote in self._read_quotes(None)}
        if with_members and self._all is None:
            self._all = _Index(self._quotes.values())
        return [self._build(self._quotes[seq], self._all if with_members else None) for seq in numbers]

    def find_outcomes_of(self, claim: str, revision: int) -> tuple[FamilyOutcome, ...]:
        """Return the outcomes of the family of one claim revision; none where it is not registered."""
        table = claim_revision
        here = self._reader.visible(table) & (table.c.claim == claim) & (table.c.revision == revision)
        seq = self._reader.one_value(select(table.c.seq).where(here))
        return () if seq is None else self.find([seq], with_members=False)[0].outcomes

    def _read_quotes(self, numbers: Collection[int] | None) -> Iterator[Quote]:
        return _read_quotes(self._reader, numbers, has_matches=passage_match.name in self._filled)

    @cached_property
    def _outcomes(self) -> dict[int, tuple[FamilyOutcome, ...]]:
        """The outcomes of each claim revision, by its entry."""
        return _read_outcomes(self._reader, self._list_ignored(self._reader)) if restriction.name in self._filled else {}

    @cached_property
    def _audited(self) -> "_Index":
        """The quotes that have an outcome; it names their property and model."""
        known = self._quotes or {quote.seq: quote for quote in self._read_quotes(list(self._outcomes))}
        for seq, outcomes in self._outcomes.items():
            self._outcomes[seq] = tuple(replace(outcome, property=known[seq].phi, model=known[seq].model) for outcome in outcomes)
        return _Index((known[seq] for seq in sorted(self._outcomes)), is_grouped=False)

    def _build(self, quote: Quote, index: "_Index | None") -> Family:
        # Only claims with outcomes are candidates here, because the verdict of a family depends on
        # them alone. Members without an outcome cost a second, larger search and are listed only on
        # request.
        near = self._audited.find(quote)
        own = [one for one in near if _is_family(quote, one)]
        outcomes = [_mark(outcome, _find_other_words(quote, member)) for member in own for outcome in self._outcomes[member.seq]]
        others = [outcome for member in near if not _is_family(quote, member) for outcome in self._outcomes[member.seq]]
        kin = () if index is None else index.find(quote)
        members = tuple(one.reference for one in kin if one.seq != quote.seq and _is_family(quote, one))
        # An adopted claim also takes the outcomes that its original has in the imported log.
        if quote.origin is not None:
            outcomes += self._find_foreign_outcomes(quote)
        return Family(members=members, outcomes=tuple(sorted(outcomes, key=weigh_outcome)), others=tuple(sorted(others, key=weigh_outcome)))

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
        self._words: dict[Group, _WordIndex] = {}
        self._groups: dict[Key, list[Group]] = defaultdict(list)
        for quote in quotes:
            self._by_claim[quote.claim].append(quote)
            if quote.origin is not None:
                self._by_origin[_strip(quote.origin)].append(quote)
            for card, revision, start, stop in quote.places:
                self._by_place[card, revision].append((start, stop, quote))
            group = _find_group(quote) if is_grouped else None
            if group not in self._words:
                self._words[group] = _WordIndex()
                self._groups[quote.key].append(group)
            self._words[group].add(quote)
        # Intervals sorted by start, with the longest length per text: candidates for an overlap
        # start at most that far before the passage.
        self._longest: dict[tuple[str, int], int] = {}
        self._starts: dict[tuple[str, int], list[int]] = {}
        for text, placed in self._by_place.items():
            placed.sort(key=lambda one: one[:2])
            self._starts[text] = [start for start, _, _ in placed]
            self._longest[text] = max(stop - start for start, stop, _ in placed)

    def find(self, quote: Quote) -> list[Quote]:
        """Return the quotes that are on the same words as *quote*, itself included if it is here, in log order."""
        found = {one.seq: one for one in self._by_claim.get(quote.claim, ())}
        if quote.origin is not None:
            found |= {one.seq: one for one in self._by_origin.get(_strip(quote.origin), ())}
        for one in self._find_placed(quote):
            found[one.seq] = one
        for group in self._list_comparable(quote):
            for one in self._words[group].find(quote):
                if one.seq not in found and _is_worded_alike(quote, one):
                    found[one.seq] = one
        return [found[seq] for seq in sorted(found)]

    def _find_placed(self, quote: Quote) -> Iterator[Quote]:
        for card, revision, start, stop in quote.places:
            placed = self._by_place.get((card, revision))
            if placed is None:
                continue
            # O(log n) instead of a scan of all passages of the card.
            first = bisect_right(self._starts[card, revision], start - self._longest[card, revision])
            last = bisect_left(self._starts[card, revision], stop)
            yield from (one for _, end, one in placed[first:last] if end > start)

    def _list_comparable(self, quote: Quote) -> Iterator[Group]:
        """Yield the groups in which words can link *quote*: places decide between those of one card revision."""
        if not self._is_grouped:
            yield from self._words
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

    def __init__(self) -> None:
        self._by_run: dict[tuple[str, ...], list[Quote]] = defaultdict(list)
        self._short: dict[tuple[str, ...], list[Quote]] = defaultdict(list)
        """Quotes of fewer words than make a run."""

    def add(self, quote: Quote) -> None:
        """Take in *quote*."""
        if len(quote.words) < SHORTEST_RUN:
            self._short[quote.words].append(quote)
        for run in _list_runs(quote.words):
            self._by_run[run].append(quote)

    def find(self, quote: Quote) -> Iterator[Quote]:
        """Yield quotes that share a run with *quote*: those of its rarest run, and those of every run that is no boilerplate."""
        if not quote.words:
            return
        runs = [self._by_run.get(run, []) for run in _list_runs(quote.words)]
        if runs:
            # The rarest run is always followed, even if it is frequent. Otherwise a quotation that
            # consists only of common phrases would find nothing, not even its exact copy.
            rarest = min(runs, key=len)
            yield from (one for found in runs if found is rarest or len(found) <= _MOST_SHARED for one in found)
        # Quotations shorter than a run are not indexed by runs, so they are looked up by all their
        # possible positions.
        for length in range(1, min(SHORTEST_RUN, len(quote.words) + 1) if self._short else 0):
            for at in range(len(quote.words) - length + 1):
                yield from self._short.get(quote.words[at : at + length], ())


def _list_runs(words: tuple[str, ...]) -> set[tuple[str, ...]]:
    return {words[at : at + SHORTEST_RUN] for at in range(len(words) - SHORTEST_RUN + 1)}


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


def _find_other_words(quote: Quote, member: Quote) -> str | None:
    """Return the card revision that gave the passage of the older of both other words; None while the words are the same."""
    if quote.card is None or member.card is None or quote.card[0] != member.card[0] or quote.card == member.card:
        return None
    # An outcome on older words still leads, but it is marked if a later card revision gave the
    # passage other words.
    older, newer = sorted((quote, member), key=lambda one: one.card or ("", 0))
    if newer.card is None or older.card is None or contains_words(newer.words, older.words) or contains_words(older.words, newer.words):
        return None
    looked_up = [(revision, is_other) for revision, is_other in older.changes if older.card[1] < revision <= newer.card[1]]
    return f"{newer.card[0]}@{looked_up[-1][0]}" if looked_up and looked_up[-1][1] else None


def _read_outcomes(reader: LogReader, ignored: frozenset[str]) -> dict[int, tuple[FamilyOutcome, ...]]:
    """Return the outcomes of each claim revision, by its entry, in log order; property and model are filled in by `_name`."""
    same = and_(restriction.c.log == verdict.c.log, restriction.c.seq == verdict.c.seq, restriction.c.reading == verdict.c.reading)
    element = and_(
        claim_revision.c.log == restriction.c.log,
        claim_revision.c.claim == restriction.c.claim,
        claim_revision.c.revision == restriction.c.revision,
    )
    placed = and_(entry.c.log == restriction.c.log, entry.c.seq == restriction.c.seq)
    columns = (restriction.c.claim, restriction.c.revision, restriction.c.audit, restriction.c.seq, entry.c.at)
    valid = and_(outcome_validity.c.log == restriction.c.log, outcome_validity.c.seq == restriction.c.seq)
    wanted = select(claim_revision.c.seq, *columns, verdict.c.verdict, verdict.c.standing, outcome_validity.c.valid_until)
    joined = restriction.join(verdict, same).join(claim_revision, element).join(entry, placed).outerjoin(outcome_validity, valid)
    wanted = wanted.select_from(joined)
    # Only reading 0, the claim in its own form. Other readings do not decide the status.
    family_outcomes: dict[int, list[FamilyOutcome]] = defaultdict(list)
    for row in reader.plain_rows(wanted.where(reader.visible(restriction), restriction.c.reading == 0).order_by(restriction.c.seq)):
        of, claim, revision, audit, seq, at, words, standing, day = row
        if audit in ignored:
            continue
        valid_until = None if day is None else date.fromisoformat(day)
        family_outcomes[of].append(
            FamilyOutcome(
                claim=f"{claim}@{revision}",
                property="",
                model=_NOBODY,
                audit=audit,
                verdict=Verdict(words),
                standing=weaken(VerdictStanding(standing) if standing else None, valid_until, reader.today),
                seq=seq,
                at=from_seconds(at),
                valid_until=valid_until,
                is_expired=is_expired(valid_until, reader.today),
            )
        )
    return {seq: tuple(outcomes) for seq, outcomes in family_outcomes.items()}


_NOBODY = ModelRef(developer="", name="", version="")


def _mark(outcome: FamilyOutcome, other_words: str | None) -> FamilyOutcome:
    return outcome if other_words is None else replace(outcome, other_words=other_words)


def _in_log(outcome: FamilyOutcome, log: str) -> FamilyOutcome:
    return replace(outcome, log=outcome.log or log)


def _find_candidates(reader: LogReader, quotes: Collection[Quote]) -> set[int]:
    """Return the entries of all claim revisions that may be in the families of *quotes*."""
    here = claim_revision
    claims = {quote.claim for quote in quotes}
    for quote in quotes:
        for place in quote.places:
            claims |= _find_overlapping(reader, place)
    wanted = select(here.c.seq).where(reader.visible(here))
    found = {row.seq for row in reader.rows_in(wanted, here.c.claim, claims)}
    if origins := {quote.origin for quote in quotes if quote.origin is not None}:
        table = claim_origin
        same = or_(*((table.c.origin == log) & (table.c.claim == claim.partition("@")[0]) for log, claim in origins))
        found |= {row.seq for row in reader.rows(select(table.c.seq).where(reader.visible(table), same))}
    alike = {(quote.key, quote.card, quote.is_placed): quote for quote in quotes}
    for condition in (condition for quote in alike.values() for condition in _list_conditions(quote)):
        found |= {seq for (seq,) in reader.plain_rows(wanted.where(condition))}
    return found


def _list_conditions(quote: Quote) -> Iterator[ColumnElement[bool]]:
    """Yield conditions that are, together, that words can link a claim revision with *quote* as `_Index` does; each has an index."""
    here, (model, phi) = claim_revision.c, quote.key
    same = and_(here.property == phi, here.developer == model.developer, here.model == model.name, here.model_version == model.version)
    if quote.card is None:
        yield same
        return
    card, revision = quote.card
    in_card = and_(same, here.card == card)
    yield and_(same, is_unplaced, here.card.is_(None))
    if not quote.is_placed:
        yield in_card
        return
    yield and_(in_card, is_unplaced)
    yield and_(in_card, here.card_revision < revision)
    yield and_(in_card, here.card_revision > revision)


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


def _read_quotes(reader: LogReader, numbers: Collection[int] | None, *, has_matches: bool) -> Iterator[Quote]:
    """Yield the claim revisions of the entries *numbers* (all that are seen when None) with words and places, in log order."""
    here = claim_revision
    joined = here
    for table in (claim_text, claim_origin):
        joined = joined.outerjoin(table, and_(table.c.log == here.c.log, table.c.seq == here.c.seq))  # type: ignore[assignment]
    joined = joined.outerjoin(claim_place, and_(claim_place.c.log == here.c.log, claim_place.c.seq == here.c.seq))  # type: ignore[assignment]
    model = (here.c.developer, here.c.model, here.c.model_version)
    about = (here.c.property, here.c.property_version, here.c.card, here.c.card_revision, here.c.quote_status)
    columns = (here.c.seq, here.c.claim, here.c.revision, *model, *about, claim_place.c.start, claim_place.c.stop, claim_text.c.quote)
    origin = (claim_origin.c.origin, claim_origin.c.claim, claim_origin.c.revision)
    wanted = select(*columns, *origin).select_from(joined).where(reader.visible(here)).order_by(here.c.seq)
    rows = reader.plain_rows(wanted) if numbers is None else reader.rows_in(wanted, here.c.seq, sorted(numbers))
    moved = _read_matches(reader, None if numbers is None else {row[1] for row in rows}) if has_matches else {}
    # One object for each model version: a hundred thousand claims name a handful of models.
    models: dict[tuple[str, str, str], ModelRef] = {}
    for row in rows:
        seq, claim, revision, developer, name, version, phi, phi_version, card, card_revision, status, start, stop, quote, *original = row
        about_model = models.setdefault((developer, name, version), ModelRef(developer=developer, name=name, version=version))
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
            places=(*own, *(place for place, _ in matches if place[2] < place[3])),
            is_placed=card is not None and status == QuoteStatus.VERBATIM.value,
            changes=tuple((place[1], is_other) for place, is_other in matches),
            origin=None if log is None else (log, f"{adopted}@{adopted_revision}"),
        )


def _read_matches(reader: LogReader, claims: Collection[str] | None) -> dict[tuple[str, int], list[tuple[Place, bool]]]:
    """Return where passages stand in other revisions of their card, by claim revision, and whether in other words; gone is empty."""
    found: dict[tuple[str, int], list[tuple[Place, bool]]] = defaultdict(list)
    columns = (passage_match.c.claim, passage_match.c.revision, passage_match.c.card, passage_match.c.card_revision)
    wanted = select(*columns, passage_match.c.start, passage_match.c.stop, passage_match.c.alarm).where(reader.visible(passage_match))
    rows = reader.plain_rows(wanted) if claims is None else reader.rows_in(wanted, passage_match.c.claim, claims)
    for claim, revision, card, number, start, stop, alarm in sorted(rows, key=itemgetter(3)):
        found[claim, revision].append(((card, number, start or 0, stop or 0), bool(alarm)))
    return found
