"""The families of many claims at once: which outcomes their words have, whoever registered the words again."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from sqlalchemy import and_, select

from registry.errors import NotFoundError
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
from registry.store.database_tables import (
    claim_origin,
    claim_passage,
    claim_revision,
    claim_text,
    entry,
    log_import,
    outcome_validity,
    restriction,
    sighting,
    verdict,
)
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


# A family contains all claims on the same words about the same model version and property. Outcomes
# apply to the words (decision of 2026-11-23), so registering a sentence again does not shed an
# adverse outcome.
class FamilyFinder:
    """Answers for one reading of one log; all quotes are read once."""

    def __init__(self, reader: LogReader, *, list_ignored: Callable[[LogReader], frozenset[str]]) -> None:
        """Read *reader*; audits that *list_ignored* gives of a log do not count (a rival's, before its contestation is upheld)."""
        self._reader = reader
        self._list_ignored = list_ignored
        self._quotes: dict[int, Quote] = {}
        self._outcomes: dict[int, tuple[FamilyOutcome, ...]] = {}
        self._foreign: dict[str, FamilyFinder | None] = {}
        self._audited: _Index | None = None
        self._all: _Index | None = None
        self._is_read = False

    def find_leading(self, numbers: Sequence[int]) -> list[tuple[FamilyOutcome | None, FamilyOutcome | None]]:
        """Return, for the claim revisions of the entries *numbers*, the gravest outcome of the family, and of others on the same words."""
        # The usual registry has no outcome yet. Reading all quotations would then be wasted.
        if not self._has_outcomes():
            return [(None, None)] * len(numbers)
        families = self.find(numbers, with_members=False)
        return [(family.gravest, find_gravest(family.others)) for family in families]

    def find(self, numbers: Sequence[int], *, with_members: bool = True) -> list[Family]:
        """Return the families of the claim revisions that the entries *numbers* recorded, in order.

        Args:
            with_members: whether claims without an outcome are named too; without them it is quicker.
        """
        self._read()
        return [self._build(self._quotes[seq], with_members=with_members) for seq in numbers]

    def find_outcomes_of(self, claim: str, revision: int) -> tuple[FamilyOutcome, ...]:
        """Return the outcomes of the family of one claim revision; none where it is not registered."""
        self._read()
        found = next((quote for quote in self._quotes.values() if (quote.claim, quote.revision) == (claim, revision)), None)
        return () if found is None else self._build(found, with_members=False).outcomes

    def _build(self, quote: Quote, *, with_members: bool) -> Family:
        # Only claims with outcomes are candidates here, because the verdict of a family depends on
        # them alone. Members without an outcome cost a second, larger search and are listed only on
        # request.
        audited = self._audited or _Index(())
        near = audited.find(quote)
        own = [one for one in near if _is_family(quote, one)]
        outcomes = [_mark(one, _find_other_words(quote, member)) for member in own for one in self._outcomes[member.seq]]
        others = [one for member in near if not _is_family(quote, member) for one in self._outcomes[member.seq]]
        members: tuple[str, ...] = ()
        if with_members and self._all is not None:
            kin = (one for one in self._all.find(quote) if one.seq != quote.seq and _is_family(quote, one))
            members = tuple(one.reference for one in sorted(kin, key=lambda one: one.seq))
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
            yield from (_in_log(one, log) for one in finder.find_outcomes_of(claim, int(revision)))

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
        return FamilyFinder(reader, list_ignored=self._list_ignored)

    def _has_outcomes(self) -> bool:
        return self._reader.has_rows(restriction) or self._reader.has_rows(claim_origin)

    def _read(self) -> None:
        if self._is_read:
            return
        self._is_read = True
        self._outcomes = _read_outcomes(self._reader, self._list_ignored(self._reader))
        self._quotes = {quote.seq: quote for quote in _read_quotes(self._reader)}
        for seq, outcome in self._outcomes.items():
            said = self._quotes[seq]
            self._outcomes[seq] = tuple(_name(one, said) for one in outcome)
        self._audited = _Index(self._quotes[seq] for seq in sorted(self._outcomes))
        self._all = _Index(self._quotes.values())


class _Index:
    """Quotes by all that may link them, so that no quote is compared with all others."""

    def __init__(self, quotes: Iterable[Quote]) -> None:
        self._by_claim: dict[str, list[Quote]] = defaultdict(list)
        self._by_origin: dict[tuple[str, str], list[Quote]] = defaultdict(list)
        self._by_place: dict[tuple[str, int], list[tuple[int, int, Quote]]] = defaultdict(list)
        self._by_run: dict[tuple[str, ...], list[Quote]] = defaultdict(list)
        self._short: dict[tuple[str, ...], list[Quote]] = defaultdict(list)
        """Quotes of fewer words than make a run."""
        for quote in quotes:
            self._by_claim[quote.claim].append(quote)
            if quote.origin is not None:
                self._by_origin[_strip(quote.origin)].append(quote)
            for card, revision, start, stop in quote.places:
                self._by_place[card, revision].append((start, stop, quote))
            if len(quote.words) < SHORTEST_RUN:
                self._short[quote.words].append(quote)
            for run in _list_runs(quote.words):
                self._by_run[run].append(quote)
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
        for one in self._find_worded(quote):
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

    def _find_worded(self, quote: Quote) -> Iterator[Quote]:
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
    said = and_(
        claim_revision.c.log == restriction.c.log,
        claim_revision.c.claim == restriction.c.claim,
        claim_revision.c.revision == restriction.c.revision,
    )
    placed = and_(entry.c.log == restriction.c.log, entry.c.seq == restriction.c.seq)
    columns = (restriction.c.claim, restriction.c.revision, restriction.c.audit, restriction.c.seq, entry.c.at)
    valid = and_(outcome_validity.c.log == restriction.c.log, outcome_validity.c.seq == restriction.c.seq)
    wanted = select(claim_revision.c.seq, *columns, verdict.c.verdict, verdict.c.standing, outcome_validity.c.valid_until)
    joined = restriction.join(verdict, same).join(claim_revision, said).join(entry, placed).outerjoin(outcome_validity, valid)
    wanted = wanted.select_from(joined)
    # Only reading 0, the claim in its own form. Other readings do not decide the status.
    found: dict[int, list[FamilyOutcome]] = defaultdict(list)
    for row in reader.plain_rows(wanted.where(reader.visible(restriction), restriction.c.reading == 0).order_by(restriction.c.seq)):
        of, claim, revision, audit, seq, at, words, standing, day = row
        if audit in ignored:
            continue
        valid_until = None if day is None else date.fromisoformat(day)
        found[of].append(
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
    return {seq: tuple(outcomes) for seq, outcomes in found.items()}


_NOBODY = ModelRef(developer="", name="", version="")


def _name(outcome: FamilyOutcome, quote: Quote) -> FamilyOutcome:
    return replace(outcome, property=quote.phi, model=quote.model)


def _mark(outcome: FamilyOutcome, other_words: str | None) -> FamilyOutcome:
    return outcome if other_words is None else replace(outcome, other_words=other_words)


def _in_log(outcome: FamilyOutcome, log: str) -> FamilyOutcome:
    return replace(outcome, log=outcome.log or log)


def _read_quotes(reader: LogReader) -> Iterator[Quote]:
    """Yield every claim revision that is seen with its words and places, in log order."""
    moved = _read_matches(reader)
    origins = _read_origins(reader)
    here = claim_revision
    joined = here.outerjoin(claim_text, and_(claim_text.c.log == here.c.log, claim_text.c.seq == here.c.seq))
    joined = joined.outerjoin(claim_passage, and_(claim_passage.c.log == here.c.log, claim_passage.c.seq == here.c.seq))
    model = (here.c.developer, here.c.model, here.c.model_version)
    about = (here.c.property, here.c.property_version, here.c.card, here.c.card_revision)
    columns = (here.c.seq, here.c.claim, here.c.revision, *model, *about, claim_passage.c.start, claim_passage.c.stop, claim_text.c.quote)
    # One object for each model version: a hundred thousand claims name a handful of models.
    models: dict[tuple[str, str, str], ModelRef] = {}
    for row in reader.plain_rows(select(*columns).select_from(joined).where(reader.visible(here)).order_by(here.c.seq)):
        seq, claim, revision, developer, name, version, phi, phi_version, card, card_revision, start, stop, quote = row
        about_model = models.setdefault((developer, name, version), ModelRef(developer=developer, name=name, version=version))
        matches = moved.get((claim, revision), ())
        own = ((card, card_revision, start, stop),) if card is not None and start is not None else ()
        yield Quote(
            seq=seq,
            claim=claim,
            revision=revision,
            model=about_model,
            phi=f"{phi}@{phi_version}",
            card=None if card is None else (card, card_revision),
            words=read_words(quote or ""),
            places=(*own, *(place for place, _ in matches if place[2] < place[3])),
            changes=tuple((place[1], is_other) for place, is_other in matches),
            origin=origins.get(seq),
        )


def _read_matches(reader: LogReader) -> dict[tuple[str, int], list[tuple[Place, bool]]]:
    """Return where passages stand in other revisions of their card, by claim revision, and whether in other words; gone is empty."""
    found: dict[tuple[str, int], list[tuple[Place, bool]]] = defaultdict(list)
    if reader.has_rows(sighting):
        columns = (sighting.c.claim, sighting.c.revision, sighting.c.card, sighting.c.card_revision)
        wanted = select(*columns, sighting.c.start, sighting.c.stop, sighting.c.alarm).where(reader.visible(sighting))
        for claim, revision, card, number, start, stop, alarm in reader.plain_rows(wanted.order_by(sighting.c.card_revision)):
            found[claim, revision].append(((card, number, start or 0, stop or 0), bool(alarm)))
    return found


def _read_origins(reader: LogReader) -> dict[int, tuple[str, str]]:
    if not reader.has_rows(claim_origin):
        return {}
    table = claim_origin
    wanted = select(table.c.seq, table.c.origin, table.c.claim, table.c.revision).where(reader.visible(table))
    return {seq: (log, f"{claim}@{revision}") for seq, log, claim, revision in reader.plain_rows(wanted)}
