"""Prices, estimates and what is set aside."""

import math
from pathlib import Path

import pytest

from audit.records.model_response import Usage
from audit.replay.run_budget import (
    BudgetPurse,
    SpentAmount,
    TokenPrice,
    bound_cost,
    check_prices,
    compute_cost,
    estimate_call,
    format_usd,
    measure_response,
    read_prices,
)
from audit.replay.run_store import Call
from registry.errors import InputError
from registry.records.replay_run import Budget
from tests.replay.calling import make_calls

PRICE = TokenPrice(input=3.0, output=15.0, cache_write=3.75, cache_read=0.3, batch_share=0.5)


def call() -> Call:
    """Return one call of at most 50 output tokens."""
    return next(make_calls(1))


def test_cost_by_hand() -> None:
    """2,000 × 3 + 1,000 × 15 + 400 × 3.75 + 10,000 × 0.30 dollars a million tokens, worked out on paper: 0.0255 dollars."""
    usage = Usage(input_tokens=2000, output_tokens=1000, cache_creation_input_tokens=400, cache_read_input_tokens=10_000)

    assert compute_cost(PRICE, usage) == pytest.approx(0.0255)
    assert compute_cost(PRICE, usage, batch=True) == pytest.approx(0.01275)


def test_tokens_that_were_not_counted_have_no_cost() -> None:
    """Unknown is not zero."""
    assert compute_cost(PRICE, Usage(output_tokens=5)) is None
    assert estimate_call(call().body, {}).usd is None
    assert (SpentAmount(usd=1.0) + SpentAmount(usd=None)).usd is None


def test_the_bound_is_never_below_the_cost() -> None:
    """Whatever part of the input is written to a cache or read from one."""
    for written in range(0, 101, 20):
        usage = Usage(input_tokens=100 - written, output_tokens=7, cache_creation_input_tokens=written)
        cost = compute_cost(PRICE, usage)

        assert cost is not None
        assert bound_cost(PRICE, input_tokens=100, output_tokens=7) >= cost - 1e-15


def test_what_is_set_aside_comes_back() -> None:
    """A call that took less than it could leaves the difference to the next one."""
    purse = BudgetPurse(Budget(output_tokens=100))
    first, second, third = make_calls(3)

    assert purse.reserve(first) is None
    assert purse.reserve(second) is None
    assert purse.reserve(third) is not None
    purse.settle(first, Usage(input_tokens=4, output_tokens=1))
    assert purse.reserve(third) is not None
    purse.settle(second, Usage(input_tokens=4, output_tokens=1))
    assert purse.reserve(third) is None
    assert purse.spent.output_tokens == 2


def test_a_call_that_may_have_been_billed_counts_whole() -> None:
    """After a time-out no one knows; the budget takes the worst."""
    purse = BudgetPurse(Budget(), {call().body["model"]: PRICE})
    purse.reserve(call())
    purse.settle(call(), None)

    assert purse.spent.calls == 1
    assert purse.spent.output_tokens == 50
    assert purse.spent.usd is not None
    assert purse.spent.usd >= 50 * 15 / 1e6


def test_a_budget_in_dollars_needs_a_price() -> None:
    """Cost without a price is unknown, and no budget can be kept with it."""
    check_prices(Budget(usd=5), {"m": PRICE}, {"m"})
    check_prices(Budget(calls=5), {}, {"m"})

    with pytest.raises(InputError, match="price-missing"):
        check_prices(Budget(usd=5), {"m": PRICE}, {"m", "n"})


def test_everything_that_the_model_reads_is_measured() -> None:
    """System prompt, messages, blocks and tools count, in bytes of UTF-8."""
    body = {"system": "é" * 10, "messages": [{"role": "user", "content": [{"type": "text", "text": "x" * 100}]}], "tools": []}

    assert measure_response(body) >= 120
    assert measure_response({**body, "tools": [{"name": "t", "description": "d" * 50, "input_schema": {}}]}) > measure_response(body) + 50


@pytest.mark.parametrize("bad", ["input: -1", "input: .nan", "input: .inf", "input: free"])
def test_a_price_that_is_none_is_refused(tmp_path: Path, bad: str) -> None:
    """With file and place."""
    path = tmp_path / "prices.yaml"
    path.write_text(f"schema: caveat/prices/1\nprices:\n  m: {{{bad}, output: 2}}\n", encoding="utf-8")

    with pytest.raises(InputError, match="prices"):
        read_prices(path)


def test_prices_are_read_by_model(tmp_path: Path) -> None:
    """A cache price that is not given is that of input."""
    path = tmp_path / "prices.yaml"
    path.write_text("schema: caveat/prices/1\nprices:\n  m-1: {input: 1, output: 2}\n", encoding="utf-8")
    price = read_prices(path)["m-1"]
    cost = compute_cost(price, Usage(input_tokens=1, output_tokens=1, cache_read_input_tokens=1))

    assert cost is not None
    assert math.isclose(cost, 4e-6)


@pytest.mark.parametrize(
    ("usd", "told"), [(0.0, "$0.00"), (0.000314, "$0.00031"), (0.024, "$0.024"), (0.1, "$0.10"), (1234.5, "$1,234.50")]
)
def test_a_small_cost_is_not_told_as_none(usd: float, told: str) -> None:
    """Only nothing costs nothing: a pilot on a cheap model costs less than a cent."""
    assert format_usd(usd) == told


@pytest.mark.parametrize("limit", ["calls", "input_tokens", "output_tokens", "usd"])
def test_a_limit_below_nothing_is_refused(limit: str) -> None:
    """No one can mean it; nothing at all is `0`."""
    with pytest.raises(ValueError, match=f"{limit} is 0 or more"):
        Budget(**{limit: -1})
