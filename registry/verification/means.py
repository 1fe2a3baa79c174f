"""What files are verified with: keys, a registry, the name of a log."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.errors import CaveatError
from registry.seal.keys import fingerprint_of_vkey
from registry.verification.trust import KnownKey, Trust, collect_keys, join

if TYPE_CHECKING:
    from registry.store.ledger import Ledger
    from registry.store.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What files are verified with; nothing is believed that is not here."""

    trust: Trust = Trust()
    """The keys that are known here: those that the user gives, and those of `ledger`."""
    given: Trust = Trust()
    """Those of them that the user gives."""
    ledger: "Ledger | None" = None
    """A registry to compare with; None to do without."""
    origin: str | None = None
    """The log that checkpoints must be of; None takes what each file names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a log is kept in a registry."""

    log: str | None
    """As `Ledger.view` takes it: None for the registry's own."""


def collect_means(ledger: "Ledger | None", given: Trust, *, origin: str | None) -> Means:
    """Return *given* with all that the registry knows of keys: its own, those of logs that it took over after verifying them, witnesses.

    Which logs are known to have signed two histories comes with them, and whose keys were changed by hand, of which none is taken.
    """
    known = Trust() if ledger is None else join(*_collect(ledger))
    return Means(trust=join(given, known), given=given, ledger=ledger, origin=origin)


def find_log(ledger: "Ledger", origin: str) -> Place | None:
    """Return where the log *origin* is kept in the registry; None where it is not."""
    found = next((one for one in ledger.list_logs() if one.origin == origin), None)
    return None if found is None else Place(log=None if found.is_own else origin)


def list_forks(view: "View") -> dict[str, str]:
    """Return the logs that the registry has evidence against: that they signed two histories."""
    from registry.store.seen import list_equivocations  # noqa: PLC0415

    told = "it signed two histories, of which the registry here keeps the evidence in entry"
    return {one.payload.origin: f"{told} {one.entry.seq}: {one.payload.finding}" for one in list_equivocations(view)}


def _collect(ledger: "Ledger") -> Iterator[Trust]:
    from registry.registration.key_registration import list_witness_keys  # noqa: PLC0415  (SQLAlchemy: what files show needs no registry)

    with ledger.view() as view:
        yield _collect_keys(view, source="the registry here")
        witnesses, forks = list_witness_keys(view), list_forks(view)
    for one in ledger.list_logs()[1:]:
        with ledger.view(log=one.origin) as view:
            yield _collect_keys(view, source=f"the log {one.origin}, which the registry here took over,")
    source = "recorded by the registry here as another registry's"
    keys = (KnownKey(fingerprint=fingerprint_of_vkey(str(key)), source=source, vkey=key) for key in witnesses)
    yield Trust(keys=tuple(keys), forks=forks)


def _collect_keys(view: "View", *, source: str) -> Trust:
    from registry.registration.key_registration import list_keys  # noqa: PLC0415

    try:
        return collect_keys(list_keys(view), source=source)
    except CaveatError as error:
        fault = error.faults[0]
        return Trust(contradicted={view.log_origin: f"{fault.where}: {fault.found}"})
