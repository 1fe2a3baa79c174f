"""Sampling parameters: what was configured for a call, and what the request then held. The two differ in real logs."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from audit.sources.inspect_sample import Asked

_SPELLINGS: Mapping[str, frozenset[str]] = {
    "temperature": frozenset({"temperature"}),
    "top_p": frozenset({"top_p", "topp"}),
    "top_k": frozenset({"top_k", "topk"}),
    "seed": frozenset({"seed", "random_seed"}),
    "max_tokens": frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens", "maxoutputtokens", "max_new_tokens", "maxtokens"}),
    "stop_seqs": frozenset({"stop", "stop_sequences", "stopsequences"}),
    "frequency_penalty": frozenset({"frequency_penalty", "frequencypenalty"}),
    "presence_penalty": frozenset({"presence_penalty", "presencepenalty"}),
}
"""By Inspect's name of a parameter, what providers call it in a request, in small letters. Only those with one meaning everywhere."""

_DEEPEST = 4


@dataclass(slots=True)
class Sampling:
    """Counts, over the first call of each sample, of what was configured and what of it was sent."""

    configured: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By parameter and value."""
    sent: Counter[tuple[str, str]] = field(default_factory=Counter)
    not_sent: Counter[tuple[str, str]] = field(default_factory=Counter)
    differing: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """By parameter, configured and sent value."""
    seen: int = 0
    """Calls whose request is in the log."""
    unseen: int = 0
    """Calls whose request is not."""

    def add(self, asked: Asked) -> None:
        """Count one call."""
        wanted = {name: value for name in _SPELLINGS if (value := asked.config.get(name)) is not None}
        self.configured.update((name, _show(value)) for name, value in wanted.items())
        if asked.request is None:
            self.unseen += 1
            return
        self.seen += 1
        there = dict(_walk(asked.request, _DEEPEST))
        for name, spellings in _SPELLINGS.items():
            found = next((there[spelling] for spelling in spellings if spelling in there), None)
            if found is not None:
                self.sent[name, _show(found)] += 1
            if name in wanted and found is None:
                self.not_sent[name, _show(wanted[name])] += 1
            elif name in wanted and found != wanted[name]:
                self.differing[name, _show(wanted[name]), _show(found)] += 1

    def describe(self) -> str | None:
        """Return one sentence for the provenance; None where no call is in the log."""
        if not self.seen + self.unseen:
            return None
        parts = [f"configured: {_list(self.configured) or 'provider defaults'}"]
        if self.seen:
            parts.append(f"in the request (first call of {self.seen} samples): {_list(self.sent) or 'none of the common parameters'}")
            if self.not_sent:
                parts.append(f"configured and not sent: {_list(self.not_sent)}")
        else:
            parts.append("requests are not in the log")
        return "; ".join(parts)

    def notes(self) -> Iterator[str]:
        """Give what a reader must know: parameters that were recorded and not sent, or sent with another value."""
        for (name, value), count in sorted(self.not_sent.items()):
            yield f"{name} {value} is recorded as configured and was not in the request ({count} of {self.seen} requests in the log)"
        for (name, wanted, found), count in sorted(self.differing.items()):
            yield f"{name} is recorded as {wanted} and was sent as {found} ({count} of {self.seen} requests in the log)"
        if self.unseen and self.configured:
            yield f"{self.unseen} samples do not hold the request of their first call: what was sent for them is not known"


def build_sampling(calls: Iterable[Asked]) -> Sampling:
    """Return the counts over *calls*."""
    sampling = Sampling()
    for asked in calls:
        sampling.add(asked)
    return sampling


def _walk(value: Mapping[str, Any], depth: int) -> Iterator[tuple[str, Any]]:
    """Give every entry that is set, the outermost last: it wins where a name stands on several levels."""
    for inner in value.values():
        if isinstance(inner, dict) and depth:
            yield from _walk(inner, depth - 1)
    for key, inner in value.items():
        if inner is not None and not isinstance(inner, dict):
            yield key.lower(), inner


def _show(value: object) -> str:
    return json.dumps(value)[:80]


def _list(counts: Counter[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(counts))
