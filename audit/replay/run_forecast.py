"""The forecast that `--dry-run` prints: calls, tokens, and money where prices are known."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from audit.replay.call_engine import LOST, UNSENT
from audit.replay.run_budget import Prices, SpentAmount, estimate_call
from audit.replay.run_store import PlannedCall, RunStore

_CHUNK = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RunForecast:
    """Calls that would be made now."""

    cells: int
    """Responses in the design."""
    shared: int
    """Cells whose call is another cell's too: same request, same sample."""
    settled: int
    """Calls that have an outcome already; failed ones among them, unless they are to be sent again."""
    failed: int
    """Calls that failed in an earlier run; those that were lost in flight are not among them."""
    lost: int = 0
    """Calls that were in flight when an earlier run ended."""
    by_model: dict[str, SpentAmount] = field(default_factory=dict)
    """By model, what the calls to be made come to: input at four bytes a token, and all the output they allow."""

    @property
    def total(self) -> SpentAmount:
        """All models together; dollars None when a model has no price."""
        return sum(self.by_model.values(), start=SpentAmount())


def forecast(
    planned: Sequence[PlannedCall], prices: Prices, store: RunStore | None, *, again: frozenset[str], retry_failed: bool
) -> RunForecast:
    """Return what the calls of *planned* that have no outcome in *store* come to.

    Args:
        store: the run folder's; None where there is none yet.
        again: codes of failures that are sent again in any case.
        retry_failed: whether other failures are.
    """
    # Two cells with the same request and sample share one call, which is paid once.
    calls = {planned_call.call.key: planned_call.call for planned_call in planned}
    cells = len(planned)
    known: dict[str, str | None] = {}
    keys = list(calls)
    for start in range(0, len(keys) if store else 0, _CHUNK):
        known.update(store.find_outcomes(keys[start : start + _CHUNK]) if store else {})
    lost = sum(code == LOST for code in known.values())
    failed = sum(code is not None and code not in UNSENT for code in known.values()) - lost
    # The same rule as `call_engine._CallRun._is_wanted_again`, so that the forecast counts exactly the calls that a run would send.
    wanted = [
        call
        for key, call in calls.items()
        if key not in known or (known[key] is not None and (known[key] in again or (retry_failed and known[key] != LOST)))
    ]
    by_model: dict[str, SpentAmount] = {}
    for call in wanted:
        model = str(call.body.get("model"))
        by_model[model] = by_model.get(model, SpentAmount()) + estimate_call(call.body, prices)
    settled = len(calls) - len(wanted)
    return RunForecast(cells=cells, shared=cells - len(calls), settled=settled, failed=failed, lost=lost, by_model=by_model)
