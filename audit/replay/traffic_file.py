"""Sampled conversations as tasks: each is cut before an answer, and both arms of a replay continue the same words."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import numpy as np

from audit.statistics.side_moments import connect_units
from registry.codec.canonical_documents import from_document
from registry.codec.file_io import parse_document, read_document, read_text
from registry.errors import Fault, InputError
from registry.records.record import Record
from registry.records.replay_run import Task, TaskPrefix
from registry.records.specification import Turn, TurnRole
from registry.registration.context_specification import find_beside

# Prefix resampling, after OpenAI's Deployment Simulation (2026). The Evaluation Differential needs the same tasks on both
# sides. Production tasks are not those of a test, so the test is brought to production: one answer of a real conversation
# is cut, and the model answers again, once as it was and once inside the evaluation's frame.
#
# The tasks name neither conversation nor user, only their place in the list: the identifiers of tasks and families enter
# the lock, and a digest of a user's name could be guessed.

_FOLDER = "put it into the folder of the list or below it, or correct `file`"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixRef(Record):
    """Where a conversation is."""

    file: str
    """Its path, seen from the folder of the list."""
    sha256: str
    """Of the file, hexadecimal: another content is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficRow(Record):
    """One sampled conversation."""

    conversation: str
    user: str
    """Whose it is, as a pseudonym: conversations of one user count as one family."""
    prefix_ref: PrefixRef
    pi: float | None = None
    """Probability that the sampler chose the conversation, in (0, 1]."""
    turn: int | None = None
    """Number of the user's turn that is answered again, from 1; None: drawn at random by the seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficMessage:
    """One message of a conversation, tool calls written out."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    tool_calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prefix:
    """A conversation up to the turn that is answered again."""

    before: TaskPrefix
    prompt: str
    has_tools: bool
    answered_with_tools: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficSample:
    """The tasks of a list of conversations, with what a reader has to know of them."""

    tasks: tuple[Task, ...]
    sha256: str
    """Of the list, hexadecimal."""
    users: int
    inclusion: tuple[float, float]
    """The smallest and the largest inclusion probability."""
    drawn: int
    """Conversations whose turn was drawn here; the sampler chose it in the others."""
    with_tools: int
    """Conversations with tool calls before the cut."""
    answered_with_tools: int
    """Conversations whose cut answer used tools."""
    repeated: int = 0
    """Conversations with the very text of an earlier one."""

    def describe(self, *, seed: int, sampler: str | None) -> str:
        """Return how the tasks were made, in sentences; *sampler* is the digest of what chose the conversations."""
        low, high = self.inclusion
        word = "known" if sampler else "stated"  # without its sampler, a probability is a person's word
        chosen = f"chosen with {word} probabilities of {low:g}" + ("" if low == high else f" to {high:g}")
        if low == 1:
            # All of a convenience sample has the probability 1 too.
            chosen = "not sampled (each has the probability 1, so rates are about these conversations)"
        cut = f"before an answer that the seed {seed} drew at random"
        if not self.drawn:
            cut = "before an answer that the sampler chose"
        elif self.drawn < len(self.tasks):
            cut += f" ({self.drawn} of them) or the sampler chose"
        equal = f"{self.repeated} conversations have the text of another, and share its family. " if self.repeated else ""
        before = f"in {self.with_tools} conversations, sent as text (simulated)" if self.with_tools else "none"
        after = f"in {self.answered_with_tools} conversations" if self.answered_with_tools else "in none"
        return (
            f"{len(self.tasks)} conversations of {self.users} users, {chosen}, each cut {cut}. {equal}"
            f"Rates are over conversations, weighted by 1 over the probability. Tool calls before the cut: {before}. "
            f"Tool calls of the new answer: absent; the original answer made some {after}. "
            f"List SHA-256 {self.sha256}; sampler {f'SHA-256 {sampler}' if sampler else 'not stated'}."
        )


def read_traffic(path: Path, *, seed: int) -> TrafficSample:
    """Return the conversations that the JSON Lines file *path* lists as tasks, each cut before one answer.

    Args:
        seed: draws the turn where a row names none.

    Raises:
        InputError: with every fault: a row that is not valid, no probability, a conversation twice, a file that is missing or has
            another digest, a conversation without a turn of the user.
    """
    text = read_text(path)
    faults: list[Fault] = []
    rows = _read_rows(path, text, faults)
    faults += _find_row_faults(path, rows)
    prefixes = []
    for line, row in rows:
        try:
            prefixes.append(_cut(path, line, row, seed=seed))
        except InputError as error:
            faults += error.faults
    if not rows and not faults:
        faults.append(Fault("table-empty", str(path), "the file has no conversations"))
    if faults:
        raise InputError(list(dict.fromkeys(faults)))
    families = _join_users([row for _, row in rows])
    names = {family: f"user-{number:04}" for number, family in enumerate(dict.fromkeys(families), 1)}
    probabilities = [row.pi for _, row in rows if row.pi is not None]  # all of them: a row without one is a fault
    return TrafficSample(
        tasks=tuple(
            Task(id=f"prefix-{number:04}", prompt=prefix.prompt, family=names[family], weight=1 / pi, prefix=prefix.before)
            for number, (prefix, pi, family) in enumerate(zip(prefixes, probabilities, families, strict=True), 1)
        ),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        users=len({row.user for _, row in rows}),
        inclusion=(min(probabilities), max(probabilities)),
        drawn=sum(row.turn is None for _, row in rows),
        with_tools=sum(prefix.has_tools for prefix in prefixes),
        answered_with_tools=sum(prefix.answered_with_tools for prefix in prefixes),
        repeated=len(rows) - len({row.prefix_ref.sha256.casefold() for _, row in rows}),
    )


def _join_users(rows: Sequence[TrafficRow]) -> list[str]:
    """Return the family of each conversation: that of its user, joined with the users of conversations of the very same text.

    The model answers the same text alike, whoever wrote it, so a text under several names is no more evidence than once.
    """
    users = {user: number for number, user in enumerate(dict.fromkeys(row.user for row in rows))}
    texts = {sha256: number for number, sha256 in enumerate(dict.fromkeys(row.prefix_ref.sha256.casefold() for row in rows))}
    members = np.array([[users[row.user], texts[row.prefix_ref.sha256.casefold()]] for row in rows], dtype=np.intp)
    first = connect_units(members[:, 0], members[:, 1], size=len(users))
    names = list(users)
    return [names[first[users[row.user]]] for row in rows]


def read_conversation(path: Path, *, where: str) -> list[TrafficMessage]:
    """Return the messages in *path*: a JSON document with `messages` as chat completions have them.

    Raises:
        InputError: it is no such document, or a message has something else than text.
    """
    document = read_document(path)
    listed = document.get("messages") if isinstance(document, Mapping) else None
    if not isinstance(listed, list) or not listed:
        raise InputError(Fault("prefix-not-usable", where, "it is no JSON object with a list `messages`"))
    return [_read_message(message, f"{where}, messages[{number}]") for number, message in enumerate(listed)]


def split_turns(messages: Sequence[TrafficMessage], *, where: str) -> list[tuple[int, int]]:
    """Return where each turn of the user begins and ends in *messages*; messages of the user in a row are one turn.

    Raises:
        InputError: the user has no turn, or the conversation does not begin with one.
    """
    spans, place = [], 0
    for role, group in groupby(messages, key=lambda message: message.role):
        size = len(list(group))
        spans.append((role, place, place + size))
        place += size
    spoken = [role for place, (role, _, _) in enumerate(spans) if place or role != "system"]
    turns = [(start, stop) for role, start, stop in spans if role == "user"]
    if not turns:
        raise InputError(Fault("prefix-not-usable", where, "the conversation has no turn of the user"))
    # A rule of the Messages API, checked before any call is paid for.
    if spoken[0] != "user":
        raise InputError(Fault("prefix-not-usable", where, f"the conversation begins with {spoken[0]}, and not with the user"))
    if "system" in spoken:
        raise InputError(Fault("prefix-not-usable", where, "a system prompt comes after the conversation began"))
    return turns


def _read_rows(path: Path, text: str, faults: list[Fault]) -> list[tuple[int, TrafficRow]]:
    """Return the rows with their line numbers; what is not valid is added to *faults*."""
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{path}, line {number}"
        if not line.strip():
            continue
        try:
            rows.append((number, from_document(TrafficRow, parse_document(line, where=where), where=where)))
        except InputError as error:
            faults.extend(error.faults)
    return rows


def _find_row_faults(path: Path, rows: Sequence[tuple[int, TrafficRow]]) -> Iterator[Fault]:
    first: dict[tuple[str, str], int] = {}
    for line, row in rows:
        where = f"{path}, line {line}"
        if row.pi is None:
            yield Fault("inclusion-unknown", where, "it has no `pi`")
        elif not 0 < row.pi <= 1:
            yield Fault("inclusion-out-of-range", f"{where}, pi", f"it is {row.pi:g}")
        # The same conversation twice would count as two. Equal texts of two people are two conversations.
        for noun, name in (("conversation", row.conversation), ("file", row.prefix_ref.file)):
            earlier = first.setdefault((noun, name), line)
            if earlier != line:
                yield Fault("duplicate", where, f"the {noun} {name[:40]!r} is also in line {earlier}")


def _check_file(path: Path, line: int, row: TrafficRow) -> Path:
    where = f"{path}, line {line}, prefix_ref"
    file = find_beside(path.parent, row.prefix_ref.file, where=where)
    if not file.is_file():
        raise InputError(Fault("file-not-readable", where, f"{row.prefix_ref.file!r} is not there", advice=_FOLDER))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    if digest != row.prefix_ref.sha256.casefold():
        problem = f"{row.prefix_ref.file} has the SHA-256 {digest[:12]}…, and the list says {row.prefix_ref.sha256[:12]}…"
        raise InputError(Fault("prefix-differs", where, problem))
    return file


def _draw(row: TrafficRow, turns: int, seed: int) -> int:
    """Return a turn from 1, drawn by the seed and the conversation alone: other rows of the list change nothing."""
    return int(hashlib.sha256(f"{seed}:{row.conversation}".encode()).hexdigest(), 16) % turns + 1


def _read_message(message: Any, where: str) -> TrafficMessage:
    role = message.get("role") if isinstance(message, Mapping) else None
    if role not in ("system", "developer", "user", "assistant", "tool"):
        raise InputError(Fault("prefix-not-usable", where, f"its role is {role!r}; known are system, user, assistant and tool"))
    calls = message.get("tool_calls") or []
    texts = [_read_content(message.get("content"), where), *(_write_call(call, where) for call in calls)]
    text = "\n\n".join(text for text in texts if text.strip())
    if not text:
        raise InputError(Fault("prefix-not-usable", where, "it has no text"))
    return TrafficMessage(
        role="system" if role == "developer" else role,
        text=f"[tool result]\n{text}" if role == "tool" else text,
        tool_calls=len(calls) + (role == "tool"),
    )


def _read_content(content: Any, where: str) -> str:
    """Return the text of a message: a text, or a list of parts that are texts."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [content]
    if not all(isinstance(part, Mapping) and part.get("type") == "text" and isinstance(part.get("text"), str) for part in parts):
        raise InputError(Fault("prefix-not-usable", where, "it has something else than text, which cannot be sent again"))
    return "\n\n".join(part["text"] for part in parts)


def _write_call(call: Any, where: str) -> str:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise InputError(Fault("prefix-not-usable", where, "a tool call has no function with a name"))
    return f"[tool call {function['name']}] {function.get('arguments') or ''}".strip()


def _cut(path: Path, line: int, row: TrafficRow, *, seed: int) -> _Prefix:
    """Return the conversation of *row* up to the turn that is answered again."""
    where = f"{path}, line {line}"
    messages = read_conversation(_check_file(path, line, row), where=f"{where}, prefix_ref")
    turns = split_turns(messages, where=where)
    turn = _draw(row, len(turns), seed) if row.turn is None else row.turn
    if not 1 <= turn <= len(turns):
        problem = f"turn {turn} is asked for, and the user has {len(turns)} turns"
        raise InputError(Fault("prefix-not-usable", f"{where}, turn", problem))
    start, stop = turns[turn - 1]
    # The answer is everything until the user speaks again, with the tool calls it made.
    after = next((begin for begin, _ in turns if begin > start), len(messages))
    before = messages[:start]
    said = [message for message in before if message.role != "system"]
    # Results of tools come from outside the model, so they go on the user's side.
    sides = groupby(said, key=lambda message: TurnRole.ASSISTANT if message.role == "assistant" else TurnRole.USER)
    return _Prefix(
        before=TaskPrefix(
            system=_join(message for message in before if message.role == "system"),
            messages=tuple(Turn(role=role, content=_join(group)) for role, group in sides),
        ),
        prompt=_join(messages[start:stop]),
        has_tools=any(message.tool_calls for message in before),
        answered_with_tools=any(message.tool_calls for message in messages[stop:after]),
    )


def _join(messages: Iterable[TrafficMessage]) -> str:
    return "\n\n".join(message.text for message in messages)
