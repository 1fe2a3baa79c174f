"""Bytes to text: UTF-8 wherever it is, and what was assumed where it is not."""

import re
from dataclasses import dataclass

from registry.errors import Fault, InputError

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
    if data.count(0, 0, _SAMPLE_BYTES) * 5 < min(len(data), _SAMPLE_BYTES):
        try:
            return _finish(data.decode("utf-8"), "utf-8", ())
        except UnicodeDecodeError as error:
            at = error.start
    else:
        at = data.index(0)
    declared = _declared(data) if is_hypertext else None
    encoding = declared or _guess(data, where)
    reason = "as the page declares" if declared else "the most likely encoding"
    warning = (
        f"The file is not UTF-8 (byte {at:,} does not fit): it was read as {encoding.upper()}, {reason}; check its special characters."
    )
    return _finish(_decode(data, encoding, where), encoding, (warning,))


def _declared(data: bytes) -> str | None:
    found = _DECLARED.search(data[:4096])
    if found is None:
        return None
    name = found[1].decode("ascii")
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
    if text.count("\ufffd") * 20 > len(text):
        raise _not_text(where)
    return text.encode("utf-8", errors="replace").decode("utf-8")


def _not_text(where: str) -> InputError:
    found = "expected PDF, HTML, Markdown or plain text, found bytes that are text in no known encoding"
    return InputError(Fault(code="card-not-supported", where=where, found=found, advice="give the card in one of these forms"))


def _finish(text: str, encoding: str, warnings: tuple[str, ...]) -> DecodedText:
    return DecodedText(text, f"{encoding} text", (*warnings, *find_hidden(text), *_find_twice_encoded(text)))


# “â€™” for ’, “Ã©” for é: UTF-8 that was read as CP1252 and written again.
_TWICE = re.compile(
    "\u00e2\u20ac[\u2122\u0153\u009d\u02dc\u201c\u201d\u00a6\ufffd]|\u00c3[\u00a0-\u00bf]|\u00c2[\u00a0\u00b0\u00b1\u00b7\u00a7]"
)


def _find_twice_encoded(text: str) -> tuple[str, ...]:
    found = [one.start() for one in _TWICE.finditer(text)]
    if not found:
        return ()
    first = found[0]
    told = f"{len(found):,} × characters such as {text[first : first + 3]!r}, the first at character {first:,}"
    return (f"Text that was read in a wrong encoding and saved again: {told}; kept as they are. Get the original if you can.",)


def find_hidden(text: str) -> tuple[str, ...]:
    """Return a warning for each kind of character in *text* that does not show, or shows other than it stands."""
    found = ((name, [character for character in kind if character in text]) for name, kind in _HIDDEN)
    return tuple(_describe_hidden(name, characters, text) for name, characters in found if characters)


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
