"""Cue ablation: what ED becomes when one cue is taken out of a context, beside a placebo edit (method section 6, module 3)."""

from dataclasses import dataclass
from typing import Literal

from registry.records.classification import ClaimClass
from registry.records.estimate import EstimateWarning, Range
from registry.records.measure import Measure
from registry.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class CueChange(Record):
    """One cue taken out of (or put into) the contexts of one arm, everything else as before; paired by task."""

    cue: str
    arm: str
    """The arm whose contexts were changed."""
    placebo: bool
    """Whether it is a placebo: an edit of the same length and tone that touches no cue."""
    tasks: int
    phi_before: float
    """Mean score of the arm as it is, over the tasks that both have."""
    phi_after: float
    """Mean score without (or with) the cue."""
    change: Measure
    """ΔED = ED before − ED after, with the interval at the plan's level. Positive: the cue raised ED."""
    holm: Range | None
    """Interval at the level that Holm's rule gives this cue among all cues; None without an interval, and for placebos."""
    simultaneous: Range | None
    """Interval that holds for all cues at once: max-|t| over shared bootstrap weights; None without a variance, and for placebos."""
    p: float | None
    p_holm: float | None
    """Adjusted by Holm's rule over the cues; None without a variance, and for placebos."""
    beyond_placebo: Measure | None
    """ΔED of the cue less that of the placebo; None without a placebo on the same arm."""
    material: bool
    """Whether |ΔED| ≥ margin and the adjusted interval (for a placebo: its own) excludes 0."""
    class_after: ClaimClass | None
    """Class of the claim's own form with the cue gone; None where no claim was given."""
    relevant: bool | None
    """Material, or ΔED is shown to differ from 0 (the adjusted interval excludes it) and the class is another than that of the same tasks
    without the change. None: it cannot be said, because there is no interval, the class changes and ΔED is not shown to, or it is a
    placebo."""
    reason: str | None = None
    """Why something above is None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryCoverage(Record):
    """A cue inventory against the cues that were ablated."""

    name: str
    source: str
    """File name, or `CUE-…@n`."""
    sha256: str
    """Of the canonical JSON of the inventory, hexadecimal."""
    ablated: tuple[str, ...]
    """Cues of the inventory that were taken out or put in."""
    not_ablated: tuple[str, ...]
    """Cues of the inventory of which nothing is known here."""
    held_out: str | None = None
    """`CUE-…@n` of its sealed part; None where it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation(Record):
    """All cues of one score table against one specification of P_deploy."""

    schema: Literal["caveat/ablation/1"] = "caveat/ablation/1"
    level: float
    margin: float
    range: tuple[float, float]
    contexts: Literal["random", "fixed", "nested"]
    seed: int
    replicates: int
    spec: str
    ed: Measure
    """Of the contexts as they are."""
    class_before: ClaimClass | None
    """None where no claim was given."""
    changes: tuple[CueChange, ...]
    """Cues in the order of |ΔED|, largest first; placebos last."""
    family: int
    """Number of cues that Holm's rule was applied to."""
    scores: str
    """Digest of the scores, hexadecimal."""
    inventories: tuple[InventoryCoverage, ...] = ()
    """The inventories that the ablation was set against; empty where none was given."""
    warnings: tuple[EstimateWarning, ...] = ()
