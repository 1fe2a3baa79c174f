"""What is said when the limit on calls ends a command whose calls failed."""

from collections import Counter
from pathlib import Path

import pytest

from audit.cli.model_calls import allow, check_over
from audit.replay.call_engine import RunSummary, RunTally
from audit.replay.run_budget import SpentAmount
from audit.replay.run_store import open_store
from registry.errors import AnswerNoError, Fault, InputError
from registry.records.replay_run import Budget


def build_round(*, answered: int, failures: dict[str, int], is_stopped: bool) -> RunSummary:
    """Return a round of calls, ended by its limit or not."""
    stopped = AnswerNoError(Fault("budget-spent", "budget.calls", "spent")) if is_stopped else None
    tally = RunTally(answered=answered, failures=Counter(failures))
    spent = SpentAmount(calls=0, input_tokens=0, output_tokens=0, usd=None)
    return tally.summarise(spent=spent, elapsed_s=0.0, most_at_once=1, stopped=stopped, interrupted=False)


def test_an_unknown_cost_before_is_not_zero() -> None:
    """A limit in dollars is for the calls of now: it needs the cost of those before, and is refused where that is not known."""
    limits = {"max_calls": 3, "max_usd": 5.0}

    assert allow(SpentAmount(calls=2, usd=1.5), limits) == Budget(calls=5, usd=6.5)
    assert allow(SpentAmount(calls=2, usd=None), limits | {"max_usd": None}) == Budget(calls=5)
    with pytest.raises(InputError) as refused:
        allow(SpentAmount(calls=2, usd=None), limits)
    assert refused.value.faults[0].code == "price-missing"


@pytest.mark.parametrize(
    ("answered", "failures", "told"),
    [
        (0, {"unreachable": 3, "overloaded": 1}, "4 of 4 calls failed (3 × unreachable, 1 × overloaded), nothing was answered"),
        (2, {"unreachable": 1}, "1 of 3 calls failed (1 × unreachable), the 2 that were answered are kept"),
        (2, {}, "every answer that came is kept"),
    ],
)
def test_a_limit_reached_names_the_failures(tmp_path: Path, answered: int, failures: dict[str, int], told: str) -> None:
    """Calls that failed in any round of the command are told with the limit, and nothing that was not answered is called kept."""
    store = open_store(tmp_path, create=True)
    first, last = (
        build_round(answered=answered, failures=failures, is_stopped=False),
        build_round(answered=0, failures={}, is_stopped=True),
    )
    try:
        with pytest.raises(AnswerNoError) as ended:
            check_over(store, last, open_="parts are open", earlier=[first])
    finally:
        store.close()

    (fault,) = ended.value.faults
    assert fault.found.endswith(f"parts are open; {told}")
    assert ("see that the endpoint answers" in (fault.advice or "")) == (bool(failures) and not answered)
