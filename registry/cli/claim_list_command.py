"""`caveat claim list`: the claims of a registry, of an imported log or of all logs, by any of their properties."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from registry.cli.application import (
    ALL_LOGS,
    CARD,
    PROPERTY,
    App,
    examples,
    logs_option,
    parse_date,
    parse_model,
    pass_app,
)
from registry.cli.list_options import ListOutput, list_options
from registry.errors import Fault, InputError, NotFoundError
from registry.records.claim import PropertyClass
from registry.records.claim_status import Dispute, Lifecycle, Staleness
from registry.records.record import Identifier
from registry.records.verdict import ClaimClass, RestrictionStatus, Verdict, VerdictStanding

if TYPE_CHECKING:
    from registry.present.listings import Column
    from registry.registration.claim_search import ClaimQuery, ListedClaim
    from registry.store.registry_view import View

P = ParamSpec("P")
R = TypeVar("R")

_MOST_WORDS = 50
_UNAUDITED = "not_audited"
_STATUSES = [axis.value for axes in (Lifecycle, Dispute, Staleness) for axis in axes if axis is not Lifecycle.RESERVED]


def _choice(name: str, values: Sequence[str], help_text: str) -> "Callable[[Callable[P, R]], Callable[P, R]]":
    return click.option(name, multiple=True, type=click.Choice(list(values)), help=f"{help_text} May be repeated.")


@examples(
    "claim list --verdict contradicted --property-class deception_scheming --csv > contradicted.csv",
    "claim list --log all --columns log,claim,verdict,ed,ed_low,ed_high",
    "claim list --class inverted --text cyber --csv > cyber.csv",
)
@click.command("list")
@_choice("--verdict", [*(verdict.value for verdict in Verdict), _UNAUDITED], "Only claims with this verdict.")
@_choice("--standing", [standing.value for standing in VerdictStanding], "Only claims with a verdict of this standing.")
@_choice("--class", [class_.value for class_ in ClaimClass], "Only claims of this TRACE class.")
@_choice("--property-class", [class_.value for class_ in PropertyClass], "Only claims about properties of this class.")
@click.option("--property", "spec", type=PROPERTY, help="Only claims about this property.")
@click.option("--model", metavar="PATTERN", help="Only claims about DEV/NAME/VERSION, such as 'Lab/*/*'.")
@click.option("--card", type=CARD, help="Only claims of this card, or of this revision of it.")
@_choice("--status", _STATUSES, "Only claims with this status: lifecycle, dispute or staleness.")
@_choice("--restriction", [status.value for status in RestrictionStatus], "Only claims with this restriction status.")
@click.option("--since", metavar="DATE", help="Only claims with a verdict, or else registered, on this day or later.")
@click.option("--until", metavar="DATE", help="Only claims with a verdict, or else registered, on this day or earlier.")
@click.option("--text", metavar="WORDS", help="Only claims with all of these words in quote, note, property, model or identifier.")
@click.option("--limit", type=click.IntRange(1), help="At most this many.")
@logs_option
@pass_app
@list_options
def list_(app: App, /, *, output: ListOutput, limit: int | None, card: Identifier | None, model: str | None, **options: Any) -> None:
    """List claims by verdict, class, model, card or date.

    Filters combine: a claim is listed if it passes all of them. Of the values of one filter, any will do. Columns: log, claim, form, model,
    property, property_class, card, verdict, verdict_standing, class, standing, mode, ed, ed_low, ed_high, ed_spec, date, registered, audit,
    lifecycle, dispute, staleness, restriction, quote.
    """
    from registry.cli.claim_presenter import build_claim_table
    from registry.present.listings import Listing
    from registry.registration.claim_search import describe_alike, search_claims

    query, claims, size = _read_query(card, model, options), [], 0
    alike: dict[tuple[str, str], str | None] = {}
    faults: list[NotFoundError] = []
    # By the clock: an outcome that expired today is shown as expired.
    for log, view in app.views(by_clock=True):
        try:
            _require(view, card, model)
        # Of several logs, one that has the card or the model is enough.
        except NotFoundError as error:
            faults.append(error)
            continue
        passing = search_claims(view, query, log=log)
        claims += passing
        if not app.json:
            words = describe_alike(view, [(claim.summary.claim, claim.summary.quote) for claim in passing])
            alike |= dict(zip(((log, claim.summary.claim) for claim in passing), words, strict=True))
        size += view.log_size
    if faults and not size:
        raise faults[0]
    is_all = app.log == ALL_LOGS
    output.report(
        Listing(
            document={"schema": "caveat/claims-list/1", "log_size": size},
            field="claims",
            rows=claims,
            describe=describe_listed_claim,
            columns=list_claim_list_columns(),
            none="No claim passes these filters." if query.is_narrow else "No claims. Next: caveat claim add FILE",
            present=lambda rows: [
                build_claim_table(
                    [row.summary for row in rows],
                    [row.log for row in rows] if is_all else (),
                    alike=[alike.get((row.log, row.summary.claim)) for row in rows],
                )
            ],
        ),
        limit=limit,
    )


def _read_query(card: Identifier | None, model: str | None, options: dict[str, Any]) -> "ClaimQuery":
    from registry.registration.claim_search import ClaimQuery

    words = (options["text"] or "").split()
    if len(words) > _MOST_WORDS:
        problem = f"{len(words):,} words; at most {_MOST_WORDS} are searched for"
        raise InputError(Fault("not-valid", "--text", problem, advice="search for the rarest of them"))
    since, until = (parse_date(options[name], where=f"--{name}") if options[name] else None for name in ("since", "until"))
    _check_order(since, until)
    return ClaimQuery(
        card=_write_reference(card), phi=_write_reference(options["spec"]), text=" ".join(words), model=model or "",
        property_classes=frozenset(options["property_class"]), verdicts=frozenset(options["verdict"]),
        verdict_standings=frozenset(options["standing"]), classes=frozenset(options["class"]), statuses=frozenset(options["status"]),
        restrictions=frozenset(options["restriction"]), since=since, until=until,
    )  # fmt: skip


def _check_order(since: date | None, until: date | None) -> None:
    # No claim can pass both, and an empty list would look like an answer.
    if since is not None and until is not None and since > until:
        raise InputError(Fault("bad-date", "--since", f"{since} is after {until}, the day of --until"))


def _require(view: "View", card: Identifier | None, model: str | None) -> None:
    """Refuse a card or a model version that is not here: a misspelt one would give an empty list."""
    from registry.registration.card_registration import get_card
    from registry.registration.model_lineage import require_model

    if card is not None:
        get_card(view, card.bare, card.revision)
    if model is not None and not set(model) & set("*?["):
        require_model(view, parse_model(model, where="--model"))


def _write_reference(identifier: Identifier | None) -> str | None:
    """Return what a query narrows by: the identifier, with its revision where one is named."""
    return None if identifier is None else f"{identifier.bare}@{identifier.revision}" if identifier.revision else identifier.bare


def describe_listed_claim(claim: "ListedClaim") -> dict[str, Any]:
    """Return a claim of a list as a document."""
    from registry.codec.canonical_documents import to_document

    reading, listed = claim.reading, to_document(claim)
    return {
        **listed["summary"],
        "log": claim.log,
        "registered": listed["registered"],
        "property_class": listed["property_class"],
        "class": reading.class_.value if reading else None,
        "standing": reading.standing.value if reading and reading.standing else None,
        "mode": reading.mode.value if reading and reading.mode else None,
        "ed": listed["ed"],
        "ed_spec": claim.ed_spec,
    }


def list_claim_list_columns() -> "tuple[Column[ListedClaim], ...]":
    """Return the columns of a list of claims, also for its CSV file on the web."""
    return (*_list_claim_columns(), *_list_outcome_columns(), *_list_status_columns())


def _list_claim_columns() -> "Iterator[Column[ListedClaim]]":
    from registry.present.listings import Column
    from registry.registration.claim_search import write_plain

    yield Column(name="log", read=lambda claim: claim.log)
    yield Column(name="claim", read=lambda claim: f"{claim.summary.claim}@{claim.summary.revision}")
    yield Column(name="form", read=lambda claim: claim.summary.form)
    yield Column(name="model", read=lambda claim: write_plain(claim.summary.model))
    yield Column(name="property", read=lambda claim: claim.summary.property)
    yield Column(name="property_class", read=lambda claim: claim.property_class)
    yield Column(name="card", read=lambda claim: claim.summary.card)


def _list_outcome_columns() -> "Iterator[Column[ListedClaim]]":
    from registry.present.listings import Column
    from registry.records.verdict import find_gravity
    from registry.registration.claim_search import write_verdict
    from registry.report.number_format import format_signed
    from registry.report.supplement_wording import format_verdict

    def show(value: float | None) -> str:
        return "" if value is None else format_signed(value)

    def get_gravest(claim: "ListedClaim") -> Any:
        return claim.summary.status.gravest

    yield Column(
        name="verdict", read=lambda claim: write_verdict(claim.summary),
        show=lambda claim: format_verdict(gravest.verdict, gravest.standing) if (gravest := get_gravest(claim)) else "not audited",
        rank=lambda claim: find_gravity(gravest.verdict, gravest.standing) if (gravest := get_gravest(claim)) else None,
    )  # fmt: skip
    yield Column(name="verdict_standing", read=lambda claim: gravest.standing if (gravest := get_gravest(claim)) else None)
    yield Column(name="class", read=lambda claim: claim.reading.class_ if claim.reading else None)
    yield Column(name="standing", read=lambda claim: claim.reading.standing if claim.reading else None)
    yield Column(name="mode", read=lambda claim: claim.reading.mode if claim.reading else None)
    for name, field in (("ed", "value"), ("ed_low", "low"), ("ed_high", "high")):
        get = partial(_get_part, field)
        yield Column(name=name, is_number=True, read=get, show=lambda claim, get=get: show(get(claim)))  # type: ignore[misc]
    yield Column(name="ed_spec", read=lambda claim: claim.ed_spec)
    yield Column(name="date", read=lambda claim: claim.dated.date(), rank=lambda claim: claim.dated)
    yield Column(name="registered", read=lambda claim: claim.registered)
    yield Column(name="audit", read=lambda claim: gravest.audit if (gravest := get_gravest(claim)) else None)


def _get_part(field: str, claim: "ListedClaim") -> float | None:
    return getattr(claim.ed, field) if claim.ed else None


def _list_status_columns() -> "Iterator[Column[ListedClaim]]":
    from registry.present.listings import Column

    yield Column(name="lifecycle", read=lambda claim: claim.summary.status.lifecycle)
    yield Column(name="dispute", read=lambda claim: claim.summary.status.dispute)
    yield Column(name="staleness", read=lambda claim: claim.summary.status.staleness)
    yield Column(name="restriction", read=lambda claim: claim.summary.status.restriction)
    yield Column(name="quote", read=lambda claim: claim.summary.quote)
