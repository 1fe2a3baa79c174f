"""One JSON file of a skill-contamination run, read step by step; whatever does not fit is told with its path, and reading goes on."""

import difflib
import hashlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from audit.sources.raw import FaultList
from registry.codec.canonical import Json
from registry.codec.files import parse_document, read_text
from registry.errors import Fault, InputError

Value = TypeVar("Value")

_LARGEST_BYTES = 200_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A value in a document, and the path that leads there. What is missing is a place whose value is None."""

    value: Json
    where: str
    faults: FaultList

    def fault(self, code: str, found: str, advice: str | None = None) -> None:
        """Tell that something is wrong here, once however often the place is looked at."""
        fault = Fault(code=code, where=self.where, found=found, advice=advice)
        if fault not in self.faults.faults:
            self.faults.add(fault)

    def has(self, name: str) -> bool:
        """Whether *name* is here and is not null."""
        return isinstance(self.value, dict) and self.value.get(name) is not None

    def at(self, name: str) -> "Place":
        """Return the place *name* of an object; its value is None when it is not there."""
        self.expect(dict, "an object")
        value = self.value.get(name) if isinstance(self.value, dict) else None
        return Place(value=value, where=self._join(name), faults=self.faults)

    def items(self, name: str) -> Iterator["Place"]:
        """Give the places of the list *name*."""
        here = self.at(name)
        here.expect(list, "a list", required=isinstance(self.value, dict))
        for position, value in enumerate(here.value if isinstance(here.value, list) else ()):
            one = Place(value=value, where=f"{here.where}[{position}]", faults=self.faults)
            if one.expect(dict, "an object", required=True):
                yield one

    def entries(self) -> Iterator[tuple[str, "Place"]]:
        """Give the places of an object with their names."""
        self.expect(dict, "an object")
        for name in self.value if isinstance(self.value, dict) else ():
            yield str(name), self.at(str(name))

    def text(self, name: str, *, default: str | None = None) -> str:
        """Return the text *name*; *default* where it is null or missing, a fault without one."""
        here = self.at(name)
        if here.value is None and default is not None:
            return default
        return here.value if isinstance(here.value, str) else here.refuse("a text", "")

    def texts(self, name: str) -> list[str]:
        """Return the texts of the list *name*; empty when it is not there."""
        here = self.at(name)
        here.expect(list, "a list")
        values = here.value if isinstance(here.value, list) else []
        return [one for one in values if isinstance(one, str)]

    def whole(self, name: str, *, required: bool = True) -> int | None:
        """Return the whole number *name*, 0 or above; None when it is not there."""
        here = self.at(name)
        if isinstance(here.value, int) and not isinstance(here.value, bool) and here.value >= 0:
            return here.value
        return None if here.value is None and not required else here.refuse("a whole number, 0 or above", None)

    def number(self, name: str, *, low: float, high: float) -> float:
        """Return the number *name*, which has to lie in [low, high]; NaN after a fault."""
        here = self.at(name)
        if isinstance(here.value, bool) or not isinstance(here.value, int | float):
            here.fault("score-not-number", f"expected a number from {low:g} to {high:g}, found {_show(here.value)}")
            return math.nan
        if not low <= here.value <= high:
            here.fault(
                "score-out-of-range", f"{_show(here.value)} lies outside [{low:g}, {high:g}]", "correct the score, or remove the response"
            )
            return math.nan
        return float(here.value)

    def flag(self, name: str) -> bool | None:
        """Return whether *name* is true; None when it is not there."""
        here = self.at(name)
        return here.value if here.value is None or isinstance(here.value, bool) else here.refuse("true or false", None)

    def refuse_unknown(self, known: Iterable[str], *, code: str, what: str) -> None:
        """Tell every key that is none of *known*."""
        names = list(known)
        for name in self.value if isinstance(self.value, dict) else ():
            if name not in names:
                close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
                advice = f"did you mean {close[0]}?" if close else f"the {what}s are: {', '.join(names[1:])}"
                self.faults.add(Fault(code=code, where=self._join(name), found=f"no {what} is called {name!r}", advice=advice))

    def _join(self, name: str) -> str:
        # After the file comes a comma, inside the document a point.
        return f"{self.where}{'.' if ', ' in self.where else ', '}{name}"

    def expect(self, kind: type, name: str, *, required: bool = False) -> bool:
        """Return whether the value is of *kind*, telling a fault if not; null passes for "not there" unless *required*."""
        if isinstance(self.value, kind):
            return True
        if self.value is not None or required:
            self.refuse(name, None)
        return False

    def refuse(self, expected: str, instead: Value) -> Value:
        """Tell that something else stands here, and return *instead*."""
        self.fault("not-valid", f"expected {expected}, found {_show(self.value)}")
        return instead


def open_json(path: Path, *, name: str, faults: FaultList, files: dict[str, str]) -> Place | None:
    """Return the whole document in *path*, noting its SHA-256 in *files*; None when it is no JSON object, and then *faults* says why."""
    try:
        text = read_text(path, largest=_LARGEST_BYTES)
        document = _parse_object(text, name)
    except InputError as error:
        for fault in error.faults:
            # These files are JSON alone; what is broken enough may look like YAML to the parser of both.
            faults.add(replace(fault, code="not-json") if fault.code == "not-yaml" else fault)
        return None
    files[name] = hashlib.sha256(text.encode()).hexdigest()
    return Place(value=document, where=name, faults=faults)


def _parse_object(text: str, name: str) -> Json:
    """What does not begin like an object would be read as YAML."""
    if text.lstrip()[:1] != "{":
        raise InputError(Fault(code="not-json", where=name, found=f"expected a JSON object, found {_show(text.strip()[:40])}"))
    return parse_document(text, where=name)


def _show(value: object) -> str:
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
