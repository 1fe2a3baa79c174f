"""Values as YAML that people read and edit, and that reads back identically."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

# ruamel.yaml, which reads YAML here, is not used to write it: its emitter changes U+0085 and U+2028 in block scalars, fails at U+0007,
# and shows direction marks raw. A text is written in the first of three forms that keeps it: plain or quoted on one line, folded or
# literal block, quoted with escapes. Tests read all of them back.

WIDTH = 110
"""Columns that a line should not exceed; a word longer than that stays whole."""
_SHORT = 30
"""Characters of a list that is not broken, such as a pair of positions."""
_PLAIN = re.compile(r"[^\W\d_](?:[\w ./()%+-]{0,300}[\w.)%])?")
_NOT_PLAIN = frozenset({"true", "false", "null", "yes", "no", "on", "off", "inf", "nan"})
_FOLD = re.compile(r"(?<=[^ ]) (?=[^ ])")


def render_key(key: str, value: object, indent: int) -> list[str]:
    """Return the lines of `key: value` at *indent* spaces; dicts and lists are in flow style, wrapped."""
    head = f"{' ' * indent}{render_text(key)}: "
    if isinstance(value, str):
        return _render_words(head, value, indent + 2)
    return list(_wrap(head, _flow_pieces(value), indent + 4))


def render_text(text: str) -> str:
    """Return *text* on one line, plain or quoted."""
    return text if _is_plain(text) else f'"{_escape(text)}"'


def render_number(value: float) -> str:
    """Return *value* as YAML 1.2 reads it back; whole numbers without their `.0`."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _render_words(head: str, text: str, indent: int) -> list[str]:
    line = head + render_text(text)
    if len(line) <= WIDTH and '\\"' not in line and "\n" not in text:
        return [line]
    if not text or not all(map(_is_visible, text)) or text[0] in " \n" or text[-1] in " \n":
        return _render_quoted(head, text, indent)
    if "\n" not in text:
        return [f"{head}>-", *(" " * indent + part for part in _fold(text, WIDTH - indent))]
    lines = text.split("\n")
    # A block scalar takes its indentation from the first line and loses spaces at line ends.
    if any(name[:1] == " " or name[-1:] == " " for name in lines):
        return _render_quoted(head, text, indent)
    return [f"{head}|-", *(" " * indent + name if name else "" for name in lines)]


def _render_quoted(head: str, text: str, indent: int) -> list[str]:
    """One line of the text is one line here; each ends with a backslash, so that nothing but the escapes counts."""
    lines = [_escape(name) for name in text.splitlines(keepends=True)] or [""]
    rest = [re.sub(r"^( +)", lambda match: match[0].replace(" ", r"\x20"), line) for line in lines[1:]]
    joined = f"\\\n{' ' * indent}".join([lines[0], *rest])
    return f'{head}"{joined}"'.split("\n")


def _fold(text: str, width: int) -> Iterator[str]:
    """Break *text* where a single space stands between two words: the only place that folding restores exactly."""
    line = ""
    for word in _FOLD.split(text):
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def _is_plain(text: str) -> bool:
    return bool(_PLAIN.fullmatch(text)) and "  " not in text and all(map(_is_visible, text)) and text.lower() not in _NOT_PLAIN


def _is_visible(character: str) -> bool:
    """Whether it may stand as it is: it leaves a mark or a space, and no editor takes it for the end of a line."""
    return character.isprintable() or character == "\n" or unicodedata.category(character) == "Zs"


def _escape(text: str) -> str:
    return "".join(_escape_character(character) for character in text)


def _escape_character(character: str) -> str:
    if character in '"\\' or character < " ":
        return json.dumps(character)[1:-1]
    if _is_visible(character):
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def _flow_pieces(value: object) -> list[str]:
    """Return *value* in flow style, in pieces between which a line may break."""
    match value:
        case Mapping():
            inner = [[f"{render_text(str(key))}: {texts[0]}", *texts[1:]] for key, item in value.items() if (texts := _flow_pieces(item))]
            return _enclose("{", inner, "}")
        case str():
            return [f'"{_escape(value)}"' if "," in value or not _is_plain(value) else value]
        case Sequence():
            pieces = _enclose("[", [_flow_pieces(item) for item in value], "]")
            joined = " ".join(pieces)
            return [joined] if len(joined) <= _SHORT else pieces
        case bool() | None:
            return [json.dumps(value)]
        case int() | float():
            return [render_number(value)]
        case _:
            raise TypeError(f"{type(value).__name__} has no YAML here")


def _enclose(begin: str, inner: Sequence[Sequence[str]], end: str) -> list[str]:
    pieces = [
        f"{piece}," if place == len(texts) - 1 and texts is not inner[-1] else piece for texts in inner for place, piece in enumerate(texts)
    ]
    if not pieces:
        return [begin + end]
    pieces[0] = begin + pieces[0]
    pieces[-1] += end
    return pieces


def _wrap(head: str, pieces: Sequence[str], indent: int) -> Iterator[str]:
    line = head.rstrip(" ")
    for piece in pieces:
        if len(line) + 1 + len(piece) > WIDTH and line.strip():
            yield line
            line = f"{' ' * indent}{piece}"
        else:
            line = f"{line} {piece}"
    yield line
