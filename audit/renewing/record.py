"""A renewal as the registry records it: claims carried, audits opened and locked, all of one replay or none."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from audit.docket import get_audit, open_audit
from audit.renewing.choice import Chosen
from audit.renewing.draft import draft_renewal, list_task_ids
from audit.renewing.group import Group, check_same
from audit.renewing.replay import REPLAY, Renewed, renew_replay, write_files
from registry.errors import Fault, InputError
from registry.registration.model_lineage import carry_claim
from registry.store.ledger import Ledger
from registry.store.view import View
from registry.store.writer import Writer

TASK_LIST = "tasks.txt"
"""Task identifiers, one a line, for a run that is made elsewhere."""


def build_renewed(group: Group, view: View, *, ask: str, base_url: str | None) -> Renewed | None:
    """Return the replay of *group* with the model *ask*, answering to the audits that are on record; None for a run made elsewhere."""
    if group.recording is None:
        return None
    audits = [one.renewed.audit.payload.audit for one in group.chosen if one.renewed]
    renewed = renew_replay(group.recording.file, view, ask=ask, base_url=base_url, audits=audits)
    check_same(group.recording.file, renewed.file)
    return renewed


def record_group(ledger: Ledger, group: Group, *, auditor: str, ask: str, base_url: str | None, why: str | None) -> Group:
    """Write the files of *group*, carry its claims and lock its audits; return it with them. The same again changes nothing.

    Files come first, so that the locks can fix them; the replay's file is written once more with the audits that it answers to. All is
    recorded in one transaction, or nothing.

    Args:
        auditor: authority that carries the plans out.
        ask: the model as the endpoint is to return it.
        why: the reason for carrying the claims; None for one that names the update.

    Raises:
        CaveatError: the claim cannot be carried, or the plan no longer fits together with it.
        OSError: the file system refuses.
    """
    if all(one.is_concluded for one in group.chosen):
        return group
    with ledger.view() as view:
        renewed = build_renewed(group, view, ask=ask, base_url=base_url)
    write_files(group.folder, renewed.texts if renewed else _list_texts(group.chosen[0]))
    with ledger.write(actor=auditor) as writer:
        chosen = tuple(_record(writer, one, group.folder, auditor=auditor, ask=ask, why=why) for one in group.chosen)
        done = replace(group, chosen=chosen)
        final = build_renewed(done, writer, ask=ask, base_url=base_url)
    if final is not None:
        write_files(group.folder, final.texts)
    return done


def _record(writer: Writer, one: Chosen, folder: Path, *, auditor: str, ask: str, why: str | None) -> Chosen:
    if one.renewed is not None:
        return one
    claim = carry_claim(writer, one.claim.claim, one.target, why=why or _explain(one)).payload
    is_here = one.lock.replay is not None
    tasks = TASK_LIST if not is_here and one.lock.tasks else None
    draft = draft_renewal(one, claim.reference, ask=ask, replay=REPLAY if is_here else None, tasks=tasks)
    file, _ = open_audit(writer, draft, auditor=auditor, locked=True, folder=folder)
    return replace(one, claim=claim, renewed=get_audit(writer, file.audit.payload.audit))


def _explain(one: Chosen) -> str:
    return f"{one.target} takes the place of {one.claim.model}; the locked plan of {one.lock.audit} is carried out again on it"


def _list_texts(one: Chosen) -> Mapping[str, str]:
    """Return the files of an audit whose run is made elsewhere: its list of tasks, where the lock fixes one."""
    ids = list_task_ids(one.lock)
    if one.lock.tasks is not None and ids is None:
        found = f"the lock of {one.lock.audit} fixes {one.lock.tasks.count} tasks by their digest alone, so the list cannot be made again"
        advice = f"lock an audit with the list itself: caveat audit new {one.claim.claim} > audit.yaml"
        raise InputError(Fault(code="tasks-not-known", where=one.claim.reference, found=found, advice=advice))
    return {} if ids is None else {TASK_LIST: "".join(f"{name}\n" for name in ids)}
