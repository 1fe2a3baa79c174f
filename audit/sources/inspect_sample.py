"""One sample of a log of Inspect, reduced to what a row and the accounts need; its messages are let go."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from audit.errors import TableError
from audit.sources.inspect_header import Header, Object, as_list, as_number, as_object, as_text
from registry.errors import Fault

PLACEHOLDER = "88F74D2C"
"""What Inspect calls the scorer of a sample in logs so old that a sample has one score and no name for it."""

_ATTACHMENT = "attachment://"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What one scorer said of a sample."""

    value: Any
    """As it stands in the log: text, number, truth value, list or object."""
    edits: int
    """How often it was changed after scoring."""
    reason: str | None
    """Why it is not an ordinary score, where the scorer says so (`refusal`, `grader_failed`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The first call of the audited model in a sample: what was configured for it and what was sent."""

    config: Object
    request: Object | None
    """The body of the request without messages and tools; None where the log does not hold it."""
    tools: tuple[str, ...]
    request_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One response, as far as a score table is concerned."""

    task_id: str
    epoch: str
    arm: str | None
    """What stands at the field that was asked for; None: no field was asked for, or nothing stands there."""
    context: str | None
    family: str | None
    text: str | None
    """What the user asks; None where the sample has no input."""
    scores: Mapping[str, Scored]
    error: str | None
    limit: str | None
    """Which limit ended it: `token`, `message`, `time` …"""
    invalidated_by: str | None
    """Who declared it invalid; an empty text where the log does not say."""
    fallbacks: tuple[str, ...]
    """Models that answered in place of the one asked for."""
    retries: int
    has_timelines: bool
    stop_reason: str | None
    model: str | None
    """The model's name as the endpoint returned it."""
    started_at: str | None
    working_s: float | None
    input_tokens: float | None
    """Of the audited model alone, all its calls."""
    output_tokens: float | None
    target_sha256: str | None
    """Digest of the right answer; None where the log states none."""
    system_sha256: str | None
    """Digest of the system messages' text; None where there is none."""
    asked: Asked | None
    """None where the log holds no events."""

    @property
    def key(self) -> tuple[str, str]:
        """Task and epoch."""
        return self.task_id, self.epoch


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """Where arm, context and task stand, as the user says; None: not in the log."""

    arm: str | None
    context: str | None
    task: str | None
    family: str | None = None


def parse_json(content: bytes | str, where: str) -> Object:
    """Return the object that *content* holds; NaN and Infinity are read as Python writes them.

    Raises:
        TableError: it is no JSON, or no object.
    """
    try:
        document = _load(content)
    except (ValueError, RecursionError) as error:
        raise TableError(Fault(code="log-not-readable", where=where, found=f"the content is not JSON: {error}")) from error
    if not isinstance(document, dict):
        found = f"expected an object, found {type(document).__name__}"
        raise TableError(Fault(code="log-not-readable", where=where, found=found))
    return document


def _load(content: bytes | str) -> Any:
    """The fast parser knows no NaN; where it refuses, Python's own decides."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return json.loads(content)


def build_sample(document: Object, header: Header, fields: Fields, *, where: str) -> Sample:
    """Return what a row and the accounts need of *document*.

    Raises:
        TableError: it has no identifier or no epoch, or nothing stands where the task is said to stand.
    """
    epoch = as_text(document.get("epoch"))
    task = as_text(document.get("id")) if fields.task is None else header.find(fields.task, document)
    if epoch is None or task is None:
        code, lacks = "log-not-readable", "no identifier or no epoch"
        if fields.task is not None:
            code, lacks = "unknown-field", f"no single value at {fields.task}"
        raise TableError(Fault(code=code, where=where, found=f"the sample has {lacks}"))
    output, limit, invalidation = (as_object(document.get(name)) for name in ("output", "limit", "invalidation"))
    usage = as_object(as_object(document.get("model_usage")).get(str(header.spec.get("model"))))
    choices = as_list(output.get("choices"))
    return Sample(
        task_id=task,
        epoch=epoch,
        arm=header.find(fields.arm, document) if fields.arm else None,
        context=header.find(fields.context, document) if fields.context else None,
        family=header.find(fields.family, document) if fields.family else None,
        text=_read_input(document),
        scores=_read_scores(document, header),
        error=_read_error(document.get("error")),
        limit=as_text(limit.get("type")),
        invalidated_by=(as_text(invalidation.get("author")) or "") if document.get("invalidation") else None,
        fallbacks=tuple(str(as_object(one).get("fallback_model")) for one in as_list(document.get("model_fallbacks"))),
        retries=len(as_list(document.get("error_retries"))),
        has_timelines=bool(document.get("timelines")),
        stop_reason=as_text(as_object(choices[0]).get("stop_reason")) if choices else None,
        model=as_text(output.get("model")),
        started_at=as_text(document.get("started_at")),
        working_s=as_number(document.get("working_time")),
        input_tokens=as_number(usage.get("input_tokens")),
        output_tokens=as_number(usage.get("output_tokens")),
        target_sha256=_digest_target(document.get("target")),
        system_sha256=_digest_system(document),
        asked=_find_asked(as_list(document.get("events"))),
    )


def _read_scores(document: Object, header: Header) -> dict[str, Scored]:
    scores = dict(as_object(document.get("scores")))
    if "score" in document and not scores:
        scores[PLACEHOLDER] = document["score"]
    if PLACEHOLDER in scores:
        named = as_list(header.results.get("scores")) or [header.results.get("scorer")]
        name = as_object(named[0]).get("name")
        scores[str(name or PLACEHOLDER)] = scores.pop(PLACEHOLDER)
    return {as_text(name) or "unnamed": _read_score(as_object(score)) for name, score in scores.items() if isinstance(score, dict)}


def _read_score(score: Object) -> Scored:
    reason = as_text(score.get("reason")) or as_text(as_object(score.get("metadata")).get("unscored_reason"))
    # The entry without provenance is the score as it was before the first edit.
    edits = sum(1 for entry in as_list(score.get("history")) if as_object(entry).get("provenance"))
    return Scored(value=score.get("value"), edits=edits, reason=reason)


def _read_error(error: object) -> str | None:
    if not error:
        return None
    return as_text(as_object(error).get("message")) or as_text(error) or "no message"


def _find_asked(events: Iterable[Any]) -> Asked | None:
    """Return the first call to the audited model; a model in a role, such as a grader, is another one."""
    for event in map(as_object, events):
        if event.get("event") == "model" and not event.get("role"):
            request = as_object(event.get("call")).get("request")
            ids = tuple(text for one in as_list(event.get("request_ids")) if (text := as_text(as_object(one).get("id"))))
            tools = tuple(text for tool in as_list(event.get("tools")) if (text := as_text(as_object(tool).get("name"))))
            kept = {key: value for key, value in request.items() if key not in _BULKY} if isinstance(request, dict) else None
            config = {key: value for key, value in as_object(event.get("config")).items() if value is not None}
            return Asked(config=config, request=kept, tools=tools, request_ids=ids)
    return None


_BULKY = frozenset({"messages", "contents", "input", "system", "system_instruction", "tools", "prompt"})


def _digest_target(target: object) -> str | None:
    """A text and a list of that text alone are one target, as they are for Inspect."""
    texts = [text for one in (target if isinstance(target, list) else [target]) if (text := as_text(one)) is not None]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest() if texts else None


def _digest_system(document: Object) -> str | None:
    messages = as_list(document.get("messages")) or as_list(document.get("input"))
    system = [message for message in map(as_object, messages) if message.get("role") == "system"]
    if not system:
        return None
    attachments = as_object(document.get("attachments"))
    text = "\n\n".join(_resolve(part, attachments) for message in system for part in _list_texts(message.get("content")))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _read_input(document: Object) -> str | None:
    """The user's texts of the sample's input, which may be one text or messages."""
    given, attachments = document.get("input"), as_object(document.get("attachments"))
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else map(as_object, as_list(given))
    parts = [_resolve(part, attachments) for one in messages if one.get("role") == "user" for part in _list_texts(one.get("content"))]
    return "\n".join(parts) or None


def _list_texts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [str(as_object(part).get("text")) for part in as_list(content) if "text" in as_object(part)]


def _resolve(text: str, attachments: Object) -> str:
    return str(attachments.get(text.removeprefix(_ATTACHMENT), text)) if text.startswith(_ATTACHMENT) else text
