"""Answers that are kept in memory for one size of the log, within a limit of bytes."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

MOST_BYTES = 32 << 20
"""Of all answers together: some thousand pages."""
_OVERHEAD = 1_000
"""An estimate of what an answer takes besides its body."""

Key = tuple[str, str, bool]
"""Path, query and whether JSON is preferred: everything of a request that an answer depends on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """One answer as it is sent."""

    body: bytes
    media_type: str
    headers: Mapping[str, str]
    status: int
    state: str
    """What its validator is made of: another state means that the bytes may differ."""
    is_final: bool
    """Whether it stays the same while the log has this size; another one is compared by its state each time."""


class AnswerCache:
    """The latest answers. An entry of the log empties it: it may be an erasure, and no erased text may stay in memory."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._answers: OrderedDict[Key, KeptAnswer] = OrderedDict()
        self._bytes = 0
        self.log_size = 0
        """That the answers are of."""

    def __len__(self) -> int:
        """Return how many answers are kept."""
        return len(self._answers)

    def follow(self, log_size: int) -> None:
        """Forget everything that is not of *log_size*."""
        if log_size != self.log_size:
            self._answers.clear()
            self._bytes = 0
            self.log_size = log_size

    def find(self, key: Key) -> KeptAnswer | None:
        """Return the answer to *key*; None where none is kept."""
        answer = self._answers.get(key)
        if answer is not None:
            self._answers.move_to_end(key)
        return answer

    def keep(self, key: Key, answer: KeptAnswer) -> None:
        """Keep *answer*, and forget those that were asked for longest ago where there is no room."""
        if (before := self._answers.pop(key, None)) is not None:
            self._bytes -= _weigh(before)
        # A list of all claims for a spreadsheet would push out everything else.
        if _weigh(answer) > self._most_bytes // 2:
            return
        self._answers[key] = answer
        self._bytes += _weigh(answer)
        while self._bytes > self._most_bytes:
            _, oldest = self._answers.popitem(last=False)
            self._bytes -= _weigh(oldest)


def _weigh(answer: KeptAnswer) -> int:
    return len(answer.body) + _OVERHEAD
