"""Laws of following a passage from one revision of a card to the next, over made-up cards."""

import hashlib
import random
import re
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.intake.card_reader import find_headings
from registry.intake.quote_anchor import AnchoredText
from registry.intake.revision.passage_changes import FollowedPassage, Follower
from registry.records.system_card import CardText, MatchResult, MediaType, Page
from tests.examples import scale

_SUBJECTS = ("The model", "Lumen 2", "Our final snapshot", "The assistant", "An earlier checkpoint", "This configuration")
_VERBS = ("refused", "completed", "flagged", "misreported", "concealed", "acknowledged", "sabotaged", "escalated")
_OBJECTS = (
    "of the harmful requests in our red-teaming exercise",
    "of agentic coding tasks under supervision",
    "of questions about restricted chemistry",
    "of conversations that mention evaluation",
    "of long-horizon tasks without oversight",
    "of prompts written by external partners",
)
_TAILS = ("when tools were available", "in the final week of testing", "although samples were small", "before mitigations", "on average")


def make_card(text: str) -> CardText:
    """Return a Markdown card with this text."""
    page = Page(number=1, start=0, stop=len(text))
    digest = hashlib.sha256(text.encode()).hexdigest()
    return CardText(
        sha256=digest,
        size_bytes=len(text.encode()),
        media_type=MediaType.MARKDOWN,
        text=text,
        pages=(page,),
        headings=find_headings(text),
        extractor="test",
    )


def write_sections(seed: int, *, sections: int = 5, sentences: int = 5) -> list[list[str]]:
    """Return paragraphs of sentences, one paragraph for each section; no sentence occurs twice."""
    rng = random.Random(seed)
    seen: set[str] = set()
    made: list[list[str]] = []
    for _ in range(sections):
        paragraph: list[str] = []
        while len(paragraph) < sentences:
            share, n = rng.randrange(1, 99), rng.randrange(10, 900)
            words = (rng.choice(_SUBJECTS), rng.choice(_VERBS), f"{share} %", rng.choice(_OBJECTS), rng.choice(_TAILS))
            sentence = f"{' '.join(words)} (n = {n})."
            if sentence not in seen:
                seen.add(sentence)
                paragraph.append(sentence)
        made.append(paragraph)
    return made


_TITLES = ("Scheming", "Refusals", "Sabotage", "Monitoring", "Welfare", "Capabilities", "Biology", "Safeguards")


def print_card(sections: list[list[str]]) -> str:
    """Return the paragraphs as a Markdown card with a heading above each."""
    parts = [
        f"## {at + 1} {title}\n\n{' '.join(paragraph)}\n" for at, (title, paragraph) in enumerate(zip(_TITLES, sections, strict=False))
    ]
    return "# System card\n\n" + "\n".join(parts)


def join(sections: list[list[str]]) -> list[str]:
    """Return all sentences, in order."""
    return list(chain.from_iterable(sections))


def follow(old: str, new: str, quote: str) -> FollowedPassage:
    """Follow *quote* from one text to the other."""
    card = make_card(old)
    return Follower(card, make_card(new)).follow(AnchoredText(card).find(quote))


def follow_all(old: str, new: str, quotes: list[str]) -> list[MatchResult]:
    """Follow many."""
    card = make_card(old)
    anchored, follower = AnchoredText(card), Follower(card, make_card(new))
    return [follower.follow(anchored.find(quote)).match_result for quote in quotes]


seeds = st.integers(0, 10_000)
places = st.tuples(st.integers(0, 4), st.integers(0, 4))
fast = settings(max_examples=scale(25), deadline=None)


@fast
@given(seeds)
def test_in_the_same_text_everything_is_unchanged(seed: int) -> None:
    """A card against itself has no news, and each passage stands where it stood."""
    sections = write_sections(seed)
    text = print_card(sections)
    card = make_card(text)
    follower, anchored = Follower(card, card), AnchoredText(card)

    for sentence in join(sections):
        anchor = anchored.find(sentence)
        assert follower.follow(anchor) == FollowedPassage(match_result=MatchResult.UNCHANGED, anchor=anchor)


@fast
@given(seeds, st.integers(20, 90), st.randoms(use_true_random=False))
def test_layout_is_no_news(seed: int, width: int, rng: random.Random) -> None:
    """Lines broken elsewhere, words hyphenated at line ends, other quotation marks, ligatures and footnote marks change nothing."""
    sections = write_sections(seed)
    text = print_card(sections)
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        lines += ["", *_wrap(paragraph, width, rng)] if not paragraph.startswith("#") else ["", paragraph]
    new = "\n".join(lines).replace("efi", "eﬁ").replace("flag", "ﬂag").replace("testing", "*testing*").replace("average", "average[^3]")

    assert set(follow_all(text, new, join(sections))) == {MatchResult.UNCHANGED}


def _wrap(paragraph: str, width: int, rng: random.Random) -> list[str]:
    lines, line = [], ""
    for word in paragraph.split(" "):
        if len(line) + len(word) > width and line:
            plain = re.fullmatch(r"[a-z]{8,}", word)
            if plain and rng.random() < 0.5:
                lines.append(f"{line} {word[:4]}-")
                line = word[4:]
                continue
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line]


@fast
@given(seeds, places)
def test_what_is_deleted_is_gone_and_the_rest_unchanged(seed: int, place: tuple[int, int]) -> None:
    """One sentence less is one claim gone, and seen from the other side nothing of the rest is touched."""
    sections = write_sections(seed)
    old = print_card(sections)
    quotes = join(sections)
    deleted = sections[place[0]].pop(place[1])
    new = print_card(sections)

    match_results = dict(zip(quotes, follow_all(old, new, quotes), strict=True))
    assert match_results.pop(deleted) is MatchResult.GONE
    assert set(match_results.values()) == {MatchResult.UNCHANGED}
    assert set(follow_all(new, old, join(sections))) == {MatchResult.UNCHANGED}


@fast
@given(seeds, places, st.integers(0, 4))
def test_a_paragraph_in_another_section_has_moved(seed: int, place: tuple[int, int], target: int) -> None:
    """Its own section and those passed over keep their claims unchanged; back again it has moved back."""
    sections = write_sections(seed)
    old = print_card(sections)
    moved = sections[place[0]].pop(place[1])
    sections[target].append(moved)
    new = print_card(sections)
    expected = MatchResult.UNCHANGED if target == place[0] else MatchResult.MOVED

    for before, after in ((old, new), (new, old)):
        match_results = dict(zip(join(sections), follow_all(before, after, join(sections)), strict=True))
        assert match_results.pop(moved) is expected
        assert set(match_results.values()) == {MatchResult.UNCHANGED}


@fast
@given(seeds, places)
def test_another_figure_is_reworded(seed: int, place: tuple[int, int]) -> None:
    """One digit changed, anywhere in the passage, is never spelling."""
    sections = write_sections(seed)
    old = print_card(sections)
    quote = sections[place[0]][place[1]]
    digits = [at for at, character in enumerate(quote) if character.isdigit()]
    at = digits[seed % len(digits)]
    changed = quote[:at] + str((int(quote[at]) + 1) % 10) + quote[at + 1 :]
    sections[place[0]][place[1]] = changed
    new = print_card(sections)

    found, back = follow(old, new, quote), follow(new, old, changed)

    assert (found.match_result, found.differs) == (MatchResult.REWORDED, ())
    assert found.anchor is not None
    assert found.anchor.exact == changed
    assert (back.match_result, back.anchor and back.anchor.exact) == (MatchResult.REWORDED, quote)


@fast
@given(seeds, st.integers(1, 4))
def test_a_repeated_sentence_meets_its_own_counterpart(seed: int, target: int) -> None:
    """The same sentence in two sections; the one whose section loses it is gone, the other unchanged."""
    sections = write_sections(seed)
    repeated = "We did not observe this behaviour in deployment."
    sections[0].insert(2, repeated)
    sections[target].insert(1, repeated)
    old = print_card(sections)
    sections[0].remove(repeated)
    new = print_card(sections)
    card = make_card(old)
    follower, anchored = Follower(card, make_card(new)), AnchoredText(card)
    first, second = (anchored.find(repeated, section=f"{at + 1}") for at in (0, target))

    assert follower.follow(first).match_result is MatchResult.GONE
    assert follower.follow(second).match_result is MatchResult.UNCHANGED


@fast
@given(seeds)
def test_numbering_sections_anew_moves_nothing(seed: int) -> None:
    """A section put in front renumbers all others, which keep their titles."""
    sections = write_sections(seed)
    old = print_card(sections)
    new = re.sub(r"## (\d)", lambda found: f"## {int(found[1]) + 1}", old).replace(
        "# System card\n", "# System card\n\n## 1 Changes\n\nThe numbers of sections were raised by one.\n", 1
    )

    assert set(follow_all(old, new, join(sections))) == {MatchResult.UNCHANGED}


@pytest.mark.parametrize("text", ["x", "12", "   a b c", "# T\n", "\n\n\f\n-- --", "§ §", "𝔘𝔫𝔦 𝔠𝔬𝔡𝔢", "שלום עולם"])
def test_texts_of_next_to_nothing_are_compared(text: str) -> None:
    """A passage of a text against an almost empty one is gone, and nothing fails on the way."""
    quote = "Lumen 2 refused 96 % of requests."

    assert follow(quote, text, quote).match_result is MatchResult.GONE
    assert follow(quote, quote, quote).match_result is MatchResult.UNCHANGED
