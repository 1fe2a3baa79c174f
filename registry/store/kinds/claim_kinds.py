"""Statements on cards and claims: revisions, passages proposed, left out or found again, events, relations, staleness reviews."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, select, text

from registry.codec.canonical_documents import digest as digest_of
from registry.errors import Fault
from registry.records.claim import (
    ClaimEvent,
    ClaimEventKind,
    ClaimRelation,
    ClaimRelationKind,
    ClaimRevision,
    Direction,
    Form,
    QuoteStatus,
    Relation,
)
from registry.records.claim_status import CauseKind, StalenessReview, StalenessVerdict
from registry.records.record import Kind
from registry.records.specification import SpecKind
from registry.records.system_card import Anchor, Card, MatchResult, MediaType, Omission, PassageMatch, Survey
from registry.store.database_engine import (
    TriggerRule,
    begins,
    bytes_column,
    digest,
    new_table,
    one_of,
    real_column,
    refers,
    refers_to_spec,
    spec_columns,
    text_column,
    text_columns,
    whole_column,
    whole_columns,
    without_gaps,
)
from registry.store.statement_kind import CARD, CLAIM, EntryPlace, Role, Row, StatementKind, plain, split_reference, unhex

if TYPE_CHECKING:
    from registry.store.statement_rules import StatementRules

card_revision = new_table(
    "card_revision",
    text_column("card"),
    whole_column("revision"),
    *text_columns("title publisher media_type"),
    bytes_column("document"),
    bytes_column("text"),
    text_column("why", null=True),
    begins("card", Kind.CARD),
    one_of("media_type", MediaType),
    digest("document"),
    digest("text"),
    # `why IS NOT NULL` is needed: a CHECK passes if its condition is NULL.
    CheckConstraint("revision = 1 OR length(trim(why)) > 0 AND why IS NOT NULL", name="why_from_2"),
    UniqueConstraint("log", "card", "revision"),
    UniqueConstraint("log", "document"),
    refers("card", "identifier", "id"),
    guards=(without_gaps("card_revision", "revision", "log card"),),
)


CARD_REVISIONS = Role("card_revision", "card", CARD, "revision")


class CardKind(StatementKind[Card]):
    """A revision of a card. Its text is kept beside the log, under its digest."""

    tables = (card_revision,)
    names = (CARD_REVISIONS,)
    kept = "claims are quoted from it, and its title is in a table that keeps it"
    reason = "its card was revised"
    importance = 10
    is_defining = True

    def build_rows(self, card: Card, place: EntryPlace) -> Iterator[Row]:
        names = (card.card, card.revision, plain(card.title), plain(card.publisher), card.media_type.value)
        yield "card_revision", (*place.here, *names, unhex(card.document), unhex(card.text), card.why)

    def find_faults(self, card: Card, rules: "StatementRules") -> Iterator[Fault]:
        before = rules.view.find_card(card.card)
        yield from rules.check_number(card.card, card.revision, before.payload.revision if before else 0, "revision")
        if card.revision > 1 and not (card.why and card.why.strip()):
            yield Fault("reason-missing", card.card, "a revision after the first needs its reason (why)")
        if there := rules.view.find_card_by_document(card.document):
            yield Fault("already-recorded", card.card, f"the file is registered as {there.payload.card}@{there.payload.revision}")
        # The text is stored first, in the same transaction, so a card without text cannot be
        # committed.
        if not rules.view.has_content(card.text):
            yield Fault("content-missing", card.card, f"the text {card.text} was not stored")

    def describe(self, payload: Card) -> str:
        return f"{payload.card}@{payload.revision} {payload.why or payload.title}"

    def name_new(self, payload: Card) -> str | None:
        return payload.card if payload.revision == 1 else None


survey = new_table(
    "survey",
    text_column("card"),
    whole_column("revision"),
    text_column("engine"),
    refers("card revision", "card_revision", "card revision"),
    Index(None, "log", "card", "revision"),
)


class SurveyKind(StatementKind[Survey]):
    """The passages that an engine proposed. A survey adds to what its engine proposed before."""

    tables = (survey,)
    names = (Role("survey", "card", CARD, "revision"),)
    reason = "its card was searched for claims"
    importance = 30

    def build_rows(self, survey: Survey, place: EntryPlace) -> Iterator[Row]:
        yield "survey", (*place.here, *split_reference(survey.card), plain(survey.by))

    def find_faults(self, proposed: Survey, rules: "StatementRules") -> Iterator[Fault]:
        card = rules.find_card(proposed.card)
        if card is None:
            yield refuse_card(proposed.card, "survey")
            return
        for start, stop in proposed.passages:
            yield from _check_span(card, start, stop)
        before = [survey for survey in rules.view.list_surveys(proposed.card) if survey.payload.by == proposed.by]
        # A repeated survey adds an entry without content. One with at least one new passage is
        # recorded.
        if before and {span for earlier in before for span in earlier.payload.passages}.issuperset(proposed.passages):
            problem = f"entry {before[0].entry.seq} and later ones record all that {proposed.by} proposed here"
            yield Fault("already-recorded", proposed.card, problem)

    def describe(self, payload: Survey) -> str:
        noun = "passage" if len(payload.passages) == 1 else "passages"
        return f"{payload.card} {len(payload.passages)} {noun} proposed by {payload.by}"


omission = new_table(
    "omission",
    text_column("card"),
    *whole_columns("revision start stop"),
    CheckConstraint("start >= 0 AND stop > start", name="stop_after_start"),
    UniqueConstraint("log", "card", "revision", "start", "stop"),
    refers("card revision", "card_revision", "card revision"),
)


class OmissionKind(StatementKind[Omission]):
    """A passage that a person left out, once and with one reason. Its words are in the statement only, where they can be erased."""

    tables = (omission,)
    names = (Role("omission", "card", CARD, "revision"),)
    reason = "a passage of its card was excluded"
    importance = 31

    def build_rows(self, omission: Omission, place: EntryPlace) -> Iterator[Row]:
        yield "omission", (*place.here, *split_reference(omission.card), omission.anchor.start, omission.anchor.stop)

    def find_faults(self, excluded: Omission, rules: "StatementRules") -> Iterator[Fault]:
        card = rules.find_card(excluded.card)
        if card is None:
            yield refuse_card(excluded.card, "omission")
            return
        yield from check_anchor(card, excluded.anchor)
        name, revision = split_reference(excluded.card)
        place = (omission.c.start == excluded.anchor.start) & (omission.c.stop == excluded.anchor.stop)
        if seq := rules.find_entry(omission, (omission.c.card == name) & (omission.c.revision == revision) & place):
            problem = f"entry {seq} records characters {excluded.anchor.start} to {excluded.anchor.stop} as excluded"
            yield Fault("already-recorded", excluded.card, problem)

    def describe(self, payload: Omission) -> str:
        return f"{payload.card} excluded ({payload.reason}): “{payload.quote}”"


def check_anchor(card: Card, anchor: Anchor) -> Iterator[Fault]:
    """Yield why *anchor* is no passage of *card*."""
    # Character positions are only valid in the text of one file.
    if anchor.document != card.document:
        problem = f"its passage is from the file {anchor.document[:16]}…, the card's file is {card.document[:16]}…"
        yield Fault("wrong-document", f"{card.card}@{card.revision}", problem)
        return
    yield from _check_span(card, anchor.start, anchor.stop)


def _check_span(card: Card, start: int, stop: int) -> Iterator[Fault]:
    end = card.pages[-1].stop
    if not 0 <= start < stop <= end:
        problem = f"characters {start} to {stop} are not a passage of a text of {end:,} characters"
        yield Fault("not-in-text", f"{card.card}@{card.revision}", problem)


def refuse_card(reference: str, where: str) -> Fault:
    """Return the fault of a card that is not registered."""
    return Fault("not-registered", where, f"{reference} is not a registered revision of a card")


# Statements on claims: revisions, passages found in other revisions of a card, events, relations, and reviews of what may be stale.

# What makes two claims the same claim. Decision of 2026-11-21: a natural key of card without
# revision, property, form, model and quotation. The same key with the same content: nothing to do.
# The same key with other content is refused without a reason, and becomes a revision with one. The
# cost: the same words cannot be registered twice for one property.


def natural_key(claim: ClaimRevision) -> str:
    """Return the SHA-256 (hexadecimal) of what a claim says, apart from its number, revision and figures.

    That is: the card without its revision (the source, for a claim without a card), the property without its version, the form, the model,
    and the quote with white space folded. Where the quote begins is excluded: it moves when the card is revised, and the claim does not.
    """
    # The position of the quotation is not part of the key: it moves when the card is revised. White
    # space is folded because page breaks change it.
    parts = (
        claim.card.partition("@")[0] if claim.card else None,
        None if claim.card else claim.source,
        claim.property.partition("@")[0],
        claim.form.value,
        claim.model.developer,
        claim.model.name,
        claim.model.version,
        " ".join(claim.quote.split()),
    )
    return _digest_key(parts)


@lru_cache(maxsize=4096)  # a bulk import asks for the keys of a chunk of claims, and records them then
def _digest_key(parts: tuple[str | None, ...]) -> str:
    return digest_of(parts)


is_unplaced = text("(card IS NULL OR quote_status <> 'verbatim')")
"""Whether the words of a claim revision have no place in a card."""
claim_revision = new_table(
    "claim_revision",
    text_column("claim"),
    whole_column("revision"),
    # What makes two claims the same claim; see `natural_key` above.
    # Not unique: the revisions of a claim share it.
    bytes_column("natural_key"),
    *text_columns("quote_status form"),
    text_column("relation", null=True),
    real_column("theta"),
    *text_columns("direction developer model model_version"),
    text_column("card", null=True),
    whole_column("card_revision", null=True),
    *spec_columns("property", null=False),
    *spec_columns("scoring", null=True),
    *spec_columns("test_context", null=True),
    CheckConstraint("revision >= 1", name="revision_from_1"),
    whole_column("has_why"),
    begins("claim", Kind.CLAIM),
    digest("natural_key"),
    one_of("quote_status", QuoteStatus),
    one_of("form", Form),
    one_of("relation", Relation),
    one_of("direction", Direction),
    CheckConstraint(
        # Upper bounds are always ≤ and lower bounds always ≥. A form without a threshold has no
        # relation.
        "CASE form WHEN 'threshold' THEN relation IS NOT NULL WHEN 'upper_bound' THEN relation IS NOT NULL AND relation = '<='"
        " WHEN 'lower_bound' THEN relation IS NOT NULL AND relation = '>=' ELSE relation IS NULL END",
        name="relation_agrees",
    ),
    CheckConstraint("theta IS NULL OR relation IS NOT NULL", name="theta_agrees"),
    CheckConstraint("revision = 1 OR has_why = 1", name="why_from_2"),
    CheckConstraint("(card IS NULL) = (card_revision IS NULL)", name="card_whole"),
    UniqueConstraint("log", "claim", "revision"),
    refers("claim", "identifier", "id"),
    refers("card card_revision", "card_revision", "card revision"),
    *refers_to_spec("property", SpecKind.PROPERTY),
    *refers_to_spec("scoring", SpecKind.SCORING),
    *refers_to_spec("test_context", SpecKind.TEST_CONTEXT),
    Index(None, "log", "natural_key"),
    Index(None, "log", "card", "card_revision"),
    # Lists of one property or model version, in log order: the last column of an index is the entry.
    Index(None, "log", "property"),
    Index(None, "log", "model", "model_version"),
    # Quotes without a place in a card are compared by their words. There are few of them.
    Index("ix_claim_revision_unplaced", "log", "property", "card", sqlite_where=is_unplaced, postgresql_where=is_unplaced),
    guards=(without_gaps("claim_revision", "revision", "log claim"),),
)
# The words are in a table of their own, because they can be erased while the claim's row stays.
claim_text = new_table("claim_text", text_column("quote"), text_column("note", null=True), refers("seq", "claim_revision", "seq"))
audited_phrase = new_table(
    "audited_phrase",
    *whole_columns("quote phrase"),
    refers("quote", "claim_revision", "seq"),
    # All columns, so that a look-up does not read the table.
    Index(None, "log", "phrase", "seq", "quote"),
    # Before a page is shown, the rows of its entries are compared.
    Index(None, "log", "seq"),
    key="log quote phrase",
)
"""The runs of five words in the quotes of claim revisions that have an outcome, as numbers; recorded with the first outcome, so that a
claim on the same words finds it without reading other quotes. `quote` is the entry of the claim revision. Claims without an outcome have
no rows here: one for each run of words would slow down a bulk import several times."""
claim_context = new_table(
    "claim_context",
    whole_column("position"),
    *spec_columns("context", null=False),
    *refers_to_spec("context", SpecKind.DEPLOY_CONTEXT),
    refers("seq", "claim_revision", "seq"),
    key="log seq position",
)
claim_origin = new_table(
    "claim_origin",
    *text_columns("origin claim"),
    *whole_columns("revision entry"),
    bytes_column("leaf"),
    begins("claim", Kind.CLAIM),
    digest("leaf"),
    CheckConstraint("revision >= 1 AND entry >= 1", name="from_1"),
    refers("seq", "claim_revision", "seq"),
    # Imports ask which claims were already adopted from a given original.
    Index(None, "log", "origin", "claim"),
)


claim_place = new_table(
    "claim_place",
    text_column("claim"),
    whole_column("revision"),
    text_column("card"),
    *whole_columns("card_revision size start stop"),
    CheckConstraint("start >= 0 AND stop > start", name="stop_after_start"),
    refers("claim revision", "claim_revision", "claim revision"),
    # An overlap is looked up by size class: a passage of this class begins less than its size before what it overlaps.
    Index(None, "log", "card", "card_revision", "size", "start"),
)
"""Where the words of a claim revision are: in its own revision of the card, and in others where they were found. `size` is the number of
binary digits of the length."""


def _build_place(here: tuple[int, int], claim: str, card: str, anchor: Anchor) -> Row:
    size = (anchor.stop - anchor.start).bit_length()
    return "claim_place", (*here, *split_reference(claim), *split_reference(card), size, anchor.start, anchor.stop)


def _typed(reference: str | None, kind: str) -> tuple[str | None, int | None, str | None]:
    return (*split_reference(reference), kind) if reference is not None else (None, None, None)


class ClaimKind(StatementKind[ClaimRevision]):
    """A revision of a claim. Its quote and note are in a table of their own, so that they can be erased."""

    tables = (claim_revision, claim_text, claim_context, claim_origin, claim_place)
    # From the numbers of its phrases, words could be guessed.
    erasable = (claim_text.c.seq, audited_phrase.c.quote)
    names = (Role("claim_revision", "claim", CLAIM, "revision"),)
    reason = "a claim was registered or revised"
    importance = 4

    def build_rows(self, claim_revision: ClaimRevision, place: EntryPlace) -> Iterator[Row]:
        card, card_revision = split_reference(claim_revision.card) if claim_revision.card is not None else (None, None)
        yield (
            "claim_revision",
            (
                *place.here,
                claim_revision.claim,
                claim_revision.revision,
                bytes.fromhex(natural_key(claim_revision)),
                claim_revision.quote_status.value,
                claim_revision.form.value,
                claim_revision.relation.value if claim_revision.relation else None,
                claim_revision.theta,
                claim_revision.direction.value,
                plain(claim_revision.model.developer),
                plain(claim_revision.model.name),
                plain(claim_revision.model.version),
                card,
                card_revision,
                *_typed(claim_revision.property, "property"),
                *_typed(claim_revision.scoring, "scoring"),
                *_typed(claim_revision.test_context, "test_context"),
                1 if claim_revision.why else 0,
            ),
        )
        # Quote and note go to a table of their own that can be erased. The other columns hold no free
        # text of the claim.
        yield "claim_text", (*place.here, plain(claim_revision.quote), plain(claim_revision.note) if claim_revision.note else None)
        if claim_revision.anchor is not None and claim_revision.card is not None:
            yield _build_place(place.here, claim_revision.reference, claim_revision.card, claim_revision.anchor)
        if claim_revision.origin is not None:
            original = split_reference(claim_revision.origin.claim)
            yield (
                "claim_origin",
                (*place.here, plain(claim_revision.origin.log), *original, claim_revision.origin.seq, unhex(claim_revision.origin.leaf)),
            )
        for position, context in enumerate(claim_revision.deploy_contexts):
            yield "claim_context", (*place.here, position, *_typed(context, SpecKind.DEPLOY_CONTEXT.value))

    def find_faults(self, claim: ClaimRevision, rules: "StatementRules") -> Iterator[Fault]:
        # A first revision under a fresh identifier has nothing before it. This skips two queries
        # for each claim of a bulk import.
        if not (claim.revision == 1 and rules.is_new(claim.claim)):
            head = rules.view.one_value(
                select(claim_revision.c.revision)
                .where(rules.view.visible(claim_revision), claim_revision.c.claim == claim.claim)
                .order_by(claim_revision.c.revision.desc())
            )
            yield from rules.check_number(claim.claim, claim.revision, head or 0, "revision")
            yield from rules.check_open(claim.claim, "takes no new revision")
        # The model need not be registered. But a name that differs only in spelling from a
        # registered one would silently have no lineage.
        yield from rules.check_claimed_spelling(claim.model, claim.claim)
        for reference, kind in (
            (claim.property, SpecKind.PROPERTY),
            (claim.scoring, SpecKind.SCORING),
            (claim.test_context, SpecKind.TEST_CONTEXT),
            *((context, SpecKind.DEPLOY_CONTEXT) for context in claim.deploy_contexts),
        ):
            if reference is not None and (reference, kind) not in rules.known_definitions:
                yield from rules.check_definition(reference, kind, claim.claim)
        if claim.card is not None and claim.card not in rules.known_cards:
            yield from rules.check_card(claim.card, claim.claim)
        yield from rules.check_origin(claim)

    def describe(self, payload: ClaimRevision) -> str:
        return f"{payload.reference} {payload.why or payload.quote}"

    def name_new(self, payload: ClaimRevision) -> str | None:
        return payload.claim if payload.revision == 1 else None

    def explain_change(self, payload: ClaimRevision) -> str:
        return "a claim was registered" if payload.revision == 1 else "a claim was revised"


passage_match = new_table(
    "passage_match",
    text_column("claim"),
    whole_column("revision"),
    text_column("card"),
    whole_column("card_revision"),
    text_column("match_result"),
    whole_column("alarm"),
    whole_column("start", null=True),
    whole_column("stop", null=True),
    one_of("match_result", MatchResult),
    CheckConstraint(
        # A passage that is gone always asks for a decision, one that only moved never does.
        "CASE match_result WHEN 'gone' THEN alarm = 1 WHEN 'reworded' THEN alarm IN (0, 1) ELSE alarm = 0 END",
        name="alarm_agrees",
    ),
    CheckConstraint("(match_result = 'gone') = (start IS NULL) AND (start IS NULL) = (stop IS NULL)", name="placed_unless_gone"),
    CheckConstraint("start >= 0 AND stop > start", name="stop_after_start"),
    UniqueConstraint("log", "claim", "revision", "card", "card_revision"),
    refers("claim revision", "claim_revision", "claim revision"),
    refers("card card_revision", "card_revision", "card revision"),
    Index(None, "log", "card", "card_revision"),
    guards=(
        TriggerRule(
            # A CHECK cannot look into another table, so the condition on the quoted card is a trigger.
            broken="NOT EXISTS (SELECT 1 FROM claim_revision WHERE log = NEW.log AND claim = NEW.claim AND revision = NEW.revision"
            " AND quote_status = 'verbatim' AND card = NEW.card AND card_revision <> NEW.card_revision)",
            message="wrong-document: a passage match is of a quoted passage, in another revision of the card it is quoted from",
        ),
    ),
)


PASSAGE_MATCHES = Role("passage_match", "claim", CLAIM, "revision")


class PassageMatchKind(StatementKind[PassageMatch]):
    """The passage of a claim, looked up once in each other revision of its card."""

    tables = (passage_match, claim_place)
    names = (PASSAGE_MATCHES, Role("passage_match", "card", CARD, "card_revision", is_basis=False))
    reason = "its passage was looked for in another revision of its card"
    importance = 11
    is_shortened = False

    def build_rows(self, passage_match: PassageMatch, place: EntryPlace) -> Iterator[Row]:
        span = (passage_match.anchor.start, passage_match.anchor.stop) if passage_match.anchor else (None, None)
        yield (
            "passage_match",
            (
                *place.here,
                *split_reference(passage_match.claim),
                *split_reference(passage_match.card),
                passage_match.match_result.value,
                int(passage_match.is_alarm),
                *span,
            ),
        )
        if passage_match.anchor is not None:
            yield _build_place(place.here, passage_match.claim, passage_match.card, passage_match.anchor)

    def find_faults(self, payload: PassageMatch, rules: "StatementRules") -> Iterator[Fault]:
        claim, revision = split_reference(payload.claim)
        table = claim_revision
        same_claim = (table.c.claim == claim) & (table.c.revision == revision)
        quoted = select(table.c.quote_status, table.c.card, table.c.card_revision).where(rules.view.visible(table), same_claim)
        rows = rules.view.rows(quoted)
        card = rules.find_card(payload.card)
        if not rows:
            problem = f"{payload.claim} is not a registered revision of a claim"
            yield Fault("not-registered", "passage_match", problem, advice=f"run: caveat claim show {claim}")
        if card is None:
            yield refuse_card(payload.card, "passage_match")
        if not rows or card is None:
            return
        # Only a verbatim quotation has a passage whose position can be looked up again.
        yield from _check_quoted(payload.claim, card, *rows[0])
        if payload.anchor is not None:
            yield from check_anchor(card, payload.anchor)
        same = (passage_match.c.claim == claim) & (passage_match.c.revision == revision) & (passage_match.c.card == card.card)
        if seq := rules.find_entry(passage_match, same & (passage_match.c.card_revision == card.revision)):
            problem = f"entry {seq} records the match of its passage in {payload.card}"
            yield Fault("already-recorded", payload.claim, problem)

    def describe(self, payload: PassageMatch) -> str:
        return f"{payload.claim} in {payload.card}: {payload.match_result.value}{' only in spelling' if payload.differs else ''}"


def _check_quoted(claim: str, card: Card, quote_status: str, name: str | None, revision: int | None) -> Iterator[Fault]:
    if name is None or quote_status != QuoteStatus.VERBATIM:
        problem = "it is not quoted from a card word for word, so it has no passage to find again"
        yield Fault("wrong-document", claim, problem)
    elif name != card.card or revision == card.revision:
        problem = f"it is quoted from {name}@{revision}; {card.card}@{card.revision} is no other revision of that card"
        yield Fault("wrong-document", claim, problem)


claim_event = new_table(
    "claim_event",
    *text_columns("claim event"),
    text_column("successor", null=True),
    whole_column("has_reason"),
    begins("claim", Kind.CLAIM),
    one_of("event", ClaimEventKind),
    CheckConstraint("(event = 'supersede') = (successor IS NOT NULL)", name="supersede_names_successor"),
    CheckConstraint("successor <> claim", name="another_successor"),
    CheckConstraint("event IN ('reserve', 'publish') OR has_reason = 1", name="reason_given"),
    refers("claim", "identifier", "id"),
    refers("successor", "identifier", "id"),
    Index(None, "log", "claim"),
    Index(None, "log", "successor"),
)


_DONE = {
    ClaimEventKind.RESERVE: "reserved",
    ClaimEventKind.PUBLISH: "published",
    ClaimEventKind.SUPERSEDE: "superseded",
    ClaimEventKind.WITHDRAW: "withdrawn",
    ClaimEventKind.REJECT: "rejected",
}


class ClaimEventsKind(StatementKind[ClaimEvent]):
    """An event of a claim. It is reserved once and first; after its end nothing follows."""

    tables = (claim_event,)
    names = (Role("claim_event", "claim", CLAIM), Role("claim_event", "successor", CLAIM, is_basis=False))
    reason = "an event of a claim"
    importance = 5

    def build_rows(self, claim_event: ClaimEvent, place: EntryPlace) -> Iterator[Row]:
        yield (
            "claim_event",
            (*place.here, claim_event.claim, claim_event.event.value, claim_event.successor, 1 if claim_event.reason else 0),
        )

    def find_faults(self, claim_event: ClaimEvent, rules: "StatementRules") -> Iterator[Fault]:
        # Reserving is the only event that comes before the claim exists.
        if claim_event.event is ClaimEventKind.RESERVE:
            yield from rules.check_number(claim_event.claim, 1, 1 if rules.view.is_used(claim_event.claim) else 0, "reservation")
            return
        if not rules.view.claim_exists(claim_event.claim):
            yield rules.refuse_unknown("claim", claim_event.claim)
            return
        yield from rules.check_open(claim_event.claim, f"cannot be {_DONE[claim_event.event]}")
        if claim_event.event in (ClaimEventKind.PUBLISH, ClaimEventKind.SUPERSEDE) and rules.view.is_reserved(claim_event.claim):
            yield Fault("identifier-reserved", claim_event.claim, f"it has no revision yet and cannot be {_DONE[claim_event.event]}")
        if claim_event.successor == claim_event.claim:
            yield Fault("self-reference", claim_event.claim, "a claim cannot take its own place")
        elif claim_event.successor and not rules.view.claim_exists(claim_event.successor):
            yield rules.refuse_unknown("claim", claim_event.successor)

    def describe(self, payload: ClaimEvent) -> str:
        return " ".join(filter(None, (payload.claim, payload.event.value, payload.successor, payload.reason)))

    def name_new(self, payload: ClaimEvent) -> str | None:
        # A reservation uses the identifier before the first revision does.
        return payload.claim if payload.event is ClaimEventKind.RESERVE else None

    def explain_change(self, payload: ClaimEvent) -> str:
        return f"a claim was {_DONE[payload.event]}"


claim_relation = new_table(
    "claim_relation",
    *text_columns("claim relation other"),
    one_of("relation", ClaimRelationKind),
    begins("claim", Kind.CLAIM),
    begins("other", Kind.CLAIM),
    CheckConstraint("claim <> other", name="another_claim"),
    UniqueConstraint("log", "claim", "relation", "other"),
    refers("claim", "identifier", "id"),
    refers("other", "identifier", "id"),
    Index(None, "log", "other"),
)


class ClaimRelationsKind(StatementKind[ClaimRelation]):
    """A relation between two claims that exist, recorded once."""

    tables = (claim_relation,)
    names = (Role("claim_relation", "claim", CLAIM), Role("claim_relation", "other", CLAIM))
    reason = "it was related to another claim"
    importance = 19

    def build_rows(self, claim_relation: ClaimRelation, place: EntryPlace) -> Iterator[Row]:
        yield "claim_relation", (*place.here, claim_relation.claim, claim_relation.relation.value, claim_relation.other)

    def find_faults(self, related: ClaimRelation, rules: "StatementRules") -> Iterator[Fault]:
        for name in (related.claim, related.other):
            if not rules.view.claim_exists(name):
                yield rules.refuse_unknown("claim", name)
        table = claim_relation
        same = (table.c.claim == related.claim) & (table.c.relation == related.relation.value) & (table.c.other == related.other)
        if rules.view.rows(select(table.c.seq).where(rules.view.visible(table), same)):
            yield Fault("already-recorded", related.claim, f"it is recorded that it {related.relation.value} {related.other}")

    def describe(self, payload: ClaimRelation) -> str:
        return f"{payload.claim} {payload.relation.value} {payload.other}"


staleness_review = new_table(
    "staleness_review",
    text_column("claim"),
    whole_column("revision"),
    text_column("verdict"),
    begins("claim", Kind.CLAIM),
    one_of("verdict", StalenessVerdict),
    refers("claim revision", "claim_revision", "claim revision"),
    Index(None, "log", "claim"),
)
reviewed_cause = new_table(
    "reviewed_cause",
    whole_column("position"),
    *text_columns("kind what"),
    one_of("kind", CauseKind),
    refers("seq", "staleness_review", "seq"),
    key="log seq position",
)


class StalenessReviewKind(StatementKind[StalenessReview]):
    """A person's decision on causes for which a claim may be stale."""

    tables = (staleness_review, reviewed_cause)
    names = (Role("staleness_review", "claim", CLAIM, "revision"),)
    reason = "a person decided whether a change affects it"
    importance = 6

    def build_rows(self, staleness_review: StalenessReview, place: EntryPlace) -> Iterator[Row]:
        yield "staleness_review", (*place.here, *split_reference(staleness_review.claim), staleness_review.verdict.value)
        for position, cause in enumerate(staleness_review.causes):
            yield "reviewed_cause", (*place.here, position, cause.kind.value, plain(cause.what))

    def find_faults(self, staleness_review: StalenessReview, rules: "StatementRules") -> Iterator[Fault]:
        head = rules.view.find_claim(staleness_review.claim.partition("@")[0])
        name, revision = split_reference(staleness_review.claim)
        if head is None or revision > head.payload.revision:
            yield Fault(
                "not-registered", staleness_review.claim, "no such claim revision is registered here", advice=f"caveat claim show {name}"
            )
        # Reviews of an older revision would have no effect, and the author would not notice.
        elif revision < head.payload.revision:
            problem = f"the claim has a newer revision, @{head.payload.revision}; what was decided of an earlier one changes nothing"
            yield Fault("changed-meanwhile", staleness_review.claim, problem, advice=f"decide on {head.payload.reference}")
        else:
            causes = rules.find_causes(name, head.entry.seq)
            known = {(cause.kind, cause.what) for cause in causes}
            # The valid causes are listed in the message, since their names are not obvious.
            listed = "; ".join(f"{stale_cause.kind.value} {stale_cause.what}" for stale_cause in causes) or "none"
            for named_cause in dict.fromkeys(staleness_review.causes):
                if (named_cause.kind, named_cause.what) not in known:
                    problem = f"{named_cause.kind.value} {named_cause.what} is not a cause for it to be stale; its causes: {listed}"
                    yield Fault("unknown-name", staleness_review.claim, problem)
        for named_cause, count in Counter(staleness_review.causes).items():
            if count > 1:
                yield Fault("duplicate", staleness_review.claim, f"{named_cause.kind.value} {named_cause.what} is named {count} times")

    def describe(self, payload: StalenessReview) -> str:
        kinds = ", ".join(dict.fromkeys(cause.kind.value for cause in payload.causes))
        return f"{payload.claim} {payload.verdict.value} {kinds}: {payload.why}"
