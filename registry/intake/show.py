"""Text that came in, made safe to print: what steers a terminal or turns the direction of reading is written out."""

import unicodedata


def show_text(text: str, *, limit: int = 300) -> str:
    r"""Return *text* on one line of at most *limit* characters, control and format characters as `\u…`."""
    folded = " ".join(text[: 20 * limit].split())
    shown = folded if len(folded) <= limit else f"{folded[: limit - 1]}…"
    return "".join(_show_character(character) for character in shown)


def _show_character(character: str) -> str:
    return f"\\u{ord(character):04x}" if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") else character
