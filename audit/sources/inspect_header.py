"""What a log of Inspect says of itself as a whole, and where in it (or in a sample) a value stands."""

import json
from dataclasses import dataclass
from typing import Any

from audit.errors import TableError
from registry.errors import Fault

NEWEST_VERSION = 2
"""Version of Inspect's log format that this was written for."""

LARGEST_NUMBER = 1e100
LARGEST_COUNT = 100_000_000
"""More responses than this have no log."""

Object = dict[str, Any]
"""A parsed JSON object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """A log without its samples."""

    status: str
    """`success`, `error`, `cancelled`, or `started` where the log was never finished."""
    version: int
    spec: Object
    """What Inspect calls `eval`: task, model, dataset, configuration."""
    plan: Object
    results: Object
    """Empty where the log has none."""
    stats: Object
    error: str | None
    metadata: Object
    """Of the evaluation, later edits included."""
    tags: tuple[str, ...]
    updates: int
    """How often tags or metadata were edited after the run."""
    is_finished: bool
    """False: the log has only the journal of its beginning."""

    def find(self, name: str, sample: Object | None = None) -> str | None:
        """Return, as text, what stands at the dotted *name*; None where nothing does.

        `metadata.x` and `tags` are those of the log, later edits included; `tags.side` is what follows `side:` or `side=` in a tag;
        `sample.metadata.x` is the sample's; any other name (`task_args.x`, `model`, `task`) is looked up in the log's specification.
        A tag list of more than one tag is no single value.
        """
        first, _, rest = name.partition(".")
        if first == "sample":
            return as_text(dig(sample or {}, rest))
        if first == "tags":
            found = [tag[len(rest) + 1 :] for tag in self.tags if tag.startswith((f"{rest}:", f"{rest}="))] if rest else list(self.tags)
            return found[0] if len(found) == 1 else None
        if first == "metadata":
            return as_text(dig(self.metadata, rest))
        return as_text(dig(self.spec, name))


def parse_header(document: Object, *, name: str) -> Header:
    """Return the header that *document* (a whole log or the member `header.json`, or the journal's beginning) states.

    Raises:
        TableError: it is no log of Inspect, or one of a format that came after this program.
    """
    version = document.get("version", NEWEST_VERSION)
    if not isinstance(version, int) or not isinstance(document.get("eval"), dict):
        found = "the file has no `version` and `eval`, as a log of Inspect has"
        raise TableError(Fault(code="log-not-readable", where=name, found=found, advice="give a log of Inspect (.eval or .json)"))
    if version > NEWEST_VERSION:
        found = f"the log is of version {version} of the format; this program knows versions up to {NEWEST_VERSION}"
        advice = "update Caveat, or write the log again with an earlier Inspect"
        raise TableError(Fault(code="log-version", where=name, found=found, advice=advice))
    spec = as_object(document["eval"])
    updates = as_list(document.get("log_updates"))
    tags, metadata = _apply_updates(spec, updates)
    error = document.get("error")
    return Header(
        status=str(document.get("status") or "started"),
        version=version,
        spec=spec,
        plan=as_object(document.get("plan")),
        results=as_object(document.get("results")),
        stats=as_object(document.get("stats")),
        error=(as_text(as_object(error).get("message")) or as_text(error) or "no message") if error else None,
        metadata=metadata,
        tags=tags,
        updates=len(updates),
        is_finished="status" in document,
    )


def _apply_updates(spec: Object, updates: list[Any]) -> tuple[tuple[str, ...], Object]:
    """Return tags and metadata as they stand after every edit."""
    tags = {str(tag) for tag in as_list(spec.get("tags"))}
    metadata = dict(as_object(spec.get("metadata")))
    for update in updates:
        for edit in map(as_object, as_list(as_object(update).get("edits"))):
            tags = tags - set(map(str, as_list(edit.get("tags_remove")))) | set(map(str, as_list(edit.get("tags_add"))))
            for key in as_list(edit.get("metadata_remove")):
                metadata.pop(str(key), None)
            metadata.update(as_object(edit.get("metadata_set")))
    return tuple(sorted(tags)), metadata


def dig(value: Any, name: str) -> Any:
    """Return what stands at the dotted *name* below *value*, or None; a key that holds dots itself is found too."""
    if not name:
        return value
    if not isinstance(value, dict):
        return None
    if name in value:
        return value[name]
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        key = ".".join(parts[:length])
        if key in value:
            return dig(value[key], ".".join(parts[length:]))
    return None


def as_text(value: object) -> str | None:
    """Return a text, number or truth value as a text without white space around it; None for anything else, and for an empty text."""
    if isinstance(value, str):
        # Half a surrogate pair is no character and could not be written.
        return value.strip().encode("utf-8", "replace").decode("utf-8") or None
    return json.dumps(value) if isinstance(value, bool | int | float) else None


def as_line(text: str) -> str:
    """Return *text* on one line and without control characters: what a log says is printed, never obeyed."""
    return "".join(mark for mark in " ".join(text.split()) if mark.isprintable())


def as_object(value: object) -> Object:
    """Return *value* if it is an object, else an empty one: a log is not trusted to have the form it should have."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return *value* if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_number(value: object) -> float | None:
    """Return *value* if it is a finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < LARGEST_NUMBER else None


def as_count(value: object) -> int | None:
    """Return *value* if it is a whole number that can count something, else None."""
    number = as_number(value)
    return int(number) if number is not None and 0 <= number <= LARGEST_COUNT and number == int(number) else None
