"""`caveat report --since`: the change report, what changed between two entries of the log."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import click

from registry.cli.app import App, parse_as_of
from registry.errors import CaveatError, Fault, InputError
from registry.records.record import Identifier, Kind

if TYPE_CHECKING:
    from registry.publishing import Subject
    from registry.store.view import View

_DAY = len("2026-11-21")
_MOST_NAMED = 3
_CLASHING = {
    "sources": "--from draws a report again without a registry; --since makes one of a registry.",
    "seals": "--confidential shows sealed specifications, of which a change report shows none.",
    "stale": "--stale makes its change report itself, since the folder was last gone through; --since makes one alone.",
    "publish": "--publish records that supplements of claims and cards were given out; a change report is about neither. Sign it: --sign.",
}


def refuse_with_since(options: Mapping[str, Any]) -> str | None:
    """Return what `--since` says, None without it; raises UsageError beside an option that does not go with it."""
    since: str | None = options["since"]
    for name, why in _CLASHING.items():
        if since is not None and options.get(name):
            raise click.UsageError(why)
    return since


@contextmanager
def compare(app: App, since: str, subjects: Sequence[Identifier]) -> "Iterator[tuple[Iterable[Subject], int, list[CaveatError]]]":
    """Give the change report from *since* to `--as-of` (now), of *subjects* alone if there are any, as `caveat report` draws it."""
    from registry.changes import collect_changes
    from registry.publishing import name_subject

    with app.ledger.view(parse_since(since), log=app.log) as before, app.view() as after:
        if before.log_size == after.log_size:
            app.say(f"warning: --since {since}: nothing was recorded since; the last entry that is read is {after.log_size}")
        claims = _expand(after, subjects) if subjects else None
        report = collect_changes(before, after, claims=claims, scope=_describe(subjects))
        yield [name_subject(report)], 1, []


def parse_since(text: str) -> int | datetime:
    """Return the entry or time that *text* says a report begins after: for a date, what was there when that day began, in UTC.

    Raises:
        InputError: it is neither.
    """
    moment = parse_as_of(text, where="--since")
    if isinstance(moment, datetime) and len(text) <= _DAY:
        return datetime.combine(moment.date(), time.min, tzinfo=UTC) - timedelta(seconds=1)
    return moment or 0


def _expand(view: "View", subjects: Sequence[Identifier]) -> list[str]:
    """Return the claims named and those of the cards named, each once."""
    from registry.publishing import list_claims_of

    claims: dict[str, None] = {}
    for subject in subjects:
        if subject.kind is Kind.CLAIM:
            claims[subject.bare] = None
        elif subject.kind is Kind.CARD:
            claims |= dict.fromkeys(list_claims_of(view, subject))
        else:
            found = (
                f"names a {subject.kind.name.lower()}; what changed is told of claims (CLM-…), and of cards (CRD-…) with all their claims"
            )
            raise InputError(Fault(code="bad-identifier", where=str(subject), found=found))
    if not claims:
        found = "no claim of it is registered, so there is nothing to compare"
        raise InputError(Fault(code="nothing-asked", where=", ".join(map(str, subjects)), found=found, advice="caveat claim list"))
    return list(claims)


def _describe(subjects: Sequence[Identifier]) -> str | None:
    """Return what a report is limited to, in words; None for nothing."""
    if not subjects:
        return None
    named = [f"the claims of {one.bare}" if one.kind is Kind.CARD else one.bare for one in subjects]
    left = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    return ", ".join(named[:_MOST_NAMED]) + left
