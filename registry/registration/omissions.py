"""Passages that a claims file deliberately leaves out become statements; the same again changes nothing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from registry.errors import CaveatError, Fault, InputError
from registry.records.card import Anchor, Card
from registry.records.draft import ClaimsFile, OmissionDraft
from registry.records.survey import Omission
from registry.registration.quotes import Quotes
from registry.store.writer import Writer

Place = tuple[str, int, int]
"""A card revision, and where a passage begins and ends in its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Omitted:
    """What became of the passages that a file leaves out."""

    added: int
    unchanged: int
    """Left out already, for the same reason."""


class OmissionRegistrar:
    """Registers what one file leaves out into one open transaction; the caller commits it or lets it fall."""

    def __init__(self, writer: Writer, file: ClaimsFile, quotes: Quotes, *, claimed: Mapping[Place, str]) -> None:
        """*claimed*: the passages that claims of the file quote, with the path of the claim."""
        self._writer = writer
        self._file = file
        self._quotes = quotes
        self._claimed = claimed
        self._taken: dict[Place, tuple[str, str]] = {}
        """The passages left out so far, with path and reason."""

    def register(self, *, where: str) -> Omitted:
        """Append what is new.

        Raises:
            InputError: with every fault; the transaction must then be given up.
        """
        faults: list[Fault] = []
        found: dict[Place, Omission] = {}
        for position, draft in enumerate(self._file.left_out):
            try:
                omission = self._build(draft, f"{where}, left_out[{position}]")
                found[_place_of(omission)] = omission
            except CaveatError as error:
                faults += error.faults
        if faults:
            raise InputError(faults)
        new = [one for one in found.values() if self._find(one) is None]
        self._writer.append_many(new)
        return Omitted(added=len(new), unchanged=len(found) - len(new))

    def _build(self, draft: OmissionDraft, where: str) -> Omission:
        card = self._quotes.get_card(draft.card, where)
        faults = [] if draft.reason.strip() else [_blank(f"{where}.reason")]
        try:
            anchor = self._find_anchor(draft, card, where)
        except CaveatError as error:
            raise InputError([*error.faults, *faults]) from error
        if faults:
            raise InputError(faults)
        omission = Omission(card=f"{card.card}@{card.revision}", quote=draft.quote, anchor=anchor, reason=draft.reason)
        self._check_place(omission, where)
        known = self._find(omission)
        if known is not None and _fold(known[1]) != _fold(draft.reason):
            raise InputError(_changed(known, where))
        return omission

    def _find_anchor(self, draft: OmissionDraft, card: Card, where: str) -> Anchor:
        """Of words that stand in the card more than once, mean the next proposed place that nothing else in the file speaks of."""
        place = f"{where}.quote"
        anchor = self._quotes.find(card, draft.quote, page=draft.page, where=place)
        if anchor.occurrences == 1:
            return anchor
        for start in self._list_proposed(card, anchor):
            other = self._quotes.find(card, draft.quote, page=draft.page, where=place, near=start)
            if not self._speaks_of((f"{card.card}@{card.revision}", other.start, other.stop)):
                return other
        return anchor

    def _list_proposed(self, card: Card, anchor: Anchor) -> Iterator[int]:
        """Give where the words of *anchor* were proposed, in the order of the card."""
        proposed = self._file.proposed
        if proposed is None or proposed.document.lower() != card.document:
            return
        words = self._quotes.get_words(card, anchor.start, anchor.stop)
        yield from (start for start, stop in proposed.passages if self._quotes.get_words(card, start, stop) == words)

    def _speaks_of(self, place: Place) -> bool:
        return place in self._claimed or place in self._taken

    def _check_place(self, omission: Omission, where: str) -> None:
        """A passage is registered or left out, for one reason."""
        place, path = _place_of(omission), where.rpartition(", ")[2]
        if place in self._claimed:
            found = f"is the passage of {self._claimed[place]} too"
            advice = "a passage is registered or left out, not both: remove one of them"
            raise InputError(Fault(code="claimed-and-left-out", where=f"{where}.quote", found=found, advice=advice))
        other, reason = self._taken.setdefault(place, (path, omission.reason))
        if _fold(reason) != _fold(omission.reason):
            found = f"is the passage of {other} too, which gives another reason"
            advice = "leave the passage out once, and say both reasons there"
            raise InputError(Fault(code="left-out-twice", where=f"{where}.quote", found=found, advice=advice))

    def _find(self, omission: Omission) -> tuple[int, str] | None:
        """Return entry and reason of the passage if it is left out already."""
        known = self._writer.find_omission(omission.card, omission.anchor.start, omission.anchor.stop)
        return None if known is None else (known.entry.seq, known.payload.reason)


def _place_of(omission: Omission) -> Place:
    return omission.card, omission.anchor.start, omission.anchor.stop


def _blank(where: str) -> Fault:
    return Fault(code="not-valid", where=where, found="is blank; what is left out needs its reason")


def _changed(known: tuple[int, str], where: str) -> Fault:
    seq, reason = known
    return Fault(
        code="omission-changed",
        where=f"{where}.reason",
        found=f"the passage is left out since entry {seq}, with another reason: {reason}",
        advice="write the reason as it is recorded; who wants the passage after all registers it as a claim",
    )


def _fold(words: str) -> str:
    return " ".join(words.split())
