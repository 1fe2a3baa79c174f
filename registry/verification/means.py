"""What files are verified with: keys, a registry, the name of a log."""

from collections.abc import Iterator
from dataclasses import dataclass

from registry.registration.cosignatures import list_witness_keys
from registry.registration.keys import list_keys
from registry.seal.keys import fingerprint_of_vkey
from registry.store.ledger import Ledger
from registry.verification.trust import KnownKey, Trust, collect_keys, join


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What files are verified with; nothing is believed that is not here."""

    trust: Trust = Trust()
    """The keys that are known here: those that the user gives, and those of `ledger`."""
    given: Trust = Trust()
    """Those of them that the user gives."""
    ledger: Ledger | None = None
    """A registry to compare with; None to do without."""
    origin: str | None = None
    """The log that checkpoints must be of; None takes what each file names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a log is kept in a registry."""

    log: str | None
    """As `Ledger.view` takes it: None for the registry's own."""


def collect_means(ledger: Ledger | None, given: Trust, *, origin: str | None) -> Means:
    """Return *given* with all keys that the registry knows: its own, those of logs that it took over after verifying them, witnesses.

    Raises:
        ConflictError: `key-differs`, `log-key-differs`: the registry's keys were changed by hand.
    """
    known = Trust() if ledger is None else join(*_collect(ledger))
    return Means(trust=join(given, known), given=given, ledger=ledger, origin=origin)


def find_log(ledger: Ledger, origin: str) -> Place | None:
    """Return where the log *origin* is kept in the registry; None where it is not."""
    found = next((one for one in ledger.list_logs() if one.origin == origin), None)
    return None if found is None else Place(log=None if found.is_own else origin)


def _collect(ledger: Ledger) -> Iterator[Trust]:
    with ledger.view() as view:
        yield collect_keys(list_keys(view), source="the registry here")
        witnesses = list_witness_keys(view)
    for one in ledger.list_logs()[1:]:
        with ledger.view(log=one.origin) as view:
            yield collect_keys(list_keys(view), source=f"the log {one.origin}, which the registry here took over,")
    source = "recorded by the registry here as another registry's"
    yield Trust(keys=tuple(KnownKey(fingerprint=fingerprint_of_vkey(str(key)), source=source, vkey=key) for key in witnesses))
