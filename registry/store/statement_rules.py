"""The rules for what may follow what is recorded: what every kind of statement can ask, and the rule for adopted claims.

The rule of a kind is in its declaration (`registry.store.kinds`). All rules run before the database constraints. They report what is wrong
in terms of the user's statement, all faults at once; the constraints report only the first, in terms of columns.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator

from sqlalchemy import ColumnElement, Table, func, select

from registry.errors import CaveatError, Fault
from registry.records.claim import ClaimRevision, Origin
from registry.records.claim_status import StaleCause, StalenessReview
from registry.records.model_version import ModelRef, fold_model
from registry.records.record import Payload, parse_identifier
from registry.records.specification import SpecKind
from registry.records.system_card import Card
from registry.store.claim_listing import get_head
from registry.store.database_tables import entry, log
from registry.store.kinds.audit_kinds import lock, refuse_withdrawn
from registry.store.kinds.claim_kinds import claim_origin, claim_revision
from registry.store.kinds.definition_kinds import model_version, spec_version
from registry.store.kinds.log_kinds import authority, log_import
from registry.store.log_reader import LogReader
from registry.store.registry_view import View
from registry.store.statement_kind import kind_of
from registry.store.status_derivation import TERMINAL, FactFinder, derive_lifecycle


class StatementRules:
    """What rules can ask, inside one transaction; what was found to exist is remembered, because references never disappear from a log."""

    def __init__(self, view: View, allocated: Collection[str], *, actor: str) -> None:
        self.view = view
        """The registry with what the transaction appended."""
        self.actor = actor
        """Code of the authority that makes the statement."""
        self._allocated = allocated
        # Positive answers are cached. Negative ones are not, since the next statement of the same file may register the reference.
        self.known_definitions: set[tuple[str, SpecKind]] = set()
        """Versions of specifications, by reference and kind."""
        self.known_cards: set[str] = set()
        """References of cards."""
        self._cards: dict[str, Card] = {}
        self._authorities: set[str] = set()
        self._model_names: dict[str, list[ModelRef]] | None = None
        self._sound: set[ModelRef] = set()
        self._known: set[ModelRef] = set()
        """Versions that a registered statement or an earlier claim names in this spelling."""
        self._claimed: dict[str, set[ModelRef]] | None = None
        self._finder: FactFinder | None = None
        self._reviewed: set[str] = set()

    def find_faults(self, payload: Payload) -> list[Fault]:
        """Return everything that keeps *payload* from being recorded now; empty when nothing does."""
        # Any other statement can change what is stale, so cached causes are dropped. A run of
        # reviews keeps them.
        if not isinstance(payload, StalenessReview):
            self._finder = None
        return list(kind_of(payload).find_faults(payload, self))

    def knows_authority(self, code: str) -> bool:
        """Whether *code* is registered."""
        if code not in self._authorities:
            known = select(authority.c.code).where(self.view.visible(authority), authority.c.code == code)
            self._authorities |= {row.code for row in self.view.rows(known)}
        return code in self._authorities

    def is_new(self, name: str) -> bool:
        """Whether *name* was allocated here and nothing has used it yet."""
        return name in self._allocated

    def find_entry(self, table: Table, same: ColumnElement[bool]) -> int | None:
        """Return an entry with a row in *table* for which *same* is true."""
        number: int | None = self.view.one_value(select(table.c.seq).where(self.view.visible(table), same).limit(1))
        return number

    def find_card(self, reference: str) -> Card | None:
        """Return the revision *reference* of a card."""
        if reference not in self._cards:
            name, _, revision = reference.partition("@")
            recorded = self.view.find_card(name, int(revision)) if revision.isdigit() else None
            if recorded is None:
                return None
            self._cards[reference] = recorded.payload
        return self._cards[reference]

    def list_model_names(self) -> dict[str, list[ModelRef]]:
        """Return the registered model versions by what their names have in common."""
        if self._model_names is None:
            table = model_version
            rows = self.view.rows(select(table.c.developer, table.c.name, table.c.version).where(self.view.visible(table)))
            self._model_names = defaultdict(list)
            for developer, name, version in rows:
                model = ModelRef(developer=developer, name=name, version=version)
                self._model_names[fold_model(model)].append(model)
        return self._model_names

    def find_causes(self, claim: str, number: int) -> tuple[StaleCause, ...]:
        """Return what `View.list_causes` returns for the revision of entry *number*; many reviews in a row read lineage only once."""
        # A second review of one claim must see the first. Reviews of different claims share one
        # reading.
        if self._finder is None or claim in self._reviewed:
            self._finder, self._reviewed = FactFinder(self.view), set()
        self._reviewed.add(claim)
        return self._finder.candidates([get_head(self.view, number)])[0]

    def check_spelling(self, model: ModelRef, where: str) -> Iterator[Fault]:
        """Yield that *model* is the name of a registered version but for its spelling: its lineage would silently not apply."""
        if model in self._sound:
            return
        # Decision of 2026-11-22: names that differ only in case, Unicode form, white space or the
        # split into name and version are refused, because lineage would silently not apply. Claims
        # recorded before stay. The cost: a lab that means two different names must change one.
        alike = self.list_model_names().get(fold_model(model), [])
        if alike and model not in alike:
            there = alike[0]
            problem = f"{model} is registered as {there} ({_describe_difference(model, there)})"
            advice = f"write it as developer {there.developer!r}, name {there.name!r}, version {there.version!r}"
            yield Fault("model-case-differs", where, problem, advice=advice)
        else:
            self._sound.add(model)

    def check_claimed_spelling(self, model: ModelRef, where: str) -> Iterator[Fault]:
        """Yield as `check_spelling`, and that earlier claims spell *model* in another way: such a claim would lose their outcomes."""
        faults = list(self.check_spelling(model, where))
        if faults or model in self._known:
            yield from faults
            return
        table = claim_revision
        same = (table.c.developer == model.developer) & (table.c.model == model.name) & (table.c.model_version == model.version)
        # Nearly all claims are about a version that others are about: an index finds that, and no list is read.
        if self.view.rows(select(table.c.seq).where(self.view.visible(table), same).limit(1)) or self.view.find_model(model):
            self._known.add(model)
            return
        if self._claimed is None:
            self._claimed = defaultdict(set)
            for ref in self.view.list_claimed_models():
                self._claimed[fold_model(ref)].add(ref)
        claimed = self._claimed[fold_model(model)]
        if claimed:
            there = min(claimed, key=str)
            problem = f"earlier claims are about {there}, which is the same but for its spelling ({_describe_difference(model, there)})"
            advice = f"write it as developer {there.developer!r}, name {there.name!r}, version {there.version!r}"
            yield Fault("model-case-differs", where, problem, advice=advice)
            return
        claimed.add(model)
        self._known.add(model)

    def check_origin(self, claim: ClaimRevision) -> Iterator[Fault]:
        """Yield what keeps *claim* from standing for its original: not taken over, another entry hash, other words."""
        origin = claim.origin
        if origin is None:
            return
        where = f"{origin.claim} in the log {origin.log}"
        # Only entries up to the last recorded import count. Entries beyond it were not covered by a
        # verified checkpoint at this point of the log.
        taken = self.view.one_value(
            select(func.max(log_import.c.size)).where(self.view.visible(log_import), log_import.c.origin == origin.log)
        )
        row = select(entry.c.leaf, log.c.id).join(log, log.c.id == entry.c.log).where(log.c.origin == origin.log, entry.c.seq == origin.seq)
        rows = self.view.rows(row)
        if not rows or taken is None or origin.seq > taken:
            missing = f"entry {origin.seq} of that log is not kept here"
            yield Fault("origin-unknown", where, missing)
            return
        # The reference contains the entry hash, so an adopted claim stays tied to exact words.
        if bytes(rows[0].leaf).hex() != origin.leaf:
            kept = f"the entry kept here has the hash {bytes(rows[0].leaf).hex()}, expected {origin.leaf}"
            yield Fault("origin-altered", where, kept)
            return
        try:
            # Reading through a LogReader checks the text against its leaf.
            kept_reader = self.view.ask(lambda connection: LogReader(connection, limit=taken, log_id=rows[0].id))
            original = kept_reader.recorded((origin.seq,))[0].payload
        except CaveatError as error:
            yield from error.faults
            return
        if not isinstance(original, ClaimRevision) or original.reference != origin.claim:
            yield Fault("origin-altered", where, f"entry {origin.seq} does not record this claim revision")
            return
        differing = [name for name in _SAME if getattr(original, name) != getattr(claim, name)]
        if differing:
            yield Fault("origin-differs", where, f"an adopted claim says what its original says; differs in {', '.join(differing)}")

    def check_number(self, name: str, number: int, last: int, word: str) -> Iterator[Fault]:
        """Yield why *number* does not follow *last* (0 for none), or *name* was not allocated; *word* is what is counted."""
        # Two people who revise the same claim produce the same number. The second one is told to
        # read again instead of overwriting.
        if number != last + 1 and last:
            problem = f"{word} {number} cannot follow {last}" if word in ("revision", "version") else f"this {word} exists already"
            yield Fault("changed-meanwhile", name, problem)
        elif number != 1 and not last:
            yield Fault("changed-meanwhile", name, f"the first {word} is 1, found {number}")
        elif not last and not self.is_new(name) and not self.view.is_used(name):
            yield from self._not_allocated(name)

    def _not_allocated(self, name: str) -> Iterator[Fault]:
        try:
            parse_identifier(name)
        except ValueError as error:
            yield Fault("bad-identifier", name, str(error))
        else:
            yield Fault("identifier-not-reserved", name, "the identifier was not allocated")

    def check_open(self, claim: str, what: str) -> Iterator[Fault]:
        """Yield that *claim* is at its end and *what*."""
        state = derive_lifecycle(has_revision=True, events=FactFinder(self.view).events_of(claim))
        if state in TERMINAL:
            yield Fault("claim-ended", claim, f"it is {state} and {what}")

    def check_authority(self, code: str, where: str) -> Iterator[Fault]:
        """Yield that no authority has the code *code*."""
        if not self.knows_authority(code):
            yield Fault("authority-not-registered", where, f"no authority is registered as {code}")

    def check_definition(self, reference: str, kind: SpecKind | None, where: str) -> Iterator[Fault]:
        """Yield that *reference* is no version of a specification, or not of *kind*."""
        name, _, version = reference.partition("@")
        same = (spec_version.c.spec == name) & (spec_version.c.version == int(version)) if version.isdigit() else None
        there = None
        if same is not None:
            there = self.view.one_value(select(spec_version.c.kind).where(self.view.visible(spec_version), same))
        if there is None:
            advice = self.view.suggest(name) or "register the specification first: caveat spec add"
            yield Fault("not-registered", where, f"{reference} is not a registered version of a specification", advice=advice)
        elif kind is not None and there != kind.value:
            yield Fault("wrong-kind", where, f"{reference} is a {there}, expected a {kind.value}")
        elif kind is not None:
            self.known_definitions.add((reference, kind))

    def check_card(self, reference: str, where: str) -> Iterator[Fault]:
        """Yield that *reference* is no revision of a card."""
        name, _, revision = reference.partition("@")
        if not revision.isdigit() or self.view.find_card(name, int(revision)) is None:
            yield Fault("not-registered", where, f"{reference} is not a registered revision of a card")
        else:
            self.known_cards.add(reference)

    def check_revision(self, reference: str, where: str) -> Iterator[Fault]:
        """Yield that *reference* is no revision of a claim."""
        name, _, revision = reference.partition("@")
        if not revision.isdigit() or self.view.find_revision(name, int(revision)) is None:
            yield Fault(
                "not-registered", where, f"{reference} is not a registered revision of a claim", advice=f"run: caveat claim show {name}"
            )

    def check_audit(self, name: str, claim: str) -> Iterator[Fault]:
        """Yield that *name* is no audit of the revision *claim*."""
        audit = self.view.find_audit(name)
        if audit is None:
            yield self.refuse_unknown("audit", name)
        # An audit belongs to one revision. Its outcome must not be recorded for another one.
        elif audit.audit.payload.claim != claim:
            yield Fault("wrong-claim", name, f"it is an audit of {audit.audit.payload.claim}, not of {claim}")
        elif audit.withdrawn is not None:
            yield refuse_withdrawn(audit.withdrawn.payload, audit.withdrawn.entry.seq)

    def find_lock(self, name: str) -> tuple[int, int] | None:
        """Return entry and time of the lock of the audit *name*."""
        rows = self.view.rows(select(lock.c.seq, lock.c.at).where(self.view.visible(lock), lock.c.audit == name))
        return (rows[0].seq, rows[0].at) if rows else None

    def refuse_unknown(self, what: str, name: str) -> Fault:
        """Return the fault of the identifier *name* that is not here; *what* it would name."""
        return Fault("not-registered", name, f"no {what} has this identifier here", advice=self.view.suggest(name))


def _describe_difference(model_ref: ModelRef, other: ModelRef) -> str:
    if str(model_ref) == str(other):
        return "the same words, but divided differently into developer, name and version"
    if str(model_ref).casefold() == str(other).casefold():
        return "they differ in upper and lower case"
    return "they differ in characters that look alike, in white space, or in upper and lower case"


# Rules for a claim adopted from another registry's log: it must agree with the entry of that log as
# stored here.

_SAME = ("quote", "form", "relation", "theta", "model", "reported", "direction")
"""What an adopted claim has in common with its original; property and scoring are copies under an identifier of their own."""


def find_adopted(reader: LogReader, origin: Origin) -> list[tuple[int, bool]]:
    """Return the entries of claims adopted from the same claim as *origin*, in log order, and whether of the same revision."""
    name, _, revision = origin.claim.partition("@")
    table = claim_origin
    wanted = select(table.c.seq, table.c.revision).where(reader.visible(table), table.c.origin == origin.log, table.c.claim == name)
    return [(seq, number == int(revision)) for seq, number in reader.rows(wanted.order_by(table.c.seq))]
