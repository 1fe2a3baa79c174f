"""`caveat audit deviate`: what was done otherwise than a lock says, told or explained."""

import click

from registry.cli.application import AUDIT, App, pass_app
from registry.records.analysis_plan import DECISIVE, LockedItem
from registry.records.record import Identifier


@click.command()
@click.argument("audit_id", metavar="AUDIT", type=AUDIT)
@click.argument("item", type=click.Choice([one.value for one in LockedItem]))
@click.option("--done", metavar="TEXT", help="What was done; without it, the departure that was found and not explained is meant.")
@click.option("--planned", metavar="TEXT", help="What was planned; default: what the lock says.")
@click.option("--why", metavar="TEXT", required=True, help="The reason.")
@pass_app
def deviate(app: App, /, *, audit_id: Identifier, item: str, done: str | None, planned: str | None, why: str) -> None:
    """Record that something was done otherwise than the audit's lock says, or explain such a departure.

    The lock itself never changes. Scores of other tasks, contexts, scoring or models than the locked ones restrict a claim and never
    establish a class, whatever the reason; every deviation is printed in the supplement.
    """
    from audit.deviating import deviate as record
    from registry.cli.terminal_output import show
    from registry.codec.canonical_documents import to_document

    kind = LockedItem(item)
    with app.ledger.write(actor=app.config.authority) as writer:
        said, is_new = record(writer, audit_id.bare, kind, planned=planned, done=done, why=why)
        has_outcome = bool((file := writer.find_audit(audit_id.bare)) and file.restrictions)
    if is_new and done is not None and kind in DECISIVE:
        app.say(
            "warning: its outcome stands as it was recorded; the supplement says that this was told afterwards"
            if has_outcome
            else "warning: an outcome from such scores will be reported, not established: lock another audit for what is really done"
        )
    document = {"schema": "caveat/audit-deviate/1", "new": is_new, "entry": said.entry.seq, "deviation": to_document(said.payload)}
    one = said.payload
    app.report(
        document,
        lambda console: console.print(
            show(
                f"{'Recorded' if is_new else 'Recorded already'} as entry {said.entry.seq}: {one.item.words} of {one.audit}\n"
                f"  planned  {one.planned}\n  done     {one.done}\n  why      {one.reason}"
            )
        ),
    )
