"""What files are verified with: keys, a registry, the name of a log."""

from dataclasses import dataclass

from registry.store.ledger import Ledger
from registry.verification.trust import Trust


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
