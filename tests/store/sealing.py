"""Keys, checkpoints and statements of trust for the tests of the store."""

import hashlib
from datetime import datetime
from typing import Any

from registry.codec.statement_encoding import commitment_of
from registry.records.analysis_plan import Deviation, Exploration, LockedItem
from registry.records.audit_case import AuditWithdrawal
from registry.records.log_seal import (
    Checkpoint,
    Equivocation,
    KeyAlgorithm,
    KeyEvent,
    KeyEventKind,
    KeyPurpose,
    LogImport,
    TimeAnchor,
    Witnessing,
)
from registry.records.monitor import Monitor, MonitorEnd
from registry.records.record import Kind
from registry.records.specification import ContextSpec, Reveal, SpecKind, SpecOpening
from registry.seal.signed_notes import VerifierKey, cosign, parse_vkey, sign_checkpoint
from registry.seal.signing_keys import SigningKey, make_key
from registry.store import log_seals as seals
from registry.store.log_writer import Writer
from tests.monitoring import plans
from tests.store import builders as make

WITNESS = "witness.example"
OTHER_LOG = "other.example/log"


def log_key(origin: str) -> SigningKey:
    """The key of the log *origin*, the same each time."""
    return make_key(KeyAlgorithm.ED25519, origin, seed=hashlib.sha256(origin.encode()).digest())


def vkeys_of(*origins: str) -> list[VerifierKey]:
    """Verifier keys of the logs *origins*, and of the witness."""
    keys = [parse_vkey(log_key(origin).vkey or "", where=origin) for origin in origins]
    return [*keys, parse_vkey(log_key(WITNESS).vkey or "", where=WITNESS).as_cosigner()]


def key_event(origin: str, event: KeyEventKind = KeyEventKind.ADD, **changes: Any) -> KeyEvent:
    key = log_key(origin)
    known: dict[str, Any] = {"key": key.fingerprint, "algorithm": key.algorithm, "purpose": KeyPurpose.LOG, "vkey": key.vkey}
    return KeyEvent(event=event, **(known | changes))


def seal(writer: Writer, *, witnessed_at: datetime | None = None, size: int | None = None) -> str:
    """Keep a checkpoint of the log, signed and, if asked, cosigned; return its note without cosignatures."""
    wanted = writer.log_size if size is None else size
    checkpoint = Checkpoint(origin=writer.log_origin, size=wanted, root=seals.find_root(writer, wanted))
    note = sign_checkpoint(checkpoint, [log_key(checkpoint.origin)])
    seals.add_checkpoint(writer, note, checkpoint)
    if witnessed_at is not None:
        seals.add_cosignature(writer, wanted, cosign(note, log_key(WITNESS), at=witnessed_at), witnessed_at)
    return note


def note_of(origin: str, size: int, root: str) -> str:
    """A signed note of any log."""
    return sign_checkpoint(Checkpoint(origin=origin, size=size, root=root), [log_key(origin)])


def sealed_spec(writer: Writer) -> Reveal:
    """Record a sealed specification, and return what opens it."""
    name = make.allocate(writer, Kind.CONTEXT)
    body = ContextSpec(name="hidden", description="no one may see it yet")
    opening = SpecOpening(spec=f"{name}@1", spec_kind=SpecKind.DEPLOY_CONTEXT, salt="ab" * 32, body=body)
    writer.append(make.context_spec(name, slug="hidden", body=None, commitment=commitment_of(opening)))
    return Reveal(opening=opening)


def fill(writer: Writer, audit: str, claim: str, *, erase: int) -> None:
    """Record one statement of every kind of trust: about the locked *audit* of *claim*, with entry *erase* erased."""
    root, other = "ab" * 32, "cd" * 32
    note = note_of(OTHER_LOG, 5, root)
    vkey = log_key(OTHER_LOG).vkey or ""
    writer.append_many(
        [
            key_event(writer.log_origin),
            LogImport(origin=OTHER_LOG, size=5, root=root, vkey=vkey, checkpoint=note, bundle=other),
            Witnessing(origin=OTHER_LOG, size=5, root=root, vkey=vkey, note=note),
            Equivocation(origin=OTHER_LOG, vkey=vkey, first=note, second=note_of(OTHER_LOG, 5, other), finding="two roots of one size"),
            sealed_spec(writer),
            Deviation(audit=audit, item=LockedItem.BUDGET, planned="1", done="2", reason="It ran out."),
            Exploration(
                audit=audit, claim=claim, question="And at night?", differs=(), estimate=make.estimate(), source="a.csv", scores=root
            ),
        ]
    )
    monitors = [Monitor(monitor=make.allocate(writer, Kind.MONITOR), claim=claim, plan=plans.plan(), by="LAB") for _ in range(2)]
    writer.append_many(monitors)
    forecasts = [plans.forecast(monitor, audit, by="LAB") for monitor in monitors]
    entries = writer.append_many(forecasts)
    writer.append_many(plans.windows_of(monitors[0], [([plans.cell(1000, 20)], None), ([plans.cell(1000, 400)], None)]))
    writer.append(plans.forecast_score(forecasts[0], entries[0].seq))
    watched = Monitor(monitor=make.allocate(writer, Kind.MONITOR), claim=claim, plan=plans.incident_plan(), by="LAB")
    writer.append_many([watched, plans.incident(watched)])
    writer.append(MonitorEnd(monitor=monitors[1].monitor, claim=claim, reason="The judge was replaced."))
    writer.append(AuditWithdrawal(audit=audit, reason="The scores were of a debug build."))
    writer.erase(erase, why="It named a person.")
    writer.append(
        TimeAnchor(
            size=5, root=root, note=note, sha256=other, stamped_at=writer.moment, policy="1.2.3.4.1", serial="7",
            authority="https://tsa.example/tsr", answer="MAA=",
        )
    )  # fmt: skip
