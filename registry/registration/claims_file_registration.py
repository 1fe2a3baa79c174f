"""A claims file becomes claim revisions: all of it or nothing, every fault at once, repeats change nothing."""

import codecs
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

from registry.codec.canonical_documents import Json, from_document, from_json
from registry.codec.file_io import check_line, read_document
from registry.errors import CaveatError, Fault, InputError
from registry.records.claim import ClaimRelation, ClaimRelationKind, ClaimRevision, Form, QuoteStatus, Relation, Reported, check_form
from registry.records.claim_draft import ClaimDraft, ClaimsFile, OmissionDraft
from registry.records.dossier import Recorded
from registry.records.model_version import ModelRef
from registry.records.record import Identifier, Kind, parse_identifier
from registry.records.specification import PropertySpec, SpecKind
from registry.records.system_card import Anchor, Card, Omission
from registry.registration.model_lineage import find_near_versions
from registry.registration.quote_checks import Quotes, SurveyResult, find_mismatches, register_survey
from registry.registration.specification_registration import format_reference, get_spec, register_spec
from registry.store.kinds.claim_kinds import natural_key
from registry.store.ledger import Ledger
from registry.store.log_writer import Writer
from registry.store.registry_view import View

# Exclusions: passages that a claims file deliberately leaves out become statements. The same file
# again changes nothing.

Place = tuple[str, int, int]
"""A card revision, and where a passage begins and ends in its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OmissionResult:
    """Outcome of the passages that a file leaves out."""

    added: int
    unchanged: int
    """Left out already, for the same reason."""


class OmissionRegistrar:
    """Registers what one file leaves out into one open transaction; the caller commits it or lets it fall."""

    def __init__(self, writer: Writer, file: ClaimsFile, quotes: Quotes, *, claimed: Mapping[Place, str]) -> None:
        """*claimed*: the passages that claims of the file quote, with the path of the claim."""
        self._writer = writer
        self._file = file
        self._quotes = quotes
        self._claimed = claimed
        self._taken: dict[Place, tuple[str, str]] = {}
        """The passages left out so far, with path and reason."""

    def register(self, *, where: str) -> OmissionResult:
        """Append what is new.

        Raises:
            InputError: with every fault; the transaction must then be given up.
        """
        faults: list[Fault] = []
        omissions: dict[Place, Omission] = {}
        for position, draft in enumerate(self._file.excluded):
            try:
                omission = self._build(draft, f"{where}, excluded[{position}]")
                omissions[_place_of(omission)] = omission
            except CaveatError as error:
                faults += error.faults
        # All faults first; nothing is appended for a file that has any.
        if faults:
            raise InputError(faults)
        new = [candidate for candidate in omissions.values() if self._find(candidate) is None]
        self._writer.append_many(new)
        return OmissionResult(added=len(new), unchanged=len(omissions) - len(new))

    def _build(self, draft: OmissionDraft, where: str) -> Omission:
        card = self._quotes.get_card(draft.card, where)
        faults = [] if draft.reason.strip() else [Fault("not-valid", f"{where}.reason", "is blank; an excluded passage needs its reason")]
        try:
            anchor = self._find_anchor(draft, card, where)
        except CaveatError as error:
            raise InputError([*error.faults, *faults]) from error
        if faults:
            raise InputError(faults)
        omission = Omission(card=f"{card.card}@{card.revision}", quote=draft.quote, anchor=anchor, reason=draft.reason)
        self._check_place(omission, where)
        known = self._find(omission)
        # A reason that was recorded stays. Changing it silently would rewrite why a passage was not
        # registered.
        if known is not None and _fold(known[1]) != _fold(draft.reason):
            raise InputError(_build_omission_changed_fault(known, where))
        return omission

    def _find_anchor(self, draft: OmissionDraft, card: Card, where: str) -> Anchor:
        """Of words that stand in the card more than once, mean the next proposed place that nothing else in the file speaks of."""
        place = f"{where}.quote"
        anchor = self._quotes.find(card, draft.quote, page=draft.page, where=place)
        # The same sentence can appear in several places, and each proposed place needs a decision
        # of its own.
        if anchor.occurrences == 1:
            return anchor
        for start in self._list_proposed(card, anchor):
            other = self._quotes.find(card, draft.quote, page=draft.page, where=place, near=start)
            if not self._speaks_of((f"{card.card}@{card.revision}", other.start, other.stop)):
                return other
        return anchor

    def _list_proposed(self, card: Card, anchor: Anchor) -> Iterator[int]:
        """Give where the words of *anchor* were proposed, in the order of the card."""
        proposed = self._file.proposed
        if proposed is None or proposed.document.lower() != card.document:
            return
        words = self._quotes.get_words(card, anchor.start, anchor.stop)
        yield from (start for start, stop in proposed.passages if self._quotes.get_words(card, start, stop) == words)

    def _speaks_of(self, place: Place) -> bool:
        return place in self._claimed or place in self._taken

    def _check_place(self, omission: Omission, where: str) -> None:
        """A passage is registered or left out, for one reason."""
        place, path = _place_of(omission), where.rpartition(", ")[2]
        # Coverage counts each passage once, as registered or as excluded.
        if place in self._claimed:
            problem = f"is the passage of {self._claimed[place]} too"
            advice = "a passage is registered or excluded, not both: remove one of them"
            raise InputError(Fault("omission-conflict", f"{where}.quote", problem, advice=advice))
        other, reason = self._taken.setdefault(place, (path, omission.reason))
        if _fold(reason) != _fold(omission.reason):
            problem = f"is the passage of {other} too, which gives another reason"
            advice = "leave the passage out once, and say both reasons there"
            raise InputError(Fault("omission-conflict", f"{where}.quote", problem, advice=advice))

    def _find(self, omission: Omission) -> tuple[int, str] | None:
        """Return entry and reason of the passage if it is left out already."""
        known = self._writer.find_omission(omission.card, omission.anchor.start, omission.anchor.stop)
        return None if known is None else (known.entry.seq, known.payload.reason)


def _place_of(omission: Omission) -> Place:
    return omission.card, omission.anchor.start, omission.anchor.stop


def _build_omission_changed_fault(known: tuple[int, str], where: str) -> Fault:
    seq, reason = known
    return Fault(
        "omission-conflict",
        f"{where}.reason",
        f"the passage is excluded since entry {seq}, with another reason: {reason}",
        advice="write the reason as it is recorded; who wants the passage after all registers it as a claim",
    )


def _fold(words: str) -> str:
    return " ".join(words.split())


# Relations: claims that a file names as giving another number for the same quantity.


def check_restated(view: View, names: Sequence[str], where: str) -> None:
    """Refuse names of claims that are none or not registered; raises InputError with every fault."""
    faults = [fault for position, name in enumerate(names) for fault in _find_faults(view, name, f"{where}[{position}]")]
    if faults:
        raise InputError(faults)


def build_restated(view: View, claim: str, names: Sequence[str], where: str) -> list[ClaimRelation]:
    """Return the relations of *claim* to the claims *names* that are not recorded yet, each once; revisions in names are excluded.

    Raises:
        InputError: a claim cannot restate itself.
    """
    if not names:
        return []
    # The relation is between claims. A revision in the name only serves the person who writes the
    # file.
    others = dict.fromkeys(_parse(name).bare for name in names)
    if claim in others:
        raise InputError(Fault("self-reference", where, f"{claim} is the claim itself"))
    restates = ClaimRelationKind.RESTATES
    known = {
        relation.payload.other
        for relation in view.list_relations(claim)
        if relation.payload.claim == claim and relation.payload.relation is restates
    }
    return [ClaimRelation(claim=claim, relation=restates, other=other) for other in others if other not in known]


def _find_faults(view: View, name: str, where: str) -> Iterator[Fault]:
    try:
        named = _parse(name)
    except ValueError as error:
        yield Fault("bad-identifier", where, str(error), advice=view.suggest(name))
        return
    exists = view.claim_exists(named.bare) if named.revision is None else view.find_revision(named.bare, named.revision) is not None
    if not exists:
        near = view.suggest(named.bare) or "caveat claim list shows the registered claims"
        yield Fault("not-registered", where, f"{name} is not registered", advice=near)


def _parse(name: str) -> Identifier:
    return parse_identifier(name, Kind.CLAIM)


# A claims file becomes claim revisions: all of it or nothing, every fault at once, and the same
# file twice changes nothing.

_CHUNK = 2_000
_MOST_FAULTS = 200
_LONGEST_QUOTE = 100_000
_IMPLIED = {Form.UPPER_BOUND: Relation.AT_MOST, Form.LOWER_BOUND: Relation.AT_LEAST}


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationResult:
    """Outcome of a claims file."""

    added: tuple[str, ...]
    """`CLM-…@1`, in the order of the file."""
    revised: tuple[str, ...]
    """`CLM-…@n`."""
    unchanged: int
    """Claims that are registered already, word for word."""
    known: tuple[str, ...] = ()
    """The current revisions of these, `CLM-…@n`, in the order of the file."""
    related: tuple[ClaimRelation, ...] = ()
    """What the file says of claims and others, as far as it was not recorded yet."""
    excluded: int = 0
    """Passages newly recorded as left out."""
    excluded_unchanged: int = 0
    """Passages that are recorded as left out already, for the same reason."""
    proposed: int | None = None
    """Passages newly recorded as proposed by an engine; None for a file that does not say what was proposed."""
    proposed_unchanged: int = 0
    """Passages that are recorded as proposed by that engine already."""
    near: tuple[tuple[ModelRef, ModelRef], ...] = ()
    """Model versions that no claim was about before, each with one whose name differs as 1 and 1.0 do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedDraft:
    """A draft and where it stands in the file, for error messages."""

    where: str
    draft: ClaimDraft


def place_drafts(file: ClaimsFile, *, where: str) -> Iterator[PlacedDraft]:
    """Give each claim of *file* its path."""
    for position, draft in enumerate(file.claims):
        yield PlacedDraft(where=f"{where}, claims[{position}]", draft=draft)


def register_definitions(writer: Writer, file: ClaimsFile, *, owner: str, where: str) -> None:
    """Register the properties, scoring functions and contexts that *file* defines, and its model version.

    Raises:
        ConflictError: one of them is registered differently; every such fault at once.
    """
    sections = (
        (SpecKind.PROPERTY, "properties", file.properties),
        (SpecKind.SCORING, "scorings", file.scorings),
        (SpecKind.TEST_CONTEXT, "test_contexts", file.test_contexts),
        (SpecKind.DEPLOY_CONTEXT, "deploy_contexts", file.deploy_contexts),
    )
    faults: list[Fault] = []
    for kind, section, bodies in sections:
        for slug, body in (bodies or {}).items():
            try:
                register_spec(writer, kind, slug, body, owner=owner)
            except CaveatError as error:
                # The path in the file is put before the place inside the definition.
                faults += (replace(fault, where=f"{where}, {section}.{slug}: {fault.where}") for fault in error.faults)
    if faults:
        raise InputError(faults)


class Registrar:
    """Registers drafts into one open transaction; the caller commits it or lets it fall."""

    def __init__(self, writer: Writer, *, owner: str, defaults: ClaimsFile, quotes: Quotes) -> None:
        self._writer = writer
        self._owner = owner
        self._defaults = defaults
        self._quotes = quotes
        self.places: dict[Place, str] = {}
        """The passages that claims quote, with the path of the claim; only noted where the file leaves others out."""
        self._specs: dict[tuple[SpecKind, str], tuple[str, PropertySpec | None]] = {}

    def register(self, drafts: Iterable[PlacedDraft], progress: Callable[[int], None] = lambda _count: None) -> RegistrationResult:
        """Append everything in *drafts* that is new or changed.

        Raises:
            InputError: with every fault (at most 200 are listed); the transaction must then be given up.
        """
        added: list[str] = []
        revised: list[str] = []
        related: list[ClaimRelation] = []
        known: list[str] = []
        unchanged = 0
        faults: list[Fault] = []
        stream = iter(drafts)
        while chunk := list(islice(stream, _CHUNK)):
            # After the first fault nothing more is appended, but the rest of the file is still
            # checked.
            claims = [claim for placed in chunk if (claim := self._try(placed, faults)) is not None]
            if not faults:
                outcome = self._append(claims, faults)
                added += outcome.added
                revised += outcome.revised
                related += outcome.related
                unchanged += outcome.unchanged
                known += outcome.known
            if len(faults) >= _MOST_FAULTS:
                break
            progress(len(chunk))
        if faults:
            # A fault in a shared definition would otherwise be listed once for each claim.
            raise InputError(list(dict.fromkeys(faults))[:_MOST_FAULTS])
        return RegistrationResult(
            added=tuple(added), revised=tuple(revised), unchanged=unchanged, known=tuple(known), related=tuple(related)
        )

    def _try(self, placed: PlacedDraft, faults: list[Fault]) -> tuple[PlacedDraft, ClaimRevision] | None:
        """Return the revision that *placed* asks for, with an empty identifier unless it names one; its faults are collected."""
        try:
            return placed, self._build(placed)
        except CaveatError:
            faults += self._diagnose(placed)
        except ValueError as error:
            faults.append(Fault("not-valid", placed.where, str(error)))
        return None

    def _diagnose(self, placed: PlacedDraft) -> Iterator[Fault]:
        """Give everything that is wrong with one claim, where building it stopped at the first fault."""
        draft, where = placed.draft, placed.where
        # Each step is tried separately, because a claim with two faults should show both.
        steps: tuple[Callable[[], object], ...] = (
            lambda: self._find_anchor(draft, self._quotes.find_card(draft.card, where), where),
            lambda: check_figures(draft, None, where),
            lambda: check_figures(draft, self._get_property(draft, where)[1], where),
            lambda: check_against_words(draft, self._get_property(draft, where)[1], where),
            lambda: _check_words(draft, self._get_model(draft, where), where),
            lambda: self._resolve_optional(SpecKind.SCORING, draft.scoring, f"{where}.scoring"),
            lambda: self._resolve_optional(SpecKind.TEST_CONTEXT, draft.test_context, f"{where}.test_context"),
            lambda: self._resolve_contexts(draft, where),
            lambda: _parse_claim(draft.id, f"{where}.id") if draft.id else None,
            lambda: check_restated(self._writer, draft.restates, f"{where}.restates"),
        )
        for step in steps:
            try:
                step()
            except CaveatError as error:
                yield from error.faults

    def _get_property(self, draft: ClaimDraft, where: str) -> tuple[str, PropertySpec]:
        reference, body = self._resolve(SpecKind.PROPERTY, draft.property, f"{where}.property")
        # Range and direction of the property are needed to check the figures.
        if body is None:
            problem = "is sealed; a claim needs a property that can be read"
            advice = "name another property, define one under properties:, or let its owner reveal it (caveat spec reveal)"
            raise InputError(Fault("spec-sealed", f"{where}.property", problem, advice=advice))
        return reference, body

    def _get_model(self, draft: ClaimDraft, where: str) -> ModelRef:
        model = draft.model or self._defaults.model
        if model is None:
            problem, advice = "is required and missing, here or for the whole file", "add model: {developer: …, name: …, version: …}"
            raise InputError(Fault("not-valid", f"{where}.model", problem, advice=advice))
        return model

    def _build(self, placed: PlacedDraft) -> ClaimRevision:
        draft, where = placed.draft, placed.where
        reference, body = self._get_property(draft, where)
        card = self._quotes.find_card(draft.card, where)
        anchor = self._find_anchor(draft, card, where)
        model = self._get_model(draft, where)
        _check_words(draft, model, where)
        # Figures before words: a θ outside the range would make the comparison with the words
        # meaningless.
        check_figures(draft, body, where)
        reported = _read_reported(draft)
        is_mismatch = check_against_words(draft, body, where)
        check_restated(self._writer, draft.restates, f"{where}.restates")
        return ClaimRevision(
            claim=_parse_claim(draft.id, f"{where}.id") if draft.id else "",
            revision=1,
            quote=draft.quote,
            quote_status=draft.quote_status,
            form=draft.form,
            property=reference,
            direction=draft.direction or body.direction,
            model=model,
            card=f"{card.card}@{card.revision}" if card else None,
            anchor=anchor,
            relation=draft.relation or _IMPLIED.get(draft.form),
            theta=draft.theta,
            reported=reported,
            scoring=self._resolve_optional(SpecKind.SCORING, draft.scoring, f"{where}.scoring"),
            test_context=self._resolve_optional(SpecKind.TEST_CONTEXT, draft.test_context, f"{where}.test_context"),
            deploy_contexts=self._resolve_contexts(draft, where),
            evaluation=draft.evaluation,
            grader=draft.grader,
            elicitation=draft.elicitation,
            deployment=draft.deployment,
            source=draft.source,
            note=draft.note,
            mismatch_reason=draft.reason if is_mismatch else None,
        )

    def _resolve(self, kind: SpecKind, name: str, where: str) -> tuple[str, PropertySpec | None]:
        """Return the reference that *name* stands for, and its body if it is a property."""
        # A file with thousands of claims names few definitions.
        if (kind, name) not in self._specs:
            try:
                spec = get_spec(self._writer, kind, name, owner=self._owner)
            except CaveatError as error:
                raise InputError(replace(fault, where=f"{where}: {fault.where}") for fault in error.faults) from error
            body = self._writer.open_spec(spec)
            self._specs[kind, name] = (format_reference(spec), body if isinstance(body, PropertySpec) else None)
        return self._specs[kind, name]

    def _resolve_contexts(self, draft: ClaimDraft, where: str) -> tuple[str, ...]:
        return tuple(
            self._resolve(SpecKind.DEPLOY_CONTEXT, name, f"{where}.deploy_contexts[{position}]")[0]
            for position, name in enumerate(draft.deploy_contexts)
        )

    def _resolve_optional(self, kind: SpecKind, name: str | None, where: str) -> str | None:
        return None if name is None else self._resolve(kind, name, where)[0]

    def _find_anchor(self, draft: ClaimDraft, card: Card | None, where: str) -> Anchor | None:
        # A paraphrase has no position in the text.
        if draft.quote_status is QuoteStatus.PARAPHRASE:
            return None
        if card is None:
            raise InputError(
                Fault(
                    "verbatim-without-card", f"{where}.quote", "a verbatim quote needs the card that contains it, so that it can be located"
                )
            )
        anchor = self._quotes.find(card, draft.quote, page=draft.page, where=f"{where}.quote")
        if self._defaults.excluded:
            self.places.setdefault((f"{card.card}@{card.revision}", anchor.start, anchor.stop), where.rpartition(", ")[2])
        return anchor

    def _append(self, claims: Sequence[tuple[PlacedDraft, ClaimRevision]], faults: list[Fault]) -> RegistrationResult:
        """Append what is new or changed of one chunk."""
        new: list[tuple[PlacedDraft, ClaimRevision]] = []
        known: list[tuple[PlacedDraft, str]] = []
        revised: list[ClaimRevision] = []
        keys = [natural_key(claim) for _, claim in claims]
        natural = self._writer.find_natural(keys)
        # A claim that was carried to another model version, or reworded, no longer has the key of
        # this file. It is recognised by its earlier revision, so adding the old file again does not
        # register a copy.
        earlier = self._writer.find_natural_earlier([key for key in keys if key not in natural])
        seen: set[str] = set()
        same: list[str] = []
        for (placed, claim), key in zip(claims, keys, strict=True):
            current = self._writer.find_claim(claim.claim) if claim.claim else natural.get(key)
            before = earlier.get(key) if current is None and not claim.claim else None
            if before is not None and not _compare(before.payload, claim):
                known.append((placed, before.payload.claim))  # carried to another version, or reworded, since
                same.append(before.payload.reference)
                continue
            if current is None:
                # The natural key identifies a claim, so a second one in the same file is a
                # duplicate.
                if key in seen:
                    faults.append(_twice(placed))
                seen.add(key)
                new.append((placed, claim))
                continue
            known.append((placed, current.payload.claim))
            if differences := _compare(current.payload, claim):
                # Same key and other content: with a reason a revision, without one refused
                # (decision of 2026-11-21).
                if placed.draft.why:
                    revised.append(_follow(current, claim, placed.draft.why))
                else:
                    faults.append(_build_claim_changed_fault(placed, current.payload, differences))
            else:
                same.append(current.payload.reference)
        if faults:
            return RegistrationResult(added=(), revised=(), unchanged=0)
        added = self._append_new([claim for _, claim in new])
        self._writer.append_many(revised)
        known += ((placed, claim.claim) for (placed, _), claim in zip(new, added, strict=True))
        return RegistrationResult(
            added=tuple(claim.reference for claim in added),
            revised=tuple(claim.reference for claim in revised),
            unchanged=len(claims) - len(added) - len(revised),
            known=tuple(same),
            related=self._relate(known, faults),
        )

    def _relate(self, known: Sequence[tuple[PlacedDraft, str]], faults: list[Fault]) -> tuple[ClaimRelation, ...]:
        """Append what drafts say of their claims and others; what is wrong with it is collected."""
        relations: list[ClaimRelation] = []
        for placed, claim in known:
            try:
                relations += build_restated(self._writer, claim, placed.draft.restates, f"{placed.where}.restates")
            except CaveatError as error:
                faults += error.faults
        self._writer.append_many([] if faults else relations)
        return tuple(relations)

    def _append_new(self, claims: Sequence[ClaimRevision]) -> list[ClaimRevision]:
        # Allocated at once, so that the claims of a chunk get consecutive numbers.
        free = iter(self._writer.allocate(Kind.CLAIM, self._owner, sum(not claim.claim for claim in claims)))
        named = [claim if claim.claim else replace(claim, claim=next(free)) for claim in claims]
        self._writer.append_many(named)
        return named


def _follow(current: Recorded[ClaimRevision], claim: ClaimRevision, why: str) -> ClaimRevision:
    return replace(claim, claim=current.payload.claim, revision=current.payload.revision + 1, why=why)


def _compare(current: ClaimRevision, claim: ClaimRevision) -> list[str]:
    """Return the names of the fields in which *claim* differs from what is recorded."""
    # Number, revision and reason belong to the record and not to the claim.
    ours = {"claim", "revision", "why"}
    return [field.name for field in fields(claim) if field.name not in ours and getattr(current, field.name) != getattr(claim, field.name)]


def _read_reported(draft: ClaimDraft) -> Reported | None:
    return Reported(value=draft.reported) if isinstance(draft.reported, (int, float)) else draft.reported


def check_figures(draft: ClaimDraft, body: PropertySpec | None, where: str) -> None:
    """Refuse what the form of a claim does not go with, and figures that are none of its property.

    Args:
        body: the property; None where it is not known, so that no range is.

    Raises:
        InputError: with every fault.
    """
    faults: list[Fault] = []
    try:
        check_form(draft.form, draft.relation or _IMPLIED.get(draft.form), draft.theta)
    except ValueError as error:
        faults.append(Fault("not-valid", f"{where}.form", str(error)))
    faults += _find_figure_faults(draft, body, where)
    if faults:
        raise InputError(faults)


def check_against_words(draft: ClaimDraft, body: PropertySpec, where: str) -> bool:
    """Return whether θ, relation or reported figure of a claim differ from what its words say, for the reason that it gives.

    Raises:
        InputError: they differ, and it gives no reason; with every fault.
    """
    faults = list(
        find_mismatches(
            draft.quote,
            form=draft.form,
            relation=draft.relation or _IMPLIED.get(draft.form),
            theta=draft.theta,
            reported=_read_reported(draft),
            range_=body.range,
            where=where,
        )
    )
    # The words are authoritative. Other figures are possible, but need a reason, which is recorded.
    if faults and not (draft.reason and draft.reason.strip()):
        raise InputError(faults)
    return bool(faults)


def _find_figure_faults(draft: ClaimDraft, body: PropertySpec | None, where: str) -> Iterator[Fault]:
    reported = _read_reported(draft)
    # Without a known property there is no range to check.
    low, high = body.range if body is not None else (-math.inf, math.inf)
    ends = (("reported.low", reported.low), ("reported.high", reported.high)) if reported else ()
    figures = (("theta", draft.theta, 0.0), ("reported", reported.value if reported else None, 0.0))
    # Cards print "0.12 % ± 0.15 %": an interval may reach beyond the range, by less than its width.
    for name, value, excess in (*figures, *((name, value, high - low) for name, value in ends)):
        if value is not None and not low - excess <= value <= high + excess:
            problem = f"{value:g} lies outside the range [{low:g}, {high:g}] of the property"
            advice = "write 9 % as 0.09 on a range of [0, 1]" if value > high == 1 else None
            yield Fault("out-of-range", f"{where}.{name}", problem, advice=advice)
    if reported and reported.n is not None and reported.n < 1:
        yield Fault("not-valid", f"{where}.reported.n", f"is {reported.n}, expected at least 1")


def _check_words(draft: ClaimDraft, model: ModelRef, where: str) -> None:
    """Refuse what is there and says nothing: a blank quote, a model without a name."""
    words = {"quote": draft.quote, "model.developer": model.developer, "model.name": model.name, "model.version": model.version}
    blank = [Fault("not-valid", f"{where}.{name}", "is blank") for name, text in words.items() if not text.strip()]
    # A quotation of pages is no claim, and searching it in the card would take very long.
    if len(draft.quote) > _LONGEST_QUOTE:
        problem = f"{len(draft.quote):,} characters; a claim has at most {_LONGEST_QUOTE:,}"
        blank.append(Fault("quotation-too-long", f"{where}.quote", problem))
    if blank:
        raise InputError(blank)


def _parse_claim(text: str, where: str) -> str:
    try:
        return parse_identifier(text, Kind.CLAIM).bare
    except ValueError as error:
        raise InputError(Fault("bad-identifier", where, str(error))) from error


def _twice(placed: PlacedDraft) -> Fault:
    return Fault("duplicate", placed.where, "the same claim (card, property, form, model and quote) occurs twice in this file")


def _build_claim_changed_fault(placed: PlacedDraft, current: ClaimRevision, differences: Sequence[str]) -> Fault:
    return Fault("claim-changed", placed.where, f"is registered as {current.reference} and differs in {', '.join(differences)}")


# From a claims file on disk to a transaction and back. This is the only way in for claims.

_LONGEST_LINE = 1_000_000
MOST_CLAIMS = 10_000
"""Claims that one YAML or JSON file may have."""
Done = TypeVar("Done")


# Raised to leave the transaction: a dry run does the same work as a real one, with all rules and
# constraints, and is then rolled back.
class _DryRunError(Exception):
    """Ends a transaction that was only a trial, so that nothing of it is recorded."""

    def __init__(self, outcome: RegistrationResult) -> None:
        super().__init__()
        self.outcome = outcome


def _end_if(dry_run: bool, outcome: RegistrationResult) -> None:  # noqa: FBT001  (read aloud it says what it does)
    if dry_run:
        raise _DryRunError(outcome)


def register_file(ledger: Ledger, path: Path, *, owner: str, dry_run: bool, progress: Callable[[int], None]) -> RegistrationResult:
    """Register the claims of *path* in one transaction: all of it or nothing.

    Raises:
        InputError: every fault of the file; nothing was recorded.
    """
    file, drafts = _read(path)
    try:
        with ledger.write(actor=owner) as writer:
            known = frozenset(writer.list_claimed_models())
            register_definitions(writer, file, owner=owner, where=str(path))
            outcome = _register(writer, file, drafts, owner=owner, where=str(path), progress=progress)
            new = [model for model in writer.list_claimed_models() if model not in known]
            outcome = replace(outcome, near=tuple((model, near) for model in new for near in find_near_versions(writer, model)))
            _end_if(dry_run, outcome)
    except _DryRunError as trial:
        return trial.outcome
    return outcome


def revise_claim(ledger: Ledger, claim: str, path: Path, *, why: str, owner: str) -> RegistrationResult:
    """Record what the one claim in *path* says as a new revision of *claim*.

    Raises:
        InputError: not exactly one claim, or faults in it; nothing was recorded.
    """
    file, drafts = _read(path)
    placed = list(drafts)
    if len(placed) != 1:
        raise InputError(Fault("not-one-claim", str(path), f"{len(placed)} claims; a revision takes exactly one"))
    # The command's claim and reason replace those of the file, so that they cannot disagree.
    draft = replace(placed[0], draft=replace(placed[0].draft, id=claim, why=why))
    with ledger.write(actor=owner) as writer:
        register_definitions(writer, file, owner=owner, where=str(path))
        return _register(writer, file, [draft], owner=owner, where=str(path))


def _register(
    writer: Writer,
    file: ClaimsFile,
    drafts: Iterable[PlacedDraft],
    *,
    owner: str,
    where: str,
    progress: Callable[[int], None] = lambda _count: None,
) -> RegistrationResult:
    """Register claims, then what the file leaves out of its cards, then what was proposed; the faults of all three together, each once."""
    quotes = Quotes(writer, default=file.card, where=where)
    registrar = Registrar(writer, owner=owner, defaults=file, quotes=quotes)
    # The three parts are tried separately, so that one run shows the faults of all.
    faults: list[Fault] = []
    outcome = _try(lambda: registrar.register(drafts, progress), faults)
    omitted = _try(lambda: OmissionRegistrar(writer, file, quotes, claimed=registrar.places).register(where=where), faults)
    surveyed = _try(lambda: _register_survey(writer, file, quotes, where), faults)
    if outcome is None or omitted is None or faults:
        raise InputError(dict.fromkeys(faults))
    result = replace(outcome, excluded=omitted.added, excluded_unchanged=omitted.unchanged)
    return result if surveyed is None else replace(result, proposed=surveyed.added, proposed_unchanged=surveyed.unchanged)


def _register_survey(writer: Writer, file: ClaimsFile, quotes: Quotes, where: str) -> SurveyResult | None:
    return None if file.proposed is None else register_survey(writer, file.proposed, quotes, where=f"{where}, proposed")


def _try(step: Callable[[], Done], faults: list[Fault]) -> Done | None:
    """Return what *step* returns; None when it fails, its faults collected."""
    try:
        return step()
    except CaveatError as error:
        faults += error.faults
        return None


def _read(path: Path) -> tuple[ClaimsFile, Iterator[PlacedDraft]]:
    """Return the file's definitions and its drafts; those of a `.jsonl` file are read while they are registered."""
    if path.suffix.lower() == ".jsonl":
        return ClaimsFile(claims=()), _read_lines(path)
    document = read_document(path)
    _refuse_many(document, path)
    file = from_document(ClaimsFile, document, where=str(path))
    return file, place_drafts(file, where=str(path))


def _refuse_many(document: Json, path: Path) -> None:
    """A file of lines is read claim by claim; this one is held whole, and so are the faults of all its claims."""
    claims = document.get("claims") if isinstance(document, dict) else None
    if isinstance(claims, list) and len(claims) > MOST_CLAIMS:
        problem = f"{len(claims):,} claims in one file; at most {MOST_CLAIMS:,} are read"
        raise InputError(Fault("file-too-large", str(path), problem, advice="write them as JSON lines: NAME.jsonl, one claim a line"))


def _read_lines(path: Path) -> Iterator[PlacedDraft]:
    """Give the drafts of a `.jsonl` file line by line; the faults of up to 200 lines are raised together."""
    faults: list[Fault] = []
    with path.open("rb") as stream:
        for number, line in enumerate(iter(lambda: stream.readline(_LONGEST_LINE + 1), b""), start=1):
            where = f"{path}, line {number}"
            if len(line) > _LONGEST_LINE:
                raise InputError(Fault("file-too-large", where, f"a line has over {_LONGEST_LINE:,} bytes"))
            written = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            if not written.strip():
                continue
            try:
                check_line(written, where=where)
                yield PlacedDraft(where=where, draft=from_json(ClaimDraft, written, where=where))
            except CaveatError as error:
                faults += error.faults
            if len(faults) >= 200:
                break
    if faults:
        raise InputError(faults)
