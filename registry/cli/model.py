"""`caveat model`: versions and their lineage."""

import click

from registry.cli.app import App, as_of_option, pass_app
from registry.cli.parameters import parse_model
from registry.errors import ConflictError, Fault
from registry.records.model import ModelVersion


@click.group()
def model() -> None:
    """Model versions and which follows which."""


@model.command()
@click.argument("version", metavar="DEV/NAME/VERSION")
@click.option("--predecessor", metavar="DEV/NAME/VERSION", help="The version it replaces; claims about that become potentially stale.")
@click.option("--note", help="What is to be said of it.")
@pass_app
def add(app: App, *, version: str, predecessor: str | None, note: str | None) -> None:
    """Register a model version, and the one it replaces if that is new; the same again changes nothing."""
    wanted = ModelVersion(
        model=parse_model(version, where="VERSION"),
        predecessor=parse_model(predecessor, where="--predecessor") if predecessor else None,
        note=note,
    )
    with app.ledger.write(actor=app.config.authority) as writer:
        known = writer.find_model(wanted.model)
        if known is None:
            if wanted.predecessor and writer.find_model(wanted.predecessor) is None:
                writer.append(ModelVersion(model=wanted.predecessor))
            writer.append(wanted)
        elif known.payload.predecessor != wanted.predecessor:
            found = f"is registered as following {known.payload.predecessor or 'nothing'}, by entry {known.entry.seq}"
            advice = "lineage that is recorded stays; register a version of its own"
            raise ConflictError(Fault(code="lineage-differs", where=version, found=found, advice=advice))
    app.report(
        {"schema": "caveat/model-add/1", "model": str(wanted.model), "new": known is None},
        lambda console: console.print(f"{'Registered' if known is None else 'Registered already:'} {wanted.model}"),
    )


@model.command("list")
@as_of_option
@pass_app
def list_(app: App) -> None:
    """List model versions with their predecessors."""
    from registry.cli.output import build_table
    from registry.codec.documents import to_document

    with app.view() as view:
        models = [one.payload for one in view.list_models()]
    rows = [(str(one.model), str(one.predecessor or "–"), one.note or "") for one in models]
    app.report(
        {"schema": "caveat/models/1", "models": [to_document(one) for one in models]},
        lambda console: console.print(build_table(("model version", "follows", "note"), rows) if rows else "No model versions."),
    )
