"""`caveat spec`: properties, scoring functions, contexts, cue inventories, methods."""

from pathlib import Path
from typing import Any

import click

from registry.cli.app import App, as_of_option, pass_app
from registry.cli.parameters import SPEC
from registry.records.identifier import Identifier
from registry.records.spec import ContextSpec, CueInventorySpec, MethodSpec, PropertySpec, ScoringSpec, SpecBody, SpecKind, SpecVersion

BODIES: dict[SpecKind, type[SpecBody]] = {
    SpecKind.PROPERTY: PropertySpec,
    SpecKind.SCORING: ScoringSpec,
    SpecKind.TEST_CONTEXT: ContextSpec,
    SpecKind.DEPLOY_CONTEXT: ContextSpec,
    SpecKind.CUE_INVENTORY: CueInventorySpec,
    SpecKind.METHOD: MethodSpec,
}
_KIND = click.Choice([kind.value for kind in SpecKind])


@click.group()
def spec() -> None:
    """Specifications: what is measured, how it is scored, and under which contexts."""


@spec.command()
@click.argument("kind", type=_KIND)
@click.argument("slug")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--why", help="Why there is a new version.")
@pass_app
def add(app: App, *, kind: str, slug: str, file: Path, why: str | None) -> None:
    """Register the specification in FILE as SLUG.

    The same body again changes nothing; another one under a used short name is a new version, and needs --why. What contexts are
    composed of is checked first: blocks, edits, and the text files that blocks name.
    """
    from registry.registration.specs import format_reference, register_spec

    body = _read_body(SpecKind(kind), file)
    with app.ledger.write(actor=app.config.authority) as writer:
        registered, is_new = register_spec(writer, SpecKind(kind), slug, body, owner=app.config.authority, why=why)
    reference = format_reference(registered)
    app.report(
        {"schema": "caveat/spec-add/1", "spec": reference, "new": is_new},
        lambda console: console.print(f"{'Registered' if is_new else 'Registered already:'} {reference} ({kind} {slug})"),
    )


@spec.command("list")
@click.option("--kind", type=_KIND, help="Only specifications of this kind.")
@as_of_option
@pass_app
def list_(app: App, *, kind: str | None) -> None:
    """List specifications, the latest version of each."""
    from registry.cli.output import build_table
    from registry.codec.documents import to_document
    from registry.registration.specs import format_reference

    with app.view() as view:
        specs = [one.payload for one in view.list_specs(SpecKind(kind) if kind else None)]
    rows = [(format_reference(one), one.kind.value, one.slug, one.owner, _describe_body(one)) for one in specs]
    app.report(
        {"schema": "caveat/specs/1", "specs": [to_document(one) for one in specs]},
        lambda console: console.print(build_table(("spec", "kind", "short name", "owner", "what"), rows) if rows else "No specifications."),
    )


@spec.command()
@click.argument("spec_id", type=SPEC)
@as_of_option
@pass_app
def show(app: App, *, spec_id: Identifier) -> None:
    """Show one specification; contexts as they are composed."""
    from registry.cli.spec_text import print_context_spec
    from registry.codec.documents import to_document
    from registry.registration.specs import format_reference

    with app.view() as view:
        found = _get(view, spec_id, spec_id.revision)
    document = {**to_document(found), "schema": "caveat/spec/1"}
    body = found.body
    if isinstance(body, ContextSpec):
        app.report(document, lambda console: print_context_spec(console, found, body, format_reference(found)))
    else:
        app.report(document)


@spec.command()
@click.argument("spec_id", type=SPEC)
@click.option("--from", "old", type=click.IntRange(1), help="Version to compare from; default: the one before.")
@as_of_option
@pass_app
def diff(app: App, *, spec_id: Identifier, old: int | None) -> None:
    """Compare two versions of a specification word by word.

    What was taken out stands between [- and -], what was put in between {+ and +}.
    """
    from registry.cli.spec_text import print_changes
    from registry.codec.documents import to_document

    with app.view() as view:
        later = _get(view, spec_id, spec_id.revision)
        earlier = _get(view, spec_id, old or max(later.version - 1, 1))
    before, after = (to_document(one)["body"] or {} for one in (earlier, later))
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    changes = [{"field": key, "before": before.get(key), "after": after.get(key)} for key in keys]
    document = {
        "schema": "caveat/spec-diff/1",
        "spec": spec_id.bare,
        "from": earlier.version,
        "to": later.version,
        "why": later.why,
        "changes": changes,
    }
    app.report(document, lambda console: print_changes(console, changes))


def _read_body(kind: SpecKind, file: Path) -> SpecBody:
    from registry.codec.documents import from_document
    from registry.codec.files import read_document
    from registry.registration.context_file import read_context_spec

    if BODIES[kind] is ContextSpec:
        return read_context_spec(file)[0]
    return from_document(BODIES[kind], read_document(file), where=str(file))


def _get(view: Any, identifier: Identifier, version: int | None) -> SpecVersion:
    from registry.errors import Fault, NotFoundError

    found = view.find_spec(identifier.bare, version)
    if found is None:
        near = ", ".join(view.suggest(identifier.bare)) or "caveat spec list shows them all"
        where = identifier.bare if version is None else f"{identifier.bare}@{version}"
        raise NotFoundError(Fault(code="not-registered", where=where, found="no such specification", advice=near))
    payload: SpecVersion = found.payload
    return payload


def _describe_body(one: SpecVersion) -> str:
    if one.body is None:
        return f"sealed, commitment {str(one.commitment)[:16]}…"
    return one.body.name
