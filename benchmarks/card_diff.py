"""Time to compare two revisions of a long card and to follow a hundred quotations, beside difflib over the same sentences.

python benchmarks/card_diff.py [OLD NEW]    compares the given files too
"""

import difflib
import random
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.intake import synthetic_text
from registry.intake.card_reader import read_card, split_pages
from registry.intake.quote_anchor import AnchoredText
from registry.intake.revision.passage_changes import Follower, find_text_changes
from registry.records.system_card import CardText, MediaType

SECONDS, QUOTES = 10.0, 100
_WORDS = 50_000
"""Words that difflib gets: its time grows with their square."""


def make_card(pages: list[str]) -> CardText:
    """A card of these pages."""
    text = "\f".join(pages)
    return CardText(
        sha256="0" * 64, size_bytes=len(text), media_type=MediaType.PDF, text=text, pages=split_pages(text), extractor="benchmark"
    )


def revise(pages: list[str]) -> list[str]:
    """Another revision: on every third page a sentence is reworded, put in, taken out or moved, and a figure changed."""
    rng = random.Random(11)  # noqa: S311 - made-up changes
    revised = [page.split("\n") for page in pages]
    for at in range(0, len(revised) - 1, 3):
        page = revised[at]
        page[3] = page[3].replace(" ", " another ", 1)
        page[7] = f"{page[7][:-5]}{rng.randint(100, 999)}%."
        page.insert(11, f"The {' '.join(rng.sample(' '.join(page).split(), 12))}.")
        revised[at + 1].append(page.pop(20))
        del page[25]
    return ["\n".join(page) for page in revised]


def measure(name: str, old: CardText, new: CardText) -> float:
    """Print how long both take, and return our seconds."""
    begun = time.process_time()
    follower = Follower(old, new)
    aligned = time.process_time() - begun
    anchored = AnchoredText(old)
    passages = follower.old_outline.passages
    chosen = [one for one in passages[:: max(1, len(passages) // QUOTES)] if len(one.words) > 20][:QUOTES]
    anchors = [anchored.find(old.text[one.start : one.stop], near=one.start) for one in chosen]
    begun = time.process_time()
    for anchor in anchors:
        follower.follow(anchor)
    followed = time.process_time() - begun
    begun = time.process_time()
    find_text_changes(follower)
    summarised = time.process_time() - begun
    lines = [[one.words for one in outline.passages] for outline in (follower.old_outline, follower.new_outline)]
    begun = time.process_time()
    difflib.SequenceMatcher(None, *lines, autojunk=False).get_opcodes()
    plain = time.process_time() - begun
    words = (len(follower.old_words.words), len(follower.new_words.words))
    begun = time.process_time()
    difflib.SequenceMatcher(None, *(text.split()[:_WORDS] for text in (old.text, new.text))).get_opcodes()
    by_word = time.process_time() - begun
    print(f"{name}: {words[0]:,} and {words[1]:,} words, {len(lines[0]):,} and {len(lines[1]):,} passages")
    print(
        f"  read and aligned {aligned:.2f} s CPU, {len(anchors)} quotations {1000 * followed:.0f} ms, what else changed {summarised:.2f} s"
    )
    print(f"  difflib: passages alone {plain:.2f} s, words with its heuristics {by_word:.2f} s ({by_word / aligned:.1f} of ours)")
    return aligned + followed + summarised


def main() -> int:
    """Compare a made-up pair of 300 pages, then the files given."""
    pages = ["\n".join(f"{line.capitalize()}." for line in page.split("\n")) for page in synthetic_text(300)]
    seconds = measure("300 pages, PDF", make_card(pages), make_card(revise(pages)))
    if len(sys.argv) == 3:
        old, new = (read_card(Path(name)) for name in sys.argv[1:])
        seconds = max(seconds, measure(Path(sys.argv[2]).name, old, new))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"slowest {seconds:.1f} s CPU (limit {SECONDS:g} s), peak {memory:.0f} MiB")
    return int(seconds > SECONDS)


if __name__ == "__main__":
    sys.exit(main())
