"""What all records share: their base classes, identifiers with a check character, and the authorities that speak."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

# What all records share: they are frozen, closed (unknown fields are refused) and read strictly.


def _document_name(name: str) -> str:
    """`class_` in Python is `class` in a document."""
    return name.rstrip("_")


_RULES: Mapping[str, bool | str | Callable[[str], str]] = {
    "alias_generator": _document_name,
    "allow_inf_nan": False,
    "extra": "forbid",
    "serialize_by_alias": True,
    "strict": True,
}


class Record:
    """The base of every noun. `registry.codec` reads the rules; nothing else knows them."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Mapping[str, bool | str | Callable[[str], str]]] = _RULES


class Payload(Record):
    """The base of what statements record. Each class is a kind of statement, and is known by its name when its module was read.

    What the log does with a kind (rows, rules, one-line summary, erasure) is in `registry.store.kinds`.
    """

    __slots__ = ()
    KIND: ClassVar[str]
    """Its name in the text of a statement: lower case, words joined by `_`."""
    CLASSES: ClassVar[dict[str, "type[Payload]"]] = {}
    """Those read so far, by kind; `registry.records.statement` reads all."""

    def __init_subclass__(cls) -> None:
        # A dataclass with slots is made twice. The second class takes the place of the first.
        if cls.CLASSES.setdefault(cls.KIND, cls).__qualname__ != cls.__qualname__:
            raise TypeError(f"{cls.__qualname__} and {cls.CLASSES[cls.KIND].__qualname__} are both of the kind {cls.KIND}")
        cls.CLASSES[cls.KIND] = cls


# Identifiers with a check character, such as `CLM-AISI-2026-0042-A@3#9f2c41d07ab3e518`.
#
# The check character is ISO/IEC 7064 MOD 37,36 over all letters and digits before it. It detects
# every single wrong character and every swap of neighbours.

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_VALUES = {character: value for value, character in enumerate(_ALPHABET)}
_PATTERN = re.compile(
    r"(?P<kind>[A-Z]{3})-(?P<authority>[A-Z][A-Z0-9]{1,11})-(?P<year>[0-9]{4})-(?P<number>[0-9]{4,})-(?P<check>[0-9A-Z])"
    r"(?:@(?P<revision>[1-9][0-9]*))?(?:#(?P<digest>[0-9a-f]{16}))?"
)
IDENTIFIER = re.compile(r"[A-Z]{3}-[A-Z][A-Z0-9]{1,11}-[0-9]{4}-[0-9]{4,}-[0-9A-Z]")
"""An identifier without revision, anywhere in a text."""
_STEM = re.compile(r"[A-Z]{3}-[A-Z][A-Z0-9]{1,11}-[0-9]{4}-[0-9]{4,}")


class Kind(StrEnum):
    """What an identifier names."""

    CLAIM = "CLM"
    AUDIT = "AUD"
    CARD = "CRD"
    CONTEXT = "CTX"
    PROPERTY = "PRP"
    SCORING = "SCF"
    CUES = "CUE"
    METHOD = "MTH"
    OBJECTION = "CON"
    MONITOR = "MON"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier(Record):
    """A parsed identifier, optionally of one revision and one exact content."""

    kind: Kind
    authority: str
    year: int
    number: int
    revision: int | None = None
    """None means: the latest."""

    digest: str | None = None
    """First 16 hexadecimal digits of the leaf; None means: whatever is recorded."""

    @property
    def bare(self) -> str:
        """The identifier without revision and digest, with its check character."""
        return format_identifier(self.kind, self.authority, self.year, self.number)

    def __str__(self) -> str:
        revision = "" if self.revision is None else f"@{self.revision}"
        digest = "" if self.digest is None else f"#{self.digest}"
        return f"{self.bare}{revision}{digest}"


def check_character(text: str) -> str:
    """Return the ISO/IEC 7064 MOD 37,36 check character of the letters and digits in *text*; hyphens are skipped."""
    # The recursive computation of ISO/IEC 7064, section on hybrid systems: add, reduce modulo 36 (0
    # becomes 36), double modulo 37.
    product = 36
    for character in text:
        if character != "-":
            total = (product + _VALUES[character]) % 36 or 36
            product = (total * 2) % 37
    return _ALPHABET[(37 - product) % 36]


def format_identifier(kind: Kind, authority: str, year: int, number: int) -> str:
    """Return the identifier of *number*, with its check character and at least four digits."""
    stem = f"{kind.value}-{authority}-{year:04d}-{number:04d}"
    return f"{stem}-{check_character(stem)}"


def parse_identifier(text: str, *kinds: Kind) -> Identifier:
    """Return the identifier written in *text*, which must be of one of *kinds* if any are given.

    Raises:
        ValueError: not an identifier, a wrong check character, or another kind.
    """
    written = text.strip()
    match = _PATTERN.fullmatch(written)
    if match is None:
        lacks = "has no check character at its end" if _STEM.fullmatch(written) else "is not an identifier"
        raise ValueError(
            f"{text!r} {lacks}; an identifier looks like {format_identifier(kinds[0] if kinds else Kind.CLAIM, 'AISI', 2026, 42)}"
        )
    if match["kind"] not in set(Kind):
        raise ValueError(f"{text!r} begins with {match['kind']}; known are {', '.join(Kind)}")
    expected = check_character(written[: match.start("check")].rstrip("-"))
    if match["check"] != expected:
        # What was meant cannot be told from the text alone: front ends look for identifiers in use.
        raise ValueError(f"the check character of {text!r} does not match")
    kind = Kind(match["kind"])
    if kinds and kind not in kinds:
        wanted = " or ".join(f"{wanted_kind.value}-…" for wanted_kind in kinds)
        noun = kind.name.lower()
        raise ValueError(f"{text!r} names {'an' if noun[0] in 'aeiou' else 'a'} {noun}, expected {wanted}")
    return Identifier(
        kind=kind,
        authority=match["authority"],
        year=int(match["year"]),
        number=int(match["number"]),
        revision=int(match["revision"]) if match["revision"] else None,
        digest=match["digest"],
    )


# Authorities: labs, institutes, regulators and auditors. A code is never renamed or reused, because
# it is part of every identifier.

_CODE = re.compile(r"[A-Z][A-Z0-9]{1,11}")


class AuthorityRole(StrEnum):
    """What an authority is."""

    LAB = "lab"
    INSTITUTE = "institute"
    REGULATOR = "regulator"
    AUDITOR = "auditor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority(Payload):
    """An authority that registers statements. The code `EXAMPLE` never leaves a registry."""

    KIND = "authority"
    code: str
    """Two to twelve capital letters and digits, a letter first."""

    name: str
    role: AuthorityRole

    def __post_init__(self) -> None:
        if not _CODE.fullmatch(self.code):
            raise ValueError(f"an authority code is 2 to 12 capital letters or digits, a letter first; got {self.code!r}")
