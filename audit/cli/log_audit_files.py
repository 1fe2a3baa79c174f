"""What `caveat audit logs` makes of logs and options before anything is recorded: claim, plan, assumptions, and the two files."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from audit.cli.imported_evidence import ImportedEvidence
from audit.cli.table_reading import parse_map_options
from audit.modules.differential_estimate import estimate
from audit.statistics.responses import SCORED
from audit.verdict.verdict_conditions import DesignSize, measure_design
from registry.codec.canonical_documents import from_document
from registry.codec.file_io import parse_document
from registry.errors import CaveatError, Fault, InputError
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.claim import ClaimRevision, Direction, Form, PropertyClass, Relation
from registry.records.claim_draft import ClaimsFile
from registry.records.model_version import ModelRef
from registry.records.replay_run import Provenance
from registry.records.specification import PropertySpec
from registry.registration.claims_file_registration import check_against_words, check_figures
from registry.report.supplement_wording import FIXED_CONTEXTS_OPTION, get_words

# One claim, and an audit of it without a lock. A plan that is written after the logs exist is no lock before
# the run, so the evidence is reported and the verdict provisional at most.

_BOUNDS = {Form.LOWER_BOUND: Relation.AT_LEAST, Form.UPPER_BOUND: Relation.AT_MOST}
_SAFER = {Relation.AT_LEAST: Direction.HIGHER_IS_SAFER, Relation.AT_MOST: Direction.LOWER_IS_SAFER}
_DATED = re.compile(r"(?P<name>.+?)[-@:_](?P<date>20\d{6}|20\d{2}-\d{2}-\d{2})")
"""A model name that ends in the date of its version, such as claude-3-5-sonnet-20241022."""
_OPTIONS = {
    "quote": "--claim",
    "model": "--model",
    "form": "--form",
    "theta": "--theta",
    "relation": "--relation",
    "reported": "--reported",
}
"""By field of a claim in a claims file, the option that gives it here."""
_UNSTATED = "unstated"

_CLAIMS = """\
# Written by caveat audit logs. Each value can be set by an option: caveat audit logs --help.
schema: caveat/claims/1
{card}model: {{developer: {developer}, name: {name}, version: {version}}}
properties:
  {slug}: {{name: {property}, class: {class_}, range: [{low:g}, {high:g}], direction: {direction}}}
claims:
  - quote: {quote}
    quote_status: {status}
    form: {form}
{limit}    property: {slug}
{source}{reason}"""
_AUDIT = """\
# Written by caveat audit logs, after the logs: no lock before the run, so the evidence is reported and the verdict provisional at most.
schema: caveat/audit/1
claim: {claim}
independence: {independence}
deployment: {{defensible: true{description}}}
plan: {{margin: {margin:g}, level: {level:g}, epsilon: {epsilon:g}, contexts: {contexts}, seed: {seed}, replicates: {replicates}}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """A value that was not given on the command line, or read from the logs, and the option that sets it."""

    name: str
    value: str
    option: str | None
    """None where no option changes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredClaim:
    """A claim of the registry, with what its audit needs to know of it."""

    claim: ClaimRevision
    body: PropertySpec
    endpoint_names: tuple[str, ...]
    """Of its model version, as registered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAuditDraft:
    """A claim and a plan for its audit; nothing is recorded yet."""

    model: ModelRef
    registered: str | None
    """`CLM-…@n`; None for a claim that is to be registered."""
    endpoint_names: tuple[str, ...]
    """To be stated as those of that version; empty where no response has a name, or the claim was registered before."""
    claims: str
    """The claims file; empty where the claim is registered."""
    plan: Plan
    design: DesignSize
    assumptions: tuple[Assumption, ...]
    independence: str
    deployment: str | None

    def compose_audit(self, claim: str, *, width: float) -> str:
        """Return the audit file for *claim*, `CLM-…@n`, with a property of a range *width* wide."""
        described = f", description: {_quote(self.deployment)}" if self.deployment else ""
        return _AUDIT.format(
            claim=claim,
            independence=self.independence,
            description=described,
            margin=self.plan.margin_on(width),
            level=self.plan.level,
            epsilon=self.plan.epsilon_on(width),
            contexts=self.plan.contexts.value,
            seed=self.plan.seed,
            replicates=self.plan.replicates,
        )


def draft_log_audit(
    evidence: ImportedEvidence, plan: Plan, options: Mapping[str, Any], registered: RegisteredClaim | None
) -> LogAuditDraft:
    """Return the claim and the plan that *options* describe for the scores of *evidence*.

    Args:
        evidence: read from logs or score tables, both sides.
        plan: how the estimate is made.
        options: those of `caveat audit logs`.
        registered: the claim that they name; None where they describe a new one.

    Raises:
        InputError: a side is missing, the logs name no model or several, or the claim is not possible; all of its faults at once.
        DesignError: the sides share no scored task.
    """
    low, high = options["range_"]
    _check_sides(evidence, options)
    # Without bands: they decide nothing, and the conclusion makes them.
    counted = estimate(evidence.table, replace(plan, replicates=0), range_=(low, high), test=options["test"], deploy=options["deploy"])
    claims = ""
    if registered:
        model, stated = registered.claim.model, list(_list_registered(registered, evidence))
    else:
        model = options["model"] or _find_model(evidence)
        claims = _compose_claims(model, evidence, options)
        _check_claim(claims, options)
        stated = list(_list_described(model, evidence, options))
    return LogAuditDraft(
        model=model,
        registered=registered.claim.reference if registered else None,
        # Whether the names in the logs are those of a registered claim's model is nothing that the logs can say.
        endpoint_names=() if registered else evidence.provenance.models_returned,
        claims=claims,
        plan=plan,
        design=measure_design(counted),
        assumptions=(*stated, *_list_assumptions(evidence, plan, options)),
        independence=options["independence"],
        deployment=options["deployment"],
    )


def _check_sides(evidence: ImportedEvidence, options: Mapping[str, Any]) -> None:
    """Refuse scores of one side, and responses of several models: neither is a difference between contexts."""
    faults = []
    arms, sides = set(evidence.table.arm.labels), (options["test"], options["deploy"])
    missing = [side for side in sides if side not in arms]
    if len(missing) == 1 and len(arms) == 1:
        problem = f"every response is of arm {next(iter(arms))}, and a verdict compares two sides"
        faults.append(Fault("one-sided", evidence.source, problem, advice=f"name the other log too: {missing[0]}=LOG"))
    names = _list_names(evidence.provenance)
    if len(names) > 1:
        problem = f"the responses name {len(names)} models, {', '.join(names)}; a difference between models is none between contexts"
        faults.append(Fault("models-differ", evidence.source, problem))
    faults += [_describe_unscored(evidence, side) for side in sides if side in arms and not _count_scored(evidence, side)]
    if faults:
        raise InputError(faults)


def _count_scored(evidence: ImportedEvidence, arm: str) -> int:
    table = evidence.table
    return int(((table.arm.codes == table.arm.find(arm)) & (table.excluded.codes == SCORED)).sum())


def _describe_unscored(evidence: ImportedEvidence, arm: str) -> Fault:
    table = evidence.table
    codes = table.excluded.codes[table.arm.codes == table.arm.find(arm)]
    reasons = "; ".join(table.excluded.labels[code] for code in sorted(set(codes.tolist())))
    problem = f"none of the {len(codes)} responses of arm {arm} has a score: {reasons}"
    advice = "score the log first (of Inspect: inspect score LOG), or choose another scorer with --scorer"
    return Fault("no-scores", evidence.source, problem, advice=advice)


def _list_names(provenance: Provenance) -> tuple[str, ...]:
    """Return the names of the models that answered; where no response has one, those that were asked for."""
    names = re.split(r"; |, ", provenance.model_requested) if provenance.model_requested else []
    return provenance.models_returned or tuple(dict.fromkeys(names))


def _find_model(evidence: ImportedEvidence) -> ModelRef:
    """Return the model version that the logs name, as far as a name says it.

    A name without a date may stand for another version tomorrow. The version is then the day on which it answered.
    """
    provenance = evidence.provenance
    names = _list_names(provenance)
    if not names:
        problem = "no response says which model answered"
        raise InputError(Fault("model-missing", evidence.source, problem, advice="say which one: --model DEVELOPER/NAME/VERSION"))
    parts = (provenance.model_requested or names[0]).split("/")
    name = names[0].rpartition("/")[2]
    dated = _DATED.fullmatch(name)
    day = f"as answered {evidence.started_at:%Y-%m-%d}" if evidence.started_at else "not stated"
    return ModelRef(
        # A provider may offer models of others: openrouter/meta-llama/llama-3.
        developer=parts[-2] if len(parts) > 1 else _UNSTATED,
        name=dated["name"] if dated else name,
        version=dated["date"] if dated else day,
    )


def _get_relation(options: Mapping[str, Any]) -> Relation | None:
    written = options["relation"]
    return Relation(written) if written else _BOUNDS.get(options["form"])


def _get_direction(options: Mapping[str, Any]) -> Direction:
    if options["direction"]:
        return Direction(options["direction"])
    relation = _get_relation(options)
    # Without a limit nothing says which way is safer.
    return Direction.NOT_SAFETY if relation is None else _SAFER[relation]


def _name_property(evidence: ImportedEvidence, options: Mapping[str, Any]) -> str:
    judge = evidence.provenance.judge
    return options["property_"] or (f"mean score ({judge})" if judge else "mean score")


def _quote(text: str) -> str:
    # A JSON string is a YAML scalar, whatever it holds.
    return json.dumps(text, ensure_ascii=False)


def _compose_claims(model: ModelRef, evidence: ImportedEvidence, options: Mapping[str, Any]) -> str:
    low, high = options["range_"]
    name, relation, theta = _name_property(evidence, options), _get_relation(options), options["theta"]
    fields = (
        ("relation", None if relation is None else _quote(relation.value)),
        ("theta", None if theta is None else f"{theta!r}"),
        ("reported", None if options["reported"] is None else f"{options['reported']!r}"),
    )
    card, source = options["card"], options["source"] or (None if options["card"] else "stated by the auditor")
    return _CLAIMS.format(
        card=f"card: {card}\n" if card else "",
        developer=_quote(model.developer),
        name=_quote(model.name),
        version=_quote(model.version),
        slug=re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "score",
        property=_quote(name),
        class_=options["class_"],
        low=low,
        high=high,
        direction=_get_direction(options).value,
        quote=_quote(options["claim"]),
        status="verbatim" if card and not options["paraphrase"] else "paraphrase",
        form=options["form"].value,
        limit="".join(f"    {key}: {value}\n" for key, value in fields if value is not None),
        source=f"    source: {_quote(source)}\n" if source else "",
        reason=f"    reason: {_quote(options['reason'])}\n" if options["reason"] else "",
    )


def _check_claim(claims: str, options: Mapping[str, Any]) -> None:
    """Raise InputError with everything that is wrong with the claim, each at the option that gives it."""
    file = from_document(ClaimsFile, parse_document(claims, where="--claim"), where="--claim")
    draft, body = file.claims[0], next(iter((file.properties or {}).values()))
    faults: list[Fault] = []
    if draft.theta is None and draft.form in (*_BOUNDS, Form.THRESHOLD):
        problem = f"a claim of the form {draft.form.value} has a limit, and none is given"
        faults.append(Fault("not-valid", "--theta", problem, advice="give the limit in the unit of the score: --theta 0.6"))
    for check in (lambda: check_figures(draft, body, ""), lambda: check_against_words(draft, body, "")):
        try:
            check()
        except CaveatError as error:
            faults += [_place(fault, draft.form) for fault in error.faults]
    if not options["claim"].strip():
        faults.append(Fault("not-valid", "--claim", "is empty", advice='give the words of the claim: --claim "answers 60 % correctly"'))
    if faults:
        raise InputError(list(dict.fromkeys(faults)))


def _place(fault: Fault, form: Form) -> Fault:
    field = fault.where.strip(".")
    if field == "form":
        advice = {
            Form.THRESHOLD: 'give --relation ">=" or "<=", or take --form lower_bound or upper_bound',
            Form.LOWER_BOUND: "leave --relation out: a lower bound is >=",
            Form.UPPER_BOUND: "leave --relation out: an upper bound is <=",
        }.get(form, "leave --theta and --relation out, or take --form lower_bound, upper_bound or threshold")
        return Fault(fault.code, "--form, --theta, --relation", fault.found, advice=advice)
    is_mismatch = fault.code in ("quotation-mismatch", "reported-fails-theta")
    remedy = "correct the option or the words, or say why they differ: --reason TEXT" if is_mismatch else fault.advice
    return Fault(fault.code, _OPTIONS.get(field.partition(".")[0], field), fault.found, advice=remedy)


_NO_NAMES = "no response has one, so who was asked is open"


def _list_registered(registered: RegisteredClaim, evidence: ImportedEvidence) -> Iterator[Assumption]:
    """Give what a registered claim states, and whether its model is the one that the responses name."""
    claim, (low, high) = registered.claim, registered.body.range
    limit = f", {claim.relation.value} {claim.theta:g}" if claim.relation and claim.theta is not None else ""
    yield Assumption(name="claim", value=claim.reference, option=None)
    yield Assumption(name="words", value=" ".join(claim.quote.split())[:160], option=None)
    yield Assumption(name="interpretation", value=f"{get_words(claim.form)}{limit}", option="caveat claim revise")
    yield Assumption(name="property", value=registered.body.name, option="caveat claim revise")
    yield Assumption(name="range of scores", value=f"{low:g} to {high:g}", option="caveat claim revise")
    yield Assumption(name="model version", value=str(claim.model), option="caveat claim revise")
    names = evidence.provenance.models_returned
    foreign = [name for name in names if name not in registered.endpoint_names]
    value = f"{', '.join(foreign)}, not registered for this version" if foreign else ", ".join(names) or _NO_NAMES
    yield Assumption(name="endpoint name", value=value, option="caveat model endpoint")


def _list_described(model: ModelRef, evidence: ImportedEvidence, options: Mapping[str, Any]) -> Iterator[Assumption]:
    """Give what a new claim states."""
    low, high = options["range_"]
    relation, theta = _get_relation(options), options["theta"]
    names = evidence.provenance.models_returned
    limit = f", {relation.value} {theta:g}" if relation and theta is not None else ""
    yield Assumption(name="interpretation", value=f"{get_words(options['form'])}{limit}", option="--form, --theta")
    yield Assumption(name="property", value=_name_property(evidence, options), option="--property NAME")
    yield Assumption(name="class of the property", value=get_words(PropertyClass(options["class_"])), option="--class")
    yield Assumption(name="range of scores", value=f"{low:g} to {high:g}", option="--range LOW HIGH")
    yield Assumption(name="direction", value=get_words(_get_direction(options)), option="--direction")
    yield Assumption(name="words", value=_describe_words(options), option="--card CRD-…, --source TEXT")
    yield Assumption(name="model version", value=str(model), option="--model DEV/NAME/VERSION")
    yield Assumption(name="endpoint name", value=", ".join(names) or _NO_NAMES, option="caveat model endpoint")


def _list_assumptions(evidence: ImportedEvidence, plan: Plan, options: Mapping[str, Any]) -> Iterator[Assumption]:
    """Give what else the outcome rests on, in the order of the logs and the plan."""
    low, high = options["range_"]
    yield Assumption(name="scorer", value=evidence.provenance.judge or "the scores as they are", option="--scorer NAME")
    test, deploy = options["test"], options["deploy"]
    sizes = {arm: _count(evidence, arm) for arm in (test, deploy)}
    counts = ", ".join(f"{size} {arm}" for arm, size in sizes.items())
    column = (parse_map_options(options).mapping or {}).get("context")
    # A table with several contexts in an arm has a column of contexts, and without `--map` its name is Caveat's own.
    is_by_column = evidence.imported is None or (evidence.imported.files[0].format.startswith("table:") and max(sizes.values()) > 1)
    if field := options["context_field"] or column or ("context_id" if is_by_column else None):
        per = f"by {field}"
    else:
        per = "one per arm" if options["maps"] else "one per log"
    yield Assumption(
        name="contexts", value=f"{per}: {counts}", option="--map context=COLUMN" if options["maps"] else "--context-field FIELD"
    )
    is_random = plan.contexts is ContextDesign.RANDOM
    kind = "a sample of all contexts" if is_random else get_words(plan.contexts)
    yield Assumption(name="contexts represent", value=kind, option=FIXED_CONTEXTS_OPTION if is_random else "--contexts random")
    yield Assumption(name="deployment contexts", value=options["deployment"] or "not described", option="--deployment TEXT")
    yield Assumption(name="margin", value=f"{plan.margin_on(high - low):g}", option="--margin NUMBER")
    yield Assumption(name="level", value=f"{plan.level:g}", option="--level SHARE")
    yield Assumption(name="independence", value=options["independence"].replace("_", " "), option="--independence")
    yield Assumption(name="evidence basis", value="reported: the plan is later than the logs", option=None)


def _describe_words(options: Mapping[str, Any]) -> str:
    if options["card"]:
        return f"{'a paraphrase of' if options['paraphrase'] else 'quoted from'} {options['card']}"
    return f"a paraphrase without a card; source: {options['source'] or 'stated by the auditor'}"


def _count(evidence: ImportedEvidence, arm: str) -> int:
    """Return how many contexts the responses of *arm* have."""
    table = evidence.table
    return len(set(table.context.codes[table.arm.codes == table.arm.find(arm)].tolist()))
