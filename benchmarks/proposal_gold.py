"""Hand-coded claims of cards, found again in the cards' text.

Two forms of the same lines are read: with the quotation, and with offsets and a digest of the quotation, where the text of a card may not
be copied. A digest ignores white space, so that a text that is laid out otherwise still has its claims.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from registry.errors import InputError
from registry.intake.quote_anchor import AnchoredText
from registry.records.system_card import CardText

_CLASSES = {"agency_meta": "agency_meta_task"}
_REACH = 4000
"""Characters on each side of a coded offset in which a digest is searched."""


@dataclass(frozen=True, slots=True)
class CodedFigure:
    """A figure as the coder wrote it."""

    value: float
    unit: str
    is_relative: bool = False
    """A bound that is given as a multiple, a difference, or another model's figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldClaim:
    """One hand-coded claim, where it is in the text of its card."""

    id: str
    start: int
    stop: int
    models: tuple[str, ...]
    """The subject as coded, then other names of it that are right too."""
    form: str
    theta: CodedFigure | None
    reported: CodedFigure | None
    """The figure; of a range without one figure, its lower end."""
    is_range: bool
    classes: tuple[str, ...]
    directions: tuple[str, ...]
    is_quantitative: bool
    comparisons: tuple[CodedFigure, ...] = ()
    """Figures that the same words give for other models or conditions."""
    is_foreign: bool = False
    """A figure of another model: nothing to propose as the card's own."""
    is_arguable: bool = False
    """A claim that a careful reader may leave out: it does not count for recall."""


@dataclass(frozen=True, slots=True)
class GoldCard:
    """The hand-coded claims of one card."""

    claims: tuple[GoldClaim, ...]
    windows: tuple[tuple[int, int], ...]
    """Stretches of the text in which every claim is coded; none where the claims are a sample."""
    missing: tuple[str, ...]
    """Claims whose words are not in the text."""

    @property
    def own(self) -> tuple[GoldClaim, ...]:
        """Claims about the card's own models."""
        return tuple(claim for claim in self.claims if not claim.is_foreign)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file of coded claims."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def group_by_card(lines: Sequence[dict[str, Any]], folder: Path) -> dict[Path, list[dict[str, Any]]]:
    """Return the lines by the file of their card, whether it is there or not."""
    cards: dict[Path, list[dict[str, Any]]] = {}
    for line in lines:
        named = Path(line.get("source_file") or line.get("text_file") or line["card"])
        path = next((place for place in (folder / named, folder / named.name) if place.is_file()), folder / named.name)
        cards.setdefault(path, []).append(line)
    return cards


def digest_quote(quote: str) -> str:
    """Return the SHA-256 of a quotation without its white space."""
    return hashlib.sha256("".join(quote.split()).encode()).hexdigest()


def locate_claims(lines: Sequence[dict[str, Any]], card: CardText) -> GoldCard:
    """Return the coded claims of one card, found again in its text."""
    anchored, packed = AnchoredText(card), PackedText(card.text)
    claims, missing = [], []
    shifts: list[tuple[int, int]] = []
    for line in lines:
        if line.get("kind") == "window":
            continue
        place = packed.find(line) if "quote_sha256" in line else _find_quote(line, anchored)
        if place is None:
            missing.append(line["id"])
            continue
        shifts.append((line["char_start"], place[0] - line["char_start"]))
        claims.append(_read_claim(line, *place))
    windows = tuple(_move(line, shifts) for line in lines if line.get("kind") == "window")
    return GoldCard(tuple(claims), windows, tuple(missing))


def _find_quote(line: dict[str, Any], anchored: AnchoredText) -> tuple[int, int] | None:
    try:
        anchor = anchored.find(line["quote"], page=line["page"] if line["source_file"] else None, near=line["char_start"])
    except InputError:
        return None
    return anchor.start, anchor.stop


class PackedText:
    """A text without its white space, and where each of its characters was."""

    def __init__(self, text: str) -> None:
        self._places = [place for place, character in enumerate(text) if not character.isspace()]
        self._packed = "".join(text.split())
        self._before = list(accumulate((not character.isspace() for character in text), initial=0))

    def find(self, line: dict[str, Any]) -> tuple[int, int] | None:
        """Return the first and last place of the words whose digest *line* has, the nearest to where they were coded."""
        expected = self._before[min(line["char_start"], len(self._before) - 1)]
        length = line["letters"]
        for start in _count_outwards(expected, len(self._packed) - length):
            if hashlib.sha256(self._packed[start : start + length].encode()).hexdigest() == line["quote_sha256"]:
                return self._places[start], self._places[start + length - 1] + 1
        return None


def _count_outwards(center: int, last: int) -> Iterator[int]:
    for distance in range(_REACH):
        yield from (place for place in {center - distance, center + distance} if 0 <= place <= last)


def _move(window: dict[str, Any], shifts: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the window, moved with the claims at its ends where the text has changed since it was coded."""
    start, stop = window["char_start"], window["char_end"]
    inside = sorted(shift for shift in shifts if start <= shift[0] < stop)
    return (start + inside[0][1], stop + inside[-1][1]) if inside else (start, stop)


def _read_claim(line: dict[str, Any], start: int, stop: int) -> GoldClaim:
    theta, reported = line.get("theta") or {}, line.get("reported") or {}
    is_range = reported.get("value") is None and reported.get("low") is not None
    class_ = line["property_class"]
    return GoldClaim(
        id=line["id"],
        start=start,
        stop=stop,
        models=(line["subject_model"], *line.get("also_models", ())),
        form=line["logical_form"],
        theta=_read_figure(theta.get("value"), theta),
        reported=_read_figure(reported.get("low") if is_range else reported.get("value"), reported),
        is_range=is_range,
        classes=tuple(_CLASSES.get(name, name) for name in (class_, *line.get("also_classes", ()))),
        directions=(line["safety_direction"], *line.get("also_directions", ())),
        is_quantitative=line["quantitative"],
        comparisons=tuple(figure for _, value in line.get("comparison", ()) if (figure := _read_compared(value, reported or theta))),
        is_foreign=line.get("foreign", False),
        is_arguable=line.get("arguable", False),
    )


def _read_figure(value: float | None, written: dict[str, Any]) -> CodedFigure | None:
    return None if value is None else CodedFigure(float(value), str(written.get("unit") or ""), written.get("kind") == "relative")


def _read_compared(value: float | str | None, written: dict[str, Any]) -> CodedFigure | None:
    """Return a compared figure in the unit of the claim's own; "22/32" is a share of its own."""
    if isinstance(value, str):
        part, slash, whole = value.partition("/")
        return CodedFigure(float(part), f"of {whole}") if slash else None
    return _read_figure(value, {**written, "kind": None})
