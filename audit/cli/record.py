"""Recording what a module found, for the commands that take `--audit`."""

from registry.cli.app import App
from registry.records.finding import FindingBody
from registry.records.identifier import Identifier


def record_finding(app: App, audit: Identifier | None, body: FindingBody, *, source: str) -> None:
    """Record *body* as a finding of *audit*, and say so on stderr; without an audit, nothing is recorded.

    Raises:
        CaveatError: the audit is not registered, or has its outcome already.
    """
    if audit is None:
        return
    from audit.docket import add_finding

    with app.ledger.write(actor=app.config.authority) as writer:
        _, is_new = add_finding(writer, audit.bare, body, source=source)
    app.say(
        f"{'recorded' if is_new else 'recorded already'} as a finding of {audit.bare}; its outcome, once imported, takes it into account"
    )
