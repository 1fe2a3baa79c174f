"""The score table: one entry per response, as arrays."""

import hashlib
import json
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

SCORED = -1
"""The `excluded` code of a response that has a score; also the `spec` code of a row that names no specification."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One text column: an integer code per row, and the text of each code in sorted order."""

    codes: Codes
    """Index into `labels`; −1 where the row has none."""

    labels: tuple[str, ...]

    def find(self, label: str) -> int | None:
        """Return the code of *label*, or None when no row has it."""
        return self.labels.index(label) if label in self.labels else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """One file that the table was read from."""

    name: str
    """As it was given, for messages and records."""

    sha256: str
    """Digest of the bytes that were read, hexadecimal."""

    rows: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreTable:
    """Checked scores: keys are unique, every score lies in the range, every row without a score has a reason."""

    task: Labelled
    arm: Labelled
    context: Labelled
    spec: Labelled
    """P_deploy specification; code −1 where the row names none."""

    sample: Labelled
    excluded: Labelled
    """Reason why the row has no score; code −1 where it has one."""

    score: Floats
    """In the unit of the range; NaN exactly where `excluded` has a reason."""

    low: float
    """Lowest possible score; every score was checked against it."""

    high: float
    """Highest possible score."""

    files: tuple[TableFile, ...]

    @property
    def rows(self) -> int:
        """Number of responses, scored or excluded."""
        return len(self.score)

    @property
    def sha256(self) -> str:
        """Digest of the file; of several files, the digest of their digests in sorted order, one a line."""
        digests = sorted(file.sha256 for file in self.files)
        if len(digests) == 1:
            return digests[0]
        return hashlib.sha256("".join(f"{digest}\n" for digest in digests).encode()).hexdigest()

    @property
    def content(self) -> str:
        """Digest of the scores themselves, hexadecimal: the same for any file, format and order of rows."""
        columns = (self.task, self.arm, self.spec, self.context, self.sample, self.excluded)
        order = np.lexsort([column.codes for column in reversed(columns)])
        total = hashlib.sha256()
        for column in columns:
            total.update(json.dumps(column.labels).encode())
            total.update(column.codes[order].astype("<i4").tobytes())
        total.update(np.nan_to_num(self.score[order], nan=0.0).astype("<f8").tobytes())
        return total.hexdigest()
