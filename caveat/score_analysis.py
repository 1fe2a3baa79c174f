"""Scores from files and data frames, the estimate of their difference, and the classification of one claim."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from audit.modules.differential_estimate import estimate as compute_estimate
from audit.protocol.case_outcome import CaseOutcome, run_case
from audit.sources.own_table import table_from_frame
from audit.sources.score_table import read_table
from audit.statistics.responses import ScoreTable
from audit.verdict.case_file import parse_case, read_case
from registry.codec.canonical_documents import from_document, to_document
from registry.records.analysis_plan import Plan
from registry.records.estimates import Estimate

PathText = str | Path


def read_scores(
    paths: PathText | Iterable[PathText],
    *,
    low: float = 0.0,
    high: float = 1.0,
    score: str = "score",
    where: Mapping[str, Collection[str]] | None = None,
) -> ScoreTable:
    """Return the checked scores of one or several files (CSV, JSON Lines, Parquet).

    Args:
        paths: files with the columns `task_id`, `arm`, `context_id`, `sample` and `score`.
        low: lowest possible score.
        high: highest possible score.
        score: the column of scores.
        where: by column, the values of the rows to keep.

    Raises:
        InputError: with every fault, its row and its column.
    """
    files = [Path(paths)] if isinstance(paths, (str, Path)) else [Path(path) for path in paths]
    return read_table(files, low=low, high=high, score=score, where=where)


def from_dataframe(
    frame: Any,
    *,
    columns: Mapping[str, str] | None = None,
    arms: Mapping[str, str] | None = None,
    score_values: Mapping[str, float] | None = None,
    low: float = 0.0,
    high: float = 1.0,
) -> ScoreTable:
    """Return the checked scores of a data frame: pandas, Polars, Arrow, or any other that exports Arrow data.

    Args:
        frame: one row for each response.
        columns: by role (`task`, `arm`, `score`, `context`, `sample`), your column; None where the columns have Caveat's names.
        arms: by arm (`test`, `deploy`), your word for it; None where the words are the arms.
        score_values: by text in the column of scores, its number; words such as `pass`, `no` and `TRUE` need none.
        low: lowest possible score.
        high: highest possible score.

    Raises:
        InputError: with every fault; the frame is not changed.
    """
    return table_from_frame(frame, mapping=columns, arms=arms, score_values=score_values, low=low, high=high)


def estimate(
    scores: ScoreTable,
    *,
    test: str = "test",
    deploy: str = "deploy",
    contexts: str = "random",
    interval: str = "closed_form",
    margin: float | None = None,
    level: float = 0.95,
    epsilon: float | None = None,
    replicates: int = 10_000,
    seed: int = 0,
    tasks: int | None = None,
    pointwise: bool = False,
) -> Estimate:
    """Return the Evaluation Differential ED = Φ_test − Φ_deploy of *scores* with its intervals.

    The same scores and options give the same result as `caveat analyze estimate`.

    Args:
        scores: what `read_scores` or `from_dataframe` returned.
        test: the name of the test-like arm.
        deploy: the name of the deployment-like arm.
        contexts: `random`, `fixed` or `nested`.
        interval: `closed_form`, `guaranteed`, or `anytime` (for nested contexts).
        margin: materiality margin; None for 5 % of the range of the score.
        level: nominal coverage of the intervals.
        epsilon: floor of the normalised differential; None for 1 % of the range.
        replicates: bootstrap replicates; 0 omits the bands, which decide nothing.
        seed: of the bootstrap.
        tasks: tasks that were planned; None where no number was.
        pointwise: give the differential of every task too.

    Raises:
        InputError: a value is out of its range, a side is missing, or the table contradicts the options.
    """
    options = {
        "contexts": contexts, "interval": interval, "margin": margin, "level": level, "epsilon": epsilon, "replicates": replicates,
        "seed": seed, "tasks": tasks,
    }  # fmt: skip
    # None stands for the default of the plan, as an option that was not typed does.
    plan = from_document(Plan, {name: value for name, value in options.items() if value is not None}, where="estimate")
    return compute_estimate(scores, plan, range_=(scores.low, scores.high), test=test, deploy=deploy, pointwise=pointwise)


def classify(claim: PathText | Mapping[str, Any], scores: ScoreTable | None = None) -> CaseOutcome:
    """Return the verdict on one claim without a registry, as `caveat analyze classify` does.

    No lock is checked, so the result says that the plan was not shown to be fixed before the scores.

    Args:
        claim: a case file (YAML or JSON), or its content as a dictionary; `caveat admin schema case` prints the format.
        scores: the scores; None for those that the case file names, or for a claim without scores.

    Raises:
        InputError: with every fault of the case, or of the scores that it names.
    """
    if isinstance(claim, Mapping):
        case, path = parse_case(dict(claim), where="claim"), None
    else:
        case, path = read_case(Path(claim))
    low, high = case.claim.property.range
    if scores is None and path is not None:
        scores = read_table([path], low=low, high=high)
    return run_case(case, scores)


def to_dict(record: Any) -> dict[str, Any]:
    """Return a record as the JSON document that the commands print with `--json`: only dictionaries, lists, texts and numbers."""
    document: dict[str, Any] = to_document(record)
    return document
