"""Which model version a proposed claim is about, as the record needs it: developer, name and version."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from registry.records.model import ModelRef
from registry.records.proposal import Proposal

NOT_STATED = "not stated"
"""Stands where the record needs a word and the card has none; completeness counts it as missing."""
_TOKEN = re.compile(r"[^\s\-_/()]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModels:
    """What is known of the models a card may speak of."""

    publisher: str | None
    """Of the card; None for a file that is not registered."""
    given: ModelRef | None = None
    """What the person says that the card is about."""
    registered: tuple[ModelRef, ...] = ()

    def resolve(self, name: str | None, version: str | None) -> ModelRef | None:
        """Return the model version that *name* and *version* stand for, None without a name.

        The given model comes first, then the one registered version that fits, then the words of the card with "not stated" for what they
        do not say. A name fits one that contains it: "Haiku 4.5" fits "Claude Haiku 4.5", and "Llama 4 Scout" does not fit "Llama 4".
        """
        if name is None or not name.strip():
            return None
        if self.given is not None and _fits(name, self.given.name):
            return self.given
        fitting = [one for one in self.registered if _fits(name, one.name) and version in (None, one.version)]
        exact = [one for one in fitting if _split(one.name) == _split(name)]
        for choice in (exact, fitting):
            if len(choice) == 1:
                return choice[0]
        return ModelRef(developer=self._developer, name=" ".join(name.split()), version=version or NOT_STATED)

    def choose_default(self, proposals: Sequence[Proposal]) -> ModelRef:
        """Return the model version that stands for the whole file: the given one, otherwise the one most proposals are about."""
        if self.given is not None:
            return self.given
        named = Counter(one for proposal in proposals if (one := self.resolve(proposal.model, proposal.version)) is not None)
        if named:
            return named.most_common(1)[0][0]
        return ModelRef(developer=self._developer, name=NOT_STATED, version=NOT_STATED)

    @property
    def _developer(self) -> str:
        return self.publisher or (self.given.developer if self.given else NOT_STATED)


def _fits(name: str, known: str) -> bool:
    """Whether the words of *name* stand in *known*, next to each other."""
    inner, outer = _split(name), _split(known)
    return bool(inner) and any(outer[start : start + len(inner)] == inner for start in range(len(outer) - len(inner) + 1))


def _split(name: str) -> tuple[str, ...]:
    return tuple(token.casefold() for token in _TOKEN.findall(name))
