"""A scored run as evidence: its checked table with provenance and accounts, and its summary side by side."""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from audit.records.model_response import ExcludedResponses, ImportedFile, ImportedLog, ReplayCell
from audit.replay.call_engine import UNSENT
from audit.replay.replay_design import list_cells
from audit.replay.replay_provenance import build_provenance
from audit.replay.run_rows import CUT, NOT_SCORED, TableRow, find_repeated_contexts, list_rows, read_clusters, read_contexts, write_table
from audit.replay.run_store import DATABASE, RunStore, get_replay, get_tasks, open_store
from audit.score.answer_extraction import NOT_FOUND
from audit.score.judging import account_judging, describe_judge, describe_repeats
from audit.score.scorers import build_settled, describe_procedure, digest_scorer, get_judge, list_dimensions, list_marks, read_scorer
from audit.sources.log_rows import list_several_models
from audit.sources.score_table import find_alike_tasks, note_near_duplicates, read_table
from audit.statistics.design_remarks import DesignRemark
from audit.statistics.mean_intervals import list_beyond_prefix
from audit.statistics.responses import ScoreTable, TableFile
from registry.errors import ConflictError, Fault, InputError
from registry.records.specification import JudgeScorer, LabelScorer, Scorer, reads_only_response

# Counts of a scored run by side. They show what makes two sides differ for another reason than the model.

UNEQUAL = 0.05
"""Shares of two sides that differ by more than this are told."""

Side = tuple[str, str | None, str | None]
"""Arm, P_deploy specification, edit."""


@dataclass(slots=True, kw_only=True)
class SideCounts:
    """Counts of one side; scorings where a judge repeats, otherwise responses."""

    rows: int = 0
    scored: int = 0
    total: float = 0.0
    """Sum of the scores."""
    excluded: Counter[str] = field(default_factory=Counter)
    """Rows without a score, by reason."""
    unanswered: int = 0
    """Cells of the design whose call was never answered; they are no rows."""
    cut: int = 0
    """Answers that ended at the limit of tokens; the scorer gets them as they are."""
    refused: int = 0
    """Answers with the stop reason `refusal`; the scorer gets them as they are."""
    empty: int = 0
    """Answers without a word; the scorer gets them as they are."""

    @property
    def mean(self) -> float | None:
        """Mean of the scores; None without any. Φ weighs tasks alike, which this does not."""
        return self.total / self.scored if self.scored else None

    @property
    def answered(self) -> int:
        """Rows of answers, not of failed calls."""
        return self.rows - sum(count for reason, count in self.excluded.items() if reason in self.failed)

    failed: set[str] = field(default_factory=set)
    """Reasons that are codes of failed calls."""


def tally_rows(rows: Iterable[TableRow | ReplayCell]) -> dict[Side, SideCounts]:
    """Return the counts of each side, in the order of names; *rows* are read once, whatever their number."""
    counts: dict[Side, SideCounts] = {}
    for _ in watch_rows(rows, counts):
        pass
    return sort_sides(counts)


def watch_rows(rows: Iterable[TableRow | ReplayCell], counts: dict[Side, SideCounts]) -> Iterator[TableRow | ReplayCell]:
    """Give *rows* on while they are counted into *counts*."""
    for row in rows:
        cell = row.cell if isinstance(row, TableRow) else row
        tally = counts.setdefault((cell.arm, cell.spec, cell.cue_removed), SideCounts())
        if isinstance(row, TableRow):
            _count(tally, row)
        else:
            tally.unanswered += 1
        # Rows pass through one by one, so a table of any size is counted while it is written.
        yield row


def sort_sides(counts: Mapping[Side, SideCounts]) -> dict[Side, SideCounts]:
    """Return the counts in the order of their sides' names."""
    return dict(sorted(counts.items(), key=lambda pair: tuple(name or "" for name in pair[0])))


def remark_sides(tallies: Mapping[Side, SideCounts]) -> Iterator[DesignRemark]:
    """Give what differs between sides, or is missing, so that their scores may differ for another reason than the model."""
    waiting = sum(tally.unanswered for tally in tallies.values())
    if waiting:
        yield DesignRemark(code="unanswered", message=f"{waiting:,} planned calls were never answered; they are no rows of the table")
    unscored = sum(counts.excluded[NOT_SCORED] for counts in tallies.values())
    if unscored:
        yield DesignRemark(code=NOT_SCORED, message=f"{unscored:,} responses are not scored yet")
    shares: tuple[tuple[str, str, Callable[[SideCounts], int]], ...] = (
        ("unequal-truncation", "answers cut at the limit of tokens", lambda counts: counts.cut),
        ("unequal-unextracted", "answers without an extracted option or number", lambda counts: counts.excluded[NOT_FOUND]),
        ("unequal-refusals", "refusals", lambda counts: counts.refused),
        ("unequal-empty", "empty answers", lambda counts: counts.empty),
    )
    # Failed calls are not answers; they would lower every share.
    sides = [(side, counts) for side, counts in tallies.items() if counts.answered > 0]
    for code, what, count in shares:
        rows = [(count(counts) / counts.answered, count(counts), counts.answered, side) for side, counts in sides]
        rates = [row[0] for row in rows]
        if len(rates) > 1 and max(rates) - min(rates) > UNEQUAL:
            parts = ", ".join(f"{name_side(side)} {some} of {all_}" for _, some, all_, side in rows)
            yield DesignRemark(code=code, message=f"{what} differ between the sides: {parts}; this by itself can make their scores differ")


def name_side(side: Side) -> str:
    """Return a side as a person reads it: `deploy`, `deploy chat`, `test without eval-word`."""
    arm, spec, edit = side
    return " ".join((arm, *([spec] if spec else []), *([f"without {edit}"] if edit else [])))


def describe_sides(tallies: Mapping[Side, SideCounts]) -> Sequence[dict[str, object]]:
    """Return the counts of each side as JSON values."""
    return [
        {
            "arm": side[0],
            "spec": side[1],
            "cue_removed": side[2],
            "rows": tally.rows,
            "scored": tally.scored,
            "mean": tally.mean,
            "excluded": dict(sorted(tally.excluded.items())),
            "unanswered": tally.unanswered,
            "cut": tally.cut,
            "refused": tally.refused,
            "empty": tally.empty,
        }
        for side, tally in tallies.items()
    ]


def _count(tally: SideCounts, row: TableRow) -> None:
    response = row.response
    tally.rows += 1
    if row.value is not None:
        tally.scored += 1
        tally.total += row.value
    elif reason := row.excluded_reason:
        tally.excluded[reason] += 1
    if response.failure is not None:
        tally.failed.add(response.failure.code)
        return
    tally.cut += response.stop_reason in CUT
    tally.refused += response.stop_reason == "refusal"
    tally.empty += not (response.text or "").strip()


# A run folder as evidence. The scores are those of the claim's registered procedure, else of the replay's scorer. The
# table is made again from the stored responses, so an edited `scores.csv` is refused. One run may answer to several
# locks. Cost: one more pass over the folder.

TABLE = "scores.csv"
FORMAT = "caveat-run/1"
UNANSWERED = "unanswered"
"""Reason of a planned call that has no response."""
BEYOND_PREFIX = "beyond-prefix"
"""Reason of a response that came before the replay was stopped, to a task after the first that is not complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvidence:
    """What a run folder holds, for an audit."""

    table: ScoreTable
    source: str
    imported: ImportedLog
    audits: tuple[str, ...]
    """The audits whose locks the replay says that it answers to."""


def count_unanswered(imported: ImportedLog) -> int:
    """Return how many planned calls of run folders were never answered, as their accounts say."""
    return sum(
        responses.count for file in imported.files if file.format == FORMAT for responses in file.excluded if responses.reason == UNANSWERED
    )


def is_run(path: str | Path) -> bool:
    """Return whether *path* is a run folder."""
    return (Path(path) / DATABASE).is_file()


def list_beyond(store: RunStore, seed: int) -> frozenset[str]:
    """Return the tasks that do not count under anytime intervals because the run was stopped: those after the longest complete prefix.

    A task is complete when each of its calls has an outcome: an answer, or a failure that is not sent again by itself.

    Args:
        store: the run folder's.
        seed: the plan's, which orders the tasks.
    """
    tasks = get_tasks(store)
    open_ids: set[str] = set()
    asked: dict[str, None] = {}
    for cell, key in store.list_cells():
        asked[cell.task_id] = None
        outcomes = store.find_outcomes([key])
        if not outcomes or outcomes[key] in UNSENT:
            open_ids.add(cell.task_id)
    if not open_ids:
        return frozenset()
    families = [tasks[task_id].family or task_id for task_id in asked]
    return frozenset(list_beyond_prefix(list(asked), open_ids, seed=seed, families=families))


def drop_beyond(table: ScoreTable, beyond: Collection[str]) -> ScoreTable:
    """Return *table* without the rows of the tasks *beyond* the prefix."""
    gone = np.asarray([label in beyond for label in table.task.labels], dtype=bool)
    return table.keep(~gone[table.task.codes]) if gone.any() else table


def read_run(
    folder: Path, *, low: float, high: float, unfinished: bool = False, scorer: Scorer | None = None, prefix_seed: int | None = None
) -> RunEvidence:
    """Return the scores of the run in *folder*, with what it says of itself.

    Args:
        folder: the run folder.
        low: lowest possible score.
        high: highest possible score.
        unfinished: take it also with planned calls that were never answered, or with responses that were never scored.
        scorer: the one that gave the scores; None for the replay's own, or the only one where the replay names none.
        prefix_seed: of a plan with anytime intervals: only the longest complete prefix of its order counts. None: all counts.

    Raises:
        NotFoundError: the folder holds no run.
        ConflictError: the run is not finished, not scored, or its `scores.csv` was changed.
        TableError: a score lies outside the range.
    """
    store = open_store(folder)
    try:
        beyond = frozenset() if prefix_seed is None else list_beyond(store, prefix_seed)
        return _read_run(store, folder, scorer or find_scorer(store), (low, high), unfinished=unfinished, beyond=beyond)
    finally:
        store.close()


def find_scorer(store: RunStore) -> Scorer:
    """Return the scorer that gave a run's scores: the replay's own, or the only one; raises ConflictError where that is undecided."""
    replay, known = get_replay(store), store.list_scorers()
    if replay.scoring is not None:
        return replay.scoring
    if len(known) != 1:
        problem = f"the replay names no scorer, and {len(known) or 'none'} scored it"
        advice = "name the scorer in the replay" if known else f"caveat audit score {store.path.parent} --scorer FILE"
        raise ConflictError(Fault("run-not-scored", str(store.path.parent), problem, advice=advice))
    return read_scorer(store.find_document(f"scorer-{known[0]}"), where=f"{store.path}, scorer")


def _read_run(
    store: RunStore, folder: Path, scorer: Scorer, range_: tuple[float, float], *, unfinished: bool, beyond: frozenset[str]
) -> RunEvidence:
    # `scores.csv` in the folder belongs to the replay's own scorer. For another scorer there is nothing to compare.
    is_own = get_replay(store).scoring in (None, scorer)
    account = _account(store, folder, scorer, beyond)
    _check_planned(store, folder)
    _check_finished(
        account, folder, unfinished=unfinished, command=f"caveat audit score {folder}{'' if is_own else ' --scorer FILE|SCF-…@n'}"
    )
    name = str(folder / TABLE)
    # Written and read back: the table goes through the same reader, and the same checks, as every table from outside.
    with TemporaryDirectory() as place:
        path = Path(place) / TABLE
        rows = list_rows(store, digest_scorer(scorer), judge=get_judge(scorer))
        write_table(
            rows,
            path,
            dimensions=list_dimensions(scorer),
            marks=list_marks(scorer),
            is_settled=build_settled(scorer),
            clusters=read_clusters(store),
        )
        if is_own:
            _check_same(path, folder / TABLE)
        table = drop_beyond(read_table([path], low=range_[0], high=range_[1]), beyond)
    files = tuple(TableFile(name=name, sha256=file.sha256, rows=file.rows) for file in table.files)
    judge, uncertainty = _describe_scorer(store, scorer)
    provenance = build_provenance(store)
    provenance = replace(
        provenance,
        judge=judge,
        judge_uncertainty=uncertainty,
        scorer_reads_response=reads_only_response(scorer),
        repeated_contexts=find_repeated_contexts(store),
        doubts=list_several_models(provenance.models_returned),
    )
    # The run began when its first call was written down. This is recorded by the run itself and not stated by a person.
    imported = ImportedLog(files=(replace(account, sha256=files[0].sha256),), provenance=provenance, started_at=store.find_beginning())
    imported = note_near_duplicates(imported, find_alike_tasks(get_tasks(store).values()))
    return RunEvidence(table=replace(table, files=files), source=name, imported=imported, audits=get_replay(store).audits)


def _describe_scorer(store: RunStore, scorer: Scorer) -> tuple[str, str | None]:
    """Who scored by what, and how far a judge's verdicts on one response vary; None where that is not known."""
    digest = f"SHA-256 of the scorer's document {digest_scorer(scorer)}"
    if not isinstance(scorer, JudgeScorer):
        named = "labels of a person" if isinstance(scorer, LabelScorer) else f"{scorer.kind} scorer, deterministic"
        return f"{named}{describe_procedure(scorer, get_tasks(store).values())}; {digest}", None
    account = account_judging(store, scorer)
    planned = f"{scorer.repeats} verdicts planned on {100 * scorer.repeat_share:g} % of the responses"
    repeats = planned if scorer.repeats > 1 and scorer.repeat_share else "no repeats"
    return f"{describe_judge(scorer, account)}; {repeats}; {digest}", describe_repeats(account)


def _account(store: RunStore, folder: Path, scorer: Scorer, beyond: Collection[str]) -> ImportedFile:
    """Return the counts of the run, of responses and not of scorings; its digest is that of the table, once there is one."""
    count = scored = scorings = void = 0
    excluded: Counter[str] = Counter()
    for cell, group in groupby(list_rows(store, digest_scorer(scorer), judge=get_judge(scorer)), key=_get_cell):
        rows = [row for row in group if isinstance(row, TableRow)]
        if rows and cell.task_id in beyond:
            count += 1
            excluded[BEYOND_PREFIX] += 1
            continue
        failed = [row.excluded_reason or UNANSWERED for row in rows if row.value is None]
        count, scorings = count + 1, scorings + len(rows)
        # A response with at least one valid verdict is scored; its void verdicts are counted apart.
        if len(failed) < len(rows):
            scored, void = scored + 1, void + len(failed)
        else:
            excluded[failed[0] if failed else UNANSWERED] += 1
    several = f"{scorings:,} rows, because some responses were judged several times; of those with a score, {void:,} verdicts have none"
    return ImportedFile(
        name=str(folder),
        sha256="",
        format=FORMAT,
        arm=None,
        declared=count,  # the plan in the folder states every response
        found=count,
        scored=scored,
        excluded=tuple(
            ExcludedResponses(reason=reason, count=excluded[reason], is_row=reason not in (UNANSWERED, BEYOND_PREFIX))
            for reason in _order(excluded)
        ),
        notes=(several,) if isinstance(scorer, JudgeScorer) and scorings > count - excluded[UNANSWERED] else (),
    )


def _get_cell(row: TableRow | ReplayCell) -> ReplayCell:
    return row.cell if isinstance(row, TableRow) else row


def _order(excluded: Counter[str]) -> list[str]:
    """Reasons by name, calls that were never answered last."""
    return sorted((name for name in excluded if excluded[name]), key=lambda name: (name == UNANSWERED, name))


def _check_finished(account: ImportedFile, folder: Path, *, unfinished: bool, command: str) -> None:
    counts = {responses.reason: responses.count for responses in account.excluded}
    waiting, unscored = counts.get(UNANSWERED, 0), counts.get(NOT_SCORED, 0)
    faults = []
    if not account.scored:
        problem = "holds no score by the scorer that is asked for"
        faults.append(Fault("run-not-scored", str(folder), problem, advice=command))
    # Responses without a score are refused by default, because scoring a part could be a choice of the part.
    elif unscored and not unfinished:
        advice = f"{command}, or --unfinished to count them as exclusions"
        faults.append(Fault("run-not-scored", str(folder), f"{unscored:,} responses are not scored", advice=advice))
    if waiting and not unfinished:
        advice = "continue with caveat audit run, or --unfinished to take what there is"
        problem = f"{waiting:,} of {account.found:,} planned calls were never answered"
        faults.append(Fault("run-incomplete", str(folder), problem, advice=advice))
    if faults:
        raise ConflictError(faults)


def _check_planned(store: RunStore, folder: Path) -> None:
    """Raise ConflictError where cells of the replay's design are not in the folder at all.

    What is not there is neither answered nor excluded, so a part of a design would count as the whole. A folder that was fetched from a
    fleet while its plan was being written, or from rows of which some are gone, is such a part.
    """
    replay, tasks = get_replay(store), tuple(get_tasks(store).values())
    there = {cell for cell, _ in store.list_cells()}
    missing = sum(cell not in there for cell in list_cells(replay, tasks, read_contexts(store)))
    if missing:
        problem = f"{missing:,} cells that its replay plans are not in the folder, so it is not known whether they were answered"
        advice = "fetch the run again into another folder, or continue it: caveat audit run REPLAY"
        raise ConflictError(Fault("run-incomplete", str(folder), problem, advice=advice))


def _check_same(made: Path, kept: Path) -> None:
    """A table in the folder that is not what its responses come to was edited, or is older than they are."""
    if kept.is_file() and _digest(kept) != _digest(made):
        problem = "is not what the run's responses and scores come to: it was changed, or is older than they are"
        raise ConflictError(Fault("run-table-differs", str(kept), problem, advice=f"caveat audit score {kept.parent} writes it anew"))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_runs(
    folders: Sequence[str], *, low: float, high: float, unfinished: bool, scorer: Scorer | None = None, prefix_seed: int | None = None
) -> RunEvidence:
    """Return the evidence of one run folder as `read_run`; raises InputError where *folders* names something next to it."""
    if len(folders) != 1:
        problem = "import a run folder by itself: its design has all arms"
        raise InputError(Fault("bad-option", ", ".join(folders), problem, advice="give the run folder and nothing else"))
    return read_run(Path(folders[0]), low=low, high=high, unfinished=unfinished, scorer=scorer, prefix_seed=prefix_seed)
