"""`caveat gate`: a draft card or a model version against the registry, for authors and for CI. Reads only."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from registry.cli.application import App, as_of_option, examples, parse_model, pass_app
from registry.errors import AlteredError, CaveatError, UnavailableError

if TYPE_CHECKING:
    from interchange.gate.gate_finding import GateReport
    from registry.store.registry_view import View

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@examples(
    "gate cards/card.md",
    'gate cards/card.md --model "LAB/Model/2" --format sarif -o gate.sarif',
    'gate --model "LAB/Model/2" --format junit -o gate.xml',
)
@click.command()
@click.argument("draft", type=_FILE, required=False)
@click.option("--model", "model_text", metavar="LAB/MODEL/VERSION", help="The model version of the draft, or the one that changes.")
@click.option("--bundle", metavar="FILE", help="Judge by this bundle or caveat.db, instead of the registry here.")
@click.option("--policy", type=_FILE, metavar="FILE", help="Waivers and stricter levels; default: gate.yaml, if it is here.")
@click.option(
    "--fail-on", type=click.Choice(["error", "warning", "note"]), default="error", show_default=True, help="Fail from this level."
)
@click.option("--format", "format_name", type=click.Choice(["sarif", "junit"]), help="Write the findings in this format.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="The file of --format.")
@click.option("--baseline", type=_FILE, metavar="FILE", help="An earlier SARIF file: only findings that it lacks fail.")
@as_of_option
@pass_app
def gate(
    app: App, *, draft: Path | None, model_text: str | None, bundle: str | None, policy: Path | None, fail_on: str, format_name: str | None,
    output: Path | None, baseline: Path | None,
) -> None:  # fmt: skip
    """Check a draft card, or a change of model.

    It finds quoted claims that are contradicted, stale, withdrawn or not audited. It finds figures without limit, n, interval or version,
    and passages that are not registered. Nothing is recorded. Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 bad input, 3 the
    registry could not be read.
    """
    if draft is None and model_text is None:
        raise click.UsageError(
            "name a draft, or the model version that changes: caveat gate CARD, or caveat gate --model LAB/MODEL/VERSION"
        )
    if (format_name is None) != (output is None):
        raise click.UsageError("give --format and -o together")
    try:
        report = _judge(app, draft, model_text, bundle, policy, fail_on=fail_on, baseline=baseline)
    except (UnavailableError, AlteredError) as error:
        _write(output, format_name, None, exit_code=error.exit_code, has_baseline=baseline is not None, error=error)
        raise
    exit_code = int(bool(report.failing))
    _write(output, format_name, report, exit_code=exit_code, has_baseline=baseline is not None)
    from interchange.cli.gate_presenter import describe_gate

    app.report(describe_gate(report, None if output is None else str(output)))
    if exit_code:
        click.get_current_context().exit(exit_code)


def _judge(
    app: App, draft: Path | None, model_text: str | None, bundle: str | None, policy: Path | None, *, fail_on: str, baseline: Path | None
) -> "GateReport":
    from interchange.gate.draft_check import Draft, check_draft, check_model
    from interchange.gate.gate_files import read_baseline
    from interchange.gate.gate_finding import GateReport, Level
    from interchange.gate.gate_policy import NO_POLICY, apply_policy, read_policy

    # Everything that a user wrote is read before the registry: bad input is no failure of the registry.
    model = None if model_text is None else parse_model(model_text, where="--model")
    path = policy or (Path("gate.yaml") if Path("gate.yaml").is_file() else None)
    rules = NO_POLICY if path is None else read_policy(path)
    known = frozenset() if baseline is None else read_baseline(baseline)
    read = None if draft is None else Draft(draft)
    with _open(app, bundle) as view:
        if read is not None:
            findings, checked = check_draft(view, read, model)
        elif model is not None:
            findings, checked = check_model(view, model)
    judged = apply_policy(findings, rules, today=app.config.today)
    marked = tuple(replace(finding, is_known=finding.fingerprint in known) for finding in judged)
    return GateReport(findings=marked, checked=tuple(checked), fail_on=Level(fail_on))


@contextmanager
def _open(app: App, bundle: str | None) -> "Iterator[View]":
    """Open the registry, or a bundle. Outcomes expire by the clock: a card is published today."""
    if bundle is None:
        with app.view(by_clock=True) as view:
            yield view
        return
    from registry.exchange.compared_registry import open_compared

    with open_compared(bundle, clock=app.config.now) as compared:
        yield compared.view


def _write(
    output: Path | None, format_name: str | None, report: "GateReport | None", *, exit_code: int, has_baseline: bool,
    error: CaveatError | None = None,
) -> None:  # fmt: skip
    if output is None:
        return
    from interchange.cli.export_command import find_version
    from interchange.gate.gate_files import write_junit, write_sarif
    from registry.codec.file_io import write_file

    fault = None if error is None else str(error)
    if format_name == "junit":
        content = write_junit(report, fault=fault)
    else:
        content = write_sarif(report, version=find_version(), exit_code=exit_code, has_baseline=has_baseline, fault=fault)
    write_file(output, content)
