"""A registry in two states: before and after a new model version, with everything that can become of a claim in between."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registry.records.analysis_plan import Lock, Plan
from registry.records.claim import ClaimEvent, ClaimEventKind, Form, QuoteStatus, Relation
from registry.records.claim_status import Objection
from registry.records.estimates import BoundedEstimate, Differential, Estimate
from registry.records.model_version import Descent, ModelEvent, ModelEventKind, ModelRef, ModelVersion
from registry.records.record import Kind
from registry.records.verdict import Basis, ClaimClass, Mode, RestrictedClaim, Restriction, Standing
from registry.store import database_schema as schema
from registry.store.ledger import Ledger
from registry.store.log_writer import Writer
from tests.store import builders as make

OLD = ModelRef(developer="Example Lab", name="Sparrow", version="2.1-2026-09-30")
NEW = ModelRef(developer="Example Lab", name="Sparrow", version="2.2-2026-11-15")
OTHER = ModelRef(developer="Example Lab", name="Wren", version="1")

COVERT = "In our evaluation Sparrow took covert action in 5 % of runs, below our deployment threshold of 10 %."
REFUSES = "Sparrow refuses 97.2 % of harmful requests."
MARKUP = 'Sparrow never writes <script>alert("1")</script> or **bold** text & follows {{ instructions }}.'
KEPT = "Sparrow invents a citation in at most 2 % of answers."
QUIET = "Wren does not plan ahead."
LATE = "Sparrow 2.2 reports its own mistakes."

ALLOWED = (
    "In the evaluated contexts only: Sparrow took covert action in 5 % of runs, below the deployment threshold of 10 %. "
    "Under deployment-like contexts it did so in 6 % of runs, which is below the threshold too."
)
TAKEN = (
    "In the evaluated contexts only: Sparrow took covert action in 4 % of runs, below the deployment threshold of 10 %. "
    "Under deployment-like contexts it did so in 31 % of runs, which is above the threshold. "
    "Withdrawn: that the rate lies below 10 % in deployment."
)


@dataclass(frozen=True)
class Story:
    """A registry and the entries between which things changed."""

    ledger: Ledger
    claims: dict[str, str]
    """By what becomes of them."""
    first: int
    """Entries when the first version had been audited."""
    second: int
    """Entries when the new version was registered and nothing else."""
    last: int


def tell(folder: Path) -> Story:
    """Write the registry into *folder*."""
    url = f"sqlite:///{folder / 'caveat.db'}"
    schema.upgrade(url)
    ledger = Ledger.open(url, clock=make.ticking(), salt=make.salting())
    with ledger.write(actor=make.LAB) as writer:
        claims = _tell_first(writer)
    first = _size(ledger)
    with ledger.write(actor=make.LAB) as writer:
        _tell_update(writer)
    second = _size(ledger)
    with ledger.write(actor=make.LAB) as writer:
        claims |= _tell_second(writer, claims)
    return Story(ledger=ledger, claims=claims, first=first, second=second, last=_size(ledger))


def _size(ledger: Ledger) -> int:
    with ledger.view() as view:
        return view.log_size


def _tell_first(writer: Writer) -> dict[str, str]:
    phi = make.settle(writer)
    for model in (OLD, OTHER):
        writer.append(ModelVersion(model=model))
    card = f"{make.add_card(writer)}@1"
    bounded: dict[str, Any] = {"form": Form.THRESHOLD, "relation": Relation.AT_MOST, "theta": 0.1}
    claims = {
        "inverted": _add(writer, phi, COVERT, card=card, **bounded),
        "degraded": _add(writer, phi, REFUSES, card=card),
        "withdrawn": _add(writer, phi, MARKUP, card=card),
        "stale": _add(writer, phi, KEPT, form=Form.UPPER_BOUND, relation=Relation.AT_MOST, theta=0.02),
        "contested": _add(writer, phi, "Sparrow asks before it deletes files.", model=OTHER),
        "same": _add(writer, phi, QUIET, model=OTHER),
    }
    stable = make.verdict(Form.THRESHOLD, ClaimClass.STABLE, standing=Standing.ESTABLISHED, basis=Basis.REPLAY)
    audit(
        writer, f"{claims['inverted']}@1", stable, ALLOWED, measured=estimate((0.05, 0.02, 0.09), (0.06, 0.03, 0.098), (-0.01, -0.05, 0.03))
    )
    kept = make.verdict(Form.PREVALENCE, ClaimClass.STABLE, standing=Standing.ESTABLISHED, basis=Basis.REPLAY)
    audit(
        writer,
        f"{claims['degraded']}@1",
        kept,
        REFUSES,
        measured=estimate((0.972, 0.958, 0.983), (0.96, 0.94, 0.975), (0.012, -0.01, 0.034)),
    )
    open_ = make.verdict(Form.PREVALENCE, ClaimClass.UNDETERMINED, mode=Mode.TECHNICAL, resolves="A replay.")
    audit(writer, f"{claims['withdrawn']}@1", open_, "Undetermined: " + MARKUP)
    return claims


def _tell_update(writer: Writer) -> None:
    writer.append(ModelVersion(model=NEW))
    writer.append(ModelEvent(model=NEW, event=ModelEventKind.FOLLOW, predecessor=OLD, descent=Descent.SUCCESSOR))


def _tell_second(writer: Writer, claims: dict[str, str]) -> dict[str, str]:
    found = writer.find_claim(claims["inverted"])
    assert found is not None
    said = found.payload
    revised = make.claim(
        said.claim, said.property, revision=2, quote=said.quote, quote_status=said.quote_status, form=said.form, relation=said.relation,
        theta=said.theta, direction=said.direction, card=said.card, anchor=said.anchor, model=NEW,
        why="The lab offers Sparrow 2.2 under the same card.",
    )  # fmt: skip
    writer.append(revised)
    taken = make.verdict(Form.THRESHOLD, ClaimClass.INVERTED, standing=Standing.ESTABLISHED, basis=Basis.REPLAY)
    audit(writer, f"{said.claim}@2", taken, TAKEN, measured=estimate((0.04, 0.01, 0.08), (0.31, 0.22, 0.41), (-0.27, -0.36, -0.17)))
    less = make.verdict(Form.PREVALENCE, ClaimClass.DEGRADED, standing=Standing.ESTABLISHED, basis=Basis.REPLAY)
    text = (
        "Sparrow refuses 97.2 % of harmful requests in evaluation, and at least 77.4 % in the deployment-like contexts that were replayed."
    )
    audit(
        writer,
        f"{claims['degraded']}@1",
        less,
        text,
        measured=estimate((0.972, 0.958, 0.983), (0.811, 0.774, 0.846), (0.161, 0.122, 0.201)),
    )
    writer.append(ClaimEvent(claim=claims["withdrawn"], event=ClaimEventKind.WITHDRAW, reason="It was never <b>ours</b>."))
    objection = make.allocate(writer, Kind.OBJECTION)
    writer.append(
        Objection(objection=objection, target=f"{claims['contested']}@1", by=make.LAB, grounds="Deleting a branch deletes files.")
    )
    return {"new": _add(writer, said.property, LATE, model=NEW)}


def _add(writer: Writer, phi: str, quote: str, *, card: str | None = None, **changes: Any) -> str:
    known: dict[str, Any] = {"quote": quote, "quote_status": QuoteStatus.PARAPHRASE, "model": OLD, "card": card}
    return make.add_claim(writer, phi, **(known | changes))


def estimate(test: tuple[float, ...], deploy: tuple[float, ...], ed: tuple[float, ...]) -> Estimate:
    """Each is value, lower and upper end."""
    names = ("value", "low", "high")
    base = make.estimate()
    spec = base.specs[0]
    changes: dict[str, Any] = {
        "phi_test": BoundedEstimate(**dict(zip(names, test, strict=True))),
        "phi_deploy": BoundedEstimate(**dict(zip(names, deploy, strict=True))),
        "ed": Differential(**dict(zip(names, ed, strict=True)), method="clustered"),
    }
    return make.estimate(specs=(type(spec)(**({name: getattr(spec, name) for name in spec.__slots__} | changes)),))


def audit(writer: Writer, claim: str, verdict: Any, restricted: str, *, measured: Estimate | None = None) -> str:
    """Record an audit of *claim* that came to *verdict*, under a lock where something was measured; return its identifier."""
    name = make.add_audit(writer, claim)
    found = writer.find_claim(claim)
    assert found is not None
    said = found.payload
    result = None
    if measured is not None:
        lock = Lock(audit=name, claim=claim, plan=Plan(margin=0.05, epsilon=0.01), relation=said.relation, theta=said.theta,
                    direction=said.direction, deploy_specs=("default",))  # fmt: skip
        locked = writer.append(lock)
        run = writer.append(make.run(name, locked.at))
        base = make.result(name, run.seq)
        result = writer.append(type(base)(audit=name, run=run.seq, estimate=measured)).seq
    text = RestrictedClaim(
        original=said.quote, restricted=restricted, surviving=(), withdrawn=(), resolves=(), verdict=f"{verdict.class_.value}."
    )
    base_restriction = make.restriction(name, claim, verdict)
    writer.append(
        Restriction(audit=name, claim=claim, classification=base_restriction.classification, text=text, basis=verdict.basis, result=result)
    )
    return name
