"""What a log says of its claims, read from the first statement to the last without any index, beside what the store finds by index."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from registry.records.claim_status import Dispute, Lifecycle, ObjectionState, ObjectionStep, find_state, owner_of
from registry.store.changed_claims import find_candidates, find_changed, find_newest_states
from registry.store.registry_view import View

REFERENCE = re.compile(r"([A-Z]{3}-[A-Z0-9]+-\d{4}-\d{4,}-[0-9A-Z])(?:@\d+)?(?:#[0-9a-f]+)?")
MOVED = {
    "publish": Lifecycle.PUBLISHED,
    "supersede": Lifecycle.SUPERSEDED,
    "withdraw": Lifecycle.WITHDRAWN,
    "reject": Lifecycle.REJECTED,
}


class LoggedStatement(NamedTuple):
    """One statement."""

    seq: int
    kind: str
    actor: str
    payload: dict[str, Any]
    names: frozenset[str]
    """Every identifier that is a value of it, without revision."""


def read_log(view: View) -> list[LoggedStatement]:
    """Return all statements that *view* sees, as their texts say them; erased ones are passed over."""
    statements = []
    for place, text in view.log_entries():
        if text is not None:
            document = json.loads(text)
            # An audit under the rival of an objection is in the history of the claim that it is of.
            texts = {key: value for key, value in document["payload"].items() if (document["kind"], key) != ("audit", "objection")}
            names = frozenset(match[1] for words in _list_texts(texts) if (match := REFERENCE.fullmatch(words)))
            statements.append(LoggedStatement(place.seq, document["kind"], document["actor"], document["payload"], names))
    return statements


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _list_texts(item)


class Traversal:
    """Answers on claims, each by going through all statements."""

    def __init__(self, statements: list[LoggedStatement]) -> None:
        self._statements = statements

    def find_history(self, claim: str) -> list[int]:
        """Return the entries that name *claim*, or an audit or objection of it."""
        names, entries = {claim}, []
        for statement in self._statements:
            if not names.isdisjoint(statement.names):
                entries.append(statement.seq)
                # Audits of the claim and objections to it open with their own identifier.
                if statement.kind in ("audit", "objection") and claim in statement.names:
                    names.add(statement.payload[statement.kind])
        return entries

    def find_lifecycle(self, claim: str) -> tuple[Lifecycle, str | None]:
        """Return what happened to *claim* last, and what took its place."""
        events = [event for event in self._list("claim_event") if event["claim"] == claim]
        moved = [MOVED[event["event"]] for event in events if event["event"] != "reserve"]
        return (moved or [Lifecycle.REGISTERED])[-1], ([None, *(event["successor"] for event in events if event["successor"])])[-1]

    def find_dispute(self, claim: str) -> Dispute:
        """Return whether *claim*, or a definition that its newest revision or a lock of that names, is contested."""
        *_, newest = (revision for revision in self._list("claim_revision") if revision["claim"] == claim)
        targets = {newest["property"], newest["scoring"], newest["test_context"], *newest["deploy_contexts"]}
        for lock in self._list("lock"):
            if lock["claim"] == f"{claim}@{newest['revision']}":
                targets |= {spec["spec"] for spec in (lock["test"], *lock["deploy"], lock["scoring"], *lock["cues"]) if spec is not None}
        contested = [
            objection
            for objection in self._list("objection")
            if objection["target"] in targets or objection["target"].partition("@")[0] == claim
        ]
        states = set(map(self._find_state, contested))
        if states - {ObjectionState.UPHELD, ObjectionState.REJECTED}:
            return Dispute.CONTESTED
        return Dispute.UPHELD if ObjectionState.UPHELD in states else Dispute.UNDISPUTED

    def find_outcomes(self, references: set[str]) -> set[tuple[str, str]]:
        """Return the outcomes, each with its audit, of the claim revisions *references*, without those under a rival that is not upheld."""
        upheld = {objection["objection"] for objection in self._list("objection") if self._find_state(objection) is ObjectionState.UPHELD}
        ignored = {audit["audit"] for audit in self._list("audit") if audit["objection"] not in {None, *upheld}}
        outcomes = (outcome for outcome in self._list("restriction") if outcome["audit"] not in ignored)
        return {(outcome["claim"], outcome["audit"]) for outcome in outcomes if outcome["claim"] in references}

    def find_parts(self, claim: str) -> dict[str, set[int]]:
        """Return the audits of *claim*, each with the entries that belong to it."""
        audits = [audit["audit"] for audit in self._list("audit") if audit["claim"].partition("@")[0] == claim]
        parts = [statement for statement in self._statements if statement.kind not in ("publication", "forecast")]
        return {audit: {part.seq for part in parts if part.payload.get("audit") == audit} for audit in audits}

    def _list(self, kind: str) -> list[dict[str, Any]]:
        return [statement.payload for statement in self._statements if statement.kind == kind]

    def _find_state(self, objection: dict[str, Any]) -> ObjectionState:
        events = [statement for statement in self._statements if statement.kind == "objection_event"]
        steps = [event for event in events if event.payload["objection"] == objection["objection"]]
        step = ObjectionStep(steps[-1].payload["step"]) if steps else None
        return find_state(step, actor=steps[-1].actor if steps else "", owner=owner_of(objection["target"]), by=objection["by"])


def check_claims(view: View) -> int:
    """See that history, status, dossier and lists of every claim are what all statements say; return how many entries were compared."""
    traversal = Traversal(read_log(view))
    listed = {summary.claim: summary for summary in view.list_claims()}
    statuses = view.find_statuses([*listed])
    compared = 0
    for dossier in view.dossiers([*listed]):
        claim, status = dossier.claim, dossier.status
        history = traversal.find_history(claim)
        compared += len(history)
        assert [recorded.entry.seq for recorded in view.history(claim)] == history, claim
        assert dossier.today == view.today
        assert status == view.status(claim) == statuses[claim] == listed[claim].status, claim
        assert (status.lifecycle, status.superseded_by) == traversal.find_lifecycle(claim), claim
        assert status.dispute == traversal.find_dispute(claim), claim
        own = {dossier.current.payload.reference, *dossier.family.members}
        assert {(outcome.claim, outcome.audit) for outcome in dossier.family.outcomes} == traversal.find_outcomes(own), claim
        assert status.gravest == dossier.family.gravest, claim
        parts = {}
        for file in dossier.audits:
            several = (file.runs, file.results, file.evidence, file.restrictions, file.findings, file.deviations, file.explorations)
            single = [part for part in (file.lock, file.withdrawn) if part is not None]
            entries = [*single, *file.starts, *file.ends, *(part for those in several for part in those)]
            parts[file.audit.payload.audit] = {file.audit.entry.seq, *(part.entry.seq for part in entries)}
        assert parts == traversal.find_parts(claim), claim
    return compared


def check_changes(before: View, after: View) -> int:
    """See that what changed between two readings is what the states of all claims say; return how many claims changed."""
    then, now = find_newest_states(before, None), find_newest_states(after, None)
    changed = sorted(claim for claim, state in now.items() if then.get(claim) != state)
    assert find_changed(before, after, None) == (changed, len(now) - len(changed))
    # An entry about a claim makes it a candidate, whether its state is another or not. That its supplement was published is no change.
    candidates = find_candidates(before, after)
    traversal = Traversal([statement for statement in read_log(after) if statement.kind != "publication"])
    if candidates is not None:
        assert {claim for claim in now if traversal.find_history(claim)[-1] > before.log_size} <= candidates
    return len(changed)
