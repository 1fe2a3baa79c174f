"""Measure how README, documentation, help and supplements read: dialect, long sentences, passive voice, address of the reader.

    python tools/readability.py [FOLDER_OF_SUPPLEMENTS]

prints a table and the targets, and fails on nothing. Supplements are the HTML files of a folder, by default that of `make demo`.
The measures are simple heuristics: compare them over time and between texts, and do not rely on the second digit.
"""

import html
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
DEMO = ROOT / "caveat-demo"
GUIDES = (
    "for-auditors.md",
    "for-institutes.md",
    "for-labs.md",
    "for-regulators.md",
    "getting-started.md",
    "index.md",
    "tutorial-real-model.md",
)
"""Pages that instruct: the target for *you* is theirs."""
GENERATED = ("commands.md", "record.md")
"""Pages that repeat help and docstrings."""
LONG = 30
# Words of an older style: rule 8 of the style guide, and the words that its table of terms replaces.
DIALECT = re.compile(
    r"\b(?:nobody|somebody|anybody|told|tells?|stands?|stood|beside|alone|otherwise|whose|given out|carried|drawn|what became of"
    r"|gapless|contestations?|potentially stale|left out|fates?|dockets?|sightings?|demotions?|speaks? for|of it is)\b",
    re.IGNORECASE,
)
_IRREGULAR = (
    "begun|bound|brought|built|chosen|cut|done|drawn|found|given|held|hidden|kept|known|laid|left|lost|made|meant|met|paid|put|read|run"
    "|said|seen|sent|set|shown|sold|taken|thought|told|understood|written"
)
PASSIVE = re.compile(
    rf"\b(?:is|are|was|were|be|been|being)\s+(?:\w+ly\s+|not\s+|never\s+|also\s+|only\s+)?(?:\w{{2,}}ed|{_IRREGULAR})\b", re.IGNORECASE
)
YOU = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_END = re.compile(r"(?<=[.!?])[)”\"*]*\s+(?=[“\"(*`]*[A-ZΦΔ0-9])")
FENCE = re.compile(r"^ *```.*?^ *```[^\n]*$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"<(?:p|li|dd|figcaption|caption)\b[^>]*>(.*?)</(?:p|li|dd|figcaption|caption)>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """The counts of one text."""

    words: int
    sentences: int
    markers: int
    long: int
    passive: int
    you: int


def read_markdown(text: str) -> list[str]:
    """Return the paragraphs of a page, without code, tables and headings; a code span counts as one word."""
    text = re.sub(r"<!--.*?-->", "", FENCE.sub("\n\n", text), flags=re.DOTALL)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`\n]+`", "CODE", text)).replace("**", "")
    lines = ["" if line.lstrip().startswith(("#", "|")) or line.startswith("    ") else line for line in text.splitlines()]
    paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:[*-]|\d+\.) )", "\n".join(lines))
    return [" ".join(re.sub(r"^\s*(?:[*>-]|\d+\.)\s+", "", part).split()) for part in paragraphs if part.strip()]


def read_help() -> list[str]:
    """Return the help of all commands and options."""
    sys.path.insert(0, str(ROOT))
    import click  # noqa: PLC0415 (found only after the line above)

    from registry.cli.main import cli  # noqa: PLC0415

    def walk(command: click.Command) -> Iterator[str]:
        blocks = re.split(r"\n\s*\n", command.help or "")
        yield from (" ".join(block.split()) for block in blocks if "\b" not in block)
        yield from (option.help for option in command.params if isinstance(option, click.Option) and option.help)
        if isinstance(command, click.Group):
            for name in command.list_commands(click.Context(command)):
                inner = command.get_command(click.Context(command), name)
                yield from walk(inner) if inner is not None else ()

    return list(walk(cli))


def read_html(text: str) -> list[str]:
    """Return the paragraphs and list items of an HTML page."""
    return [" ".join(html.unescape(re.sub(r"<[^>]+>", " ", block)).split()) for block in _BLOCK.findall(text)]


def measure(paragraphs: list[str]) -> Measures:
    """Return the counts of *paragraphs*; a sentence has three words at least."""
    sentences = [part for paragraph in paragraphs for part in _END.split(paragraph) if len(part.split()) >= 3]
    text = "\n".join(sentences)
    return Measures(
        words=len(text.split()),
        sentences=len(sentences),
        markers=len(DIALECT.findall(text)),
        long=sum(len(part.split()) > LONG for part in sentences),
        passive=sum(PASSIVE.search(part) is not None for part in sentences),
        you=sum(YOU.search(part) is not None for part in sentences),
    )


def list_texts(supplements: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the paragraphs of each text: README, every page, the guides and all pages together, help, supplements."""
    yield "README.md", read_markdown((ROOT / "README.md").read_text(encoding="utf-8"))
    names = [page for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in GENERATED]
    pages = {page.name: read_markdown(page.read_text(encoding="utf-8")) for page in names}
    yield from ((f"docs/{name}", paragraphs) for name, paragraphs in pages.items())
    yield "GUIDES", [paragraph for name in GUIDES for paragraph in pages.get(name, [])]
    yield "PAGES OF DOCS", [paragraph for paragraphs in pages.values() for paragraph in paragraphs]
    yield "HELP", read_help()
    files = sorted(supplements.rglob("*.html"))
    if files:
        yield f"SUPPLEMENTS ({len(files)} files)", [block for file in files for block in read_html(file.read_text(encoding="utf-8"))]


def format_row(name: str, figures: Measures) -> str:
    """Return one line of the table."""
    base = max(figures.sentences, 1)
    shares = (100 * count / base for count in (figures.long, figures.passive, figures.you))
    return f"{name:32}{figures.words:8,}{1000 * figures.markers / max(figures.words, 1):10.1f}" + "".join(
        f"{share:9.1f}" for share in shares
    )


def main() -> None:
    """Print the table and the targets."""
    supplements = Path(sys.argv[1]) if len(sys.argv) > 1 else DEMO
    lines = [f"{'text':32}{'words':>8}{'dialect':>10}{f'> {LONG}':>9}{'passive':>9}{'you':>9}"]
    lines += [format_row(name, measure(paragraphs)) for name, paragraphs in list_texts(supplements)]
    lines.append(f"{'target':32}{'':8}{'≤ 2.0':>10}{'≤ 5.0':>9}{'≤ 30.0':>9}{'≥ 15.0':>9}")
    lines.append(
        f"dialect: markers per 1,000 words. Others: % of sentences; > {LONG}: longer than {LONG} words; you: the target is for GUIDES."
    )
    if not lines[-3].startswith("SUPPLEMENTS"):
        lines.append(f"Supplements: no HTML file in {supplements}; run `make demo` first, or name a folder.")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
