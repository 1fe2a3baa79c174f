"""What a run of calls came to, while it goes on and when it is over."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from audit.replay.budget import Amount
from registry.errors import CaveatError
from registry.records.response import Response


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """What one run of calls came to; what earlier runs in the same folder did is in `settled_before` and `spent`."""

    settled_before: int
    """Calls that had an outcome already, or that another cell of the design shares."""
    answered: int
    """Answers that came in this run, of any stop reason."""
    refusals: int
    truncated: int
    """Answers cut by max_tokens or the context window."""
    empty: int
    """Answers without text; refusals may be among them."""
    failures: Mapping[str, int]
    """Calls of this run without an answer, by code."""
    lost: int
    """Calls that were in flight when an earlier process ended; they may have been billed."""
    maybe_billed_twice: int
    """Requests that were repeated although the one before may have reached the model."""
    attempts: int
    """HTTP requests of this run."""
    input_tokens: int
    output_tokens: int
    spent: Amount
    """In this folder, earlier runs included, and what may have been billed counted as if it had been."""
    models: Mapping[str, tuple[str, ...]]
    """By model requested, what answered."""
    elapsed_s: float
    most_at_once: int
    """Requests under way at the same time, at most."""
    stopped: CaveatError | None = None
    """Why the run ended before its last call; None when it did not, or was interrupted."""
    interrupted: bool = False
    """Whether somebody asked it to end."""
    is_waiting: bool = False
    """Whether batches are still being worked on at the endpoint: the run has not ended."""

    @property
    def done(self) -> int:
        """Calls of this run that are over."""
        return self.answered + sum(self.failures.values())


@dataclass(slots=True, kw_only=True)
class Tally:
    """The counts of a run, while it goes on."""

    settled_before: int = 0
    answered: int = 0
    refusals: int = 0
    truncated: int = 0
    empty: int = 0
    lost: int = 0
    maybe_billed_twice: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    models: dict[str, list[str]] = field(default_factory=dict)

    def add(self, response: Response) -> None:
        """Count one outcome."""
        if response.failure is not None:
            self.failures[response.failure.code] += 1
            return
        self.answered += 1
        self.refusals += response.stop_reason == "refusal"
        self.truncated += response.stop_reason in ("max_tokens", "model_context_window_exceeded")
        self.empty += not (response.text or "").strip()
        usage = response.usage
        inputs = (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
        self.input_tokens += sum(one or 0 for one in inputs)
        self.output_tokens += usage.output_tokens or 0

    def add_model(self, response: Response) -> list[str]:
        """Take in which model answered, and return those that have answered what was asked of the same one."""
        known = self.models.setdefault(response.model_requested, [])
        if response.model_returned is not None and response.model_returned not in known:
            known.append(response.model_returned)
        return known

    def summarise(
        self, *, spent: Amount, elapsed_s: float, most_at_once: int, stopped: CaveatError | None, interrupted: bool
    ) -> RunSummary:
        """Return the counts as they stand."""
        return RunSummary(
            settled_before=self.settled_before,
            answered=self.answered,
            refusals=self.refusals,
            truncated=self.truncated,
            empty=self.empty,
            failures=dict(self.failures),
            lost=self.lost,
            maybe_billed_twice=self.maybe_billed_twice,
            attempts=self.attempts,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            spent=spent,
            models={asked: tuple(found) for asked, found in self.models.items()},
            elapsed_s=elapsed_s,
            most_at_once=most_at_once,
            stopped=stopped,
            interrupted=interrupted,
        )
