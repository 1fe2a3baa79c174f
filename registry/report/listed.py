"""Quotes as they stand in lists: without the marks by which a card was set."""

import re

_TAG = r"(?:\s[^<>]{0,200})?/?>"
_MARKUP = (
    (re.compile(r"<!--[^<>]{0,200}-->"), " "),
    (re.compile(rf"</t[dh]>\s{{0,20}}<t[dh]{_TAG}", re.IGNORECASE), " | "),
    (re.compile(rf"</?(?:table|thead|tbody|tr|t[dh]|b|i|u|em|strong|su[bp]|br|p|span|code){_TAG}", re.IGNORECASE), " "),
    (re.compile(r"(?<!\w)\*\*|\*\*(?!\w)"), ""),
    (re.compile(r"(?:\|\s){2,}"), "| "),
)
"""What is dropped where a quote is only listed."""
_TIED = re.compile(r"(?<=\d) (?=%)|(?<=±) (?=\d)")


def strip_markup(text: str) -> str:
    """Return *text* for a list: without the marks by which HTML and Markdown set cells, emphasis and comments, on one line.

    Other tags stay: what a card says is shown, and only how it was set is not. A figure keeps its unit and its ± on its line.
    """
    for pattern, instead in _MARKUP:
        text = pattern.sub(instead, text)
    return _TIED.sub("\u00a0", " ".join(text.split()))
