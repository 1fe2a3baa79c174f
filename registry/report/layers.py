"""Which evidence layers an audit has: what it did itself decides, and typed statements add what others reported.

Access is that of the paper's Table 3 (arXiv:2605.11496): API only, lab tools, weights, internals.
"""

from collections.abc import Collection, Iterable, Iterator

from registry.records.audit_case import Access, AccessLevel, Evidence, EvidenceLayer
from registry.records.module_findings import Ablation, FindingBody, Recognition
from registry.records.supplement import LayerState

_REPLAYED = "replayed the evaluation and deployment-like contexts"
_ABLATED = "removed cues from the contexts one at a time"
_PROBED = "searched the responses for recognition of the test"


def derive_layers(
    evidence: Collection[Evidence], findings: Collection[FindingBody], *, has_estimate: bool, through_endpoint: bool
) -> tuple[LayerState, ...]:
    """Return the state of all four layers, in the order of `Layer`.

    Args:
        evidence: what the auditor stated.
        findings: what the modules found in this audit.
        has_estimate: whether the audit compared scores of both sides: a replay.
        through_endpoint: whether the responses came from an endpoint, as their provenance says.
    """
    work = _find_work(findings, has_estimate=has_estimate)
    return tuple(
        _derive([one for one in evidence if one.layer is layer], layer, tuple(work.get(layer, ())), through_endpoint=through_endpoint)
        for layer in EvidenceLayer
    )


def _find_work(findings: Iterable[FindingBody], *, has_estimate: bool) -> dict[EvidenceLayer, list[str]]:
    """Return by layer what the audit did, each once."""
    bodies = tuple(findings)
    work: dict[EvidenceLayer, list[str]] = {}
    if has_estimate:
        work[EvidenceLayer.BEHAVIOURAL] = [_REPLAYED]
    if any(isinstance(body, Ablation) for body in bodies):
        work[EvidenceLayer.CUE_SENSITIVITY] = [_ABLATED]
    if any(is_recognition(body) for body in bodies):
        work[EvidenceLayer.VERBALISED] = [_PROBED]
    return work


def _derive(stated: list[Evidence], layer: EvidenceLayer, work: tuple[str, ...], *, through_endpoint: bool) -> LayerState:
    accesses = {one.access for one in stated}
    reported = next((one for one in (Access.AVAILABLE, Access.WITHHELD, Access.UNAVAILABLE) if one in accesses), None)
    access = Access.AVAILABLE if work else reported
    levels = {one.access_level for one in stated if one.access is access}
    if work and through_endpoint:
        levels.add(AccessLevel.API)
    denied = [one for one in (Access.WITHHELD, Access.UNAVAILABLE) if one in accesses]
    contradiction = f"stated as {denied[0].value}; the audit itself {' and '.join(work)}" if work and denied else None
    return LayerState(
        layer=layer,
        access=access,
        levels=tuple(level for level in AccessLevel if level in levels),
        work=work,
        contradiction=contradiction,
    )


def is_recognition(body: FindingBody) -> bool:
    """Whether *body* fills the verbalised layer: the probe classified at least one passage."""
    return isinstance(body, Recognition) and body.is_available


def describe_levels(state: LayerState) -> str:
    """Return the access that the layer took, `API only`; "access not stated" where nothing says it."""
    return " and ".join(level.words for level in state.levels) or "access not stated"


def describe_layers(states: Iterable[LayerState]) -> str:
    """Return the layers that are stated or were looked at, each with its access, and what contradicts a statement."""
    return "; ".join(_describe(states))


def _describe(states: Iterable[LayerState]) -> Iterator[str]:
    for state in states:
        if state.access is not None:
            name = state.layer.value.replace("_", " ")
            yield f"{name}: {state.access.value} ({describe_levels(state)})"
            if state.contradiction:
                yield f"✗ {name} {state.contradiction}"
