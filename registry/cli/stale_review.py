"""`caveat claim confirm` and `caveat claim dismiss`: what a person decides of a change that claims may not have survived."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from registry.cli.app import App, pass_app
from registry.cli.parameters import CLAIM, parse_model
from registry.cli.trial import record
from registry.errors import Fault, InputError
from registry.records.claim_status import CauseKind, StalenessVerdict
from registry.records.model_version import ModelRef
from registry.records.record import Identifier

if TYPE_CHECKING:
    from rich.console import Console

    from registry.registration.stale_claims import NamedCause
    from registry.store.writer import Writer


_FEW = 20
"""As many are listed for a person; all of them with `--json`."""


def _review_options(function: Callable[..., None]) -> Callable[..., None]:
    options = (
        click.argument("claims", type=CLAIM, nargs=-1),
        click.option("--why", required=True, help="What the decision rests on; it stays in the record."),
        click.option(
            "--cause", "causes", multiple=True, metavar="KIND[:WHAT]", help="Only this cause, such as card or spec:CTX-…@2; default: all."
        ),
        click.option("--model", metavar="DEV/NAME/VERSION", help="All claims about this version that a newer one made stale."),
    )
    for option in reversed(options):
        function = option(function)
    return function


@click.command()
@_review_options
@pass_app
def confirm(app: App, *, claims: tuple[Identifier, ...], why: str, causes: tuple[str, ...], model: str | None) -> None:
    """Decide that claims no longer stand on evidence: they become stale.

    Several claims are decided in one transaction, all or none; the same again changes nothing. The last decision on each cause
    counts. Causes: successor, deprecation, card, spec, method, contestation, expiry, revision; caveat claim stale names those of a claim.
    """
    _review(app, StalenessVerdict.CONFIRMED, claims, why=why, causes=causes, model=model)


@click.command()
@_review_options
@pass_app
def dismiss(app: App, *, claims: tuple[Identifier, ...], why: str, causes: tuple[str, ...], model: str | None) -> None:
    """Decide that a change does not touch claims: the cause no longer counts, and the history says so.

    Several claims are decided in one transaction, all or none; the same again changes nothing. The last decision on each cause
    counts. A later change is another cause. No claim comes to speak for another model version by this: caveat claim carry.
    """
    _review(app, StalenessVerdict.DISMISSED, claims, why=why, causes=causes, model=model)


def _review(
    app: App, verdict: StalenessVerdict, claims: Sequence[Identifier], *, why: str, causes: Sequence[str], model: str | None
) -> None:
    from registry.cli.claim_text import describe_status

    if bool(claims) == (model is not None):
        raise click.UsageError("name claims (CLM-…), or the version that they are about with --model; one of the two.")
    about = parse_model(model, where="--model") if model else None
    named = _parse_causes(causes)

    def work(writer: "Writer") -> list[dict[str, Any]]:
        chosen = _list_claims(writer, claims) if about is None else _list_about(writer, about)
        kinds = _only_successor() if about is not None and not named else named
        return _review_each(writer, chosen, verdict, why, kinds)

    done = record(app, work)
    new = [one for one in done if one["entry"] is not None]

    def text(console: "Console") -> None:
        for one in new[:_FEW]:
            console.print(f"{one['claim']}: {verdict.value} {'; '.join(one['causes'])}, entry {one['entry']}; it is {one['stands']}")
        if len(new) > _FEW:
            console.print(f"… and {len(new) - _FEW:,} more {verdict.value}.")
        if len(new) < len(done):
            console.print(f"{len(done) - len(new):,} decided so already; nothing was recorded of {'it' if len(done) == 1 else 'them'}.")

    for one in done:
        one["stands"] = describe_status(one["status"])
    document = [{**one, "status": _to_document(one["status"])} for one in done]
    app.report({"schema": "caveat/claim-review/1", "verdict": verdict.value, "why": why, "claims": document}, text)


def _to_document(status: Any) -> Any:
    from registry.codec.documents import to_document

    return to_document(status)


def _review_each(
    writer: "Writer", claims: Sequence[str], verdict: StalenessVerdict, why: str, causes: "Sequence[NamedCause] | None"
) -> list[dict[str, Any]]:
    from registry.registration.stale_claims import name_cause, review_claims

    said = review_claims(writer, claims, verdict, why=why, causes=causes)
    statuses = writer.find_statuses(claims)
    return [
        {
            "claim": claim,
            "causes": [name_cause(cause) for cause in one.payload.causes] if one else [],
            "entry": one.entry.seq if one else None,
            "status": statuses[claim],
        }
        for claim, one in zip(claims, said, strict=True)
    ]


def _list_claims(writer: "Writer", claims: Sequence[Identifier]) -> list[str]:
    for one in claims:
        if one.revision or one.digest:
            writer.dossier(str(one))
    return list(dict.fromkeys(one.bare for one in claims))


def _list_about(writer: "Writer", model: ModelRef) -> list[str]:
    """Return the claims about *model* that another version made stale."""
    from registry.registration.model_lineage import require_model
    from registry.registration.stale_claims import find_stale

    require_model(writer, model)
    found = find_stale(writer, model=model).claims
    chosen = [one.claim for one in found if any(cause.kind is CauseKind.SUCCESSOR for cause in one.status.causes)]
    if not chosen:
        said = "no claim about it is stale because another version took its place"
        raise InputError(Fault(code="nothing-to-review", where=str(model), found=said, advice="caveat claim stale"))
    return chosen


def _only_successor() -> "list[NamedCause]":
    from registry.registration.stale_claims import NamedCause

    return [NamedCause(kind=CauseKind.SUCCESSOR)]


def _parse_causes(texts: Sequence[str]) -> "list[NamedCause] | None":
    """Return the causes as written, `KIND` or `KIND:WHAT`; None without any. A model version may be written with slashes."""
    from registry.registration.stale_claims import NamedCause

    faults, found = [], []
    for text in texts:
        kind, _, what = text.partition(":")
        if kind not in set(CauseKind):
            advice = f"write one of {', '.join(CauseKind)}, or KIND:WHAT as caveat claim stale names it"
            faults.append(Fault(code="cause-unknown", where="--cause", found=f"{text!r} is no cause", advice=advice))
            continue
        is_model = kind == CauseKind.SUCCESSOR and what.count("/") > 1
        named = str(parse_model(what, where="--cause")) if is_model else what
        found.append(NamedCause(kind=CauseKind(kind), what=named or None))
    if faults:
        raise InputError(faults)
    return found or None
