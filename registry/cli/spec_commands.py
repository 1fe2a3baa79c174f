"""`caveat spec`: properties, scoring functions, contexts, cue inventories and methods."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from registry.cli.application import ALL_LOGS, SPEC, App, as_of_option, examples, logs_option, pass_app, reason_option, yes_option
from registry.cli.list_options import ListOutput, list_options
from registry.present.answers import render_json
from registry.present.blocks import Block, Verbatim
from registry.records.record import Identifier
from registry.records.specification import BODIES, ContextSpec, SpecBody, SpecKind, SpecVersion

_KIND = click.Choice([kind.value for kind in SpecKind])


@click.group()
def spec() -> None:
    """Register what is measured, scored and in which contexts."""


@examples("spec add property refusal refusal.yaml", 'spec add deploy_context office office.yaml -m "two more contexts"')
@spec.command()
@click.argument("kind", type=_KIND)
@click.argument("slug")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@reason_option("Why there is a new version.", required=False)
@pass_app
def add(app: App, *, kind: str, slug: str, file: Path, reason: str | None) -> None:
    """Register a specification from a file.

    The same body again changes nothing. Another body under a known SLUG is a new version and needs --reason. Caveat first checks how
    contexts are composed: blocks, edits, and the text files that blocks name.
    """
    from registry.registration.specification_registration import format_reference, register_spec

    body = _read_body(SpecKind(kind), file)
    with app.ledger.write(actor=app.config.authority) as writer:
        registered, is_new = register_spec(writer, SpecKind(kind), slug, body, owner=app.config.authority, why=reason)
    reference = format_reference(registered)
    app.answer(
        {"schema": "caveat/spec-add/1", "spec": reference, "new": is_new},
        f"{'Registered' if is_new else 'Registered already:'} {reference} ({kind} {slug})",
    )


@examples("spec list", "spec list --kind deploy_context")
@spec.command("list")
@click.option("--kind", type=_KIND, help="Only specifications of this kind.")
@logs_option
@pass_app
@list_options
def list_(app: App, /, *, output: ListOutput, kind: str | None) -> None:
    """List specifications, in their latest version.

    Columns: log, spec, kind, short_name, owner, what.
    """
    from registry.codec.canonical_documents import to_document
    from registry.present.listings import Column, Listing
    from registry.registration.specification_registration import format_reference

    wanted = SpecKind(kind) if kind else None
    rows = [(log, version.payload) for log, view in app.views() for version in view.list_specs(wanted)]
    columns: tuple[Column[tuple[str, SpecVersion]], ...] = (
        Column(name="log", read=lambda row: row[0], is_shown=app.log == ALL_LOGS),
        Column(name="spec", read=lambda row: format_reference(row[1])),
        Column(name="kind", read=lambda row: row[1].kind),
        Column(name="short_name", read=lambda row: row[1].slug),
        Column(name="owner", read=lambda row: row[1].owner, is_spare=True),
        Column(name="what", read=lambda row: _describe_body(row[1])),
    )
    listing = Listing(
        document={"schema": "caveat/specs/1"}, field="specs", rows=rows, describe=lambda row: {"log": row[0], **to_document(row[1])},
        columns=columns, none="No specifications.",
    )  # fmt: skip
    output.report(listing)


@examples("spec seal deploy_context office office.yaml", "spec seal deploy_context office office.yaml -o office.seal.yaml")
@spec.command()
@click.argument("kind", type=_KIND)
@click.argument("slug")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="The seal file; default: SLUG.seal.yaml.")
@reason_option("Why there is a new version.", required=False)
@pass_app
def seal(app: App, *, kind: str, slug: str, file: Path, output: Path | None, reason: str | None) -> None:
    """Register a specification as a salted commitment.

    The text stays out of the log. Text and salt go into the seal file, which only you can read: keep it, and keep it secret. Without it
    you cannot show what was sealed. Caveat never overwrites it; after a crash, the same command continues.
    """
    import secrets

    from registry.registration.specification_registration import SealRequest, format_reference, seal_spec

    path = output or Path(f"{_name_file(slug)}.seal.yaml")
    seal_request = SealRequest(kind=SpecKind(kind), slug=slug, body=_read_body(SpecKind(kind), file), path=path, why=reason)
    with app.ledger.write(actor=app.config.authority) as writer:
        # The salt is drawn from the system's source of randomness.
        sealed, is_new = seal_spec(writer, seal_request, owner=app.config.authority, draw=secrets.token_bytes)
    reference = format_reference(sealed)
    document = {"schema": "caveat/spec-seal/1", "spec": reference, "commitment": sealed.commitment, "file": str(path), "new": is_new}
    app.answer(
        document,
        f"{'Sealed' if is_new else 'Sealed already:'} {reference} ({kind} {slug}): commitment {sealed.commitment}\n"
        f"Keep {path}, and keep it secret: without it, no one can ever show what was sealed.\n"
        f"To reveal it: caveat spec reveal {path}",
    )


@examples('spec reveal office.seal.yaml -m "the replay is done" --yes')
@spec.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@reason_option("Why it is shown now.", required=False)
@yes_option
@pass_app
def reveal(app: App, *, file: Path, reason: str | None, yes: bool) -> None:
    """Reveal a sealed specification. You cannot undo this.

    The text and salt of a seal FILE go into the log and must match the commitment. Only the owner can reveal it. On a terminal you are
    asked to confirm; scripts give --yes.
    """
    from registry.registration.specification_registration import read_seal, reveal_spec

    kept = read_seal(file)
    app.confirm(f"Publish the text of {kept.opening.spec} for good?", yes=yes)
    with app.ledger.write(actor=app.config.authority) as writer:
        entry = reveal_spec(writer, kept, why=reason, actor=app.config.authority)
    reference = kept.opening.spec
    app.answer(
        {"schema": "caveat/spec-reveal/1", "spec": reference, "entry": entry.seq},
        f"Revealed {reference}, recorded as entry {entry.seq}: caveat spec show {reference}",
    )


@examples("spec show CTX-LAB-2026-0001-0", "spec show PRP-LAB-2026-0001-X@1 --json")
@spec.command()
@click.argument("spec_id", type=SPEC)
@as_of_option
@pass_app
def show(app: App, *, spec_id: Identifier) -> None:
    """Show a specification and objections to it.

    Contexts are shown as they are composed, for a sealed specification once it is revealed.
    """
    from registry.cli.spec_presenter import describe_disclosure, present_context_spec, present_disputes
    from registry.codec.canonical_documents import to_document
    from registry.registration.specification_registration import format_reference

    with app.view() as view:
        version = _get(view, spec_id, spec_id.revision)
        reference, body = format_reference(version), view.open_spec(version)
        # Only a sealed version can have been revealed.
        revealed = view.find_reveal(version.spec, version.version) if version.body is None else None
        disputes, erased = view.list_objections(reference), view.list_erased_objections(reference)
    document = {**to_document(version), "schema": "caveat/spec/1"}
    if revealed is not None:
        document |= {"revealed": to_document(revealed.entry), "opening": to_document(revealed.payload.opening)}
    # An erased objection is named: leaving it out would look like none.
    if erased:
        document["objections_erased"] = list(erased)
        app.say(f"also contested, and not shown, because a statement was erased: {', '.join(erased)}")
    if disputes:
        document["objections"] = [to_document(dispute) for dispute in disputes]

    def text() -> Iterator[Block]:
        if version.body is None:
            yield describe_disclosure(version, revealed, reference)
        yield from present_disputes(disputes)
        if isinstance(body, ContextSpec):
            yield from present_context_spec(version, body, reference)
        elif version.body is None and body is not None:
            yield Verbatim(render_json(to_document(body)))

    is_text = isinstance(body, ContextSpec) or version.body is None or bool(disputes)
    app.answer(document, text() if is_text else None)


@examples("spec diff CTX-LAB-2026-0001-0", "spec diff CTX-LAB-2026-0001-0@3 --from 1")
@spec.command()
@click.argument("spec_id", type=SPEC)
@click.option("--from", "old", type=click.IntRange(1), help="Version to compare from; default: the one before.")
@as_of_option
@pass_app
def diff(app: App, *, spec_id: Identifier, old: int | None) -> None:
    """Compare two versions of a specification.

    Removed words are between [- and -], added words between {+ and +}. Sealed versions can be compared once they are revealed.
    """
    from registry.cli.spec_presenter import compare_specs, present_changes
    from registry.registration.specification_registration import format_reference

    with app.view() as view:
        later = _get(view, spec_id, spec_id.revision)
        earlier = _get(view, spec_id, old or max(later.version - 1, 1))
        changes, obstacle = compare_specs(view, format_reference(earlier), format_reference(later))
    document = {
        "schema": "caveat/spec-diff/1",
        "spec": spec_id.bare,
        "from": earlier.version,
        "to": later.version,
        "why": later.why,
        "changes": changes,
    }
    if obstacle is not None:
        document["not_compared"] = obstacle
    app.answer(document, [obstacle or ""] if changes is None else present_changes(changes))


def _name_file(slug: str) -> str:
    """Return *slug* as the beginning of a file name in this folder."""
    return "".join(name if name.isalnum() or name in "-_." else "-" for name in slug).lstrip(".") or "spec"


def _read_body(kind: SpecKind, file: Path) -> SpecBody:
    from registry.codec.canonical_documents import from_document
    from registry.codec.file_io import read_document
    from registry.registration.context_specification import read_context_spec

    if BODIES[kind] is ContextSpec:
        return read_context_spec(file)[0]
    return from_document(BODIES[kind], read_document(file), where=str(file))


def _get(view: Any, identifier: Identifier, version: int | None) -> SpecVersion:
    from registry.errors import Fault, NotFoundError

    recorded = view.find_spec(identifier.bare, version)
    if recorded is None:
        near = view.suggest(identifier.bare) or "caveat spec list shows them all"
        where = identifier.bare if version is None else f"{identifier.bare}@{version}"
        raise NotFoundError(Fault("not-registered", where, "no such specification", advice=near))
    payload: SpecVersion = recorded.payload
    return payload


def _describe_body(spec_version: SpecVersion) -> str:
    if spec_version.body is None:
        return f"sealed, commitment {str(spec_version.commitment)[:16]}…"
    return spec_version.body.name
