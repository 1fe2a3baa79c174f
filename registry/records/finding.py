"""What a module of the protocol found, brought into an audit before its outcome."""

from dataclasses import dataclass

from registry.records.ablation import Ablation
from registry.records.judge import JudgeReport
from registry.records.naturalness import Naturalness
from registry.records.record import Record

FindingBody = Naturalness | Ablation | JudgeReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Record):
    """A naturalness audit, a cue ablation or a judge's report, recorded whole."""

    audit: str
    """`AUD-…`."""
    claim: str
    """`CLM-…@n`, the revision that is audited."""
    body: FindingBody
    source: str
    """File names of what it was made from."""
