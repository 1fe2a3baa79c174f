"""From a scorer's record to the code that applies it, and the scores it gives a run; a person's labels too."""

import hashlib
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, cast

from audit.replay.run_rows import TableRow, is_never_settled, list_tests
from audit.replay.run_store import RunStore, Score
from audit.score.answer_extraction import (
    Marker,
    ResponseMark,
    build_choice_marker,
    build_number_marker,
    build_pattern_marker,
    build_score,
    check_answers,
    check_choices,
    check_patterns,
    remark_patterns,
)
from audit.statistics.design_remarks import DesignRemark
from registry.codec.canonical_documents import Json, canonical_bytes, from_document, to_document
from registry.errors import Fault, InputError, NotFoundError
from registry.records.replay_run import Task
from registry.records.specification import ChoiceScorer, JudgeScorer, LabelScorer, NumberScorer, PatternScore, PatternScorer, Scorer

# From a scorer's record to its implementation. No other module selects an implementation.
#
# Deterministic scorers are functions of a task and a text (`build_marker`). A judge needs calls to a model and is in
# `audit.score.judging`. Both write scores under the scorer's digest, so that scores of different scorers are kept side
# by side.

Deterministic = PatternScorer | ChoiceScorer | NumberScorer
"""Scorers that give the same response the same score, always and everywhere."""


def digest_scorer(scorer: Scorer) -> str:
    """Return the SHA-256 of the scorer's canonical document, hexadecimal: its name in the store."""
    # Any change of the scorer is another scorer: its scores never mix with earlier ones.
    return hashlib.sha256(canonical_bytes(to_document(scorer))).hexdigest()


def is_deterministic(scorer: Scorer) -> TypeGuard[Deterministic]:
    """Whether *scorer* asks neither a model nor a person."""
    return not isinstance(scorer, JudgeScorer | LabelScorer)


def read_scorer(document: Json, *, where: str) -> Scorer:
    """Return the scorer that *document* describes; raises InputError with every fault, *where* being what the document is."""
    return cast("Scorer", from_document(cast("type", Scorer), document, where=where))


def get_judge(scorer: Scorer) -> str | None:
    """Return the model that *scorer* asks; None for one that asks none."""
    return scorer.model if isinstance(scorer, JudgeScorer) else None


def list_dimensions(scorer: Scorer) -> tuple[str, ...]:
    """Return the names of the rates or ratings that scores of *scorer* carry."""
    match scorer:
        case PatternScorer():
            return "expected_rate", "anti_rate"
        case JudgeScorer():
            return tuple(dimension.name for dimension in scorer.dimensions)
        case ChoiceScorer() | NumberScorer() | LabelScorer():
            return ()


def list_marks(scorer: Scorer) -> tuple[str, ...]:
    """Return the names of what scores of *scorer* note of every response, true or false."""
    return ("judge_saw_all", "mentions_scoring") if isinstance(scorer, JudgeScorer) else ()


def build_marker(scorer: Deterministic) -> Marker:
    """Return the function that carries *scorer* out.

    Raises:
        InputError: a pattern of the scorer is empty, or cannot be what it is for.
    """
    match scorer:
        case PatternScorer():
            return build_pattern_marker(scorer)
        case ChoiceScorer():
            return build_choice_marker(scorer)
        case NumberScorer():
            return build_number_marker(scorer)


def check_scorable(scorer: Scorer, tasks: Sequence[Task]) -> None:
    """Refuse tasks that *scorer* cannot score, before or after they are asked.

    A person can score any, and so can a judge that is not to be shown the right answer.

    Raises:
        InputError: with every task that has no answer, none of its options, no patterns or an empty one.
    """
    match scorer:
        case PatternScorer():
            faults = list(check_patterns(scorer, tasks))
        case ChoiceScorer():
            faults = list(check_choices(tasks))
        case NumberScorer():
            faults = list(check_answers(tasks))
        case JudgeScorer():
            faults = list(_check_shown(tasks)) if scorer.show_answer else []
        case LabelScorer():
            faults = []
    if faults:
        raise InputError(faults)


def _check_shown(tasks: Sequence[Task]) -> Iterator[Fault]:
    for task in tasks:
        if not (task.answer or "").strip():
            problem = "the judge is to be shown the right answer (show_answer), and the task has none"
            yield Fault("task-not-scorable", f"task {task.id}", problem, advice="give it `answer`, or leave show_answer out")


def remark_scorer(scorer: Scorer, tasks: Sequence[Task]) -> list[DesignRemark]:
    """Return what a reader must know of scorer and tasks, such as patterns that match their own task's prompt."""
    return list(remark_patterns(scorer, tasks)) if isinstance(scorer, PatternScorer) else []


# The procedure in words, for the provenance: what a reader of a supplement needs to doubt a score.

_MEANING = {
    PatternScore.HIT_RATE: "the score is the share of the expected patterns that match",
    PatternScore.ALL_EXPECTED: "counts as a hit if every expected pattern matches",
    PatternScore.ANY_EXPECTED: "counts as a hit if any expected pattern matches",
    PatternScore.ANY_ANTI: "counts as a hit if any excluded pattern matches",
    PatternScore.NO_ANTI: "counts as a hit if no excluded pattern matches",
}
_MOST_SHOWN = 5
_LONGEST_SHOWN = 120


def describe_procedure(scorer: Scorer, tasks: Collection[Task]) -> str:
    """Return what *scorer* does, to follow its name: begins with a colon, empty where the name says it all.

    Args:
        scorer: any but a judge, which has an account of its own.
        tasks: those that were asked; their own patterns go before those of the scorer.
    """
    match scorer:
        case PatternScorer():
            texts = [_MEANING[scorer.score], *_describe_patterns("expected", scorer.expected, [task.expected for task in tasks])]
            texts += [*_describe_patterns("excluded", scorer.anti, [task.anti for task in tasks]), f"{scorer.time_limit_s:g} s for a match"]
            return f": {', '.join(texts)}"
        case ChoiceScorer() | NumberScorer():
            read = f"pattern {_shorten(scorer.pattern)}" if scorer.pattern else "Caveat's own reading"
            texts = [f"read by {read}", f"a response without one is {scorer.unextracted}"]
            if isinstance(scorer, NumberScorer):
                texts.append(f"within {scorer.absolute_tolerance:g}, or {scorer.relative_tolerance:g} × the answer")
            return f": {', '.join(texts)}"
        case _:
            return ""


def _describe_patterns(kind: str, common: tuple[str, ...], own: list[tuple[str, ...]]) -> Iterator[str]:
    """Give where the patterns of one kind come from; they themselves where they are few."""
    with_own = sum(map(bool, own))
    used = dict.fromkeys(pattern for patterns in own for pattern in patterns)
    if with_own < len(own):
        used |= dict.fromkeys(common)
    if not used:
        return
    whose = (
        "for all tasks" if not with_own else "of the tasks" if with_own == len(own) else f"of {with_own} tasks, and one set for the others"
    )
    shown = f" {' | '.join(map(_shorten, used))}" if len(used) <= _MOST_SHOWN else f" ({len(used)} patterns, in the run folder)"
    yield f"{kind} {whose}:{shown}"


def _shorten(pattern: str) -> str:
    return pattern if len(pattern) <= _LONGEST_SHOWN else f"{pattern[:_LONGEST_SHOWN]}…"


# Whether more text could change the score of a truncated response. Each kind of scorer declares only what no further
# text can undo.
#
# A pattern that matched keeps matching when text is added, unless it looks at what follows. Options, numbers,
# judgements and labels may always change, because a later statement wins over an earlier one.

_LOOKS_AHEAD = re.compile(r"\$|\\[Zz]|\(\?[=!>]|[*+?}]\+|\(\?\(")
"""Ends of text or line, lookahead, atomic groups and possessive quantifiers, conditions: what follows may undo a match.
A sign that is meant literally is taken for the construct too: then less is declared, never more."""


def build_settled(scorer: Scorer) -> Callable[[TableRow], bool]:
    """Return what decides of a truncated response whether its score by *scorer* can no longer change."""
    match scorer:
        case PatternScorer():
            return lambda row: _is_pattern_settled(scorer.score, row)
        case ChoiceScorer() | NumberScorer() | JudgeScorer() | LabelScorer():
            return is_never_settled


def _is_pattern_settled(score: PatternScore, row: TableRow) -> bool:
    """Tell whether matches that stay decide the score."""
    if row.score is None or row.score.score is None or row.response.text is None:
        return False
    kind = "anti" if score in (PatternScore.ANY_ANTI, PatternScore.NO_ANTI) else "expected"
    length = len(row.response.text)
    lasting = [_is_lasting(test, length) for test in list_tests(row.score) if test.get("kind") == kind]
    match score:
        # One lasting match decides these scores. The other two are decided only if all patterns have matched for good.
        case PatternScore.ANY_EXPECTED | PatternScore.ANY_ANTI | PatternScore.NO_ANTI:
            return any(lasting)
        case PatternScore.ALL_EXPECTED | PatternScore.HIT_RATE:
            return bool(lasting) and all(lasting)


def _is_lasting(test: Mapping[str, Any], length: int) -> bool:
    """Tell whether a match stays whatever text is added: a literal one, or one of a pattern that looks at nothing behind its end.

    At least one character must follow the match, so that a word boundary at its end was seen.
    """
    if not test.get("matched"):
        return False
    if test.get("literal"):
        return True
    end = test.get("end")
    return isinstance(end, int) and end < length and not _LOOKS_AHEAD.search(str(test.get("pattern", "")))


# Scoring of a run by a deterministic scorer. No call is made, and repeating it changes nothing.

_BATCH = 500
"""Scores in one transaction."""


def keep_scorer(store: RunStore, scorer: Scorer) -> str:
    """Keep the document of *scorer* in the run folder, so that its scores can be read without the file; return its digest."""
    digest = digest_scorer(scorer)
    store.put_document(f"scorer-{digest}", to_document(scorer))
    return digest


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmarkedResponse:
    """A response that a scorer is to read."""

    key: str
    task: Task
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedResponse:
    """A response with what the scorer read in it."""

    response: UnmarkedResponse
    mark: ResponseMark


MarkAll = Callable[[Deterministic, Iterable[UnmarkedResponse]], Iterable[MarkedResponse]]
"""Reads responses and gives them in the same order: `mark_here`, or the workers of a fleet."""


def mark_here(scorer: Deterministic, responses: Iterable[UnmarkedResponse]) -> Iterator[MarkedResponse]:
    """Give *responses* with what *scorer* reads in them."""
    mark = build_marker(scorer)
    return (MarkedResponse(response=response, mark=mark(response.task, response.text)) for response in responses)


def score_run(
    store: RunStore,
    scorer: Deterministic,
    tasks: Mapping[str, Task],
    *,
    advance: Callable[[int], None] = lambda _more: None,
    mark_all: MarkAll = mark_here,
) -> int:
    """Score every answered response of the replay, and return how many scores are new or differ from the one that counted.

    An earlier score of the same scorer stays in the folder; the latest counts. Failed calls get no score: the table excludes them by
    the code of their failure.

    Args:
        store: the run folder's.
        scorer: what to score by.
        tasks: by identifier, those that were asked.
        advance: receives how many more cells are done.
        mark_all: who reads the responses.

    Raises:
        InputError: the scorer or a task cannot be what scoring needs, or two tasks that are scored differently share a response.
    """
    # Before the first score: a task that cannot be scored would otherwise leave a run half scored.
    check_scorable(scorer, list(tasks.values()))
    digest = keep_scorer(store, scorer)
    batch: list[Score] = []
    changed = 0
    for marked in mark_all(scorer, _list_unmarked(store, tasks, advance)):
        key = marked.response.key
        score = build_score(marked.mark, response=key, scorer=digest)
        # Only new or changed scores are written, since the store never removes one.
        if store.find_scores(digest, key) != [score]:
            batch.append(score)
        if len(batch) >= _BATCH:
            changed += _flush(store, batch)
    return changed + _flush(store, batch)


def _list_unmarked(store: RunStore, tasks: Mapping[str, Task], advance: Callable[[int], None]) -> Iterator[UnmarkedResponse]:
    """Give every answered response of the run with its task, each once."""
    seen: dict[str, Task] = {}
    for cell, key in store.list_cells():
        task = tasks[cell.task_id]
        response = store.find_response(key)
        if response is not None and response.text is not None and _is_first(seen, key, task, store):
            yield UnmarkedResponse(key=key, task=task, text=response.text)
        advance(1)


def _flush(store: RunStore, batch: list[Score]) -> int:
    count = len(batch)
    store.add_scores(batch)
    batch.clear()
    return count


def _is_first(seen: dict[str, Task], key: str, task: Task, store: RunStore) -> bool:
    """Tell whether *key* comes for the first time; two tasks may share a response only if they are scored alike."""
    other = seen.setdefault(key, task)
    if other is task:
        return True
    # One response with two scores has no defined place in the table.
    if (other.options, other.answer, other.expected, other.anti) != (task.options, task.answer, task.expected, task.anti):
        problem = f"tasks {other.id} and {task.id} ask the same and are scored differently, so their shared responses have no one score"
        raise InputError(Fault("task-not-scorable", str(store.path), problem, advice="give them different prompts"))
    return False


# Responses for a person to label, shuffled and without arm or context, and the labels that come back.
#
# Names and order of the items follow from a seed that only the run folder holds. A sheet therefore shows nothing about
# a response's origin, and its labels still find their responses.

SHEET_COLUMNS = ("sheet", "item", "task", "response", "label")
ANSWER_COLUMNS = ("sheet", "item", "label")
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""No vowels and no digits: a name of them is never a word, a number or a date to a spreadsheet."""

_LENGTH = 12
_TRUTH = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSheetRow:
    """One response, as the labeller sees it."""

    sheet: str
    """Which sheet it stands on; the run folder knows its seed by this."""
    item: str
    task: str
    """The task's prompt, without the context around it."""
    response: str


def sample_sheet(store: RunStore, tasks: Mapping[str, Task], *, seed: str, items: int | None = None) -> list[LabelSheetRow]:
    """Return the answered responses of the run in an order of chance, and keep *seed* in the run folder.

    Args:
        store: the run folder's.
        tasks: by identifier, those that were asked.
        seed: a text that cannot be guessed; the same makes the same sheet.
        items: how many, sampled by chance; None for all.

    Raises:
        InputError: no response was answered.
    """
    # The sheet's name is a digest of the seed, so that it does not reveal the order of the items.
    sheet = _digest(seed, "sheet")[:16]
    store.put_document(f"label-sheet-{sheet}", {"seed": seed})
    # A keyed hash in place of a random generator: the same seed makes the same sheet again, on any machine.
    answered = sorted(_list_answered(store), key=lambda pair: _digest(seed, f"order:{pair[0]}"))
    if not answered:
        advice = "caveat audit run makes the calls that are left"
        raise InputError(Fault("no-answers", str(store.path), "no call of the run was answered", advice=advice))
    return [
        LabelSheetRow(sheet=sheet, item=_name(seed, key), task=tasks[task].question, response=_get_text(store, key))
        for key, task in answered[:items]
    ]


def take_labels(store: RunStore, scorer: LabelScorer, rows: Sequence[tuple[str, Mapping[str, str]]]) -> int:
    """Keep the labels in *rows* as scores, and return how many there were; a response without a label stays unscored.

    Args:
        store: the run folder's.
        scorer: the one that they become scores of.
        rows: of the answers, each with its place in the file: `sheet`, `item` and `label`.

    Raises:
        NotFoundError: a sheet is not of this run folder.
        InputError: an unknown item, one that is answered twice, a label that is not a number, or no label at all.
    """
    items = _find_items(store, {fields["sheet"].strip() for _, fields in rows})
    faults: list[Fault] = []
    scores: dict[str, Score] = {}
    digest = digest_scorer(scorer)
    for where, fields in rows:
        # An empty label is an item that was not reached. It stays unscored and is no error.
        if not fields["label"].strip():
            continue
        key, label = items.get((fields["sheet"].strip(), fields["item"].strip())), _parse(fields["label"])
        if key is None:
            faults.append(Fault("unknown-name", where, f"no response is called {fields['item'][:40]!r} on this sheet"))
        elif label is None:
            faults.append(Fault("score-not-number", where, f"expected a number, found {fields['label'][:40]!r}"))
        elif key in scores:
            faults.append(Fault("duplicate", where, f"{fields['item']} is labelled twice"))
        else:
            scores[key] = Score(response=key, scorer=digest, score=label, detail={"item": fields["item"].strip()})
    if not faults and not scores:
        faults.append(Fault("no-answers", "the sheet", "it holds no label", advice="fill in the column label"))
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
    keys = {}
    for sheet in sorted(sheets):
        document = store.find_document(f"label-sheet-{sheet}")
        if document is None:
            advice = "give the answers to a sheet that caveat audit score RUN --sheet wrote"
            raise NotFoundError(Fault("wrong-sheet-key", str(store.path), f"no sheet {sheet!r} was made here", advice=advice))
        keys.update({(sheet, _name(document["seed"], key)): key for key, _ in _list_answered(store)})
    return keys


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
        # Python reads "1_000" as a number; in a table it is a typing error.
        number = _TRUTH[word] if word in _TRUTH else float(word) if "_" not in word else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None
