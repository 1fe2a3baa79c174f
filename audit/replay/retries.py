"""When the same request is sent again, and how long is waited before: bounded in number and time, whatever the endpoint asks for."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, stop_after_delay, wait_random_exponential

from audit.trouble import ModelError, Trouble

_SHARED = (Trouble.RATE_LIMITED, Trouble.OVERLOADED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a call is tried."""

    max_attempts: int = 6
    max_elapsed_s: float = 900.0
    """Seconds from the first attempt, after which none is begun."""
    longest_wait_s: float = 120.0
    """The ceiling on what `retry-after` can ask for."""
    first_wait_s: float = 0.5
    """Doubled with each attempt, and drawn at random below that, up to a minute."""


def build_retrying(patience: Patience, sleep: Callable[[float], Awaitable[None]]) -> AsyncRetrying:
    """Return what repeats an attempt that failed for a passing reason; the last error is raised."""
    backoff = wait_random_exponential(multiplier=patience.first_wait_s, max=60.0)

    def wait_s(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after_s if isinstance(error, ModelError) else None
        return backoff(state) if asked is None else min(asked, patience.longest_wait_s) * (1 + 0.05 * random.random())  # noqa: S311 (spreads load, guards nothing)

    return AsyncRetrying(
        stop=stop_after_attempt(patience.max_attempts) | stop_after_delay(patience.max_elapsed_s),
        wait=wait_s,
        retry=retry_if_exception(lambda error: isinstance(error, ModelError) and error.is_passing),
        sleep=sleep,
        reraise=True,
    )


def find_pause(error: ModelError, patience: Patience) -> float | None:
    """Return for how many seconds nobody should send because of *error*; None when it says nothing about the others."""
    if error.trouble not in _SHARED:
        return None
    return patience.first_wait_s if error.retry_after_s is None else min(error.retry_after_s, patience.longest_wait_s)
