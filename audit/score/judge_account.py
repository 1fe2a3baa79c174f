"""What a judging of a run came to, by arm, and how provenance says who judged."""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from audit.replay.store import RunStore
from audit.score.judge_plan import REASON
from audit.score.judge_prompt import PROMPT, digest_rubric
from audit.score.scorers import digest_scorer
from audit.statistics.repeats import Noise, Responses, measure_noise
from registry.records.score import Score
from registry.records.scorer import JudgeScorer

_COUNTED = ("structured", "attempt", "judge_saw_all", "mentions_scoring")
"""What of a score's detail is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedArm:
    """Responses of one arm, counted once each by their first judging."""

    arm: str
    responses: int
    """Places in the design, also those without an answer."""
    judged: int
    """With a verdict."""
    excluded: dict[str, int] = field(default_factory=dict)
    """Judged without a verdict, by reason."""
    cut: int = 0
    """Of which the judge did not see all."""
    mentions_scoring: int = 0
    """That speak to whoever rates them, or hold a verdict; found by plain forms, not by reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingAccount:
    """What one judge made of one run so far."""

    scorer: str
    """SHA-256 of the scorer."""
    rubric: str
    """SHA-256 of what the judge is told to do."""
    model_requested: str
    models_returned: tuple[str, ...]
    arms: tuple[JudgedArm, ...]
    drawn: int
    """Responses that were judged more than once."""
    structured: int
    """Judgings that were asked for with a schema; an endpoint may take it and not heed it."""
    plain: int
    """Judgings for which words alone asked for the form."""
    retried: int
    """Judgings that are not the first attempt."""
    noise: Noise | None
    """Spread of the verdicts on the same response, as shares of the range; None when none has two verdicts."""


class _Row(NamedTuple):
    """What counts of one score; a run has many of them."""

    response: str
    repeat: int
    score: float | None
    reason: str | None
    marks: frozenset[str]


def account_judging(store: RunStore, scorer: JudgeScorer) -> JudgingAccount:
    """Return what the scores of *scorer* in *store* come to."""
    answered: set[str] = set()
    rows = [_read(one, answered) for one in store.list_scores(digest_scorer(scorer))]
    first = {one.response: one for one in rows if one.repeat == 0}
    by_arm: dict[str, list[_Row | None]] = defaultdict(list)
    for cell, key in store.list_cells():
        by_arm[cell.arm].append(first.get(key))
    structured = sum("structured" in one.marks for one in rows)
    return JudgingAccount(
        scorer=digest_scorer(scorer),
        rubric=digest_rubric(scorer),
        model_requested=scorer.model,
        models_returned=tuple(sorted(answered)),
        arms=tuple(_count(arm, found) for arm, found in sorted(by_arm.items())),
        drawn=len({one.response for one in rows if one.repeat}),
        structured=structured,
        plain=len(rows) - structured,
        retried=sum("attempt" in one.marks for one in rows),
        noise=_measure(rows, scorer),
    )


def describe_judge(scorer: JudgeScorer, account: JudgingAccount) -> str:
    """Return who judged by what, as `Provenance.judge` says it: model as returned, rubric, dimensions, and what was shown."""
    returned = ", ".join(account.models_returned)
    name = returned if returned in ("", scorer.model) else f"{returned} (asked for as {scorer.model})"
    dimensions = ", ".join(f"{one.name} ({one.low} to {one.high})" for one in scorer.dimensions)
    parts = [
        f"judge {name or scorer.model}",
        f"rubric sha256:{account.rubric} ({PROMPT})",
        f"dimensions {dimensions}; score: {scorer.score}",
        f"context hidden, {_tell_shown(scorer, account)}",
    ]
    if scorer.show_answer:
        parts.append("the right answer shown")
    if scorer.allow_same_model:
        parts.append("the judge may be the model that it judges")
    return "; ".join(parts)


def describe_repeats(account: JudgingAccount) -> str | None:
    """Return how far verdicts on the same response vary, as `Provenance.judge_uncertainty` says it; None when none was judged twice."""
    if account.noise is None:
        return None
    total = sum(arm.responses for arm in account.arms)
    alike = account.noise.identical / account.noise.responses
    return (
        f"{account.noise.responses} of {total} responses have several verdicts ({account.noise.scorings} in all): {100 * alike:.1f} % of "
        f"them got the same score each time; standard deviation within a response {account.noise.variance**0.5:.3f} of the range"
    )


def tell_judging(account: JudgingAccount) -> list[str]:
    """Return the account in lines for a person."""
    lines = [f"{arm.arm}: {_tell_arm(arm)}" for arm in account.arms]
    if account.plain and account.structured:
        lines.append(f"form: {account.structured} verdicts asked for by schema, {account.plain} by words alone")
    if account.retried:
        lines.append(f"attempts: {account.retried} judgings are not the first of their response")
    if (told := describe_repeats(account)) is not None:
        lines.append(f"repeats: {told}")
    return lines


def _tell_arm(arm: JudgedArm) -> str:
    parts = [f"{arm.judged} of {arm.responses} responses judged"]
    parts += [f"{count} {reason}" for reason, count in sorted(arm.excluded.items())]
    if arm.cut:
        parts.append(f"{arm.cut} not seen whole")
    if arm.mentions_scoring:
        parts.append(f"{arm.mentions_scoring} mention scoring or a grader (found by plain forms)")
    return ", ".join(parts)


def _tell_shown(scorer: JudgeScorer, account: JudgingAccount) -> str:
    if scorer.longest_chars is None:
        return "every response shown whole"
    cut = ", ".join(f"{arm.cut} in {arm.arm}" for arm in account.arms)
    return f"the first {scorer.longest_chars} characters of a response shown (cut: {cut})"


def _read(one: Score, answered: set[str]) -> _Row:
    if one.judge is not None:
        answered.add(one.judge)
    marks = frozenset(name for name in _COUNTED if (one.detail or {}).get(name))
    reason = None if one.excluded_reason is None else sys.intern(one.excluded_reason)
    return _Row(response=one.response, repeat=one.repeat or 0, score=one.score, reason=reason, marks=marks)


def _count(arm: str, rows: Sequence[_Row | None]) -> JudgedArm:
    known = [one for one in rows if one is not None]
    reasons = Counter(one.reason for one in known if one.reason is not None)
    return JudgedArm(
        arm=arm,
        responses=len(rows),
        judged=sum(one.score is not None for one in known),
        excluded={reason: count for reason, count in reasons.items() if reason.startswith(REASON)},
        cut=sum("judge_saw_all" not in one.marks for one in known),
        mentions_scoring=sum("mentions_scoring" in one.marks for one in known),
    )


def _measure(rows: Iterable[_Row], scorer: JudgeScorer) -> Noise | None:
    """The spread of repeated verdicts, in shares of the range of the score."""
    one = next((each for each in scorer.dimensions if each.name == scorer.score), scorer.dimensions[0])
    known = [(row.response, (row.score - one.low) / (one.high - one.low)) for row in rows if row.score is not None]
    if not known:
        return None
    names = {key: place for place, key in enumerate(dict.fromkeys(key for key, _ in known))}
    of_row = np.array([names[key] for key, _ in known], dtype=np.intp)
    _, first = np.unique(of_row, return_index=True)
    return measure_noise(Responses(first=first, of_row=of_row), np.array([value for _, value in known]))
