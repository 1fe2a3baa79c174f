"""Fills the reporting forms of others from a supplement: each item with what the record says and where, or *not stated*.

A form is a file in `report_templates/forms/`. It names facts, and this module finds them. A fact is printed as the record has it; nothing
is concluded from it, and no score is computed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from registry.codec.canonical_documents import from_document
from registry.codec.file_io import read_document
from registry.configuration import find_resource
from registry.errors import Fault, InputError, find_near
from registry.records.audit_case import Independence
from registry.records.module_findings import FindingKind
from registry.records.replay_run import Provenance
from registry.records.reporting_form import FilledForm, FilledGroup, FormAnswer, FormFact, FormItem, ReportingForm
from registry.records.supplement import AnySupplement, Section, SpecRole, Supplement
from registry.records.verdict import ItemStatus
from registry.report.minimum_reporting import ITEMS, describe_layers
from registry.report.supplement_wording import get_words

_FOLDER = "report_templates/forms"
_ITEM = "item:"
"""Begins the name of a fact that is an item of minimum reporting."""


@cache
def list_forms() -> tuple[str, ...]:
    """Return the names of the forms, sorted."""
    return tuple(sorted(path.stem for path in find_resource(_FOLDER).glob("*.yaml")))


@cache
def read_form(name: str) -> ReportingForm:
    """Return the form called *name*.

    Raises:
        InputError: `form-unknown`: there is none.
    """
    if name not in list_forms():
        near = find_near(name, list_forms())
        advice = f"did you mean {near[0]}?" if near else f"known are {', '.join(list_forms())}"
        raise InputError(Fault("form-unknown", "--form", f"{name!r} is no reporting form", advice=advice))
    path = find_resource(_FOLDER) / f"{name}.yaml"
    return from_document(ReportingForm, read_document(path), where=path.name)


def add_forms(supplement: AnySupplement, names: Sequence[str]) -> AnySupplement:
    """Return *supplement* with the forms *names*, each once, in the order given; its record digest stays the same.

    A card's supplement stays as it is: the forms are about one claim, and each of its claims has them.

    Raises:
        InputError: `form-unknown`.
    """
    forms = tuple(dict.fromkeys(read_form(name).name for name in names))
    return replace(supplement, forms=forms) if isinstance(supplement, Supplement) and forms else supplement


def fill_forms(supplement: Supplement) -> tuple[FilledForm, ...]:
    """Return the forms of *supplement*, filled."""
    return tuple(fill_form(supplement, read_form(name)) for name in supplement.forms)


def fill_form(supplement: Supplement, form: ReportingForm) -> FilledForm:
    """Return *form* with what *supplement* says to each item."""
    groups = (FilledGroup(title=group.title, answers=tuple(_answer(supplement, item) for item in group.items)) for group in form.groups)
    return FilledForm(form=form, groups=tuple(groups))


def _answer(supplement: Supplement, item: FormItem) -> FormAnswer:
    found = [find_fact(supplement, name) for name in item.facts]
    stated = _only(found, ItemStatus.REPORTED)
    related = _only([find_fact(supplement, name) for name in item.related], ItemStatus.REPORTED)
    if stated:
        return FormAnswer(item=item, status=ItemStatus.REPORTED, facts=stated, related=related)
    # An item does not apply only where none of its facts does: otherwise something is missing.
    missing = _only(found, ItemStatus.MISSING)
    if found and not missing:
        return FormAnswer(item=item, status=ItemStatus.NOT_APPLICABLE, facts=_only(found, ItemStatus.NOT_APPLICABLE), related=related)
    return FormAnswer(item=item, status=ItemStatus.MISSING, facts=missing, related=related)


def _only(facts: Iterable[FormFact], status: ItemStatus) -> tuple[FormFact, ...]:
    """Return those of *facts* with *status*, each text once."""
    return tuple({fact.text: fact for fact in facts if fact.status is status}.values())


def find_fact(supplement: Supplement, name: str) -> FormFact:
    """Return the fact *name* of *supplement*; raises KeyError for a name that no fact has, which is a defect of the form's file."""
    return _find_item(supplement, name.removeprefix(_ITEM)) if name.startswith(_ITEM) else FACTS[name](supplement)


def _find_item(supplement: Supplement, slug: str) -> FormFact:
    """Return an item of minimum reporting as a fact."""
    if slug not in ITEMS:
        raise KeyError(slug)
    item = next((item for item in supplement.checklist if item.item == slug), None)
    if item is None:
        return _missing("the claim has no outcome")
    return FormFact(status=item.status, text=item.note or get_words(item.status), section=Section.CHECKLIST)


def _stated(text: str, section: Section | None = None) -> FormFact:
    return FormFact(status=ItemStatus.REPORTED, text=text, section=section)


def _missing(why: str) -> FormFact:
    return FormFact(status=ItemStatus.MISSING, text=why)


def _excluded(why: str) -> FormFact:
    return FormFact(status=ItemStatus.NOT_APPLICABLE, text=why)


def _if_stated(text: str | None, why: str, section: Section | None = None) -> FormFact:
    return _stated(text, section) if text else _missing(why)


def _origin(supplement: Supplement) -> Provenance:
    return (supplement.audit.origin if supplement.audit is not None else None) or Provenance()


# Facts of the claim and its outcome.


def _verdict(supplement: Supplement) -> FormFact:
    return _stated(supplement.verdict) if supplement.outcome is not None else _missing("the claim has no outcome")


def _figures(supplement: Supplement) -> FormFact:
    figures = supplement.figures
    if figures is None:
        return _missing("neither card nor replay gives a figure")
    parts = [f"card {figures.card}"] if figures.card else []
    parts += [f"evaluation contexts {figures.evaluation}"] if figures.evaluation else []
    parts += [f"deployment-like contexts {figure}" for figure in figures.deployment]
    parts += [f"and {figures.excluded} more deployment specifications"] if figures.excluded else []
    return _if_stated("; ".join(parts), "neither card nor replay gives a figure")


def _account(supplement: Supplement) -> FormFact:
    return _if_stated(supplement.account if supplement.audit is not None else None, "no audit is recorded")


def _evaluation(supplement: Supplement) -> FormFact:
    return _if_stated(supplement.claim.payload.evaluation, "the claim names no evaluation", Section.SPECIFICATION)


def _elicitation(supplement: Supplement) -> FormFact:
    return _if_stated(supplement.claim.payload.elicitation, "the claim does not say how the model was asked", Section.SPECIFICATION)


def _deployment(supplement: Supplement) -> FormFact:
    return _if_stated(supplement.claim.payload.deployment, "the claim names no deployment context", Section.SPECIFICATION)


def _list_contexts(supplement: Supplement, role: SpecRole) -> FormFact:
    references = [part.reference for part in supplement.specs if part.role is role]
    return _if_stated(", ".join(references), "the claim names no such contexts", Section.CONTEXTS)


def _count_contexts(supplement: Supplement) -> FormFact:
    estimate = supplement.audit.estimate if supplement.audit is not None else None
    if estimate is None or not estimate.specs:
        return _missing("no replay was made")
    counts = [
        f"{spec.n.contexts_test} evaluation and {spec.n.contexts_deploy} deployment-like contexts ({spec.spec})" for spec in estimate.specs
    ]
    return _stated("; ".join(dict.fromkeys(counts)), Section.ESTIMATES)


# Facts of the audit.


def _lock(supplement: Supplement) -> FormFact:
    lock = supplement.audit.lock if supplement.audit is not None else None
    text = None if lock is None else f"the plan was locked in entry {lock.entry.seq} on {lock.entry.at:%Y-%m-%d %H:%M} UTC"
    return _if_stated(text, "no plan was locked", Section.PREREGISTRATION)


def _scorer(supplement: Supplement) -> FormFact:
    return _if_stated(_origin(supplement).judge, "the scorer is not stated", Section.PROVENANCE)


def _tasks(supplement: Supplement) -> FormFact:
    replayed = _origin(supplement).replayed
    return _if_stated(replayed.tasks_file if replayed else None, "the file of tasks is not stated", Section.PROVENANCE)


def _transcripts(supplement: Supplement) -> FormFact:
    digest = _origin(supplement).transcripts
    text = f"SHA-256 of the stored responses: {digest}" if digest else None
    return _if_stated(text, "no stored responses are stated", Section.PROVENANCE)


def _find_module(kind: FindingKind, text: str, why: str, section: Section) -> Callable[[Supplement], FormFact]:
    """Return a fact that says where the finding of a module is."""

    def find(supplement: Supplement) -> FormFact:
        findings = [*(supplement.audit.findings if supplement.audit is not None else ()), *supplement.other_findings]
        entries = [str(finding.entry.seq) for finding in findings if finding.payload.kind is kind]
        return _stated(f"{text}: entry {', '.join(entries)}", section) if entries else _missing(why)

    return find


def _versions(supplement: Supplement) -> FormFact:
    if supplement.drift is None:
        return _missing("the claim is about one version")
    points = [point.model.version for point in supplement.drift.points]
    return _stated(f"versions {', '.join(dict.fromkeys(points))}", Section.VERSIONS)


def _other_audits(supplement: Supplement) -> FormFact:
    count = len(supplement.other_audits)
    return _stated(f"{count} more audits or outcomes are recorded", Section.HISTORY) if count else _missing("no other audit is recorded")


def _access(supplement: Supplement) -> FormFact:
    text = describe_layers(part.state for part in supplement.layers) if supplement.audit is not None else None
    return _if_stated(text, "the access of the auditor is not stated", Section.LAYERS)


def _is_external(supplement: Supplement) -> bool | None:
    """Whether an independent third party audited; None without an audit."""
    audit = supplement.audit
    return None if audit is None else audit.opening.payload.independence is Independence.THIRD_PARTY


def _for_evaluator(find: Callable[[Supplement], FormFact], *, is_external: bool) -> Callable[[Supplement], FormFact]:
    """Return *find* where the auditor is of this kind; the item does not apply to a record of the other kind."""

    def find_for(supplement: Supplement) -> FormFact:
        external = _is_external(supplement)
        if external is None:
            return _missing("no audit is recorded")
        other = "this record is of an external audit" if external else "this record is of no independent external audit"
        return find(supplement) if external is is_external else _excluded(other)

    return find_for


def _external_audit(supplement: Supplement) -> FormFact:
    audit = supplement.audit
    if audit is None:
        return _missing("no audit is recorded")
    name = audit.auditor.name or audit.auditor.code
    if not _is_external(supplement):
        return _missing(f"{name} audited: {get_words(audit.opening.payload.independence)}")
    return _stated(f"{audit.opening.payload.audit} by {name}, which states that it is an independent third party: this supplement")


FACTS: Mapping[str, Callable[[Supplement], FormFact]] = {
    "verdict": _verdict,
    "figures": _figures,
    "account": _account,
    "claim-evaluation": _evaluation,
    "claim-elicitation": _elicitation,
    "claim-deployment": _deployment,
    "test-contexts": lambda supplement: _list_contexts(supplement, SpecRole.TEST),
    "deploy-contexts": lambda supplement: _list_contexts(supplement, SpecRole.DEPLOY),
    "contexts-count": _count_contexts,
    "lock": _lock,
    "scorer": _scorer,
    "tasks-file": _tasks,
    "transcripts": _transcripts,
    "ablation": _find_module(FindingKind.ABLATION, "cue ablation", "no cue ablation was made", Section.ABLATION),
    "recognition": _find_module(FindingKind.PROBE, "probe for recognition", "no probe for recognition was made", Section.LAYERS),
    "judge-study": _find_module(FindingKind.JUDGE, "study of the judge's errors", "no study of the judge was made", Section.JUDGE),
    "rater-study": _find_module(FindingKind.NATURALNESS, "study of realism", "no study of realism was made", Section.NATURALNESS),
    "versions": _versions,
    "other-audits": _other_audits,
    "access": _access,
    "internal-access": _for_evaluator(_access, is_external=False),
    "external-access": _for_evaluator(_access, is_external=True),
    "internal-budget": _for_evaluator(lambda supplement: _find_item(supplement, "query-budget"), is_external=False),
    "external-budget": _for_evaluator(lambda supplement: _find_item(supplement, "query-budget"), is_external=True),
    "external-audit": _external_audit,
    "no-external-reason": _for_evaluator(lambda _: _missing("the record gives no reason"), is_external=False),
    "external-choice": _for_evaluator(lambda _: _missing("the record does not explain the choice"), is_external=True),
}
"""What forms can ask of a record, by name."""
