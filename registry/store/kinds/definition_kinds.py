"""Statements on what claims refer to, and objections: specifications, reveals, model versions, endpoint names, objections."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlalchemy import CheckConstraint, Index, UniqueConstraint

from registry.codec.canonical_documents import canonical_bytes, to_document
from registry.codec.statement_encoding import find_opening_faults
from registry.errors import Fault, find_near
from registry.records.claim_status import Objection, ObjectionEvent, ObjectionStep
from registry.records.model_version import (
    REPLACING,
    Descent,
    EndpointEventKind,
    ModelEndpoint,
    ModelEvent,
    ModelEventKind,
    ModelRef,
    ModelVersion,
    find_date,
    fold_model,
)
from registry.records.record import Kind
from registry.records.specification import Reveal, SpecKind, SpecVersion
from registry.store.database_engine import (
    TriggerRule,
    begins,
    bytes_column,
    digest,
    new_table,
    one_of,
    refers,
    text_column,
    text_columns,
    whole_column,
    without_gaps,
)
from registry.store.statement_kind import (
    CLAIM,
    DEFINITION,
    OBJECTION,
    EntryPlace,
    Role,
    Row,
    StatementKind,
    plain,
    split_reference,
    unhex,
)

if TYPE_CHECKING:
    from registry.store.registry_view import View
    from registry.store.statement_rules import StatementRules

KIND_OF_SPEC = {
    SpecKind.PROPERTY: Kind.PROPERTY,
    SpecKind.SCORING: Kind.SCORING,
    SpecKind.TEST_CONTEXT: Kind.CONTEXT,
    SpecKind.DEPLOY_CONTEXT: Kind.CONTEXT,
    SpecKind.CUE_INVENTORY: Kind.CUES,
    SpecKind.METHOD: Kind.METHOD,
}
"""The prefix that the identifiers of a kind of specification have."""

spec = new_table(
    "spec",
    *text_columns("spec kind slug owner"),
    one_of("kind", SpecKind),
    UniqueConstraint("log", "spec", "kind"),
    UniqueConstraint("log", "owner", "kind", "slug"),
    refers("spec", "identifier", "id"),
    refers("owner", "authority", "code"),
)
spec_version = new_table(
    "spec_version",
    *text_columns("spec kind"),
    whole_column("version"),
    text_column("body", null=True),
    bytes_column("commitment", null=True),
    text_column("why", null=True),
    digest("commitment"),
    CheckConstraint("(body IS NULL) <> (commitment IS NULL)", name="sealed_xor_body"),
    CheckConstraint("version = 1 OR length(trim(why)) > 0 AND why IS NOT NULL", name="why_from_2"),
    UniqueConstraint("log", "spec", "version"),
    # The target of typed references: a foreign key over (spec, version, kind) refuses a scoring
    # procedure where a property is expected.
    UniqueConstraint("log", "spec", "version", "kind"),
    refers("spec kind", "spec", "spec kind"),
    guards=(without_gaps("spec_version", "version", "log spec"),),
)


SPEC_VERSIONS = Role("spec_version", "spec", DEFINITION, "version")


class SpecVersionKind(StatementKind[SpecVersion]):
    """A version of a specification. Versions are contiguous and keep kind, slug and owner."""

    tables = (spec, spec_version)
    names = (SPEC_VERSIONS,)
    kept = "what claims and locks rest on stays; what no one may read yet is sealed: caveat spec seal"
    reason = "a definition has a newer version"
    importance = 16
    is_shared = True
    is_defining = True

    def build_rows(self, spec_version: SpecVersion, place: EntryPlace) -> Iterator[Row]:
        kind = spec_version.kind.value
        if spec_version.version == 1:
            yield "spec", (*place.here, spec_version.spec, kind, spec_version.slug, spec_version.owner)
        # The body is stored for searching. A sealed version has only its commitment until it is
        # revealed.
        body = None if spec_version.body is None else canonical_bytes(to_document(spec_version.body)).decode()
        yield (
            "spec_version",
            (*place.here, spec_version.spec, kind, spec_version.version, body, unhex(spec_version.commitment), spec_version.why),
        )

    def find_faults(self, definition: SpecVersion, rules: "StatementRules") -> Iterator[Fault]:
        yield from rules.check_authority(definition.owner, definition.spec)
        if not definition.spec.startswith(f"{KIND_OF_SPEC[definition.kind]}-"):
            yield Fault("wrong-kind", definition.spec, f"a {definition.kind} has an identifier {KIND_OF_SPEC[definition.kind]}-…")
        before = rules.view.find_spec(definition.spec)
        yield from rules.check_number(definition.spec, definition.version, before.payload.version if before else 0, "version")
        # Claims refer to a specification by identifier and version. A change of kind, slug or owner
        # would change the meaning of old references.
        if before and (before.payload.kind, before.payload.slug, before.payload.owner) != (
            definition.kind,
            definition.slug,
            definition.owner,
        ):
            was = f"{before.payload.kind} {before.payload.slug!r} of {before.payload.owner}"
            yield Fault("spec-differs", definition.spec, f"kind, slug and owner stay; it is the {was}")
        if definition.version == 1 and (taken := rules.view.find_spec_by_slug(definition.owner, definition.kind, definition.slug)):
            yield Fault("slug-taken", definition.spec, f"{definition.owner} calls {taken.payload.spec} {definition.slug!r}")

    def describe(self, payload: SpecVersion) -> str:
        return f"{payload.spec}@{payload.version} {payload.kind.value} {payload.why or payload.slug}"

    def name_new(self, payload: SpecVersion) -> str | None:
        return payload.spec if payload.version == 1 else None


reveal = new_table(
    "reveal",
    text_column("spec"),
    whole_column("version"),
    UniqueConstraint("log", "spec", "version"),
    refers("spec version", "spec_version", "spec version"),
    guards=(
        TriggerRule(
            broken="(SELECT commitment FROM spec_version WHERE log = NEW.log AND spec = NEW.spec AND version = NEW.version) IS NULL",
            message="seal-not-needed: only a sealed specification is revealed",
        ),
    ),
)


class RevealKind(StatementKind[Reveal]):
    """The body of a sealed version, shown once. It is in the statement only, where it can be erased."""

    tables = (reveal,)
    names = (Role("reveal", "spec", DEFINITION, "version"),)
    reason = "a sealed definition was shown"
    importance = 17
    is_shared = True
    is_defining = True

    def build_rows(self, reveal: Reveal, place: EntryPlace) -> Iterator[Row]:
        yield "reveal", (*place.here, *split_reference(reveal.opening.spec))

    def find_faults(self, shown: Reveal, rules: "StatementRules") -> Iterator[Fault]:
        name, version = split_reference(shown.opening.spec)
        sealed = rules.view.find_spec(name, version)
        where = shown.opening.spec
        if sealed is None:
            yield Fault("not-registered", where, "is not registered")
        # The revealed text must hash to the commitment. Otherwise a definition could be written
        # after the run.
        elif faults := list(find_opening_faults(sealed.payload, shown.opening, where=where)):
            yield from faults
        elif seq := rules.find_entry(reveal, (reveal.c.spec == name) & (reveal.c.version == version)):
            yield Fault("already-recorded", where, f"entry {seq} reveals it")

    def describe(self, payload: Reveal) -> str:
        return f"{payload.opening.spec} {payload.why or ''}"


objection = new_table(
    "objection",
    text_column("objection"),
    text_column("claim", null=True),
    whole_column("revision", null=True),
    text_column("spec", null=True),
    whole_column("version", null=True),
    text_column("contested_by"),
    text_column("rival", null=True),
    whole_column("rival_version", null=True),
    begins("objection", Kind.OBJECTION),
    # An objection has exactly one target.
    CheckConstraint("(claim IS NULL) <> (spec IS NULL)", name="one_target"),
    CheckConstraint("(claim IS NULL) = (revision IS NULL) AND (spec IS NULL) = (version IS NULL)", name="target_whole"),
    CheckConstraint("(rival IS NULL) = (rival_version IS NULL)", name="rival_whole"),
    UniqueConstraint("log", "objection"),
    refers("objection", "identifier", "id"),
    refers("claim revision", "claim_revision", "claim revision"),
    refers("spec version", "spec_version", "spec version"),
    refers("rival rival_version", "spec_version", "spec version"),
    refers("contested_by", "authority", "code"),
    Index(None, "log", "claim"),
    Index(None, "log", "spec"),
    Index(None, "log", "rival"),
)


DISPUTES = Role("objection", "claim", CLAIM, "revision", "objection")
SPEC_DISPUTES = Role("objection", "spec", DEFINITION, "version", "objection")


class ObjectionKind(StatementKind[Objection]):
    """An objection to a claim or a definition, with a rival definition where there is one."""

    tables = (objection,)
    names = (
        DISPUTES,
        SPEC_DISPUTES,
        Role("objection", "rival", DEFINITION, "rival_version", "objection", is_basis=False),
        Role("objection", "objection", OBJECTION),
    )
    reason = "an objection"
    importance = 3
    is_shared = True
    is_defining = True

    def build_rows(self, objection: Objection, place: EntryPlace) -> Iterator[Row]:
        target = split_reference(objection.target)
        pair = (*target, None, None) if objection.target.startswith("CLM-") else (None, None, *target)
        rival = split_reference(objection.rival) if objection.rival is not None else (None, None)
        yield "objection", (*place.here, objection.objection, *pair, objection.by, *rival)

    def find_faults(self, objection: Objection, rules: "StatementRules") -> Iterator[Fault]:
        yield from rules.check_number(objection.objection, 1, 1 if rules.view.is_used(objection.objection) else 0, "objection")
        yield from rules.check_authority(objection.by, objection.objection)
        about, is_claim = objection.objection, objection.target.startswith(f"{Kind.CLAIM}-")
        yield from (rules.check_revision(objection.target, about) if is_claim else rules.check_definition(objection.target, None, about))
        if objection.rival is not None:
            yield from (
                *rules.check_definition(objection.rival, None, about),
                *_find_rival_faults(rules.view, objection.target, objection.rival),
            )

    def describe(self, payload: Objection) -> str:
        return f"{payload.objection} contests {payload.target}: {payload.grounds}"

    def name_new(self, payload: Objection) -> str:
        return payload.objection


def _find_rival_faults(view: "View", target: str, rival: str) -> Iterator[Fault]:
    """Yield why *rival* cannot take the place of *target*: it is another specification of the same kind; for a claim it can be any."""
    # Version 2 may be the rival of version 1 of the same specification, so full references are
    # compared.
    if rival == target:
        yield Fault("bad-rival", rival, "is what is contested; a rival is another specification, or another version")
    elif not target.startswith(f"{Kind.CLAIM}-"):
        # The rival replaces the target in a replay, and a replay needs the same kind of
        # specification in that place.
        kinds = [spec.payload.kind for name in (target, rival) if (spec := view.find_spec(name)) is not None]
        if len(set(kinds)) > 1:
            contested, offered = (kind.value.replace("_", " ") for kind in kinds)
            wrong = f"is a {offered}, and {target} is a {contested}: it cannot take its place"
            yield Fault("bad-rival", rival, wrong, advice=f"caveat spec list --kind {kinds[0].value}")


objection_event = new_table(
    "objection_event",
    *text_columns("objection step"),
    one_of("step", ObjectionStep),
    refers("objection", "objection", "objection"),
    Index(None, "log", "objection"),
)


class ObjectionEventKind(StatementKind[ObjectionEvent]):
    """A step of an objection, until that is settled."""

    tables = (objection_event,)
    names = (Role("objection_event", "objection", OBJECTION),)
    reason = "an objection was answered or decided"
    importance = 2
    is_shared = True

    def build_rows(self, objection_event: ObjectionEvent, place: EntryPlace) -> Iterator[Row]:
        yield "objection_event", (*place.here, objection_event.objection, objection_event.step.value)

    def find_faults(self, objection_event: ObjectionEvent, rules: "StatementRules") -> Iterator[Fault]:
        if rules.view.find_objection(objection_event.objection) is None:
            yield rules.refuse_unknown("objection", objection_event.objection)
        yield from _find_step_faults(rules.view, objection_event)

    def describe(self, payload: ObjectionEvent) -> str:
        return f"{payload.objection} {payload.step.value}: {payload.note}"


def _find_step_faults(view: "View", objection_event: ObjectionEvent) -> Iterator[Fault]:
    """Yield why the step cannot follow: what another than the owner decided is settled; only an escalation names an authority."""
    objection = view.find_objection(objection_event.objection)
    # Decision of 2026-11-22: anyone except the objector may decide, and a party may give way. A
    # rejection by the owner is shown as the owner's and resolves nothing, so `is_settled` does not
    # count it. The cost: in a registry with one authority, that authority can only give way.
    if objection is not None and objection.is_settled:
        last = objection.events[-1].entry
        problem = f"it was {objection.state.value} by {last.actor} on {last.at:%Y-%m-%d}, entry {last.seq}; nothing follows that"
        advice = f"contest anew: caveat contest open {objection.objection.payload.target} --reason …"
        yield Fault("objection-closed", objection_event.objection, problem, advice=advice)
    if objection_event.to is not None and view.find_authority(objection_event.to) is None:
        problem = f"{objection_event.to} is not registered, so it could never decide"
        yield Fault(
            "authority-not-registered",
            objection_event.objection,
            problem,
            advice=f"run: caveat init --code {objection_event.to} --join",
        )
    if objection_event.to is not None and objection_event.step is not ObjectionStep.ESCALATED:
        problem = f"only an escalation names an authority; this step is {objection_event.step.value}"
        yield Fault("bad-escalation", objection_event.objection, problem)


# Statements on model versions: their registration, what follows and retires them, and the names of their endpoints.

model_version = new_table(
    "model_version",
    *text_columns("developer name version"),
    *text_columns("predecessor_developer predecessor_name predecessor_version", null=True),
    CheckConstraint(
        "(predecessor_developer IS NULL) = (predecessor_name IS NULL) AND (predecessor_name IS NULL) = (predecessor_version IS NULL)",
        name="predecessor_whole",
    ),
    UniqueConstraint("log", "developer", "name", "version"),
    refers("predecessor_developer predecessor_name predecessor_version", "model_version", "developer name version"),
    # Named by hand: the generated name would exceed the 63 characters of PostgreSQL.
    Index("ix_model_version_predecessor", "log", "predecessor_developer", "predecessor_name", "predecessor_version"),
)


class ModelVersionKind(StatementKind[ModelVersion]):
    """A model version, registered once and not older than its predecessor. Its name differs from others in more than spelling."""

    tables = (model_version,)
    reason = "another version of its model was registered"
    importance = 8
    is_lineage = True

    def build_rows(self, model_version: ModelVersion, place: EntryPlace) -> Iterator[Row]:
        model, before = model_version.model, model_version.predecessor
        predecessor = (before.developer, before.name, before.version) if before else (None, None, None)
        yield "model_version", (*place.here, model.developer, model.name, model.version, *predecessor)

    def describe(self, payload: ModelVersion) -> str:
        return f"{payload.model}" + (f", follows {payload.predecessor}" if payload.predecessor else "")

    def find_faults(self, model_version: ModelVersion, rules: "StatementRules") -> Iterator[Fault]:
        faults = list(_find_version_faults(model_version, rules))
        # A registered name must be known to the next statement of the same file.
        if not faults:
            rules.list_model_names()[fold_model(model_version.model)].append(model_version.model)
        yield from faults


def _find_version_faults(version: ModelVersion, rules: "StatementRules") -> Iterator[Fault]:
    if rules.view.find_model(version.model):
        yield Fault("already-recorded", str(version.model), "this model version is registered already")
    else:
        yield from rules.check_spelling(version.model, str(version.model))
    if version.predecessor is None:
        return
    if version.predecessor == version.model:
        yield Fault("self-reference", str(version.model), "a model version does not follow itself")
    elif (before := rules.view.find_model(version.predecessor)) is None:
        yield _refuse_unknown(rules, version.predecessor)
    else:
        yield from _find_taken(rules, version.model, version.predecessor)
        yield from _check_dates(version, before.payload)


model_event = new_table(
    "model_event",
    *text_columns("developer name version event"),
    *text_columns("predecessor_developer predecessor_name predecessor_version descent", null=True),
    # Only whether a reason exists. The reason itself is in the statement, which can be erased.
    whole_column("has_reason"),
    one_of("event", ModelEventKind),
    one_of("descent", Descent),
    CheckConstraint(
        "(predecessor_developer IS NULL) = (predecessor_name IS NULL) AND (predecessor_name IS NULL) = (predecessor_version IS NULL)",
        name="predecessor_whole",
    ),
    CheckConstraint("(event IN ('follow', 'unfollow')) = (predecessor_name IS NOT NULL)", name="link_names_predecessor"),
    CheckConstraint("(event = 'follow') = (descent IS NOT NULL)", name="follow_names_descent"),
    CheckConstraint("event = 'follow' OR has_reason = 1", name="reason_given"),
    CheckConstraint(
        "NOT (developer = coalesce(predecessor_developer, '') AND name = coalesce(predecessor_name, '')"
        " AND version = coalesce(predecessor_version, ''))",
        name="another_predecessor",
    ),
    refers("developer name version", "model_version", "developer name version"),
    refers("predecessor_developer predecessor_name predecessor_version", "model_version", "developer name version"),
    Index(None, "log", "developer", "name", "version"),
    Index("ix_model_event_predecessor", "log", "predecessor_developer", "predecessor_name", "predecessor_version"),
)


_CHANGES = {
    ModelEventKind.FOLLOW: "another version followed its model version",
    ModelEventKind.UNFOLLOW: "another version does not follow its model version after all",
    ModelEventKind.DEPRECATE: "its model version is no longer offered",
    ModelEventKind.REINSTATE: "its model version is offered again",
}


class ModelEventsKind(StatementKind[ModelEvent]):
    """A link between versions, a retirement, or one of them taken back."""

    tables = (model_event,)
    kept = "which version follows which, and why that was taken back, decides what is stale"
    reason = "an event of its model version"
    importance = 7
    is_lineage = True

    def build_rows(self, model_event: ModelEvent, place: EntryPlace) -> Iterator[Row]:
        model, before = model_event.model, model_event.predecessor
        predecessor = (before.developer, before.name, before.version) if before else (None, None, None)
        descent = model_event.descent.value if model_event.descent else None
        link = (model.developer, model.name, model.version, model_event.event.value, *predecessor, descent)
        yield "model_event", (*place.here, *link, int(bool(model_event.reason)))

    def find_faults(self, model_event: ModelEvent, rules: "StatementRules") -> Iterator[Fault]:
        unknown = [
            model for model in (model_event.model, model_event.predecessor) if model is not None and rules.view.find_model(model) is None
        ]
        yield from (_refuse_unknown(rules, model) for model in unknown)
        # Links between unknown versions cannot be checked for cycles or dates.
        if unknown:
            return
        match model_event.event:
            case ModelEventKind.FOLLOW if model_event.predecessor is not None:
                yield from _find_link_faults(rules, model_event, model_event.predecessor)
            case ModelEventKind.UNFOLLOW if model_event.predecessor is not None:
                if rules.view.lineage().find_link(model_event.model, model_event.predecessor) is None:
                    problem = f"nothing on record says that it comes from {model_event.predecessor}"
                    yield Fault("nothing-to-retract", str(model_event.model), problem)
            case ModelEventKind.DEPRECATE:
                if (entry := rules.view.lineage().deprecation_entry(model_event.model)) is not None:
                    problem = f"entry {entry} says that it is deprecated"
                    yield Fault(
                        "already-recorded",
                        str(model_event.model),
                        problem,
                        advice="to change it, reinstate it first: caveat model reinstate",
                    )
            case _:
                if rules.view.lineage().deprecation_entry(model_event.model) is None:
                    yield Fault("nothing-to-retract", str(model_event.model), "it is not deprecated, so there is nothing to take back")

    def describe(self, payload: ModelEvent) -> str:
        descent = payload.descent.value.replace("_", "-") if payload.descent else ""
        link = f" {descent} of {payload.predecessor}" if payload.predecessor else ""
        return f"{payload.model} {payload.event.value}{link} {payload.reason or ''}".rstrip()

    def explain_change(self, payload: ModelEvent) -> str:
        return _CHANGES[payload.event]


def _find_link_faults(rules: "StatementRules", model_event: ModelEvent, predecessor: ModelRef) -> Iterator[Fault]:
    lineage = rules.view.lineage()
    if model_event.model == predecessor:
        yield Fault("self-reference", str(model_event.model), "a model version does not follow itself")
        return
    link = lineage.find_link(model_event.model, predecessor)
    if link is not None and link.descent is model_event.descent:
        problem = f"entry {link.entry} says that it is the {link.descent.value.replace('_', '-')} of {predecessor}"
        yield Fault("already-recorded", str(model_event.model), problem)
    # A cycle would make each version the successor of the other, and every claim on them stale
    # forever.
    if path := lineage.find_path(model_event.model, predecessor):
        circle = " → ".join(str(model) for model in (*path, model_event.model))
        problem = f"{predecessor} comes from it itself; that would close the circle {circle}"
        yield Fault("lineage-cycle", str(model_event.model), problem)
    if model_event.descent in REPLACING:
        # Two successors need an explicit `branch` (decision of 2026-11-22). Otherwise claims
        # would follow one of two by chance.
        if not model_event.branch:
            yield from _find_taken(rules, model_event.model, predecessor)
        newer, older = rules.view.find_model(model_event.model), rules.view.find_model(predecessor)
        if newer is not None and older is not None:
            yield from _check_dates(newer.payload, older.payload)


def _find_taken(rules: "StatementRules", model: ModelRef, predecessor: ModelRef) -> Iterator[Fault]:
    """A second version may take the place of one only where that is said on purpose: else claims would follow one of two by chance."""
    lineage = rules.view.lineage()
    others = [link for link in lineage.replacing(predecessor) if link.model != model]
    if others:
        names = " and ".join(f"{other.model} (entry {other.entry})" for other in others)
        problem = f"{names} took the place of {predecessor} already"
        # The usual intention is to continue the chain at its end, so this is suggested first.
        ends = [str(ref) for ref in lineage.newest(predecessor) if ref != model]
        instead = f"let it follow {' or '.join(ends)}, " if ends else ""
        advice = f"{instead}or say that the lineage branches: caveat model update OLD NEW --branch"
        yield Fault("successor-exists", str(model), problem, advice=advice)


def _refuse_unknown(rules: "StatementRules", model: ModelRef) -> Fault:
    names = {fold_model(ref): str(ref) for listed in rules.list_model_names().values() for ref in listed}
    near = [names[close_match] for close_match in find_near(fold_model(model), names)[:3]]
    advice = f"did you mean {' or '.join(near)}?" if near else "register it first: caveat model add"
    return Fault("model-not-registered", str(model), "no model version of this name is registered", advice=advice)


def _check_dates(newer: ModelVersion, older: ModelVersion) -> Iterator[Fault]:
    """A version that takes the place of another is not the older one, where both have a date."""
    # Undated versions are common and are not refused.
    after, before = find_date(newer), find_date(older)
    if after is not None and before is not None and after[0] < before[0]:
        problem = f"it is of {after[0]} ({after[1]}), {older.model} of {before[0]} ({before[1]}): a successor is not the older one"
        yield Fault("successor-older", str(newer.model), problem)


model_endpoint = new_table(
    "model_endpoint",
    *text_columns("developer name version event endpoint actor"),
    one_of("event", EndpointEventKind),
    CheckConstraint("endpoint <> ''", name="endpoint_given"),
    refers("developer name version", "model_version", "developer name version"),
    Index(None, "log", "developer", "name", "version"),
    Index("ix_model_endpoint_endpoint", "log", "endpoint"),
)


class ModelEndpointKind(StatementKind[ModelEndpoint]):
    """A name under which endpoints return a model version, as one authority states it."""

    tables = (model_endpoint,)
    kept = "the names that count for a model version decide which model scores are evidence of"
    reason = "an endpoint name was stated or retracted"
    importance = 9
    is_lineage = True
    is_shared = True  # a name stated for another version can be one that was returned here

    def build_rows(self, model_endpoint: ModelEndpoint, place: EntryPlace) -> Iterator[Row]:
        model = model_endpoint.model
        yield (
            "model_endpoint",
            (*place.here, model.developer, model.name, model.version, model_endpoint.event.value, plain(model_endpoint.name), place.actor),
        )

    def find_faults(self, model_endpoint: ModelEndpoint, rules: "StatementRules") -> Iterator[Fault]:
        where = str(model_endpoint.model)
        if rules.view.find_model(model_endpoint.model) is None:
            yield Fault("model-not-registered", where, "no model version of this name is registered")
            return
        known = next(
            (
                endpoint_name
                for endpoint_name in rules.view.list_endpoint_names(model_endpoint.model)
                if endpoint_name.name == model_endpoint.name
            ),
            None,
        )
        own = dict(zip(known.by, known.entries, strict=True)).get(rules.actor) if known else None
        if model_endpoint.event is EndpointEventKind.STATE and own is not None:
            problem = f"entry {own} of {rules.actor} states that endpoints return it as {model_endpoint.name}"
            yield Fault("already-recorded", where, problem)
        if model_endpoint.event is EndpointEventKind.RETRACT and own is None:
            others = f"; {', '.join(known.by)} does, and only it can take it back" if known else ""
            problem = f"{rules.actor} does not state that endpoints return it as {model_endpoint.name}{others}"
            yield Fault("nothing-to-retract", where, problem)

    def describe(self, payload: ModelEndpoint) -> str:
        source = f" ({payload.source})" if payload.source else ""
        return f"{payload.model} endpoint name {payload.name} {payload.event.value}: {payload.reason}{source}"
