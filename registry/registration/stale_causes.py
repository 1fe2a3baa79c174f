"""Causes for claims to be stale, each once, with the claims that it touches and the commands that resolve it for all of them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from registry.records.claim_status import CauseKind, StaleCause
from registry.records.model_version import ModelRef
from registry.registration.model_lineage import ENDED, write_model
from registry.registration.stale_claims import REMEDIES, Remedy, RemedyStep
from registry.store.claim_listing import ClaimSummary
from registry.store.registry_view import View

_CLAIM = re.compile(r"CLM-[A-Z][A-Z0-9]*-\d{4}-\d{4,}-[0-9A-Z]")
_SEVERAL = ("caveat stale apply ", "caveat stale dismiss ", "caveat stale confirm ", "caveat stale renew ")
"""Commands that take several claims."""

Steps = Sequence[tuple[ClaimSummary, tuple[RemedyStep, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseGroup:
    """One change, and the claims that it may have overtaken."""

    kind: CauseKind
    what: str
    """What came after, as `StaleCause.what`."""
    text: str
    """The reason in a sentence without full stop."""
    entry: int
    remedy: Remedy
    claims: tuple[ClaimSummary, ...]
    """Those that matter most first."""
    commands: tuple[str, ...]
    """What resolves it for all of them, each as it is typed; where a claim has a choice, each possibility."""


def group_causes(view: View, steps: Steps) -> list[CauseGroup]:
    """Return the causes in *steps*, the one that touches most claims first."""
    groups: dict[tuple[CauseKind, str], list[tuple[ClaimSummary, RemedyStep]]] = {}
    for claim, claim_steps in steps:
        for step in claim_steps:
            groups.setdefault((step.cause.kind, step.cause.what), []).append((claim, step))
    counts: dict[ModelRef, int] = {}
    built = [_build(view, kind, touched, counts) for (kind, _), touched in groups.items()]
    return sorted(built, key=lambda group: -len(group.claims))


def _build(view: View, kind: CauseKind, touched: Sequence[tuple[ClaimSummary, RemedyStep]], counts: dict[ModelRef, int]) -> CauseGroup:
    cause: StaleCause = touched[0][1].cause
    claims = tuple(claim for claim, _ in touched)
    commands = tuple(_merge((command, claim.claim) for claim, step in touched for command in step.commands))
    model = _find_model(claims)
    # The version names them all in one short command, where none of its claims would be applied that is not stale.
    if kind is CauseKind.SUCCESSOR and model is not None and len(claims) > 1 and _count(view, model, counts) == len(claims):
        commands = tuple(_CLAIM.sub("CLM", command) for command in commands)
        commands = tuple(re.sub(r"apply (?:CLM ?)+", f"apply --all-from {write_model(model)} ", command) for command in commands)
    return CauseGroup(
        kind=kind, what=cause.what, text=cause.text, entry=cause.entry, remedy=REMEDIES[kind], claims=claims, commands=commands
    )


def _merge(commands: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the commands of several claims, one for all of them where it takes several claims."""
    named: dict[str, list[str]] = {}
    for command, claim in commands:
        is_shared = command.startswith(_SEVERAL)
        template = command.replace(claim, "{}") if is_shared else command
        named.setdefault(template, []).append(claim)
    for template, claims in named.items():
        yield template.replace("{}", " ".join(dict.fromkeys(claims)))


def _find_model(claims: Sequence[ClaimSummary]) -> ModelRef | None:
    """Return the version that all of *claims* are about; None where they are about several."""
    models: Mapping[ModelRef, None] = dict.fromkeys(claim.model for claim in claims)
    return next(iter(models)) if len(models) == 1 else None


def _count(view: View, model: ModelRef, counts: dict[ModelRef, int]) -> int:
    """Return how many claims are about *model* and not at their end."""
    if model not in counts:
        counts[model] = sum(claim.status.lifecycle not in ENDED for claim in view.list_claims(model=model))
    return counts[model]
