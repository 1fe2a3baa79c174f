"""A claims file becomes claim revisions: all of it or nothing, every fault at once, the same file twice changes nothing."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice

from registry.errors import CaveatError, Fault, InputError
from registry.records.card import Anchor, Card
from registry.records.claim import ClaimRelation, ClaimRevision, Form, QuoteStatus, Relation, Reported, check_form
from registry.records.dossier import Recorded
from registry.records.draft import ClaimDraft, ClaimsFile
from registry.records.identifier import Kind, parse_identifier
from registry.records.model import ModelRef
from registry.records.spec import PropertySpec, SpecKind
from registry.registration.bounds import find_mismatches
from registry.registration.omissions import Place
from registry.registration.quotes import Quotes
from registry.registration.relations import build_restated, check_restated
from registry.registration.specs import format_reference, get_spec, register_spec
from registry.store.natural import natural_key
from registry.store.writer import Writer

_CHUNK = 2_000
_MOST_FAULTS = 200
_LONGEST_QUOTE = 100_000
_IMPLIED = {Form.UPPER_BOUND: Relation.AT_MOST, Form.LOWER_BOUND: Relation.AT_LEAST}


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """What became of a claims file."""

    added: tuple[str, ...]
    """`CLM-…@1`, in the order of the file."""
    revised: tuple[str, ...]
    """`CLM-…@n`."""
    unchanged: int
    """Claims that are registered already, word for word."""
    related: tuple[ClaimRelation, ...] = ()
    """What the file says of claims and others, as far as it was not recorded yet."""
    left_out: int = 0
    """Passages newly recorded as left out."""
    left_out_unchanged: int = 0
    """Passages that are recorded as left out already, for the same reason."""
    proposed: int | None = None
    """Passages newly recorded as proposed by an engine; None for a file that does not say what was proposed."""
    proposed_unchanged: int = 0
    """Passages that are recorded as proposed by that engine already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A draft and where it stands in the file, for error messages."""

    where: str
    draft: ClaimDraft


def place_drafts(file: ClaimsFile, *, where: str) -> Iterator[Placed]:
    """Give each claim of *file* its path."""
    for position, draft in enumerate(file.claims):
        yield Placed(where=f"{where}, claims[{position}]", draft=draft)


def register_definitions(writer: Writer, file: ClaimsFile, *, owner: str, where: str) -> None:
    """Register the properties, scoring functions and contexts that *file* defines, and its model version.

    Raises:
        ConflictError: one of them is registered otherwise; every such fault at once.
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

    def register(self, drafts: Iterable[Placed], progress: Callable[[int], None] = lambda _count: None) -> Registered:
        """Append everything in *drafts* that is new or changed.

        Raises:
            InputError: with every fault (at most 200 are listed); the transaction must then be given up.
        """
        added: list[str] = []
        revised: list[str] = []
        related: list[ClaimRelation] = []
        unchanged = 0
        faults: list[Fault] = []
        stream = iter(drafts)
        while chunk := list(islice(stream, _CHUNK)):
            claims = [claim for placed in chunk if (claim := self._try(placed, faults)) is not None]
            if not faults:
                outcome = self._append(claims, faults)
                added += outcome.added
                revised += outcome.revised
                related += outcome.related
                unchanged += outcome.unchanged
            if len(faults) >= _MOST_FAULTS:
                break
            progress(len(chunk))
        if faults:
            raise InputError(list(dict.fromkeys(faults))[:_MOST_FAULTS])
        return Registered(added=tuple(added), revised=tuple(revised), unchanged=unchanged, related=tuple(related))

    def _try(self, placed: Placed, faults: list[Fault]) -> tuple[Placed, ClaimRevision] | None:
        """Return the revision that *placed* asks for, with an empty identifier unless it names one; its faults are collected."""
        try:
            return placed, self._build(placed)
        except CaveatError:
            faults += self._diagnose(placed)
        except ValueError as error:
            faults.append(Fault(code="not-valid", where=placed.where, found=str(error)))
        return None

    def _diagnose(self, placed: Placed) -> Iterator[Fault]:
        """Give everything that is wrong with one claim, where building it stopped at the first fault."""
        draft, where = placed.draft, placed.where
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
        if body is None:
            found = "is sealed; a claim needs a property that can be read"
            advice = "name another property, define one under properties:, or let its owner reveal it (caveat spec reveal)"
            raise InputError(Fault(code="spec-sealed", where=f"{where}.property", found=found, advice=advice))
        return reference, body

    def _get_model(self, draft: ClaimDraft, where: str) -> ModelRef:
        model = draft.model or self._defaults.model
        if model is None:
            found, advice = "is required and missing, here or for the whole file", "add model: {developer: …, name: …, version: …}"
            raise InputError(Fault(code="not-valid", where=f"{where}.model", found=found, advice=advice))
        return model

    def _build(self, placed: Placed) -> ClaimRevision:
        draft, where = placed.draft, placed.where
        reference, body = self._get_property(draft, where)
        card = self._quotes.find_card(draft.card, where)
        anchor = self._find_anchor(draft, card, where)
        model = self._get_model(draft, where)
        _check_words(draft, model, where)
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
        if draft.quote_status is QuoteStatus.PARAPHRASE:
            return None
        if card is None:
            raise InputError(
                Fault(
                    code="verbatim-without-card",
                    where=f"{where}.quote",
                    found="a verbatim quote needs the card it stands in, so that it can be found again",
                    advice="register the card (caveat card add) and name it, or say quote_status: paraphrase with a source",
                )
            )
        anchor = self._quotes.find(card, draft.quote, page=draft.page, where=f"{where}.quote")
        if self._defaults.left_out:
            self.places.setdefault((f"{card.card}@{card.revision}", anchor.start, anchor.stop), where.rpartition(", ")[2])
        return anchor

    def _append(self, claims: Sequence[tuple[Placed, ClaimRevision]], faults: list[Fault]) -> Registered:
        """Append what is new or changed of one chunk."""
        new: list[tuple[Placed, ClaimRevision]] = []
        known: list[tuple[Placed, str]] = []
        revised: list[ClaimRevision] = []
        keys = [natural_key(claim) for _, claim in claims]
        found = self._writer.find_natural(keys)
        earlier = self._writer.find_natural_earlier([key for key in keys if key not in found])
        seen: set[str] = set()
        for (placed, claim), key in zip(claims, keys, strict=True):
            current = self._writer.find_claim(claim.claim) if claim.claim else found.get(key)
            before = earlier.get(key) if current is None and not claim.claim else None
            if before is not None and not _compare(before.payload, claim):
                known.append((placed, before.payload.claim))  # carried to another version, or reworded, since
                continue
            if current is None:
                if key in seen:
                    faults.append(_twice(placed))
                seen.add(key)
                new.append((placed, claim))
                continue
            known.append((placed, current.payload.claim))
            if differences := _compare(current.payload, claim):
                if placed.draft.why:
                    revised.append(_follow(current, claim, placed.draft.why))
                else:
                    faults.append(_changed(placed, current.payload, differences))
        if faults:
            return Registered(added=(), revised=(), unchanged=0)
        added = self._append_new([claim for _, claim in new])
        self._writer.append_many(revised)
        known += ((placed, claim.claim) for (placed, _), claim in zip(new, added, strict=True))
        return Registered(
            added=tuple(claim.reference for claim in added),
            revised=tuple(claim.reference for claim in revised),
            unchanged=len(claims) - len(added) - len(revised),
            related=self._relate(known, faults),
        )

    def _relate(self, known: Sequence[tuple[Placed, str]], faults: list[Fault]) -> tuple[ClaimRelation, ...]:
        """Append what drafts say of their claims and others; what is wrong with it is collected."""
        said: list[ClaimRelation] = []
        for placed, claim in known:
            try:
                said += build_restated(self._writer, claim, placed.draft.restates, f"{placed.where}.restates")
            except CaveatError as error:
                faults += error.faults
        self._writer.append_many([] if faults else said)
        return tuple(said)

    def _append_new(self, claims: Sequence[ClaimRevision]) -> list[ClaimRevision]:
        free = iter(self._writer.allocate(Kind.CLAIM, self._owner, sum(not claim.claim for claim in claims)))
        named = [claim if claim.claim else replace(claim, claim=next(free)) for claim in claims]
        self._writer.append_many(named)
        return named


def _follow(current: Recorded[ClaimRevision], claim: ClaimRevision, why: str) -> ClaimRevision:
    return replace(claim, claim=current.payload.claim, revision=current.payload.revision + 1, why=why)


def _compare(current: ClaimRevision, claim: ClaimRevision) -> list[str]:
    """Return the names of the fields in which *claim* differs from what is recorded."""
    ours = {"claim", "revision", "why"}
    return [one.name for one in fields(claim) if one.name not in ours and getattr(current, one.name) != getattr(claim, one.name)]


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
        faults.append(Fault(code="not-valid", where=f"{where}.form", found=str(error)))
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
            relation=draft.relation or _IMPLIED.get(draft.form),
            theta=draft.theta,
            reported=_read_reported(draft),
            range_=body.range,
            where=where,
        )
    )
    if faults and not (draft.reason and draft.reason.strip()):
        raise InputError(faults)
    return bool(faults)


def _find_figure_faults(draft: ClaimDraft, body: PropertySpec | None, where: str) -> Iterator[Fault]:
    reported = _read_reported(draft)
    low, high = body.range if body is not None else (-math.inf, math.inf)
    ends = (("reported.low", reported.low), ("reported.high", reported.high)) if reported else ()
    figures = (("theta", draft.theta, 0.0), ("reported", reported.value if reported else None, 0.0))
    # Cards print "0.12 % ± 0.15 %": an interval may reach beyond the range, by less than its width.
    for name, value, excess in (*figures, *((name, value, high - low) for name, value in ends)):
        if value is not None and not low - excess <= value <= high + excess:
            found = f"{value:g} lies outside the range [{low:g}, {high:g}] of the property"
            advice = "write 9 % as 0.09 on a range of [0, 1]" if value > high == 1 else None
            yield Fault(code="out-of-range", where=f"{where}.{name}", found=found, advice=advice)
    if reported and reported.n is not None and reported.n < 1:
        yield Fault(code="not-valid", where=f"{where}.reported.n", found=f"is {reported.n}, expected at least 1")


def _check_words(draft: ClaimDraft, model: ModelRef, where: str) -> None:
    """Refuse what is there and says nothing: a blank quote, a model without a name."""
    words = {"quote": draft.quote, "model.developer": model.developer, "model.name": model.name, "model.version": model.version}
    blank = [Fault(code="not-valid", where=f"{where}.{name}", found="is blank") for name, text in words.items() if not text.strip()]
    if len(draft.quote) > _LONGEST_QUOTE:
        found = f"{len(draft.quote):,} characters; a claim has at most {_LONGEST_QUOTE:,}"
        blank.append(
            Fault(code="quotation-too-long", where=f"{where}.quote", found=found, advice="quote the sentence that makes the claim")
        )
    if blank:
        raise InputError(blank)


def _parse_claim(text: str, where: str) -> str:
    try:
        return parse_identifier(text, Kind.CLAIM).bare
    except ValueError as error:
        raise InputError(Fault(code="bad-identifier", where=where, found=str(error))) from error


def _twice(placed: Placed) -> Fault:
    found = "the same claim (card, property, form, model and quote) stands twice in this file"
    return Fault(code="claim-twice", where=placed.where, found=found, advice="remove one of them")


def _changed(placed: Placed, current: ClaimRevision, differences: Sequence[str]) -> Fault:
    return Fault(
        code="claim-changed",
        where=placed.where,
        found=f"is registered as {current.reference} and differs in {', '.join(differences)}",
        advice="give the reason as `why:` to record a new revision, or leave the claim as it is recorded",
    )
