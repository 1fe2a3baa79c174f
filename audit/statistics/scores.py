"""The score table: one entry per response, as arrays."""

import hashlib
import json
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

SCORED = -1
"""The `excluded` code of a response that has a score; also the `spec` code of a row that names no specification."""


NO, SETTLED, YES = "no", "settled", "yes"
"""Labels of `ScoreTable.truncated`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One text column: an integer code per row, and the text of each code in sorted order."""

    codes: Codes
    """Index into `labels`; −1 where the row has none."""

    labels: tuple[str, ...]

    def find(self, label: str) -> int | None:
        """Return the code of *label*, or None when no row has it."""
        return self.labels.index(label) if label in self.labels else None

    def keep(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> "Labelled":
        """Return the entries of *rows* (a mask or positions); labels that none of them has are dropped."""
        codes = self.codes[rows]
        used = np.unique(codes[codes >= 0])
        # The last entry answers code −1.
        place = np.full(len(self.labels) + 1, -1, dtype=np.int32)
        place[used] = np.arange(len(used), dtype=np.int32)
        return Labelled(codes=place[codes], labels=tuple(self.labels[code] for code in used.tolist()))


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

    cue_removed: Labelled | None = None
    """Cue that was taken out of the context (or put into it) for an ablation; code −1 for the context as it is; None without the column."""

    judge: Labelled | None = None
    """Who or what scored the response; None without the column."""

    judge_repeat: Labelled | None = None
    """Which of several scorings of one response by one judge; None without the column."""

    weight: Labelled | None = None
    """Weight of the row's task as it was written; None without the column: all tasks weigh the same."""

    family: Labelled | None = None
    """Family of the row's task, whose tasks depend on each other; code −1 where the row names none; None without the column."""

    template: Labelled | None = None
    """Template that the row's context was made from; as `family`."""

    truncated: Labelled | None = None
    """Whether the response was cut by the limit of tokens or the context window: `yes`, `no`, or `settled` where it was and its score
    can no longer change; code −1 where that is not stated; None where it is stated of no row. Not part of `content`."""

    refused: Labelled | None = None
    """Whether the model refused to answer, `yes` or `no`; as `truncated`."""

    @property
    def rows(self) -> int:
        """Number of responses, scored or excluded."""
        return len(self.score)

    def keep(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> "ScoreTable":
        """Return the table of *rows* (a mask or positions) alone; `files` stay, as what they were read from."""
        names = (
            "task",
            "arm",
            "context",
            "spec",
            "sample",
            "excluded",
            "cue_removed",
            "judge",
            "judge_repeat",
            "weight",
            "family",
            "template",
            "truncated",
            "refused",
        )
        columns: dict[str, Labelled | None] = {name: getattr(self, name) for name in names}
        kept = {name: None if column is None else column.keep(rows) for name, column in columns.items()}
        return replace(self, score=self.score[rows], **kept)  # type: ignore[arg-type]  # names and kinds are those of the fields

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
        optional = (self.cue_removed, self.judge, self.judge_repeat, self.weight, self.family, self.template)
        columns = (self.task, self.arm, self.spec, self.context, self.sample, self.excluded, *filter(None, optional))
        order = np.lexsort([column.codes for column in reversed(columns)])
        total = hashlib.sha256()
        for column in columns:
            total.update(json.dumps(column.labels).encode())
            total.update(column.codes[order].astype("<i4").tobytes())
        total.update(np.nan_to_num(self.score[order], nan=0.0).astype("<f8").tobytes())
        return total.hexdigest()
