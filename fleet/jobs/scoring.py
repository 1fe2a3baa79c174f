"""Scores as pieces: a scorer, tasks and responses in, what the scorer reads in each response out."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from itertools import islice
from platform import python_version_tuple
from typing import Any

from audit.score.answer_extraction import ResponseMark
from audit.score.scorers import Deterministic, MarkedResponse, UnmarkedResponse, build_marker, is_deterministic, read_scorer
from fleet.jobs.piece_run import PieceOrder, do_pieces
from fleet.pieces import SCORE, Equipment, Piece
from registry.codec.canonical_documents import from_document, to_document
from registry.errors import CaveatError, Fault, InputError
from registry.records.replay_run import Task

_RESPONSES = 500
"""Responses of a piece."""
_SLICE, _AHEAD = 2, 40


def read_equipment() -> Equipment:
    """Return the versions that a score depends on: patterns are read by `regex` and by Python's own `re`."""
    versions = {"caveat": version("caveat"), "regex": version("regex"), "python": ".".join(python_version_tuple()[:2])}
    return Equipment(kind=SCORE, versions=versions)


def list_equipment() -> tuple[Equipment, ...]:
    """Return what this machine can work as."""
    return (read_equipment(),)


def mark_on_fleet(
    url: str, scorer: Deterministic, responses: Iterable[UnmarkedResponse], *, tell: Callable[[str], None]
) -> Iterator[MarkedResponse]:
    """Have the workers of the fleet at *url* read *responses*, and give the marks in the same order.

    Raises:
        InputError: a response that no worker can read; and as `do_pieces`.
    """
    order = PieceOrder(url=url, equipment=read_equipment(), slice_size=_SLICE, ahead=_AHEAD)
    source = _Source(scorer, iter(responses))
    done: dict[int, list[ResponseMark]] = {}
    position = 0
    for outcome in do_pieces(order, source.list_pieces(), tell=tell):
        if isinstance(outcome.result, CaveatError):
            raise outcome.result
        done[outcome.position] = [ResponseMark(**mark) for mark in json.loads(outcome.result)]
        # Workers finish in any order. The run folder gets the scores in that of the cells, as on one machine.
        while position in done:
            for response, mark in zip(source.blocks.pop(position), done.pop(position), strict=True):
                yield MarkedResponse(response=response, mark=mark)
            position += 1


@dataclass(slots=True)
class _Source:
    """Responses become pieces; those that are with a worker are kept here."""

    scorer: Deterministic
    responses: Iterator[UnmarkedResponse]
    blocks: dict[int, list[UnmarkedResponse]] = field(default_factory=dict)
    count: int = 0

    def list_pieces(self) -> Iterator[Piece]:
        while block := list(islice(self.responses, _RESPONSES)):
            self.blocks[self.count] = block
            first = self.count * _RESPONSES + 1
            self.count += 1
            yield Piece(label=f"responses {first} to {first + len(block) - 1}", inputs=_dump_block(self.scorer, block))


def _dump_block(scorer: Deterministic, block: list[UnmarkedResponse]) -> bytes:
    # No key: the same texts have the same scores in every run.
    document = {
        "scorer": to_document(scorer),
        "tasks": {response.task.id: to_document(response.task) for response in block},
        "responses": [[response.task.id, response.text] for response in block],
    }
    return json.dumps(document, sort_keys=True).encode()


def do_piece(inputs: bytes, _settings: dict[str, Any]) -> bytes:
    """Return the marks of the responses of *inputs* as JSON."""
    document = json.loads(inputs)
    scorer = read_scorer(document["scorer"], where="scorer")
    if not is_deterministic(scorer):
        raise InputError(Fault("not-valid", "scorer", f"{scorer.kind} is no scorer that reads responses by itself"))
    mark = build_marker(scorer)
    tasks = {name: from_document(Task, task, where=f"task {name}") for name, task in document["tasks"].items()}
    return json.dumps([asdict(mark(tasks[name], text)) for name, text in document["responses"]], sort_keys=True).encode()
