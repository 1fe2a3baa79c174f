"""Commands that analyse scores: estimate, classify, contrast, ablation, cues, judge, link and shift."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.analysis_options import (
    FILE,
    TABLE,
    arm_options,
    audit_option,
    build_plan,
    parse_where,
    plan_options,
    score_options,
    table_options,
)
from audit.cli.imported_evidence import describe_warnings
from audit.cli.table_reading import build_reading, reading_options
from registry.cli.application import AUDIT, App, examples, pass_app
from registry.cli.fleet_parts import check_fleet, fleet_option, load_fleet_part
from registry.cli.main import LazyGroup
from registry.errors import CaveatError, Fault, InputError
from registry.present.blocks import Block, Table
from registry.records.record import Identifier
from registry.report.number_format import format_items

if TYPE_CHECKING:
    from audit.modules.arm_contrasts import ResponseMentions
    from audit.modules.cue_ablation import CueInventories, NamedCue
    from audit.modules.differential_estimate import EstimateAll, EstimateRequest
    from audit.modules.judge_error import JudgeQuestion
    from audit.records.contrast_result import ContrastRequest
    from audit.sources.score_columns import ColumnSelection
    from audit.statistics.judge_correction import JudgeAccuracy
    from audit.statistics.responses import ScoreTable, TextColumn
    from registry.records.analysis_plan import Plan
    from registry.records.audit_case import Case
    from registry.records.specification import CueInventorySpec


@click.group(cls=LazyGroup, entry_points="caveat.commands.analyze")
def analyze() -> None:
    """Compute statistics of score tables and run folders."""


# `caveat analyze estimate`: the Evaluation Differential of a score table or of logs, without a registry.

_ESTIMATE_PLAN = ("contexts", "interval", "tasks", "random_subset", "margin", "level", "epsilon", "replicates", "seed")


@examples(
    "analyze estimate test=eval.eval deploy=agent.eval --contexts fixed",
    "analyze estimate tables/*.csv --each --fleet postgresql://fleet@db.example.org/fleet --json",
    "analyze estimate results.xlsx --map task=prompt_id,arm=condition,score=passed --arms test=Eval,deploy=Prod",
)
@click.command()
@click.argument("sources", metavar="[ARM=]SOURCE...", nargs=-1, required=True)
@arm_options
@score_options
@reading_options
@plan_options("contexts")
@click.option(
    "--interval",
    type=click.Choice(["closed_form", "guaranteed", "anytime"]),
    help="How intervals are made; anytime needs nested contexts, and may be looked at while the replay runs; default: closed_form.",
)
@click.option("--tasks", metavar="N", type=int, help="Tasks that were planned; stopping short of them is reported.")
@click.option("--random-subset", is_flag=True, help="The replayed tasks are a random subset: use the other test scores too.")
@plan_options("margin", "level")
@click.option("--epsilon", metavar="NUMBER", type=float, help="ε of nED; default: 0.01 × range.")
@plan_options("replicates", "seed")
@click.option("--pointwise", is_flag=True, help="Give ED of every task too.")
@click.option("--each", is_flag=True, help="Give each SOURCE an estimate of its own.")
@fleet_option
@click.option("--strict", "is_strict", is_flag=True, help="With --fleet: only workers with the processor extensions of this machine.")
@pass_app
def estimate(
    app: App,
    /,
    *,
    sources: tuple[str, ...],
    each: bool,
    is_strict: bool,
    **options: Any,
) -> None:
    """Estimate the differential ED = Φ_test − Φ_deploy.

    A SOURCE is a score table, a table of your own (--map), a scored run folder, or a log with its arm (ARM=LOG; docs/logs.md). If
    the design is too small for a verdict, the first line of the answer says so.

    Columns of a table: task_id, arm, context_id, sample, score. Optional: spec, judge, judge_repeat, weight, family, template,
    excluded_reason. Each judge gives an estimate of its own; repeats are averaged. Tasks of one family, and contexts of one template,
    count as one in every interval.

    A table with one side is refused. Bootstrap bands are printed with the intervals and decide nothing; --replicates 0 omits them.

    With --each, the sources are separate tables. One that has no estimate stops no other; the exit code is then 3. With --fleet, workers
    compute the estimates; the answer has the same bytes, apart from last digits of bands where processors differ, which is reported.
    """
    from audit.cli.analysis_presenter import describe_design, present_estimate, summarise_design
    from audit.modules.differential_estimate import estimate_here, get_estimate
    from audit.verdict.verdict_conditions import measure_design
    from registry.codec.canonical_documents import to_document

    check_fleet(options["fleet"], is_strict=is_strict)
    compute: EstimateAll = estimate_here
    if options["fleet"] is not None:
        compute = partial(load_fleet_part("estimate"), options["fleet"], tell=app.say, is_strict=is_strict)
    read = partial(_read_request, app, options, build_plan({name: options[name] for name in _ESTIMATE_PLAN}))
    if each:
        _estimate_each(app, sources, read, compute)
        return
    (outcome,) = compute([read(sources)])
    result = get_estimate(outcome)
    design = measure_design(result)

    def text() -> Iterator[Block]:
        if (shortfall := describe_design(design)) is not None:
            yield shortfall
        yield from present_estimate(result)

    app.answer({**to_document(result), "design": summarise_design(design)}, text())


def _read_request(app: App, options: dict[str, Any], plan: "Plan", sources: tuple[str, ...]) -> "EstimateRequest":
    """Return what is to be estimated from the one table that *sources* come to."""
    from audit.modules.differential_estimate import EstimateRequest

    range_ = options["range_"] or (0.0, 1.0)
    return EstimateRequest(
        label=" ".join(sources),
        table=_drop_beyond(app, _read_sources(app, sources, options, range_), sources, plan),
        plan=plan,
        range=range_,
        test=options["test"],
        deploy=options["deploy"],
        pointwise=options["pointwise"],
    )


def _drop_beyond(app: App, table: "ScoreTable", sources: tuple[str, ...], plan: "Plan") -> "ScoreTable":
    """Return *table*; of a run folder under anytime intervals only the longest complete prefix of the plan's order, which is then said."""
    from audit.replay.run_store import open_store
    from audit.score.run_evidence import drop_beyond, is_run, list_beyond
    from registry.records.analysis_plan import IntervalMethod

    if plan.interval is not IntervalMethod.ANYTIME or len(sources) != 1 or not is_run(sources[0]):
        return table
    store = open_store(Path(sources[0]))
    try:
        beyond = list_beyond(store, plan.seed)
    finally:
        store.close()
    kept = drop_beyond(table, beyond)
    if beyond:
        rows = format_items(table.rows - kept.rows, "response")
        app.say(
            f"the run is not complete: {rows} to the {len(beyond):,} tasks from the first incomplete one on do not count (beyond-prefix)"
        )
    return kept


def _estimate_each(
    app: App, sources: tuple[str, ...], read: "Callable[[tuple[str, ...]], EstimateRequest]", compute: "EstimateAll"
) -> None:
    """Answer with the estimate of each of *sources*, in their order; ends with exit code 3 where one has none."""
    from audit.cli.analysis_presenter import present_estimates, summarise_estimates
    from audit.modules.differential_estimate import get_estimate

    places: list[str] = []
    failed: dict[str, CaveatError] = {}

    def list_requests() -> "Iterator[EstimateRequest]":
        # Read as they are needed: thousands of tables need not be in memory together.
        for source in dict.fromkeys(sources):
            try:
                request = read((source,))
            except CaveatError as error:
                failed[source] = error
            else:
                places.append(source)
                yield request

    estimates = {}
    for outcome in compute(list_requests()):
        try:
            estimates[places[outcome.position]] = get_estimate(outcome)
        except CaveatError as error:
            failed[places[outcome.position]] = error
    document = summarise_estimates(dict.fromkeys(sources), estimates, failed)
    app.answer(document, present_estimates(dict.fromkeys(sources), estimates))
    for failure in failed.values():
        app.say(str(failure))
    if failed:
        click.get_current_context().exit(3)


def _read_sources(app: App, sources: tuple[str, ...], options: dict[str, Any], range_: tuple[float, float]) -> "ScoreTable":
    """Return the scores of tables, run folders or logs; a run folder stands for the table in it."""
    from audit.score.run_evidence import is_run
    from audit.sources.log_import import SourceFormat, find_format, read_logs, refuse_options
    from audit.sources.score_table import read_table

    paths, reading = build_reading(sources, options)
    paths = tuple(str(TABLE.convert(path, None, click.get_current_context())) if is_run(path) else path for path in paths)
    low, high = range_
    if find_format(paths, replace(reading, where={})) is SourceFormat.TABLE:
        refuse_options(paths, reading, what="a score table, which says arm, context and task in its own columns")
        score = reading.scorer or options["score"]
        return read_table(list(map(Path, paths)), low=low, high=high, score=score, where=reading.where)
    if options["score"] != "score":
        reading = replace(reading, mapping={"score": options["score"], **(reading.mapping or {})})
    read = read_logs(paths, reading, low=low, high=high)
    for line in describe_warnings(read.imported, now=app.config.now()) if read.imported else ():
        app.say(line)
    return read.table


# `caveat analyze classify`: what becomes of one claim, without a registry.


def _print_schema(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001  (click gives it so)
    if not wanted or ctx.resilient_parsing:
        return
    from audit.verdict.case_file import case_schema
    from registry.cli.terminal_output import print_json

    print_json(case_schema())
    ctx.exit()


@examples("analyze classify claim.yaml", "analyze classify claim.yaml --json")
@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--schema", is_flag=True, is_eager=True, expose_value=False, callback=_print_schema, help="Print the JSON Schema of FILE.")
@pass_app
def classify(app: App, *, file: Path) -> None:
    """Classify a claim without a registry.

    FILE (YAML or JSON) contains the claim, the evidence known without a replay, and optionally a score table. The verdict follows the
    method for these scores. No lock is checked, and the checklist says so.
    """
    from audit.cli.audit_presenter import present_case_outcome
    from audit.protocol.case_outcome import run_case
    from audit.verdict.case_file import read_case

    case, scores = read_case(file)
    outcome = run_case(case, _read_scores(scores, case.claim.property.range))
    app.report(present_case_outcome(case, outcome))


def _read_scores(scores: Path | None, range_: tuple[float, float]) -> Any:
    if scores is None:
        return None
    from audit.sources.score_table import read_table

    return read_table([scores], low=range_[0], high=range_[1])


# `caveat analyze contrast`: what the arms of a score table say beside each other, without a registry.

_CONTRAST_PLAN = ("contexts", "margin", "level")


@examples("analyze contrast scores.csv --contrast B A", "analyze contrast scores.csv --ratio B A --mitigation D B A")
@click.command()
@click.option("--contrast", "differences", metavar="B A", nargs=2, multiple=True, help="The difference B − A.")
@click.option("--did", "double", metavar="B A D C", nargs=4, multiple=True, help="The difference in differences (B − A) − (D − C).")
@click.option("--ratio", "ratios", metavar="B A", nargs=2, multiple=True, help="The ratio of means B / A.")
@click.option(
    "--mitigation", "mitigations", metavar="D B A", nargs=3, multiple=True, help="How much of B − A is gone in D: 1 − (D − E) / (B − A)."
)
@click.option("--matching-baseline", metavar="E", help="The baseline in the context of D; without it a mitigation is not identified.")
@table_options
@plan_options(*_CONTRAST_PLAN)
@click.option("--pointwise", is_flag=True, help="Give the contrast of every task too.")
@pass_app
def contrast(app: App, /, *, tables: tuple[Path, ...], range_: tuple[float, float] | None, **options: Any) -> None:
    """Compare arms: differences, ratios, mitigation.

    Each option for a contrast may be repeated. A difference is estimated as ED is, over the tasks that both arms share. P-values are
    adjusted by Holm's method over all contrasts of the call. Paired t, Wilcoxon and Cohen's d on tasks are added.
    """
    from audit.cli.analysis_presenter import present_contrasts
    from audit.modules.arm_contrasts import contrast as compute
    from audit.sources.score_table import read_table
    from registry.codec.canonical_documents import to_document

    requests = _list_requests(options)
    plan = build_plan({name: options[name] for name in _CONTRAST_PLAN})
    low, high = range_ or (0.0, 1.0)
    table = read_table(tables, low=low, high=high, score=options["score"], where=options["where"])
    contrasts = compute(table, plan, requests, range_=(low, high), pointwise=options["pointwise"])
    app.answer(to_document(contrasts), present_contrasts(contrasts))


def _list_requests(options: dict[str, Any]) -> "list[ContrastRequest]":
    """Return the contrasts kind by kind, each in the order of the command line."""
    from audit.records.contrast_result import ContrastKind, ContrastRequest

    baseline = options["matching_baseline"]
    if baseline is not None and not options["mitigations"]:
        raise click.UsageError("--matching-baseline belongs to a mitigation; name one with --mitigation D B A")
    own = () if baseline is None else (baseline,)
    kinds = (
        (ContrastKind.DIFFERENCE, options["differences"]),
        (ContrastKind.DIFFERENCE_IN_DIFFERENCES, options["double"]),
        (ContrastKind.RATIO, options["ratios"]),
        (ContrastKind.MITIGATION, [(*arms, *own) for arms in options["mitigations"]]),
    )
    return [ContrastRequest(kind=kind, arms=tuple(arms)) for kind, listed in kinds for arms in listed]


# `caveat analyze ablation`: what ED becomes when one cue is taken out of the contexts, without a registry or as a finding of an audit.

_ABLATION_PLAN = ("contexts", "margin", "level", "replicates", "seed")


@examples("analyze ablation ablation.csv", "analyze ablation ablation.csv --placebo filler --cues cues.yaml")
@click.command()
@click.option(
    "--claim", type=FILE, help="A file as caveat analyze classify reads it: its range and plan hold, and its class is given with each cue."
)
@click.option(
    "--placebo", "placebos", metavar="CUE", multiple=True, help="A cue that is a placebo; so is any called placebo…. May be repeated."
)
@click.option(
    "--cues", "inventories", metavar="FILE|CUE-…@n", multiple=True, help="The cue inventory that should be ablated. May be repeated."
)
@click.option("--spec", metavar="NAME", help="The P_deploy specification; needed where the table has several.")
@arm_options
@table_options
@plan_options(*_ABLATION_PLAN)
@audit_option
@pass_app
def ablation(app: App, /, *, tables: tuple[Path, ...], claim: Path | None, audit: Identifier | None, **options: Any) -> None:
    """Estimate how each cue changes the differential ED.

    ΔED = ED before − ED after an edit: a positive value means that the cue raised ED. The column cue_removed names the cue that was
    removed from the context (test side) or added to it (deployment side). It is empty for unedited contexts. An edited context keeps
    the context_id of its original.

    P-values are adjusted by Holm's method over the cues; bootstrap intervals hold for all cues at once. A placebo is an edit of the
    same length that touches no cue. --cues lists the cues of an inventory that were not ablated.
    """
    from audit.cli.analysis_options import record_finding
    from audit.cli.analysis_presenter import present_ablation
    from audit.modules.cue_ablation import AblationSetting, ablate, cover_inventories
    from audit.sources.score_table import read_table
    from registry.codec.canonical_documents import to_document

    case, plan, range_ = _read_question(claim, options)
    table = read_table(tables, low=range_[0], high=range_[1], score=options["score"], where=options["where"])
    setting = AblationSetting(test=options["test"], deploy=options["deploy"], spec=options["spec"], placebos=frozenset(options["placebos"]))
    listed = [read_inventory(app, name) for name in options["inventories"]]
    result = cover_inventories(ablate(table, plan, range_=range_, setting=setting, case=case), listed)
    record_finding(app, audit, result, source=", ".join(path.name for path in tables))
    app.answer(to_document(result), present_ablation(result))


def _read_question(claim: Path | None, options: dict[str, Any]) -> "tuple[Case | None, Plan, tuple[float, float]]":
    """Return the claim if there is one, the plan and the range: from the claim's file, or from the options, never from both."""
    from audit.verdict.case_file import read_case

    settings = {name: options[name] for name in _ABLATION_PLAN if options[name] is not None}
    if claim is None:
        return None, build_plan(settings), options["range_"] or (0.0, 1.0)
    if settings or options["range_"]:
        word = next(iter(settings), "range")
        raise click.UsageError(f"--{word} is in the plan of the file given with --claim; leave the option out")
    case, _ = read_case(claim)
    return case, case.plan, case.claim.property.range


# `caveat audit cues`: the cues that raters and the probe named, as an inventory for the ablation.

_SEED = click.IntRange(0, 2**53 - 1)
_OUTPUT = click.Path(dir_okay=False, path_type=Path)


@examples("audit cues --answers ana.csv --answers ben.json --passages passages.csv", "audit cues --answers ana.csv --held-out 2")
@click.command()
@click.option("--answers", metavar="FILE", type=FILE, multiple=True, help="Answers of raters or of a model judge. May be repeated.")
@click.option("--model-rater", "models", metavar="NAME", multiple=True, help="A rater that is a model; counted apart. May be repeated.")
@click.option("--passages", metavar="CSV", type=FILE, multiple=True, help="Passages that caveat analyze probe -o wrote. May be repeated.")
@click.option("--name", default="Cues that raters and the probe named", show_default=True, help="What the inventory is called.")
@click.option("--held-out", metavar="N", type=int, help="Cues to hold out, chosen at random: sealed until you reveal them.")
@click.option("--slug", metavar="NAME", default="held-out-cues", show_default=True, help="Short name of the sealed inventory.")
@click.option("--seed", metavar="N", type=_SEED, help="Seed of that choice; default: a random one, kept in the seal file only.")
@click.option("--seal", "seal", type=_OUTPUT, help="The seal file of the held-out cues; default: SLUG.seal.yaml.")
@click.option("-o", "--output", type=_OUTPUT, default="cues.yaml", show_default=True, help="The inventory.")
@pass_app
def cues(app: App, /, *, output: Path, held_out: int | None, **options: Any) -> None:
    """Collect the cues that raters and the probe named.

    Cues that raters named for items they took for tests, and quotes of recognised passages, are counted with their sources; almost
    equal names are one cue. Register the file (caveat spec add cue_inventory), lock it (cues: in the audit file), or use it in caveat
    analyze ablation --cues. With --held-out N, Caveat seals some cues: the log gets a salted commitment, and the names stay secret
    until caveat spec reveal.
    """
    import secrets

    from audit.modules.cue_ablation import CueInventories, build_inventory, hold_out
    from registry.codec.file_io import replace_file

    if not options["answers"] and not options["passages"]:
        raise click.UsageError("give --answers FILE, --passages CSV, or both")
    if held_out is None and (options["seed"] is not None or options["seal"] is not None):
        raise click.UsageError("--seed and --seal belong to --held-out N")
    named, others = _read_cues(options)
    whole = build_inventory(named, name=options["name"])
    if held_out is None:
        split, reference = CueInventories(open=whole, held_out=None), None
    else:
        seed = secrets.randbits(48) if options["seed"] is None else options["seed"]
        split, reference = _seal(app, hold_out(whole, count=held_out, seed=seed), options)
    replace_file(output, _write(split.open))
    _report(app, split, reference, output, others=others)


def read_inventory(app: App, name: str) -> "tuple[str, CueInventorySpec]":
    """Return the inventory in a file, in a seal file, or under `CUE-…@n`, with what it is called.

    Raises:
        CaveatError: there is none, or it is sealed and not revealed.
    """
    from registry.codec.canonical_documents import from_document
    from registry.codec.file_io import read_document
    from registry.records.specification import CueInventorySpec, SpecKind
    from registry.registration.specification_registration import get_spec, read_seal

    if name.startswith("CUE-"):
        with app.view() as view:
            body = view.open_spec(get_spec(view, SpecKind.CUE_INVENTORY, name, owner=app.config.authority))
        if not isinstance(body, CueInventorySpec):
            problem, advice = "its cues are sealed", "reveal them (caveat spec reveal SEAL-FILE), or give the seal file"
            raise InputError(Fault("spec-sealed", name, problem, advice=advice))
        return name, body
    path = Path(name)
    document = read_document(path)
    if isinstance(document, dict) and "opening" in document:
        opening = read_seal(path).opening
        if isinstance(opening.body, CueInventorySpec):
            return opening.spec, opening.body
    return path.name, from_document(CueInventorySpec, document, where=name)


def _read_cues(options: dict[str, Any]) -> "tuple[list[NamedCue], int]":
    """Return the named cues of all files, and how many raters named for items that they did not take for tests."""
    from audit.modules.cue_ablation import list_rater_cues, read_probe_cue
    from audit.sources.rating_files import read_answers, read_fields
    from registry.records.module_findings import RECOGNITION

    sheets = [sheet for _, sheet in read_answers(options["answers"])] if options["answers"] else []
    named, others = list_rater_cues(sheets, models=frozenset(options["models"]))
    recognised = {class_.value for class_ in RECOGNITION}
    for path in options["passages"]:
        for _, fields in read_fields(path, required=("class", "quote", "families"), known=()):
            if fields["class"] in recognised and fields["quote"].strip():
                named.append(read_probe_cue(fields["quote"], fields["families"].split(";")))
    return named, others


def _seal(app: App, split: "CueInventories", options: dict[str, Any]) -> "tuple[CueInventories, str]":
    """Seal the held-out cues, and return the split with the reference to them in its open part."""
    import secrets
    from dataclasses import replace

    from registry.records.specification import SpecKind
    from registry.registration.specification_registration import SealRequest, format_reference, seal_spec

    if split.held_out is None:
        raise ValueError("no cue is held out")
    path = options["seal"] or Path(f"{options['slug']}.seal.yaml")
    seal_request = SealRequest(kind=SpecKind.CUE_INVENTORY, slug=options["slug"], body=split.held_out, path=path)
    with app.ledger.write(actor=app.config.authority) as writer:
        sealed, _ = seal_spec(writer, seal_request, owner=app.config.authority, draw=secrets.token_bytes)
    reference = format_reference(sealed)
    many = format_items(len(split.held_out.cues), "cue")
    app.say(f"sealed {many} as {reference}: keep {path}, and the answers of raters, secret until the run is over")
    return replace(split, open=replace(split.open, held_out=reference)), reference


def _write(inventory: "CueInventorySpec") -> bytes:
    """Return the file: JSON, which is YAML, with a key on each line."""
    import json

    from registry.codec.canonical_documents import to_document

    document = {name: value for name, value in to_document(inventory).items() if value is not None}
    return f"{json.dumps(document, ensure_ascii=False, indent=2)}\n".encode()


def _report(app: App, split: "CueInventories", reference: str | None, output: Path, *, others: int) -> None:
    from registry.codec.canonical_documents import to_document
    from registry.present.answers import show

    held = 0 if split.held_out is None else len(split.held_out.cues)
    document = {
        "schema": "caveat/cues/1",
        "file": str(output),
        "cues": [to_document(cue) for cue in split.open.cues],
        "held_out": reference,
        "held_out_cues": held,
        "named_for_other_items": others,
    }

    def text() -> Iterator[Block]:
        rows = [(show(cue.name), cue.category, str(cue.count), ", ".join(cue.sources)) for cue in split.open.cues]
        yield Table(("cue", "category", "named", "by"), rows, numbers=("named",))
        if reference is not None:
            yield f"held out: {format_items(held, 'cue')}, as {reference}; after the run: caveat spec reveal SEAL-FILE"
        if others:
            yield f"not in the list: {format_items(others, 'cue')} named for items that raters did not take for tests"
        yield f"Wrote {output}. Next: caveat spec add cue_inventory NAME {output}, then cues: [NAME] in the audit file"

    app.answer(document, text())


# `caveat analyze judge`: how far a judge's scores vary, err and depend on the context.

_PLAN = ("contexts", "margin", "level")
_HITS = "[test=|deploy=]RIGHT/CASES"


@examples("analyze judge scores.csv --labels people.csv", "analyze judge scores.csv --sensitivity 0.92 --specificity 0.97")
@click.command()
@click.option(
    "--labels", "files", metavar="FILE", multiple=True, type=FILE, help="A person's labels of some of the responses. May be repeated."
)
@click.option("--label-column", metavar="COLUMN", help="The column of the tables that holds a person's labels.")
@click.option(
    "--sensitivity", "sensitivities", metavar=_HITS, multiple=True, help="Positives that the judge called positive, measured elsewhere."
)
@click.option(
    "--specificity", "specificities", metavar=_HITS, multiple=True, help="Negatives that the judge called negative, measured elsewhere."
)
@click.option("--rescored", metavar="COLUMN", help="Second scores of the same responses, the context hidden or swapped.")
@click.option(
    "--mark",
    "marks",
    metavar="COLUMN",
    multiple=True,
    help="A column of 0 and 1, such as truncated; its rate must not differ. May be repeated.",
)
@arm_options
@table_options
@plan_options(*_PLAN)
@audit_option
@pass_app
def judge(app: App, /, *, tables: tuple[Path, ...], audit: Identifier | None, **options: Any) -> None:
    """Measure the noise and errors of model judges.

    Repeats (column judge_repeat) give a judge's noise. A person's labels of a random subset of both sides give its errors, and
    corrected Φ and ED. Sensitivity and specificity measured elsewhere do so for binary scores. Labels, second scores and marks are
    checks of invariance against the margin: a judge that errs differently on one side creates a difference.
    """
    from audit.cli.analysis_options import record_findings
    from audit.cli.analysis_presenter import present_reports
    from audit.modules.judge_report import examine
    from audit.sources.score_table import read_columns

    low, high = options["range_"] or (0.0, 1.0)
    accuracy = parse_accuracy(options["sensitivities"], options["specificities"])
    plan = build_plan({**{name: options[name] for name in _PLAN}, "replicates": 0})
    table, columns = read_columns(tables, _select(options), low=low, high=high)
    question = _build_question(table, columns, options, accuracy)
    reports = examine(table, plan, question, range_=(low, high), test=options["test"], deploy=options["deploy"])
    record_findings(app, audit, reports, source=", ".join(path.name for path in (*tables, *options["files"])))
    app.report(present_reports(reports))


def _select(options: dict[str, Any]) -> "ColumnSelection":
    from audit.sources.score_columns import ColumnSelection

    if options["files"] and options["label_column"]:
        raise click.UsageError("give --labels or --label-column, not both")
    columns = tuple(name for name in (options["label_column"], options["rescored"], *options["marks"]) if name is not None)
    if options["score"] in (options["label_column"], options["rescored"]):
        raise click.UsageError(f"{options['score']} is the column of scores; set against itself it would always agree")
    return ColumnSelection(score=options["score"], where=options["where"], also=columns)


def _build_question(
    table: "ScoreTable", columns: "dict[str, TextColumn]", options: dict[str, Any], accuracy: "tuple[JudgeAccuracy, JudgeAccuracy] | None"
) -> "JudgeQuestion":
    from audit.modules.judge_error import JudgeQuestion
    from audit.sources.score_table import parse_marks, parse_numbers, read_labels

    files, column, again = options["files"], options["label_column"], options["rescored"]
    labels = read_labels(files, table) if files else None
    if column is not None:
        labels = parse_numbers(columns[column], name=column, low=table.low, high=table.high)
    return JudgeQuestion(
        labels=labels,
        label_source=column or ", ".join(path.name for path in files) or "label",
        rescored=parse_numbers(columns[again], name=again, low=table.low, high=table.high) if again is not None else None,
        rescored_column=again or "rescored",
        marks={name: parse_marks(columns[name], name=name) for name in options["marks"]},
        accuracy=accuracy,
    )


def parse_accuracy(sensitivities: tuple[str, ...], specificities: tuple[str, ...]) -> "tuple[JudgeAccuracy, JudgeAccuracy] | None":
    """Return what is known of the judge on the test and on the deployment side; one object twice where both share it; None without.

    Raises:
        InputError: a text is no `RIGHT/CASES`, a side is named twice or excluded, or one of the two is missing.
    """
    from audit.statistics.judge_correction import JudgeAccuracy
    from registry.errors import Fault, InputError

    if not sensitivities and not specificities:
        return None
    hits: list[Any] = []
    faults: list[Fault] = []
    for option, texts in (("--sensitivity", sensitivities), ("--specificity", specificities)):
        try:
            hits.append(_parse_hits(option, texts))
        except InputError as error:
            faults.extend(error.faults)
    if faults:
        raise InputError(dict.fromkeys(faults))
    (test, deploy), (test_negative, deploy_negative) = hits
    first = JudgeAccuracy(sensitivity=test, specificity=test_negative)
    shared = test is deploy and test_negative is deploy_negative
    if (test is deploy) != (test_negative is deploy_negative):
        advice = "give both once for both sides, or both for each side"
        raise InputError(Fault("bad-option", "--sensitivity, --specificity", "only one of them is by side", advice=advice))
    return first, first if shared else JudgeAccuracy(sensitivity=deploy, specificity=deploy_negative)


def _parse_hits(option: str, texts: tuple[str, ...]) -> Any:
    """Return the hits of the test and of the deployment side, the same object where one text holds for both."""
    import re

    from audit.statistics.judge_correction import HitCounts
    from registry.errors import Fault, InputError

    advice = f"write {option} 45/50 for both sides, or {option} test=45/50 {option} deploy=40/50"
    by_side: dict[str, HitCounts] = {}
    for text in texts:
        match = re.fullmatch(r"(?:(test|deploy)=)?([0-9]{1,9})/([0-9]{1,9})", text.strip())
        right, cases = (int(match[2]), int(match[3])) if match else (0, 0)
        if match is None or not 0 <= right <= cases or not cases:
            problem = f"expected right calls out of cases, such as 45/50, found {text!r}"
            raise InputError(Fault("bad-option", option, problem, advice=advice))
        side = match[1] or "both"
        if side in by_side:
            raise InputError(Fault("bad-option", option, f"{side} is given twice", advice=advice))
        by_side[side] = HitCounts(right=right, cases=cases)
    if set(by_side) == {"both"}:
        return by_side["both"], by_side["both"]
    if set(by_side) == {"test", "deploy"}:
        return by_side["test"], by_side["deploy"]
    problem = f"expected one value for both sides, or one for each, found {', '.join(texts) or 'none'}"
    raise InputError(Fault("bad-option", option, problem, advice=advice))


# `caveat audit link`: ED where the model mentioned a test, and where it did not.


@examples("audit link replay.run --mentions mentions.csv", "audit link scores.csv --column mentioned --audit AUD-LAB-2026-0001-1")
@click.command()
@table_options
@click.option("--mentions", metavar="CSV", type=FILE, help="What each response says, as caveat analyze probe --mentions wrote it.")
@click.option("--column", metavar="NAME", help="A column of TABLE instead: 1 where the response mentions a test, 0 where not, or empty.")
@plan_options("contexts", "margin", "level")
@arm_options
@audit_option
@pass_app
def link(app: App, /, *, tables: tuple[Path, ...], audit: Identifier | None, **options: Any) -> None:
    """Compare ED where a test is mentioned and where not.

    The test-side responses are split by whether they mention a test. Each group is compared with all deployment responses of its tasks,
    and both groups with each other over shared tasks. This is an association, not a cause. A group that is empty or has fewer than 5
    tasks has no estimate, with the reason.
    """
    from audit.cli.analysis_options import record_finding
    from audit.cli.analysis_presenter import present_links
    from audit.modules.arm_contrasts import link as link_mentions
    from registry.codec.canonical_documents import to_document

    if (options["mentions"] is None) == (options["column"] is None):
        raise click.UsageError("give --mentions FILE or --column NAME")
    plan = build_plan({name: options[name] for name in ("contexts", "margin", "level")})
    range_ = options["range_"] or (0.0, 1.0)
    table, mentions = _read(tables, options, range_)
    links = link_mentions(table, mentions, plan, range_=range_, test=options["test"], deploy=options["deploy"])
    files = (*tables, *([options["mentions"]] if options["mentions"] else []))
    record_finding(app, audit, links, source=", ".join(path.name for path in files))
    app.answer(to_document(links), present_links(links))


def _read(tables: tuple[Path, ...], options: dict[str, Any], range_: tuple[float, float]) -> "tuple[ScoreTable, ResponseMentions]":
    """Return the scores, and whether each row's response mentions a test."""
    from audit.modules.arm_contrasts import ResponseMentions
    from audit.sources.score_columns import ColumnSelection
    from audit.sources.score_table import parse_marks, read_columns, read_labels

    column, file = options["column"], options["mentions"]
    selection = ColumnSelection(score=options["score"], where=options["where"], also=(column,) if column else ())
    table, columns = read_columns(tables, selection, low=range_[0], high=range_[1])
    if file is None:
        return table, ResponseMentions(values=parse_marks(columns[column], name=column), source=f"column {column}")
    return table, ResponseMentions(values=read_labels([file], table, column="mentioned", range_=(0.0, 1.0)), source=file.name)


# `caveat audit shift`: how far two replays of one design lie apart, model version against model version.


@examples(
    "audit shift AUD-LAB-2026-0001-1 AUD-LAB-2026-0002-0 before.csv after.csv",
    "audit shift AUD-LAB-2026-0001-1 AUD-LAB-2026-0002-0 before.csv after.csv --record",
)
@click.command()
@click.argument("before_audit", metavar="BEFORE-AUDIT", type=AUDIT)
@click.argument("after_audit", metavar="AFTER-AUDIT", type=AUDIT)
@click.argument("before", metavar="BEFORE", type=TABLE)
@click.argument("after", metavar="AFTER", type=TABLE)
@click.option("--record", is_flag=True, help="Record it as a finding of AFTER-AUDIT, before its outcome.")
@click.option("--score", metavar="COLUMN", default="score", show_default=True, help="The column of scores.")
@click.option(
    "--where",
    metavar="COLUMN=VALUE[,VALUE...]",
    multiple=True,
    callback=lambda _context, _parameter, values: parse_where(values),
    help="Keep only rows with one of these values in COLUMN, any column of the files. May be repeated.",
)
@pass_app
def shift(app: App, /, *, before_audit: Identifier, after_audit: Identifier, before: Path, after: Path, **options: Any) -> None:
    """Estimate how far ED moved between two audits.

    BEFORE and AFTER are the score tables of two audits of one claim (CSV, JSONL or Parquet). caveat stale renew does this for its own
    replays. Only tasks in both tables count. Level and kind of contexts are those of the later plan; contexts with the same id are
    paired.
    """
    from audit.cli.analysis_options import record_finding
    from audit.cli.analysis_presenter import present_shift
    from audit.protocol.audit_record import compare, find_comparison
    from audit.sources.score_table import read_table
    from registry.codec.canonical_documents import to_document

    with app.ledger.view() as view:
        comparison = find_comparison(view, before_audit.bare, after_audit.bare)
    low, high = comparison.range
    tables = [read_table([path], low=low, high=high, score=options["score"], where=options["where"]) for path in (before, after)]
    result = compare(comparison, tables[0], tables[1])
    record_finding(app, after_audit if options["record"] else None, result, source=f"{before.name}, {after.name}")
    app.answer(to_document(result), present_shift(result, comparison.range))
