"""What a claim says of how its figure came about, item by item: stated, missing, or not applicable."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from registry.records.claim import ClaimRevision, Form, Reported
from registry.records.dossier import Dossier
from registry.records.model_version import UNSTATED
from registry.records.specification import ContextSpec, ScoringSpec, SpecVersion
from registry.records.verdict import Completeness, CompletenessItem, ItemStatus

# Names of a version that mean another one tomorrow, wherever they stand in it ("m-latest", "latest snapshot").
_MOVING = re.compile(r"\b(?:latest|newest|most recent)\b", re.IGNORECASE)

# The same, where they are the whole of it; as a part they may be a release's own name ("stable 2.1").
_MOVING_ALONE = re.compile(r"(?:current|stable|default|production|prod|live|main|head|nightly|rolling)", re.IGNORECASE)

# Words that tell what kind of version it was, and not which: no one could ask for "a near-final snapshot".
_INDEFINITE = re.compile(
    r"(?:(?:an?|the|our|this|one|near|not|yet|quite|pre|final|finalised|finalized|early|earlier|older|newer|later|late|intermediate|"
    r"initial|previous|prior|training|trained|post|release|released|unreleased|launch|launched|deployed|deployment|public|internal|"
    r"research|candidate|beta|alpha|preview|experimental|helpful|only|base|safeguarded|guarded|raw|model|models|"
    r"version|versions|snapshot|snapshots|checkpoint|checkpoints|build|builds|variant|variants|weights|of|with|without|from|before|"
    r"after|during|its|for|safeguards|mitigations|classifiers)(?:[\s,/()–-]+|$))+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedFacts:
    """What a claim or a proposal states; None, an empty text and words such as "not stated" mean that it does not."""

    form: Form
    theta: float | None
    reported: Reported | None
    evaluation: str | None
    grader: str | None
    elicitation: str | None
    version: str | None
    relative_to: str | None = None
    """What a bound without a number is relative to, in words."""


def check_completeness(stated: StatedFacts) -> tuple[Completeness, ...]:
    """Return all seven items in the order of `CompletenessItem`, each with what is stated, why it is missing, or why it does not apply."""
    return tuple(_CHECKS[item](stated) for item in CompletenessItem)


def build_stated(claim: ClaimRevision, *, scoring: SpecVersion | None = None, test_context: SpecVersion | None = None) -> StatedFacts:
    """Return what *claim* states: in its own words, and by the definitions that it names.

    Args:
        scoring: the scoring function that the claim names; it states who graded. None when it names none, or one that is not known.
        test_context: likewise the specification of P_test; it states how the model was asked.
    """
    return StatedFacts(
        form=claim.form,
        theta=claim.theta,
        reported=claim.reported,
        evaluation=claim.evaluation,
        grader=_join(claim.grader, _describe_scoring(scoring)),
        elicitation=_join(claim.elicitation, _describe_context(test_context)),
        version=claim.model.version,
    )


def check_claim(dossier: Dossier) -> tuple[Completeness, ...]:
    """Return the items of the current revision of a registered claim, with the definitions that it names."""
    claim = dossier.current.payload
    known = {f"{spec.payload.spec}@{spec.payload.version}": spec.payload for spec in dossier.specs}
    for opening in (reveal.payload.opening for reveal in dossier.reveals):
        known[opening.spec] = replace(known[opening.spec], body=opening.body, commitment=None)
    scoring, context = (known.get(reference) if reference else None for reference in (claim.scoring, claim.test_context))
    return check_completeness(build_stated(claim, scoring=scoring, test_context=context))


def count_missing(items: tuple[Completeness, ...]) -> tuple[int, int]:
    """Return how many items are missing, and how many apply."""
    applying = [item for item in items if item.status is not ItemStatus.NOT_APPLICABLE]
    return sum(completeness.status is ItemStatus.MISSING for completeness in applying), len(applying)


def states_version(words: str | None) -> bool:
    """Whether *words* distinguish one version from others: not "unknown", and not a name such as "latest" that means another one tomorrow.

    "A near-final snapshot" does: it is not the model that was released, though it does not say which snapshot.
    """
    version = " ".join((words or "").split())
    return _is_stated(version) and not _is_moving(version)


def states_words(words: str | None) -> bool:
    """Whether *words* say anything: not empty, and not "unknown", "not stated" and the like."""
    return _is_stated(words)


def _join(words: str | None, defined: str | None) -> str | None:
    return "; ".join(name for name in (words if _is_stated(words) else None, defined) if name) or None


def _describe_scoring(version: SpecVersion | None) -> str | None:
    if version is None:
        return None
    name = f"{version.body.name}, {version.body.method.value}" if isinstance(version.body, ScoringSpec) else "sealed"
    return f"scoring function {version.spec}@{version.version} ({name})"


def _describe_context(version: SpecVersion | None) -> str | None:
    if version is None:
        return None
    name = "sealed"
    if isinstance(version.body, ContextSpec):
        count = len(version.body.contexts)
        name = f"{version.body.name}, {count} {'context' if count == 1 else 'contexts'}" if count else f"{version.body.name}, described"
    return f"test context {version.spec}@{version.version} ({name})"


def _is_stated(words: str | None) -> bool:
    return words is not None and not UNSTATED.fullmatch(" ".join(words.split()))


def _is_moving(version: str) -> bool:
    return bool(_MOVING.search(version.replace("_", " ")) or _MOVING_ALONE.fullmatch(version))


def _reported(item: CompletenessItem, note: str) -> Completeness:
    return Completeness(item=item, status=ItemStatus.REPORTED, note=note)


def _missing(item: CompletenessItem, note: str) -> Completeness:
    return Completeness(item=item, status=ItemStatus.MISSING, note=note)


def _not_applicable(item: CompletenessItem, note: str) -> Completeness:
    return Completeness(item=item, status=ItemStatus.NOT_APPLICABLE, note=note)


def _check_words(item: CompletenessItem, words: str | None, missing: str) -> Completeness:
    return _reported(item, " ".join(words.split())) if words is not None and _is_stated(words) else _missing(item, missing)


def _check_evaluation(stated: StatedFacts) -> Completeness:
    return _check_words(CompletenessItem.EVALUATION, stated.evaluation, "the evaluation is not named")


def _check_grader(stated: StatedFacts) -> Completeness:
    return _check_words(CompletenessItem.GRADER, stated.grader, "who or what scored the responses is not stated")


def _check_elicitation(stated: StatedFacts) -> Completeness:
    missing = "how the model was asked (attempts, prompts, tools, safeguards) is not stated"
    return _check_words(CompletenessItem.ELICITATION, stated.elicitation, missing)


def _check_sample_size(stated: StatedFacts) -> Completeness:
    """A bound or a rate was measured on something, also where only the bound is printed; that something was seen needs no number."""
    item, reported = CompletenessItem.SAMPLE_SIZE, stated.reported
    if reported is not None and reported.n is not None and reported.n > 0:
        return _reported(item, f"n = {reported.n:,}")
    if reported is None and stated.form is Form.EXISTENCE:
        return _not_applicable(item, "the claim gives no figure")
    return _missing(item, "the number of tasks or trials behind it is not stated")


def _check_version(stated: StatedFacts) -> Completeness:
    item, words = CompletenessItem.VERSION, " ".join((stated.version or "").split())
    if not _is_stated(words):
        return _missing(item, "the model version is not stated")
    if _is_moving(words):
        return _missing(item, f"“{words}” may mean another version tomorrow")
    if _INDEFINITE.fullmatch(words):
        return _missing(item, f"“{words}” does not say which one")
    return _reported(item, words)


def _check_threshold(stated: StatedFacts) -> Completeness:
    item = CompletenessItem.THRESHOLD
    if stated.form in (Form.EXISTENCE, Form.PREVALENCE):
        return _not_applicable(item, f"the claim is of the form {stated.form.value}, which has no θ")
    if stated.theta is not None:
        return _reported(item, f"θ = {_write(stated.theta)}")
    if stated.relative_to is not None and _is_stated(stated.relative_to):
        return _missing(item, f"θ is given only relative to {stated.relative_to}")
    return _missing(item, "θ is not published")


def _check_uncertainty(stated: StatedFacts) -> Completeness:
    item, reported = CompletenessItem.UNCERTAINTY, stated.reported
    if reported is None:
        return _not_applicable(item, "the claim gives no figure" if stated.theta is None else "the claim gives a bound and no figure")
    if reported.low is None and reported.high is None:
        return _missing(item, "no interval or standard error of the figure is stated")
    if reported.low is not None and reported.high is not None:
        return _reported(item, f"[{_write(reported.low)}, {_write(reported.high)}]")
    return _reported(item, f"at least {_write(reported.low)}" if reported.low is not None else f"at most {_write(reported.high)}")


def _write(value: float | None) -> str:
    return "?" if value is None else f"{value:.12g}".replace("-", "−")


_CHECKS: Mapping[CompletenessItem, Callable[[StatedFacts], Completeness]] = {
    CompletenessItem.EVALUATION: _check_evaluation,
    CompletenessItem.SAMPLE_SIZE: _check_sample_size,
    CompletenessItem.GRADER: _check_grader,
    CompletenessItem.ELICITATION: _check_elicitation,
    CompletenessItem.VERSION: _check_version,
    CompletenessItem.THRESHOLD: _check_threshold,
    CompletenessItem.UNCERTAINTY: _check_uncertainty,
}
