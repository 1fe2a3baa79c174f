"""Which of a log's scores makes the table, and what it is as a number."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from audit.errors import TableError
from audit.sources.choice import advise_value
from audit.sources.inspect_sample import Sample
from audit.sources.port import Reading
from audit.sources.raw import FaultList
from audit.sources.selection import suggest
from registry.errors import Fault

LETTERS: Mapping[str, float] = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""What Inspect's own letters stand for: correct, partial, incorrect, no answer."""

_SHOWN = 12


@dataclass(slots=True)
class Numbers:
    """Turns one scorer's values into numbers; keeps what it cannot turn, by value, with the samples that have it."""

    reading: Reading
    where: str
    refused: dict[str, list[str]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    """Of what was refused, the texts, by how they are shown."""
    keys: dict[str, None] = field(default_factory=dict)
    """Entries of scores that are objects, in the order met."""
    lacking: list[str] = field(default_factory=list)
    """Samples whose object has no entry called as `Reading.key` says."""

    def read(self, value: object, place: str) -> float | None:
        """Return *value* as a number, NaN included; None where there is no value, or where it was refused."""
        if isinstance(value, dict):
            self.keys.update(dict.fromkeys(str(key) for key in value))
            if self.reading.key is None or self.reading.key not in value:
                self.lacking.append(place)
                return None
            value = value[self.reading.key]
        if value is None:
            return None
        number = convert(value, self.reading.values or LETTERS)
        if number is None:
            self.refused.setdefault(_show(value), []).append(place)
            if isinstance(value, str):
                self.texts[_show(value)] = value
        return number

    def report(self, faults: FaultList) -> None:
        """Add what was refused to *faults*, one for each value."""
        if self.lacking:
            known = list(self.keys)
            asked = self.reading.key
            found = f"{_count(self.lacking)}: the score is an object with {', '.join(known[:_SHOWN])}"
            code, advice = "key-not-chosen", "choose one entry with --key"
            if asked is not None:
                code, found, advice = "unknown-key", f"{found}; none called {asked!r}", suggest(asked, known) or advice
            faults.add(Fault(code=code, where=self.where, found=found, advice=advice))
        known_texts = ", ".join(self.reading.values or LETTERS)
        for value, places in self.refused.items():
            found = f"{_count(places)}: expected a number or one of {known_texts}, found {value}"
            faults.add(Fault(code="score-not-number", where=self.where, found=found, advice=advise_value(self.texts.get(value))))


def convert(value: object, values: Mapping[str, float]) -> float | None:
    """Return *value* as a number: texts by *values* alone, truth values as 1 and 0; None for anything else, infinity included."""
    if isinstance(value, str):
        return values.get(value)
    if not isinstance(value, bool | int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return None if math.isinf(number) else number


def choose_scorer(samples: Sequence[Sample], reading: Reading, *, where: str) -> str | None:
    """Return the name of the scorer that makes the table; None where no sample has any score.

    Raises:
        TableError: several scorers and none chosen, or one that the log does not have.
    """
    names = list(dict.fromkeys(name for sample in samples for name in sample.scores))
    listed = ", ".join(names[:_SHOWN]) or "none"
    if reading.scorer is not None and (names and reading.scorer not in names):
        found = f"no sample has a score of {reading.scorer!r}; the scorers are: {listed}"
        raise TableError(Fault(code="unknown-scorer", where=where, found=found, advice=suggest(reading.scorer, names)))
    if reading.scorer is None and len(names) > 1:
        found = f"the samples have scores of several scorers: {listed}"
        raise TableError(Fault(code="scorer-not-chosen", where=where, found=found, advice="choose one with --scorer"))
    return reading.scorer or (names[0] if names else None)


def _show(value: object) -> str:
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return repr(value)[:60]


def _count(places: Sequence[str]) -> str:
    return f"{len(places)} samples, the first is {places[0]}" if len(places) > 1 else places[0]
