"""A registry, opened for reading as of one entry."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from types import TracebackType
from typing import Self

from registry.cli.application import parse_model
from registry.errors import Fault, InputError
from registry.folder.supplement_publishing import collect_supplements
from registry.records.claim import ClaimRevision
from registry.records.claim_status import Status
from registry.records.dossier import AuditFile
from registry.records.estimates import Estimate
from registry.records.model_version import ModelVersion
from registry.records.record import Kind, parse_identifier
from registry.records.statement import OutputFormat
from registry.records.system_card import Card
from registry.records.verdict import Classification, RestrictedClaim
from registry.report.claim_outcome import find_leading
from registry.report.render_workers import RenderJob, render_many
from registry.store.claim_listing import ClaimSummary
from registry.store.ledger import Ledger
from registry.store.registry_view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimOutcome:
    """The conclusion that leads the supplement of a claim."""

    claim: str
    """`CLM-…@n`."""
    audit: str
    """`AUD-…`."""
    entry: int
    """The log entry that records it."""
    basis: str
    """`replay` if a lock preceded the run, otherwise `reported`."""
    valid_until: date | None
    """The last day on which it counts at its full standing; None where none is stated. `Registry.status` says whether it has expired."""
    estimate: Estimate | None
    """None if it rests on no scores."""
    classification: Classification
    restricted: RestrictedClaim


class Registry:
    """A registry as of one entry; `open_registry` returns it. Use it in one thread, and close it: `with open_registry() as registry:`.

    Nothing can be written with it. Entries that are appended later are not seen.
    """

    def __init__(self, view: View, resources: ExitStack) -> None:
        self._view = view
        self._resources = resources

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the database; closing twice does nothing."""
        self._resources.close()

    @property
    def entry(self) -> int:
        """The number of the last entry that is seen; 0 for an empty registry."""
        return self._view.log_size

    def claims(
        self,
        *,
        text: str = "",
        card: str | None = None,
        model: str | None = None,
        property: str | None = None,  # noqa: A002  (the word of the record)
        limit: int | None = None,
    ) -> Iterator[ClaimSummary]:
        """Yield the current revision of each claim with its status, in the order of registration.

        Args:
            text: only claims in which every word of it occurs: in quotation, note, property, model or identifier.
            card: only claims of this card, `CRD-…` or `CRD-…@n`.
            model: only claims about this model version, `developer/name/version`.
            property: only claims about this property, `PRP-…`.
            limit: at most this many.

        Raises:
            InputError: *model* is no model version.
        """
        ref = None if model is None else parse_model(model, where="model")
        return self._view.list_claims(card=card, model=ref, property=property, text=text, limit=limit)

    def claim(self, claim: str) -> ClaimRevision:
        """Return the current revision of a claim, or the one that `@n` names; raises InputError or NotFoundError."""
        return self._view.dossier(claim).current.payload

    def status(self, claim: str) -> Status:
        """Return lifecycle, dispute, staleness and restriction of a claim, and its gravest outcome; raises NotFoundError."""
        return self._view.status(_parse_claim(claim))

    def outcome(self, claim: str) -> ClaimOutcome | None:
        """Return the conclusion that leads the supplement of a claim; None where it has not been concluded.

        As on page one of the supplement, the gravest conclusion leads, and of equals the latest. Raises InputError or NotFoundError.
        """
        audit, recorded = find_leading(self._view.dossier(claim))
        if audit is None or recorded is None:
            return None
        restriction = recorded.payload
        # A locked run has its estimate in a result of its own, reported scores in the conclusion itself.
        results = (result.payload.estimate for result in audit.results if result.entry.seq == restriction.result)
        return ClaimOutcome(
            claim=restriction.claim,
            audit=restriction.audit,
            entry=recorded.entry.seq,
            basis=restriction.basis.value,
            valid_until=restriction.valid_until,
            estimate=next(results, restriction.estimate),
            classification=restriction.classification,
            restricted=restriction.text,
        )

    def audits(self, claim: str | None = None) -> tuple[AuditFile, ...]:
        """Return all audits, or those of one claim, each with lock, runs, results and findings, in the order of registration."""
        return self._view.list_audits(claim)

    def cards(self) -> tuple[Card, ...]:
        """Return the latest revision of every card, in the order of registration."""
        return tuple(recorded.payload for recorded in self._view.list_cards())

    def models(self) -> tuple[ModelVersion, ...]:
        """Return all registered model versions, in the order of registration."""
        return tuple(recorded.payload for recorded in self._view.list_models())

    def render(self, subject: str, format: str = "html", *, time_limit_s: float = 120.0) -> bytes:  # noqa: A002  (as --format would be)
        """Return the supplement of a claim or card as a file's bytes, unsigned and without a proof; nothing is published.

        Args:
            subject: `CLM-…` or `CRD-…`, with `@n` for one revision.
            format: `html`, `json` or `pdf`.
            time_limit_s: the time that the layout may take, in seconds.

        Raises:
            InputError: no identifier or no format.
            NotFoundError: nothing has this identifier.
            UnavailableError: PDF needs the libraries Pango and HarfBuzz, or the time limit was reached.
        """
        try:
            identifier = parse_identifier(subject, Kind.CLAIM, Kind.CARD)
        except ValueError as error:
            raise InputError(Fault("bad-identifier", subject, str(error))) from error
        if format not in {*OutputFormat}:
            raise InputError(Fault("bad-option", "format", f"expected {', '.join(OutputFormat)}, found {format!r}"))
        (supplement,) = collect_supplements(self._view, [identifier])
        job = RenderJob(key=subject, supplement=supplement.supplement, format=OutputFormat(format))
        (rendered,) = render_many([job], workers=1, time_limit_s=time_limit_s)
        if rendered.error is not None:
            raise rendered.error
        return rendered.data or b""


def open_registry(
    place: str | Path = "sqlite:///caveat.db", *, as_of: int | date | datetime | None = None, log: str | None = None
) -> Registry:
    """Return the registry at *place* for reading, as it was when one entry was the last.

    Neither `registry.cfg` nor the environment is read.

    Args:
        place: a URL (`sqlite:///caveat.db`, `postgresql://…`), or the path of a SQLite file.
        as_of: the number of an entry, a day (its end, in UTC) or a time with its zone; None for now.
        log: the origin of another registry's log that was taken over; None for the registry's own.

    Raises:
        InputError: *as_of* is after the last entry, or a time without zone.
        NotFoundError: there is no such log.
        UnavailableError: there is no registry, it was made by another version, or it cannot be reached.
    """
    url = str(place) if "://" in str(place) else f"sqlite:///{place}"
    today = datetime.now(UTC).date()
    # A datetime is a date too, so it is asked for first.
    moment = as_of if as_of is None or isinstance(as_of, (int, datetime)) else datetime.combine(as_of, time.max, tzinfo=UTC)
    # As the command does: outcomes expire by the clock or by the date asked for, and as of an entry by that entry.
    by = None if isinstance(moment, int) else today if moment is None else moment.astimezone(UTC).date()
    with ExitStack() as resources:
        # Nothing is written, so neither clock nor salt is ever asked for.
        ledger = Ledger.open(url, clock=lambda: datetime.now(UTC), salt=_refuse_salt)
        resources.callback(ledger.close)
        view = resources.enter_context(ledger.view(moment, log=log, today=by))
        return Registry(view, resources.pop_all())


def _refuse_salt() -> str:
    raise RuntimeError("a registry that was opened for reading writes nothing")


def _parse_claim(claim: str) -> str:
    """Return the identifier of a claim without its revision."""
    try:
        return parse_identifier(claim, Kind.CLAIM).bare
    except ValueError as error:
        raise InputError(Fault("bad-identifier", claim, str(error))) from error
