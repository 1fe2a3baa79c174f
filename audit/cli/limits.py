"""Limits on the calls that one command makes now, in a run folder that may hold calls from before."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from audit.replay.call_engine import UNSENT, RunSummary
from audit.replay.run_budget import Prices, SpentAmount, count_spent, count_waiting
from audit.replay.run_store import RunStore
from registry.errors import AnswerNoError, Fault
from registry.records.replay_definition import Budget


def count_before(store: RunStore, prices: Prices) -> SpentAmount:
    """Return what the folder has spent before: a replay, earlier commands, calls lost in flight, and batches under way."""
    spent = count_spent(store, prices, UNSENT)
    return replace(spent + count_waiting(store, prices), calls=spent.calls + len(store.list_lost()))


def allow(before: SpentAmount, options: Mapping[str, Any]) -> Budget:
    """Return the budget of the folder in which the calls of now keep to `max_calls` and `max_usd`; budgets are for a folder as a whole."""
    calls, usd = options["max_calls"], options["max_usd"]
    return Budget(calls=None if calls is None else before.calls + calls, usd=None if usd is None else (before.usd or 0.0) + usd)


def check_over(store: RunStore, summary: RunSummary, *, open_: str, earlier: Sequence[RunSummary] = ()) -> None:
    """Make an end before the last call an error, so that nothing is concluded from a part.

    Args:
        earlier: the rounds of this command before it, whose failed calls are told too.
        open_: what is still to be done, such as "passages are still to be asked about".

    Raises:
        AnswerNoError: a limit was reached, or it was ended by request; what was answered is kept.
        CaveatError: what stopped it.
    """
    folder = str(store.path.parent)
    if summary.stopped is not None and summary.stopped.code != "budget-spent":
        raise summary.stopped
    if summary.stopped is not None:
        rounds = (*earlier, summary)
        failed, advice = _tell_failed(rounds), "run the same command again, or raise the limit"
        if failed and not any(one.answered for one in rounds):
            advice = "see that the endpoint answers (--base-url, the key, the name of the model) before the limit is raised"
        found = f"the limit on the calls of now is reached, and {open_}; {failed or 'every answer that came is kept'}"
        raise AnswerNoError(Fault(code="budget-spent", where=folder, found=found, advice=advice))
    if summary.interrupted:
        found = "ended by request before its last call; every answer that came is kept"
        raise AnswerNoError(Fault(code="interrupted", where=folder, found=found, advice="run the same command again"))


def _tell_failed(rounds: Sequence[RunSummary]) -> str | None:
    """Return how many of the calls of now had no answer, and by which codes; None where each had one."""
    failures = sum((Counter(one.failures) for one in rounds), Counter[str]())
    if not failures:
        return None
    answered = sum(one.answered for one in rounds)
    codes = ", ".join(f"{many} × {code}" for code, many in sorted(failures.items(), key=lambda one: (-one[1], one[0])))
    kept = f"the {answered:,} that were answered are kept" if answered else "nothing was answered"
    return f"{failures.total():,} of {sum(one.done for one in rounds):,} calls failed ({codes}), {kept}"
