"""Payloads for the tests of the store, small and valid; each test says only what it is about."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from registry.records.analysis_plan import Lock, Plan
from registry.records.audit_case import Audit, Evidence, EvidenceLayer, EvidenceStatement, Independence, Result
from registry.records.claim import ClaimRevision, Direction, Form, PropertyClass, QuoteStatus
from registry.records.claim_status import ReviewedCause, StaleCause, StalenessReview, StalenessVerdict
from registry.records.estimates import (
    BoundedEstimate,
    Differential,
    Equivalence,
    Estimate,
    EstimateCounts,
    NormalisedDifferential,
    ScoreRange,
    SpecEstimate,
)
from registry.records.model_version import Descent, EndpointEventKind, ModelEndpoint, ModelEvent, ModelEventKind, ModelRef
from registry.records.module_findings import Finding, FindingBody
from registry.records.record import Authority, AuthorityRole, Kind
from registry.records.replay_run import Run, RunEnd, RunStart, RunStatus
from registry.records.specification import ContextSpec, PropertySpec, ScoringMethod, ScoringSpec, SpecKind, SpecVersion
from registry.records.system_card import Anchor, Card, MatchLevel, MatchResult, MediaType, Omission, Page, PassageMatch, Survey
from registry.records.verdict import Basis, ClaimClass, Classification, ReadingVerdict, RestrictedClaim, Restriction, VerdictStanding
from registry.store.log_writer import Writer
from tests.verdicts import find_verdict

LAB = "LAB"
START = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
MODEL = ModelRef(developer="Example", name="m", version="1")
TEXT = "The model refuses in 99 % of cases.\fIt does not scheme."


def ticking(start: datetime = START) -> Callable[[], datetime]:
    """Return a clock that moves one second each time it is asked."""
    seconds = count()
    return lambda: start + timedelta(seconds=next(seconds))


def salting() -> Callable[[], str]:
    """Return salts that are never alike."""
    numbers = count(1)
    return lambda: f"{next(numbers):032x}"


def authority(code: str = LAB, role: AuthorityRole = AuthorityRole.LAB) -> Authority:
    return Authority(code=code, name=f"The {code}", role=role)


def property_spec(spec: str, **changes: Any) -> SpecVersion:
    body = PropertySpec(name="refusal rate", class_=PropertyClass.COMPLIANCE_REFUSAL, range=(0.0, 1.0), direction=Direction.HIGHER_IS_SAFER)
    known: dict[str, Any] = {"spec": spec, "kind": SpecKind.PROPERTY, "slug": "refusal", "version": 1, "owner": LAB, "body": body}
    return SpecVersion(**(known | changes))


def scoring_spec(spec: str, **changes: Any) -> SpecVersion:
    body = ScoringSpec(name="refused", method=ScoringMethod.PATTERN, description="looks for a refusal")
    known: dict[str, Any] = {"spec": spec, "kind": SpecKind.SCORING, "slug": "refused", "version": 1, "owner": LAB, "body": body}
    return SpecVersion(**(known | changes))


def context_spec(spec: str, kind: SpecKind = SpecKind.DEPLOY_CONTEXT, slug: str = "support", **changes: Any) -> SpecVersion:
    body = ContextSpec(name=slug, description="customer support")
    known: dict[str, Any] = {"spec": spec, "kind": kind, "slug": slug, "version": 1, "owner": LAB, "body": body}
    return SpecVersion(**(known | changes))


def card(name: str, text: str, document: str = "ab" * 32, **changes: Any) -> Card:
    known: dict[str, Any] = {
        "card": name,
        "revision": 1,
        "title": "System card of m",
        "publisher": "Example",
        "document": document,
        "size_bytes": 1000,
        "media_type": MediaType.PDF,
        "text": text,
        "pages": (Page(number=1, start=0, stop=35), Page(number=2, start=36, stop=len(TEXT))),
        "extractor": "test 1",
    }
    return Card(**(known | changes))


def claim(name: str, phi: str, **changes: Any) -> ClaimRevision:
    known: dict[str, Any] = {
        "claim": name,
        "revision": 1,
        "quote": "It does not scheme.",
        "quote_status": QuoteStatus.PARAPHRASE,
        "form": Form.PREVALENCE,
        "property": phi,
        "direction": Direction.HIGHER_IS_SAFER,
        "model": MODEL,
    }
    return ClaimRevision(**(known | changes))


def estimate(ed: float = 0.1, low: float | None = 0.05, high: float | None = 0.15, **changes: Any) -> Estimate:
    spec = SpecEstimate(
        spec="default",
        phi_test=BoundedEstimate(value=0.9, low=0.8, high=0.95),
        phi_deploy=BoundedEstimate(value=0.8, low=0.7, high=0.85),
        ed=Differential(value=ed, low=low, high=high, method="clustered", reason=None if low is not None else "too few tasks"),
        ned=NormalisedDifferential(value=0.3),
        sigma_pool=0.3,
        equivalence=Equivalence(p=0.4, equivalent=False),
        minimum_detectable_ed=0.1,
        n=EstimateCounts(
            tasks=20,
            contexts_test=5,
            contexts_deploy=5,
            responses_test=100,
            responses_deploy=100,
            excluded_test=0,
            excluded_deploy=0,
        ),
        ed_under_exclusions=ScoreRange(low=0.1, high=0.1),
    )
    known: dict[str, Any] = {"margin": 0.05, "level": 0.95, "epsilon": 0.01, "range": (0.0, 1.0), "seed": 0, "specs": (spec,)}
    return Estimate(**(known | changes))


def audit(name: str, claim: str, auditor: str = LAB) -> Audit:
    return Audit(audit=name, claim=claim, auditor=auditor, independence=Independence.SELF)


def lock(name: str, claim: str) -> Lock:
    return Lock(
        audit=name,
        claim=claim,
        plan=Plan(margin=0.05, epsilon=0.01),
        relation=None,
        theta=None,
        direction=Direction.HIGHER_IS_SAFER,
        deploy_specs=("default",),
    )


def run(name: str, started_at: datetime, **changes: Any) -> Run:
    known: dict[str, Any] = {
        "audit": name,
        "started_at": started_at,
        "status": RunStatus.COMPLETED,
        "table": "cd" * 32,
        "source": "scores.csv",
        "responses": 200,
    }
    return Run(**(known | changes))


def run_start(name: str, run: str = "ab" * 16) -> RunStart:
    return RunStart(audit=name, run=run, model="m-1", planned=200)


def run_end(name: str, start: int, status: RunStatus = RunStatus.COMPLETED) -> RunEnd:
    return RunEnd(audit=name, start=start, status=status, calls=200)


def result(name: str, run: int, **changes: Any) -> Result:
    return Result(audit=name, run=run, estimate=estimate(**changes))


def evidence(name: str, claim: str) -> EvidenceStatement:
    return EvidenceStatement(audit=name, claim=claim, evidence=Evidence(layer=EvidenceLayer.VERBALISED))


def finding(name: str, claim: str, body: FindingBody) -> Finding:
    return Finding(audit=name, claim=claim, body=body, source="cues.csv")


def verdict(form: Form, class_: ClaimClass, **changes: Any) -> ReadingVerdict:
    known: dict[str, Any] = {
        "form": form,
        "class_": class_,
        "standing": None,
        "point_class": None,
        "mode": None,
        "basis": Basis.REPORTED,
        "direction": None,
        "why": "the interval lies outside the margin",
        "resolves": None,
        "rule": "prevalence-degraded",
    }
    known |= changes
    words, firm = find_verdict(known["class_"], known["standing"], known["mode"])
    if known["standing"] is None and firm is not None and known["basis"] is not Basis.REPLAY:
        firm = VerdictStanding.PROVISIONAL  # a replay is the first condition of an established verdict
    return ReadingVerdict(**({"verdict": words, "verdict_standing": firm} | known))


def restriction(name: str, claim: str, *readings: ReadingVerdict, **changes: Any) -> Restriction:
    text = RestrictedClaim(original="a", restricted="b", surviving=(), withdrawn=(), resolves=(), verdict="c")
    known: dict[str, Any] = {
        "audit": name,
        "claim": claim,
        "classification": Classification(readings=readings, inversion_margin=None),
        "text": text,
        "basis": readings[0].basis,
    }
    return Restriction(**(known | changes))


def anchor(quote: str = "It does not scheme.", document: str = "ab" * 32, **changes: Any) -> Anchor:
    start = TEXT.index(quote)
    around = {"prefix": TEXT[max(0, start - 32) : start], "suffix": TEXT[start + len(quote) :][:32]}
    known: dict[str, Any] = {"document": document, "start": start, "stop": start + len(quote), "exact": quote, "level": MatchLevel.N0}
    return Anchor(**(known | around | changes))


def survey(card: str, *passages: tuple[int, int], by: str = "rules 1") -> Survey:
    return Survey(card=card, by=by, passages=passages)


def omission(card: str, reason: str = "It is about another model.", **changes: Any) -> Omission:
    place = anchor(**changes)
    return Omission(card=card, quote=place.exact, anchor=place, reason=reason)


def passage_match(
    claim: str, card: str, match_result: MatchResult = MatchResult.UNCHANGED, document: str = "ef" * 32, **changes: Any
) -> PassageMatch:
    return PassageMatch(
        claim=claim,
        card=card,
        match_result=match_result,
        anchor=None if match_result is MatchResult.GONE else anchor(document=document, **changes),
    )


def follow(model: ModelRef, predecessor: ModelRef, descent: Descent = Descent.SUCCESSOR, **changes: Any) -> ModelEvent:
    return ModelEvent(model=model, event=ModelEventKind.FOLLOW, predecessor=predecessor, descent=descent, **changes)


def endpoint(model: ModelRef, name: str, event: EndpointEventKind = EndpointEventKind.STATE, **changes: Any) -> ModelEndpoint:
    return ModelEndpoint(model=model, event=event, name=name, reason="It is served under this name", **changes)


def review(claim: str, *causes: StaleCause, verdict: StalenessVerdict = StalenessVerdict.DISMISSED) -> StalenessReview:
    named = tuple(ReviewedCause(kind=cause.kind, what=cause.what) for cause in causes)
    return StalenessReview(claim=claim, verdict=verdict, causes=named, why="I looked.")


def allocate(writer: Writer, kind: Kind, authority: str = LAB) -> str:
    """Return one new identifier."""
    return writer.allocate(kind, authority)[0]


def settle(writer: Writer) -> str:
    """Record the lab and its property, and return the property's reference."""
    writer.append(authority())
    return add_property(writer)


def add_property(writer: Writer, **changes: Any) -> str:
    """Record a property, and return its reference."""
    spec = property_spec(allocate(writer, Kind.PROPERTY), **changes)
    writer.append(spec)
    return f"{spec.spec}@1"


def add_claim(writer: Writer, phi: str, **changes: Any) -> str:
    """Record a claim, and return its identifier."""
    name = allocate(writer, Kind.CLAIM)
    writer.append(claim(name, phi, **changes))
    return name


def add_card(writer: Writer, document: str = "ab" * 32, **changes: Any) -> str:
    """Record a card with its text, and return its identifier."""
    name = allocate(writer, Kind.CARD)
    writer.append(card(name, writer.put_content(TEXT), document, **changes))
    return name


def add_audit(writer: Writer, claim: str) -> str:
    """Record an audit of *claim* (`…@n`), and return its identifier."""
    name = allocate(writer, Kind.AUDIT)
    writer.append(audit(name, claim))
    return name


def add_quoted(writer: Writer, phi: str, card: str, **changes: Any) -> str:
    """Record a claim that is quoted word for word from *card* (`…@n`), and return its identifier."""
    return add_claim(writer, phi, card=card, quote_status=QuoteStatus.VERBATIM, anchor=anchor(), **changes)


def revise_card(writer: Writer, name: str, *, revision: int = 2, document: str = "ef" * 32) -> str:
    """Record a newer revision of the card *name* with the same text, and return its reference."""
    writer.append(card(name, writer.put_content(TEXT), document, revision=revision, why="erratum"))
    return f"{name}@{revision}"
