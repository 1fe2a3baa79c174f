"""Samples of an Inspect log: what was sent, which score counts, and the rows they become."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from audit.errors import TableError
from audit.sources.inspect_archive import LogHeader, Object, as_list, as_number, as_object, as_text
from audit.sources.log_rows import TARGET, FileCounts, LogOptions, LogRow, advise_value
from audit.sources.score_columns import FaultList, suggest
from registry.errors import Fault

# One sample, reduced to what a row and the accounts need. Its messages are dropped, so a log of any size can be read.

PLACEHOLDER = "88F74D2C"
"""What Inspect calls the scorer of a sample in logs so old that a sample has one score and no name for it."""

_ATTACHMENT = "attachment://"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerResult:
    """What one scorer said of a sample."""

    value: Any
    """As it stands in the log: text, number, truth value, list or object."""
    edits: int
    """How often it was changed after scoring."""
    reason: str | None
    """Why it is not an ordinary score, where the scorer says so (`refusal`, `grader_failed`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstCall:
    """The first call of the audited model in a sample: what was configured for it and what was sent."""

    config: Object
    request: Object | None
    """The body of the request without messages and tools; None where the log does not hold it."""
    tools: tuple[str, ...]
    request_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSample:
    """One response, as far as a score table is concerned."""

    task_id: str
    epoch: str
    arm: str | None
    """What stands at the field that was asked for; None: no field was asked for, or nothing stands there."""
    context: str | None
    family: str | None
    text: str | None
    """What the user asks; None where the sample has no input."""
    scores: Mapping[str, ScorerResult]
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
    asked: FirstCall | None
    """None where the log holds no events."""

    @property
    def key(self) -> tuple[str, str]:
        """Task and epoch."""
        return self.task_id, self.epoch


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleFields:
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
        raise TableError(Fault("file-not-readable", where, f"the content is not JSON: {error}")) from error
    if not isinstance(document, dict):
        raise TableError(Fault("file-not-readable", where, f"expected an object, found {type(document).__name__}"))
    return document


def _load(content: bytes | str) -> Any:
    """The fast parser knows no NaN; where it refuses, Python's own decides."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return json.loads(content)


def build_sample(document: Object, header: LogHeader, fields: SampleFields, *, where: str) -> LogSample:
    """Return what a row and the accounts need of *document*.

    Raises:
        TableError: it has no identifier or no epoch, or nothing is where the task is said to are.
    """
    epoch = as_text(document.get("epoch"))
    task = as_text(document.get("id")) if fields.task is None else header.find(fields.task, document)
    if epoch is None or task is None:
        code, lacks = "file-not-readable", "no identifier or no epoch"
        if fields.task is not None:
            code, lacks = "unknown-name", f"no single value at {fields.task}"
        raise TableError(Fault(code, where, f"the sample has {lacks}"))
    output, limit, invalidation = (as_object(document.get(name)) for name in ("output", "limit", "invalidation"))
    # Only the audited model's tokens: graders and other roles are counted under their own names.
    usage = as_object(as_object(document.get("model_usage")).get(str(header.spec.get("model"))))
    choices = as_list(output.get("choices"))
    return LogSample(
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
        fallbacks=tuple(str(as_object(item).get("fallback_model")) for item in as_list(document.get("model_fallbacks"))),
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
        asked=_find_first_call(as_list(document.get("events"))),
    )


def _read_scores(document: Object, header: LogHeader) -> dict[str, ScorerResult]:
    scores = dict(as_object(document.get("scores")))
    # Logs of early versions have one score per sample without a name; the results name its scorer.
    if "score" in document and not scores:
        scores[PLACEHOLDER] = document["score"]
    if PLACEHOLDER in scores:
        named = as_list(header.results.get("scores")) or [header.results.get("scorer")]
        name = as_object(named[0]).get("name")
        scores[str(name or PLACEHOLDER)] = scores.pop(PLACEHOLDER)
    return {as_text(name) or "unnamed": _read_score(as_object(score)) for name, score in scores.items() if isinstance(score, dict)}


def _read_score(score: Object) -> ScorerResult:
    reason = as_text(score.get("reason")) or as_text(as_object(score.get("metadata")).get("unscored_reason"))
    # The entry without provenance is the score before the first edit, so it is no edit.
    # The first entry is the scorer's own unless it says who made it; each later one changed it.
    edits = sum(1 for place, entry in enumerate(as_list(score.get("history"))) if place or as_object(entry).get("provenance"))
    return ScorerResult(value=score.get("value"), edits=edits, reason=reason)


def _read_error(error: object) -> str | None:
    if not error:
        return None
    return as_text(as_object(error).get("message")) or as_text(error) or "no message"


def _find_first_call(events: Iterable[Any]) -> FirstCall | None:
    """Return the first call to the audited model; a model in a role, such as a grader, is another one."""
    for event in map(as_object, events):
        if event.get("event") == "model" and not event.get("role"):
            request = as_object(event.get("call")).get("request")
            ids = tuple(text for item in as_list(event.get("request_ids")) if (text := as_text(as_object(item).get("id"))))
            tools = tuple(text for tool in as_list(event.get("tools")) if (text := as_text(as_object(tool).get("name"))))
            kept = {key: value for key, value in request.items() if key not in _BULKY} if isinstance(request, dict) else None
            config = {key: value for key, value in as_object(event.get("config")).items() if value is not None}
            return FirstCall(config=config, request=kept, tools=tools, request_ids=ids)
    return None


_BULKY = frozenset({"messages", "contents", "input", "system", "system_instruction", "tools", "prompt"})


def _digest_target(target: object) -> str | None:
    """A text and a list of that text alone are one target, as they are for Inspect."""
    texts = [text for item in (target if isinstance(target, list) else [target]) if (text := as_text(item)) is not None]
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
    content, attachments = document.get("input"), as_object(document.get("attachments"))
    messages = [{"role": "user", "content": content}] if isinstance(content, str) else map(as_object, as_list(content))
    parts = [
        _resolve(part, attachments) for message in messages if message.get("role") == "user" for part in _list_texts(message.get("content"))
    ]
    return "\n".join(parts) or None


def _list_texts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [str(as_object(part).get("text")) for part in as_list(content) if "text" in as_object(part)]


def _resolve(text: str, attachments: Object) -> str:
    return str(attachments.get(text.removeprefix(_ATTACHMENT), text)) if text.startswith(_ATTACHMENT) else text


# Sampling parameters: those configured for a call, and those in the request. The two differ in real logs.

_SPELLINGS: Mapping[str, frozenset[str]] = {
    "temperature": frozenset({"temperature"}),
    "top_p": frozenset({"top_p", "topp"}),
    "top_k": frozenset({"top_k", "topk"}),
    "seed": frozenset({"seed", "random_seed"}),
    "max_tokens": frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens", "maxoutputtokens", "max_new_tokens", "maxtokens"}),
    "stop_seqs": frozenset({"stop", "stop_sequences", "stopsequences"}),
    "frequency_penalty": frozenset({"frequency_penalty", "frequencypenalty"}),
    "presence_penalty": frozenset({"presence_penalty", "presencepenalty"}),
}
"""By Inspect's name of a parameter, what providers call it in a request, in small letters. Only those with one meaning everywhere."""

_DEEPEST = 4


@dataclass(slots=True)
class SamplingCounts:
    """Counts, over the first call of each sample, of what was configured and what of it was sent."""

    configured: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By parameter and value."""
    sent: Counter[tuple[str, str]] = field(default_factory=Counter)
    not_sent: Counter[tuple[str, str]] = field(default_factory=Counter)
    differing: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """By parameter, configured and sent value."""
    seen: int = 0
    """Calls whose request is in the log."""
    unseen: int = 0
    """Calls whose request is not."""

    def add(self, first_call: FirstCall) -> None:
        """Count one call."""
        wanted = {name: value for name in _SPELLINGS if (value := first_call.config.get(name)) is not None}
        self.configured.update((name, _show_sampling(value)) for name, value in wanted.items())
        # Without the request, "configured" is all that is known. It is counted apart and never taken for sent.
        if first_call.request is None:
            self.unseen += 1
            return
        self.seen += 1
        # Providers nest parameters differently, such as Google's `generationConfig`.
        there = dict(_walk(first_call.request, _DEEPEST))
        for name, spellings in _SPELLINGS.items():
            setting = next((there[spelling] for spelling in spellings if spelling in there), None)
            if setting is not None:
                self.sent[name, _show_sampling(setting)] += 1
            if name in wanted and setting is None:
                self.not_sent[name, _show_sampling(wanted[name])] += 1
            elif name in wanted and setting != wanted[name]:
                self.differing[name, _show_sampling(wanted[name]), _show_sampling(setting)] += 1

    def describe(self) -> str | None:
        """Return one sentence for the provenance; None where no call is in the log."""
        if not self.seen + self.unseen:
            return None
        parts = [f"configured: {_list(self.configured) or 'provider defaults'}"]
        if self.seen:
            parts.append(f"in the request (first call of {self.seen} samples): {_list(self.sent) or 'none of the common parameters'}")
            if self.not_sent:
                parts.append(f"configured and not sent: {_list(self.not_sent)}")
        else:
            parts.append("requests are not in the log")
        return "; ".join(parts)

    def notes(self) -> Iterator[str]:
        """Give what a reader must know: parameters that were recorded and not sent, or sent with another value."""
        for (name, value), count in sorted(self.not_sent.items()):
            yield f"{name} {value} is recorded as configured and was not in the request ({count} of {self.seen} requests in the log)"
        for (name, wanted, text), count in sorted(self.differing.items()):
            yield f"{name} is recorded as {wanted} and was sent as {text} ({count} of {self.seen} requests in the log)"
        if self.unseen and self.configured:
            yield f"{self.unseen} samples do not hold the request of their first call: what was sent for them is not known"


def build_sampling(calls: Iterable[FirstCall]) -> SamplingCounts:
    """Return the counts over *calls*."""
    sampling = SamplingCounts()
    for call in calls:
        sampling.add(call)
    return sampling


def _walk(value: Mapping[str, Any], depth: int) -> Iterator[tuple[str, Any]]:
    """Give every entry that is set, the outermost last: it wins where a name stands on several levels."""
    for inner in value.values():
        if isinstance(inner, dict) and depth:
            yield from _walk(inner, depth - 1)
    for key, inner in value.items():
        if inner is not None and not isinstance(inner, dict):
            yield key.lower(), inner


def _show_sampling(value: object) -> str:
    return json.dumps(value)[:80]


def _list(counts: Counter[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(counts))


# The score that makes the table, and its value as a number.

LETTERS: Mapping[str, float] = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""What Inspect's own letters stand for: correct, partial, incorrect, no answer."""

_SHOWN = 12


@dataclass(slots=True)
class ScoreConverter:
    """Turns one scorer's values into numbers; keeps what it cannot turn, by value, with the samples that have it."""

    reading: LogOptions
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
            # Entries are collected so that the message can list them all.
            self.keys.update(dict.fromkeys(str(key) for key in value))
            if self.reading.key is None or self.reading.key not in value:
                self.lacking.append(place)
                return None
            value = value[self.reading.key]
        if value is None:
            return None
        # The user's values replace Inspect's letters and are not added to them: a letter may mean something else in
        # this scorer.
        number = convert_value(value, self.reading.values or LETTERS)
        if number is None:
            self.refused.setdefault(_show_value(value), []).append(place)
            if isinstance(value, str):
                self.texts[_show_value(value)] = value
        return number

    def report(self, faults: FaultList) -> None:
        """Add what was refused to *faults*, one for each value."""
        if self.lacking:
            keys = list(self.keys)
            key = self.reading.key
            problem = f"{_count(self.lacking)}: the score is an object with {', '.join(keys[:_SHOWN])}"
            code, advice = "choice-needed", "choose one entry with --key"
            if key is not None:
                code, problem, advice = "unknown-name", f"{problem}; none called {key!r}", suggest(key, keys) or advice
            faults.add(Fault(code, self.where, problem, advice=advice))
        known_texts = ", ".join(self.reading.values or LETTERS)
        for value, places in self.refused.items():
            problem = f"{_count(places)}: expected a number or one of {known_texts}, found {value}"
            faults.add(Fault("score-not-number", self.where, problem, advice=advise_value(self.texts.get(value))))


def convert_value(value: object, values: Mapping[str, float]) -> float | None:
    """Return *value* as a number: texts by *values* only, truth values as 1 and 0; None for anything else, infinity included."""
    if isinstance(value, str):
        return values.get(value)
    if not isinstance(value, bool | int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return None if math.isinf(number) else number


def choose_scorer(samples: Sequence[LogSample], reading: LogOptions, *, where: str) -> str | None:
    """Return the name of the scorer that makes the table; None where no sample has any score.

    Raises:
        TableError: several scorers and none chosen, or one that the log does not have.
    """
    names = list(dict.fromkeys(name for sample in samples for name in sample.scores))
    listed = ", ".join(names[:_SHOWN]) or "none"
    if reading.scorer is not None and (names and reading.scorer not in names):
        problem = f"no sample has a score of {reading.scorer!r}; the scorers are: {listed}"
        raise TableError(Fault("unknown-name", where, problem, advice=suggest(reading.scorer, names)))
    if reading.scorer is None and len(names) > 1:
        problem = f"the samples have scores of several scorers: {listed}"
        raise TableError(Fault("choice-needed", where, problem, advice="choose one with --scorer"))
    return reading.scorer or (names[0] if names else None)


def name_scorer(scorer: str | None, key: str | None) -> str | None:
    """Return how a lock names *scorer* with the entry *key* of its scores: `SCORER, KEY`."""
    return scorer if scorer is None or key is None else f"{scorer}, {key}"


def list_other_scorers(samples: Sequence[LogSample], scorer: str | None, key: str | None) -> tuple[str, ...]:
    """Return the scorers of *samples* that were not taken, and the other entries of the scores of *scorer*."""
    names = {name for sample in samples for name in sample.scores} - {scorer}
    values = [scored.value for sample in samples if (scored := sample.scores.get(scorer or "")) is not None]
    entries = {f"{scorer}, {name}" for value in values if isinstance(value, dict) for name in value if name != key}
    return tuple(sorted({*names, *entries}))


def _show_value(value: object) -> str:
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return repr(value)[:60]


def _count(places: Sequence[str]) -> str:
    return f"{len(places)} samples, the first is {places[0]}" if len(places) > 1 else places[0]


# Samples become rows. Each is scored, or has exactly one reason why it is not.


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFrame:
    """What holds for every row of a file."""

    name: str
    scorer: str | None
    arm: str | None
    """None: the sample's own."""
    arm_field: str | None
    context: str
    """Where no field says it."""
    context_field: str | None


def build_rows(
    samples: Sequence[LogSample], frame: RowFrame, numbers: ScoreConverter, tally: FileCounts, faults: FaultList
) -> list[LogRow]:
    """Return one row for each of *samples*, counted in *tally*; what makes that impossible goes to *faults*."""
    rows = []
    for sample in samples:
        place = f"sample {sample.task_id}, epoch {sample.epoch}"
        arm = frame.arm or sample.arm
        context = sample.context if frame.context_field else frame.context
        if arm is None or context is None:
            lacking = frame.arm_field if arm is None else frame.context_field
            faults.add(_find_nothing(f"{frame.name}, {place}", lacking))
            continue
        scored = sample.scores.get(frame.scorer or "")
        value, reason = _decide(sample, scored, numbers, place)
        tally.add(place, reason)
        rows.append(
            LogRow(
                task_id=sample.task_id,
                arm=arm,
                context_id=context,
                sample=sample.epoch,
                family=sample.family,
                text=sample.text,
                score=value,
                excluded_reason=reason,
                stop_reason=sample.stop_reason,
                truncated="yes" if sample.limit else None,
                extras=_list_extras(sample, scored, frame.scorer),
                file=frame.name,
                place=place,
            )
        )
    return rows


def _find_nothing(where: str, lacking: str | None) -> Fault:
    if lacking is None:
        return Fault("arm-missing", where, "nothing says which arm the response belongs to")
    places = "name task_args.X, metadata.X (of the log), sample.metadata.X, tags.PREFIX, model or task"
    return Fault("unknown-name", where, f"there is no single value at {lacking}", advice=places)


def _decide(sample: LogSample, scored: ScorerResult | None, numbers: ScoreConverter, place: str) -> tuple[float | None, str | None]:
    """Return the score, or why there is none; an invalid or broken response has none, whatever a scorer said of it."""
    # This order decides between several reasons. A declared invalidity comes first, because it holds whatever a scorer
    # said.
    if sample.invalidated_by is not None:
        return None, "invalidated"
    if sample.error is not None:
        return None, "sample-error"
    if scored is None:
        return None, "not-scored"
    number = numbers.read(scored.value, place)
    if number is None:
        return None, "not-scored"
    return (None, "score-nan") if math.isnan(number) else (number, None)


def _list_extras(sample: LogSample, scored: ScorerResult | None, scorer: str | None) -> Mapping[str, str | float | None]:
    first_call = sample.asked
    extras: dict[str, Any] = {
        "scorer": scorer,
        "score_reason": scored.reason if scored else None,
        "score_edits": float(scored.edits) if scored and scored.edits else None,
        "limit": sample.limit,
        "model": sample.model,
        "request_id": " ".join(first_call.request_ids) or None if first_call else None,
        "started_at": sample.started_at,
        "working_s": sample.working_s,
        "input_tokens": sample.input_tokens,
        "output_tokens": sample.output_tokens,
        TARGET: sample.target_sha256,
        "system_sha256": sample.system_sha256,
    }
    for name, other in sample.scores.items():
        if name != scorer:
            entries = other.value.items() if isinstance(other.value, dict) else [("", other.value)]
            extras.update({f"score:{name}{'.' if key else ''}{key}": _as_extra(value) for key, value in entries})
    return extras


def _as_extra(value: object) -> str | float | None:
    number = convert_value(value, LETTERS)
    return number if number is not None else as_text(value[:200]) if isinstance(value, str) else None
