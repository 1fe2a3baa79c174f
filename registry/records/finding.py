"""What a module of the protocol found, brought into an audit before its outcome."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from registry.records.ablation import Ablation
from registry.records.judge import JudgeReport
from registry.records.naturalness import Naturalness
from registry.records.probe import Recognition
from registry.records.realism import RealismJudge
from registry.records.recognition_link import RecognitionLinks
from registry.records.record import Record
from registry.records.shift import Shift

FindingBody = Naturalness | RealismJudge | Ablation | JudgeReport | Recognition | RecognitionLinks | Shift


class FindingKind(StrEnum):
    """The modules that find something, by what they are about."""

    NATURALNESS = "naturalness"
    ABLATION = "ablation"
    JUDGE = "judge"
    PROBE = "probe"
    SHIFT = "shift"


_KINDS: dict[type[FindingBody], FindingKind] = {
    Naturalness: FindingKind.NATURALNESS,
    RealismJudge: FindingKind.NATURALNESS,
    Ablation: FindingKind.ABLATION,
    JudgeReport: FindingKind.JUDGE,
    Recognition: FindingKind.PROBE,
    RecognitionLinks: FindingKind.PROBE,
    Shift: FindingKind.SHIFT,
}


def find_invariance(bodies: Iterable[FindingBody], *, scores: str | None = None) -> bool | None:
    """Return whether the scorer is invariant, as judges' reports among *bodies* found it; None without a check that decides.

    One failure outweighs any number of checks that were passed.

    Args:
        scores: digest of the scores that the outcome rests on: a check that was passed on others says nothing of these, while a
            failure speaks of the scorer. None: every check counts.
    """
    reports = (one for one in bodies if isinstance(one, JudgeReport))
    outcomes = {one.invariant for one in reports if not one.invariant or scores in (None, one.scores)} - {None}
    return None if not outcomes else False not in outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Record):
    """A naturalness audit, a cue ablation, a judge's report or verbalised recognition, recorded whole."""

    audit: str
    """`AUD-…`."""
    claim: str
    """`CLM-…@n`, the revision that is audited."""
    body: FindingBody
    source: str
    """File names of what it was made from."""

    @property
    def kind(self) -> FindingKind:
        """The module whose finding it is."""
        return _KINDS[type(self.body)]
