"""ED where the model mentioned a test against where it did not: an association between recognition and ED, not a cause."""

from dataclasses import dataclass
from typing import Literal

from registry.records.estimate import EstimateWarning
from registry.records.measure import Measure
from registry.records.record import Record

ASSOCIATIONAL = "association, not cause"
"""Stands beside every number of a link: contexts and tasks that make a model mention a test may change its behaviour by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkGroup(Record):
    """The test-side responses with, or without, a mention of a test, against all deployment responses of the same tasks."""

    responses: int
    """Scored responses of the test side."""
    tasks: int
    """Tasks of these responses with a score in deployment too."""
    contexts: int
    ed: Measure
    """Φ_test of these responses − Φ_deploy, over these tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognitionLink(Record):
    """One specification of P_deploy, and one judge where there are several."""

    spec: str
    judge: str | None = None
    mentioned: LinkGroup
    not_mentioned: LinkGroup
    unknown: int
    """Scored test-side responses of which it is not known whether they mention a test; they enter neither group."""
    difference: Measure
    """ED where a test was mentioned − ED where it was not, over the tasks that have responses of both kinds; Φ_deploy cancels."""
    tasks: int
    """Those tasks."""
    deploy_mentioned: int
    """Deployment responses that mention a test; they stay in Φ_deploy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognitionLinks(Record):
    """The link between verbalised recognition and ED in one score table."""

    schema: Literal["caveat/recognition-link/1"] = "caveat/recognition-link/1"
    interpretation: Literal["association, not cause"] = "association, not cause"
    level: float
    margin: float
    range: tuple[float, float]
    contexts: Literal["random", "fixed", "nested"]
    source: str
    """Where the mentions come from: a column of the table, or the file of a probe."""
    mentions: str
    """SHA-256 of the mentions by response, hexadecimal; the same for any order."""
    links: tuple[RecognitionLink, ...]
    scores: str
    """Digest of the scores, hexadecimal."""
    warnings: tuple[EstimateWarning, ...] = ()
