"""What tokens cost: a table that the user keeps, because prices change; a model that is not in it has no known cost, never none."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from registry.codec.documents import from_document, json_schema
from registry.codec.files import read_document
from registry.records.record import Record
from registry.records.response import Usage

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price(Record):
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
        if not all(0 <= one < float("inf") for one in amounts):
            raise ValueError(f"a price is 0 or more, got {amounts}")
        if not 0 <= self.batch_share <= 1:
            raise ValueError(f"batch_share lies between 0 and 1, got {self.batch_share}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PricesFile(Record):
    """Prices by model, as exactly as requests name it."""

    prices: dict[str, Price]
    schema: Literal["caveat/prices/1"] = "caveat/prices/1"


Prices = Mapping[str, Price]


def read_prices(path: Path) -> dict[str, Price]:
    """Return the prices in *path* by model; raises InputError with every fault."""
    return from_document(PricesFile, read_document(path), where=str(path)).prices


def compute_cost(price: Price, usage: Usage, *, batch: bool = False) -> float | None:
    """Return what *usage* costs, in US dollars; None when the endpoint did not count."""
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


def bound_cost(price: Price, *, input_tokens: int, output_tokens: int) -> float:
    """Return the most that these tokens can cost, in US dollars, whatever of them is written to a cache."""
    dearest = max(price.input, price.cache_write or 0.0)
    return (input_tokens * dearest + output_tokens * price.output) / _MILLION


def discount(prices: Prices) -> dict[str, Price]:
    """Return what the same tokens cost in batches."""
    return {model: _discount(price) for model, price in prices.items()}


def _discount(price: Price) -> Price:
    share = price.batch_share
    write, read = (None if one is None else one * share for one in (price.cache_write, price.cache_read))
    return replace(price, input=price.input * share, output=price.output * share, cache_write=write, cache_read=read, batch_share=1.0)


def format_usd(usd: float) -> str:
    """Return an amount as people read it: to the cent, below ten cents with two figures that count; only nothing is `$0.00`."""
    return f"${usd:,.2f}" if usd == 0 or usd >= 0.1 else f"${usd:.{1 - math.floor(math.log10(usd))}f}"


def prices_schema() -> dict[str, Any]:
    """Return the JSON Schema of a price table."""
    return json_schema(PricesFile)
