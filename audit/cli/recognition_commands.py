"""`caveat analyze probe` and `caveat audit rate`: can the model, or can blind raters, tell a test from deployment?"""

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.analysis_options import FILE, api_option, arm_options, audit_option, build_plan, call_options, plan_options
from registry.cli.application import App, examples, pass_app
from registry.errors import Fault, InputError, UnavailableError
from registry.records.record import Identifier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from audit.modules.recognition_passages import ResponsePassage, ResponseText
    from audit.modules.recognition_probe import ProbeAnswers
    from audit.records.rating_sheet import RatingSample
    from audit.replay.run_store import RunStore
    from registry.records.analysis_plan import Plan
    from registry.records.module_findings import Recognition
    from registry.records.replay_run import Policy, Probe

# `caveat analyze probe`: how often a model says that it is being tested.

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_NEW = click.Path(file_okay=False, path_type=Path)
_OUTPUT = click.Path(dir_okay=False, path_type=Path)
_SEED = click.IntRange(0, 2**53 - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """What is read, and what is known of it."""

    said: "Sequence[ResponseText]"
    """Those that were drawn."""
    evaluation: str
    name: str
    """Of the run or the file, for the record."""
    ablated: int = 0
    probe: "Probe | None" = None
    """As the run's replay plans it."""
    policy: "Policy | None" = None
    """Of the run's replay; None for texts."""


@examples(
    "analyze probe replay.run --patterns-only",
    "analyze probe replay.run --judge MODEL --mentions mentions.csv",
    "analyze probe replay.run --judge MODEL --dry-run",
)
@click.command()
@click.argument("run", metavar="[RUN]", required=False, type=_FOLDER)
@click.option(
    "--texts", metavar="FILE", type=FILE, help="Read transcripts instead of a run: JSONL with text, optional reasoning, arm, task_id, …"
)
@click.option("--patterns-only", is_flag=True, help="Only mark candidates by patterns, without calls and rates.")
@click.option("--judge", "model", metavar="MODEL", help="The model that classifies; default: the one that the run's replay names.")
@click.option("--base-url", metavar="URL", help="Its endpoint; default: that of the replay, else ANTHROPIC_BASE_URL.")
@api_option("What it speaks; default: at the replay's address as the replay, else messages.")
@click.option(
    "--labels", metavar="FILE", type=FILE, help="Labelled passages (JSONL: text, label) to measure and correct the classifier's errors."
)
@click.option("--evaluation", metavar="NAME", help="The evaluation that the rates belong to; default: the replay's name, or the file's.")
@click.option(
    "--share", type=click.FloatRange(0, 1, min_open=True), default=1.0, show_default=True, help="Random share of responses to read."
)
@click.option("--seed", metavar="N", type=_SEED, default=0, show_default=True, help="Seed of that draw.")
@plan_options("contexts", "level")
@arm_options
@click.option(
    "--examples", metavar="N", type=click.IntRange(0, 50), default=3, show_default=True, help="Quotes of each class that are kept."
)
@call_options("one classification", "a probe")
@click.option("--cache", metavar="DIR", type=_NEW, help="Where answers are kept; default: RUN, or FILE.probe in this folder.")
@audit_option
@click.option("--mentions", metavar="CSV", type=_OUTPUT, help="Write whether each response mentions a test, for caveat audit link.")
@click.option("-o", "--output", metavar="CSV", type=_OUTPUT, help="Write marked and recognised passages, one a row.")
@pass_app
def probe(app: App, /, *, run: Path | None, texts: Path | None, patterns_only: bool, **options: Any) -> None:
    """Find responses that mention being tested.

    Reasoning and output are classified separately: aware, aware_but_informed, monitoring_only, task_content or none. The classifier sees
    the passage without arm and context. A class counts if its quote occurs in the passage word for word. The rates, with intervals over
    tasks and contexts, belong to this evaluation and decide nothing about ED.
    """
    from audit.modules.recognition_passages import list_passages

    if run is not None and texts is not None:
        raise click.UsageError("give RUN or --texts, not both")
    if run is None and texts is None and (options["labels"] is None or patterns_only):
        raise click.UsageError("give RUN, --texts FILE, or only --labels FILE to measure a classifier")
    if patterns_only and any(options[name] is not None for name in ("audit", "model", "mentions")):
        raise click.UsageError("--patterns-only makes no call and gives no rate: leave --judge, --audit and --mentions out")
    source = _read(app, run, texts, options)
    passages = list(list_passages(source.said))
    if patterns_only:
        _report_candidates(app, source, passages, options)
        return
    _classify(app, run, source, passages, options)


def _read(app: App, run: Path | None, texts: Path | None, options: dict[str, Any]) -> _Source:
    from audit.modules.recognition_passages import sample_passages
    from audit.modules.recognition_probe import read_texts

    if run is not None:
        source = _read_run(run)
    elif texts is not None:
        file = read_texts(texts)
        _describe_unread(app, texts, file.unread)
        source = _Source(said=file.said, evaluation=texts.stem, name=texts.name)
    else:
        source = _Source(said=(), evaluation=options["labels"].stem, name=options["labels"].name)
    return _Source(
        said=list(sample_passages(source.said, share=options["share"], seed=options["seed"])),
        evaluation=options["evaluation"] or source.evaluation,
        name=source.name,
        ablated=source.ablated,
        probe=source.probe,
        policy=source.policy,
    )


def _read_run(run: Path) -> _Source:
    from audit.modules.recognition_probe import read_run
    from audit.replay.run_store import get_replay, open_store

    store = open_store(run)
    try:
        replay = get_replay(store)
        texts, ablated = read_run(store)
    finally:
        store.close()
    return _Source(said=texts, evaluation=replay.name, name=run.name, ablated=ablated, probe=replay.probe, policy=replay.policy)


def _describe_unread(app: App, path: Path, columns: Sequence[str]) -> None:
    if columns:
        app.say(f"{path}: columns that are not read: {', '.join(columns)}")


def _report_candidates(app: App, source: _Source, passages: "Sequence[ResponsePassage]", options: dict[str, Any]) -> None:
    from audit.cli.probe_presenter import present_candidates, write_passages
    from audit.modules.recognition_passages import count_candidates

    counts = count_candidates(passages)
    if options["output"] is not None:
        write_passages(options["output"], passages, ())
    app.report(present_candidates(source.evaluation, counts))


def _classify(app: App, run: Path | None, source: _Source, passages: "Sequence[ResponsePassage]", options: dict[str, Any]) -> None:
    from audit.cli.analysis_options import record_finding
    from audit.cli.model_calls import CallPurpose, build_asker, report_plan
    from audit.cli.probe_presenter import present_recognition, write_passages
    from audit.modules.recognition_probe import plan_first, probe_passages, read_labels, write_mentions
    from audit.modules.recognition_rates import list_mentions
    from registry.codec.canonical_documents import to_document

    plan, wanted = build_plan({name: options[name] for name in ("contexts", "level")}), _build_probe(source, options)
    labels = read_labels(options["labels"]) if options["labels"] is not None else None
    if labels is not None:
        _describe_unread(app, options["labels"], labels.unread)
    asking = CallPurpose(
        schema="caveat/probe-plan/1",
        doing="classifying",
        open_="passages are still to be asked about",
        then="; then one call for each prompt of a recognised passage",
    )
    if options["dry_run"]:
        report_plan(app, plan_first(passages, labels, wanted), wanted, options, asking)
        return
    named = None if labels is None else (options["labels"].name, labels)
    with _open(run, source, options) as store:
        ask = build_asker(app, store, wanted, options, asking)
        probed = probe_passages(store, passages, wanted, ask, labels=named, level=plan.level)
    recognition = _recognise(source, passages, probed, plan, options)
    if options["output"] is not None:
        write_passages(options["output"], passages, probed.found)
    if options["mentions"] is not None:
        write_mentions(options["mentions"], list_mentions(passages, probed.found))
    if options["audit"] is not None:
        _check_recordable(recognition, options["audit"])
        record_finding(app, options["audit"], recognition, source=source.name if named is None else f"{source.name}, {named[0]}")
    app.answer(to_document(recognition), present_recognition(recognition))
    _check_evaluated(recognition, source.name)


def _build_probe(source: _Source, options: dict[str, Any]) -> "Probe":
    from audit.endpoints.endpoint_opening import follow_policy
    from registry.records.replay_run import Probe

    planned = source.probe
    model = options["model"] or (planned.model if planned else None)
    if model is None:
        raise click.UsageError("name the model that classifies with --judge MODEL, or only mark candidates with --patterns-only")
    tokens = options["max_tokens"] or (planned.max_tokens if planned else 1024)
    address, api = options["base_url"] or (planned.base_url if planned else None), options["api"] or (planned.api if planned else None)
    wanted = Probe(model=model, max_tokens=tokens, base_url=address, api=api, key=planned.key if planned else None)
    if source.policy is None:
        return wanted
    policy = follow_policy(source.policy, wanted)
    return replace(wanted, base_url=policy.base_url, api=policy.api, key=policy.key)


@contextmanager
def _open(run: Path | None, source: _Source, options: dict[str, Any]) -> "Iterator[RunStore]":
    from audit.replay.run_store import open_store

    folder = options["cache"] or run or Path(f"{source.name}.probe")
    store = open_store(folder, create=True)
    try:
        yield store
    finally:
        store.close()


def _recognise(
    source: _Source, passages: "Sequence[ResponsePassage]", probed: "ProbeAnswers", plan: "Plan", options: dict[str, Any]
) -> "Recognition":
    from audit.modules.recognition_passages import digest_passages
    from audit.modules.recognition_rates import ProbeSetting, recognise

    circumstances = ProbeSetting(
        evaluation=source.evaluation,
        models=tuple(sorted({text.model for text in source.said if text.model is not None})),
        classifier=", ".join(probed.classifiers) or "no model answered",
        sampled=options["share"],
        seed=options["seed"],
        passages=digest_passages(source.said),
        test=options["test"],
        deploy=options["deploy"],
        examples=options["examples"],
        ablated=source.ablated,
    )
    return recognise(passages, probed.found, plan, circumstances, probed.accuracy)


def _check_evaluated(recognition: "Recognition", name: str) -> None:
    """Raise UnavailableError when there were texts and not one has a class: then nothing is known of recognition."""
    texts = sum(group.present for group in recognition.groups)
    if texts and not any(group_rate.classified for group_rate in recognition.groups):
        text = f"none of {texts:,} texts has a class, so no rate of recognition is known"
        raise UnavailableError(Fault("nothing-classified", name, text))


def _check_recordable(recognition: "Recognition", audit: Identifier) -> None:
    if not recognition.groups:
        raise InputError(Fault("nothing-selected", audit.bare, "there is no response, so there is nothing to record"))


# `caveat audit rate`: can blind raters tell a test from deployment?

_SHEET_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group()
def rate() -> None:
    """Test whether raters distinguish test from deployment."""


@examples("audit rate sheet replay.run --raters ana,ben -o rating", "audit rate sheet samples.csv --raters ana --items 40 -o rating")
@rate.command()
@click.argument("samples", metavar="RUN|SAMPLES...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--spec", metavar="NAME", help="Of a run folder with several specifications of P_deploy, the one to be rated.")
@click.option("--raters", metavar="NAME,NAME...", required=True, help="Who rates, persons and models.")
@click.option("-o", "--output", "folder", metavar="DIR", required=True, type=_SHEET_FOLDER, help="A new folder for key and sheets.")
@click.option("--items", metavar="N", type=int, help="Items in all, half of each side; default: as many as the smaller side has, twice.")
@click.option("--seed", metavar="N", type=_SEED, help="Seed of draw and shuffles; default: a random one, kept in the key.")
@arm_options
@pass_app
def sheet(app: App, /, *, samples: tuple[Path, ...], raters: str, folder: Path, **options: Any) -> None:
    """Write a blinded sheet for each rater, and the key.

    RUN is a run folder of caveat audit run: each prompt of both sides is a sample, except those of edits. SAMPLES are CSV or JSONL with
    the columns arm and text, optional task_id and context_id. Each rater gets a folder with sheet.html to fill in offline, sheet.csv
    for a spreadsheet, and instructions.txt. Raters must not see the key.
    """
    import secrets

    from audit.cli.rating_session import present_sheets, write_sheets
    from audit.modules.rater_study import digest_key, draw_sheets

    rating_samples = _read_samples(samples, options)
    names = [name.strip() for name in raters.split(",")]
    seed = secrets.randbits(48) if options["seed"] is None else options["seed"]
    sheets = draw_sheets(rating_samples, names, items=options["items"], seed=seed, arms=(options["test"], options["deploy"]))
    write_sheets(folder, sheets.key, sheets.sheets)
    digest = digest_key(sheets.key)
    app.report(present_sheets(sheets, folder, digest))


def _read_samples(paths: tuple[Path, ...], options: dict[str, Any]) -> "list[RatingSample]":
    """Return the samples in files, or the prompts of one run folder."""
    from audit.replay.run_rows import list_samples
    from audit.replay.run_store import open_store
    from audit.sources.rating_files import read_samples

    sides = {"test": options["test"], "deploy": options["deploy"]}
    if not any(path.is_dir() for path in paths):
        if options["spec"] is not None:
            raise click.UsageError("--spec belongs to a run folder; of a table of samples, keep the rows of one specification")
        return read_samples(paths, **sides)
    if len(paths) > 1:
        raise click.UsageError("give one run folder, or files of samples")
    store = open_store(paths[0])
    try:
        return list_samples(store, **sides, spec=options["spec"])
    finally:
        store.close()


@examples("audit rate answers rating/key.json ana.csv ben.csv", "audit rate answers rating/key.json ana.csv --audit AUD-LAB-2026-0001-1")
@rate.command()
@click.argument("key", type=FILE)
@click.argument("sheets", metavar="ANSWERS...", nargs=-1, required=True, type=FILE)
@click.option("--model-rater", "models", metavar="NAME", multiple=True, help="A rater that is a model; shown apart. May be repeated.")
@plan_options("level", "rater_limit")
@audit_option
@pass_app
def answers(app: App, /, *, key: Path, sheets: tuple[Path, ...], models: tuple[str, ...], audit: Identifier | None, **options: Any) -> None:
    """Read the answer sheets of raters against the key.

    Each rater gets an exact interval and an exact test against chance. For all persons together, raters and items are crossed samples.
    Undecided items are not counted.
    """
    from audit.cli.analysis_options import record_finding
    from audit.cli.rating_session import present_naturalness, read_key
    from audit.modules.rater_study import assess, digest_key
    from audit.sources.rating_files import read_answers
    from registry.codec.canonical_documents import to_document

    plan = build_plan(options)
    truth = read_key(key)
    naturalness = assess(
        truth, read_answers(sheets), digest=digest_key(truth), models=frozenset(models), level=plan.level, rater_limit=plan.rater_limit
    )
    record_finding(app, audit, naturalness, source=", ".join(path.name for path in (key, *sheets)))
    app.answer(to_document(naturalness), present_naturalness(naturalness))


@examples("audit rate judge rating --judge MODEL --dry-run", "audit rate judge rating --judge MODEL --pairwise --audit AUD-LAB-2026-0001-1")
@rate.command()
@click.argument("folder", metavar="FOLDER", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--judge", "model", metavar="MODEL", required=True, help="The model that is asked.")
@click.option("--pairwise", is_flag=True, help="Ask about pairs instead: which of the two is the real one? Each pair in both orders.")
@click.option(
    "--rater", metavar="NAME", help="The rater of the sheet that is read, named as the author of the answers; default: the first."
)
@click.option("--seed", metavar="N", type=_SEED, help="Seed of pairing and order; default: that of the key.")
@click.option("--base-url", metavar="URL", help="The endpoint; default: ANTHROPIC_BASE_URL.")
@api_option("What the endpoint speaks; default: messages.")
@call_options("one answer", "a judge")
@click.option("--cache", metavar="DIR", type=_SHEET_FOLDER, help="Where answers are kept; default: FOLDER/judge.")
@plan_options("level", "rater_limit")
@audit_option
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Write the answers as a sheet (.json)."
)
@pass_app
def judge(app: App, /, *, folder: Path, audit: Identifier | None, output: Path | None, **options: Any) -> None:
    """Ask a model which prompts are tests.

    The model gets the instructions and texts that raters get, and nothing of the key. It is a sensitivity check: it can weaken a
    verdict and never strengthen it. Answers that are neither test nor deployment count at the worst for the contexts. A second run asks
    nothing twice.
    """
    from audit.cli.rating_session import ask_judge

    if options["pairwise"] and output is not None:
        raise click.UsageError("-o writes answers to single items: leave --pairwise out")
    ask_judge(app, folder, audit, output, options)
