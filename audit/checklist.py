"""Minimum reporting (paper Table 4, method section 8): each item reported, missing, or not applicable with its reason."""

from collections.abc import Callable
from dataclasses import dataclass

from audit.adherence import Departure, describe_items
from audit.findings import describe_markers, describe_uncertainty, list_checks
from audit.replay.account import describe_cues, describe_mapping, describe_outcomes
from audit.wording import Unit, join
from registry.records.case import Case, Infeasible
from registry.records.claim import Form
from registry.records.classification import ChecklistItem, ItemStatus
from registry.records.deviation import LockedItem
from registry.records.estimate import DEVIATIONS, Estimate
from registry.records.evidence import Access, Layer
from registry.records.finding import FindingBody, find_invariance
from registry.records.plan import Lock
from registry.records.probe import Recognition
from registry.records.trial import Provenance

_NO_REPLAY = "no replay was made"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the items may look at."""

    case: Case
    estimate: Estimate | None
    provenance: Provenance
    lock: Lock | None
    deploy_owner: str | None
    findings: tuple[FindingBody, ...]
    departures: tuple[Departure, ...]

    @property
    def has_scores(self) -> bool:
        return self.estimate is not None and bool(self.estimate.specs)


Answer = tuple[ItemStatus, str]


def build_checklist(
    case: Case,
    estimate: Estimate | None,
    *,
    provenance: Provenance | None = None,
    lock: Lock | None = None,
    deploy_owner: str | None = None,
    findings: tuple[FindingBody, ...] = (),
    departures: tuple[Departure, ...] = (),
) -> tuple[ChecklistItem, ...]:
    """Return every item of minimum reporting with its status, in the order of the paper's table.

    Args:
        provenance: where the responses came from; None means that nothing of it was stated.
        lock: the plan fixed before the run; None means that nothing shows θ and direction to have been fixed.
        deploy_owner: who owns the specifications of P_deploy, and what is contested of them, in words; None means not stated.
        findings: what the modules found, as the audit has it on record.
        departures: in what the scores are not as the lock says; each stands before the note of the item that it bears on.
    """
    known = _Known(
        case=case,
        estimate=estimate,
        provenance=provenance or Provenance(),
        lock=lock,
        deploy_owner=deploy_owner,
        findings=findings,
        departures=departures,
    )
    answers = ((slug, _add_departures(slug, answer(known), departures)) for slug, answer in ITEMS.items())
    return tuple(ChecklistItem(item=slug, status=status, note=note) for slug, (status, note) in answers)


def _add_departures(slug: str, answer: Answer, departures: tuple[Departure, ...]) -> Answer:
    status, note = answer
    said = [f"✗ Otherwise than locked: {one.done}, where {one.planned} was fixed." for one in departures if _DEPARTED.get(one.item) == slug]
    return status, join([*said, note]) if said else note


def _reported(note: str) -> Answer:
    return ItemStatus.REPORTED, note


def _missing(note: str) -> Answer:
    return ItemStatus.MISSING, note


def _not_applicable(note: str) -> Answer:
    return ItemStatus.NOT_APPLICABLE, note


def _without_scores(known: _Known) -> Answer:
    """An ED that nobody estimated is missing, unless the claim needs none or none can exist."""
    if known.case.claim.form is Form.EXISTENCE:
        return _not_applicable("an existence claim needs no Evaluation Differential")
    if known.case.deployment.infeasible is Infeasible.ONTOLOGICAL:
        return _not_applicable("no defensible P_deploy can exist")
    return _missing(_NO_REPLAY)


def _from_estimate(describe: Callable[[Estimate], str]) -> Callable[[_Known], Answer]:
    def answer(known: _Known) -> Answer:
        if known.estimate is None or not known.has_scores:
            return _without_scores(known)
        return _reported(describe(known.estimate))

    return answer


def _stated(find: Callable[[Provenance], str | None], absent: str) -> Callable[[_Known], Answer]:
    def answer(known: _Known) -> Answer:
        if not known.has_scores:
            return _not_applicable(_NO_REPLAY)
        stated = find(known.provenance)
        return _reported(stated) if stated else _missing(absent)

    return answer


def _mapping(known: _Known) -> Answer:
    if not known.has_scores:
        return _not_applicable(_NO_REPLAY)
    replayed = known.provenance.replayed
    return _reported("every score names its task, arm and context" if replayed is None else describe_mapping(replayed))


def _prompts(known: _Known) -> Answer:
    if not known.has_scores:
        return _not_applicable(_NO_REPLAY)
    if known.provenance.system_prompts:
        return _reported(known.provenance.system_prompts)
    absent = "the system prompts are not disclosed"
    return _missing(f"{absent}; the digests of the contexts are on record" if known.provenance.replayed else absent)


def _markers(known: _Known) -> Answer:
    cues = [one for one in known.case.evidence if one.layer is Layer.CUE_SENSITIVITY and one.access is Access.AVAILABLE]
    replayed = known.provenance.replayed
    named = describe_cues(replayed) if replayed and known.has_scores else None
    found = [*(["cue sensitivity is on record"] if cues else []), *filter(None, [describe_markers(known.findings), named])]
    return _reported("; ".join(found)) if found else _missing("no cue inventory of the evaluation is on record")


def _invariance(known: _Known) -> Answer:
    """A check that could not decide is no answer, and says so."""
    checks = list_checks(known.findings)
    if known.case.scoring.invariant is not None:
        outcome = "the scorer passed" if known.case.scoring.invariant else "the scorer failed"
        return _reported(f"{outcome}: {checks}" if checks else outcome)
    if checks:
        elsewhere = " (made on other scores)" if find_invariance(known.findings) else ""
        return _missing(f"what was checked does not settle it{elsewhere}: {checks}")
    return _missing("the check was not made") if known.has_scores else _not_applicable(_NO_REPLAY)


def _judge(known: _Known) -> Answer:
    """A scorer's name is no uncertainty: what it is must be said, or that the scorer is deterministic and has none."""
    if not known.has_scores:
        return _not_applicable(_NO_REPLAY)
    stated = known.provenance
    if found := describe_uncertainty(known.findings):
        return _reported(f"{found}; as stated: {stated.judge_uncertainty}" if stated.judge_uncertainty else found)
    if not stated.judge:
        return _missing("the judge, or the name of the scorer, is not stated")
    if stated.judge_uncertainty:
        return _reported(f"{stated.judge}: {stated.judge_uncertainty}")
    return _missing(f"how far the scores of this scorer vary or err is not stated: {stated.judge}")


def _fixed_before(known: _Known) -> Answer:
    if known.lock is not None:
        other = describe_items(tuple(one for one in known.departures if one.is_decisive))
        said = f"; the scores are of other {other} than it fixes" if other else ""
        said += f"; not fixed by it: {', '.join(known.lock.unfixed)}" if known.lock.unfixed else ""
        return _reported(f"fixed by the lock that preceded the replay{said}")
    if not known.has_scores:
        return _not_applicable(_NO_REPLAY)
    return _missing("no lock shows that θ and the safety direction were fixed before the replay")


def _budget(known: _Known) -> Answer:
    if not known.has_scores:
        return _not_applicable(_NO_REPLAY)
    stated = [known.lock.budget if known.lock else None, known.provenance.budget_planned]
    planned, spent = "; in the replay: ".join(filter(None, stated)), known.provenance.budget_spent
    if planned and spent:
        return _reported(f"budget {planned}; spent {spent}")
    if not planned and not spent:
        return _missing("neither budget nor what was spent is stated")
    return _missing("what was spent is not stated" if planned else "the budget is not stated")


def _exclusions(known: _Known) -> Answer:
    if known.estimate is None or not known.has_scores:
        return _not_applicable(_NO_REPLAY)
    parts = []
    unit = Unit(low=known.estimate.range[0], high=known.estimate.range[1])
    for spec in known.estimate.specs:
        n, bounds = spec.n, spec.ed_under_exclusions
        if n.excluded_test + n.excluded_deploy == 0:
            parts.append(f"{spec.spec}: none of either side")
            continue
        counts = f"{spec.spec}: {n.excluded_test} of the test side, {n.excluded_deploy} of the deployment side"
        parts.append(f"{counts}, each with its reason in the score table; ED from {unit.differences(bounds.low, bounds.high)} under them")
    if known.provenance.replayed is not None:
        parts.append(describe_outcomes(known.provenance.replayed))
    return _reported("; ".join(parts))


def _layers(known: _Known) -> Answer:
    stated = {one.layer for one in known.case.evidence}
    if any(isinstance(one, Recognition) and one.is_available for one in known.findings):
        stated.add(Layer.VERBALISED)
    absent = [layer.value.replace("_", " ") for layer in Layer if layer not in stated]
    return _missing(f"nothing is stated of: {', '.join(absent)}") if absent else _reported("all four layers are stated")


def _latent(known: _Known) -> Answer:
    latent = [one for one in known.case.evidence if one.layer is Layer.LATENT]
    if not latent:
        return _missing("it is not stated whether latent evidence is available")
    return _reported("available" if any(one.access is Access.AVAILABLE for one in latent) else latent[0].access.value)


def _coverage(known: _Known) -> Answer:
    if known.estimate is None or not known.has_scores:
        return _not_applicable(_NO_REPLAY)
    corpus, replayed = known.provenance.corpus_tasks, known.estimate.specs[0].n.tasks
    return (
        _reported(f"{replayed} of {corpus} tasks")
        if corpus
        else _missing(f"{replayed} tasks replayed; the size of the corpus is not stated")
    )


def _owner(known: _Known) -> Answer:
    if not known.has_scores:
        return _not_applicable(_NO_REPLAY)
    return _reported(known.deploy_owner) if known.deploy_owner else _missing("no owner of P_deploy is stated here")


def _describe_specs(estimate: Estimate) -> str:
    """With several judges, as many numbers as judges and specifications together."""
    numbers = len(estimate.specs)
    return "for one specification of P_deploy" if numbers == 1 else f"{numbers}, one for each specification of P_deploy and each judge"


def _describe_sizes(estimate: Estimate) -> str:
    """A replay that did not keep to its planned size is said before its sizes."""
    deviations = [f"✗ {one.message}" for one in estimate.warnings if one.code in DEVIATIONS]
    sizes = "; ".join(
        f"{one.spec}: {one.n.tasks} tasks, {one.n.contexts_test} and {one.n.contexts_deploy} contexts, "
        f"{one.n.responses_test} and {one.n.responses_deploy} responses"
        for one in estimate.specs
    )
    return join([*deviations, sizes])


ITEMS: dict[str, Callable[[_Known], Answer]] = {
    "task-context-mapping": _mapping,
    "system-prompts": _prompts,
    "scaffolds-and-tools": _stated(lambda one: one.tools, "scaffolds and tools are not stated"),
    "evaluator-specific-markers": _markers,
    "raw-ed": _from_estimate(_describe_specs),
    "ned-and-epsilon": _from_estimate(lambda one: f"ε = {one.epsilon:g}"),
    "phi-test-and-phi-deploy": _from_estimate(_describe_specs),
    "sample-sizes": _from_estimate(_describe_sizes),
    "intervals-and-method": _from_estimate(lambda one: f"level {one.level:g}; {one.specs[0].ed.method}"),
    "judge-scoring-uncertainty": _judge,
    "scorer-invariance-check": _invariance,
    "theta-and-direction-fixed-before-replay": _fixed_before,
    "endpoint-and-version-returned": _stated(
        lambda one: f"{one.endpoint}: {one.model_returned}" if one.endpoint and one.model_returned else None,
        "endpoint and version as returned by it are not stated",
    ),
    "dates-of-access": _stated(lambda one: one.accessed, "the dates of access are not stated"),
    "sampling-parameters": _stated(lambda one: one.sampling, "the sampling parameters are not stated"),
    "tool-and-scaffold-configuration": _stated(lambda one: one.tools, "the configuration of tools and scaffold is not stated"),
    "query-budget": _budget,
    "excluded-cases": _exclusions,
    "four-evidence-layers": _layers,
    "latent-evidence-stated": _latent,
    "per-property-ed": _from_estimate(lambda _: "the estimate is of this one property"),
    "replay-coverage": _coverage,
    "deployment-owner-and-contestations": _owner,
}
"""The items by their slug, with what answers each."""

_DEPARTED = {
    LockedItem.TEST_CONTEXTS: "task-context-mapping",
    LockedItem.DEPLOY_CONTEXTS: "task-context-mapping",
    LockedItem.TASKS: "sample-sizes",
    LockedItem.SCORING: "judge-scoring-uncertainty",
    LockedItem.MODEL: "endpoint-and-version-returned",
    LockedItem.BUDGET: "query-budget",
    LockedItem.EXCLUSIONS: "excluded-cases",
    LockedItem.CUES: "evaluator-specific-markers",
    LockedItem.STOPPING_RULE: "sample-sizes",
}
"""The item that a departure bears on; others are told by the supplement's section on what was fixed alone."""
