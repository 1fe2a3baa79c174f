"""The story of `caveat demo`: audits on bundled inputs, from an empty folder to printed supplements."""

import hashlib
import itertools
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import distribution
from pathlib import Path

from audit.modules.cue_ablation import ablate
from audit.protocol.audit_record import AuditConclusion, add_finding, build_case, conclude, get_audit, get_claim, get_property, open_audit
from audit.protocol.evidence_basis import ScoredTable
from audit.replay.run_store import DATABASE
from audit.score.run_evidence import read_run
from audit.sources.log_rows import describe_accounts
from audit.sources.score_table import read_models, read_table
from registry.codec.canonical_documents import from_document
from registry.codec.file_io import read_document
from registry.configuration import find_resource
from registry.errors import Fault, InputError
from registry.folder.folder_manifest import hold_folder
from registry.folder.folder_plan import FolderRequest, inspect_folder
from registry.folder.folder_update import FolderUpdate, list_current, update
from registry.folder.supplement_publishing import Publisher, WrittenFile
from registry.intake.card_reader import read_card
from registry.intake.outline.card_passages import read_outline
from registry.records.claim_draft import AuditDraft, SurveyDraft
from registry.records.dossier import AuditFile, MonitorFile
from registry.records.log_seal import KeyAlgorithm
from registry.records.model_version import ModelRef
from registry.records.record import Authority, AuthorityRole, Kind
from registry.records.statement import OutputFormat
from registry.records.system_card import Card, CardText, Survey
from registry.registration.card_registration import CardNote, register_card
from registry.registration.claims_file_registration import register_file
from registry.registration.key_registration import add_key, format_origin
from registry.registration.model_lineage import state_endpoint
from registry.registration.specification_registration import find_procedure
from registry.seal.key_files import list_key_files, slot_of, write_key
from registry.seal.signing_keys import KeyRing, SigningKey, make_key, make_statement_key
from registry.store.database_schema import upgrade
from registry.store.ledger import Ledger
from registry.store.log_writer import Writer
from registry.store.registry_view import View

AUTHORITY = Authority(code="EXAMPLE", name="Example registry of the Caveat project", role=AuthorityRole.AUDITOR)
MOMENT = datetime(2026, 11, 21, 16, 0, tzinfo=UTC)
LOCKED = datetime(2026, 11, 21, 21, 2, 58, tzinfo=UTC)
"""When the plans of the larger replay were locked, half a minute before its first response."""
CONCLUDED = datetime(2026, 11, 21, 22, 5, tzinfo=UTC)
"""When its scores were imported."""
MODEL = ModelRef(developer="Example Lab", name="Example Assistant 1.5B", version="1.0")
"""The model version that the claims of the example card are about."""
ENDPOINT_NAME = "claude-local-qwen2.5-coder-1.5b-instruct-q4_k_m"
"""What the endpoint called it, in every recorded response."""
SECOND_MODEL = ModelRef(developer="Example Lab", name="Example Pocket 135M", version="1.0")
"""The model version that the claims of the second card are about."""
SECOND_ENDPOINT_NAME = "smollm2-135m-instruct-q4_1"
"""What the endpoint called it, in every response of the second replay."""
SECOND_LOCKED = datetime(2026, 11, 23, 12, 20, 19, tzinfo=UTC)
"""When the plans of the second card's replay were locked, 50 seconds before its first response."""
SECOND_CONCLUDED = datetime(2026, 11, 23, 12, 47, tzinfo=UTC)
"""When its scores were imported."""
STEPS_BEFORE_UPDATE, STEPS = 15, 24
"""What `tell_story` counts up to: where the update follows, and else."""
_RETROSPECTIVE = ("browsecomp", "nla-swe-bench", "nla-destructive", "openai-apollo", "sycophancy")
_REPLAYED = ("correct", "shows_working", "cautions")
_ABLATED = {"correct": "ablation.csv"}
"""Score tables with contexts from which a cue was taken out, by the audit they belong to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedReplay:
    """A recorded replay that answers to plans locked before its first response."""

    example: str
    """Its folder in `examples`."""
    audits: tuple[str, ...]
    """Names of its audit files; one run answers to all."""
    run: str
    """Its run folder, in the demo's folder."""
    locked: datetime
    concluded: datetime
    """When its scores were imported."""
    has_cues: bool = False
    """True when cues were taken out in some of its contexts, so that an ablation is a finding of each audit."""


REPLAY = LockedReplay(
    example="replay",
    audits=("correct", "shows-working"),
    run="everyday-questions.run",
    locked=LOCKED,
    concluded=CONCLUDED,
    has_cues=True,
)
SECOND_REPLAY = LockedReplay(
    example="established",
    audits=("single-sentence", "refusals", "long-answers"),
    run="short-answers.run",
    locked=SECOND_LOCKED,
    concluded=SECOND_CONCLUDED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoStory:
    """What the demo came to."""

    url: str
    cards: tuple[Card, ...]
    audits: tuple[AuditConclusion, ...]
    """Retrospective ones first, then those of the pilot, then those of the replays under their locks."""
    concluded: datetime
    """When the last scores were imported, or the last window was reported; the supplements are published then."""
    monitor: MonitorFile | None = None
    """Of the last audited claim after release; None before the update."""
    formats: tuple[OutputFormat, ...] = tuple(OutputFormat)
    """In which each supplement is published."""


def run_story(
    folder: Path,
    *,
    update: bool = False,
    formats: tuple[OutputFormat, ...] = tuple(OutputFormat),
    progress: Callable[[int], None],
) -> DemoStory:
    """Build the registry in *folder* and conclude its audits; what is there already stays as it is.

    A log only moves forward in time, and the update of the second act (22 November) is earlier than the second card (23 November).
    So a folder has the second card or the update, not both.

    Args:
        folder: of the demo.
        update: whether the second act follows.
        formats: of the supplements.
        progress: takes how many more steps are done.

    Raises:
        InputError: the folder holds files that are not the demo's, or *update* is asked for where the second card is registered.
    """
    url = _prepare(folder)
    clock = _Clock(MOMENT)
    salts = _salts()
    _begin_log(url, clock, salts)
    ledger = Ledger.open(url, clock=clock.read, salt=salts.__next__, find_key=find_demo_key)
    try:
        clock.begin(ledger)
        if update:
            _refuse_second_card(ledger, folder)
        card = _register(ledger)
        progress(3)
        audits = [_audit(ledger, draft, tables, progress) for draft, tables in _list_audits()]
        audits += _replay(ledger, REPLAY, folder, clock, progress)
        first = DemoStory(url=url, cards=(card,), audits=tuple(audits), concluded=CONCLUDED, formats=formats)
        if update or _has_update(ledger):
            return first
        clock.set(SECOND_REPLAY.locked)
        second = _register_second(ledger)
        progress(2)
        audits += _replay(ledger, SECOND_REPLAY, folder, clock, progress)
        monitor = _watch(ledger, audits[-1].restriction.claim, clock)
        progress(1)
    finally:
        ledger.close()
    return replace(first, cards=(card, second), audits=tuple(audits), concluded=clock.read(), monitor=monitor)


def _watch(ledger: Ledger, claim: str, clock: "_Clock") -> MonitorFile:
    """Lock a monitor of *claim* after its audit, and report what production showed."""
    # A monitor is a plug-in: `audit` does not import `monitoring`.
    (watch,) = distribution("caveat").entry_points.select(group="caveat.demo", name="monitor")
    file: MonitorFile = watch.load()(ledger, claim, by=AUTHORITY.code, now=SECOND_REPLAY.concluded, set_clock=clock.set)
    return file


def _has_update(ledger: Ledger) -> bool:
    """Return whether the second act is in the log."""
    with ledger.view() as view:
        return any(file.audit.payload.renews is not None for file in view.list_audits())


def _refuse_second_card(ledger: Ledger, folder: Path) -> None:
    """Refuse to tell the update after the second card, which is later."""
    with ledger.view() as view:
        has_second = len(view.list_cards()) > 1
    if has_second:
        raise InputError(Fault("not-empty", str(folder), "holds the demo without --update, which ends later than the update happened"))


def open_story(story: DemoStory, moment: datetime) -> Ledger:
    """Open the registry of *story* with the demo's salts and a clock that is at *moment*, or at the last entry if that is later."""
    clock = _Clock(moment)
    ledger = Ledger.open(story.url, clock=clock.read, salt=_salts().__next__, find_key=find_demo_key)
    clock.begin(ledger)
    return ledger


def publish_supplements(
    story: DemoStory, folder: Path, *, moment: datetime | None = None, time_limit_s: float, progress: Callable[[int], None]
) -> FolderUpdate | None:
    """Bring *folder* up to date and publish all of it, as `caveat report --stale --publish` does: signed PDF, HTML and JSON with proofs.

    None where nothing is due.

    Args:
        folder: in the demo's.
        moment: when it is published; None for when the story was concluded.
    """
    moment = moment or story.concluded
    ledger = open_story(story, moment)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ring = read_demo_keys()
        with hold_folder(folder):
            with ledger.view() as view:
                looked = inspect_folder(folder, view, FolderRequest(formats=story.formats, publishes=True))
            if looked.is_settled:
                return None
            publisher = Publisher(ledger=lambda: ledger, actor=AUTHORITY.code, ring=ring, key=_get_document_key(ring), at=moment)
            return update(
                folder,
                looked,
                open_view=partial(_open, ledger, looked.log.size),
                time_limit_s=time_limit_s,
                publisher=publisher,
                sign=True,
                is_whole=True,
                progress=progress,
            )
    finally:
        ledger.close()


def list_supplements(story: DemoStory, folder: Path) -> list[WrittenFile]:
    """Return the current files of *folder*, those of the cards first."""
    ledger = open_story(story, story.concluded)
    try:
        with ledger.view() as view:
            looked = inspect_folder(folder, view, FolderRequest(formats=story.formats))
    finally:
        ledger.close()
    return sorted(list_current(folder, looked), key=lambda file: not file.name.startswith(Kind.CARD))


def _open(ledger: Ledger, size: int, as_of: int | None) -> AbstractContextManager[View]:
    return ledger.view(size if as_of is None else as_of)


def _prepare(folder: Path) -> str:
    database = folder / "caveat.db"
    if folder.exists() and any(folder.iterdir()) and not database.exists():
        raise InputError(Fault("not-empty", str(folder), "holds files, and none of them is a demo's registry"))
    folder.mkdir(parents=True, exist_ok=True)
    url = f"sqlite:///{database.resolve()}"
    if database.exists():
        _refuse_other(url, folder)
    upgrade(url)
    (folder / "registry.cfg").write_text(f"[registry]\nurl = sqlite:///{database.name}\nauthority = {AUTHORITY.code}\n", encoding="utf-8")
    there = {key_file.slot for key_file in list_key_files(folder / "caveat-keys")}
    for key in (*read_demo_keys().keys, make_demo_statement_key()):
        if slot_of(key) not in there:
            write_key(folder / "caveat-keys", key, passphrase=None)
    return url


def _refuse_other(url: str, folder: Path) -> None:
    """Refuse a registry that is not the demo's: nothing could ever be taken back from it."""
    ledger = Ledger.open(url, clock=lambda: MOMENT, salt=_salts().__next__)
    try:
        with ledger.view() as view:
            is_ours = view.log_origin in ("", read_demo_keys().log[0].name)
    finally:
        ledger.close()
    if not is_ours:
        raise InputError(Fault("not-empty", str(folder), "holds a registry that is not a demo's"))


def _register(ledger: Ledger) -> Card:
    """Register retrospective claims, the example card and its claims, in this order."""
    examples = find_resource("examples")
    _add_claims(ledger, examples / "retrospective" / "claims.yaml")
    note = CardNote(file_name="card", title="Example Assistant 1.5B: System Card", publisher="Example Lab", published=MOMENT.date())
    text = read_card(examples / "card" / "card.pdf")
    with ledger.write(actor=AUTHORITY.code) as writer:
        card, _ = register_card(writer, text, note, authority=AUTHORITY.code)
    _add_claims(ledger, examples / "card" / "claims.yaml")
    name_endpoint(ledger, MODEL, ENDPOINT_NAME, source="examples/replay/README.md")
    _survey(ledger, card, text)
    return card


def name_endpoint(ledger: Ledger, model: ModelRef, name: str, *, source: str) -> None:
    """State under which name the endpoint of the recordings returned *model*; twice changes nothing."""
    reason = "The weights behind this endpoint represent the example's model version"
    with ledger.write(actor=AUTHORITY.code) as writer:
        state_endpoint(writer, model, name, actor=AUTHORITY.code, reason=reason, source=source)


def _register_second(ledger: Ledger) -> Card:
    """Register the second example card and its claims."""
    example = find_resource("examples") / SECOND_REPLAY.example
    note = CardNote(file_name="card", title="Example Pocket 135M: System Card", publisher="Example Lab", published=SECOND_LOCKED.date())
    text = read_card(example / "card.md")
    with ledger.write(actor=AUTHORITY.code) as writer:
        card, _ = register_card(writer, text, note, authority=AUTHORITY.code)
    _add_claims(ledger, example / "claims.yaml")
    name_endpoint(ledger, SECOND_MODEL, SECOND_ENDPOINT_NAME, source="examples/established/README.md")
    _survey(ledger, card, text)
    return card


def _begin_log(url: str, clock: "_Clock", salts: Iterator[str]) -> None:
    """Name the log, and register who speaks in it, with which keys; nothing where that was done. No key can have signed this."""
    ring = read_demo_keys()
    ledger = Ledger.open(url, clock=clock.read, salt=salts.__next__)
    try:
        with ledger.write(actor=AUTHORITY.code) as writer:
            if writer.find_authority(AUTHORITY.code) is not None:
                return
            writer.name_log(ring.log[0].name, ring.log[0].vkey)
            writer.append(AUTHORITY)
            for key in (*ring.keys, make_demo_statement_key()):
                add_key(writer, key)
    finally:
        ledger.close()


def read_demo_keys() -> KeyRing:
    """Return the keys of the demo; public, and so without secrecy."""
    seeds = {name: hashlib.sha256(f"caveat demo, {name}".encode()).digest() for name in ("log", "log key", "document key")}
    log = make_key(KeyAlgorithm.ED25519, format_origin(AUTHORITY.code, seeds["log"].hex()[:32]), seed=seeds["log key"])
    return KeyRing(
        log=(log,),
        document=make_key(KeyAlgorithm.ECDSA_P256, AUTHORITY.code, seed=seeds["document key"], organisation=AUTHORITY.name),
    )


def make_demo_statement_key() -> SigningKey:
    """Return the key that signs what the demo's authority states; like the others, public."""
    return make_statement_key(AUTHORITY.code, seed=hashlib.sha256(b"caveat demo, statement key").digest())


def find_demo_key(authority: str) -> SigningKey | None:
    """Return the key that signs what *authority* states in the demo; None for others than the demo's own."""
    return make_demo_statement_key() if authority == AUTHORITY.code else None


def _get_document_key(ring: KeyRing) -> SigningKey:
    assert ring.document is not None, "made above"  # noqa: S101
    return ring.document


def _survey(ledger: Ledger, card: Card, text: CardText) -> None:
    """Record which passages of the card are proposed as claims by rules, so that its supplement tells what no one has decided on."""
    reference = f"{card.card}@{card.revision}"
    # An engine is a plug-in: nothing imports `audit.propose`.
    (engine,) = distribution("caveat").entry_points.select(group="caveat.surveys", name="rules")
    proposed: SurveyDraft = engine.load()(card, text, read_outline(text))
    with ledger.write(actor=AUTHORITY.code) as writer:
        if not writer.list_surveys(reference):
            writer.append(Survey(card=reference, by=proposed.by, passages=proposed.passages))


def _add_claims(ledger: Ledger, path: Path) -> None:
    register_file(ledger, path, owner=AUTHORITY.code, dry_run=False, progress=lambda _more: None)


def _list_audits() -> Iterator[tuple[Path, tuple[Path, ...]]]:
    """Give each audit file of the demo with its score tables."""
    examples = find_resource("examples")
    for name in _RETROSPECTIVE:
        yield examples / "retrospective" / f"{name}.yaml", ()
    for name in _REPLAYED:
        yield examples / "recording" / f"{name}.yaml", (examples / "recording" / f"{name}.csv",)


def _audit(ledger: Ledger, path: Path, tables: tuple[Path, ...], progress: Callable[[int], None]) -> AuditConclusion:
    draft = from_document(AuditDraft, read_document(path), where=str(path))
    with ledger.write(actor=AUTHORITY.code) as writer:
        file, _ = open_audit(writer, draft, auditor=AUTHORITY.code, locked=False)
        if path.stem in _ABLATED and not file.restrictions:
            file = _ablate(writer, file, path.with_name(_ABLATED[path.stem]))
        scored = None
        if tables:
            table = read_table(tables, low=0, high=1)
            names, unnamed = read_models(tables)
            provenance = replace(draft.provenance, models_returned=names, unnamed_responses=unnamed)
            scored = ScoredTable(table=table, source=tables[0].name, started_at=None, provenance=provenance)
        concluded = conclude(writer, file, scored)
    progress(1)
    return concluded


def _ablate(writer: Writer, file: AuditFile, path: Path) -> AuditFile:
    """Record what the table at *path* says of cues as a finding of the audit, and return the audit with it."""
    claim = get_claim(writer, file.audit.payload.claim)
    case = build_case(claim, get_property(writer, claim), file)
    ablation = ablate(read_table([path], low=0, high=1), case.plan, range_=(0.0, 1.0), case=case)
    add_finding(writer, file.audit.payload.audit, ablation, source=path.name)
    return get_audit(writer, file.audit.payload.audit)


class _Clock:
    """A clock that stands at the moment it is set to, and never goes back behind what is recorded."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def read(self) -> datetime:
        return self._moment

    def set(self, moment: datetime) -> None:
        """Move to *moment*, if it is later."""
        self._moment = max(self._moment, moment)

    def begin(self, ledger: Ledger) -> None:
        """Move to the last entry, where the story ended before."""
        with ledger.view() as view:
            last = view.find_entry(view.log_size)
        if last is not None:
            self.set(last.at)


def _replay(ledger: Ledger, replay: LockedReplay, folder: Path, clock: _Clock, progress: Callable[[int], None]) -> list[AuditConclusion]:
    """Lock the plans of *replay* and conclude their audits from its recorded run, each at its own moment."""
    clock.set(replay.locked)
    locked = [_lock(ledger, replay, name, progress) for name in replay.audits]
    clock.set(replay.concluded)
    run = _copy_run(folder, replay)
    return [_conclude_run(ledger, replay, audit, run, progress) for audit in locked]


def _lock(ledger: Ledger, replay: LockedReplay, name: str, progress: Callable[[int], None]) -> str:
    """Lock the plan of the audit called *name*, and return its identifier."""
    path = find_resource("examples") / replay.example / f"{name}.audit.yaml"
    draft = from_document(AuditDraft, read_document(path), where=str(path))
    with ledger.write(actor=AUTHORITY.code) as writer:
        file, _ = open_audit(writer, draft, auditor=AUTHORITY.code, locked=True, folder=path.parent)
    progress(1)
    return file.audit.payload.audit


def _copy_run(folder: Path, replay: LockedReplay) -> Path:
    """Put the recorded run beside the registry, where it can be scored again, and return its folder; what is there stays."""
    run = folder / replay.run
    if not (run / DATABASE).is_file():
        run.mkdir(exist_ok=True)
        shutil.copyfile(find_resource("examples") / replay.example / "run" / DATABASE, run / DATABASE)
    return run


def _conclude_run(ledger: Ledger, replay: LockedReplay, audit: str, run: Path, progress: Callable[[int], None]) -> AuditConclusion:
    """Import the run into the locked *audit* by the scorer of its claim, with what its cues do, if any, as a finding before that."""
    with ledger.write(actor=AUTHORITY.code) as writer:
        file = get_audit(writer, audit)
        claim = get_claim(writer, file.audit.payload.claim)
        evidence = read_run(run, low=0, high=1, scorer=find_procedure(writer, claim))
        if replay.has_cues and not file.restrictions:
            case = build_case(claim, get_property(writer, claim), file)
            ablation = ablate(evidence.table, case.plan, range_=(0.0, 1.0), case=case)
            add_finding(writer, audit, ablation, source=run.name)
            file = get_audit(writer, audit)
        begun = datetime.fromisoformat(str(evidence.imported.started_at))
        provenance = replace(evidence.imported.provenance, imported=describe_accounts(evidence.imported))
        scored = ScoredTable(table=evidence.table, source=run.name, started_at=begun, is_dated_by_data=True, provenance=provenance)
        concluded = conclude(writer, file, scored)
    progress(1)
    return concluded


def _salts() -> Iterator[str]:
    for number in itertools.count():
        yield hashlib.sha256(f"caveat demo {number}".encode()).hexdigest()[:32]
