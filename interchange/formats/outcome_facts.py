"""What an export may say of an outcome: verdict and standing that lead, figures with intervals, and whether a limit is kept."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from registry.records.claim import Relation
from registry.records.claim_status import Dispute, Lifecycle, Staleness
from registry.records.estimates import BoundedEstimate, Estimate, SpecEstimate
from registry.records.record import Record
from registry.records.supplement import Supplement
from registry.records.verdict import Basis, ClaimClass, Mode, ReadingVerdict, Verdict, VerdictStanding
from registry.report.supplement_wording import format_verdict, get_words

_TOLERANCE = 1e-12
"""As in the decision table: a limit is missed only where it is missed by more."""
ADVERSE = frozenset({Verdict.CONTRADICTED, Verdict.CONTRADICTED_IN_PRODUCTION, Verdict.DOES_NOT_CARRY_OVER, Verdict.IN_DOUBT})
"""Verdicts whose evidence speaks against the claim (TRACE: degraded, inverted, and their candidates)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeFacts(Record):
    """The outcome that leads for a claim: the gravest of its family, as page one shows it."""

    verdict: Verdict | None
    """None for a claim that has not been audited."""
    standing: VerdictStanding | None
    class_: ClaimClass | None
    """TRACE's class; None without an outcome of this revision, and where an outcome of another claim on the same words leads."""
    mode: Mode | None
    sentence: str
    """The verdict in one sentence, as page one prints it."""
    audit: str | None
    """`AUD-…` that gave it."""
    is_questioned: bool
    """Whether the claim is stale, needs review (an alarm of a monitor counts), or has an objection that is open or upheld."""

    @property
    def words(self) -> str:
        """Verdict and standing in the words of the typology: `contradicted, established`."""
        return "not audited" if self.verdict is None else format_verdict(self.verdict, self.standing)

    @property
    def label(self) -> str:
        """TRACE's label, as formats without a word of their own carry it: `undetermined (noisy)`."""
        if self.class_ is None:
            return self.words
        return self.class_.value if self.mode is None else f"{self.class_.value} ({self.mode.value})"

    @property
    def is_adverse(self) -> bool:
        """Whether evidence speaks against the claim."""
        return self.verdict in ADVERSE

    @property
    def holds(self) -> bool:
        """Whether the claim holds in the contexts tested, established and unquestioned. Nothing less may be exported as a pass."""
        return self.verdict is Verdict.HOLDS and self.standing is VerdictStanding.ESTABLISHED and not self.is_questioned


def read_outcome(supplement: Supplement) -> OutcomeFacts:
    """Return the outcome that leads for the claim."""
    reading = find_reading(supplement)
    own = None if reading is None or supplement.audit is None else supplement.audit.opening.payload.audit
    gravest = supplement.status.gravest
    # The standing of the family counts: an outcome that expired is provisional, whatever was recorded.
    is_own = reading is not None and (gravest is None or gravest.audit == own)
    verdict = gravest.verdict if gravest is not None else None if reading is None else reading.verdict
    standing = gravest.standing if gravest is not None else None if reading is None else reading.verdict_standing
    return OutcomeFacts(
        verdict=verdict,
        standing=standing,
        class_=reading.class_ if reading is not None and is_own else None,
        mode=reading.mode if reading is not None and is_own else None,
        sentence=supplement.verdict,
        audit=own if gravest is None else gravest.audit,
        is_questioned=supplement.status.staleness is not Staleness.CURRENT or supplement.status.dispute is not Dispute.UNDISPUTED,
    )


def find_reading(supplement: Supplement) -> ReadingVerdict | None:
    """Return the reading in the claim's own form of the outcome of this revision; None without one."""
    return None if supplement.outcome is None else supplement.outcome.classification.primary


def describe_standing(supplement: Supplement) -> str:
    """Return staleness and dispute in words, for formats without a field for them: `current, undisputed`; `withdrawn` comes first."""
    status = supplement.status
    over = (status.lifecycle,) if status.lifecycle in (Lifecycle.SUPERSEDED, Lifecycle.WITHDRAWN, Lifecycle.REJECTED) else ()
    return ", ".join(get_words(word) for word in (*over, status.staleness, status.dispute))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySide(Record):
    """One figure of a replay: the evaluation side, or one specification of P_deploy."""

    name: str
    """`phi_test`, `phi_deploy:SPEC`; the judge after `@` where there are several."""
    part: str
    """`test` or `deploy`."""
    spec: str
    """Specification of P_deploy that it belongs to."""
    judge: str | None
    figure: BoundedEstimate
    tasks: int
    contexts: int
    responses: int


def find_estimate(supplement: Supplement) -> Estimate | None:
    """Return the estimate that the outcome of this revision rests on; None without one, and where another model gave the responses."""
    # A reader of an export has the claim's model next to the figures, and no page that says whose they are.
    is_own = supplement.outcome is not None and not supplement.outcome.is_of_other_model
    return supplement.audit.estimate if supplement.audit is not None and is_own else None


def list_arms(supplement: Supplement) -> tuple[ReplaySide, ...]:
    """Return the figures of the replay: the evaluation side once where all specifications share it, then each of P_deploy."""
    estimate = find_estimate(supplement)
    if estimate is None:
        return ()
    shares_test = len({spec.phi_test for spec in estimate.specs}) == 1
    arms = {arm.name: arm for spec in estimate.specs for arm in _list_sides(spec, shares_test=shares_test)}
    return tuple(sorted(arms.values(), key=lambda arm: arm.part != "test"))


def _list_sides(spec: SpecEstimate, *, shares_test: bool) -> Iterator[ReplaySide]:
    suffix = "" if spec.judge is None else f"@{spec.judge}"
    counts = spec.n
    yield ReplaySide(
        name="phi_test" if shares_test else f"phi_test:{spec.spec}{suffix}", part="test", spec=spec.spec, judge=spec.judge,
        figure=spec.phi_test, tasks=counts.tasks, contexts=counts.contexts_test, responses=counts.responses_test,
    )  # fmt: skip
    yield ReplaySide(
        name=f"phi_deploy:{spec.spec}{suffix}", part="deploy", spec=spec.spec, judge=spec.judge,
        figure=spec.phi_deploy, tasks=counts.tasks, contexts=counts.contexts_deploy, responses=counts.responses_deploy,
    )  # fmt: skip


def keeps_limit(figure: BoundedEstimate, relation: Relation, theta: float) -> bool:
    """Whether the whole interval of *figure* keeps to θ; False without an interval."""
    if figure.low is None or figure.high is None:
        return False
    return figure.high <= theta + _TOLERANCE if relation is Relation.AT_MOST else figure.low >= theta - _TOLERANCE


def is_passed(supplement: Supplement, arm: ReplaySide) -> bool:
    """Whether the record shows that *arm* keeps the claim's limit: only a locked replay with its whole interval within the limit does.

    False says that it is not shown, not that the limit is broken.
    """
    claim = supplement.claim.payload
    reading = find_reading(supplement)
    if claim.relation is None or claim.theta is None or reading is None:
        return False
    # Numbers of unusable evidence, or under a missing condition, would be read as a pass of the test.
    if reading.basis is not Basis.REPLAY or reading.mode is Mode.TECHNICAL or reading.verdict_standing is VerdictStanding.PROVISIONAL:
        return False
    leading = read_outcome(supplement)
    if leading.standing is VerdictStanding.PROVISIONAL or not keeps_limit(arm.figure, claim.relation, claim.theta):
        return False
    if arm.part == "test":
        return True
    # Several specifications: each statement has a level of its own, and only its verdict knows it.
    spoken = [spec.verdict for spec in reading.specs if spec.spec == arm.spec and spec.judge in (None, arm.judge)]
    return leading.verdict is Verdict.HOLDS and not leading.is_questioned and all(verdict is Verdict.HOLDS for verdict in spoken)


def list_sealed(supplement: Supplement) -> Mapping[str, str]:
    """Return the commitment of each specification of the claim that is sealed in this record, by `CTX-…@n` and the like."""
    versions = (part.version.payload for part in supplement.specs if part.version is not None and part.reveal is None)
    return {f"{version.spec}@{version.version}": version.commitment for version in versions if version.commitment is not None}
