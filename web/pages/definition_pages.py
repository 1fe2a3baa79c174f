"""Pages of definitions: properties, scoring functions, contexts, cue inventories and methods, one page for each version."""

import json
from typing import Any

from registry.cli.spec_presenter import compare_specs, present_changes
from registry.codec.canonical_documents import to_document
from registry.errors import NotFoundError
from registry.present.answers import render_json
from registry.records.dossier import Recorded
from registry.records.specification import ContextSpec, CueInventorySpec, Reveal, SpecBody, SpecKind, SpecVersion
from registry.report.status_account import describe_state
from registry.store.registry_view import View
from web.pages.addresses import Linker, find_authority_page, find_list_page
from web.pages.layout import PageLink, PageText, render, show_blocks

KINDS = {
    SpecKind.PROPERTY: "Property",
    SpecKind.SCORING: "Scoring function",
    SpecKind.TEST_CONTEXT: "Evaluation contexts",
    SpecKind.DEPLOY_CONTEXT: "Deployment contexts",
    SpecKind.CUE_INVENTORY: "Cue inventory",
    SpecKind.METHOD: "Method",
}


def render_definition(view: View, name: str, link: Linker, *, is_used: bool) -> bytes:
    """Return the page of the definition *name*, `CTX-…@n`; raises NotFoundError where its text was erased.

    Args:
        is_used: whether a list of the claims about it exists; only properties have one.
    """
    recorded = view.find_spec(name)
    if recorded is None:
        raise ValueError(f"{name} is no definition")
    version = recorded.payload
    body = view.open_spec(version)
    facts = _collect_facts(view, recorded, body, link)
    facts["claims_link"] = PageLink(text="Claims about it", href=link(_find_claims(link, version.spec))) if is_used else None
    title = f"{KINDS[version.kind]} {body.name if body is not None else version.slug}"
    text = PageText(title=title, description=f"{name}, {KINDS[version.kind].lower()}", origin=view.log_origin, state="")
    return render("definition.html.j2", text, facts, link)


def _find_claims(link: Linker, spec: str) -> str:
    return f"/claims/?property={spec}" if link.settings.has_search else find_list_page("property", spec)


def _collect_facts(view: View, recorded: Recorded[SpecVersion], body: SpecBody | None, link: Linker) -> dict[str, Any]:
    version = recorded.payload
    name = f"{version.spec}@{version.version}"
    versions = view.list_spec_versions([version.spec])
    reveal = view.find_reveal(version.spec, version.version) if version.body is None else None
    changes, obstacle = (None, None)
    if version.version > 1:
        changes, obstacle = _compare(view, name)
    objections = [
        PageLink(
            text=file.objection.payload.objection,
            href=link(f"/{file.objection.payload.objection}/"),
            is_code=True,
            note=f"by {file.objection.payload.by} since {file.objection.entry.at:%Y-%m-%d}: {describe_state(file)}",
        )
        for file in view.list_objections(name)
    ]
    gone = view.list_erased_objections(name)
    objections += [PageLink(text=one, href=link(f"/{one}/"), is_code=True, note="a text of it was erased") for one in gone]
    return {
        "name": name,
        "recorded": recorded,
        "kind": KINDS[version.kind],
        "definition": body,
        "rows": _list_rows(body) if body is not None else [],
        "cues": body.cues if isinstance(body, CueInventorySpec) else (),
        "is_context": isinstance(body, ContextSpec),
        "reveal": reveal,
        "owner": PageLink(text=version.owner, href=link(find_authority_page(version.owner))),
        "versions": [PageLink(text=one, href=link(f"/{one}/"), is_code=True, is_current=one == name) for one in versions],
        "newest": PageLink(text=versions[-1], href=link(f"/{versions[-1]}/"), is_code=True) if versions[-1] != name else None,
        "changes": None if changes is None else show_blocks(present_changes(changes), level=2, whole=link(f"/{name}.json")),
        "obstacle": obstacle,
        "objections": objections,
        "record": PageLink(text=f"{name}.json", href=link(f"/{name}.json"), is_code=True),
        "whole": link(f"/{name}.json"),
    }


def _compare(view: View, name: str) -> tuple[list[dict[str, Any]] | None, str | None]:
    bare, _, number = name.partition("@")
    try:
        return compare_specs(view, f"{bare}@{int(number) - 1}", name)
    except NotFoundError as error:
        if error.code != "body-erased":
            raise
        return None, "The text of the version before was erased."


def _list_rows(body: SpecBody) -> list[tuple[str, str]]:
    """Return the fields of a definition that has no table of its own; what is made of parts as JSON."""
    skipped = {"name", "cues", "contexts", "blocks", "edits"}
    document: dict[str, Any] = to_document(body)
    shown = {key: value for key, value in document.items() if key not in skipped and value is not None and value != []}
    return [(key.replace("_", " "), _show_field(key, value)) for key, value in shown.items()]


def _show_field(key: str, value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case [low, high] if key == "range":
            return f"{low:g} to {high:g}"
        case dict() | list():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return str(value).replace("_", " ") if key in ("class", "direction", "method") else str(value)


def write_record(view: View, name: str) -> bytes:
    """Return the record of the definition *name*, `CTX-…@n`, with the text that was revealed since."""
    recorded = view.find_spec(name)
    if recorded is None:
        raise ValueError(f"{name} is no definition")
    version = recorded.payload
    document = {"schema": "caveat/spec/1", **to_document(version), "entry": to_document(recorded.entry)}
    reveal: Recorded[Reveal] | None = view.find_reveal(version.spec, version.version) if version.body is None else None
    if reveal is not None:
        document |= {"revealed": to_document(reveal.entry), "opening": to_document(reveal.payload.opening)}
    return f"{render_json(document)}\n".encode()
