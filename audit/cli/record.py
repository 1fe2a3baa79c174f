"""Recording what a module found, for the commands that take `--audit`."""

from collections.abc import Sequence

from registry.cli.application import App
from registry.records.module_findings import FindingBody
from registry.records.record import Identifier


def record_findings(app: App, audit: Identifier | None, bodies: Sequence[FindingBody], *, source: str) -> None:
    """Record *bodies* as findings of *audit*, all or none, and say so on stderr; without an audit, nothing is recorded.

    Raises:
        CaveatError: the audit is not registered, or has its outcome already.
    """
    if audit is None:
        return
    from audit.docket import add_finding

    with app.ledger.write(actor=app.config.authority) as writer:
        added = [add_finding(writer, audit.bare, body, source=source)[1] for body in bodies]
    for is_new in added:
        done = "recorded" if is_new else "recorded already"
        app.say(f"{done} as a finding of {audit.bare}; its outcome, once imported, takes it into account")


def record_finding(app: App, audit: Identifier | None, body: FindingBody, *, source: str) -> None:
    """Record *body* alone as `record_findings` does."""
    record_findings(app, audit, (body,), source=source)
