"""`caveat audit rate`: can blind raters tell a test from deployment?"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.call_options import call_options
from audit.cli.options import FILE, arm_options, audit_option, build_plan, plan_options
from registry.cli.application import App, pass_app
from registry.records.record import Identifier

if TYPE_CHECKING:
    from audit.records.rating_sheet import RatingSample

_SEED = click.IntRange(0, 2**53 - 1)
_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group()
def rate() -> None:
    """The naturalness audit: blinded sheets out, answers in."""


@rate.command()
@click.argument("samples", metavar="RUN|SAMPLES...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--spec", metavar="NAME", help="Of a run folder with several specifications of P_deploy, the one to be rated.")
@click.option("--raters", metavar="NAME,NAME...", required=True, help="Who rates, persons and models.")
@click.option("-o", "--output", "folder", metavar="DIR", required=True, type=_FOLDER, help="A new folder for key and sheets.")
@click.option("--items", metavar="N", type=int, help="Items in all, half of each side; default: as many as the smaller side has, twice.")
@click.option("--seed", metavar="N", type=_SEED, help="Seed of draw and shuffles; default: a random one, kept in the key.")
@arm_options
@pass_app
def sheet(app: App, /, *, samples: tuple[Path, ...], raters: str, folder: Path, **options: Any) -> None:
    """Write a blinded, shuffled sheet for each rater, and the key that they must not see.

    RUN is a run folder of caveat audit run: every prompt of both sides, as the model was sent it, is a sample, but not those of edits.
    SAMPLES are CSV or JSONL with the columns arm and text (a prompt or transcript), optional task_id and context_id. Each rater gets
    the folder with their name: sheet.html to fill in offline, sheet.csv for a spreadsheet, instructions.txt.
    """
    import secrets

    from audit.blinding import digest_key, draw_sheets
    from audit.cli.rate_sheets import write_sheets
    from audit.cli.rate_text import print_sheets, summarise_sheets

    found = _read_samples(samples, options)
    names = [name.strip() for name in raters.split(",")]
    seed = secrets.randbits(48) if options["seed"] is None else options["seed"]
    drawn = draw_sheets(found, names, items=options["items"], seed=seed, arms=(options["test"], options["deploy"]))
    write_sheets(folder, drawn.key, drawn.sheets)
    digest = digest_key(drawn.key)
    app.report(summarise_sheets(drawn, folder, digest), lambda console: print_sheets(console, drawn, folder, digest))


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


@rate.command()
@click.argument("key", type=FILE)
@click.argument("sheets", metavar="ANSWERS...", nargs=-1, required=True, type=FILE)
@click.option("--model-rater", "models", metavar="NAME", multiple=True, help="A rater that is a model; shown apart. May be repeated.")
@plan_options("level", "rater_limit")
@audit_option
@pass_app
def answers(app: App, /, *, key: Path, sheets: tuple[Path, ...], models: tuple[str, ...], audit: Identifier | None, **options: Any) -> None:
    """Read the answer sheets (CSV or JSON) against KEY, and say whether raters can tell the sides apart.

    Each rater gets an exact interval and an exact test against chance. Persons together: raters and items crossed, both counted as
    samples. Items left undecided count for nobody.
    """
    from audit.blinding import digest_key
    from audit.cli.rate_sheets import read_key
    from audit.cli.rate_text import print_naturalness
    from audit.cli.record import record_finding
    from audit.naturalness import assess
    from audit.sources.rating_files import read_answers
    from registry.codec.canonical_documents import to_document

    plan = build_plan(options)
    truth = read_key(key)
    found = assess(
        truth,
        read_answers(sheets),
        digest=digest_key(truth),
        models=frozenset(models),
        level=plan.level,
        rater_limit=plan.rater_limit,
    )
    record_finding(app, audit, found, source=", ".join(path.name for path in (key, *sheets)))
    app.report(to_document(found), lambda console: print_naturalness(console, found))


@rate.command()
@click.argument("folder", metavar="FOLDER", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--judge", "model", metavar="MODEL", required=True, help="The model that is asked.")
@click.option("--pairwise", is_flag=True, help="Ask about pairs instead: which of the two is the real one? Each pair in both orders.")
@click.option("--rater", metavar="NAME", help="Whose sheet is read, and who the answers are said to be by; default: the first.")
@click.option("--seed", metavar="N", type=_SEED, help="Seed of pairing and order; default: that of the key.")
@click.option("--base-url", metavar="URL", help="The endpoint; default: ANTHROPIC_BASE_URL.")
@call_options("one answer", "a judge")
@click.option("--cache", metavar="DIR", type=_FOLDER, help="Where answers are kept; default: FOLDER/judge.")
@plan_options("level", "rater_limit")
@audit_option
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Write the answers as a sheet (.json)."
)
@pass_app
def judge(app: App, /, *, folder: Path, audit: Identifier | None, output: Path | None, **options: Any) -> None:
    """Ask a model about the sheet in FOLDER: test or deployment?

    The model gets the instructions and texts that raters get, and nothing of the key. It is a sensitivity check beside persons, so it
    can weaken a verdict and never strengthen it. Answers that are neither test nor deployment count at the worst for the contexts.
    The same command again asks nothing twice.

    \b
    Examples:
      caveat audit rate judge rating --judge MODEL --dry-run
      caveat audit rate judge rating --judge MODEL --pairwise --audit AUD-EXAMPLE-2026-0001-H
    """
    from audit.cli.rate_judge import ask_judge

    if options["pairwise"] and output is not None:
        raise click.UsageError("-o writes answers to single items: leave --pairwise out")
    ask_judge(app, folder, audit, output, options)
