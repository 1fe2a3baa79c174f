"""A dossier for a claim that has no deployment counterpart, revised and published."""

from dataclasses import replace

from registry.records.audit_case import Deployment, Infeasible
from registry.records.claim import (
    ClaimEvent,
    ClaimEventKind,
    Form,
)
from registry.records.dossier import Dossier
from registry.records.verdict import Basis, ClaimClass, Mode, RestrictedClaim, RestrictionStatus
from tests.report.builders import (
    CLAIM,
    Log,
    audit_file,
    build,
    classification,
    reading,
    replace_parts,
    revision,
)


def ontological() -> Dossier:
    """No defensible P_deploy can exist; a second revision; superseded."""
    log = Log()
    quote = "The model has no long-term goals."
    first = revision(quote, form=Form.PREVALENCE, relation=None, theta=None, reported=None)
    base = build(log, first, RestrictionStatus.NOT_RESOLVED)
    second = log.say(
        revision(
            quote + " It never states any.",
            revision=2,
            why="the sentence goes on",
            form=Form.PREVALENCE,
            relation=None,
            theta=None,
            reported=None,
        )
    )
    outcome = classification(
        reading(
            Form.PREVALENCE,
            ClaimClass.UNDETERMINED,
            mode=Mode.ONTOLOGICAL,
            basis=Basis.NONE,
            resolves="Nothing: the property has no deployment counterpart.",
            rule="no-p-deploy",
        )
    )
    text = RestrictedClaim(
        original=quote,
        restricted=quote,
        surviving=(),
        withdrawn=(),
        resolves=(),
        verdict="Undetermined: no defensible P_deploy can exist for this claim.",
    )
    file = audit_file(log, outcome, text, deployment=Deployment(defensible=False, infeasible=Infeasible.ONTOLOGICAL))
    event = log.say(ClaimEvent(claim=CLAIM, event=ClaimEventKind.PUBLISH))
    of_second = replace(file, audit=replace(file.audit, payload=replace(file.audit.payload, claim=f"{CLAIM}@2")))
    return replace_parts(base, log, audits=(of_second,), revisions=(*base.revisions, second), events=(event,))
