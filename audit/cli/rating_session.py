"""A rater study: the sheets and their key, the model judge that reads them, and how the answers look."""

import base64
import csv
import hashlib
import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from audit.cli.analysis_options import build_plan, record_finding
from audit.cli.analysis_presenter import present_warnings
from audit.cli.model_calls import CallPurpose, build_asker, report_plan
from audit.modules.rater_study import BlindedSheets, digest_key
from audit.modules.rating_judge import ANSWERS, TASK, JudgeTask, judge_sheet, plan_calls, read_answers
from audit.records.rating_sheet import VOCABULARY, RatingKey, RatingSheet, SampleSide, SheetItem, tag_key
from audit.replay.run_store import open_store
from audit.sources.rating_files import read_fields
from registry.cli.application import App
from registry.codec.canonical_documents import canonical_bytes, from_document, to_document
from registry.codec.file_io import read_document, replace_file
from registry.errors import ConflictError, Fault, InputError, UnavailableError
from registry.present.answers import Answer, show, undo_cell, write_cell
from registry.present.blocks import Block, Table, Title
from registry.records.estimates import Measure
from registry.records.module_findings import ItemJudgment, Naturalness, PairJudgment, RaterResult, RealismJudge
from registry.records.record import Identifier
from registry.records.replay_run import Probe
from registry.report.number_format import Unit, format_items, format_number, format_p, share

# The files that raters are given, and the key that they are not.

LARGEST_KEY_BYTES = 200_000_000
_KEY = "key.json"
_SHELL = Path(__file__).with_name("rating_sheet.html")
_INSTRUCTIONS = """\
Rating sheet of {rater} ({key})

{task}

Open sheet.html in a browser (it needs no network), press "Save answers" and send back the saved file.
Or fill in sheet.csv in a spreadsheet, and send it back as CSV:

{answers}

Leave the other columns as they are. Work by yourself. Do not search for the texts, and do not ask a language model.

Words for cues:
{cues}
"""


def write_sheets(folder: Path, key: RatingKey, sheets: tuple[RatingSheet, ...]) -> list[Path]:
    """Write `key.json`, readable by its owner only, and a folder for each rater; return what was written, the key first.

    Raises:
        ConflictError: *folder* holds something already. Nothing was written.
        OSError: the file system refuses; what was written is removed.
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise ConflictError(Fault("not-empty", str(folder), "holds files already; sheets of two draws in one folder would be mixed up"))
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    try:
        for name, content in _render_files(key, sheets):
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if path.name == _KEY else 0o666), "wb") as file:
                written.append(path)
                file.write(content)
    except BaseException:
        # Sheets without their key, or a key without all of its sheets, are of no use and bar the folder.
        for path in reversed(written):
            path.unlink(missing_ok=True)
        for rater in {path.parent for path in written} - {folder}:
            rater.rmdir()
        raise
    return written


def _render_files(key: RatingKey, sheets: tuple[RatingSheet, ...]) -> Iterator[tuple[str, bytes]]:
    """Give the names, relative to the folder, and the contents of all files, the key first."""
    yield _KEY, canonical_bytes(to_document(key))
    cues = "\n".join(f"  {cue}: {meaning}" for cue, meaning in VOCABULARY.items())
    for sheet in sheets:
        yield f"{sheet.rater}/sheet.html", render_html(sheet).encode()
        yield f"{sheet.rater}/sheet.csv", render_csv(sheet).encode()
        yield (
            f"{sheet.rater}/instructions.txt",
            _INSTRUCTIONS.format(rater=sheet.rater, key=sheet.key, task=TASK, answers=ANSWERS, cues=cues).encode(),
        )


def read_key(path: Path) -> RatingKey:
    """Return the key in *path*; raises InputError if it is none."""
    return from_document(RatingKey, read_document(path, largest=LARGEST_KEY_BYTES), where=str(path))


def read_sheet(folder: Path, key: RatingKey, *, digest: str, rater: str | None = None) -> RatingSheet:
    """Return the sheet of *rater*, by default of the first, in a folder that `write_sheets` wrote: the texts as raters see them.

    Raises:
        InputError: there is no such sheet, it belongs to another key, or its items or texts are not those of the key.
    """
    name = rater or key.raters[0]
    if name not in key.raters:
        problem, advice = f"no sheet was made for {name[:40]!r}", f"name one of {', '.join(key.raters[:10])}"
        raise InputError(Fault("unknown-name", "--rater", problem, advice=advice))
    path = folder / name / "sheet.csv"
    rows = read_fields(path, required=("rater", "key", "item", "text"), known=("answer", "cue", "confidence"))
    items = tuple(SheetItem(item=fields["item"].strip(), text=undo_cell(fields["text"])) for _, fields in rows)
    if strange := {fields["key"].strip() for _, fields in rows} - {tag_key(digest)}:
        problem, advice = (
            f"belongs to {min(strange)[:40]}, the key is {tag_key(digest)}",
            "give the folder as caveat audit rate sheet wrote it",
        )
        raise InputError(Fault("wrong-sheet-key", str(path), problem, advice=advice))
    known = {item.item: item.text for item in key.items}
    if (
        {item.item for item in items} != set(known)
        or len(items) != len(known)
        or not all(_is_shown(sheet_item, known) for sheet_item in items)
    ):
        problem = "its items or texts are not those that the key was made for"
        advice = "give the sheet unchanged, or make another one with caveat audit rate sheet"
        raise InputError(Fault("sheet-changed", str(path), problem, advice=advice))
    return RatingSheet(rater=name, key=tag_key(digest), items=items)


def _is_shown(item: SheetItem, known: Mapping[str, str]) -> bool:
    """Whether a text is the key's; one whose hidden characters the sheet makes visible cannot be compared."""
    return hashlib.sha256(item.text.encode()).hexdigest() == known[item.item] or "[U+" in item.text


def render_csv(sheet: RatingSheet) -> str:
    """Return the sheet for a spreadsheet: with a byte order mark, and an apostrophe before a text that would be computed."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(("rater", "key", "item", "text", "answer", "cue", "confidence"))
    for item in sheet.items:
        writer.writerow((sheet.rater, sheet.key, item.item, write_cell(item.text), "", "", ""))
    return f"\ufeff{stream.getvalue()}"


def render_html(sheet: RatingSheet) -> str:
    """Return the sheet as one HTML file that needs no network; texts are data in it, and its policy lets nothing else run."""
    shell = _SHELL.read_text(encoding="utf-8")
    items = [{"item": item.item, "text": show(item.text)} for item in sheet.items]
    document = {"rater": sheet.rater, "key": sheet.key, "vocabulary": VOCABULARY, "items": items}
    # Inside a script element only "<" could end it; JSON may write it otherwise.
    data = json.dumps(document, ensure_ascii=False).replace("<", "\\u003c")
    return shell.replace("@POLICY@", _compose_policy(shell)).replace("@SHEET@", data)


def _compose_policy(shell: str) -> str:
    """Nothing is loaded, nothing is sent, and only the script and the style of the shell itself take effect."""
    digests = {name: _digest(re.search(rf"<{name}>(.*?)</{name}>", shell, re.DOTALL)) for name in ("script", "style")}
    return f"default-src 'none'; script-src {digests['script']}; style-src {digests['style']}; base-uri 'none'; form-action 'none'"


def _digest(match: re.Match[str] | None) -> str:
    text = match[1] if match else ""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


# The part of `caveat audit rate judge` that reads the sheet, asks the model, and says what came of it.

_SHARE = Unit(low=0.0, high=1.0)
_ASKING = CallPurpose(schema="caveat/rating-plan/1", doing="rating", open_="items are still to be asked about")
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
        build_asker(app, store, task.judge, options, _ASKING)(calls, len(calls))
        judgment = judge_sheet(task, store.find_response, level=plan.level, rater_limit=plan.rater_limit)
        answers = None if task.is_pairwise else read_answers(task, store.find_response, rater=task.sheet.rater)
    finally:
        store.close()
    _check_answered(judgment, str(folder))
    if output is not None and answers is not None:
        replace_file(output, canonical_bytes(to_document(answers)))
    record_finding(app, audit, judgment, source=f"{folder.name}, {task.judge.model}")
    app.answer(to_document(judgment), present_judgment(judgment))


def present_judgment(judgment: RealismJudge) -> Iterator[Block]:
    """Present what the judge made of the items, how that compares with the limit, then the warnings."""
    yield Title(f"{judgment.judge} as a judge in addition to raters: a sensitivity check, which can only weaken a verdict")
    yield f"{judgment.items_test} items of the test side and {judgment.items_deploy} of deployment; intervals at {share(judgment.level)}"
    lines = [] if judgment.single is None else _describe_items(judgment.single)
    lines += [] if judgment.pairwise is None else _describe_pairs(judgment.pairwise)
    yield from lines
    yield describe_limit(judgment)
    yield from present_warnings(judgment.warnings)


def describe_limit(judgment: RealismJudge) -> str:
    """Return how the worst case of *judgment* compares with the plan's limit, as a sentence."""
    worst, limit = _SHARE.score(judgment.worst, judgment.rater_limit), share(judgment.rater_limit)
    if judgment.exceeds_limit:
        return f"It may distinguish the sides in up to {worst}, above the limit of {limit}: a verdict is provisional at most."
    return f"At worst it distinguishes the sides in {worst}, within the limit of {limit}; that does not show that the contexts are natural."


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
    return ", ".join(f"{passages.reason} {passages.count}" for passages in judged.unanswered) or "none"


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
        judge=Probe(model=options["model"], max_tokens=options["max_tokens"] or _TOKENS, base_url=options["base_url"], api=options["api"]),
        seed=key.seed if options["seed"] is None else options["seed"],
        is_pairwise=options["pairwise"],
    )


def _check_answered(judgment: RealismJudge, where: str) -> None:
    """Raise UnavailableError where no call got an answer of the model: then there is nothing to weigh, and nothing is recorded."""
    judged = judgment.single or judgment.pairwise
    failed = {"not-asked", "answer-not-json", "answer-unknown", "undecided", "judge-refused", "judge-truncated"}
    if judged is not None and not judged.answered and not failed.intersection(passages.reason for passages in judged.unanswered):
        problem = f"every call failed ({', '.join(f'{passages.count} × {passages.reason}' for passages in judged.unanswered)})"
        raise UnavailableError(Fault("judge-calls-failed", where, problem))


# How a naturalness audit looks in a terminal and as JSON.

_NUMBERS = ("decided", "undecided", "right", "said test", "p")


def present_sheets(drawn: BlindedSheets, folder: Path, digest: str) -> Answer:
    """Present the rating sheets that were written; the key itself stays in its file."""
    document = {
        "schema": "caveat/rating-sheets/1",
        "folder": str(folder),
        "key": digest,
        "seed": drawn.key.seed,
        "raters": list(drawn.key.raters),
        "items_test": _count(drawn, SampleSide.TEST),
        "items_deploy": _count(drawn, SampleSide.DEPLOY),
        "warnings": [{"code": remark.code, "message": remark.message} for remark in drawn.remarks],
    }
    return Answer(document, _list_sheets_blocks(drawn, folder, digest))


def _list_sheets_blocks(drawn: BlindedSheets, folder: Path, digest: str) -> Iterator[Block]:
    """Yield what was drawn and what to do with it."""
    test, deploy = _count(drawn, SampleSide.TEST), _count(drawn, SampleSide.DEPLOY)
    yield f"{test} items of the test side, of {drawn.key.drawn_from_test}; {deploy} of deployment, of {drawn.key.drawn_from_deploy}"
    yield f"sheets: {', '.join(f'{folder}/{name}/' for name in drawn.key.raters)}"
    yield f"key, not for raters: {folder}/key.json, SHA-256 {digest}"
    for remark in drawn.remarks:
        yield f"warning: {remark.code}: {remark.message}"
    yield f"Next: give each rater the folder with their name, then: caveat audit rate answers {folder}/key.json ANSWERS..."


def _count(drawn: BlindedSheets, side: SampleSide) -> int:
    return sum(item.side is side for item in drawn.key.items)


def present_naturalness(naturalness: Naturalness) -> Iterator[Block]:
    """Present the answer, one line for each rater, the agreement, the cues, then the warnings."""
    yield Title(_describe_answer(naturalness))
    what = "balanced accuracy" if naturalness.balanced else "accuracy"
    yield f"{what} of persons together, where chance is 50 %: {_describe(naturalness.accuracy)}"
    items = f"{naturalness.items_test} items of the test side and {naturalness.items_deploy} of deployment"
    yield f"{items}, intervals at {share(naturalness.level)}\n"
    columns = ("rater", "", "decided", "undecided", "right", "said test", what, "p")
    yield Table(columns, [_describe_rater(rater, balanced=naturalness.balanced) for rater in naturalness.raters], numbers=_NUMBERS)
    for method in dict.fromkeys(rater.against_chance.method for rater in naturalness.raters):
        yield f"p: {method}"
    yield ""
    for agreement in naturalness.agreement:
        value = _describe_plain(agreement.measure)
        yield f"{agreement.statistic}: {value} ({agreement.raters} persons, {agreement.items} items that two or more decided on)"
    if naturalness.cues:
        yield f"cues named by persons: {', '.join(f'{note.cue} {note.count}' for note in naturalness.cues)}"
    yield from present_warnings(naturalness.warnings)


def _describe_answer(naturalness: Naturalness) -> str:
    if naturalness.distinguishable is None:
        return "It is unknown whether raters can distinguish the sides."
    if naturalness.distinguishable:
        return "Raters can distinguish the test side from deployment."
    return "Raters are not shown to distinguish the test side from deployment; the interval says how well they still might."


def _describe(measure: Measure) -> str:
    if measure.value is None:
        return f"none. {measure.reason}"
    if measure.low is None or measure.high is None:
        return f"{_SHARE.score(measure.value, 0.5)}. {measure.reason}"
    return _describe_short(measure)


def _describe_short(measure: Measure) -> str:
    if measure.value is None or measure.low is None or measure.high is None:
        return "–"
    return f"{_SHARE.score(measure.value, 0.5)} ({_SHARE.numbers(measure.low, measure.high, 0.5)})"


def _describe_plain(measure: Measure) -> str:
    if measure.value is None or measure.low is None or measure.high is None:
        return f"{'none' if measure.value is None else format_number(measure.value)}. {measure.reason}"
    return f"{format_number(measure.value)} ({format_number(measure.low)} to {format_number(measure.high)})"


def _describe_rater(rater_result: RaterResult, *, balanced: bool) -> tuple[str, ...]:
    accuracy = rater_result.balanced_accuracy if balanced else rater_result.accuracy
    counts = (str(rater_result.rated), str(rater_result.unrated), str(rater_result.correct), str(rater_result.said_test))
    return (rater_result.rater, rater_result.kind.value, *counts, _describe_short(accuracy), format_p(rater_result.against_chance.p))
