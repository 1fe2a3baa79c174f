"""Whose each figure of a table row is."""

import re
from dataclasses import replace

from audit.propose.about.around import Around
from audit.propose.about.comparing import IN_HEAD_ONLY, SETTINGS
from audit.propose.about.models import Models
from audit.propose.about.parties import find_parties
from audit.propose.about.row import find_cell_place
from audit.propose.about.whose import Choice, Own
from audit.propose.figures.quantity import Quantity, Unit
from registry.records.passage import Cell, Passage, PassageKind
from registry.records.proposal import Comparison

_SETTINGS = re.compile(SETTINGS, re.IGNORECASE)
_SCORED = re.compile(r"\b(?:scores?|rating|elo|index|grade|points|mean|average|median)\b", re.IGNORECASE)
_BESIDE = re.compile(IN_HEAD_ONLY, re.IGNORECASE)
_FIGURE = re.compile(r"[<>≤≥~]?\s?[-−]?\d{1,7}(?:[.,]\d{1,6})?\s?%?")


def sort_row(passage: Passage, quantities: tuple[Quantity, ...], *, around: Around, models: Models) -> Choice:
    """Return the figures of own models as own, those of other columns and rows as comparisons.

    Where columns name models, the row's figures are sorted by column; where the row's label names one, all figures are its;
    where neither does, all are the card's own model's.
    """
    if not passage.cells:
        return _sort_uncelled(passage, quantities, around, models)
    placed = [(one, find_cell_place(passage, one.start)) for one in quantities]
    results = [(one, place) for one, place in placed if place is not None and _is_result(passage, place)]
    results = _drop_counts(passage, results)
    if any(models.find(cell.column or "") for cell in passage.cells):
        return _by_column(passage, results, models)
    return _by_label(passage, results, around, models)


def _is_result(passage: Passage, place: int) -> bool:
    """Whether the cell holds what came out: not a label, a setting, or something said of other columns."""
    cell = passage.cells[place]
    head = (cell.column or "").strip()
    if head and (_SETTINGS.search(head) or _BESIDE.search(head)):
        return False
    return place > 0 or _FIGURE.fullmatch(cell.text.strip()) is not None


def _drop_counts(passage: Passage, results: list[tuple[Quantity, int]]) -> list[tuple[Quantity, int]]:
    """Leave out bare whole numbers beside shares: "9 | 24 | 37.5 %" reports one figure. Those under a head such as "Score" stay."""
    has_share = any("%" in one.written or one.n is not None for one, _ in results)
    return [
        (one, place)
        for one, place in results
        if not has_share or "%" in one.written or not one.written.strip().isdigit() or _SCORED.search(passage.cells[place].column or "")
    ]


def _by_column(passage: Passage, results: list[tuple[Quantity, int]], models: Models) -> Choice:
    own: list[Own] = []
    others: list[Comparison] = []
    for quantity, place in results:
        cell = passage.cells[place]
        heads = find_parties(cell.column or "", models)
        named = models.find(cell.column or "")
        if not heads or heads[-1].is_own:
            own.append(Own(quantity=quantity, model=named[-1].name if named else None, column=cell.column))
        else:
            others.append(Comparison(subject=heads[-1].name or cell.column or "", value=quantity.value, words=quantity.written))
    named_own = [one for one in own if one.model]
    if named_own or others:
        own = named_own
    beside = [
        replace(one, comparisons=(*others, *(_as_comparison(other) for other in own if other is not one and other.model != one.model)))
        for one in own
    ]
    return Choice(own=tuple(beside), others=tuple(others))


def _as_comparison(one: Own) -> Comparison:
    return Comparison(subject=one.model or one.column or "", value=one.quantity.value, words=one.quantity.written)


def _by_label(passage: Passage, results: list[tuple[Quantity, int]], around: Around, models: Models) -> Choice:
    """Return the figures as own unless the label names something else; rows beside it give the comparisons."""
    label = _read_label(passage, models)
    parties = find_parties(label, models)
    if parties and not any(one.is_own for one in parties):
        others = tuple(Comparison(subject=parties[0].name or label, value=one.value, words=one.written) for one, _ in results)
        return Choice(own=(), others=others)
    named = [one for one in models.find(label) if one.is_own]
    model = named[-1].name if named else None
    own = tuple(
        Own(
            quantity=one,
            model=model,
            column=passage.cells[place].column,
            comparisons=_from_rows(passage, place, one, around, models) if named else (),
        )
        for one, place in results
    )
    return Choice(own=own, others=tuple(dict.fromkeys(beside for one in own for beside in one.comparisons)))


def _read_label(passage: Passage, models: Models) -> str:
    """Return the first cell that is not empty, and where a model's name was torn into two cells, the whole name."""
    label = next((cell.text for cell in passage.cells if cell.text.strip()), "")
    first = next(iter(models.find(passage.words)), None)
    is_torn = first is not None and first.start == 0 and len(label) < first.stop and not find_parties(label, models)
    return passage.words[: first.stop] if first is not None and is_torn else label


def _from_rows(passage: Passage, place: int, quantity: Quantity, around: Around, models: Models) -> tuple[Comparison, ...]:
    """Return what the same column says in rows that name other models or baselines."""
    found = []
    for row in around.block(passage):
        if row.kind is not PassageKind.ROW or row.start == passage.start or len(row.cells) != len(passage.cells):
            continue
        parties = find_parties(row.cells[0].text, models)
        cell = row.cells[place]
        if parties and not any(one.is_own for one in parties) and _FIGURE.search(cell.text):
            found.append(Comparison(subject=parties[0].name or row.cells[0].text, value=_read(cell, quantity), words=cell.text))
    return tuple(found)


def _read(cell: Cell, like: Quantity) -> float | None:
    """Return the first number of the cell in the unit of the figure beside it."""
    found = re.search(r"[-−]?\d{1,7}(?:\.\d{1,6})?", cell.text.replace(",", ""))
    if found is None or "/" in cell.text:
        return None
    number = float(found[0].replace("−", "-"))
    is_percent = "%" in cell.text or (
        like.unit is Unit.SHARE and "%" not in like.written and like.value is not None and like.value <= 1 < number
    )
    return round(number / 100, 12) if is_percent else number


def _sort_uncelled(passage: Passage, quantities: tuple[Quantity, ...], around: Around, models: Models) -> Choice:
    """Sort a row whose cells cannot be told apart by the order of the models its head names."""
    heads = [one for row in around.block(passage) if row.kind is PassageKind.HEAD for one in models.find(row.words)]
    labels = find_parties(passage.words[: quantities[0].start], models) if quantities else ()
    if labels and not any(one.is_own for one in labels):
        return Choice(
            own=(), others=tuple(Comparison(subject=labels[0].name or "", value=one.value, words=one.written) for one in quantities)
        )
    if labels or len(heads) != len(quantities):
        named = [one for one in models.find(passage.words) if one.is_own]
        return Choice(own=tuple(Own(quantity=one, model=named[0].name if named else None, column=None) for one in quantities))
    pairs = list(zip(quantities, heads, strict=True))
    others = tuple(Comparison(subject=head.written, value=one.value, words=one.written) for one, head in pairs if not head.is_own)
    own = tuple(Own(quantity=one, model=head.name, column=head.written, comparisons=others) for one, head in pairs if head.is_own)
    return Choice(own=own, others=others)
