"""What a mapper gets and returns: one published record with its digest, and files; helpers that all mappers share."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from registry.codec.canonical_documents import canonical_bytes
from registry.errors import Fault, InputError
from registry.records.record import Record, parse_identifier
from registry.records.supplement import CardSupplement, Supplement

EXAMPLE = "EXAMPLE"
"""The authority of examples; exports of its records say so in their title."""
METHOD = "TRACE (arXiv:2605.11496)"
"""The method as every export spells it: the bare name is also that of a project on runtime attestation."""
METHOD_URL = "https://arxiv.org/abs/2605.11496"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program(Record):
    """The program that writes an export, as formats with a field for it name it."""

    name: str = "caveat"
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRecord:
    """A record as it was published: the canonical JSON of a supplement, and what is known of its publication."""

    supplement: Supplement | CardSupplement
    content: bytes
    """The canonical JSON: the bytes of `NAME.json`."""
    sha256: str
    """Of `content`, hexadecimal; the log has a publication with it."""
    checks: tuple[str, ...] = ()
    """The checks of `caveat verify` that were made on `content` and answered with yes, by name, in its order."""
    proof: bytes | None = None
    """Of the publication of `NAME.json`, as C2SP tlog-proof; None where that file was not published, or no checkpoint covers it."""

    @property
    def name(self) -> str:
        """`CLM-…@n` or `CRD-…@n`."""
        return self.supplement.identifier.partition("#")[0]

    @property
    def file_name(self) -> str:
        """The canonical record as a published file."""
        return f"{self.name}.json"

    @property
    def is_example(self) -> bool:
        """Whether it is of the authority `EXAMPLE`."""
        return parse_identifier(self.name).authority == EXAMPLE

    @property
    def title(self) -> str:
        """The identifier with the digest of its text; records of examples say so."""
        return f"{self.supplement.identifier} (example)" if self.is_example else self.supplement.identifier

    @property
    def claim(self) -> Supplement:
        """The supplement of a claim; formats of claims are refused for cards before a mapper runs, so ValueError is a defect."""
        if not isinstance(self.supplement, Supplement):
            raise ValueError(f"{self.name} is no claim")  # noqa: TRY004  (a value of the wrong kind, not a programming type)
        return self.supplement


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """One export: the record, what a person stated for fields that the record lacks, and the program."""

    record: PublishedRecord
    program: Program
    stated: Mapping[str, str] = field(default_factory=dict)
    """By name of the field, as given with `--field NAME=VALUE`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """One file of an export."""

    path: str
    """Below the folder of exports, with `/`."""
    content: bytes


Mapper = Callable[[ExportRequest], tuple[ExportedFile, ...]]


def write_json(document: Any) -> bytes:
    """Return RFC 8785 canonical JSON: the same record gives the same bytes."""
    return canonical_bytes(document)


def make_uuid(request: ExportRequest, part: str) -> str:
    """Return the UUID (version 5) of a *part* of an export. It follows from log, identifier and part only."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{request.record.supplement.log_origin}/{request.record.supplement.identifier}/{part}"))


def format_number(value: float) -> str:
    """Return the shortest decimal text of *value*, as the canonical record writes it."""
    return canonical_bytes(value).decode()


def format_moment(moment: datetime) -> str:
    """Return *moment* in UTC to the second, `2026-11-21T21:05:00Z`."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


class FieldReader:
    """What a person stated for fields that the record lacks; collects every field that is missing, so that all are refused at once."""

    def __init__(self, request: ExportRequest, format_name: str) -> None:
        self._request = request
        self._format_name = format_name
        self._faults: list[Fault] = []

    def read(self, name: str, meaning: str, *, choices: tuple[str, ...] = ()) -> str:
        """Return what was stated for *name*; an empty text, and a fault for later, where nothing usable was.

        Args:
            meaning: what to state, for the message.
            choices: the values that the format knows; empty for any text.
        """
        value = self._request.stated.get(name, "").strip()
        if value and (not choices or value in choices):
            return value
        wanted = f"{meaning}: {', '.join(choices)}" if choices else meaning
        problem = f"{value!r} is not {wanted}" if value else f"the format requires {meaning}, and the record does not state it"
        example = choices[0] if choices else "VALUE"
        self.lack(name, problem, advice=f"state it: --field {name}={example}")
        return ""

    def lack(self, name: str, problem: str, *, advice: str | None = None) -> None:
        """Note that the required field *name* has no true value."""
        place = f"{self._request.record.name}, {self._format_name}: {name}"
        self._faults.append(Fault("export-field-missing", place, problem, advice=advice))

    def refuse_missing(self) -> None:
        """Raise InputError with every field that is missing; return where none is."""
        if self._faults:
            raise InputError(self._faults)
