"""What tokens cost, and what a run may spend and has spent; a call begins only when its worst case still fits."""

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from audit.endpoints.model_answers import DOUBTFUL, GIVEN_UP
from audit.records.model_response import Usage
from audit.replay.batch_requests import list_open_chunks
from audit.replay.run_store import Call, RunStore
from registry.codec.canonical_documents import Json, from_document, json_schema
from registry.codec.file_io import read_document
from registry.errors import Fault, InputError
from registry.records.record import Record
from registry.records.replay_run import Budget

# Prices are the user's. None is bundled: a stale price is worse than none. Without `--prices` the cost stays unknown,
# and a budget in dollars is refused. Cost: users keep a table.

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrice(Record):
    """US dollars for a million tokens of one model."""

    input: float
    output: float
    cache_write: float | None = None
    """None: as input."""
    cache_read: float | None = None
    """None: as input, which is too much rather than too little."""
    batch_share: float = 1.0
    """What a call in a batch costs, as a share of the same call outside."""
    source: str | None = None
    """Where the prices stand, with the date."""

    def __post_init__(self) -> None:
        amounts = [self.input, self.output, self.cache_write or 0.0, self.cache_read or 0.0]
        # The comparison is also false for NaN.
        if not all(0 <= amount < float("inf") for amount in amounts):
            raise ValueError(f"a price is 0 or more, got {amounts}")
        if not 0 <= self.batch_share <= 1:
            raise ValueError(f"batch_share lies between 0 and 1, got {self.batch_share}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PricesFile(Record):
    """Prices by model, as exactly as requests name it."""

    prices: dict[str, TokenPrice]
    schema: Literal["caveat/prices/1"] = "caveat/prices/1"


Prices = Mapping[str, TokenPrice]


def read_prices(path: Path) -> dict[str, TokenPrice]:
    """Return the prices in *path* by model; raises InputError with every fault."""
    return from_document(PricesFile, read_document(path), where=str(path)).prices


def compute_cost(price: TokenPrice, usage: Usage, *, batch: bool = False) -> float | None:
    """Return what *usage* costs, in US dollars; None when the endpoint did not count."""
    # Unknown is not zero: a count that is missing makes the cost unknown.
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    write = price.input if price.cache_write is None else price.cache_write
    read = price.input if price.cache_read is None else price.cache_read
    whole = (
        usage.input_tokens * price.input
        + usage.output_tokens * price.output
        + (usage.cache_creation_input_tokens or 0) * write
        + (usage.cache_read_input_tokens or 0) * read
    )
    return whole / _MILLION * (price.batch_share if batch else 1.0)


def bound_cost(price: TokenPrice, *, input_tokens: int, output_tokens: int) -> float:
    """Return the most that these tokens can cost, in US dollars, whatever of them is written to a cache."""
    # Writing to a cache may cost more than plain input, and a request does not show in advance what will be written.
    dearest = max(price.input, price.cache_write or 0.0)
    return (input_tokens * dearest + output_tokens * price.output) / _MILLION


def discount_batch(prices: Prices) -> dict[str, TokenPrice]:
    """Return what the same tokens cost in batches."""
    return {model: _discount(price) for model, price in prices.items()}


def _discount(price: TokenPrice) -> TokenPrice:
    share = price.batch_share
    write, read = (None if value is None else value * share for value in (price.cache_write, price.cache_read))
    # `batch_share` becomes 1, so a discounted price cannot be discounted twice.
    return replace(price, input=price.input * share, output=price.output * share, cache_write=write, cache_read=read, batch_share=1.0)


def format_usd(usd: float) -> str:
    """Return an amount as people read it: to the cent, below ten cents with two figures that count; only nothing is `$0.00`."""
    return f"${usd:,.2f}" if usd == 0 or usd >= 0.1 else f"${usd:.{1 - math.floor(math.log10(usd))}f}"


def prices_schema() -> dict[str, Any]:
    """Return the JSON Schema of a price table."""
    return json_schema(PricesFile)


# Budget. A call begins only when its worst case fits beside the worst cases of all calls under way. A limit is
# therefore never exceeded by calls that were admitted together.

MAYBE_BILLED = ("lost-in-flight", "batch-missing", *DOUBTFUL)
"""Failures of calls that may have been billed."""
# Tokenizers differ between models, so input is measured in bytes. The forecast uses a typical ratio. A reservation uses
# twice the tokens, because an underestimate would overspend.
_BYTES_A_TOKEN = 4.0
"""A rule of thumb for English, until the endpoint has counted."""
_SAFE_BYTES_A_TOKEN = 2.0
"""What the first calls are reserved at."""
_MARGIN = 1.1
"""On what was counted so far, for the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentAmount:
    """Calls, tokens and money."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0
    """None: not known, because a model has no price."""

    def __add__(self, other: "SpentAmount") -> "SpentAmount":
        return SpentAmount(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            usd=None if self.usd is None or other.usd is None else self.usd + other.usd,
        )

    def __sub__(self, other: "SpentAmount") -> "SpentAmount":
        usd = None if other.usd is None else -other.usd
        return self + SpentAmount(calls=-other.calls, input_tokens=-other.input_tokens, output_tokens=-other.output_tokens, usd=usd)


class CallPurse(Protocol):
    """What decides whether a call may still be paid for."""

    @property
    def spent(self) -> SpentAmount:
        """What was spent; what may have been billed counts as if it had."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is reserved."""

    def reserve(self, call: Call) -> Fault | None:
        """Set aside what *call* may spend; None when it fits, else what does not, and nothing is set aside."""

    def settle(self, call: Call, usage: Usage | None) -> None:
        """*call* is over: *usage* as the endpoint counted it; None: not counted, and it may have been billed whole."""

    def release(self, call: Call, *, sent: bool = False) -> None:
        """*call* is over, and cost no tokens; with *sent*, it counts as a call."""

    def add_lost(self, call: Call) -> None:
        """One request of *call* may have been billed next to the one that is answered."""


class BudgetPurse:
    """What is left of a budget while a run spends it."""

    def __init__(
        self, budget: Budget, prices: Prices | None = None, *, spent: SpentAmount | None = None, waiting: SpentAmount | None = None
    ) -> None:
        self.budget = budget
        self._spent = spent or SpentAmount()
        self._waiting = waiting or SpentAmount()
        """What earlier runs left at the endpoint, and has no outcome yet."""
        self._prices = prices or {}
        self._reserved: dict[str, SpentAmount] = {}
        self._held = SpentAmount()
        self._densest = 0.0
        """Most tokens a byte that an answer counted."""

    @property
    def spent(self) -> SpentAmount:
        """Of this run and earlier ones in the same folder; what may have been billed counts as if it had."""
        return self._spent

    @property
    def is_idle(self) -> bool:
        """Whether nothing is reserved."""
        return not self._reserved

    def bound(self, call: Call) -> SpentAmount:
        """Return the most that *call* is expected to spend: every output token it allows, and its input by what was counted so far."""
        size = measure_response(call.body)
        # Once the endpoint has counted, its densest answer with a margin of 10 % replaces the guess, so that
        # reservations become tight and concurrency rises.
        density = self._densest * _MARGIN if self._densest else 1 / _SAFE_BYTES_A_TOKEN
        return self._price(call.body, input_tokens=int(size * density) + 1, output_tokens=read_max_tokens(call.body))

    def reserve(self, call: Call) -> Fault | None:
        """Set aside what *call* may spend; None when it fits, else what does not, and nothing is set aside."""
        wanted = self.bound(call)
        held = self._held + wanted
        excess = self._find_excess(self._spent + self._waiting + held)
        if excess is None:
            self._reserved[call.key] = wanted
            self._held = held
        return excess

    def settle(self, call: Call, usage: Usage | None) -> None:
        """*call* is over: *usage* as the endpoint counted it; None: not counted, and it may have been billed whole."""
        held = self._unreserve(call)
        if usage is None:
            # An uncounted call counts at its worst case: a budget that may have been spent is spent.
            self._spent += held
            return
        inputs = [usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens]
        counted = sum(input_ for input_ in inputs if input_ is not None)
        if usage.input_tokens is not None:
            self._densest = max(self._densest, counted / max(1, measure_response(call.body)))
        price = self._prices.get(str(call.body.get("model")))
        self._spent += SpentAmount(
            calls=1,
            input_tokens=counted if usage.input_tokens is not None else held.input_tokens,
            output_tokens=usage.output_tokens if usage.output_tokens is not None else held.output_tokens,
            usd=None if price is None else (cost if (cost := compute_cost(price, usage)) is not None else held.usd),
        )

    def release(self, call: Call, *, sent: bool = False) -> None:
        """*call* is over, and cost no tokens; with *sent*, it counts as a call."""
        self._unreserve(call)
        if sent:
            self._spent += SpentAmount(calls=1)

    def add_lost(self, call: Call) -> None:
        """One request of *call* may have been billed next to the one that is answered."""
        # No call is added: `calls` counts calls, and this one is counted already. Only tokens and money may have been
        # spent twice.
        bound = self.bound(call)
        self._spent += SpentAmount(input_tokens=bound.input_tokens, output_tokens=bound.output_tokens, usd=bound.usd)

    def _unreserve(self, call: Call) -> SpentAmount:
        held = self._reserved.pop(call.key, SpentAmount())
        # Reset at zero reservations: sums and differences of dollars leave rounding errors, which would accumulate over
        # a long run.
        self._held = SpentAmount() if not self._reserved else self._held - held
        return held

    def _price(self, body: Mapping[str, Json], *, input_tokens: int, output_tokens: int) -> SpentAmount:
        price = self._prices.get(str(body.get("model")))
        usd = None if price is None else bound_cost(price, input_tokens=input_tokens, output_tokens=output_tokens)
        return SpentAmount(calls=1, input_tokens=input_tokens, output_tokens=output_tokens, usd=usd)

    def _find_excess(self, total: SpentAmount) -> Fault | None:
        budget = self.budget
        limits = (
            ("calls", budget.calls, total.calls),
            ("input_tokens", budget.input_tokens, total.input_tokens),
            ("output_tokens", budget.output_tokens, total.output_tokens),
            ("usd", budget.usd, total.usd),
        )
        for name, limit, wanted in limits:
            # An unknown cost cannot exceed a limit here. `check_prices` refuses a dollar budget with an unpriced model
            # before the run.
            if limit is not None and wanted is not None and wanted > limit:
                problem = f"the next call could bring it to {wanted:.10g}, and the budget allows {limit:g}"
                return Fault("budget-spent", f"budget.{name}", problem, advice="raise the budget, and run the command again")
        return None


def count_spent(store: RunStore, prices: Prices, unsent: Collection[str]) -> SpentAmount:
    """Return what the run folder has spent, with the worst case of every call that may have been billed and has no count.

    Args:
        unsent: codes of failures that were no calls.
    """
    total = SpentAmount()
    in_batches = discount_batch(prices)
    for usage in store.sum_spent(unsent=unsent):
        price = (in_batches if usage.batched else prices).get(usage.model)
        usd = None if price is None else bound_cost(price, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
        total += SpentAmount(calls=usage.calls, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, usd=usd)
    # Requests without a count are bounded by their own body, at the safe ratio.
    for request, count in store.list_doubtful(MAYBE_BILLED, errors=DOUBTFUL, statuses=GIVEN_UP):
        worst = estimate_call(store.get_request(request), prices, bytes_a_token=_SAFE_BYTES_A_TOKEN)
        usd = None if worst.usd is None else count * worst.usd
        total += SpentAmount(input_tokens=count * worst.input_tokens, output_tokens=count * worst.output_tokens, usd=usd)
    return total


def count_waiting(store: RunStore, prices: Prices) -> SpentAmount:
    """Return the worst case of what waits in batches that earlier runs submitted: its results may come, and are paid for, at any time."""
    total, in_batches = SpentAmount(), discount_batch(prices)
    waiting = {(chunk.at, key) for chunk in list_open_chunks(store)[0] for key in chunk.keys}
    for intent in store.list_lost() if waiting else ():
        if (intent.at, intent.key) in waiting:
            total += estimate_call(store.get_request(intent.request), in_batches, bytes_a_token=_SAFE_BYTES_A_TOKEN)
    return total


def check_prices(budget: Budget, prices: Prices, models: set[str]) -> None:
    """Return when a budget in dollars can be kept.

    Raises:
        InputError: a model has no price.
    """
    if budget.usd is None:
        return
    missing = sorted(models - set(prices))
    if missing:
        raise InputError(Fault("price-missing", "budget.usd", f"is {budget.usd:g}, and there is no price for {', '.join(missing)}"))


def estimate_call(body: Mapping[str, Json], prices: Prices, *, bytes_a_token: float = _BYTES_A_TOKEN) -> SpentAmount:
    """Return what *body* may come to: its input at four bytes a token, and all the output it allows."""
    input_tokens, output_tokens = round(measure_response(body) / bytes_a_token), read_max_tokens(body)
    price = prices.get(str(body.get("model")))
    usd = None if price is None else bound_cost(price, input_tokens=input_tokens, output_tokens=output_tokens)
    return SpentAmount(calls=1, input_tokens=input_tokens, output_tokens=output_tokens, usd=usd)


def measure_response(body: Mapping[str, Json]) -> int:
    """Return how many bytes the model is given to read: system prompt, messages and tools."""
    parts = [body.get("system"), body.get("messages"), body.get("tools")]
    return sum(_measure(part) for part in parts)


def read_max_tokens(body: Mapping[str, Json]) -> int:
    """Return how many tokens *body* allows the answer; 0 when it does not say."""
    max_tokens = body.get("max_tokens")
    return max_tokens if isinstance(max_tokens, int) else 0


def _measure(value: object) -> int:
    if isinstance(value, str):
        # `isascii` is a flag of the string, so long ASCII texts are not encoded only to be measured.
        return len(value) if value.isascii() else len(value.encode())
    if isinstance(value, Mapping):
        # A message counts by its content. Other objects (schemas of tools) reach the model as JSON.
        return sum(_measure(item) for name, item in value.items() if name != "role") if "content" in value else len(json.dumps(value))
    if isinstance(value, (list, tuple)):
        return sum(map(_measure, value))
    return 0
