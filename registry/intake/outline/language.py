"""In which scripts and language a card is written, and on which pages its text may be out of order: what rules should not trust."""

import re

from registry.intake.outline.lines import has_pages
from registry.records.card import CardText

_SCRIPTS = (
    ("Arabic", r"\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufefc"),
    ("Hebrew", r"\u0590-\u05ff\ufb1d-\ufb4f"),
    ("Cyrillic", r"\u0400-\u052f"),
    ("Greek", r"\u0370-\u03ff\u1f00-\u1fff"),
    ("Chinese", r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"),
    ("Japanese", r"\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"),
    ("Korean", r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"),
    ("Devanagari", r"\u0900-\u097f"),
    ("other Indian", r"\u0980-\u0dff"),
    ("Thai", r"\u0e00-\u0e7f"),
)
_RIGHT_TO_LEFT = frozenset({"Arabic", "Hebrew"})
_LETTER = re.compile(r"[^\W\d_]")
_COMMON = re.compile(r"\b(?:the|of|and|to|in|is|that|for|with|we|are|this|on|as|by)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{2,}")
_SPACED = re.compile(r"(?<!\S)(?:[^\W\d_]\s{1,3}){7,}[^\W\d_](?!\S)")
_BROKEN = re.compile(r"[a-z]{2,20}- (?!and\b|or\b|to\b|vs\b|nor\b|but\b)[A-Za-z]{2,20}")
_APART = re.compile(r"^[ \t]*\S[^\n\f]{15,70}?\S[ \t]{3,40}\S[^\n\f]{15,90}$", re.MULTILINE)
_FIGURES = re.compile(r"\d[\d.,]*\s*%?(?=\s|$)")
_SAMPLE = 2_000_000
_LEAST_SHARE = 0.05
_LEAST_ENGLISH = 0.06


def describe_language(text: str) -> tuple[str, ...]:
    """Return a sentence for each script beside the Latin one with 5 % of the letters, or one if the words are not English."""
    sample = text[:_SAMPLE]
    letters = len(_LETTER.findall(sample))
    if not letters:
        return ()
    counts = {name: len(re.findall(rf"(?=[^\W\d_])[{ranges}]", sample)) for name, ranges in _SCRIPTS} if not sample.isascii() else {}
    foreign = [
        f"{count / letters:.0%} of the letters are in {name} script{_turn(name)}; rules read English, this was read as text only."
        for name, count in counts.items()
        if count >= _LEAST_SHARE * letters
    ]
    if foreign:
        return tuple(foreign)
    words = len(_WORD.findall(sample))
    share = len(_COMMON.findall(sample)) / words if words else 1
    if words >= 200 and share < _LEAST_ENGLISH:
        return (f"The text does not read like English ({share:.0%} of its words are common English ones); rules read English.",)
    return ()


def _turn(name: str) -> str:
    return ", which reads from right to left" if name in _RIGHT_TO_LEFT else ""


def describe_layout(card: CardText) -> tuple[str, ...]:
    """Return a sentence for pages whose lines seem to run across columns, and one for pages with letter-spaced text."""
    columns: list[int] = []
    spaced: list[int] = []
    for page in card.pages:
        text = card.text[page.start : page.stop]
        if has_columns(text):
            columns.append(page.number)
        if _SPACED.search(text):
            spaced.append(page.number)
    notes = []
    if columns:
        notes.append(f"{_name(card, columns)} two columns, whose lines may be mixed: sentences there are not to be trusted.")
    if spaced:
        notes.append(f"{_name(card, spaced)} letter-spaced text, which was closed up.")
    return tuple(notes)


def has_columns(text: str) -> bool:
    """Return whether the lines of a page seem to run across two columns of prose.

    Either many lines have a wide gap between words on both sides, or words are broken in the midst of lines: the left column's
    line ends with a hyphen, and the right column's goes on after it.
    """
    lines = text.count("\n") + 1
    apart = [found[0] for found in _APART.finditer(text) if len(_FIGURES.findall(found[0])) < 2]
    return (len(apart) >= 8 and 2 * len(apart) >= lines) or (len(_BROKEN.findall(text)) >= 4 and lines >= 10)


def _name(card: CardText, numbers: list[int]) -> str:
    if not has_pages(card):
        return "The text seems to have"
    shown = ", ".join(map(str, numbers[:10])) + (f" and {len(numbers) - 10:,} more" if len(numbers) > 10 else "")
    return f"Page {shown} seems to have" if len(numbers) == 1 else f"Pages {shown} seem to have"
