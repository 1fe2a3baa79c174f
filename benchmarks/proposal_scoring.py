"""How proposals are compared with hand-coded claims, and what is counted.

A proposal meets a claim when their spans share at least half of the shorter one. Each of its fields is then compared with the coder's; of
several claims on the same words the best one counts. Of a property its class and direction are compared, not its name.

Proposals are judged only in the coded windows, where every claim is coded.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum

from audit.verdict.verdict_conditions import wilson
from benchmarks.proposal_gold import CodedFigure, GoldCard, GoldClaim
from registry.records.claim import Form
from registry.records.claim_draft import Confidence, Proposal

OVERLAP = 0.5
TOPS = (20, 40)
_BOUNDS = (Form.THRESHOLD, Form.UPPER_BOUND, Form.LOWER_BOUND)
_QUALIFIER = re.compile(
    r"\([^)]*\)|\bwith\b.*|\b(?:early|near-final|final|helpful-only|steered|amplified|snapshots?|checkpoint|of|the|an?)\b"
)
"""Words of a subject that name a state of the model or its setting, and no other model."""
_ALL_MODELS = re.compile(r"\b(?:all|current)\b.*\bmodels\b")
_MAGNITUDES = {"million": 1e6, "billion": 1e9, "trillion": 1e12}
_SHARES = ("%", "score", "percentage points", "recall", "pass@", "AECI")
"""Units whose figures a property may hold as a share or, with a range to 100, as points."""


class Judgement(StrEnum):
    """What a proposal in a coded window is."""

    RIGHT = "right"
    PARTLY = "a claim, but model, property or direction differ"
    FOREIGN = "another model's figure"
    WRONG = "a wrong figure"
    UNREAD = "a claim, but its model or figure is not read"
    OTHER_MODEL = "about another model"
    NO_CLAIM = "no claim"
    NO_CLAIM_FIGURE = "a figure that is no claim"


FALSE = (Judgement.FOREIGN, Judgement.WRONG)
"""False attributions: a figure that the proposal gives as that of the card's own model, and is not."""


@dataclass(frozen=True, slots=True)
class FieldMatch:
    """Which fields of a proposal are those of a coded claim."""

    model: bool
    figure: bool
    class_: bool
    direction: bool
    """Also where the proposal leaves it open."""

    @property
    def count(self) -> int:
        """How many are right, the model and the figure first."""
        return 4 * self.model + 4 * self.figure + self.class_ + self.direction

    @property
    def is_all(self) -> bool:
        """Whether all are right."""
        return self.model and self.figure and self.class_ and self.direction


@dataclass(slots=True)
class Tally:
    """What is counted for one or more cards."""

    pages: float = 0
    proposals: int = 0
    figures: int = 0
    """Coded claims with figures."""
    figures_met: int = 0
    figures_right: int = 0
    """Of the met: form, θ and value as coded."""
    worded: int = 0
    """Coded claims in words."""
    worded_met: int = 0
    directions_right: int = 0
    """Of all met claims."""
    directions_open: int = 0
    judgements: dict[Judgement, int] = field(default_factory=dict)
    """Of the proposals in coded windows."""
    confidences: dict[Confidence, dict[Judgement, int]] = field(default_factory=dict)
    """The same by confidence."""
    top: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Of the first so many proposals in coded windows: how many are fully right, and how many there are."""
    missing: int = 0
    """Coded claims whose words are not in the text."""

    @property
    def judged(self) -> int:
        """Proposals in coded windows."""
        return sum(self.judgements.values())

    def add(self, other: "Tally") -> None:
        """Count what *other* counted too; the first so many of each card are added."""
        for name in (each.name for each in fields(self)):
            mine, theirs = getattr(self, name), getattr(other, name)
            if not isinstance(mine, dict):
                setattr(self, name, mine + theirs)
        _add_counts(self.judgements, other.judgements)
        for level, counts in other.confidences.items():
            _add_counts(self.confidences.setdefault(level, {}), counts)
        for count, (right, among) in other.top.items():
            known = self.top.get(count, (0, 0))
            self.top[count] = (known[0] + right, known[1] + among)


def _add_counts(counts: dict[Judgement, int], more: dict[Judgement, int]) -> None:
    for judgement, number in more.items():
        counts[judgement] = counts.get(judgement, 0) + number


def share_of_shorter(start: int, stop: int, other_start: int, other_stop: int) -> float:
    """Return how much of the shorter of two spans both have, between 0 and 1."""
    return max(0, min(stop, other_stop) - max(start, other_start)) / min(stop - start, other_stop - other_start)


def meets(proposal: Proposal, claim: GoldClaim) -> bool:
    """Return whether a proposal quotes the words of a coded claim."""
    return share_of_shorter(proposal.anchor.start, proposal.anchor.stop, claim.start, claim.stop) >= OVERLAP


def fold_model(name: str) -> str:
    """Return a model's name without spelling, snapshot and setting."""
    return re.sub(r"[^a-z0-9]", "", _QUALIFIER.sub(" ", name.lower()))


def list_own_models(card: GoldCard) -> frozenset[str]:
    """Return the names of the models that the card's coded claims are about."""
    return frozenset(fold_model(name) for claim in card.own for name in claim.models)


def is_same_figure(coded: CodedFigure, given: float, proposal: Proposal) -> bool:
    """Return whether *given* is the coded figure on the scale of the proposal's property."""
    unit, top = coded.unit, proposal.property.range[1]
    if unit.startswith("of ") and unit[3:].isdigit():
        share = coded.value / float(unit[3:])
        return any(_is_close(given, value) for value in (share, share * 100, coded.value) if value <= top)
    if unit.startswith(_SHARES) and top in (1, 100):
        # A score such as 8.94 may be one of ten, so its own value is allowed on every scale that holds it.
        scales = (0.01, 1.0) if top == 1 else (1.0, 100.0)
        if unit.startswith("%"):
            scales = (0.01,) if top == 1 else (1.0,)
        return any(_is_close(given, coded.value * scale) for scale in scales)
    scale = next((size for name, size in _MAGNITUDES.items() if unit.startswith(name)), 1.0)
    if unit.startswith("%"):
        return _is_close(given, coded.value) or _is_close(given, coded.value / 100)
    return _is_close(given, coded.value) or _is_close(given, coded.value * scale)


def _is_close(given: float, expected: float) -> bool:
    return abs(given - expected) <= 1e-6 * max(1.0, abs(expected))


def read_given(proposal: Proposal) -> float | None:
    """Return the figure that a proposal gives for its model: the reported one, or its bound."""
    if proposal.reported is not None:
        return proposal.reported.value
    return proposal.theta


def list_given(proposal: Proposal) -> list[float]:
    """Return what a coded figure may be compared with: the figure and, of a range, its lower end."""
    given = read_given(proposal)
    low = proposal.reported.low if proposal.reported is not None else None
    return [value for value in (given, low) if value is not None]


def is_figure_right(claim: GoldClaim, proposal: Proposal) -> bool:
    """Return whether the proposal gives the claim's figure, and none where the claim has none."""
    coded = claim.reported or (None if claim.theta is None or claim.theta.is_relative else claim.theta)
    given = list_given(proposal)
    if coded is None:
        # Of a bound relative to something, the factor may be kept in words only.
        return not given or (claim.theta is not None and any(is_same_figure(claim.theta, value, proposal) for value in given))
    if not given:
        # "No cases were seen" is coded as zero; in words it is right too.
        return coded.value == 0 and not claim.is_quantitative
    values = given if claim.is_range else given[:1]
    return any(is_same_figure(coded, value, proposal) for value in values)


def is_reading_right(claim: GoldClaim, proposal: Proposal) -> bool:
    """Return whether form, θ and figure are the coder's."""
    if proposal.form != claim.form or not is_figure_right(claim, proposal):
        return False
    if proposal.form not in _BOUNDS:
        return True
    if claim.theta is None:
        return proposal.theta is None
    if proposal.theta is None:
        return claim.theta.is_relative
    return is_same_figure(claim.theta, proposal.theta, proposal)


def is_direction_open(proposal: Proposal) -> bool:
    """Return whether a proposal leaves open which direction is safer."""
    return "direction" in proposal.unknown or str(proposal.property.direction) not in ("higher_is_safer", "lower_is_safer", "not_safety")


def compare_fields(claim: GoldClaim, proposal: Proposal, own: frozenset[str]) -> FieldMatch:
    """Return which fields of *proposal* are those of *claim*."""
    given = fold_model(proposal.model or "")
    names = {fold_model(name) for name in claim.models}
    is_general = any(_ALL_MODELS.search(name.lower()) for name in claim.models)
    return FieldMatch(
        model=bool(given) and (given in names or (is_general and given in own)),
        figure=is_figure_right(claim, proposal),
        class_=str(proposal.property.class_) in claim.classes,
        direction=is_direction_open(proposal) or str(proposal.property.direction) in claim.directions,
    )


def judge_proposal(proposal: Proposal, card: GoldCard) -> Judgement:
    """Return what a proposal in a coded window is."""
    own, model = list_own_models(card), fold_model(proposal.model or "")
    met = [claim for claim in card.own if meets(proposal, claim)]
    matches = [compare_fields(claim, proposal, own) for claim in met]
    if any(match.is_all for match in matches):
        return Judgement.RIGHT
    if model and model not in own:
        return Judgement.OTHER_MODEL
    if any(match.figure and match.model for match in matches):
        return Judgement.PARTLY
    given = read_given(proposal)
    if given is not None and model:
        return _judge_figure(proposal, given, card, is_of_another=any(match.figure for match in matches))
    if met:
        return Judgement.UNREAD
    return Judgement.NO_CLAIM if given is None else Judgement.NO_CLAIM_FIGURE


def _judge_figure(proposal: Proposal, given: float, card: GoldCard, *, is_of_another: bool) -> Judgement:
    """Return what a figure is that the card does not give for the own model that the proposal names."""
    met = [claim for claim in card.claims if meets(proposal, claim)]
    others = [figure for claim in met for figure in claim.comparisons] + [claim.reported for claim in met if claim.is_foreign]
    if is_of_another or any(figure is not None and is_same_figure(figure, given, proposal) for figure in others):
        return Judgement.FOREIGN
    return Judgement.WRONG if met else Judgement.NO_CLAIM_FIGURE


def find_best(claim: GoldClaim, proposals: Iterable[Proposal], own: frozenset[str]) -> Proposal | None:
    """Return the proposal on the words of *claim* that agrees best with it; None without one."""
    return max(
        (proposal for proposal in proposals if meets(proposal, claim)),
        key=lambda proposal: (is_reading_right(claim, proposal), compare_fields(claim, proposal, own).count, proposal.form == claim.form),
        default=None,
    )


def is_in_windows(proposal: Proposal, card: GoldCard) -> bool:
    """Return whether a proposal begins in a coded window."""
    return any(start <= proposal.anchor.start < stop for start, stop in card.windows)


def score_proposals(card: GoldCard, proposals: Sequence[Proposal], ranking: Sequence[int], pages: float) -> Tally:
    """Count how the proposals of one card compare with its coded claims."""
    own = list_own_models(card)
    tally = Tally(pages=pages, proposals=len(proposals), missing=len(card.missing))
    for claim in card.own:
        if not claim.is_arguable:
            _count_claim(tally, claim, find_best(claim, proposals, own))
    judged = {index: judge_proposal(proposal, card) for index, proposal in enumerate(proposals) if is_in_windows(proposal, card)}
    for index, judgement in judged.items():
        tally.judgements[judgement] = tally.judgements.get(judgement, 0) + 1
        by_level = tally.confidences.setdefault(proposals[index].confidence, {})
        by_level[judgement] = by_level.get(judgement, 0) + 1
    first = [judged[index] for index in ranking if index in judged]
    if card.windows:
        tally.top = {count: (first[:count].count(Judgement.RIGHT), len(first[:count])) for count in TOPS}
    return tally


def _count_claim(tally: Tally, claim: GoldClaim, best: Proposal | None) -> None:
    if claim.is_quantitative:
        tally.figures += 1
        tally.figures_met += best is not None
        tally.figures_right += best is not None and is_reading_right(claim, best)
    else:
        tally.worded += 1
        tally.worded_met += best is not None
    if best is not None:
        tally.directions_open += is_direction_open(best)
        tally.directions_right += not is_direction_open(best) and str(best.property.direction) in claim.directions


@dataclass(frozen=True, slots=True)
class LevelRow:
    """How far a level of confidence can be relied on."""

    level: Confidence
    judged: int
    right: int
    false: int
    """Those that give another model's or a wrong figure as the card's own."""
    low: float
    """Wilson's interval of the share that is right, 95 %."""
    high: float


def list_levels(tally: Tally) -> list[LevelRow]:
    """Return one row for each level of confidence that is used, the highest first."""
    rows = []
    for level in (Confidence.HIGH, Confidence.MEDIUM, Confidence.LOW):
        counts = tally.confidences.get(level, {})
        if judged := sum(counts.values()):
            right = counts.get(Judgement.RIGHT, 0)
            low, high = wilson(right / judged, judged, level=0.95)
            rows.append(LevelRow(level, judged, right, sum(counts.get(kind, 0) for kind in FALSE), low, high))
    return rows
