"""Which outcome lowers which: audits of one claim that cannot both be right."""

import itertools
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from registry.records.claim_status import FamilyOutcome, OppositionKind, find_gravest, lower_opposed
from registry.records.model_version import ModelRef
from registry.records.verdict import FIRM, Verdict, VerdictStanding, find_gravity

ESTABLISHED, CONDITIONAL, PROVISIONAL = VerdictStanding.ESTABLISHED, VerdictStanding.CONDITIONAL, VerdictStanding.PROVISIONAL
MODEL = ModelRef(developer="Lab", name="M", version="1")


def outcome(seq: int, verdict: Verdict, standing: VerdictStanding | None = ESTABLISHED, **changes: Any) -> FamilyOutcome:
    known: dict[str, Any] = {
        "claim": "CLM-LAB-2026-0001-E@1",
        "property": "PRP-LAB-2026-0001-X@1",
        "model": MODEL,
        "audit": f"AUD-LAB-2026-000{seq}-X",
        "at": datetime(2026, 3, seq, tzinfo=UTC),
        "question": "threshold >= 0.9",
    }
    return FamilyOutcome(seq=seq, verdict=verdict, standing=standing, **(known | changes))


def lower(*outcomes: FamilyOutcome, **options: Any) -> list[VerdictStanding | None]:
    return [lowered.standing for lowered in lower_opposed(outcomes, options.pop("intervals", {}), **options)]


HOLDS, FAILS = outcome(1, Verdict.HOLDS), outcome(2, Verdict.CONTRADICTED)


@pytest.mark.parametrize("adverse", [Verdict.CONTRADICTED, Verdict.DOES_NOT_CARRY_OVER, Verdict.NOT_REPRODUCED])
@pytest.mark.parametrize("standing", [ESTABLISHED, CONDITIONAL])
def test_opposite_verdicts_lower_each_other(adverse: Verdict, standing: VerdictStanding) -> None:
    """A conditional verdict is as opposite as an established one."""
    assert lower(HOLDS, outcome(2, adverse, standing)) == [PROVISIONAL, PROVISIONAL]


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (outcome(2, Verdict.CONTRADICTED, PROVISIONAL), [PROVISIONAL, PROVISIONAL]),
        (outcome(2, Verdict.CONTRADICTED, log="their/log"), [PROVISIONAL, PROVISIONAL]),
        (outcome(2, Verdict.INCONCLUSIVE, None), [ESTABLISHED, None]),
        (outcome(2, Verdict.IN_DOUBT, None), [ESTABLISHED, None]),
        (outcome(2, Verdict.HOLDS), [ESTABLISHED, ESTABLISHED]),
        (outcome(2, Verdict.CONTRADICTED, question="threshold >= 0.95"), [ESTABLISHED, ESTABLISHED]),
        (outcome(2, Verdict.CONTRADICTED, model=ModelRef(developer="Lab", name="M", version="2")), [ESTABLISHED, ESTABLISHED]),
        (outcome(2, Verdict.CONTRADICTED, property="PRP-LAB-2026-0002-X@1"), [ESTABLISHED, ESTABLISHED]),
        (outcome(2, Verdict.CONTRADICTED, other_words="CRD-LAB-2026-0001-X@2"), [ESTABLISHED, ESTABLISHED]),
    ],
)
def test_only_what_is_opposite_on_the_same_question_lowers_a_claim_that_holds(
    other: FamilyOutcome, expected: list[VerdictStanding | None]
) -> None:
    """An adverse outcome does so whatever it lacks; another question, model version, property or wording does not."""
    assert lower(HOLDS, other) == expected


@pytest.mark.parametrize(
    "favourable", [outcome(1, Verdict.HOLDS, PROVISIONAL), outcome(1, Verdict.HOLDS, log="their/log"), outcome(1, Verdict.OBSERVED, None)]
)
def test_a_favourable_outcome_that_costs_little_lowers_nothing(favourable: FamilyOutcome) -> None:
    """One that lacks a condition or has expired is provisional; whoever keeps another log decides what it says."""
    assert lower(favourable, FAILS)[1] is ESTABLISHED


@pytest.mark.parametrize(("low", "expected"), [(0.71, PROVISIONAL), (0.7, ESTABLISHED)])
def test_intervals_without_a_common_point_lower_each_other(low: float, expected: VerdictStanding) -> None:
    """Against the same specification; another one is another quantity."""
    intervals = {1: {"chat": (0.6, 0.7)}, 2: {"chat": (low, 0.9), "agent": (0.1, 0.2)}, 3: {"agent": (0.3, 0.4)}}
    twice = outcome(2, Verdict.HOLDS)

    assert lower(HOLDS, twice, intervals=intervals) == [expected, expected]
    assert lower(HOLDS, outcome(3, Verdict.HOLDS), intervals=intervals) == [ESTABLISHED, ESTABLISHED]


def test_the_opposite_verdict_is_named_before_an_interval_and_the_better_supported_one_leads() -> None:
    """Both contradictions are provisional; the one that was established leads over the later one that never was."""
    weak = outcome(3, Verdict.CONTRADICTED, PROVISIONAL)
    holds, fails, _ = lowered = lower_opposed([HOLDS, FAILS, weak], {1: {"chat": (0.6, 0.7)}, 2: {"chat": (0.8, 0.9)}})

    assert [member.opposed.kind for member in (holds, fails) if member.opposed] == [OppositionKind.VERDICT] * 2
    assert fails.opposed is not None
    assert (fails.opposed.audit, fails.opposed.lowered_from) == (HOLDS.audit, ESTABLISHED)
    assert find_gravest(lowered) == fails


def withdraw(one: FamilyOutcome) -> FamilyOutcome:
    return replace(one, is_withdrawn=True)


def test_a_withdrawn_audit_gives_way_and_what_is_better_without_it_is_provisional() -> None:
    """Of another limit too: before the withdrawal it led all the same. What was graver than it stands as it stood."""
    weak, other_limit = outcome(3, Verdict.INCONCLUSIVE, None), outcome(4, Verdict.HOLDS, question="threshold >= 0.95")
    fails, *others = lower_opposed([withdraw(FAILS), HOLDS, weak, other_limit], {})

    assert [one.standing for one in others] == [PROVISIONAL, None, PROVISIONAL]
    assert {one.opposed.kind for one in (fails, *others) if one.opposed} == {OppositionKind.WITHDRAWN}
    assert all(one.opposed and one.opposed.audit == FAILS.audit for one in others)
    assert find_gravest([fails, *others]) == others[1]
    assert lower(FAILS, withdraw(outcome(3, Verdict.NOT_REPRODUCED))) == [ESTABLISHED, PROVISIONAL]


@pytest.mark.parametrize("verdict", Verdict)
def test_a_withdrawn_audit_alone_speaks_against_a_claim_and_never_for_it(verdict: Verdict) -> None:
    standing = ESTABLISHED if verdict in FIRM else None
    (alone,) = lower_opposed([withdraw(outcome(1, verdict, standing))], {})

    assert alone.standing in (PROVISIONAL, None)
    assert (find_gravest([alone]) is None) is (verdict in (Verdict.HOLDS, Verdict.OBSERVED))


@pytest.mark.parametrize(("left", "right"), list(itertools.product(Verdict, repeat=2)))
def test_no_withdrawal_makes_the_verdict_stronger(left: Verdict, right: Verdict) -> None:
    """What leads after it is no better than what led before, or is not established and names the withdrawn audit."""
    outcomes = [outcome(1, left, ESTABLISHED if left in FIRM else None), outcome(2, right, ESTABLISHED if right in FIRM else None)]
    intervals = {1: {"chat": (0.6, 0.7)}, 2: {"chat": (0.8, 0.9)}}
    before = find_gravest(lower_opposed(outcomes, intervals))
    after = find_gravest(lower_opposed([withdraw(outcomes[0]), outcomes[1]], intervals))

    assert before is not None
    assert after is not None
    is_better = find_gravity(after.verdict, None) > find_gravity(before.verdict, None)
    is_firmer = before.opposed is not None and after.opposed is None
    assert not is_firmer
    if is_better:
        assert after.standing in (PROVISIONAL, None)
        assert after.opposed
        assert after.opposed.kind is OppositionKind.WITHDRAWN
