"""Every model version and every authority that a log names, with their claims and audits."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from registry.records.dossier import Recorded
from registry.records.model_version import ModelRef, ModelVersion
from registry.records.record import Authority, parse_identifier
from registry.records.verdict import Verdict, find_gravity
from registry.registration.claim_search import UNAUDITED, write_verdict
from registry.registration.key_registration import KeyState, list_keys
from registry.registration.model_lineage import ENDED
from registry.store.registry_view import View
from registry.store.version_lineage import Lineage


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedVersion:
    """A model version of a list."""

    log: str
    """The short name of its log."""
    model: ModelRef
    registered: ModelVersion | None
    """None for one that only claims name."""
    lineage: Lineage
    """Of all versions of the log."""
    notes: Mapping[int, str]
    """The reasons of links and deprecations, by entry."""
    claims: int
    """That are neither withdrawn, rejected nor superseded; the next two count among them."""
    audited: int
    outcomes: Mapping[Verdict, int]
    """How many claims have each verdict, the gravest first."""


CountClaims = Callable[[ModelRef], Mapping[str, int]]
"""Gives how many claims about a model version have each verdict, `UNAUDITED` for none, without claims at their end."""


def list_versions(view: View, *, log: str, count_claims: CountClaims | None = None) -> list[ListedVersion]:
    """Return the registered versions in log order, then those that only claims name, in the order of their first claims.

    Args:
        log: the short name of the log.
        count_claims: counts the claims of one version; None: all claims are read.
    """
    registered = {version.payload.model: version.payload for version in view.list_models()}
    count = count_claims or _count_listed(view)
    lineage = view.lineage()
    notes = {event.entry.seq: event.payload.reason for event in view.list_model_events() if event.payload.reason}
    versions = []
    for model in dict.fromkeys([*registered, *view.list_claimed_models()]):
        counts = count(model)
        versions.append(
            ListedVersion(
                log=log,
                model=model,
                registered=registered.get(model),
                lineage=lineage,
                notes=notes,
                claims=sum(counts.values()),
                audited=sum(counts.values()) - counts.get(UNAUDITED, 0),
                outcomes={verdict: number for verdict in _BY_GRAVITY if (number := counts.get(verdict.value))},
            )
        )
    return versions


_BY_GRAVITY = sorted(Verdict, key=lambda verdict: find_gravity(verdict, None))


def _count_listed(view: View) -> CountClaims:
    counts: dict[ModelRef, Counter[str]] = defaultdict(Counter)
    for summary in view.list_claims():
        # A claim at its end says nothing about the version any more.
        if summary.status.lifecycle not in ENDED:
            counts[summary.model][write_verdict(summary)] += 1
    return lambda model: counts.get(model, {})


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAuthority:
    """An authority of a list."""

    log: str
    """The short name of its log."""
    authority: Recorded[Authority]
    keys: tuple[KeyState, ...]
    """Its keys in force."""
    claims: int
    """That it registered and that are neither withdrawn, rejected nor superseded."""
    audits: int
    """That it registered; the next one counts among them."""
    concluded: int
    """With at least one outcome."""


def list_authorities(view: View, *, log: str) -> list[ListedAuthority]:
    """Return the authorities of a log in log order.

    Args:
        log: the short name of the log.
    """
    keys = [state for state in list_keys(view) if state.in_force]
    current = (summary.claim for summary in view.list_claims() if summary.status.lifecycle not in ENDED)
    claims = Counter(parse_identifier(claim).authority for claim in current)
    audits = view.list_audits()
    registered = Counter(file.audit.payload.auditor for file in audits)
    concluded = Counter(file.audit.payload.auditor for file in audits if file.restrictions)
    return [
        ListedAuthority(
            log=log,
            authority=recorded,
            keys=tuple(state for state in keys if state.added.entry.actor == recorded.payload.code),
            claims=claims[recorded.payload.code],
            audits=registered[recorded.payload.code],
            concluded=concluded[recorded.payload.code],
        )
        for recorded in view.list_authorities()
    ]
