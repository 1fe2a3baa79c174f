"""The verdict that goes with a class, for records that tests put together by hand."""

from registry.records.verdict import ClaimClass, Mode, Standing, Verdict, VerdictStanding


def find_verdict(class_: ClaimClass, standing: Standing | None, mode: Mode | None = None) -> tuple[Verdict, VerdictStanding | None]:
    """Return verdict and standing as a replay with everything in order gives them."""
    if standing is Standing.OBSERVED_CONDITION:
        return Verdict.OBSERVED, None
    match class_:
        case ClaimClass.STABLE:
            return Verdict.HOLDS, VerdictStanding.ESTABLISHED
        case ClaimClass.DEGRADED:
            return Verdict.DOES_NOT_CARRY_OVER, VerdictStanding.ESTABLISHED
        case ClaimClass.INVERTED if standing is Standing.ESTABLISHED:
            return Verdict.CONTRADICTED, VerdictStanding.ESTABLISHED
        case ClaimClass.INVERTED:
            return Verdict.IN_DOUBT, None
        case _:
            return (Verdict.NOT_TESTABLE if mode is Mode.ONTOLOGICAL else Verdict.INCONCLUSIVE), None
