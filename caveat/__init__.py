"""The public Python API of Caveat: read a registry, estimate, classify, render and verify.

Every name in `__all__` is documented in docs/python.md and stays as it is within a major version. Names elsewhere in `registry` and `audit`
may change with any release.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# This is the one package whose `__init__.py` re-exports: it is the public surface. Each name is loaded at its first use, so that
# `import caveat` takes milliseconds and `caveat.verify` never loads NumPy.

if TYPE_CHECKING:
    from audit.protocol.case_outcome import CaseOutcome as CaseOutcome
    from audit.statistics.responses import ScoreTable as ScoreTable
    from caveat.file_checks import Verification as Verification
    from caveat.file_checks import verify as verify
    from caveat.registry_reading import ClaimOutcome as ClaimOutcome
    from caveat.registry_reading import Registry as Registry
    from caveat.registry_reading import open_registry as open_registry
    from caveat.score_analysis import classify as classify
    from caveat.score_analysis import estimate as estimate
    from caveat.score_analysis import from_dataframe as from_dataframe
    from caveat.score_analysis import read_scores as read_scores
    from caveat.score_analysis import to_dict as to_dict
    from registry.errors import AlteredError as AlteredError
    from registry.errors import CaveatError as CaveatError
    from registry.errors import ConflictError as ConflictError
    from registry.errors import Fault as Fault
    from registry.errors import InputError as InputError
    from registry.errors import NotFoundError as NotFoundError
    from registry.errors import UnavailableError as UnavailableError
    from registry.records.claim import ClaimRevision as ClaimRevision
    from registry.records.claim_status import Status as Status
    from registry.records.dossier import AuditFile as AuditFile
    from registry.records.estimates import Estimate as Estimate
    from registry.records.model_version import ModelVersion as ModelVersion
    from registry.records.system_card import Card as Card
    from registry.store.claim_listing import ClaimSummary as ClaimSummary

    __version__: str

_PLACES = {
    "AlteredError": "registry.errors",
    "AuditFile": "registry.records.dossier",
    "Card": "registry.records.system_card",
    "CaseOutcome": "audit.protocol.case_outcome",
    "CaveatError": "registry.errors",
    "ClaimOutcome": "caveat.registry_reading",
    "ClaimRevision": "registry.records.claim",
    "ClaimSummary": "registry.store.claim_listing",
    "ConflictError": "registry.errors",
    "Estimate": "registry.records.estimates",
    "Fault": "registry.errors",
    "InputError": "registry.errors",
    "ModelVersion": "registry.records.model_version",
    "NotFoundError": "registry.errors",
    "Registry": "caveat.registry_reading",
    "ScoreTable": "audit.statistics.responses",
    "Status": "registry.records.claim_status",
    "UnavailableError": "registry.errors",
    "Verification": "caveat.file_checks",
    "classify": "caveat.score_analysis",
    "estimate": "caveat.score_analysis",
    "from_dataframe": "caveat.score_analysis",
    "open_registry": "caveat.registry_reading",
    "read_scores": "caveat.score_analysis",
    "to_dict": "caveat.score_analysis",
    "verify": "caveat.file_checks",
}

__all__ = [  # noqa: PLE0604  (a test compares it with the names of `_PLACES` and with docs/python.md)
    "__version__",
    *_PLACES,
]


def __getattr__(name: str) -> Any:
    """Load a public name at its first use (PEP 562)."""
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  (10 ms that most programs need not pay)

        try:
            return version("caveat")
        except PackageNotFoundError:
            return version("caveat-verify")
    if name not in _PLACES:
        raise AttributeError(f"module 'caveat' has no attribute {name!r}; its names are in docs/python.md")
    value = getattr(import_module(_PLACES[name]), name)
    # The next use finds it without a call.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
