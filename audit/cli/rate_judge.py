"""The part of `caveat audit rate judge` that reads the sheet, asks the model, and says what came of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from audit.blinding import digest_key
from audit.cli.options import build_plan
from audit.cli.probe_calls import Asking, build_asker, report_plan
from audit.cli.rate_sheets import read_key, read_sheet
from audit.cli.record import record_finding
from audit.cli.warnings_text import print_warnings
from audit.rating.station import JudgeTask, judge_sheet, plan_calls, read_answers
from audit.replay.store import Call, RunStore, open_store
from audit.wording import Unit, share
from registry.atomic import replace_file
from registry.cli.app import App
from registry.cli.output import show
from registry.codec.canonical import canonical_bytes
from registry.codec.documents import to_document
from registry.errors import Fault, UnavailableError
from registry.records.identifier import Identifier
from registry.records.measure import Measure
from registry.records.realism import ItemJudgment, PairJudgment, RealismJudge
from registry.records.replay import Probe
from registry.report.numbers import format_items

_SHARE = Unit(low=0.0, high=1.0)
_ASKING = Asking(schema="caveat/rating-plan/1", doing="rating", open_="items are still to be asked about")
_TOKENS = 1024


def ask_judge(app: App, folder: Path, audit: Identifier | None, output: Path | None, options: Mapping[str, Any]) -> None:
    """Ask the judge about the sheet in *folder*, record and report what it makes of the items.

    Raises:
        CaveatError: the folder holds no sheet with its key, a limit ended the calls, or no question got an answer.
    """
    task = _read_task(folder, options)
    plan = build_plan({name: options[name] for name in ("level", "rater_limit")})
    calls = plan_calls(task)
    if options["dry_run"]:
        report_plan(app, calls, task.judge, options, _ASKING)
        return
    store = open_store(options["cache"] or folder / "judge", create=True)
    try:
        if _find_open(store, calls, options):
            build_asker(app, store, task.judge, options, _ASKING)(calls, len(calls))
        judgment = judge_sheet(task, store.find_response, level=plan.level, rater_limit=plan.rater_limit)
        answers = None if task.is_pairwise else read_answers(task, store.find_response, rater=task.sheet.rater)
    finally:
        store.close()
    _check_answered(judgment, str(folder))
    if output is not None and answers is not None:
        replace_file(output, canonical_bytes(to_document(answers)))
    record_finding(app, audit, judgment, source=f"{folder.name}, {task.judge.model}")
    app.report(to_document(judgment), lambda console: print_judgment(console, judgment))


def _find_open(store: RunStore, calls: Sequence[Call], options: Mapping[str, Any]) -> set[str]:
    """Return the calls that have no outcome; where there is none, no endpoint is needed."""
    keys = {call.key for call in calls}
    return keys - store.find_settled(keys, failed=not options["retry_failed"])


def print_judgment(console: Console, judgment: RealismJudge) -> None:
    """Print what the judge made of the items, how that stands to the limit, then the warnings."""
    console.print(show(f"{judgment.judge} as a judge beside raters: a sensitivity check, which can only weaken a verdict"), style="bold")
    console.print(
        f"{judgment.items_test} items of the test side and {judgment.items_deploy} of deployment; intervals at {share(judgment.level)}"
    )
    lines = [] if judgment.single is None else _describe_items(judgment.single)
    lines += [] if judgment.pairwise is None else _describe_pairs(judgment.pairwise)
    for line in lines:
        console.print(show(line))
    console.print(show(describe_limit(judgment)))
    print_warnings(console, judgment.warnings)


def describe_limit(judgment: RealismJudge) -> str:
    """Return how the worst case of *judgment* stands to the plan's limit, as a sentence."""
    worst, limit = _SHARE.score(judgment.worst, judgment.rater_limit), share(judgment.rater_limit)
    if judgment.exceeds_limit:
        return f"It may tell the sides apart in up to {worst}, above the limit of {limit}: a verdict is provisional at most."
    return f"At worst it tells the sides apart in {worst}, within the limit of {limit}; that does not show that the contexts are natural."


def _describe_items(single: ItemJudgment) -> list[str]:
    worst = _SHARE.numbers(single.under_unanswered.low, single.under_unanswered.high)
    return [
        f"right: {single.correct} of {single.answered} answered ({single.items} items); said test: {single.said_test}",
        f"accuracy, where chance is 50 %: {describe_share(single.accuracy)}",
        f"unanswered: {_list(single)}; over all items the accuracy is {worst} %, whatever they would have been",
    ]


def _describe_pairs(pairs: PairJudgment) -> list[str]:
    worst = _SHARE.numbers(pairs.under_unanswered.low, pairs.under_unanswered.high)
    return [
        f"{format_items(pairs.pairs, 'pair')}, each in both orders; {pairs.complete} answered in both, {pairs.consistent} of them alike",
        f"realism win rate of deployment items, ties as one half, where 50 % is no difference: {describe_share(pairs.win_rate)}",
        f"answers: first {pairs.chose_first}, second {pairs.chose_second}, tie {pairs.ties}",
        f"unanswered: {_list(pairs)}; over all questions the win rate is {worst} %, whatever they would have been",
    ]


def _list(judged: ItemJudgment | PairJudgment) -> str:
    return ", ".join(f"{one.reason} {one.count}" for one in judged.unanswered) or "none"


def describe_share(measure: Measure) -> str:
    """Return a share with its interval, or why there is none."""
    if measure.value is None or measure.low is None or measure.high is None:
        return f"none. {measure.reason}"
    return f"{_SHARE.score(measure.value, 0.5)} ({_SHARE.numbers(measure.low, measure.high, 0.5)})"


def _read_task(folder: Path, options: Mapping[str, Any]) -> JudgeTask:
    key = read_key(folder / "key.json")
    digest = digest_key(key)
    return JudgeTask(
        key=key,
        digest=digest,
        sheet=read_sheet(folder, key, digest=digest, rater=options["rater"]),
        judge=Probe(model=options["model"], max_tokens=options["max_tokens"] or _TOKENS, base_url=options["base_url"]),
        seed=key.seed if options["seed"] is None else options["seed"],
        is_pairwise=options["pairwise"],
    )


def _check_answered(judgment: RealismJudge, where: str) -> None:
    """Raise UnavailableError where no call got an answer of the model: then there is nothing to weigh, and nothing is recorded."""
    judged = judgment.single or judgment.pairwise
    failed = {"not-asked", "answer-not-json", "answer-unknown", "undecided", "judge-refused", "judge-truncated"}
    if judged is not None and not judged.answered and not failed.intersection(one.reason for one in judged.unanswered):
        found = f"every call failed ({', '.join(f'{one.count} × {one.reason}' for one in judged.unanswered)})"
        advice = "see that the endpoint answers (--base-url, the key, the name of the model), then ask again with --retry-failed"
        raise UnavailableError(Fault(code="nothing-rated", where=where, found=found, advice=advice))
