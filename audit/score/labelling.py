"""Responses for a person to label, shuffled and without arm or context; and the labels that come back.

Names and order of the items follow from a seed that is kept in the run folder alone, so a sheet tells nothing of where a response comes
from, and its labels find their responses again.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from audit.replay.store import RunStore
from audit.score.scorers import digest_scorer
from audit.score.station import keep_scorer
from registry.errors import Fault, InputError, NotFoundError
from registry.records.replay import Task
from registry.records.score import Score
from registry.records.scorer import LabelScorer

SHEET_COLUMNS = ("sheet", "item", "task", "response", "label")
ANSWER_COLUMNS = ("sheet", "item", "label")
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""No vowels and no digits: a name of them is never a word, a number or a date to a spreadsheet."""

_LENGTH = 12
_TRUTH = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetRow:
    """One response, as the labeller sees it."""

    sheet: str
    """Which sheet it stands on; the run folder knows its seed by this."""
    item: str
    task: str
    """The task's prompt, without the context around it."""
    response: str


def draw_sheet(store: RunStore, tasks: Mapping[str, Task], *, seed: str, items: int | None = None) -> list[SheetRow]:
    """Return the answered responses of the run in an order of chance, and keep *seed* in the run folder.

    Args:
        store: the run folder's.
        tasks: by identifier, those that were asked.
        seed: a text that nobody can guess; the same makes the same sheet.
        items: how many, drawn by chance; None for all.

    Raises:
        InputError: no response was answered.
    """
    sheet = _digest(seed, "sheet")[:16]
    store.put_document(f"label-sheet-{sheet}", {"seed": seed})
    found = sorted(_list_answered(store), key=lambda one: _digest(seed, f"order:{one[0]}"))
    if not found:
        advice = "caveat audit run makes the calls that are left"
        raise InputError(Fault(code="no-answers", where=str(store.path), found="no call of the run was answered", advice=advice))
    return [
        SheetRow(sheet=sheet, item=_name(seed, key), task=tasks[task].prompt, response=_get_text(store, key)) for key, task in found[:items]
    ]


def take_labels(store: RunStore, scorer: LabelScorer, rows: Sequence[tuple[str, Mapping[str, str]]]) -> int:
    """Keep the labels in *rows* as scores, and return how many there were; a response without a label stays unscored.

    Args:
        store: the run folder's.
        scorer: whose scores they become.
        rows: of the answers, each with its place in the file: `sheet`, `item` and `label`.

    Raises:
        NotFoundError: a sheet is not of this run folder.
        InputError: an unknown item, one that is answered twice, a label that is no number, or no label at all.
    """
    known = _find_items(store, {fields["sheet"].strip() for _, fields in rows})
    faults: list[Fault] = []
    scores: dict[str, Score] = {}
    digest = digest_scorer(scorer)
    for where, fields in rows:
        if not fields["label"].strip():
            continue
        key, label = known.get((fields["sheet"].strip(), fields["item"].strip())), _parse(fields["label"])
        if key is None:
            faults.append(Fault(code="unknown-item", where=where, found=f"no response is called {fields['item'][:40]!r} on this sheet"))
        elif label is None:
            faults.append(Fault(code="score-not-number", where=where, found=f"expected a number, found {fields['label'][:40]!r}"))
        elif key in scores:
            faults.append(Fault(code="answer-twice", where=where, found=f"{fields['item']} is labelled twice", advice="keep one label"))
        else:
            scores[key] = Score(response=key, scorer=digest, score=label, detail={"item": fields["item"].strip()})
    if not faults and not scores:
        faults.append(Fault(code="no-answers", where="the sheet", found="it holds no label", advice="fill in the column label"))
    if faults:
        raise InputError(faults)
    keep_scorer(store, scorer)
    store.add_scores(scores.values())
    return len(scores)


def _list_answered(store: RunStore) -> Iterator[tuple[str, str]]:
    """Give the key of every answered response with its task, each once."""
    seen = set()
    for cell, key in store.list_cells():
        response = None if key in seen else store.find_response(key)
        seen.add(key)
        if response is not None and response.failure is None:
            yield key, cell.task_id


def _find_items(store: RunStore, sheets: set[str]) -> dict[tuple[str, str], str]:
    """Return the key of the response by sheet and item."""
    found = {}
    for sheet in sorted(sheets):
        document = store.find_document(f"label-sheet-{sheet}")
        if document is None:
            advice = "give the answers to a sheet that caveat score RUN --sheet wrote"
            raise NotFoundError(Fault(code="other-key", where=str(store.path), found=f"no sheet {sheet!r} was drawn here", advice=advice))
        found.update({(sheet, _name(document["seed"], key)): key for key, _ in _list_answered(store)})
    return found


def _get_text(store: RunStore, key: str) -> str:
    response = store.find_response(key)
    return (response.text if response else None) or ""


def _name(seed: str, key: str) -> str:
    number = int(_digest(seed, f"item:{key}"), 16)
    return "".join(_LETTERS[number // len(_LETTERS) ** place % len(_LETTERS)] for place in range(_LENGTH))


def _digest(seed: str, text: str) -> str:
    return hashlib.sha256(f"{seed}:{text}".encode()).hexdigest()


def _parse(text: str) -> float | None:
    word = text.strip().casefold()
    try:
        number = _TRUTH[word] if word in _TRUTH else float(word) if "_" not in word else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None
