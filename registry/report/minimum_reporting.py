"""Minimum reporting (paper Table 4, method section 8): each item reported, missing, or not applicable with its reason."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from registry.records.analysis_plan import DECISIVE, Deviation, Lock, LockedItem, list_deviations
from registry.records.audit_case import Access, AccessLevel, Case, Evidence, EvidenceLayer, Infeasible
from registry.records.claim import Form
from registry.records.claim_status import ObjectionState
from registry.records.dossier import AuditFile, Dossier, ObjectionFile, Recorded
from registry.records.estimates import DEVIATIONS, Estimate, Measure, SpecEstimate
from registry.records.module_findings import (
    Ablation,
    FindingBody,
    JudgeReport,
    Naturalness,
    Recognition,
    find_invariance,
)
from registry.records.replay_run import ArmOutcomes, Provenance, ReplayAccount, RequestedArm
from registry.records.specification import ContextSpec, SpecVersion
from registry.records.supplement import LayerState
from registry.records.verdict import ChecklistItem, Completeness, ItemStatus, Restriction
from registry.report.number_format import Unit, join, share

# Evidence layers. The audit's own work decides; typed statements add what others reported.
#
# The levels of access are those of the paper's Table 3 (arXiv:2605.11496): API only, lab tools,
# weights, internals.

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
        _derive(
            [statement for statement in evidence if statement.layer is layer],
            layer,
            tuple(work.get(layer, ())),
            through_endpoint=through_endpoint,
        )
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
    # Only a probe that classified a passage fills the verbalised layer: a run without one searched
    # nothing.
    if any(is_recognition(body) for body in bodies):
        work[EvidenceLayer.VERBALISED] = [_PROBED]
    return work


def _derive(stated: list[Evidence], layer: EvidenceLayer, work: tuple[str, ...], *, through_endpoint: bool) -> LayerState:
    accesses = {evidence.access for evidence in stated}
    # Of several statements the one with the most access counts.
    reported = next((item for item in (Access.AVAILABLE, Access.WITHHELD, Access.UNAVAILABLE) if item in accesses), None)
    # What the audit did itself outranks every statement about access.
    access = Access.AVAILABLE if work else reported
    levels = {evidence.access_level for evidence in stated if evidence.access is access}
    # An endpoint needs API access and no more.
    if work and through_endpoint:
        levels.add(AccessLevel.API)
    # A statement that the audit disproves is printed with it. Dropping either would hide a
    # contradiction.
    denied = [item for item in (Access.WITHHELD, Access.UNAVAILABLE) if item in accesses]
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


# Module findings in the words of minimum reporting.


def describe_markers(findings: Iterable[FindingBody]) -> str:
    """Return what ablation and naturalness say of evaluator-specific markers; empty when neither is on record."""
    parts = []
    for finding in findings:
        if isinstance(finding, Ablation):
            # A placebo touches no cue, so it belongs to no inventory.
            cues = [change for change in finding.changes if not change.placebo]
            relevant = [change.cue for change in cues if change.relevant]
            # "Unknown" is not "not relevant": cues without a decision are counted apart.
            unknown = sum(change.relevant is None for change in cues)
            parts.append(
                f"cue ablation of {_count(len(cues), 'cue')}, audit-relevant: {', '.join(relevant) or 'none shown'}"
                + (f"; of {unknown} it cannot be said" if unknown else "")
            )
        elif isinstance(finding, Naturalness):
            named = ", ".join(f"{cue.cue} ({cue.count})" for cue in finding.cues)
            parts.append(f"blind raters named {named}" if named else "blind raters named no cue")
    return "; ".join(parts)


def describe_uncertainty(findings: Iterable[FindingBody]) -> str:
    """Return how far judges vary and err, with numbers; empty when no report has repeats or a corrected estimate."""
    return "; ".join(filter(None, (_describe_judge(finding) for finding in findings if isinstance(finding, JudgeReport))))


def list_checks(findings: Iterable[FindingBody]) -> str:
    """Return every invariance check with its outcome in a word; empty when none was made."""
    words = {True: "passed", False: "failed", None: "undecided"}
    checks = (check for finding in findings if isinstance(finding, JudgeReport) for check in finding.invariance)
    return "; ".join(f"{check.check} ({check.column}) {words[check.passed]}" for check in checks)


def _describe_judge(judge_report: JudgeReport) -> str:
    unit = Unit(low=judge_report.range[0], high=judge_report.range[1])
    parts = []
    if judge_report.repeats is not None:
        text = f"{judge_report.repeats.scorings} scorings of {_count(judge_report.repeats.responses, 'response')}"
        if judge_report.repeats.deviation is not None:
            text += f", standard deviation within a response {unit.difference(judge_report.repeats.deviation)}"
        # Rounded before it becomes per cent, so that no digits of the arithmetic are printed.
        if judge_report.repeats.share is not None:
            text += f", {share(round(judge_report.repeats.share, 3))} of the variance of ED"
        parts.append(text)
    parts += [f"{corrected.method} correction gives ED {_describe_checks(unit, corrected.ed)}" for corrected in judge_report.corrected]
    if not parts:
        return ""
    if not judge_report.corrected:
        # Repeats show how far a judge varies, not how far it is wrong.
        parts.append("errors against a person's labels were not measured")
    return f"{judge_report.judge or 'a judge that is not named'}: {'; '.join(parts)}"


def _describe_checks(unit: Unit, measure: Measure) -> str:
    if measure.value is None:
        return f"no value ({measure.reason})"
    if measure.low is None or measure.high is None:
        return f"{unit.difference(measure.value)} without an interval ({measure.reason})"
    return f"{unit.difference(measure.value)} ({unit.differences(measure.low, measure.high)})"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


# What a replay asked and which answers came, in the words of minimum reporting.


def describe_mapping(replayed: ReplayAccount) -> str:
    """Return which tasks were asked in which contexts."""
    contexts = {context.name: context for context in replayed.contexts}
    parts = []
    for arm in replayed.arms:
        # The record may lack the contexts: a specification can be sealed or withheld.
        spec = contexts[arm.contexts].spec if arm.contexts in contexts else None
        number = len(spec.contexts) if spec else None
        size = "contexts" if number is None else "1 context" if number == 1 else f"{number} contexts"
        chosen = f" ({_describe_choice(arm)})" if arm.where else ""
        tasks = f"{arm.tasks} task{'s' if arm.tasks != 1 else ''}{chosen}"
        parts.append(f"{_name_arm(arm)}: {tasks}, each in the {size} of {_name_contexts(replayed, arm)}")
    samples = f"{replayed.samples} response{'s' if replayed.samples > 1 else ''} to each task in each context"
    return "; ".join([*parts, samples, "every score names its task, arm and context"])


def describe_cues(replayed: ReplayAccount) -> str | None:
    """Return the cues that the contexts of the test side are marked with; None where none is, or the contexts are not in the record."""
    cues: dict[str, None] = {}
    for requested in replayed.list_contexts("test"):
        cues |= dict.fromkeys(_list_cues(requested.spec)) if requested.spec else {}
    return f"marked in the contexts that were replayed: {', '.join(cues)}" if cues else None


def describe_outcomes(replayed: ReplayAccount) -> str:
    """Return what is no plain answer on each side, contexts as they are: scored as it is, or excluded with its reason."""
    kinds = (("refused", "refused"), ("truncated", "cut"), ("empty", "empty"))
    parts = []
    for outcome in replayed.outcomes:
        # Rows with a cue removed belong to the ablation, not to the two sides that ED compares.
        if outcome.cue_removed is not None:
            continue
        counts = [f"{count:,} {word}" for name, word in kinds if (count := getattr(outcome, name))]
        counts += [f"{count:,} {reason}" for reason, count in outcome.failures.items()]
        counts += [f"{outcome.open:,} never asked"] if outcome.open else []
        parts.append(f"{_name_arm(outcome)}: {', '.join(counts) or 'none refused, cut, empty or failed'} of {outcome.planned:,}")
    return f"answers as they came: {'; '.join(parts)}"


def _list_cues(spec: ContextSpec) -> Iterable[str]:
    """Return the cues of contexts and of the blocks that stand in one."""
    blocks = spec.blocks or {}
    for item in spec.contexts:
        yield from item.cues
        yield from (cue for name in item.block_names if name in blocks and (cue := blocks[name].cue))


def _name_arm(item: RequestedArm | ArmOutcomes) -> str:
    return f"{item.arm} ({item.spec})" if item.spec else item.arm


def _name_contexts(replayed: ReplayAccount, arm: RequestedArm) -> str:
    # Registered contexts have a reference; contexts of the replay file only a name.
    return next((context.reference for context in replayed.contexts if context.name == arm.contexts and context.reference), arm.contexts)


def _describe_choice(arm: RequestedArm) -> str:
    return " and ".join(f"{field} {' or '.join(values)}" for field, values in (arm.where or {}).items())


# Minimum reporting (paper Table 4, method section 8).
#
# The items are computed when a document is rendered, from the record as of that entry, and never
# stored. So an objection or a deviation that came after the outcome is included. Items about a
# replay do not apply where none was made: counted as missing, they would hide the items that are.

_NO_REPLAY = "no replay was made"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditMaterial:
    """What an audit has on record that its reporting is checked against."""

    # The form decides whether ED applies at all: an existence claim has none.
    form: Form
    infeasible: Infeasible | None = None
    """Why no defensible P_deploy can be built; None where one can."""
    evidence: tuple[Evidence, ...] = ()
    invariant: bool | None = None
    """Whether the scorer is invariant, as declared or checked; None: not known."""
    estimate: Estimate | None = None
    provenance: Provenance = Provenance()
    lock: Lock | None = None
    """The plan fixed before the run; None means that nothing shows θ and direction to have been fixed."""
    deploy_owner: str | None = None
    """Who owns the specifications of P_deploy, with the objections against each, in words; None: not stated."""
    objections: tuple[str, ...] = ()
    """`CON-…` against the claim or another definition that it rests on, which are not rejected."""
    findings: tuple[FindingBody, ...] = ()
    deviations: tuple[Deviation, ...] = ()
    """In what the scores are not as the lock says; each stands before the note of the item that it bears on."""

    @property
    def has_scores(self) -> bool:
        """Whether a replay was made."""
        return self.estimate is not None and bool(self.estimate.specs)

    @property
    def layers(self) -> tuple[LayerState, ...]:
        """The state of the four evidence layers."""
        return derive_layers(
            self.evidence, self.findings, has_estimate=self.has_scores, through_endpoint=comes_from_endpoint(self.provenance)
        )


Answer = tuple[ItemStatus, str]


def build_items(material: AuditMaterial) -> tuple[ChecklistItem, ...]:
    """Return every item of minimum reporting with its status, in the order of the paper's table."""
    answers = ((slug, _add_deviations(slug, answer(material), material.deviations)) for slug, answer in ITEMS.items())
    return tuple(ChecklistItem(item=slug, status=status, note=note) for slug, (status, note) in answers)


def build_case_items(case: Case, estimate: Estimate | None) -> tuple[ChecklistItem, ...]:
    """Return the items of a case without a registry: nothing is known of lock, provenance and objections."""
    # A case file can show neither lock nor provenance, so both stay at their defaults and read as
    # missing.
    material = AuditMaterial(
        form=case.claim.form,
        infeasible=case.deployment.infeasible,
        evidence=case.evidence,
        invariant=case.scoring.invariant,
        estimate=estimate,
    )
    return build_items(material)


def build_audit_items(dossier: Dossier, file: AuditFile, outcome: Recorded[Restriction] | None) -> tuple[ChecklistItem, ...]:
    """Return the items of one outcome of *file*, an audit in *dossier*, as of the dossier's log entry; empty without an outcome."""
    return build_items(find_material(dossier, file, outcome)) if outcome is not None else ()


def find_material(dossier: Dossier, file: AuditFile, outcome: Recorded[Restriction]) -> AuditMaterial:
    """Return what is on record of *file* at the entry that *dossier* was read at."""
    restriction = outcome.payload
    # The outcome names its result, and the result its run. Scores from elsewhere have neither.
    result = next((recorded.payload for recorded in file.results if recorded.entry.seq == restriction.result), None)
    run = next((recorded.payload for recorded in file.runs if result is not None and recorded.entry.seq == result.run), None)
    provenance = (run.provenance if run else restriction.provenance) or Provenance()
    findings = tuple(finding.payload.body for finding in file.findings)
    # Only a check of the very scores that the outcome rests on resolves anything for them; a failed
    # one is about the scorer itself.
    checked = find_invariance(findings, scores=run.scores if run else restriction.scores)
    audit = file.audit.payload
    return AuditMaterial(
        form=restriction.classification.primary.form,
        infeasible=audit.deployment.infeasible,
        evidence=tuple(statement.payload.evidence for statement in file.evidence),
        # A recorded check replaces what the audit file declared.
        invariant=audit.scoring.invariant if checked is None else checked,
        estimate=result.estimate if result else restriction.estimate,
        provenance=provenance,
        # A lock after the scores fixed nothing, so it does not count.
        lock=file.lock.payload if file.lock and not restriction.post_hoc else None,
        deploy_owner=_describe_owners(dossier, file, provenance),
        objections=_list_objections(dossier, file, provenance),
        findings=findings,
        deviations=list_deviations(
            (*(deviation.payload for deviation in file.deviations), *_find_other_model(file, restriction, provenance))
        ),
    )


def _find_other_model(file: AuditFile, restriction: Restriction, provenance: Provenance) -> tuple[Deviation, ...]:
    """Of scores that the lock did not precede no deviation is recorded; but of another model they are not of this claim."""
    # Without a preceding lock no deviation is recorded. But a replay of another model is not about
    # this claim, and must not stay silent.
    planned = file.lock.payload.model if file.lock and restriction.post_hoc else None
    returned = provenance.model_returned
    # Several returned names are joined by semicolons.
    if planned is None or returned is None or set(returned.split("; ")) == {planned}:
        return ()
    return (Deviation(audit=restriction.audit, item=LockedItem.MODEL, planned=planned, done=returned, reason=None, found=True),)


def comes_from_endpoint(provenance: Provenance | None) -> bool:
    """Return whether responses came from an endpoint, as a run folder or a statement says."""
    return provenance is not None and (provenance.replayed is not None or bool(provenance.endpoint))


def count_items(items: Collection[ChecklistItem | Completeness]) -> str:
    """Return how many items are missing, with the one base that all documents count from."""
    # One base for all documents: 6 of 9 applicable items, never 6 of 23.
    statuses = [item.status for item in items]
    return format_missing(
        statuses.count(ItemStatus.MISSING), applying=len(statuses) - statuses.count(ItemStatus.NOT_APPLICABLE), total=len(statuses)
    )


def format_missing(missing: int, *, applying: int, total: int) -> str:
    """Return a count such as "6 of 9 applicable items are missing (14 do not apply)"."""
    rest = total - applying
    apart = f" ({rest} {'does' if rest == 1 else 'do'} not apply)" if rest else ""
    noun = "item" if applying == 1 else "items"
    if not missing:
        return f"none of {applying} applicable {noun} is missing{apart}"
    return f"{missing} of {applying} applicable {noun} {'is' if missing == 1 else 'are'} missing{apart}"


def _list_deploy(dossier: Dossier, file: AuditFile, provenance: Provenance) -> dict[str, SpecVersion]:
    """Return the registered specifications of P_deploy that the scores are against, by `CTX-…@n`."""
    lock, replayed = file.lock, provenance.replayed
    # An audit may be about an earlier revision, whose specifications then count.
    claim = next(
        (revision.payload for revision in dossier.revisions if revision.payload.reference == file.audit.payload.claim),
        dossier.current.payload,
    )
    # The claim, the lock and the replay can each name specifications.
    named = [*claim.deploy_contexts, *(locked_spec.spec for locked_spec in (lock.payload.deploy if lock else ()))]
    named += replayed.list_references("deploy") if replayed else ()
    known = {f"{spec.payload.spec}@{spec.payload.version}": spec.payload for spec in dossier.specs}
    return {name: known[name] for name in dict.fromkeys(named) if name in known}


def _describe_owners(dossier: Dossier, file: AuditFile, provenance: Provenance) -> str | None:
    owners = []
    for name, spec in _list_deploy(dossier, file, provenance).items():
        # An objection to a specification is printed with its owner, not among those against the
        # claim.
        against = [
            objection_file.objection.payload.objection
            for objection_file in _list_standing(dossier)
            if objection_file.objection.payload.target == name
        ]
        contested = f"; contested: {', '.join(against)}" if against else ""
        owners.append(f"{spec.owner} ({spec.slug}{contested})")
    return ", ".join(sorted(set(owners))) or None


def _list_objections(dossier: Dossier, file: AuditFile, provenance: Provenance) -> tuple[str, ...]:
    deploy = _list_deploy(dossier, file, provenance)
    objections = (objection_file.objection.payload for objection_file in _list_standing(dossier))
    return tuple(objection.objection for objection in objections if objection.target not in deploy)


def _list_standing(dossier: Dossier) -> list[ObjectionFile]:
    # An objection that was not rejected stands, decided or not.
    return [objection for objection in dossier.objections if objection.state is not ObjectionState.REJECTED]


def _add_deviations(slug: str, answer: Answer, deviations: Collection[Deviation]) -> Answer:
    status, note = answer
    # The deviation comes before the note: a reader must not take the note for what was planned.
    departed = [
        f"✗ Not as locked: {deviation.done}; {deviation.planned} was fixed."
        for deviation in deviations
        if _DEPARTED.get(deviation.item) == slug
    ]
    return status, join([*departed, note]) if departed else note


def _reported(note: str) -> Answer:
    return ItemStatus.REPORTED, note


def _missing(note: str) -> Answer:
    return ItemStatus.MISSING, note


def _not_applicable(note: str) -> Answer:
    return ItemStatus.NOT_APPLICABLE, note


def _without_scores(material: AuditMaterial) -> Answer:
    """Say why there is no ED."""
    # An existence claim is shown by one observation, so no difference is expected of it.
    if material.form is Form.EXISTENCE:
        return _not_applicable("an existence claim needs no Evaluation Differential")
    if material.infeasible is Infeasible.ONTOLOGICAL:
        return _not_applicable("no defensible P_deploy can exist")
    return _not_applicable(_NO_REPLAY)


def _from_estimate(describe: Callable[[Estimate], str]) -> Callable[[AuditMaterial], Answer]:
    def answer(material: AuditMaterial) -> Answer:
        if material.estimate is None or not material.has_scores:
            return _without_scores(material)
        return _reported(describe(material.estimate))

    return answer


def _stated(find: Callable[[Provenance], str | None], absent: str) -> Callable[[AuditMaterial], Answer]:
    def answer(material: AuditMaterial) -> Answer:
        # Nothing was asked, so nothing can be stated of an endpoint.
        if not material.has_scores:
            return _not_applicable(_NO_REPLAY)
        stated = find(material.provenance)
        return _reported(stated) if stated else _missing(absent)

    return answer


def _mapping(material: AuditMaterial) -> Answer:
    if not material.has_scores:
        return _not_applicable(_NO_REPLAY)
    replayed = material.provenance.replayed
    # Scores from a table show the mapping row by row; a run folder names it itself.
    return _reported("every score names its task, arm and context" if replayed is None else describe_mapping(replayed))


def _prompts(material: AuditMaterial) -> Answer:
    if not material.has_scores:
        return _not_applicable(_NO_REPLAY)
    if material.provenance.system_prompts:
        return _reported(material.provenance.system_prompts)
    absent = "the system prompts are not disclosed"
    # Digests fix the contexts without disclosing them. That is less than the item asks for.
    return _missing(f"{absent}; the digests of the contexts are on record" if material.provenance.replayed else absent)


def _markers(material: AuditMaterial) -> Answer:
    # Stated cue evidence, findings and marked cues count alike: each shows that someone looked.
    cues = any(evidence.layer is EvidenceLayer.CUE_SENSITIVITY and evidence.access is Access.AVAILABLE for evidence in material.evidence)
    replayed = material.provenance.replayed
    marked = describe_cues(replayed) if replayed and material.has_scores else None
    notes = [*(["cue sensitivity is on record"] if cues else []), *filter(None, [describe_markers(material.findings), marked])]
    return _reported("; ".join(notes)) if notes else _missing("no cue inventory of the evaluation is on record")


def _invariance(material: AuditMaterial) -> Answer:
    """A check that could not decide is no answer, and says so."""
    if not material.has_scores:
        return _not_applicable(_NO_REPLAY)
    checks = list_checks(material.findings)
    if material.invariant is not None:
        outcome = "the scorer passed" if material.invariant else "the scorer failed"
        return _reported(f"{outcome}: {checks}" if checks else f"{outcome}, as the auditor states; no check is on record")
    # An undecided check is no answer. It is missing, and says what was done.
    if checks:
        elsewhere = " (made on other scores)" if find_invariance(material.findings) else ""
        return _missing(f"what was checked does not settle it{elsewhere}: {checks}")
    # Without the context as input the scorer cannot depend on it.
    if material.provenance.scorer_reads_response:
        return _not_applicable("the scorer reads only the response and the task, so no context can change a score")
    return _missing("the check was not made")


def _judge(material: AuditMaterial) -> Answer:
    """A scorer's name is no uncertainty: what it is must be said, or that the scorer is deterministic and has none."""
    if not material.has_scores:
        return _not_applicable(_NO_REPLAY)
    stated = material.provenance
    # Measured uncertainty replaces a statement.
    if measured := describe_uncertainty(material.findings):
        return _reported(f"{measured}; as stated: {stated.judge_uncertainty}" if stated.judge_uncertainty else measured)
    if not stated.judge:
        return _missing("the judge, or the name of the scorer, is not stated")
    if stated.judge_uncertainty:
        return _reported(f"{stated.judge}: {stated.judge_uncertainty}")
    # A name alone says nothing of the error. The provenance describes the scorer, once.
    return _missing("how far the scores of this scorer vary or err is not stated")


def _fixed_before(material: AuditMaterial) -> Answer:
    if not material.has_scores:
        return _not_applicable(_NO_REPLAY)
    # Without a lock the order of plan and scores is only asserted.
    if material.lock is None:
        return _missing("no lock shows that θ and the safety direction were fixed before the replay")
    # A decisive deviation means that the scores are not those that the lock fixed.
    other = ", ".join(dict.fromkeys(deviation.item.words for deviation in material.deviations if deviation.item in DECISIVE))
    note = f"; the scores are of other {other} than it fixes" if other else ""
    note += f"; not fixed by it: {', '.join(material.lock.unfixed)}" if material.lock.unfixed else ""
    return _reported(f"fixed by the lock that preceded the replay{note}")


def _budget(material: AuditMaterial) -> Answer:
    if not material.has_scores:
        return _not_applicable(_NO_REPLAY)
    # The lock and the replay file can both state a budget.
    stated = [material.lock.budget if material.lock else None, material.provenance.budget_planned]
    planned, spent = "; in the replay: ".join(filter(None, stated)), material.provenance.budget_spent
    if planned and spent:
        return _reported(f"budget {planned}; spent {spent}")
    if not planned and not spent:
        return _missing("neither budget nor what was spent is stated")
    # One number without the other shows no overrun.
    return _missing("what was spent is not stated" if planned else "the budget is not stated")


def _exclusions(material: AuditMaterial) -> Answer:
    if material.estimate is None or not material.has_scores:
        return _not_applicable(_NO_REPLAY)
    unit = Unit(low=material.estimate.range[0], high=material.estimate.range[1])
    parts = []
    for spec in material.estimate.specs:
        parts += [_describe_exclusions(spec, unit), _describe_truncation(spec)]
    if material.provenance.replayed is not None:
        parts.append(describe_outcomes(material.provenance.replayed))
    parts += material.provenance.doubts
    return _reported("; ".join(filter(None, parts)))


def _describe_exclusions(spec: SpecEstimate, unit: Unit) -> str:
    n, bounds = spec.n, spec.ed_under_exclusions
    if n.excluded_test + n.excluded_deploy == 0:
        # Zero exclusions are reported, not left out: silence would look like a missing item.
        return f"{spec.spec}: none of either side"
    counts = f"{spec.spec}: {n.excluded_test} of the test side, {n.excluded_deploy} of the deployment side"
    return f"{counts}, each with its reason in the score table; ED from {unit.differences(bounds.low, bounds.high)} under them"


def _describe_truncation(spec: SpecEstimate) -> str:
    if spec.truncation is None:
        return f"{spec.spec}: which responses were truncated is not stated"
    sides = (("test", spec.truncation.test), ("deployment", spec.truncation.deploy))
    counts = []
    for name, side in sides:
        settled = f", {side.settled} of them with a score that can no longer change" if side.settled else ""
        unknown = f", of {side.not_stated} not stated" if side.not_stated else ""
        # Truncation after the deciding part of a response changes no score.
        counts.append(f"{side.truncated} of {side.responses} {name} responses{settled}{unknown}")
    return f"{spec.spec}: truncated {' and '.join(counts)}"


def _layers(material: AuditMaterial) -> Answer:
    states = material.layers
    absent = [state.layer.value.replace("_", " ") for state in states if state.access is None]
    # A layer that is not mentioned is missing, also if others are known.
    layers = describe_layers(states)
    if absent:
        return _missing("; ".join(filter(None, (f"nothing is stated of: {', '.join(absent)}", layers))))
    return _reported(layers)


def _latent(material: AuditMaterial) -> Answer:
    # The paper's table asks for this layer by itself.
    state = next(layer for layer in material.layers if layer.layer is EvidenceLayer.LATENT)
    if state.access is None:
        return _missing("it is not stated whether latent evidence is available")
    return _reported(f"{state.access.value} ({describe_levels(state)})")


def _coverage(material: AuditMaterial) -> Answer:
    if material.estimate is None or not material.has_scores:
        return _not_applicable(_NO_REPLAY)
    # The first specification stands for all: they share the test tasks.
    corpus, replayed = material.provenance.corpus_tasks, material.estimate.specs[0].n.tasks
    return (
        _reported(f"{replayed} of {corpus} tasks")
        if corpus
        else _missing(f"{replayed} tasks replayed; the size of the corpus is not stated")
    )


def _owner(material: AuditMaterial) -> Answer:
    objections = f"; objections to the claim or its other definitions: {', '.join(material.objections)}" if material.objections else ""
    if not material.has_scores:
        return _not_applicable(f"{_NO_REPLAY}{objections}")
    owner = material.deploy_owner
    return _reported(f"{owner}{objections}") if owner else _missing(f"no owner of P_deploy is stated here{objections}")


def _describe_specs(estimate: Estimate) -> str:
    """With several judges, as many numbers as judges and specifications together."""
    numbers = len(estimate.specs)
    return "for one specification of P_deploy" if numbers == 1 else f"{numbers}, one for each specification of P_deploy and each judge"


def _describe_sizes(estimate: Estimate) -> str:
    """A replay that did not keep to its planned size is said before its sizes."""
    deviations = [f"✗ {warning.message}" for warning in estimate.warnings if warning.code in DEVIATIONS]
    sizes = "; ".join(
        f"{spec.spec}: {spec.n.tasks} tasks, {spec.n.contexts_test} and {spec.n.contexts_deploy} contexts, "
        f"{spec.n.responses_test} and {spec.n.responses_deploy} responses"
        for spec in estimate.specs
    )
    return join([*deviations, sizes])


def _families(material: AuditMaterial) -> Answer:
    """Unknown is not "none": without the texts there was no search for near-duplicates."""
    if material.estimate is None or not material.has_scores:
        return _without_scores(material)
    # Families are a declaration of the plan; the search for near-duplicates checks it.
    counts, duplicates = material.estimate.specs[0].n, material.provenance.near_duplicates
    families = None if counts.families is None else f"{counts.families} declared {'family' if counts.families == 1 else 'families'}"
    declared = "no families are declared" if families is None else f"{counts.tasks} tasks in {families}"
    assumed = "; tasks are taken to be independent" if families is None else ""
    if duplicates is None:
        # Without the texts no search was made, so the item is reported only if families are declared.
        note = f"{declared}; the texts of the tasks were not available, so near-duplicates were not looked for{assumed}"
        return _missing(note) if families is None else _reported(note)
    # A pair of near-duplicates outside a common family contradicts the assumption that tasks are
    # independent.
    if duplicates.pairs:
        pairs = "1 near-duplicate pair is" if duplicates.found == 1 else f"{duplicates.found} near-duplicate pairs are"
        return _missing(f"{declared}; {pairs} in no common family, such as {' and '.join(duplicates.pairs[0])}{assumed}")
    rest = f" ({duplicates.not_compared} more were not compared)" if duplicates.not_compared else ""
    return _reported(f"{declared}; no near-duplicates outside of families among {duplicates.compared} tasks{rest}{assumed}")


# The order is that of the paper's table, and every document prints it.
ITEMS: dict[str, Callable[[AuditMaterial], Answer]] = {
    "task-context-mapping": _mapping,
    "system-prompts": _prompts,
    "scaffolds-and-tools": _stated(lambda stated: stated.tools, "scaffolds and tools are not stated"),
    "evaluator-specific-markers": _markers,
    "raw-ed": _from_estimate(_describe_specs),
    "ned-and-epsilon": _from_estimate(lambda estimate: f"ε = {estimate.epsilon:g}"),
    "phi-test-and-phi-deploy": _from_estimate(_describe_specs),
    "sample-sizes": _from_estimate(_describe_sizes),
    "task-families": _families,
    "intervals-and-method": _from_estimate(lambda estimate: f"level {estimate.level:g}; {estimate.specs[0].ed.method}"),
    "judge-scoring-uncertainty": _judge,
    "scorer-invariance-check": _invariance,
    "theta-and-direction-fixed-before-replay": _fixed_before,
    "endpoint-and-version-returned": _stated(
        lambda stated: f"{stated.endpoint}: {stated.model_returned}" if stated.endpoint and stated.model_returned else None,
        "endpoint and version as returned by it are not stated",
    ),
    "dates-of-access": _stated(lambda stated: stated.accessed, "the dates of access are not stated"),
    "sampling-parameters": _stated(lambda stated: stated.sampling, "the sampling parameters are not stated"),
    "tool-and-scaffold-configuration": _stated(lambda stated: stated.tools, "the configuration of tools and scaffold is not stated"),
    "query-budget": _budget,
    "excluded-cases": _exclusions,
    "four-evidence-layers": _layers,
    "latent-evidence-stated": _latent,
    "per-property-ed": _from_estimate(lambda _: "the estimate is of this one property"),
    "replay-coverage": _coverage,
    "deployment-owner-and-objections": _owner,
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
"""The item that a departure bears on; the supplement's section on what was fixed names the others."""
