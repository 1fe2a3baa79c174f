"""What all records share: frozen, closed, and read strictly."""

from collections.abc import Callable, Mapping
from typing import ClassVar


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
