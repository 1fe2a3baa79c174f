"""Option types that several commands share."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import click

from registry.errors import Fault, InputError
from registry.records.model_version import ModelRef
from registry.records.record import Identifier, Kind, parse_identifier

_LONGEST_MODEL = 500


class IdentifierType(click.ParamType[Identifier]):
    """An identifier of one of some kinds, its check character verified."""

    name = "id"

    def __init__(self, *kinds: Kind) -> None:
        self._kinds = kinds

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Identifier:
        """Return the identifier; a wrong one ends the command with what was probably meant."""
        if isinstance(value, Identifier):
            return value
        try:
            return parse_identifier(str(value), *self._kinds)
        except ValueError as error:
            return self.fail(str(error), param, ctx)


@contextmanager
def refusing(where: str) -> Iterator[None]:
    """What a record refuses while it is built from options becomes a fault of *where*."""
    try:
        yield
    except ValueError as error:
        raise InputError(Fault(code="not-valid", where=where, found=str(error))) from error


def shorten(path: Path) -> str:
    """Return *path* as seen from the current folder where it lies in it, else as it is."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


CLAIM = IdentifierType(Kind.CLAIM)
CARD = IdentifierType(Kind.CARD)
AUDIT = IdentifierType(Kind.AUDIT)
CONTESTATION = IdentifierType(Kind.CONTESTATION)
SPEC = IdentifierType(Kind.PROPERTY, Kind.SCORING, Kind.CONTEXT, Kind.CUES, Kind.METHOD)
CONTESTABLE = IdentifierType(Kind.CLAIM, Kind.PROPERTY, Kind.SCORING, Kind.CONTEXT, Kind.CUES, Kind.METHOD)
ANY = IdentifierType()


def parse_model(text: str, *, where: str) -> ModelRef:
    """Return the model version written as `developer/name/version`; a version may hold slashes itself. Raises InputError."""
    parts = [part.strip() for part in text.split("/", 2)]
    if len(text) > _LONGEST_MODEL:
        found = f"{text[:40]!r}… is no name of a model version: it has {len(text):,} characters, at most {_LONGEST_MODEL} are taken"
    elif len(text.splitlines()) > 1:
        found = f"{text!r} is no name of a model version: it holds a line break"
    elif len(parts) != len(("developer", "name", "version")) or not all(parts):
        found = f"{text!r} is not a model version"
    else:
        return ModelRef(developer=parts[0], name=parts[1], version=parts[2])
    raise InputError(Fault(code="bad-model", where=where, found=found, advice="write developer/name/version, such as EXAMPLE/m/1"))


def parse_date(text: str, *, where: str) -> date:
    """Return the day written as `2026-11-21`; raises InputError."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        found = f"{text!r} is not a day"
        raise InputError(Fault(code="bad-date", where=where, found=found, advice="write it as 2026-11-21")) from error
