"""What an endpoint answered, read with care: a document or a stream of events becomes one message, or is no message at all."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from audit.records.model_response import Usage
from registry.codec.canonical_documents import canonical_bytes
from registry.errors import CaveatError

_COUNTS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_LARGEST_COUNT = 2**53 - 1
"""The largest whole number that canonical JSON holds."""


class NotAMessageError(ValueError):
    """The answer lacks what makes a message; the text says what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of the model, as the endpoint wrote it."""

    id: str | None
    model: str
    """The model that answered, which need not be the one that was asked."""
    content: tuple[dict[str, Any], ...]
    """Blocks as they came, of types unknown to us too; empty when the model said nothing."""
    stop_reason: str | None
    usage: Usage = field(default_factory=Usage)


def read_message(document: object) -> Message:
    """Return the message that *document* is.

    Raises:
        NotAMessageError: it is none: no object, without model or content, or with blocks or counts that cannot be.
    """
    found = _as_object(document, "the answer")
    content = found.get("content")
    if not isinstance(content, list):
        raise NotAMessageError(f"expected a list of blocks as content, found {_name(content)}")
    return Message(
        id=_as_text(found.get("id"), "id", required=False),
        model=_as_text(found.get("model"), "model") or "",
        content=tuple(_read_block(block, place) for place, block in enumerate(content)),
        stop_reason=_as_text(found.get("stop_reason"), "stop_reason", required=False),
        usage=_read_usage(found.get("usage")),
    )


class Assembly:
    """A message that arrives in events, put together again; complete only when its end was seen."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, list[str]] = {}
        self._ended = False

    def add(self, event: object) -> None:
        """Take in one *event*; kinds that are not known change nothing.

        Raises:
            NotAMessageError: it is no event.
        """
        found = _as_object(event, "an event of the stream")
        match found.get("type"):
            case "message_start":
                self._message = dict(_as_object(found.get("message"), "message_start"))
            case "content_block_start":
                self._blocks[_as_index(found)] = dict(_as_object(found.get("content_block"), "content_block_start"))
            case "content_block_delta":
                self._extend(_as_index(found), _as_object(found.get("delta"), "content_block_delta"))
            case "message_delta":
                self._message.update(_as_object(found.get("delta"), "message_delta"))
                usage = found.get("usage")
                if isinstance(usage, Mapping):
                    told = {name: count for name, count in usage.items() if count is not None}
                    self._message["usage"] = {**(self._message.get("usage") or {}), **told}
            case "message_stop":
                self._ended = True
            case _:
                return

    @property
    def is_complete(self) -> bool:
        """Whether the end of the message was seen; a stream that breaks off before is no answer."""
        return self._ended

    def finish(self) -> Message:
        """Return the message; raises NotAMessageError for one that is none, or broke off."""
        if not self._ended:
            raise NotAMessageError("the stream broke off before the end of the message")
        return read_message({**self._message, "content": [self._blocks[index] for index in sorted(self._blocks)]})

    def _extend(self, index: int, delta: Mapping[str, Any]) -> None:
        block = self._blocks.get(index)
        if block is None:
            raise NotAMessageError(f"the stream continues block {index}, which it never began")
        for name in ("text", "thinking", "signature"):
            if isinstance(delta.get(name), str):
                block[name] = str(block.get(name) or "") + delta[name]
        if isinstance(delta.get("partial_json"), str):
            self._inputs.setdefault(index, []).append(delta["partial_json"])
            block["input"] = "".join(self._inputs[index])
        if "citation" in delta:
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]


def _read_block(block: object, place: int) -> dict[str, Any]:
    found = dict(_as_object(block, f"content[{place}]"))
    kind = _as_text(found.get("type"), f"content[{place}].type")
    if kind in ("text", "thinking"):
        _as_text(found.get(kind), f"content[{place}].{kind}")
    try:
        canonical_bytes(found)
    except CaveatError as error:
        raise NotAMessageError(f"content[{place}] cannot be kept: {error.faults[0].found}") from error
    return found


def _read_usage(value: object) -> Usage:
    if value is None:
        return Usage()
    found = _as_object(value, "usage")
    counts = {name: found.get(name) for name in _COUNTS}
    for name, count in counts.items():
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= _LARGEST_COUNT):
            raise NotAMessageError(f"expected a count of tokens as usage.{name}, found {count!r:.40}")
    return Usage(**counts, service_tier=_as_text(found.get("service_tier"), "usage.service_tier", required=False))


def _as_object(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise NotAMessageError(f"expected an object as {where}, found {_name(value)}")
    return value


def _as_text(value: object, where: str, *, required: bool = True) -> str | None:
    if value is None and not required:
        return None
    if not isinstance(value, str):
        raise NotAMessageError(f"expected a text as {where}, found {_name(value)}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise NotAMessageError(f"{where} cannot be kept: it holds half a character (a lone surrogate)") from error
    return value


def _as_index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    if not isinstance(index, int):
        raise NotAMessageError(f"expected a number as index of an event, found {_name(index)}")
    return index


def _name(value: object) -> str:
    """What *value* is, in JSON's words."""
    names: Iterable[tuple[type, str]] = (
        (bool, "a truth value"),
        (str, "a text"),
        ((int), "a number"),
        (float, "a number"),
        (list, "a list"),
    )
    return "nothing" if value is None else next((name for kind, name in names if isinstance(value, kind)), "an object")
