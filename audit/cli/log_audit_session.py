"""One call of `caveat audit logs`: registry, files, registration, conclusion and supplement, each step of which may be repeated."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from audit.cli.audit_draft import read_draft
from audit.cli.imported_evidence import ImportedEvidence, settle_provenance
from audit.cli.log_audit_files import LogAuditDraft
from audit.protocol.audit_record import AuditConclusion, conclude, find_opposed, get_claim, get_property, open_audit
from audit.protocol.evidence_basis import ScoredTable
from audit.score.run_evidence import count_unanswered
from registry.cli.application import App, track
from registry.cli.registry_commands import make_registry, write_config
from registry.configuration import DEFAULT_FILE, EXAMPLE, FILE_NAME
from registry.errors import CaveatError
from registry.folder.folder_manifest import hold_folder
from registry.folder.folder_plan import FolderRequest, inspect_folder
from registry.folder.folder_update import list_current, update
from registry.folder.supplement_publishing import Publisher, WrittenFile
from registry.records.claim_status import Opposition
from registry.records.record import Authority, AuthorityRole
from registry.records.replay_run import Provenance
from registry.records.statement import OutputFormat
from registry.registration.claims_file_registration import register_file
from registry.registration.model_lineage import describe_near_version, state_endpoint
from registry.seal.signing_keys import KeyRing
from registry.store.log_writer import Writer
from registry.store.registry_view import View

# Every step recognises what an earlier call recorded: the registry, the claim, the audit, the outcome and the rendered files. A call that
# was interrupted is repeated, and the same call again records nothing.

_ENDPOINT_REASON = "the claim is about the model version that answered in the logs"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAudit:
    """What was recorded and written."""

    claim: str
    """`CLM-…@n`."""
    concluded: AuditConclusion
    opposed: Opposition | None
    """The outcome that keeps this one from being established; None without one."""
    files: tuple[Path, ...]
    """The audit file, and before it the claims file of a new claim."""
    supplement: tuple[WrittenFile, ...]
    """In the order HTML, PDF, JSON."""
    failed: tuple[CaveatError, ...]
    """What could not be rendered."""


def is_own_registry(app: App, folder: Path) -> bool:
    """Whether this call works with a registry in *folder*, and not with one that was configured."""
    return app.config.url == f"sqlite:///{(folder / DEFAULT_FILE).resolve()}"


def audit_logs(
    app: App,
    evidence: ImportedEvidence,
    draft: LogAuditDraft,
    folder: Path,
    *,
    arms: tuple[str, str],
    formats: tuple[OutputFormat, ...],
) -> LogAudit:
    """Register the claim of *draft* if it is new, conclude its audit from *evidence*, and render the supplement into *folder*.

    Args:
        folder: of the claims file, the audit file and the supplement; also of the registry, unless one is configured.
        arms: names of the test side and of the deployment side.
        formats: of the supplement.

    Raises:
        CaveatError: as `register_file`, `open_audit` and `conclude`; what was recorded before stays, and a repetition continues.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    claim = draft.registered
    if claim is None:
        if is_own_registry(app, folder):
            _make_registry(app, folder)
        files.append(_place(folder, "claims", draft.claims))
        registered = register_file(app.ledger, files[0], owner=app.config.authority, dry_run=False, progress=lambda _more: None)
        for model, near in registered.near:
            app.say(describe_near_version(model, near))
        claim = (*registered.added, *registered.revised, *registered.known)[0]
    with app.ledger.write(actor=app.config.authority) as writer:
        _state_names(writer, draft, actor=app.config.authority, source=evidence.source)
        low, high = get_property(writer, get_claim(writer, claim)).range
        path = _place(folder, "audit", draft.compose_audit(claim, width=high - low))
        # Read back, so that the audit is exactly what the file says.
        file, _ = open_audit(writer, read_draft(path, locked=False)[0], auditor=app.config.authority, locked=False, folder=folder)
        concluded = conclude(writer, file, _build_scored(evidence, arms))
        opposed = find_opposed(writer, concluded)
    written, failed = _render(app, folder / "supplements", claim, formats)
    return LogAudit(claim=claim, concluded=concluded, opposed=opposed, files=(*files, path), supplement=written, failed=failed)


def _make_registry(app: App, folder: Path) -> None:
    """Make a registry with keys in *folder*, or finish one that was begun there; nothing where it is ready."""
    code = app.config.authority
    # The keys of the example authority protect nothing, so no passphrase is asked for.
    choose = (lambda: app.config.passphrase) if code == EXAMPLE else app.choose_passphrase
    authority = Authority(code=code, name=code, role=AuthorityRole.AUDITOR)
    make_registry(app, authority, join=False, has_keys=True, choose_passphrase=choose)
    write_config(folder / FILE_NAME, url=f"sqlite:///{DEFAULT_FILE}", code=code)


def _place(folder: Path, name: str, text: str) -> Path:
    """Write *text* to the first file NAME.yaml, NAME-2.yaml … that is free or holds it already, and return its path."""
    number = 1
    while True:
        path = folder / (f"{name}.yaml" if number == 1 else f"{name}-{number}.yaml")
        # A file of another claim or plan stays: the registry holds what came of it.
        if not path.exists():
            path.write_text(text, encoding="utf-8")
            return path
        if path.read_text(encoding="utf-8") == text:
            return path
        number += 1


def _state_names(writer: Writer, draft: LogAuditDraft, *, actor: str, source: str) -> None:
    """Record the names in the logs as those of the claim's model version, where they are not on record."""
    known = {name.name for name in writer.list_endpoint_names(draft.model)}
    for name in draft.endpoint_names:
        if name not in known:
            state_endpoint(writer, draft.model, name, actor=actor, reason=_ENDPOINT_REASON, source=source)


def _build_scored(evidence: ImportedEvidence, arms: tuple[str, str]) -> ScoredTable:
    return ScoredTable(
        table=evidence.table,
        source=evidence.source,
        started_at=evidence.started_at,
        is_dated_by_data=evidence.started_at is not None,
        provenance=settle_provenance(Provenance(), evidence),
        test_arm=arms[0],
        deploy_arm=arms[1],
        unanswered=count_unanswered(evidence.imported) if evidence.imported else 0,
    )


def _render(
    app: App, folder: Path, claim: str, formats: tuple[OutputFormat, ...]
) -> tuple[tuple[WrittenFile, ...], tuple[CaveatError, ...]]:
    """Bring the supplement of *claim* in *folder* up to date; without PDF where PDF cannot be rendered."""
    folder.mkdir(exist_ok=True)
    request = FolderRequest(formats=formats, asked=frozenset({claim}))
    with hold_folder(folder):
        with app.view() as view:
            state = inspect_folder(folder, view, request)
        if state.is_settled:
            return _sort(list_current(folder, state)), ()

        def open_view(as_of: int | None) -> AbstractContextManager[View]:
            return app.ledger.view(state.log.size if as_of is None else as_of)

        publisher = Publisher(ledger=lambda: app.ledger, actor="", ring=KeyRing(), key=None, at=app.config.now())
        with track(app, "rendering the supplement", total=len(state.plan.due), unit="supplements") as progress:
            updated = update(
                folder,
                state,
                open_view=open_view,
                time_limit_s=app.config.time_limit_s,
                publisher=publisher,
                sign=False,
                is_whole=False,
                progress=progress,
            )
    if updated.errors and OutputFormat.PDF in formats:
        # A library of the PDF layout may be missing; the other formats need none.
        left = tuple(format_ for format_ in formats if format_ is not OutputFormat.PDF)
        return _render(app, folder, claim, left)[0], updated.errors
    return _sort(updated.current), updated.errors


def _sort(files: "tuple[WrittenFile, ...] | list[WrittenFile]") -> tuple[WrittenFile, ...]:
    order = (OutputFormat.HTML, OutputFormat.PDF, OutputFormat.JSON)
    return tuple(sorted(files, key=lambda file: order.index(file.format)))
