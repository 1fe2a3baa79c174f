"""The read side: the registry as it was when one entry was the last."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from sqlalchemy import bindparam, func, select

from registry.errors import Fault, InputError, NotFoundError
from registry.records.claim import ClaimRelation, ClaimRevision
from registry.records.claim_status import FamilyOutcome, StaleCause, StalenessReview, Status
from registry.records.dossier import AuditFile, Dossier, MonitorFile, ObjectionFile, Recorded
from registry.records.model_version import EndpointName, ModelEndpoint, ModelEvent, ModelRef, ModelVersion, list_endpoint_names
from registry.records.record import Authority, Identifier, Kind, Payload, parse_identifier
from registry.records.specification import Reveal, SpecBody, SpecKind, SpecVersion
from registry.records.statement import Entry, Publication
from registry.records.system_card import Card, Omission, PassageMatch, Survey
from registry.store import claim_listing as claims
from registry.store import dossiers
from registry.store.claim_listing import ClaimSummary
from registry.store.dossiers import TrailEntry
from registry.store.kinds.audit_kinds import audit, lock
from registry.store.kinds.claim_kinds import card_revision, claim_revision
from registry.store.kinds.definition_kinds import model_event, model_version, objection, spec, spec_version
from registry.store.kinds.log_kinds import authority, erasure, publication
from registry.store.kinds.monitor_kinds import monitor
from registry.store.log_reader import CHUNK, LogReader, find_log, seen
from registry.store.status_derivation import FactFinder
from registry.store.version_lineage import Lineage, name_models, read_endpoint_statements, read_lineage


# One class for all questions about a past or present state. Every query goes through `visible`, so
# each answer is as of the same entry.
class View(LogReader):
    """The registry as of entry `log_size`. `find_` returns None where there is nothing, the others raise NotFoundError."""

    _lineage: tuple[int, Lineage] | None = None

    def find_authority(self, code: str) -> Recorded[Authority] | None:
        """Return who speaks under *code*."""
        return self.first_recorded(select(authority.c.seq).where(self.visible(authority), authority.c.code == code))

    def list_authorities(self) -> tuple[Recorded[Authority], ...]:
        """Return every authority in log order."""
        return self.recorded_by(select(authority.c.seq).where(self.visible(authority)).order_by(authority.c.seq))

    def find_claim(self, claim_id: str) -> Recorded[ClaimRevision] | None:
        """Return the current revision of a claim; None when it has none or does not exist. `@n` in *claim_id* is obeyed."""
        bare, _, revision = claim_id.partition("@")
        # A reference may carry the start of the entry hash, `@n#digest`. Only the number selects
        # the revision.
        if revision.partition("#")[0].isdigit():
            return self.find_revision(bare, int(revision.partition("#")[0]))
        current_entry = claims.find_current_entry(self, bare)
        return None if current_entry is None else self.recorded((current_entry,))[0]

    def find_revision(self, claim_id: str, revision: int) -> Recorded[ClaimRevision] | None:
        """Return one revision of a claim."""
        table = claim_revision
        return self.first_recorded(select(table.c.seq).where(self.visible(table), table.c.claim == claim_id, table.c.revision == revision))

    def count_revisions(self, claim_id: str) -> int:
        """Return how many revisions the claim `CLM-…` has; 0 also where it does not exist."""
        return self.recall(("revisions", claim_id), lambda: int(self.one_value(_REVISIONS, claim=claim_id)))

    def claim_exists(self, claim_id: str) -> bool:
        """Whether the claim's identifier is in use, be it only reserved."""
        # The prefix is compared first: identifiers of all kinds share one table.
        return claim_id.startswith(f"{Kind.CLAIM}-") and self.is_used(claim_id)

    def is_reserved(self, claim_id: str) -> bool:
        """Whether the claim's identifier is in use and has no revision yet."""
        return self.claim_exists(claim_id) and not dossiers.has_revision(self, claim_id)

    def list_claims(
        self,
        *,
        card: str | None = None,
        model: ModelRef | None = None,
        property: str | None = None,  # noqa: A002  (the word of the record)
        text: str = "",
        names: Sequence[str] | None = None,
        limit: int | None = None,
        after: int = 0,
        last: int | None = None,
    ) -> Iterator[ClaimSummary]:
        """Yield the current revision of each claim with its status, in log order; memory stays flat.

        Args:
            names: only these claims, `CLM-…`, a few hundred at most.
            card: only claims that quote this card, `CRD-…` or one revision of it, `CRD-…@n`.
            model: only claims about this model version.
            property: only claims about this property, with or without `@n`.
            text: only claims in which every word of it occurs: in quote, note, property, model or identifier, upper or lower case alike.
            limit: at most so many.
            after: only revisions that were recorded after this entry.
            last: and not after this one.
        """
        narrowed = [*claims.narrow(card=card, model=model, property_=property), *claims.match_words(text)]
        if names is not None:
            narrowed.append(claim_revision.c.claim.in_(names))
        if last is not None:
            narrowed.append(claim_revision.c.seq <= last)
        return claims.list_summaries(self, narrowed, limit, after)

    def list_quoting(self, card: str) -> tuple[str, ...]:
        """Return the claims of which any revision quotes the card `CRD-…`, in any of its revisions, in the order of their registration."""
        table = claim_revision
        wanted = select(table.c.claim).where(self.visible(table), table.c.card == card).group_by(table.c.claim)
        return tuple(row.claim for row in self.rows(wanted.order_by(func.min(table.c.seq))))

    def list_stale(self, *, model: ModelRef | None = None) -> Iterator[ClaimSummary]:
        """Yield the claims that are stale or may be, as `list_claims`; without those that are superseded, withdrawn or rejected.

        Args:
            model: only claims about this model version.
        """
        return claims.list_stale(self, claims.narrow(card=None, model=model, property_=None))

    def count_claims(self) -> int:
        """Return how many claims have a revision."""
        table = claim_revision
        return int(self.one_value(select(func.count()).select_from(table).where(self.visible(table), table.c.revision == 1)))

    def list_claimed_models(self) -> tuple[ModelRef, ...]:
        """Return every model version that a claim revision is about, be it registered or not, in the order of their first claims."""
        table = claim_revision
        columns = (table.c.developer, table.c.model, table.c.model_version)
        rows = self.rows(select(*columns).where(self.visible(table)).group_by(*columns).order_by(func.min(table.c.seq)))
        return tuple(ModelRef(developer=row[0], name=row[1], version=row[2]) for row in rows)

    def list_locked_claims(self) -> frozenset[str]:
        """Return the claims, `CLM-…`, of which an audit has a lock, in any of their revisions: a plan that can be run again."""
        return frozenset(row[0] for row in self.plain_rows(select(lock.c.claim).where(self.visible(lock)).distinct()))

    def dossier(self, claim_id: str, revision: int | None = None, *, skips_erased: bool = False) -> Dossier:
        """Return everything known of a claim. `@n` in *claim_id* is obeyed, and `#digest` compared with what is recorded.

        Args:
            skips_erased: leaves out objections with an erased text; `list_erased_objections` names them.

        Raises:
            InputError: *claim_id* is no identifier of a claim.
            NotFoundError: no such claim or revision (with what may have been meant), another digest, or its text was erased.
        """
        named = self._parse(claim_id, Kind.CLAIM)
        if not self.is_used(named.bare):
            raise dossiers.not_found(self, "claim", named.bare)
        wanted = named.revision if revision is None else revision
        dossier = dossiers.build_dossier(self, named.bare, wanted, skips_erased=skips_erased)
        if wanted is not None and len(dossier.revisions) < wanted:
            there = f"the claim has {len(dossier.revisions)} revision(s)"
            raise NotFoundError(Fault("revision-not-found", f"{named.bare}@{wanted}", there))
        # The digest in a reference lets a reader notice that this registry records other words
        # under the same identifier.
        if named.digest and dossier.current.entry.leaf[:16] != named.digest:
            there = f"{dossier.current.payload.reference} is recorded as #{dossier.current.entry.leaf[:16]}"
            raise NotFoundError(Fault("digest-mismatch", claim_id, there))
        return dossier

    def dossiers(self, claim_ids: Sequence[str], *, skips_erased: bool = False) -> Iterator[Dossier]:
        """Yield everything known of each of *claim_ids*, `CLM-…` without revision and all of them in use, in their order.

        Args:
            skips_erased: as for `dossier`.
        """
        return dossiers.build_dossiers(self, claim_ids, skips_erased=skips_erased)

    def status(self, claim_id: str) -> Status:
        """Return the four axes of a claim; raises NotFoundError."""
        finder = FactFinder(self)
        entry = claims.find_current_entry(self, claim_id)
        if entry is not None:
            return finder.statuses([claims.get_head(self, entry)])[0]
        if not self.claim_exists(claim_id):
            raise dossiers.not_found(self, "claim", claim_id)
        return finder.reserved_status(claim_id)

    def find_natural(self, keys: Sequence[str]) -> dict[str, Recorded[ClaimRevision]]:
        """Return the current revisions with a natural key that is one of *keys*, by key; of several claims with one key the first."""
        table = claim_revision
        entries: dict[str, int] = {}
        for start in range(0, len(keys), CHUNK):
            wanted = [bytes.fromhex(key) for key in keys[start : start + CHUNK]]
            current = select(table.c.natural_key, table.c.seq).where(claims.is_current(self), table.c.natural_key.in_(wanted))
            for key, seq in self.rows(current.order_by(table.c.seq)):
                # In log order, so the claim that was registered first keeps the
                # key.
                entries.setdefault(bytes(key).hex(), seq)
        return self._get_recorded(entries)

    def find_natural_earlier(self, keys: Sequence[str]) -> dict[str, Recorded[ClaimRevision]]:
        """Return the revisions with a natural key that is one of *keys*, by key, be they current or not; of several the last.

        A claim that was applied to another model version, or reworded, has another key than before.
        """
        table = claim_revision
        entries: dict[str, int] = {}
        for start in range(0, len(keys), CHUNK):
            wanted = [bytes.fromhex(key) for key in keys[start : start + CHUNK]]
            there = select(table.c.natural_key, table.c.seq).where(self.visible(table), table.c.natural_key.in_(wanted))
            entries |= {bytes(key).hex(): seq for key, seq in self.rows(there.order_by(table.c.seq))}
        return self._get_recorded(entries)

    def find_card(self, card_id: str, revision: int | None = None) -> Recorded[Card] | None:
        """Return the latest revision of a card, or the one asked for; `@n` in *card_id* is obeyed."""
        bare, _, written = card_id.partition("@")
        number = int(written) if revision is None and written.isdigit() else revision
        table = card_revision
        wanted = select(table.c.seq).where(self.visible(table), table.c.card == bare)
        wanted = wanted if number is None else wanted.where(table.c.revision == number)
        return self.first_recorded(wanted.order_by(table.c.seq.desc()))

    def find_card_by_document(self, sha256: str) -> Recorded[Card] | None:
        """Return the card revision with a file of this digest (hexadecimal)."""
        table = card_revision
        return self.first_recorded(select(table.c.seq).where(self.visible(table), table.c.document == bytes.fromhex(sha256)))

    def find_card_reference(self, sha256: str) -> str | None:
        """Return `CRD-…@n` of the card revision with a file of this digest (hexadecimal), also where its statement was erased."""
        # From the row, because the statement can be erased while files that name the card still
        # exist.
        table = card_revision
        wanted = select(table.c.card, table.c.revision).where(self.visible(table), table.c.document == bytes.fromhex(sha256))
        rows = self.rows(wanted.limit(1))
        return f"{rows[0].card}@{rows[0].revision}" if rows else None

    def list_cards(self) -> tuple[Recorded[Card], ...]:
        """Return the latest revision of every card, in the order of their first revisions."""
        table = card_revision
        # Entry numbers grow with revisions, so the largest entry of a card is its latest revision.
        newest = select(func.max(table.c.seq)).where(self.visible(table)).group_by(table.c.card)
        return tuple(sorted(self.recorded_by(newest), key=lambda card: card.entry.seq))

    def find_spec(self, spec_id: str, version: int | None = None) -> Recorded[SpecVersion] | None:
        """Return the latest version of a specification, or the one asked for; `@n` in *spec_id* is obeyed."""
        bare, _, written = spec_id.partition("@")
        number = int(written) if version is None and written.isdigit() else version
        table = spec_version
        wanted = select(table.c.seq).where(self.visible(table), table.c.spec == bare)
        wanted = wanted if number is None else wanted.where(table.c.version == number)
        return self.first_recorded(wanted.order_by(table.c.seq.desc()))

    def find_reveal(self, spec_id: str, version: int) -> Recorded[Reveal] | None:
        """Return what shows one sealed version of a specification publicly; None where it is not revealed."""
        return next(iter(dossiers.find_reveals(self, [(spec_id.partition("@")[0], version)])), None)

    def find_opened(self, spec_id: str, version: int | None = None) -> SpecBody | None:
        """Return the body of a specification version, as recorded or as revealed; None where it is sealed or not registered.

        Of the latest version without *version*; `@n` in *spec_id* is obeyed.
        """
        recorded = self.find_spec(spec_id, version)
        return None if recorded is None else self.open_spec(recorded.payload)

    def open_spec(self, version: SpecVersion) -> SpecBody | None:
        """Return the body of *version*, as recorded or as revealed; None where it is sealed."""
        if version.body is not None:
            return version.body
        reveal = self.find_reveal(version.spec, version.version)
        return None if reveal is None else reveal.payload.opening.body

    def find_spec_by_slug(self, owner: str, kind: SpecKind, slug: str) -> Recorded[SpecVersion] | None:
        """Return the latest version of the specification that *owner* calls *slug*."""
        same = (spec.c.owner == owner) & (spec.c.kind == kind.value) & (spec.c.slug == slug)
        name = self.one_value(select(spec.c.spec).where(self.visible(spec), same))
        return None if name is None else self.find_spec(name)

    def list_specs(self, kind: SpecKind | None = None) -> tuple[Recorded[SpecVersion], ...]:
        """Return the latest version of every specification, of one kind if asked."""
        table = spec_version
        newest = select(func.max(table.c.seq)).where(self.visible(table)).group_by(table.c.spec)
        return self.recorded_by(newest if kind is None else newest.where(table.c.kind == kind.value))

    def list_spec_versions(self, specs: Collection[str] | None = None) -> tuple[str, ...]:
        """Return every version of *specs* (of all when None), `CTX-…@n`, in log order; also those with an erased text."""
        table = spec_version
        wanted = select(table.c.spec, table.c.version).where(self.visible(table)).order_by(table.c.seq)
        rows = self.rows(wanted) if specs is None else self.rows_in(wanted, table.c.spec, specs)
        return tuple(f"{row.spec}@{row.version}" for row in rows)

    def find_model(self, ref: ModelRef) -> Recorded[ModelVersion] | None:
        """Return a model version as registered."""
        return dossiers.find_model(self, ref)

    def list_models(self) -> tuple[Recorded[ModelVersion], ...]:
        """Return all registered model versions, in log order."""
        return self.recorded_by(select(model_version.c.seq).where(self.visible(model_version)))

    def find_successors(self, ref: ModelRef) -> tuple[Recorded[ModelVersion], ...]:
        """Return the versions that took the place of a model version, or of one that did, nearest first."""
        return dossiers.find_successors(self, self.lineage(), ref)

    def lineage(self) -> Lineage:
        """Return which model versions come from which, and which are no longer offered; read once for what is seen."""
        # A writer sees its own appends, so the cache is valid for one log size only.
        if self._lineage is None or self._lineage[0] != self.log_size:
            self._lineage = (self.log_size, read_lineage(self))
        return self._lineage[1]

    def list_model_events(self, model: ModelRef | None = None) -> tuple[Recorded[ModelEvent], ...]:
        """Return what was said of model versions after their registration, in log order; with *model*, what names it on either side."""
        table = model_event
        entries = (row.seq for row in self.rows(select(table).where(self.visible(table))) if model is None or model in name_models(row))
        return dossiers.find_model_events(self, entries)

    def list_endpoint_statements(self) -> tuple[Recorded[ModelEndpoint], ...]:
        """Return what was said of endpoint names, of every model version, in log order."""
        return read_endpoint_statements(self)

    def list_endpoint_names(self, model: ModelRef | None = None) -> tuple[EndpointName, ...]:
        """Return the endpoint names in force, in the order in which they were stated; only those of *model*, where it is given."""
        return tuple(
            endpoint_name for endpoint_name in list_endpoint_names(self.list_endpoint_statements()) if model in (None, endpoint_name.model)
        )

    def list_reviews(self, claim: str | None = None) -> tuple[Recorded[StalenessReview], ...]:
        """Return what people decided of changes that claims may not have survived, in log order; nothing with an erased text.

        Args:
            claim: only of this claim, `CLM-…` (of all its revisions) or `CLM-…@n`.
        """
        return dossiers.find_reviews(self, claim)

    def list_causes(self, claim: str) -> tuple[StaleCause, ...]:
        """Return every cause for the current revision of the claim `CLM-…` to be stale that a person may decide on.

        That is `Status.causes` with those that were dismissed; empty for a claim without a revision.
        """
        name = claim.partition("@")[0]
        return self.find_causes([name]).get(name, ())

    def find_causes(self, names: Sequence[str]) -> dict[str, tuple[StaleCause, ...]]:
        """Return, for many claims at once, what `list_causes` returns for each of *names*; those without a revision are excluded."""
        # One finder for all claims: it reads lineage, cards and specifications once.
        finder = FactFinder(self)
        stale_causes: dict[str, tuple[StaleCause, ...]] = {}
        for heads in claims.find_heads(self, names):
            stale_causes |= {head.claim: causes for head, causes in zip(heads, finder.candidates(heads), strict=True)}
        return stale_causes

    def find_statuses(self, names: Sequence[str]) -> dict[str, Status]:
        """Return, for many claims at once, what `status` returns for each of *names*; those without a revision are excluded."""
        finder = FactFinder(self)
        statuses: dict[str, Status] = {}
        for heads in claims.find_heads(self, names):
            statuses |= {head.claim: status for head, status in zip(heads, finder.statuses(heads), strict=True)}
        return statuses

    def find_audit(self, audit_id: str) -> AuditFile | None:
        """Return an audit with all that belongs to it."""
        table = audit
        exists = self.rows(select(table.c.seq).where(self.visible(table), table.c.audit == audit_id))
        return dossiers.get_audit(self, audit_id) if exists else None

    def list_audits(self, claim: str | None = None) -> tuple[AuditFile, ...]:
        """Return all audits, or those of one claim (`CLM-…`, or of one revision of it, `CLM-…@n`), in log order."""
        return dossiers.find_audits(self, claim)

    def find_counted(self, claims: Iterable[str]) -> dict[int, FamilyOutcome]:
        """Return the outcomes of the claim revisions *claims*, `CLM-…@n`, as they count next to each other, by entry.

        Those under a rival that was not upheld do not count, and are not here.
        """
        table, wanted = claim_revision, set(claims)
        columns = select(table.c.seq, table.c.claim, table.c.revision).where(self.visible(table))
        rows = self.rows_in(columns, table.c.claim, {name.partition("@")[0] for name in wanted})
        return FactFinder(self).find_counted([row.seq for row in rows if f"{row.claim}@{row.revision}" in wanted])

    def find_audited(self, audits: Collection[str] | None = None) -> dict[str, str]:
        """Return what each of *audits* (of all when None) is of, `CLM-…@n`, in log order; also of those with an erased text."""
        table = audit
        wanted = select(table.c.audit, table.c.claim, table.c.revision).where(self.visible(table)).order_by(table.c.seq)
        rows = self.rows(wanted) if audits is None else self.rows_in(wanted, table.c.audit, audits)
        return {row.audit: f"{row.claim}@{row.revision}" for row in rows}

    def list_audits_by(self, auditor: str) -> tuple[str, ...]:
        """Return the audits of one authority, `AUD-…`, in log order."""
        table = audit
        wanted = select(table.c.audit).where(self.visible(table), table.c.auditor == auditor).order_by(table.c.seq)
        return tuple(row.audit for row in self.rows(wanted))

    def list_audits_of(self, claimant: str) -> tuple[str, ...]:
        """Return the audits that others made of the claims of one authority, `AUD-…`, in log order."""
        table = audit
        is_own = table.c.claim.startswith(f"{Kind.CLAIM}-{claimant}-", autoescape=True)
        wanted = select(table.c.audit).where(self.visible(table), is_own, table.c.auditor != claimant).order_by(table.c.seq)
        return tuple(row.audit for row in self.rows(wanted))

    def find_contested(self, objections: Collection[str] | None = None) -> dict[str, tuple[str, ...]]:
        """Return what each of *objections* (all when None) targets, `CLM-…@n` or `CTX-…@n`, and then its rival, where it offers one.

        In log order; also of those with an erased text.
        """
        table = objection
        wanted = select(table).where(self.visible(table)).order_by(table.c.seq)
        rows = self.rows(wanted) if objections is None else self.rows_in(wanted, table.c.objection, objections)
        named = {row.objection: ((row.claim, row.revision), (row.spec, row.version), (row.rival, row.rival_version)) for row in rows}
        return {name: tuple(f"{bare}@{number}" for bare, number in references if bare) for name, references in named.items()}

    def find_monitor(self, monitor_id: str) -> MonitorFile | None:
        """Return a monitor with its windows."""
        exists = self.rows(select(monitor.c.seq).where(self.visible(monitor), monitor.c.monitor == monitor_id))
        return dossiers.get_monitor(self, monitor_id) if exists else None

    def list_monitors(self, claim: str | None = None) -> tuple[MonitorFile, ...]:
        """Return all monitors, or those of one claim (`CLM-…`, or of one revision of it, `CLM-…@n`), in log order."""
        return dossiers.find_monitors(self, claim)

    def find_monitors(self, claims: Collection[str]) -> dict[str, tuple[MonitorFile, ...]]:
        """Return the monitors of many claims, `CLM-…`, by the revision that they watch, `CLM-…@n`; without those that have none."""
        return dossiers.find_monitors_of(self, claims)

    def find_objection(self, objection_id: str) -> ObjectionFile | None:
        """Return an objection with its steps."""
        table = objection
        exists = self.rows(select(table.c.seq).where(self.visible(table), table.c.objection == objection_id))
        return dossiers.get_objection(self, objection_id) if exists else None

    def list_objections(self, target: str | None = None) -> tuple[ObjectionFile, ...]:
        """Return all objections, or those of a claim or specification (`…@n` of one revision or version), in log order."""
        return dossiers.find_objections(self, target)

    def list_erased_objections(self, target: str | None = None) -> tuple[str, ...]:
        """Return the objections, `CON-…`, that `list_objections` leaves out because a statement of theirs was erased."""
        return dossiers.find_erased_objections(self, target)

    def find_publications(self, sha256: str) -> tuple[Recorded[Publication], ...]:
        """Return the publications of the file with this digest (hexadecimal)."""
        table = publication
        return self.recorded_by(select(table.c.seq).where(self.visible(table), table.c.sha256 == bytes.fromhex(sha256)))

    def list_publications(self, subject: str | None = None) -> tuple[Recorded[Publication], ...]:
        """Return all publications, or those of one claim or card, `CLM-…` or `CRD-…`, in log order."""
        table = publication
        wanted = select(table.c.seq).where(self.visible(table))
        return self.recorded_by(wanted if subject is None else wanted.where(table.c.subject == subject))

    def list_published(self) -> frozenset[str]:
        """Return the digests of all files that were published, hexadecimal."""
        table = publication
        return frozenset(bytes(item).hex() for (item,) in self.plain_rows(select(table.c.sha256).where(self.visible(table))))

    def list_published_subjects(self) -> frozenset[str]:
        """Return the claim and card revisions, `CLM-…@n` and `CRD-…@n`, of which any file was published."""
        table = publication
        rows = self.plain_rows(select(table.c.subject, table.c.revision).where(self.visible(table)).distinct())
        return frozenset(f"{subject}@{revision}" for subject, revision in rows)

    def list_surveys(self, card: str) -> tuple[Recorded[Survey], ...]:
        """Return the surveys of a card, `CRD-…` (of all its revisions) or `CRD-…@n`, in log order; without those since erased."""
        return dossiers.find_surveys(self, card)

    def list_omissions(self, card: str) -> tuple[Recorded[Omission], ...]:
        """Return what was excluded of a card, `CRD-…` (of all its revisions) or `CRD-…@n`, in log order; nothing that was erased."""
        return dossiers.find_omissions(self, card)

    def list_erased_of(self, card: str) -> tuple[Entry, ...]:
        """Return the entries of surveys and omissions of a card, `CRD-…` or `CRD-…@n`, with an erased text, in log order."""
        return dossiers.find_erased_of(self, card)

    def find_omission(self, card: str, start: int, stop: int) -> Recorded[Omission] | None:
        """Return the omission of exactly the passage from *start* to *stop* of the card revision `CRD-…@n`."""
        return dossiers.find_omission(self, card, start, stop)

    def list_passage_matches(self, *, card: str | None = None, claim: str | None = None) -> tuple[Recorded[PassageMatch], ...]:
        """Return where passages of claims are in other revisions of their cards, in log order.

        Args:
            card: only what was found in this card, `CRD-…` (in any of its revisions) or `CRD-…@n`.
            claim: only passages of this claim, `CLM-…` (of all its revisions) or `CLM-…@n`.
        """
        return dossiers.find_passage_matches(self, card=card, claim=claim)

    def list_relations(self, claim: str) -> tuple[Recorded[ClaimRelation], ...]:
        """Return the relations in which the claim `CLM-…` is on either side, in log order."""
        return dossiers.find_relations(self, claim)

    def list_erased(self) -> frozenset[int]:
        """Return the entries of which the text was erased, whenever that was: no earlier state has it any more."""
        wanted = select(erasure.c.erased).where(erasure.c.log == self.log_id)
        return self.once("erased", lambda: frozenset(row.erased for row in self.rows(wanted)))

    def open_import(self, origin: str, size: int) -> "View | None":
        """Return the first *size* entries of the log *origin*, which was taken over from another registry; None where it is not here."""
        try:
            return View(self._connection, limit=size, log_id=find_log(self._connection, origin))
        except NotFoundError:
            return None

    def history(self, name: str) -> tuple[Recorded[Payload], ...]:
        """Return every statement about what *name* identifies, in log order; a claim's audits and objections belong to it.

        Raises:
            InputError: *name* is no identifier.
            NotFoundError: nothing has it; with what may have been meant.
        """
        named = self._parse(name)
        if not self.is_used(named.bare):
            raise dossiers.not_found(self, named.kind.name.lower(), named.bare)
        return dossiers.find_history(self, named)

    def find_last_named(self, identifier: Identifier) -> int:
        """Return the last entry of what `trail` returns for *identifier*, 0 without one."""
        return max(dossiers.find_history_entries(self, identifier), default=0)

    def trail(self, identifier: Identifier) -> tuple[TrailEntry, ...]:
        """Return every entry about *identifier*, as `history`, with those of which the text was erased."""
        return dossiers.find_history_trail(self, identifier)

    def _get_recorded(self, entries: Mapping[str, int]) -> dict[str, Recorded[ClaimRevision]]:
        recorded = {revision.entry.seq: revision for revision in self.recorded(entries.values())}
        return {key: recorded[seq] for key, seq in entries.items()}

    def _parse(self, text: str, *kinds: Kind) -> Identifier:
        try:
            return parse_identifier(text, *kinds)
        except ValueError as error:
            raise InputError(Fault("bad-identifier", text, str(error), advice=self.suggest(text))) from error


_REVISIONS = select(func.count()).select_from(claim_revision).where(seen(claim_revision), claim_revision.c.claim == bindparam("claim"))
