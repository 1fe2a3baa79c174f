"""Pure work: a piece is named by its inputs and by what shapes its result, so it may be done twice, and its result can be compared."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from registry.errors import Fault

SCORE, ESTIMATE, DRAW = "score", "estimate", "draw"
KINDS = (SCORE, ESTIMATE, DRAW)
"""Kinds of pure work. Calls of models are another kind: they are paid for, and follow the law of one sending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """What shapes the results of one kind of work on one machine, besides the inputs: versions of programs and libraries."""

    kind: str
    versions: Mapping[str, str]
    variant: str = ""
    """What may change the last digits of a result, and is reported and not required: extensions of the processor."""

    @property
    def document(self) -> str:
        """As it is recorded, and part of the names of pieces."""
        return _to_text({"kind": self.kind, "versions": dict(self.versions)})

    @property
    def lane(self) -> str:
        """The kind of the jobs: a worker with other equipment listens to another lane, and so gets none of them."""
        return f"{self.kind}-{hashlib.sha256(self.document.encode()).hexdigest()[:12]}"

    def find_difference(self, worker: str, versions: Mapping[str, str]) -> Fault | None:
        """Return why *worker* with *versions* may do no piece of this equipment; None where it may."""
        names = sorted(name for name in self.versions if self.versions[name] != versions.get(name))
        if not names:
            return None
        problem = "; ".join(f"{name} {_shorten(versions.get(name))}, and not {_shorten(self.versions[name])}" for name in names)
        return Fault("press-differs" if self.kind == DRAW else "worker-differs", worker, f"has {problem}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One piece of pure work."""

    label: str
    """What people call it: a table, a supplement and its format."""
    inputs: bytes

    def name(self, equipment: Equipment) -> str:
        """Return the name: a digest of the kind, the inputs, and what shapes the result."""
        return name_piece(equipment.document, self.inputs)


def name_piece(equipment: str, inputs: bytes) -> str:
    """Return the name of the piece with *inputs* for *equipment*, which contains the kind."""
    return hashlib.sha256(f"{equipment}\n{hashlib.sha256(inputs).hexdigest()}".encode()).hexdigest()


def _shorten(version: str | None) -> str:
    # Digests of templates and fonts are told apart by their beginnings.
    return "none" if version is None else version[:12]


def _to_text(document: object) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"))
