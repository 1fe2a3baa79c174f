"""What a page has to look like: its lines in print, and its width in a browser."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pypdfium2

from registry.report.supplement_wording import TITLES

_FOUND = r"\d % CI|Not audited|unknown|scorer|recognises|observed|interval|replay|outcome|perturbation"
_LOCK = r"locked plan|not as locked|plan locked"
FEWEST_LINES = 12
"""On the last page of a document of several: fewer would be a widow."""
WIDTHS = (390, 768, 1280)
"""Of a phone, a tablet and a laptop, in CSS pixels."""
_SECTION = re.compile(r"^1\s+[A-Z][a-z]+")
"""Where the sections begin that follow page one of a document of one page."""
_MARGIN = re.compile(r"page \d+ of \d+|^Caveat$|#[0-9a-f]{16}( |$)|^(Contested|Objection upheld):")


def list_pages(pdf: bytes) -> list[list[str]]:
    """Return the lines of each page, without what stands in its margins."""
    document = pypdfium2.PdfDocument(pdf)
    try:
        texts = [page.get_textpage().get_text_range() for page in document]
    finally:
        document.close()
    return [[line.strip() for line in text.splitlines() if line.strip() and not _MARGIN.search(line)] for text in texts]


def find_faults(pages: Sequence[Sequence[str]]) -> list[str]:
    """Return what is wrong with the layout of a document: a page that ends in a heading, or a last page that is almost empty."""
    headings = {title.lower() for title in TITLES.values()}
    ends = [page[-1] for page in pages if page]
    faults = [f"a page ends in {end!r}" for end in ends if re.sub(r"^\d+\s+", "", end).lower() in headings]
    if len(pages) > 1 and len(pages[-1]) < FEWEST_LINES:
        faults.append(f"the last page has {len(pages[-1])} lines")
    return faults


def find_overlaps(pdf: bytes) -> list[str]:
    """Return where text lies over other text: for each such page the first character whose middle is inside another one's outline."""
    document = pypdfium2.PdfDocument(pdf)
    found = []
    try:
        for number, page in enumerate(document, 1):
            text = page.get_textpage()
            content = text.get_text_range()
            boxes = [(at, text.get_charbox(at)) for at in range(text.count_chars())]
            rows: dict[int, list[tuple[int, tuple[float, ...]]]] = defaultdict(list)
            for at, box in boxes:
                if box[2] - box[0] > 1 and box[3] - box[1] > 1:
                    rows[int((box[1] + box[3]) / 8)].append((at, box))
            for at, (left, bottom, right, top) in (item for row in rows.values() for item in row):
                x, y = (left + right) / 2, (bottom + top) / 2
                near = (item for place in (-1, 0, 1) for item in rows.get(int(y / 4) + place, ()))
                # The letters of a ligature share one outline.
                if any(abs(other - at) > 3 and box[0] < x < box[2] and box[1] < y < box[3] for other, box in near):
                    found.append(f"page {number}: {content[max(0, at - 20) : at + 20]!r}")
                    break
    finally:
        document.close()
    return found


def count_words(first: Sequence[str]) -> int:
    """Return how many words and numbers a reader meets on page one, that of the figure included, without margins and later sections."""
    end = next((at for at, line in enumerate(first) if _SECTION.match(line)), len(first))
    # A name that breaks at a hyphen at the end of a line is read as one word.
    text = re.sub(r"(?<=\w)[-\ufffe]\n", "-", "\n".join(first[:end]))
    return sum(bool(re.search(r"\w", word)) for word in text.split())


_DOCUMENTS: Mapping[str, Mapping[str, str]] = {
    "claim": {
        "claimed?": r"C(?:LAIM|laim) ?“",
        "found?": r"Contradicted|Holds in|Does not carry over|Not reproduced|Observed|In doubt|Inconclusive|[Nn]ot audited",
        "how sure?": r"\d % CI [−\d]|is (?:un|not )known|exceeds the floor|cannot be compared|another model version",
        "by whom and how?": r"(?:locked plan|not as locked).*(?:n (?:= \d|not stated)|no replay|no responses scored).*(?:20\d\d|registry)",
        "what now?": r"You may say.*You may not say.*objection.*(?:current|needs review|stale) as of entry \d",
    },
    "card": {
        "claimed?": r"C(?:ARD|ard) ?\w.*revision \d",
        "found?": r"\d+ claims?: \d+ supported",
        "how sure?": r"\d %? ?\(\d[\d.]*–\d|not audited",
        "by whom and how?": r"revision \d.*as of entry \d.*(?:locked plan|not audited)",
        "what now?": r"not reviewed|[Ee]ach claim’s supplement has",
    },
    "change": {
        "claimed?": r"entry \d+.*→ entry \d+",
        "found?": r"Of \d+ claims? .*(?:changed verdict|kept (?:its|their) verdict|(?:is|are) new|changed in other ways)|Nothing changed",
        "how sure?": r"\(\d+ % CI \S+ to \S+\)|contains zero|Nothing changed",
        "by whom and how?": r"changes-\d+-\d+.*entry \d",
        "what now?": r"not for reliance|needs review|before → after",
    },
}
"""By kind of document: what the text of page one must have for each of five questions."""


def find_unanswered(kind: str, first: Sequence[str]) -> list[str]:
    """Return which of the five questions the text of page one leaves open."""
    text = " ".join(first)
    return [question for question, pattern in _DOCUMENTS[kind].items() if not re.search(pattern, text)]


def answer_questions(first: Sequence[str]) -> dict[str, bool]:
    """Return for each of five questions whether the text of page one answers it."""
    text = " ".join(first)
    return {
        "what is claimed": bool(re.search(r"C(LAIM|laim) “", text)),
        "what was found, and how sure": bool(re.search(_FOUND, text)),
        "what may be said, and what not": "You may say" in text and "You may not say" in text,
        "on what evidence: n, date, lock": bool(
            re.search(r"n = \d|n not stated|no replay|no responses scored", text) and re.search(r"20\d\d", text) and re.search(_LOCK, text)
        ),
        "is it current and undisputed": bool(re.search(r"as of entry \d+", text)) and "objection" in text,
    }


def measure_overflow(page: Any, width: int) -> list[str]:
    """Return what lies beyond the right edge of a browser *page* that is *width* pixels wide."""
    page.set_viewport_size({"width": width, "height": 900})
    found: list[str] = page.evaluate(
        """() => {
            const edge = document.documentElement.clientWidth + 1;
            const wide = document.documentElement.scrollWidth > edge ? [`the page is ${document.documentElement.scrollWidth} wide`] : [];
            for (const one of document.querySelectorAll('main *')) {
                const box = one.getBoundingClientRect();
                if (box.width && box.height && box.right > edge && box.left >= 0) wide.push(`${one.tagName} ${one.className} ${box.right}`);
            }
            return wide;
        }"""
    )
    return found


_SIDES = re.compile(r"was (\d+\.\d) %.*?, (higher|lower) than in the evaluation \((\d+\.\d) %")
_DIFFERENCE = re.compile(r"was (\d+\.\d) % in the evaluation and (\d+\.\d) % in deployment-like contexts.*?a difference of (−?\d+\.\d)")


def is_sign_consistent(verdict: str) -> bool:
    """Whether the difference in a verdict has the sign of the two figures printed beside it; True where it prints no difference."""
    if match := _SIDES.search(verdict):
        return (float(match[1]) > float(match[3])) == (match[2] == "higher")
    if match := _DIFFERENCE.search(verdict):
        difference = float(match[3].replace("−", "-"))
        return abs(float(match[1]) - float(match[2]) - difference) < 0.11
    return True
