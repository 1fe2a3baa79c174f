"""`caveat schema`: the JSON Schemas of the files that people write."""

from typing import Any, cast

import click

from registry.cli.app import App, pass_app
from registry.cli.main import find_commands

_ELSEWHERE = "caveat.schemas"


def _find_nouns() -> dict[str, type]:
    from registry.records.claim_draft import AuditDraft, ClaimDraft, ClaimsFile
    from registry.records.replay_definition import Replay, Task, TasksFile
    from registry.records.replay_run import Provenance
    from registry.records.specification import ContextSpec, CueInventorySpec, MethodSpec, PropertySpec, Scorer, ScoringSpec, SealFile
    from registry.records.supplement import CardSupplement, ChangeReport, Supplement
    from registry.regeneration.folder_document import Folder

    return {
        "audit": AuditDraft,
        "card-supplement": CardSupplement,
        "change-report": ChangeReport,
        "claim": ClaimDraft,
        "claims": ClaimsFile,
        "context": ContextSpec,
        "cue-inventory": CueInventorySpec,
        "folder": Folder,
        "method": MethodSpec,
        "property": PropertySpec,
        "provenance": Provenance,
        "replay": Replay,
        "scorer": cast("type", Scorer),
        "scoring": ScoringSpec,
        "seal": SealFile,
        "supplement": Supplement,
        "task": Task,
        "tasks": TasksFile,
    }


@click.command()
@click.argument("name", required=False)
@pass_app
def schema(app: App, /, *, name: str | None) -> None:
    """Print the JSON Schema of a file format, or the names of all."""
    from registry.codec.documents import json_schema
    from registry.errors import Fault, NotFoundError

    nouns, elsewhere = _find_nouns(), find_commands(_ELSEWHERE)
    names = sorted({*nouns, *elsewhere})
    if name is None:
        app.report({"schema": "caveat/schemas/1", "names": names}, lambda console: console.print("\n".join(names)))
    elif name == "context":
        from registry.registration.context_specification import context_schema

        app.report(context_schema())
    elif name in nouns:
        app.report(json_schema(nouns[name]))
    elif name in elsewhere:
        found: dict[str, Any] = elsewhere[name].load()()
        app.report(found)
    else:
        raise NotFoundError(Fault(code="unknown-schema", where=name, found=f"no such file format; there are {', '.join(names)}"))
