"""Hooks of the documentation's build (mkdocs.yml): pages from outside docs/, links between them, and lists as other renderers read them."""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent
FOLDER = "project/"
"""Where pages from outside docs/ appear on the site, under their path in the repository."""
PAGES = (
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    *(f"benchmarks/{name}.md" for name in ("COVERAGE", "FALSE_VERDICTS", "FAMILIES", "INTERVALS", "PEERS", "RESULTS", "SHIFT")),
    *(f"examples/{name}/README.md" for name in ("card", "replay", "update")),
)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^(```.*?^```[^\n]*$)", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"(?:[*-]|\d+\.) ")
_INNER = re.compile(r" {2,3}(?=\S)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages from outside docs/."""
    for path in PAGES:
        files.append(File.generated(config, FOLDER + path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return the page with links that fit the site, and list items indented by four blanks, as Python-Markdown needs them."""
    parts = _FENCE.split(markdown)
    for at in range(0, len(parts), 2):  # every second part is a code block
        text = "\n".join(adapt_lists(parts[at].split("\n")))
        parts[at] = _LINK.sub(lambda match: translate_link(page.file.src_uri, match), text)
    return "".join(parts)


def adapt_lists(lines: list[str]) -> Iterator[str]:
    """Yield *lines* with an empty line before a list that follows text, and with the inside of items indented by four blanks."""
    shift = 0  # of a code block inside an item, whose lines keep their distance to its first one
    is_code = has_gap = False  # has_gap: the present item has several paragraphs
    before = ""
    for line in lines:
        inner = _INNER.match(line)
        is_fence = line.lstrip().startswith("```")
        if not is_code:
            shift = 4 - len(inner[0]) if inner else 0
            is_item = _ITEM.match(line) is not None
            if is_item and before and (has_gap if before.startswith(" ") else not _ITEM.match(before)):
                yield ""
            has_gap = not is_item and (has_gap or not line)
        yield " " * shift + line if line else line
        is_code ^= is_fence
        before = line


def translate_link(page: str, link: "re.Match[str]") -> str:
    """Return *link* of *page* as it must be on the site; a link to a file that is not on the site becomes its text and its path."""
    mark, text, target, anchor = link.groups(default="")
    source = page.removeprefix(FOLDER) if page.startswith(FOLDER) else f"docs/{page}"
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    if path == "README.md":
        path = "docs/index.md"
    elif f"{path}/README.md" in PAGES:
        path = f"{path}/README.md"
    if not path.startswith("docs/") and path not in PAGES:
        return text if path in text else f"{text} (`{path}`)"
    uri = FOLDER + path if path in PAGES else path.removeprefix("docs/")
    return f"{mark}[{text}]({posixpath.relpath(uri, posixpath.dirname(page) or '.')}{anchor})"
