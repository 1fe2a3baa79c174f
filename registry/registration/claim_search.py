"""Claims that pass filters, each with what its outcome says: class, standing, mode and ED."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fnmatch import fnmatchcase
from itertools import islice

from registry.records.audit_case import Result
from registry.records.claim import ClaimRevision, PropertyClass, Relation
from registry.records.dossier import MonitorFile
from registry.records.estimates import Differential
from registry.records.model_version import ModelRef
from registry.records.monitor import MonitorState, MonitorVerdict
from registry.records.record import Record
from registry.records.specification import PropertySpec
from registry.records.verdict import Basis, ReadingVerdict, Restriction, lower_reading
from registry.report.claim_outcome import build_three_figures
from registry.report.number_format import Unit
from registry.store.claim_listing import ClaimSummary
from registry.store.registry_view import View

_CHUNK = 400
_STRETCH = 4_000
_SIDES = {Relation.AT_LEAST: "at least", Relation.AT_MOST: "at most"}
UNAUDITED = "not_audited"
"""What stands for a verdict where a claim has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimQuery:
    """Filters, which all have to be passed; an empty one is passed by every claim. Of the values of one filter any will do."""

    card: str | None = None
    """`CRD-…`, or one revision of it."""
    phi: str | None = None
    """`PRP-…`, or one version of it."""
    text: str = ""
    model: str = ""
    """`developer/name/version`, in which `*`, `?` and `[…]` match as in file names; upper and lower case alike."""
    property_classes: frozenset[str] = frozenset()
    verdicts: frozenset[str] = frozenset()
    """Of the gravest outcome; `UNAUDITED` for none."""
    verdict_standings: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    statuses: frozenset[str] = frozenset()
    """Values of lifecycle, dispute and staleness."""
    restrictions: frozenset[str] = frozenset()
    since: date | None = None
    """First day of the verdict, or of the registration where there is none."""
    until: date | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether any claim may be excluded."""
        return self != ClaimQuery()


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitoringStatus(Record):
    """What the monitors of one claim revision say after release."""

    state: MonitorState
    """Of several monitors, the one that asks for attention first."""
    verdict: MonitorVerdict
    """Of several monitors, the gravest; `holds_so_far` only where each says so."""


_STATES = (MonitorState.ALARM, MonitorState.SILENT, MonitorState.RUNNING, MonitorState.LOCKED, MonitorState.ENDED)
_VERDICTS = (
    MonitorVerdict.VIOLATED, MonitorVerdict.IN_DOUBT, MonitorVerdict.JUDGE_CHANGED, MonitorVerdict.OPEN, MonitorVerdict.HOLDS_SO_FAR,
)  # fmt: skip


def summarise_monitors(monitors: Sequence[MonitorFile], today: date | None) -> MonitoringStatus | None:
    """Return what *monitors* of one claim revision say together on *today* (None leaves time out); None without a monitor."""
    if not monitors:
        return None
    return MonitoringStatus(
        state=min((monitor.find_state(today) for monitor in monitors), key=_STATES.index),
        verdict=min((monitor.find_verdict(today) for monitor in monitors), key=_VERDICTS.index),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedClaim(Record):
    """A claim of a list, with its outcome."""

    log: str
    """The short name of its log."""
    summary: ClaimSummary
    registered: datetime
    """When its current revision was recorded."""
    property_class: PropertyClass | None
    """None where the property is sealed."""
    reading: ReadingVerdict | None
    """Of the outcome that leads; None where there is none, or its text was erased."""
    basis: Basis | None
    """The evidence basis of that outcome; None without one."""
    ed: Differential | None
    """The estimate of that outcome: of several deployment descriptions, the one with the largest |ED|. None without an estimate."""
    ed_spec: str | None
    """The deployment description of `ed`."""
    monitoring: MonitoringStatus | None
    """After release, on the day of the last entry; None without a monitor of its current revision."""

    @property
    def dated(self) -> datetime:
        """When the verdict was recorded; without one, when the claim was."""
        return self.summary.status.gravest.at if self.summary.status.gravest else self.registered


def search_claims(view: View, query: ClaimQuery, *, log: str) -> list[ListedClaim]:
    """Return the claims of *view* that pass *query*, in log order.

    Args:
        log: the short name of the log.
    """
    summaries = view.list_claims(card=query.card, property=query.phi, text=query.text)
    pattern = query.model.casefold()
    passing = [summary for summary in summaries if _passes(summary, query, pattern)]
    listed = _add_outcomes(view, passing, log)
    return [claim for claim in listed if _is_wanted(claim, query)]


def stream_claims(view: View, *, log: str, after: int = 0, last: int | None = None) -> Iterator[list[ListedClaim]]:
    """Yield all claims of *view* in log order, some thousand at once: memory does not grow with the registry.

    Args:
        log: the short name of the log.
        after: only claims with a current revision that was recorded after this entry.
        last: and not after this one.
    """
    summaries = view.list_claims(after=after, last=last)
    classes: dict[str, PropertyClass | None] = {}
    while stretch := list(islice(summaries, _STRETCH)):
        classes |= {name: _find_class(view, name) for name in {summary.property for summary in stretch} - classes.keys()}
        yield _add_outcomes(view, stretch, log, classes)


def read_claims(view: View, names: Iterable[str], *, log: str) -> list[ListedClaim]:
    """Return the claims *names*, `CLM-…`, with their outcomes, in log order; those without a revision are excluded."""
    wanted = sorted(set(names))
    # Each query asks for some hundred: databases limit the parameters of one.
    parts = (wanted[start : start + _CHUNK] for start in range(0, len(wanted), _CHUNK))
    summaries = [summary for part in parts for summary in view.list_claims(names=part)]
    return _add_outcomes(view, sorted(summaries, key=lambda summary: summary.seq), log)


def write_verdict(summary: ClaimSummary) -> str:
    """Return the verdict of the gravest outcome as a document has it; `UNAUDITED` without one."""
    return summary.status.gravest.verdict.value if summary.status.gravest else UNAUDITED


def _passes(summary: ClaimSummary, query: ClaimQuery, pattern: str) -> bool:
    """Whether *summary* passes what its status and model decide, before outcomes are read."""
    status, gravest = summary.status, summary.status.gravest
    standing = gravest.standing.value if gravest and gravest.standing else None
    return (
        (not query.verdicts or write_verdict(summary) in query.verdicts)
        and (not query.verdict_standings or standing in query.verdict_standings)
        and (not query.restrictions or status.restriction.value in query.restrictions)
        and (not query.statuses or not query.statuses.isdisjoint({status.lifecycle.value, status.dispute.value, status.staleness.value}))
        and (not pattern or fnmatchcase(write_plain(summary.model).casefold(), pattern))
    )


def write_plain(model: ModelRef) -> str:
    """Return *model* as `developer/name/version`."""
    return f"{model.developer}/{model.name}/{model.version}"


def _is_wanted(claim: ListedClaim, query: ClaimQuery) -> bool:
    day = claim.dated.date()
    return (
        (not query.property_classes or (claim.property_class is not None and claim.property_class.value in query.property_classes))
        and (not query.classes or (claim.reading is not None and claim.reading.class_.value in query.classes))
        and (query.since is None or day >= query.since)
        and (query.until is None or day <= query.until)
    )


def _add_outcomes(
    view: View, summaries: Sequence[ClaimSummary], log: str, classes: Mapping[str, PropertyClass | None] | None = None
) -> list[ListedClaim]:
    """Return *summaries* with their outcomes, read in one go for all of them; *classes* are those of their properties, where known."""
    times = view.find_times(summary.seq for summary in summaries)
    if classes is None:
        classes = {name: _find_class(view, name) for name in {summary.property for summary in summaries}}
    # An outcome in another registry's log has a number of that log.
    numbers = [gravest.seq for summary in summaries if (gravest := summary.status.gravest) is not None and gravest.log is None]
    outcomes = {seq: recorded.payload for seq, recorded in view.find_recorded(numbers).items()}
    results = view.find_recorded(outcome.result for outcome in outcomes.values() if isinstance(outcome, Restriction) and outcome.result)
    monitors = view.find_monitors({summary.claim for summary in summaries})
    listed = []
    for summary in summaries:
        gravest = summary.status.gravest
        outcome = outcomes.get(gravest.seq) if gravest is not None and gravest.log is None else None
        known = outcome if isinstance(outcome, Restriction) else None
        result = results[known.result].payload if known is not None and known.result in results else None
        ed, spec = _find_differential(known, result if isinstance(result, Result) else None)
        listed.append(
            ListedClaim(
                log=log,
                summary=summary,
                registered=times[summary.seq],
                property_class=classes[summary.property],
                reading=lower_reading(known.classification.primary, gravest.standing) if known and gravest else None,
                basis=known.basis if known else None,
                ed=ed,
                ed_spec=spec,
                monitoring=summarise_monitors(monitors.get(f"{summary.claim}@{summary.revision}", ()), view.today) if monitors else None,
            )
        )
    return listed


def describe_alike(view: View, claims: Sequence[tuple[str, str | None]]) -> list[str | None]:
    """Return what distinguishes each claim that is quoted as another of *claims*: property, figure or limit, and model; None for others.

    Rows of one table have the same quotation, and so have the cards of two models; a list of quotations would not distinguish them.

    Args:
        claims: identifiers, each with its quotation.
    """
    counts = Counter(quote for _, quote in claims if quote)
    alike = {claim: recorded.payload for claim, quote in claims if quote and counts[quote] > 1 and (recorded := view.find_claim(claim))}
    models = defaultdict(set)
    for claim, quote in claims:
        if claim in alike:
            models[quote].add(alike[claim].model)

    def describe(claim: str, quote: str | None) -> str | None:
        if claim not in alike:
            return None
        # The model of a table is that of its card, and its name in every row would say nothing.
        before = f"{alike[claim].model}, " if len(models[quote]) > 1 else ""
        return f"{before}{_describe_figure(view, alike[claim])}"

    return [describe(claim, quote) for claim, quote in claims]


def _describe_figure(view: View, claim: ClaimRevision) -> str:
    body = view.find_opened(claim.property)
    name, range_ = (body.name, body.range) if isinstance(body, PropertySpec) else (claim.property, None)
    figures = build_three_figures(claim.reported, (), range_=range_, theta=claim.theta)
    if figures is None and claim.theta is not None and claim.relation is not None:
        low, high = range_ or (0.0, 1.0)
        limit = Unit(low=min(low, claim.theta), high=max(high, claim.theta)).given(claim.theta)
        return f"{name}, {_SIDES[claim.relation]} {limit}"
    return f"{name}, {figures.card}" if figures else name


def _find_class(view: View, reference: str) -> PropertyClass | None:
    body = view.find_opened(reference)
    return body.class_ if isinstance(body, PropertySpec) else None


def _find_differential(outcome: Restriction | None, result: Result | None) -> tuple[Differential | None, str | None]:
    """Return the ED of the outcome and its deployment description; None where no estimate can be read."""
    estimate = result.estimate if result is not None else outcome.estimate if outcome is not None else None
    if estimate is None:
        return None, None
    leading = max(estimate.specs, key=lambda part: abs(part.ed.value))
    return leading.ed, leading.spec
