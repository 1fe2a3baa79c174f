"""The story that `caveat demo` tells, on bundled inputs, from an empty folder to printed supplements.

Nothing in it is special to the demo: each step is what a command does. Its clock stands at the moments at which things were done when
the example was made, and its salts and keys are drawn from a fixed seed, so that everybody gets the same records and the same bytes;
doing it twice changes nothing. Whoever has this file has its secret keys: its signatures show what one looks like, and nothing else.
"""

import hashlib
import itertools
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from audit.ablation import ablate
from audit.basis import Scored
from audit.docket import Concluded, add_finding, build_case, conclude, get_audit, get_claim, get_property, open_audit
from audit.propose.file.claims_file import build_survey
from audit.propose.rules import propose_by_rules
from audit.propose.source import Source
from audit.replay.store import DATABASE
from audit.score.evidence import read_run
from audit.sources.accounts import summarise_accounts
from audit.sources.table import read_table
from registry.codec.documents import from_document
from registry.codec.files import read_document
from registry.errors import Fault, InputError
from registry.intake.outline.passages import read_outline
from registry.intake.read import read_card
from registry.proving import Publisher
from registry.publishing import Written
from registry.records.authority import Authority, Role
from registry.records.card import Card, CardText
from registry.records.dossier import AuditFile
from registry.records.draft import AuditDraft
from registry.records.identifier import Kind
from registry.records.publication import OutputFormat
from registry.records.seal import KeyAlgorithm
from registry.records.survey import Survey
from registry.regeneration.look import Wish, look
from registry.regeneration.manifest import hold_folder
from registry.regeneration.update import Updated, list_current, update
from registry.registration.cards import CardNote, register_card
from registry.registration.intake import register_file
from registry.registration.keys import add_key, format_origin
from registry.registration.specs import find_procedure
from registry.resources import find_resource
from registry.seal.key_files import FILE_NAMES, write_key
from registry.seal.keys import KeyRing, SigningKey, make_key
from registry.store.ledger import Ledger
from registry.store.schema import upgrade
from registry.store.view import View
from registry.store.writer import Writer

AUTHORITY = Authority(code="EXAMPLE", name="Example registry of the Caveat project", role=Role.AUDITOR)
MOMENT = datetime(2026, 11, 21, 16, 0, tzinfo=UTC)
LOCKED = datetime(2026, 11, 21, 21, 2, 58, tzinfo=UTC)
"""When the plans of the larger replay were locked, half a minute before its first response."""
CONCLUDED = datetime(2026, 11, 21, 22, 5, tzinfo=UTC)
"""When its scores were imported."""
STEPS = 15
"""What `tell_story` counts up to."""
_RETROSPECTIVE = ("browsecomp", "nla-swe-bench", "nla-destructive", "openai-apollo", "sycophancy")
_REPLAYED = ("correct", "shows_working", "cautions")
_ABLATED = {"correct": "ablation.csv"}
"""Score tables with contexts from which a cue was taken out, by the audit they belong to."""
_LOCKED = ("correct", "shows-working")
"""Audits whose plans were locked before the larger replay; one run answers to both."""
RUN = "everyday-questions.run"
"""The run folder of that replay, in the demo's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What the demo came to."""

    url: str
    card: Card
    audits: tuple[Concluded, ...]
    """Retrospective ones first, then those of the pilot, then those of the larger replay under their locks."""


def tell_story(folder: Path, *, progress: Callable[[int], None]) -> Story:
    """Build the registry in *folder* and conclude its audits; what is there already stays as it is.

    Raises:
        InputError: the folder holds files that are not the demo's.
    """
    url = _prepare(folder)
    clock = _Clock(MOMENT)
    ledger = Ledger.open(url, clock=clock.read, salt=_salts().__next__)
    try:
        clock.begin(ledger)
        card = _register(ledger)
        progress(3)
        audits = [_audit(ledger, draft, tables, progress) for draft, tables in _list_audits()]
        clock.set(LOCKED)
        locked = [_lock(ledger, name, progress) for name in _LOCKED]
        clock.set(CONCLUDED)
        run = _copy_run(folder)
        audits += [_conclude_run(ledger, audit, run, progress) for audit in locked]
    finally:
        ledger.close()
    return Story(url=url, card=card, audits=tuple(audits))


def open_story(story: Story, moment: datetime) -> Ledger:
    """Open the registry of *story* with the demo's salts and a clock that stands at *moment*, or at the last entry if that is later."""
    clock = _Clock(moment)
    ledger = Ledger.open(story.url, clock=clock.read, salt=_salts().__next__)
    clock.begin(ledger)
    return ledger


def publish_supplements(
    story: Story, folder: Path, *, moment: datetime = CONCLUDED, time_limit_s: float, progress: Callable[[int], None]
) -> Updated | None:
    """Bring *folder* up to date and publish all of it, as `caveat report --stale --publish` does: signed PDF, HTML and JSON with proofs.

    None where nothing is due.

    Args:
        folder: in the demo's.
        moment: when it is published.
    """
    ledger = open_story(story, moment)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ring = read_demo_keys()
        with hold_folder(folder):
            with ledger.view() as view:
                looked = look(folder, view, Wish(formats=tuple(OutputFormat), publishes=True))
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


def list_supplements(story: Story, folder: Path) -> list[Written]:
    """Return the current files of *folder*, the card's first."""
    ledger = open_story(story, CONCLUDED)
    try:
        with ledger.view() as view:
            looked = look(folder, view, Wish(formats=tuple(OutputFormat)))
    finally:
        ledger.close()
    return sorted(list_current(folder, looked), key=lambda one: not one.name.startswith(Kind.CARD))


def _open(ledger: Ledger, size: int, as_of: int | None) -> AbstractContextManager[View]:
    return ledger.view(size if as_of is None else as_of)


def _prepare(folder: Path) -> str:
    database = folder / "caveat.db"
    if folder.exists() and any(folder.iterdir()) and not database.exists():
        found = "holds files, and none of them is a demo's registry"
        raise InputError(Fault(code="folder-not-empty", where=str(folder), found=found, advice="choose another folder: caveat demo -o DIR"))
    folder.mkdir(parents=True, exist_ok=True)
    url = f"sqlite:///{database.resolve()}"
    if database.exists():
        _refuse_other(url, folder)
    upgrade(url)
    (folder / "registry.cfg").write_text(f"[registry]\nurl = sqlite:///{database.name}\nauthority = {AUTHORITY.code}\n", encoding="utf-8")
    for key in read_demo_keys().keys:
        if not (folder / "caveat-keys" / FILE_NAMES[key.algorithm]).exists():
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
        found = "holds a registry that is not a demo's"
        raise InputError(Fault(code="folder-not-empty", where=str(folder), found=found, advice="choose another folder: caveat demo -o DIR"))


def _register(ledger: Ledger) -> Card:
    """Register authority, retrospective claims, the example card and its claims, in this order."""
    examples = find_resource("examples")
    with ledger.write(actor=AUTHORITY.code) as writer:
        if writer.find_authority(AUTHORITY.code) is None:
            _begin_log(writer)
    _add_claims(ledger, examples / "retrospective" / "claims.yaml")
    note = CardNote(file_name="card", title="Example Assistant 1.5B: System Card", publisher="Example Lab", published=MOMENT.date())
    text = read_card(examples / "card" / "card.pdf")
    with ledger.write(actor=AUTHORITY.code) as writer:
        card, _ = register_card(writer, text, note, authority=AUTHORITY.code)
    _add_claims(ledger, examples / "card" / "claims.yaml")
    _survey(ledger, card, text)
    return card


def _begin_log(writer: Writer) -> None:
    """Name the log, and register who speaks in it, with which keys."""
    ring = read_demo_keys()
    writer.name_log(ring.log[0].name, ring.log[0].vkey)
    writer.append(AUTHORITY)
    for key in ring.keys:
        add_key(writer, key)


def read_demo_keys() -> KeyRing:
    """Return the keys of the demo; the same for everybody, and so nobody's."""
    seeds = {name: hashlib.sha256(f"caveat demo, {name}".encode()).digest() for name in ("log", "log key", "document key")}
    log = make_key(KeyAlgorithm.ED25519, format_origin(AUTHORITY.code, seeds["log"].hex()[:32]), seed=seeds["log key"])
    return KeyRing(
        log=(log,),
        document=make_key(KeyAlgorithm.ECDSA_P256, AUTHORITY.code, seed=seeds["document key"], organisation=AUTHORITY.name),
    )


def _get_document_key(ring: KeyRing) -> SigningKey:
    assert ring.document is not None, "made above"  # noqa: S101
    return ring.document


def _survey(ledger: Ledger, card: Card, text: CardText) -> None:
    """Record which passages of the card are proposed as claims by rules, so that its supplement tells what nobody has decided on."""
    reference = f"{card.card}@{card.revision}"
    source = Source(title=card.title, publisher=card.publisher, card=reference)
    proposed = build_survey(propose_by_rules(text, read_outline(text), source))
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


def _audit(ledger: Ledger, path: Path, tables: tuple[Path, ...], progress: Callable[[int], None]) -> Concluded:
    draft = from_document(AuditDraft, read_document(path), where=str(path))
    with ledger.write(actor=AUTHORITY.code) as writer:
        file, _ = open_audit(writer, draft, auditor=AUTHORITY.code, locked=False)
        if path.stem in _ABLATED and not file.restrictions:
            file = _ablate(writer, file, path.with_name(_ABLATED[path.stem]))
        scored = None
        if tables:
            table = read_table(tables, low=0, high=1)
            scored = Scored(table=table, source=tables[0].name, started_at=None, provenance=draft.provenance)
        concluded = conclude(writer, file, scored)
    progress(1)
    return concluded


def _ablate(writer: Writer, file: AuditFile, path: Path) -> AuditFile:
    """Record what the table at *path* says of cues as a finding of the audit, and return the audit with it."""
    claim = get_claim(writer, file.audit.payload.claim)
    case = build_case(claim, get_property(writer, claim), file)
    found = ablate(read_table([path], low=0, high=1), case.plan, range_=(0.0, 1.0), case=case)
    add_finding(writer, file.audit.payload.audit, found, source=path.name)
    return get_audit(writer, file.audit.payload.audit)


class _Clock:
    """A clock that stands at the moment it is set to, and never goes back behind what is recorded."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def read(self) -> datetime:
        return self._moment

    def set(self, moment: datetime) -> None:
        """Stand at *moment*, if it is later."""
        self._moment = max(self._moment, moment)

    def begin(self, ledger: Ledger) -> None:
        """Stand at the last entry, where the story was told before."""
        with ledger.view() as view:
            last = view.find_entry(view.log_size)
        if last is not None:
            self.set(last.at)


def _lock(ledger: Ledger, name: str, progress: Callable[[int], None]) -> str:
    """Lock the plan of the audit called *name*, and return its identifier."""
    path = find_resource("examples") / "replay" / f"{name}.audit.yaml"
    draft = from_document(AuditDraft, read_document(path), where=str(path))
    with ledger.write(actor=AUTHORITY.code) as writer:
        file, _ = open_audit(writer, draft, auditor=AUTHORITY.code, locked=True, folder=path.parent)
    progress(1)
    return file.audit.payload.audit


def _copy_run(folder: Path) -> Path:
    """Put the recorded run beside the registry, where it can be scored again, and return its folder; what is there stays."""
    run = folder / RUN
    if not (run / DATABASE).is_file():
        run.mkdir(exist_ok=True)
        shutil.copyfile(find_resource("examples") / "replay" / "run" / DATABASE, run / DATABASE)
    return run


def _conclude_run(ledger: Ledger, audit: str, run: Path, progress: Callable[[int], None]) -> Concluded:
    """Import the run into the locked *audit* by the scorer of its claim, with what its cues do as a finding before that."""
    with ledger.write(actor=AUTHORITY.code) as writer:
        file = get_audit(writer, audit)
        claim = get_claim(writer, file.audit.payload.claim)
        evidence = read_run(run, low=0, high=1, scorer=find_procedure(writer, claim))
        if not file.restrictions:
            case = build_case(claim, get_property(writer, claim), file)
            found = ablate(evidence.table, case.plan, range_=(0.0, 1.0), case=case)
            add_finding(writer, audit, found, source=RUN)
            file = get_audit(writer, audit)
        begun = datetime.fromisoformat(str(evidence.imported.started_at))
        provenance = replace(evidence.imported.provenance, imported=summarise_accounts(evidence.imported))
        concluded = conclude(writer, file, Scored(table=evidence.table, source=RUN, started_at=begun, provenance=provenance))
    progress(1)
    return concluded


def _salts() -> Iterator[str]:
    for number in itertools.count():
        yield hashlib.sha256(f"caveat demo {number}".encode()).hexdigest()[:32]
