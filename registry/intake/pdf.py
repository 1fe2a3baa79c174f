"""A PDF's text, read by two extractors."""

import hashlib
import re
from collections import Counter

from registry.errors import Fault, InputError
from registry.intake.apart import ask_extractor
from registry.intake.bombs import find_text_bomb
from registry.intake.decode import find_hidden
from registry.records.card import CardText, Heading, MediaType, Page

MAXIMUM_PAGES = 20_000
"""A PDF with more pages is refused."""
MAXIMUM_ON_A_PAGE = 200_000
"""A PDF with more characters on a page is refused: a dense page has 10,000, and extractors keep hundreds of bytes for each."""
FIRST_SECONDS = 120
"""How long the first extractor may take."""
SECOND_SECONDS = 60
"""How long the second opinion may take; then there is none."""
SECOND_PAGES = 60
"""The second opinion, which is slow, is asked on at most so many pages, evenly spread."""
SECOND_CHARACTERS = 500_000
"""And on pages that together have at most so many characters."""
_WORD = re.compile(r"[^\W_]+")


def read_pdf(data: bytes, *, where: str, maximum_characters: int) -> CardText:
    """Return the text of the PDF *data*: pages joined by form feeds, bookmarks as headings, the extractors' agreement.

    Raises:
        InputError: card-encrypted, card-damaged, card-too-long, card-too-slow, card-without-text.
        UnavailableError: extractor-missing.
    """
    if (bomb := find_text_bomb(data)) is not None:
        raise _refuse("card-too-long", where, bomb, "give the part of it that is the card")
    limits = {"maximum_pages": MAXIMUM_PAGES, "maximum_characters": maximum_characters, "maximum_on_a_page": MAXIMUM_ON_A_PAGE}
    first = ask_extractor("pdfium", limits, data, where=where, seconds=FIRST_SECONDS)
    texts: list[str] = first["pages"]
    if not any(_has_text(text) for text in texts):
        raise _refuse("card-without-text", where, f"none of its {len(texts):,} pages has text: it is a scan or a drawing", _OCR)
    warnings = _describe_empty_pages(texts)
    sample = _choose_sample(texts)
    agreement, second_name, warning = _second_opinion(data, texts, sample, where)
    text = "\f".join(texts)
    return CardText(
        sha256=hashlib.sha256(data).hexdigest(),
        size_bytes=len(data),
        media_type=MediaType.PDF,
        text=text,
        pages=_page_map(texts),
        extractor=first["extractor"],
        second_extractor=second_name,
        agreement=agreement,
        warnings=(*warnings, *warning, *find_hidden(text)),
        headings=find_bookmarked_headings(texts, [(title, page) for title, page in first["bookmarks"]]),
    )


_OCR = "run text recognition (OCR) on it and register the PDF that results"


def find_bookmarked_headings(texts: list[str], bookmarks: list[tuple[str, int]]) -> tuple[Heading, ...]:
    """Return the bookmarks as headings, each where its title stands on its page, or at the top of it if it is not found there."""
    starts = [page.start for page in _page_map(texts)]
    found: dict[int, str] = {}
    for bookmark, page in bookmarks:
        title = " ".join(bookmark.replace("\u200b", " ").split())
        if _has_text(title) and 0 <= page < len(texts):
            found.setdefault(starts[page] + _find_title(texts[page], title), title)
    return tuple(Heading(start=start, title=found[start]) for start in sorted(found))


def measure_agreement(first: list[str], second: list[str]) -> float | None:
    """Return the share of words on which both texts agree: twice the words in common over all words, as multisets (Dice).

    Hyphenation at line ends is undone in both first, since extractors differ in it and readers do not. None if neither has a word.
    """
    ours, theirs = _count_words(first), _count_words(second)
    total = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / total if total else None


def _second_opinion(data: bytes, texts: list[str], sample: list[int], where: str) -> tuple[float | None, str | None, tuple[str, ...]]:
    try:
        second = ask_extractor("pdfminer", {"sample": sample}, data, where=where, seconds=SECOND_SECONDS)
    except InputError as error:
        return None, None, (f"There is no second opinion on the text: {error.faults[0].found}.",)
    agreement = measure_agreement([texts[index] for index in sample], second["pages"])
    warnings = []
    if len(sample) < len(texts):
        warnings.append(f"The second opinion was asked on {len(sample)} of {len(texts):,} pages, evenly spread.")
    if agreement is not None and agreement < 0.9:
        warnings.append(f"The two extractors agree on {agreement:.1%} of the words only; compare quotations with the printed page.")
    return agreement, second["extractor"], tuple(warnings)


def _page_map(texts: list[str]) -> tuple[Page, ...]:
    pages: list[Page] = []
    start = 0
    for number, text in enumerate(texts, start=1):
        pages.append(Page(number=number, start=start, stop=start + len(text)))
        start += len(text) + 1
    return tuple(pages)


def _spread(count: int) -> list[int]:
    return sorted({index * count // min(count, SECOND_PAGES) for index in range(min(count, SECOND_PAGES))})


def _choose_sample(texts: list[str]) -> list[int]:
    """Return the pages that the second extractor is asked about, fewer where pages are long."""
    sample: list[int] = []
    characters = 0
    for index in _spread(len(texts)):
        characters += len(texts[index])
        if sample and characters > SECOND_CHARACTERS:
            break
        sample.append(index)
    return sample


def _has_text(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _describe_empty_pages(texts: list[str]) -> tuple[str, ...]:
    empty = [number for number, text in enumerate(texts, start=1) if not _has_text(text)]
    if not empty:
        return ()
    named = _join_ranges(empty)
    return (f"No text on {'pages' if len(empty) > 1 else 'page'} {named} of {len(texts):,}: empty, or an image without text recognition.",)


def _join_ranges(numbers: list[int]) -> str:
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    shown = [str(a) if a == b else f"{a}–{b}" for a, b in ranges[:20]]
    return ", ".join(shown) + (f" and {len(ranges) - 20} more ranges" if len(ranges) > 20 else "")


def _count_words(texts: list[str]) -> Counter[str]:
    joined = re.sub(r"(?<=\w)-\s{1,20}(?=\w)", "", "\n".join(texts))
    return Counter(_WORD.findall(joined.casefold()))


def _find_title(text: str, title: str) -> int:
    """Where *title* fills a line of *text*, else where it last stands in it, else 0."""
    words = r"\s+".join(re.escape(word) for word in title.split())
    whole = [found.start() for found in re.finditer(rf"^[ \t]*(?:\d[\d.]*\s+)?{words}[ \t]*$", text, re.MULTILINE)]
    anywhere = [found.start() for found in re.finditer(words, text)]
    return whole[0] if whole else anywhere[-1] if anywhere else 0


def _refuse(code: str, where: str, found: str, advice: str) -> InputError:
    return InputError(Fault(code=code, where=where, found=found, advice=advice))
