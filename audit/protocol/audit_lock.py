"""From an audit file to its lock: what the file fixes, by version and digest, and the runs that are entered under it."""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TypeVar

from audit.protocol.control_file import read_control
from audit.protocol.lock_adherence import read_limits
from audit.replay.replay_design import build_design, read_tasks
from audit.replay.replay_file import SIDES, ReplayFile, digest_parts, digest_tasks, list_parts, read_replay
from audit.sources.score_table import read_task_families
from audit.verdict.case_file import settle_evidence
from registry.codec.canonical_documents import canonical_bytes, to_document
from registry.errors import CaveatError, ConflictError, Fault, InputError, NotFoundError
from registry.records.analysis_plan import ContextDesign, IntervalMethod, Lock, LockedSpec, LockedTasks, Plan
from registry.records.audit_case import Audit
from registry.records.claim import ClaimRevision
from registry.records.claim_draft import AuditDraft
from registry.records.claim_status import ObjectionState
from registry.records.dossier import AuditFile, Recorded
from registry.records.positive_control import ControlPlan
from registry.records.record import parse_identifier
from registry.records.replay_run import RunEnd, RunHistory, RunStart, RunStatus
from registry.records.specification import SpecKind, SpecVersion
from registry.registration.context_specification import find_beside
from registry.registration.specification_registration import format_reference, get_spec
from registry.store.log_writer import Writer
from registry.store.registry_view import View

# What a lock fixes in addition to the plan: specifications by version and digest, tasks, cues, and the replay file with
# all it refers to. An audit file is checked as a whole, because a lock that contradicts itself can be kept by no replay
# and cannot be changed.

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedParts:
    """What an audit file refers to, found and digested."""

    test: LockedSpec | None = None
    deploy: tuple[LockedSpec, ...] = ()
    scoring: LockedSpec | None = None
    cues: tuple[LockedSpec, ...] = ()
    tasks: LockedTasks | None = None
    replay: str | None = None
    replay_parts: dict[str, str] | None = None
    model: str | None = None
    endpoint_names: tuple[str, ...] = ()
    controls: tuple[ControlPlan, ...] = ()


def fix_draft(view: View, draft: AuditDraft, claim: ClaimRevision, *, owner: str, folder: Path | None) -> LockedParts:
    """Return what *draft* refers to, as it is now; what it does not name is the claim's own, or not fixed.

    Args:
        owner: authority with the short names of specifications that are meant.
        folder: the folder that the audit file is in; None where it came from none, and then it can name no file.

    Raises:
        InputError: with every fault: what is named is not there, or the parts contradict each other.
    """
    faults: list[Fault] = []
    # All parts are read before any fault is raised, so that one run of the command shows all of them.
    specs = _SpecFinder(view, owner, faults)
    test = specs.find(SpecKind.TEST_CONTEXT, draft.test_contexts or claim.test_context, name="test", where="test_contexts")
    deploy = tuple(specs.list_deploy(draft, claim))
    scoring = specs.find(SpecKind.SCORING, draft.scored_by or claim.scoring, name="scoring", where="scored_by")
    cues = [specs.find(SpecKind.CUE_INVENTORY, cue, name=cue, where="cues") for cue in draft.cues]
    ids = try_step(lambda: None if draft.tasks is None else _read_tasks(draft.tasks, folder), faults)
    file = try_step(lambda: None if draft.replay is None else _read_replay(draft.replay, folder, view, owner), faults)
    controls = try_step(lambda: _read_controls(draft.controls, folder), faults) or ()
    # The claim's own contexts are a default. A replay that composes other contexts fixes those itself.
    test = test if draft.test_contexts is not None or _fits(test, "", file) else None
    deploy = deploy if draft.deploy_contexts is not None else tuple(spec for spec in deploy if _fits(spec, spec.name, file))
    faults.extend(_find_contradictions(draft, file, ids, test, deploy))
    if draft.objection is not None:
        faults.extend(_find_objection_faults(view, draft.objection, claim, (test, *deploy, scoring, *cues)))
    if faults:
        raise InputError(list(dict.fromkeys(faults)))
    # Families are locked with the tasks: families that are chosen after the scores were seen would move every interval.
    named = {task.id: task.family for task in file.tasks} if file else {}
    tasks = {task: family or named.get(task) for task, family in ids.items()} if ids else named or None
    parts = None if file is None else describe_replay(file)
    return LockedParts(
        test=test,
        deploy=deploy,
        scoring=scoring,
        cues=tuple(spec for spec in cues if spec is not None),
        tasks=None if tasks is None else _lock_tasks(tasks),
        replay=None if parts is None else digest_parts(parts),
        replay_parts=parts,
        model=draft.model or (file.replay.policy.model if file else None),
        endpoint_names=tuple(dict.fromkeys(endpoint_name.name for endpoint_name in view.list_endpoint_names(claim.model))),
        controls=controls,
    )


def describe_replay(file: ReplayFile) -> dict[str, str]:
    """Return the parts of a replay that was read from files, as a lock fixes them."""
    return list_parts(file.replay, file.tasks, file.describe_contexts())


def count_calls(file: ReplayFile) -> int:
    """Return how many calls a replay may take: its budget, else its design."""
    most = file.replay.budget.calls
    return len(build_design(file.replay, file.tasks, file.contexts)) if most is None else most


def digest_spec(version: SpecVersion) -> str:
    """Return the SHA-256 of the canonical JSON of the body, hexadecimal; of a sealed one its commitment."""
    if version.body is None:
        return version.commitment or ""
    return hashlib.sha256(canonical_bytes(to_document(version.body))).hexdigest()


class _SpecFinder:
    """Specifications by identifier or short name; what is not there becomes a fault."""

    def __init__(self, view: View, owner: str, faults: list[Fault]) -> None:
        self._view = view
        self._owner = owner
        self._faults = faults

    def find(self, kind: SpecKind, reference: str | None, *, name: str, where: str) -> LockedSpec | None:
        if reference is None:
            return None
        try:
            version = get_spec(self._view, kind, reference, owner=self._owner)
        except NotFoundError as error:
            self._faults.extend(Fault(fault.code, f"{where}, {reference}", fault.found, advice=fault.advice) for fault in error.faults)
            return None
        return LockedSpec(name=name, spec=format_reference(version), sha256=digest_spec(version), is_sealed=version.body is None)

    def list_deploy(self, draft: AuditDraft, claim: ClaimRevision) -> Iterator[LockedSpec]:
        """Give the specification behind each name of the score table; without any, the claim's own, where it is clear which is which."""
        named = draft.deploy_contexts if draft.deploy_contexts is not None else self._match(draft.deploy_specs, claim.deploy_contexts)
        for name, reference in named.items():
            if name not in draft.deploy_specs:
                problem = f"{name!r} is not a name in deploy_specs: {', '.join(draft.deploy_specs)}"
                self._faults.append(Fault("spec-not-named", "deploy_contexts", problem))
                continue
            found_spec = self.find(SpecKind.DEPLOY_CONTEXT, reference, name=name, where=f"deploy_contexts, {name}")
            if found_spec is not None:
                yield found_spec

    def _match(self, names: tuple[str, ...], references: tuple[str, ...]) -> Mapping[str, str]:
        # With one name and one specification there is only one way to match them.
        if len(names) == len(references) == 1:
            return {names[0]: references[0]}
        slugs: dict[str, str] = {}
        for reference in references:
            identifier = parse_identifier(reference)
            spec = self._view.find_spec(identifier.bare, identifier.revision)
            slugs |= {spec.payload.slug: reference} if spec else {}
        return {name: slugs[name] for name in names if name in slugs}


def try_step(step: Callable[[], Read], faults: list[Fault]) -> Read | None:
    """Return what *step* gives; None after its faults were added to the others."""
    try:
        return step()
    except CaveatError as error:
        faults.extend(error.faults)
        return None


def _find_file(name: str, folder: Path | None, *, where: str) -> Path:
    if folder is None:
        raise InputError(Fault("file-not-readable", where, f"{name!r} is the name of a file, and this audit was not read from a folder"))
    return find_beside(folder, name, where=where)


def _lock_tasks(tasks: Mapping[str, str | None]) -> LockedTasks:
    # Identifiers are kept and not only their digest, so that a deviation can name the tasks that were added or left
    # out.
    ids = sorted(tasks)
    families = tuple(tasks[task] or "" for task in ids) if any(tasks.values()) else ()
    return LockedTasks(count=len(ids), sha256=digest_tasks(ids), ids=tuple(ids), families=families)


def _read_tasks(name: str, folder: Path | None) -> dict[str, str | None]:
    """Return the family of each task in the file *name*, by identifier: of a file of tasks, of a table, or of a list with one a line."""
    path = _find_file(name, folder, where="tasks")
    if path.suffix.lower() in (".yaml", ".yml", ".json"):
        return {task.id: task.family for task in read_tasks(path)}
    return read_task_families(path)


def _read_replay(name: str, folder: Path | None, view: View, owner: str) -> ReplayFile:
    file = read_replay(_find_file(name, folder, where="replay"), view, owner=owner)
    build_design(file.replay, file.tasks, file.contexts)  # a replay that can never be made is not locked
    return file


def _read_controls(names: Sequence[str], folder: Path | None) -> tuple[ControlPlan, ...]:
    controls = tuple(read_control(_find_file(name, folder, where="controls")) for name in names)
    twice = [name for name, count in Counter(control.name for control in controls).items() if count > 1]
    if twice:
        raise InputError(Fault("not-valid", "controls", f"several controls are called {', '.join(twice)}", advice="give each another name"))
    return controls


def _find_contradictions(
    draft: AuditDraft, file: ReplayFile | None, ids: Collection[str] | None, test: LockedSpec | None, deploy: tuple[LockedSpec, ...]
) -> Iterator[Fault]:
    """Give what two parts of one audit file say differently: a plan that no replay could ever keep."""
    count = len(ids) if ids is not None else len(file.tasks) if file else None
    if draft.plan.tasks is not None and count is not None and draft.plan.tasks != count:
        problem = f"plan.tasks is {draft.plan.tasks}, and {count} tasks are listed"
        yield Fault("lock-contradicts-itself", "plan.tasks", problem, advice="leave plan.tasks out: the list says it")
    if file is None:
        return
    yield from _find_weight_contradictions(draft.plan, file)
    task_ids = {task.id for task in file.tasks}
    if ids is not None and set(ids) != task_ids:
        problem = f"names {len(ids)} tasks, the replay asks {len(task_ids)}, and they are not the same"
        yield Fault("lock-contradicts-itself", "tasks", problem, advice="leave tasks out: the replay names its own")
    if draft.model is not None and draft.model != file.replay.policy.model:
        problem = f"{draft.model} is named, and the replay asks {file.replay.policy.model}"
        yield Fault("lock-contradicts-itself", "model", problem, advice="leave model out: the replay names its own")
    if draft.scorer is not None:
        problem = f"{draft.scorer} is named, and the replay says how its responses are scored"
        yield Fault("lock-contradicts-itself", "scorer", problem, advice="leave scorer out: it is for logs of other software")
    limit, planned = read_limits(draft.budget).get("calls"), count_calls(file)
    if limit is not None and planned > limit:
        problem = f"is {limit:,} calls, and the replay may take {planned:,}"
        yield Fault("lock-contradicts-itself", "budget", problem, advice="write the same number into budget here and in the replay")
    # Arms under a lock are always `test` and `deploy`. If names could be mapped at import, exchanging them would turn
    # the sign of ED after the scores were seen.
    arms = {arm.arm for arm in file.replay.arms}
    if arms != set(SIDES):
        problem = f"has the arms {', '.join(sorted(arms))}; a lock is about test and deploy"
        yield Fault("design-differs-from-lock", "replay", problem, advice="replay other arms in a file of their own")
    digests = digest_sides(file)
    for spec, where in [
        *((locked_spec, "deploy_contexts") for locked_spec in deploy),
        *((locked_spec, "test_contexts") for locked_spec in ((test,) if test else ())),
    ]:
        asked_of = digests.get(spec.name if where == "deploy_contexts" else "", set())
        if asked_of and not spec.is_sealed and asked_of != {spec.sha256}:
            problem = f"{spec.spec} is registered with another content than the replay composes {spec.name}"
            advice = "name the registered specification in the replay's arm, or register what the replay uses: caveat spec add"
            yield Fault("lock-contradicts-itself", where, problem, advice=advice)


def _find_weight_contradictions(plan: Plan, file: ReplayFile) -> Iterator[Fault]:
    """Give what the plan asks of conversations and weights that no estimate could give after the run."""
    if plan.contexts is not ContextDesign.NESTED and any(task.prefix for task in file.tasks):
        problem = f"is {plan.contexts.value}, and tasks that continue a conversation have contexts of their own"
        yield Fault("lock-contradicts-itself", "plan.contexts", problem, advice="write contexts: nested")
    if plan.interval is IntervalMethod.ANYTIME and len({task.weight for task in file.tasks}) > 1:
        problem = "is anytime, and tasks have different weights; anytime intervals are for tasks that weigh the same"
        yield Fault("lock-contradicts-itself", "plan.interval", problem, advice="write interval: closed_form or guaranteed")
    sizes = set(Counter(task.family or task.id for task in file.tasks).values())
    if plan.interval is IntervalMethod.ANYTIME and len(sizes) > 1:
        problem = f"is anytime, and families have {min(sizes)} to {max(sizes)} tasks; anytime intervals are for families of one size"
        yield Fault("lock-contradicts-itself", "plan.interval", problem, advice="write interval: closed_form or guaranteed")


def _fits(spec: LockedSpec | None, name: str, file: ReplayFile | None) -> bool:
    """Whether the replay asks just what *spec* says on the side called *name*; also without a replay."""
    return spec is not None and (file is None or digest_sides(file).get(name) == {spec.sha256})


def digest_sides(file: ReplayFile) -> dict[str, set[str]]:
    """Return the digests of the contexts of each P_deploy specification by its name, of a sealed one the commitment.

    Those of the test side are under an empty name.
    """
    digests: dict[str, set[str]] = {}
    for arm in file.replay.arms:
        plain = hashlib.sha256(canonical_bytes(to_document(file.contexts[arm.context]))).hexdigest()
        digest = file.sealed.get(arm.context, plain)
        if arm.arm in SIDES:
            digests.setdefault("" if arm.arm == SIDES[0] else arm.spec or "default", set()).add(digest)
    return digests


def _find_objection_faults(view: View, name: str, claim: ClaimRevision, planned: Iterable[LockedSpec | None]) -> Iterator[Fault]:
    file = view.find_objection(name)
    if file is None:
        near = view.suggest(name) or "caveat admin log show names those on record"
        yield Fault("not-registered", f"objection, {name}", "no such objection is registered", advice=near)
        return
    objection, where = file.objection.payload, f"objection, {name}"
    if file.state is ObjectionState.REJECTED:
        problem = "is rejected: a replay under its rival could decide nothing any more"
        yield Fault("objection-closed", where, problem)
    if objection.rival is None:
        yield Fault("rival-not-planned", where, "offers no rival specification that could be replayed under")
    # A replay under a rival counts in addition to the outcome until the objection is upheld, so it must really use the
    # rival specification.
    about_claim = objection.target.partition("@")[0] == claim.claim
    if objection.rival is not None and not about_claim and objection.rival not in {spec.spec for spec in planned if spec}:
        problem = f"its rival {objection.rival} is not among the contexts, scoring functions and cue inventories of this audit"
        advice = f"name it: deploy_contexts: {{NAME: {objection.rival}}} with NAME among deploy_specs, test_contexts, scored_by or cues"
        if objection.rival.startswith("PRP-"):
            advice = f"a property is the claim's: register a claim with the property {objection.rival}, and audit that"
        yield Fault("rival-not-planned", where, problem, advice=advice)


# From an audit file to the audit and its lock.


def settle_draft(draft: AuditDraft, range_: tuple[float, float]) -> AuditDraft:
    """Return the draft with the figures of its evidence in the unit of a property with *range_*.

    A plan that no scores in that range could ever answer to is refused: it could not be mended once it is locked.

    Raises:
        InputError: with every fault, of the plan and of the evidence.
    """
    low, high = range_
    plan, specs = draft.plan, draft.deploy_specs
    faults = []
    # No effect can exceed the range, so such a margin would make every claim stable.
    if plan.margin is not None and plan.margin > high - low:
        problem = f"{plan.margin:g} is wider than the range [{low:g}, {high:g}] of the property"
        faults.append(Fault("out-of-range", "plan.margin", problem, advice="give δ in the unit of the score"))
    if not specs or len(set(specs)) < len(specs) or not all(spec.strip() for spec in specs):
        problem = "expected the names of one or more P_deploy specifications, each once and none blank"
        faults.append(Fault("not-valid", "deploy_specs", problem, advice="leave it out for the one called `default`"))
    evidence = draft.evidence
    try:
        evidence = settle_evidence(draft.evidence, range_, where="evidence")
    except InputError as error:
        faults += error.faults
    if faults:
        raise InputError(faults)
    return replace(draft, evidence=evidence)


def check_last_day(plan: Plan, day: date, *, where: str, what: str) -> None:
    """Refuse a plan with an outcome that would be valid until a day before *day*, on which *what*; raises ConflictError."""
    if plan.valid_until is not None and plan.valid_until < day:
        problem = f"is {plan.valid_until.isoformat()}, and {what} on {day.isoformat()}: the outcome would have expired before its run"
        raise ConflictError(Fault("expires-before-run", where, problem))


def build_audit(identifier: str, draft: AuditDraft, claim: ClaimRevision, auditor: str) -> Audit:
    """Return the opening of the audit that *draft* describes."""
    return Audit(
        audit=identifier,
        claim=claim.reference,
        auditor=auditor,
        independence=draft.independence,
        deployment=draft.deployment,
        scoring=draft.scoring,
        plan=draft.plan,
        question=draft.question,
        note=draft.note,
        objection=draft.objection,
        renews=draft.renews,
    )


def build_lock(audit: Audit, draft: AuditDraft, claim: ClaimRevision, range_: tuple[float, float], fixed: LockedParts) -> Lock:
    """Return the lock of *audit*: the plan with every default filled in, θ and direction as the claim has them.

    Args:
        fixed: what the draft refers to.
    """
    width = range_[1] - range_[0]
    plan = replace(
        draft.plan,
        # Defaults are written into the lock. A later Caveat with other defaults must compute the same outcome from it.
        margin=draft.plan.margin_on(width),
        epsilon=draft.plan.epsilon_on(width),
        tasks=draft.plan.tasks if fixed.tasks is None else fixed.tasks.count,
    )
    return Lock(
        audit=audit.audit,
        claim=claim.reference,
        plan=plan,
        relation=claim.relation,
        theta=claim.theta,
        direction=claim.direction,
        deploy_specs=draft.deploy_specs,
        exclusion_rules=draft.exclusion_rules,
        stopping_rule=draft.stopping_rule,
        budget=draft.budget,
        note=draft.note,
        test=fixed.test,
        deploy=fixed.deploy,
        scoring=fixed.scoring,
        scorer=draft.scorer,
        cues=fixed.cues,
        tasks=fixed.tasks,
        replay=fixed.replay,
        replay_parts=fixed.replay_parts,
        model=fixed.model,
        endpoint_names=fixed.endpoint_names,
        controls=fixed.controls,
    )


# Runs under a lock. Each is entered in the log before its first call.
#
# A run folder has a random name that is written to the folder before anything is sent. The log holds that name with the
# lock. A run that is resumed is therefore not entered again, after a crash at any moment, and a second folder under the
# same lock is a second run. Runs that were started and given up stay visible.


def enter_run(writer: Writer, audits: Sequence[str], name: str, *, model: str, planned: int, before: int) -> tuple[str, ...]:
    """Record the run called *name* under the lock of each of *audits*, where it is not yet; return those for which it is new.

    Args:
        writer: of the registry.
        audits: `AUD-…`, each with a lock.
        name: of the run folder, as `audit.replay.run_store.name_run` gives it.
        model: the name that is asked for.
        planned: calls that the replay plans.
        before: calls that the folder holds already.

    Raises:
        ConflictError: an audit has no lock, or has its outcome.
    """
    new = [audit for audit in audits if find_start(_get_audit(writer, audit), name) is None]
    writer.append_many([RunStart(audit=identifier, run=name, model=model, planned=planned, before=before) for identifier in new])
    return tuple(new)


def end_run(writer: Writer, audits: Sequence[str], name: str, *, status: RunStatus, calls: int, why: str | None = None) -> None:
    """Record how the run called *name* ended under each of *audits*; its last end again, or one after its import, changes nothing."""
    ends = []
    for audit in audits:
        file = _get_audit(writer, audit)
        start = find_start(file, name)
        # An imported run has ended by its import.
        if start is None or any(run.payload.start == start.entry.seq for run in file.runs):
            continue
        end = RunEnd(audit=audit, start=start.entry.seq, status=status, calls=calls, why=why)
        known = [run_end.payload for run_end in file.ends if run_end.payload.start == start.entry.seq]
        if known[-1:] != [end]:
            ends.append(end)
    writer.append_many(ends)


def find_start(file: AuditFile, name: str | None) -> Recorded[RunStart] | None:
    """Return the start of the run called *name* under the lock of *file*; None where it was not recorded."""
    return next((start for start in file.starts if start.payload.run == name), None)


def list_runs_of(file: AuditFile, name: str | None) -> tuple[tuple[RunHistory, ...], RunHistory]:
    """Return all runs under the lock of *file*, and the one called *name*, which has no entry where its start was not recorded."""
    start = find_start(file, name)
    runs = tuple(history for history in file.history if history.imported is None or history.entry is not None)
    own = next((run for run in runs if start is not None and run.entry == start.entry.seq), None)
    if own is not None:
        return runs, own
    own = RunHistory(entry=None, status=RunStatus.COMPLETED, calls=None)
    return (*runs, own), own


def _get_audit(writer: Writer, name: str) -> AuditFile:
    audit = writer.find_audit(name)
    if audit is None:
        near = writer.suggest(name) or "caveat audit list shows all"
        raise NotFoundError(Fault("not-registered", name, "no such audit is registered", advice=near))
    return audit
