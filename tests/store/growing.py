"""A registry that grows at random: one statement a step, of any kind, about what is there already."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from monitoring.evidence import WindowData
from registry.errors import CaveatError
from registry.records.analysis_plan import Deviation, Exploration, LockedItem, LockedSpec
from registry.records.audit_case import AuditWithdrawal
from registry.records.claim import ClaimEvent, ClaimEventKind, ClaimRelation, ClaimRelationKind, Form
from registry.records.claim_status import (
    Objection,
    ObjectionEvent,
    ObjectionStep,
    ReviewedCause,
    StalenessReview,
    StalenessVerdict,
)
from registry.records.forecast import Forecast
from registry.records.model_version import Descent, EndpointEventKind, ModelEvent, ModelEventKind, ModelRef, ModelVersion
from registry.records.monitor import Monitor, MonitorEnd
from registry.records.record import Kind
from registry.records.replay_run import assess_model_identity
from registry.records.specification import MethodSpec, Reveal, SpecKind, SpecVersion
from registry.records.statement import OutputFormat, Publication
from registry.records.system_card import MatchResult
from registry.records.verdict import Basis, ClaimClass
from registry.store.ledger import Ledger
from registry.store.log_writer import Writer
from tests import findings
from tests.monitoring import plans
from tests.store import builders as make
from tests.store import sealing

T = TypeVar("T")
MODELS = tuple(ModelRef(developer="Example", name="m", version=str(number)) for number in range(1, 5))
ENDPOINT_NAMES = ("m-1", "m-2")
METHOD = "clustered"


class World:
    """What a growing registry holds, by name; each step records one statement, or is refused and records nothing."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.claims: dict[str, int] = {}
        self.cards: dict[str, int] = {}
        self.specs: dict[str, SpecVersion] = {}
        self.audits: dict[str, str] = {}
        self.runs: dict[str, int] = {}
        self.results: dict[str, int] = {}
        self.objections: list[str] = []
        self.sealed: list[Reveal] = []
        self.monitors: dict[str, Monitor] = {}
        self.windows: dict[str, int] = {}
        self.forecasts: list[tuple[Forecast, int]] = []
        with ledger.write(actor="LAB") as writer:
            phi = make.settle(writer).partition("@")[0]
            self.specs[phi] = make.property_spec(phi)
            for spec in (make.context_spec(make.allocate(writer, Kind.CONTEXT)), make.scoring_spec(make.allocate(writer, Kind.SCORING))):
                writer.append(spec)
                self.specs[spec.spec] = spec
            self.sealed.append(sealing.sealed_spec(writer))
            self.cards[make.add_card(writer)] = 1
            writer.append(ModelVersion(model=MODELS[0]))
            self.phi = phi

    def grow(self, step: str, a: int, b: int) -> str | None:
        """Take one step, with *a* and *b* to choose by; return what refused it, None when it was recorded."""
        try:
            with self.ledger.write(actor="LAB") as writer:
                STEPS[step](self, writer, a, b)
        except (CaveatError, IndexError, ValueError) as error:
            return str(error)
        return None

    def claim(self, a: int) -> str:
        """A claim's identifier."""
        return _pick(list(self.claims), a)

    def revision(self, a: int, b: int) -> str:
        """One of its revisions, `CLM-…@n`."""
        name = self.claim(a)
        return f"{name}@{b % self.claims[name] + 1}"

    def audit(self, a: int) -> str:
        """An audit's identifier."""
        return _pick(list(self.audits), a)

    def card(self, a: int, b: int) -> str:
        """A card revision, `CRD-…@n`."""
        name = _pick(list(self.cards), a)
        return f"{name}@{b % self.cards[name] + 1}"


def _pick(choices: Sequence[T], number: int) -> T:
    if not choices:
        raise IndexError("nothing of this kind is there yet")
    return choices[number % len(choices)]


def _add_claim(world: World, writer: Writer, a: int, b: int) -> None:
    contexts = tuple(f"{spec.spec}@{spec.version}" for spec in world.specs.values() if spec.kind is SpecKind.DEPLOY_CONTEXT and a % 2)
    sealed = tuple(request.opening.spec for request in world.sealed if a % 3 == 1)
    known = {"model": _pick(MODELS, b // 3 % 2), "deploy_contexts": contexts + sealed, "quote": f"Claim {a}."}
    phi = f"{world.phi}@1"
    card = f"{_pick(list(world.cards), a)}@1"
    name = make.add_quoted(writer, phi, card, **known) if b % 2 else make.add_claim(writer, phi, **known)
    world.claims[name] = 1


def _revise_claim(world: World, writer: Writer, a: int, b: int) -> None:
    name = world.claim(a)
    known = writer.find_claim(name)
    assert known is not None
    writer.append(replace(known.payload, revision=world.claims[name] + 1, why="better", model=_pick(MODELS, b % 3)))
    world.claims[name] += 1


def _event(world: World, writer: Writer, a: int, b: int) -> None:
    kind = _pick((ClaimEventKind.PUBLISH, ClaimEventKind.PUBLISH, ClaimEventKind.WITHDRAW), b)
    writer.append(ClaimEvent(claim=world.claim(a), event=kind, reason="so"))


def _relate(world: World, writer: Writer, a: int, b: int) -> None:
    writer.append(ClaimRelation(claim=world.claim(a), relation=ClaimRelationKind.RELATED, other=world.claim(b)))


def _new_version(world: World, writer: Writer, a: int, _b: int) -> None:
    spec = _pick(list(world.specs.values()), a)
    newer = replace(spec, version=spec.version + 1, why="better")
    writer.append(newer)
    world.specs[spec.spec] = newer


def _method(world: World, writer: Writer, _a: int, _b: int) -> None:
    there = next((spec for spec in world.specs.values() if spec.kind is SpecKind.METHOD), None)
    name, version = (there.spec, there.version + 1) if there else (make.allocate(writer, Kind.METHOD), 1)
    body = MethodSpec(name=METHOD, description="intervals")
    world_spec = SpecVersion(spec=name, kind=SpecKind.METHOD, slug=METHOD, version=version, owner="LAB", body=body, why="better")
    writer.append(world_spec)
    world.specs[name] = world_spec


def _reveal(world: World, writer: Writer, a: int, _b: int) -> None:
    writer.append(_pick(world.sealed, a))


def _revise_card(world: World, writer: Writer, a: int, _b: int) -> None:
    name = _pick(list(world.cards), a)
    number = world.cards[name] + 1
    make.revise_card(writer, name, revision=number, document=f"{number:02x}" * 32)
    world.cards[name] = number


def _sight(world: World, writer: Writer, a: int, b: int) -> None:
    card = world.card(0, b)
    number = int(card.partition("@")[2])
    match_result = _pick((MatchResult.UNCHANGED, MatchResult.GONE, MatchResult.MOVED), a + b)
    document = "ab" * 32 if number == 1 else f"{number:02x}" * 32
    writer.append(make.passage_match(world.revision(a, b), card, match_result, document=document))


def _survey(world: World, writer: Writer, a: int, b: int) -> None:
    writer.append(make.survey(world.card(0, a), (b % 30, b % 30 + 4), by=f"rules {a % 2}"))


def _omit(world: World, writer: Writer, a: int, b: int) -> None:
    card = world.card(0, a)
    number = int(card.partition("@")[2])
    document = "ab" * 32 if number == 1 else f"{number:02x}" * 32
    writer.append(make.omission(card, quote=_pick(("The model", "It does not scheme."), b), document=document))


def _register(_world: World, writer: Writer, a: int, b: int) -> None:
    predecessor = _pick((*MODELS, None), b)
    writer.append(ModelVersion(model=_pick(MODELS, a), predecessor=predecessor))


def _follow(_world: World, writer: Writer, a: int, b: int) -> None:
    descent = _pick(tuple(Descent), a + b)
    writer.append(
        ModelEvent(model=_pick(MODELS, a), event=ModelEventKind.FOLLOW, predecessor=_pick(MODELS, b), descent=descent, branch=a % 3 == 0)
    )


def _unfollow(_world: World, writer: Writer, a: int, b: int) -> None:
    links = writer.lineage().links
    link = _pick(links, a + b)
    writer.append(ModelEvent(model=link.model, event=ModelEventKind.UNFOLLOW, predecessor=link.predecessor, reason="an error"))


def _deprecate(_world: World, writer: Writer, a: int, b: int) -> None:
    kind = _pick((ModelEventKind.DEPRECATE, ModelEventKind.REINSTATE), b)
    writer.append(ModelEvent(model=_pick(MODELS, a), event=kind, reason="so"))


def _name_endpoint(_world: World, writer: Writer, a: int, b: int) -> None:
    event = _pick((EndpointEventKind.STATE, EndpointEventKind.STATE, EndpointEventKind.RETRACT), b)
    writer.append(make.endpoint(_pick(MODELS, a), _pick(ENDPOINT_NAMES, a + b), event))


def _open_audit(world: World, writer: Writer, a: int, b: int) -> None:
    claim = world.revision(a, b)
    rival = _pick(world.objections, b) if b % 4 == 0 and world.objections else None
    name = make.allocate(writer, Kind.AUDIT)
    writer.append(replace(make.audit(name, claim), objection=rival))
    world.audits[name] = claim


def _lock(world: World, writer: Writer, a: int, b: int) -> None:
    name = world.audit(a)
    contexts = [spec for spec in world.specs.values() if spec.kind is SpecKind.DEPLOY_CONTEXT]
    fixed = tuple(LockedSpec(name="default", spec=f"{spec.spec}@{b % spec.version + 1}", sha256="ab" * 32) for spec in contexts)
    writer.append(replace(make.lock(name, world.audits[name]), deploy=fixed))


def _run(world: World, writer: Writer, a: int, _b: int) -> None:
    name = world.audit(a)
    world.runs[name] = writer.append(make.run(name, writer.moment + timedelta(hours=1))).seq


def _result(world: World, writer: Writer, a: int, b: int) -> None:
    name = _pick(list(world.runs), a)
    known = make.estimate()
    method = replace(known.specs[0].ed, method=f"{METHOD}/{b % 2 + 1} two-way")
    result = make.result(name, world.runs[name], specs=(replace(known.specs[0], ed=method),))
    world.results[name] = writer.append(result).seq


def _restrict(world: World, writer: Writer, a: int, b: int) -> None:
    name = world.audit(a)
    class_ = _pick((ClaimClass.STABLE, ClaimClass.DEGRADED), b)
    result = world.results.get(name)
    verdict = make.verdict(Form.PREVALENCE, class_, basis=Basis.REPORTED if result is None else Basis.REPLAY)
    model_identity = (
        assess_model_identity(writer.list_endpoint_names(), _pick(MODELS, a), [_pick(ENDPOINT_NAMES, b)], locked=None) if a % 2 else None
    )
    writer.append(make.restriction(name, world.audits[name], verdict, result=result, asked=model_identity))


def _evidence(world: World, writer: Writer, a: int, _b: int) -> None:
    name = world.audit(a)
    writer.append(make.evidence(name, world.audits[name]))


def _find(world: World, writer: Writer, a: int, b: int) -> None:
    name = world.audit(a)
    body = _pick((findings.naturalness, findings.ablation, findings.judge), b)()
    writer.append(make.finding(name, world.audits[name], body))


def _depart(world: World, writer: Writer, a: int, b: int) -> None:
    writer.append(Deviation(audit=world.audit(a), item=_pick(tuple(LockedItem), b), planned="1", done="2", reason="It ran out."))


def _explore(world: World, writer: Writer, a: int, _b: int) -> None:
    name = world.audit(a)
    parts = {"question": "And at night?", "differs": (), "estimate": make.estimate(), "source": "a.csv", "scores": "ab" * 32}
    writer.append(Exploration(audit=name, claim=world.audits[name], **parts))


def _withdraw(world: World, writer: Writer, a: int, _b: int) -> None:
    writer.append(AuditWithdrawal(audit=world.audit(a), reason="The scores were of a debug build."))


def _contest(world: World, writer: Writer, a: int, b: int) -> None:
    name = make.allocate(writer, Kind.OBJECTION)
    specs = [f"{spec.spec}@{a % spec.version + 1}" for spec in world.specs.values()]
    target = world.revision(a, b) if b % 2 else _pick(specs, a)
    writer.append(Objection(objection=name, target=target, by="LAB", grounds="too narrow"))
    world.objections.append(name)


def _step(world: World, writer: Writer, a: int, b: int) -> None:
    step = _pick((ObjectionStep.ANSWERED, ObjectionStep.UPHELD, ObjectionStep.REJECTED), b)
    writer.append(ObjectionEvent(objection=_pick(world.objections, a), step=step, note="so"))


def _review(world: World, writer: Writer, a: int, b: int) -> None:
    name = world.claim(a)
    cause = _pick(writer.list_causes(name), b)
    verdict = _pick(tuple(StalenessVerdict), a + b)
    reviewed = (ReviewedCause(kind=cause.kind, what=cause.what),)
    writer.append(StalenessReview(claim=f"{name}@{world.claims[name]}", verdict=verdict, causes=reviewed, why="looked"))


def _publish(world: World, writer: Writer, a: int, b: int) -> None:
    digests = {"sha256": "ab" * 32, "record": "cd" * 32, "template": "ef" * 32}
    writer.append(Publication(subject=world.revision(a, b), format=OutputFormat.PDF, log_size=writer.log_size, size_bytes=1, **digests))


def _erase(_world: World, writer: Writer, a: int, b: int) -> None:
    writer.erase((a * 100 + b) % writer.log_size + 1, why="It named a person.")


def _authority(_world: World, writer: Writer, a: int, b: int) -> None:
    writer.append(make.authority(f"LAB{a}{b}"))


def _monitor(world: World, writer: Writer, a: int, b: int) -> None:
    name = make.allocate(writer, Kind.MONITOR)
    monitor = Monitor(monitor=name, claim=world.revision(a, b), plan=plans.plan(), by="LAB")
    writer.append(monitor)
    world.monitors[name] = monitor


def _window(world: World, writer: Writer, a: int, b: int) -> None:
    name = _pick(list(world.monitors), a)
    data: list[WindowData] = [([plans.cell(500, 10 + 60 * (b % 3))], None)] * (world.windows.get(name, 0) + 1)
    writer.append(plans.windows_of(world.monitors[name], data)[-1])
    world.windows[name] = len(data)


def _incident(world: World, writer: Writer, a: int, b: int) -> None:
    monitor = Monitor(monitor=make.allocate(writer, Kind.MONITOR), claim=world.revision(a, b), plan=plans.incident_plan(), by="LAB")
    writer.append_many([monitor, plans.incident(monitor, verified=b % 2 == 0)])


def _forecast(world: World, writer: Writer, a: int, b: int) -> None:
    monitor = _pick(list(world.monitors.values()), a)
    forecast = plans.forecast(monitor, world.audit(b), by="LAB")
    world.forecasts.append((forecast, writer.append(forecast).seq))


def _score_forecast(world: World, writer: Writer, a: int, b: int) -> None:
    writer.append(plans.forecast_score(*_pick(world.forecasts, a), observed=0.02 + 0.01 * (b % 3)))


def _end_monitor(world: World, writer: Writer, a: int, _b: int) -> None:
    monitor = _pick(list(world.monitors.values()), a)
    writer.append(MonitorEnd(monitor=monitor.monitor, claim=monitor.claim, reason="The model was replaced."))


STEPS: dict[str, Callable[[World, Writer, int, int], None]] = {
    "claim": _add_claim,
    "revise": _revise_claim,
    "event": _event,
    "relate": _relate,
    "version": _new_version,
    "method": _method,
    "reveal": _reveal,
    "card": _revise_card,
    "sight": _sight,
    "survey": _survey,
    "omit": _omit,
    "register": _register,
    "follow": _follow,
    "unfollow": _unfollow,
    "deprecate": _deprecate,
    "name endpoint": _name_endpoint,
    "audit": _open_audit,
    "lock": _lock,
    "run": _run,
    "result": _result,
    "restrict": _restrict,
    "evidence": _evidence,
    "find": _find,
    "depart": _depart,
    "explore": _explore,
    "withdraw": _withdraw,
    "contest": _contest,
    "step": _step,
    "review": _review,
    "publish": _publish,
    "monitor": _monitor,
    "incident": _incident,
    "window": _window,
    "end monitor": _end_monitor,
    "forecast": _forecast,
    "score forecast": _score_forecast,
    "erase": _erase,
    "authority": _authority,
}
