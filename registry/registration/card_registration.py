"""A card's text becomes a statement; the same file twice changes nothing."""

from dataclasses import dataclass
from datetime import date

from registry.errors import ConflictError, Fault, InputError, NotFoundError
from registry.records.record import Kind
from registry.records.system_card import Card, CardText
from registry.store.log_writer import Writer
from registry.store.registry_view import View

_FEWEST_COMMON = 0.2
"""What two revisions have in common at least. Of the cards we tried, two revisions had 96 % or more, two cards of one publisher 6 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardNote:
    """What a person says about a card file."""

    publisher: str
    file_name: str
    """The title of a first revision without one."""
    title: str | None = None
    """None means: that of the revision before."""
    revises: str | None = None
    """`CRD-…` of which the file is a new revision; None for a card of its own."""
    published: date | None = None
    url: str | None = None
    why: str | None = None
    """Why there is a new revision; required with `revises`."""


def register_card(writer: Writer, text: CardText, note: CardNote, *, authority: str) -> tuple[Card, bool]:
    """Return the registered card and whether it is new; a file that is registered already is returned as it is.

    Raises:
        NotFoundError: the card to revise is not registered.
        ConflictError: the file is registered as another card than the one to revise.
        InputError: a revision without its reason.
    """
    # A file is identified by its bytes. The same file again is not an error, so scripts can be
    # repeated.
    known = writer.find_card_by_document(text.sha256)
    if known is not None:
        if note.revises not in (None, known.payload.card):
            problem = f"this file is registered already, as {known.payload.card}@{known.payload.revision}"
            raise ConflictError(Fault("card-registered-elsewhere", f"--revises {note.revises}", problem))
        return known.payload, False
    card = _build(writer, text, note, authority)
    # The text before the statement: the rule for cards requires that it is stored.
    writer.put_content(text.text)
    writer.append(card)
    return card, True


def check_alike(view: View, text: CardText, note: CardNote) -> None:
    """Refuse a new revision that has hardly a passage in common with the one before it: another card's file, most likely.

    Raises:
        InputError: revision-unrelated.
        NotFoundError: the card to revise is not registered.
    """
    from registry.intake.revision.word_alignment import measure_common  # noqa: PLC0415  (for new revisions alone)

    before = get_card(view, note.revises or "")
    # The threshold lies between two measured cases: 96 % or more for revisions of one card, 6 % for
    # two cards of one publisher. Short texts give None and are not judged.
    common = measure_common(view.get_content(before.text), text.text)
    if common is not None and common < _FEWEST_COMMON:
        problem = f"has hardly a passage in common with {before.card}@{before.revision}: {common:.1%} of its runs of five words"
        raise InputError(Fault("revision-unrelated", f"--revises {before.card}", problem))


def _build(writer: Writer, text: CardText, note: CardNote, authority: str) -> Card:
    import hashlib  # noqa: PLC0415

    if note.revises is None:
        identifier, revision, title = writer.allocate(Kind.CARD, authority)[0], 1, note.title or note.file_name
    else:
        if not (note.why and note.why.strip()):
            problem = "a new revision of a card needs its reason"
            raise InputError(Fault("reason-missing", "--reason", problem, advice="add --reason 'publisher corrected table 3'"))
        before = get_card(writer, note.revises)
        # The title continues unless a new one is given.
        identifier, revision, title = before.card, before.revision + 1, note.title or before.title
    return Card(
        card=identifier,
        revision=revision,
        title=title,
        publisher=note.publisher,
        document=text.sha256,
        size_bytes=text.size_bytes,
        media_type=text.media_type,
        text=hashlib.sha256(text.text.encode()).hexdigest(),
        pages=text.pages,
        headings=text.headings,
        extractor=text.extractor,
        second_extractor=text.second_extractor,
        agreement=text.agreement,
        published=note.published,
        url=note.url,
        why=note.why,
    )


def get_card(view: View, identifier: str, revision: int | None = None) -> Card:
    """Return the registered card, its latest revision unless another is asked for; raises NotFoundError with what is near."""
    card = view.find_card(identifier, revision)
    if card is None:
        # A typing error is the usual cause, so similar identifiers are listed.
        near = view.suggest(identifier) or "caveat card list shows the registered cards"
        wanted = identifier if revision is None else f"{identifier}@{revision}"
        raise NotFoundError(Fault("not-registered", wanted, "no such card is registered", advice=near))
    return card.payload


def get_card_text(view: View, card: Card) -> CardText:
    """Return the text of *card* as it was extracted when it was registered."""
    return CardText(
        sha256=card.document,
        size_bytes=card.size_bytes,
        media_type=card.media_type,
        text=view.get_content(card.text),
        pages=card.pages,
        headings=card.headings,
        extractor=card.extractor,
        second_extractor=card.second_extractor,
        agreement=card.agreement,
    )
