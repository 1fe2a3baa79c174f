"""A card file in, its text out: the kind of file, its encoding, and the pages of PDF, HTML and Markdown."""

import hashlib
import json
import re
import stat
import subprocess
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any

from registry.configuration import build_child_command
from registry.errors import Fault, InputError, UnavailableError
from registry.intake import text_normalisation as rules
from registry.records.system_card import CardText, Heading, MediaType, Page

# Bytes to text: UTF-8 where possible. Any other assumption is stated in a warning, because a wrong encoding changes
# quotations.

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_DECLARED = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?([A-Za-z0-9_:.-]{1,40})""", re.IGNORECASE)
_BIDIRECTIONAL = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_SAMPLE_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A text and how it was read."""

    text: str
    reader: str
    warnings: tuple[str, ...]


def decode_text(data: bytes, *, where: str, is_hypertext: bool = False) -> DecodedText:
    """Return the text of *data*; other than plain UTF-8 is named in a warning, and so are characters that do not show.

    Raises:
        InputError: card-not-supported, if no encoding makes text of it.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            warnings = (
                () if encoding == "utf-8" else (f"The file is not UTF-8: it was read as {encoding.upper()}, as its first bytes say.",)
            )
            return _finish(_decode(data[len(mark) :], encoding, where), encoding, warnings)
    # Many zero bytes mean UTF-16 or UTF-32, which can also be valid UTF-8.
    if data.count(0, 0, _SAMPLE_BYTES) * 5 < min(len(data), _SAMPLE_BYTES):
        try:
            return _finish(data.decode("utf-8"), "utf-8", ())
        except UnicodeDecodeError as error:
            at = error.start
    else:
        at = data.index(0)
    # A declaration counts only after UTF-8 has failed.
    declared = _declared(data) if is_hypertext else None
    encoding = declared or _guess(data, where)
    reason = "as the page declares" if declared else "the most likely encoding"
    warning = (
        f"The file is not UTF-8 (byte {at:,} does not fit): it was read as {encoding.upper()}, {reason}; check its special characters."
    )
    return _finish(_decode(data, encoding, where), encoding, (warning,))


def _declared(data: bytes) -> str | None:
    match = _DECLARED.search(data[:4096])
    if match is None:
        return None
    name = match[1].decode("ascii")
    try:
        "".encode(name)
    except LookupError:
        return None
    return None if name.lower().replace("-", "") == "utf8" else name


def _guess(data: bytes, where: str) -> str:
    sample = data[:_SAMPLE_BYTES]
    nuls = sample.count(0)
    if nuls * 5 >= len(sample):
        odd = sample[1::2].count(0)
        if odd > 0.9 * nuls:
            return "utf-16-le"
        if odd < 0.1 * nuls:
            return "utf-16-be"
        raise _not_text(where)
    if _is_western(sample):
        return "cp1252"
    from charset_normalizer import from_bytes  # noqa: PLC0415 - only files in another encoding pay for it

    best = from_bytes(sample).best()
    if best is None:
        raise _not_text(where)
    return "cp1252" if best.encoding in _WESTERN else best.encoding


def _is_western(data: bytes) -> bool:
    """Whether *data* reads as CP1252 does: words of Western letters, its quotation marks and dashes, and no control characters.

    A guess from the letters of a short text is often wrong ("Café" as MAC_LATIN2); of the encodings of cards this is by far the most
    frequent. Three of four characters must be ASCII, and each letter beyond it a part of a word of Latin letters, as in no other script.
    """
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return False
    if any(character < " " and character not in "\t\n\r\f" for character in text):
        return False
    beyond = [character for character in text if not character.isascii()]
    return len(beyond) * 4 <= len(text) and all(character in _WESTERN_CHARACTERS for character in beyond) and not _ODD_CASE.search(text)


_WESTERN_CHARACTERS = frozenset(
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜßàáâãäåæçèéêëìíîïñòóôõöøùúûüÿŒœŠšŽžŸðþÐÞýÝ‘’“”‚„‹›«»–—…•™©®°±²³µ·×÷€£¥§¶†‡‰¡¿¼½¾ºª¢ˆ˜¹\u00a0\u00ad¬´¨¸ƒ"
)
_ODD_CASE = re.compile(r"[a-zß-ÿ][À-ÖØ-ÞŠŒŽŸ]|\w[‚„†‡‰¡¿£¥¶¤¦¸¨ˆ˜ƒ¬]\w|[A-Za-z][©®¹²³µ±×÷][A-Za-z]|[À-ÿ]{3}")
"""What letters of another encoding look like when read as CP1252: capitals and signs in the middle of words, three accents in a row."""
_WESTERN = frozenset({"latin_1", "cp1250", "cp1252", "iso8859_15", "cp1254", "cp1257", "cp775", "cp850", "cp437", "mac_roman"})


def _decode(data: bytes, encoding: str, where: str) -> str:
    text = data.decode(encoding, errors="replace")
    # More than 5 % of unreadable characters mean that the file is no text in this encoding.
    if text.count("\ufffd") * 20 > len(text):
        raise _not_text(where)
    return text.encode("utf-8", errors="replace").decode("utf-8")


def _not_text(where: str) -> InputError:
    problem = "expected PDF, HTML, Markdown or plain text, found bytes that are text in no known encoding"
    return InputError(Fault("card-not-supported", where, problem))


def _finish(text: str, encoding: str, warnings: tuple[str, ...]) -> DecodedText:
    return DecodedText(text, f"{encoding} text", (*warnings, *find_hidden(text), *_find_twice_encoded(text)))


# "â€™" for ’ and "Ã©" for é: UTF-8 that was read as CP1252 and written again.
_TWICE = re.compile(
    "\u00e2\u20ac[\u2122\u0153\u009d\u02dc\u201c\u201d\u00a6\ufffd]|\u00c3[\u00a0-\u00bf]|\u00c2[\u00a0\u00b0\u00b1\u00b7\u00a7]"
)


def _find_twice_encoded(text: str) -> tuple[str, ...]:
    starts = [match.start() for match in _TWICE.finditer(text)]
    if not starts:
        return ()
    first = starts[0]
    sample = f"{len(starts):,} × characters such as {text[first : first + 3]!r}, the first at character {first:,}"
    return (f"Text that was read in a wrong encoding and saved again: {sample}; kept as they are. Get the original if you can.",)


def find_hidden(text: str) -> tuple[str, ...]:
    """Return a warning for each kind of character in *text* that does not show, or shows other than it is."""
    hidden = ((name, [character for character in kind if character in text]) for name, kind in _HIDDEN)
    return tuple(_describe_hidden(name, characters, text) for name, characters in hidden if characters)


def _describe_hidden(name: str, characters: list[str], text: str) -> str:
    count = sum(text.count(character) for character in characters)
    codes = ", ".join(f"U+{ord(character):04X}" for character in characters)
    first = min(text.index(character) for character in characters)
    return f"Among the characters of the text, {count:,} {name} ({codes}); kept as they are, the first at character {first:,}."


_HIDDEN = (
    ("control the terminal or mean nothing", [chr(code) for code in (*range(9), *range(14, 32), *range(127, 133), *range(134, 160))]),
    ("turn the direction of reading", sorted(_BIDIRECTIONAL)),
    ("could not be decoded", ["\ufffd"]),
)


# Sections and pages of a Markdown source. The source itself is the text, and raw HTML in it is data.

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_LONGEST = 1_000
"""Characters of a line that may be a heading."""
_PAGE_MARK = re.compile(r"<!--[ \t]*(?:p\.?|page)[ \t]*(\d{1,5})[ \t]*-->", re.IGNORECASE)
_TABLE_MARKS = re.compile(rb"<table\b[^>]{0,200}>\s{0,20}<t[rbh]", re.IGNORECASE)
"""A table of HTML, which only the reader of Markdown parses in a text."""
_SIGNS = re.compile(rb"^(?:#{1,6} \S|```|\|.+\|[ \t]*$)|\]\(https?://|\*\*\S", re.MULTILINE)


def looks_like_markdown(data: bytes) -> bool:
    """Return whether bytes without a telling name have Markdown's headings, fences, tables, links or emphasis."""
    return _SIGNS.search(data[:100_000]) is not None


def find_headings(text: str) -> tuple[Heading, ...]:
    """Return the headings of the source (CommonMark 0.31, sections 4.2 and 4.3), those inside code fences excluded."""
    headings: list[Heading] = []
    fence: str | None = None
    at, above, above_at = 0, "", 0
    for raw in text.splitlines(keepends=True):
        line = raw.rstrip("\r\n")
        opening = _FENCE.match(line)
        if fence is not None:
            fence = None if opening and opening[1].startswith(fence) else fence
        elif opening:
            fence = opening[1]
        elif len(line) <= _LONGEST and (match := _ATX.match(line)):
            _add(headings, at, match[2])
            line = ""
        elif above.strip() and not above.lstrip().startswith(("|", ">", "-", "*", "<")) and _SETEXT.match(line):
            _add(headings, above_at, above)
            line = ""
        above, above_at = ("", at) if fence else (line, at)
        at += len(raw)
    return tuple(headings)


def find_hashed(text: str) -> tuple[Heading, ...]:
    """Return the headings that hash marks show in a plain text, such as a saved page; empty where none has two marks.

    A single mark also begins comments of code and rows such as "# Total parameters", so it is a heading only at the top.
    """
    headings = [heading for heading in find_headings(text) if text[heading.start :].lstrip(" ").startswith("#")]
    deeper = [heading for heading in headings if text[heading.start :].lstrip(" ").startswith("##")]
    return tuple(dict.fromkeys((*headings[:1], *deeper))) if deeper else ()


def find_marked_pages(text: str) -> tuple[Page, ...]:
    """Return the pages that comments such as `<!-- p.12 -->` mark in a source made from a PDF; empty without such marks.

    What is before the first mark belongs to the page before it. Marks that do not ascend are no page marks.
    """
    marks = [(int(match[1]), match.start()) for match in _PAGE_MARK.finditer(text)]
    if len(marks) < 2 or marks[0][0] < 1 or any(number >= next_one for (number, _), (next_one, _) in pairwise(marks)):
        return ()
    first, first_start = marks[0]
    if first > 1 and text[:first_start].strip():
        marks.insert(0, (first - 1, 0))
    else:
        marks[0] = (first, 0)
    stops = [start for _, start in marks[1:]] + [len(text)]
    return tuple(Page(number=number, start=start, stop=stop) for (number, start), stop in zip(marks, stops, strict=True))


_EMPTY_LINK = re.compile(r"\[\]\([^()\n]{0,2000}\)")
"""What a saved page has before a heading, to link to it."""


def _add(headings: list[Heading], start: int, source: str) -> None:
    source = _EMPTY_LINK.sub("", source)
    title = " ".join(rules.MARKUP.sub(rules.drop_markup, source).split())
    if title:
        headings.append(Heading(start=start, title=title))


# Kinds of binary files by their first bytes, for a message that says what the file is.

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"{\\rtf", "a rich text document"),
    (b"%!PS", "a PostScript file"),
)


def find_signature(data: bytes) -> str | None:
    """Return "PDF" or the kind of binary file, None if the beginning is not known (text, most likely).

    A PDF may begin with white space or a byte order mark, as readers accept; not with text, which may be about PDF.
    """
    for signature, kind in _SIGNATURES:
        if data.startswith(signature):
            return kind
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "a WebP image"
    return "PDF" if data[:1024].lstrip(b"\xef\xbb\xbf\x00\r\n\t ").startswith(b"%PDF-") else None


# Extractors run in a child process. They are large programs that meet hostile files; with limits on time and memory, a
# crash or a hang is an error about the card and not the end of the command. Cost: 0.1 to 0.3 s a read.


def ask_extractor(
    extractor: str, limits: dict[str, Any], data: bytes, *, where: str, seconds: int, code: str = "card-unreadable"
) -> dict[str, Any]:
    """Return what the extractor of `registry.intake.text_extractors` called *extractor* answers about *data*.

    Raises:
        InputError: *code* where it ends without an answer, or what the extractor refuses the file for.
        UnavailableError: extractor-missing.
    """
    command = build_child_command("registry.intake.text_extractors", "main", extractor, json.dumps(limits))
    try:
        child = subprocess.run(command, input=data, capture_output=True, timeout=seconds, check=False)  # noqa: S603 - our own module
    except subprocess.TimeoutExpired as error:
        raise InputError(Fault(code, where, f"{extractor} did not finish within {seconds} s")) from error
    except OSError as error:
        fault = Fault("extractor-missing", where, f"{extractor} could not be started: {error}")
        raise UnavailableError(fault) from error
    if child.returncode != 0:
        raise InputError(Fault(code, where, f"{extractor} failed on it ({_last_words(child)})"))
    answer: dict[str, Any] = json.loads(child.stdout)
    if "code" in answer:
        fault = Fault(answer["code"], where, answer["found"], advice=answer["advice"])
        raise UnavailableError(fault) if fault.code == "extractor-missing" else InputError(fault)
    return answer


def _last_words(child: subprocess.CompletedProcess[bytes]) -> str:
    if child.returncode < 0:
        return f"ended by signal {-child.returncode}"
    lines = child.stderr.decode("utf-8", errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else f"exit {child.returncode}"


# A PDF of a few kilobytes can inflate to gigabytes of text, so such a file is refused before an extractor opens it.
#
# Extractors keep a hundred bytes and more for each character of a page. Here the streams of the file are inflated piece
# by piece and their text is counted, in memory that does not grow.

LARGEST_STREAM_BYTES = 64_000_000
"""What a stream that is no image may inflate to."""
LARGEST_TOTAL_BYTES = 512_000_000
"""And all such streams together."""
MOST_TEXT_BYTES = 500_000
"""Bytes of text that one stream may show; a dense page has about 10,000."""
_STREAM = re.compile(rb"(?<!end)stream\r?\n")
_LONGEST_DICTIONARY = 4_000
_TEXT = re.compile(rb"\((?:[^()\\]|\\.)*\)|<[0-9A-Fa-f\s]+>", re.DOTALL)
_PIECE = 1 << 20


def find_text_bomb(data: bytes) -> str | None:
    """Return what is too large in the PDF *data*, in words; None where nothing is.

    Images are passed over, which are large and hold no text, and so are streams that are compressed in another way than by Flate.
    """
    total = 0
    for match in _STREAM.finditer(data):
        dictionary = data[max(0, match.start() - _LONGEST_DICTIONARY) : match.start()].rpartition(b" obj")[2]
        if b"/Image" in dictionary or (b"/FlateDecode" not in dictionary and b"/Fl " not in dictionary):
            continue
        size = text = 0
        for piece in _inflate(memoryview(data)[match.end() :], max(1, dictionary.count(b"/FlateDecode"))):
            size += len(piece)
            text += sum(shown.end() - shown.start() for shown in _TEXT.finditer(piece))
            if words := _describe_excess(text=text, size=size, total=total + size):
                return words
        total += size
    return None


def _describe_excess(*, text: int, size: int, total: int) -> str | None:
    if text > MOST_TEXT_BYTES:
        return f"a stream of it shows more than {MOST_TEXT_BYTES:,} bytes of text, which no page has"
    if size > LARGEST_STREAM_BYTES:
        return f"a stream of it that is no image inflates to more than {LARGEST_STREAM_BYTES:,} bytes"
    if total > LARGEST_TOTAL_BYTES:
        return f"its streams that are no images inflate to more than {LARGEST_TOTAL_BYTES:,} bytes"
    return None


def _inflate(packed: memoryview, layers: int) -> Iterator[bytes]:
    """Give what the stream that begins *packed* inflates to, in pieces; it ends where its compression does."""
    pieces = _inflate_pieces(packed[start : start + _PIECE] for start in range(0, len(packed), _PIECE))
    for _ in range(layers - 1):
        pieces = _inflate_pieces(pieces)
    return pieces


def _inflate_pieces(packed: "Iterator[bytes | memoryview]") -> Iterator[bytes]:
    decompressor = zlib.decompressobj()
    for piece in packed:
        left: bytes | memoryview = piece
        while left and not decompressor.eof:
            try:
                yield decompressor.decompress(left, _PIECE)
            except zlib.error:
                return  # damaged: the extractor says what it makes of it
            left = decompressor.unconsumed_tail
        if decompressor.eof:
            return


# A PDF's text, read by two independent extractors. Their agreement shows whether the text can be trusted.
#
# The second one (pdfminer.six) is slow. It reads at most 60 pages, evenly spread, so the record is the same on every
# machine.

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
        InputError: card-encrypted, card-unreadable, card-too-long, card-unreadable, card-without-text.
        UnavailableError: extractor-missing.
    """
    if (bomb := find_text_bomb(data)) is not None:
        raise _refuse("card-too-long", where, bomb)
    limits = {"maximum_pages": MAXIMUM_PAGES, "maximum_characters": maximum_characters, "maximum_on_a_page": MAXIMUM_ON_A_PAGE}
    first = ask_extractor("pdfium", limits, data, where=where, seconds=FIRST_SECONDS)
    texts: list[str] = first["pages"]
    if not any(_has_text(text) for text in texts):
        raise _refuse("card-without-text", where, f"none of its {len(texts):,} pages has text: it is a scan or a drawing")
    warnings = (*_describe_empty_pages(texts), *_describe_pages(first["pictures"], first["unplaced"]))
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


def _describe_pages(pictures: Sequence[int], unplaced: Sequence[int]) -> tuple[str, ...]:
    """Return a sentence on pages with an image that may be a table, and one on pages whose columns could not be read."""
    told = []
    for pages, problem in (
        (pictures, "a large image and little text; the image may be a table or chart, and no figure in it was read"),
        (unplaced, "the columns of its tables were not read, since its words have no places"),
    ):
        if pages:
            told.append(f"{'Page' if len(pages) == 1 else 'Pages'} {_join_ranges(list(pages))}: {problem}.")
    return tuple(told)


def find_bookmarked_headings(texts: list[str], bookmarks: list[tuple[str, int]]) -> tuple[Heading, ...]:
    """Return the bookmarks as headings, each where its title is on its page, or at the top of it if it is not found there."""
    starts = [page.start for page in _page_map(texts)]
    titles: dict[int, str] = {}
    for bookmark, page in bookmarks:
        title = " ".join(bookmark.replace("\u200b", " ").split())
        if _has_text(title) and 0 <= page < len(texts):
            titles.setdefault(starts[page] + _find_title(texts[page], title), title)
    return tuple(Heading(start=start, title=titles[start]) for start in sorted(titles))


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
    # A missing second opinion is a warning. The first extractor's text is complete without it.
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
    # A title often occurs in running text before its section, so a line of its own is preferred.
    whole = [match.start() for match in re.finditer(rf"^[ \t]*(?:\d[\d.]*\s+)?{words}[ \t]*$", text, re.MULTILINE)]
    anywhere = [match.start() for match in re.finditer(words, text)]
    return whole[0] if whole else anywhere[-1] if anywhere else 0


def _refuse(code: str, where: str, text: str, advice: str | None = None) -> InputError:
    return InputError(Fault(code, where, text, advice=advice))


# From a card file to its text. The kind of a file is read from its bytes. A name that says otherwise is an error,
# because its user relies on it.

MAXIMUM_BYTES = 100_000_000
"""A card file larger than this is refused unread."""
MAXIMUM_CHARACTERS = 20_000_000
"""A card with more text than this is refused."""
HYPERTEXT_SECONDS = 30
"""How long an HTML page may take to parse; deep nesting costs the square of its depth."""
_BY_SUFFIX = {
    ".pdf": MediaType.PDF,
    ".html": MediaType.HTML,
    ".htm": MediaType.HTML,
    ".xhtml": MediaType.HTML,
    ".md": MediaType.MARKDOWN,
    ".markdown": MediaType.MARKDOWN,
    ".txt": MediaType.PLAIN,
    ".text": MediaType.PLAIN,
}


def read_card(path: Path) -> CardText:
    """Return the text of the card file at *path*, with its pages, headings, and warnings about what could not be read.

    Raises:
        InputError: card-not-found, file-not-readable, file-too-large, card-empty, card-type-mismatch, card-not-supported,
            card-encrypted, card-unreadable, card-too-long, card-unreadable, card-without-text.
    """
    data = _read_bytes(path)
    media_type = detect_media_type(data, path)
    if media_type is MediaType.PDF:
        card = read_pdf(data, where=str(path), maximum_characters=MAXIMUM_CHARACTERS)
    else:
        card = _read_text(data, media_type, path)
    if not any(character.isalnum() for character in card.text):
        raise _refuse_file("card-without-text", path, *_explain_empty(card))
    return card


def _explain_empty(card: CardText) -> tuple[str, str]:
    """What was found in a file without text, and what to do."""
    if card.media_type is MediaType.HTML:
        excluded = " ".join(card.warnings)
        text = f"no letter or digit shows in the page. {excluded}".strip()
        return text, "a page that scripts fill has no text in its file: open it in a browser, print it to PDF, and register that"
    return "no letter or digit in it", "give the file that has the card's text"


def detect_media_type(data: bytes, path: PurePath) -> MediaType:
    """Return what the bytes are; the name only decides between kinds of text.

    Raises:
        InputError: card-type-mismatch, card-not-supported.
    """
    claimed = _BY_SUFFIX.get(path.suffix.lower())
    signature = find_signature(data)
    if signature == "PDF":
        if claimed in (None, MediaType.PDF):
            return MediaType.PDF
        raise _refuse_file("card-type-mismatch", path, f"the name says {claimed}, the content is a PDF", "rename the file to end in .pdf")
    if signature is not None:
        code = "card-not-supported" if claimed is None else "card-type-mismatch"
        raise _refuse_file(
            code, path, f"expected PDF, HTML, Markdown or plain text, found {signature}", "give the card in one of these forms"
        )
    is_hypertext = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html"))
    if claimed is MediaType.PDF:
        text = "an HTML page, perhaps an error page saved in its place" if is_hypertext else "text"
        raise _refuse_file("card-type-mismatch", path, f"the name says PDF, the content is {text}", "download the PDF again")
    if claimed is MediaType.PLAIN and _TABLE_MARKS.search(data):
        return MediaType.MARKDOWN
    if claimed is not None:
        return claimed
    if is_hypertext:
        return MediaType.HTML
    return MediaType.MARKDOWN if looks_like_markdown(data) else MediaType.PLAIN


def _read_bytes(path: Path) -> bytes:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise _refuse_file("file-not-readable", path, "expected a file, found a directory or device")
        if status.st_size > MAXIMUM_BYTES:
            raise _too_large(path, status.st_size)
        with path.open("rb") as stream:
            # The size is checked again after reading: a file may grow in between.
            data = stream.read(MAXIMUM_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _refuse_file("card-not-found", path, "there is no such file") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise _refuse_file("file-not-readable", path, f"it cannot be read: {reason}") from error
    if len(data) > MAXIMUM_BYTES:
        raise _too_large(path, len(data))
    if not data:
        raise _refuse_file("card-empty", path, "the file has 0 bytes")
    return data


def _read_text(data: bytes, media_type: MediaType, path: Path) -> CardText:
    decoded = decode_text(data, where=str(path), is_hypertext=media_type is MediaType.HTML)
    if len(decoded.text) > MAXIMUM_CHARACTERS:
        raise _refuse_file("card-too-long", path, f"{len(decoded.text):,} characters, expected at most {MAXIMUM_CHARACTERS:,}")
    text, extractor, warnings = decoded.text, decoded.reader, decoded.warnings
    headings: tuple[Heading, ...] = ()
    pages: tuple[Page, ...] = ()
    if media_type is MediaType.HTML:
        answer = ask_extractor("lexbor", {}, decoded.text.encode("utf-8"), where=str(path), seconds=HYPERTEXT_SECONDS)
        text, extractor, warnings = answer["pages"][0], answer["extractor"], (*decoded.warnings, *answer["warnings"])
        headings = tuple(Heading(start=start, title=title) for start, title in answer["headings"])
    elif media_type is MediaType.MARKDOWN:
        headings, pages = find_headings(text), find_marked_pages(text)
    else:
        headings = find_hashed(text)
    return CardText(
        sha256=hashlib.sha256(data).hexdigest(),
        size_bytes=len(data),
        media_type=media_type,
        text=text,
        pages=pages or split_pages(text),
        extractor=extractor,
        warnings=warnings,
        headings=headings,
    )


def split_pages(text: str) -> tuple[Page, ...]:
    """Return the pages of a text in which form feeds are between them."""
    pages: list[Page] = []
    start = 0
    for number, page in enumerate(text.split("\f"), start=1):
        pages.append(Page(number=number, start=start, stop=start + len(page)))
        start += len(page) + 1
    if len(pages) > 1 and not text[pages[-1].start :].strip():
        pages.pop()  # pdftotext ends the last page with a form feed too
    return tuple(pages)


def _too_large(path: Path, size_bytes: int) -> InputError:
    text = f"{size_bytes:,} bytes, expected at most {MAXIMUM_BYTES:,}; it was not read"
    return _refuse_file("file-too-large", path, text, "give the text of the card without its images")


def _refuse_file(code: str, path: PurePath, text: str, advice: str | None = None) -> InputError:
    return InputError(Fault(code, str(path), text, advice=advice))
