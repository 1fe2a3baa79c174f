"""`caveat schema`: the JSON Schemas of the files that people write."""

import click

from registry.cli.app import App, pass_app

NAMES = ("audit", "claims", "context", "property", "scoring", "statement")


@click.command()
@click.argument("name", type=click.Choice(NAMES), required=False)
@pass_app
def schema(app: App, *, name: str | None) -> None:
    """Print the JSON Schema of a file format, or the names of all."""
    if name is None:
        app.report({"schema": "caveat/schemas/1", "names": list(NAMES)}, lambda console: console.print("\n".join(NAMES)))
        return
    from registry.codec.documents import json_schema
    from registry.records.draft import AuditDraft, ClaimsFile
    from registry.records.spec import ContextSpec, PropertySpec, ScoringSpec
    from registry.records.statement import Statement

    nouns: dict[str, type] = {
        "audit": AuditDraft,
        "claims": ClaimsFile,
        "context": ContextSpec,
        "property": PropertySpec,
        "scoring": ScoringSpec,
        "statement": Statement,
    }
    app.report(json_schema(nouns[name]))
