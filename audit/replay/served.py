"""Who serves a model that is no hosted one: what identifies weights and server, as a person or tools/localmodel.py wrote it down."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registry.codec.documents import from_document, to_document
from registry.codec.files import read_document
from registry.errors import Fault, InputError
from registry.records.record import Record

_PLACE = "base_url"
"""What may differ between two servings of the same model by the same server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedBy(Record):
    """A server and its model. None: not told."""

    server: str
    """Name and build, such as `llama.cpp in xllamacpp 2.0, build b7000`."""
    base_url: str | None = None
    model: str | None = None
    """The name that requests ask for."""
    weights: str | None = None
    """Name of the weights' file."""
    weights_sha256: str | None = None
    """Hexadecimal."""
    chat_template_sha256: str | None = None
    threads: int | None = None
    """How many compute one answer: another number can give another text."""
    slots: int | None = None
    """Answers made at the same time."""
    context_tokens_per_slot: int | None = None
    sampling_defaults: dict[str, float | None] | None = None
    """By parameter, what holds where a request sets none."""


def read_served_by(path: Path) -> ServedBy:
    """Return what the file *path* (JSON or YAML) says of the server; raises InputError with every fault."""
    return from_document(ServedBy, read_document(path), where=str(path))


def check_served_by(served: ServedBy, *, model: str, base_url: str | None, where: str) -> None:
    """Return when *served* is about this *model* at this *base_url* (None: not known yet); raises InputError."""
    pairs = (("model", served.model, model), ("base_url", served.base_url and served.base_url.rstrip("/"), base_url))
    faults = [
        Fault(
            code="not-valid", where=f"{where}, {name}", found=f"is {told}; the replay asks {asked}", advice="give the file of that server"
        )
        for name, told, asked in pairs
        if told is not None and asked is not None and told != asked
    ]
    if faults:
        raise InputError(faults)


def find_differences(served: ServedBy, known: Mapping[str, Any]) -> list[str]:
    """Return the names of what *served* says otherwise than the document *known* of an earlier session: then it is another model."""
    now = to_document(served)
    return sorted(name for name in {*now, *known} - {_PLACE} if now.get(name) != known.get(name))


def describe_served_by(document: Mapping[str, Any]) -> str:
    """Return in words what a session's document says of its server, for the provenance; empty where it says nothing."""
    return "; ".join(_describe(document.get("served_by") or {}))


def add_defaults(sampling: Mapping[str, str], served: ServedBy | None) -> dict[str, str]:
    """Return *sampling*, as `audit.model.describe_sampling` tells it, with the numbers that the server's defaults are."""
    defaults = (served.sampling_defaults if served else None) or {}
    return {
        name: f"{told} ({value:g})" if told == "default" and (value := defaults.get(name)) is not None else told
        for name, told in sampling.items()
    }


def _describe(told: Mapping[str, Any]) -> Iterator[str]:
    if "server" in told:
        yield str(told["server"])
    if told.get("weights_sha256"):
        yield f"weights {told.get('weights') or ''} SHA-256 {told['weights_sha256']}".replace("  ", " ")
    if told.get("chat_template_sha256"):
        yield f"chat template SHA-256 {told['chat_template_sha256']}"
    sizes = (("threads", "threads"), ("slots", "slots"), ("context_tokens_per_slot", "context tokens a slot"))
    found = ", ".join(f"{told[name]} {words}" for name, words in sizes if told.get(name) is not None)
    if found:
        yield found
