"""A card in windows: nothing is lost, nothing is cut in the middle, and every window says what it stands under."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.propose.claim_passages import PassageContext
from audit.propose.window_questions import SMALLEST, CardWindow, cut_windows, describe_window, halve
from registry.records.system_card import CardText, Outline
from tests.examples import scale
from tests.propose.asked import Table, build_card

ROWS = tuple((f"Model {number}", f"{number}.5 %") for number in range(400))
TABLE = Table("Table 1: violations by model", ("Model", "Rate"), ROWS)


def _cut(built: tuple[CardText, Outline], size: int = SMALLEST, overlap: int = 200) -> tuple[CardWindow, ...]:
    card, outline = built
    return cut_windows(PassageContext(outline, card.text), size=size, overlap=overlap)


@settings(max_examples=scale(60), deadline=None)
@given(
    lengths=st.lists(st.integers(1, 900), min_size=1, max_size=60),
    size=st.integers(SMALLEST, 6000),
    overlap=st.integers(0, SMALLEST // 2),
)
def test_windows_show_every_word_in_order(lengths: list[int], size: int, overlap: int) -> None:
    """Whatever the lengths of sentences, all lines are shown, in order, without a gap, and no window is longer than it may be."""
    card, outline = build_card(*(f"s{number} {'word ' * (length // 5)}end." for number, length in enumerate(lengths)))

    windows = _cut((card, outline), size, overlap)

    shown = sorted({line.number: line for window in windows for line in window.lines}.items())
    assert [number for number, _ in shown] == list(range(1, len(shown) + 1))
    assert {line.passage for _, line in shown} == set(range(len(outline.passages)))
    assert all(sum(map(len, window.titles)) + len(window.text) <= size for window in windows)
    assert all(later.lines[0].number <= earlier.lines[-1].number + 1 for earlier, later in pairwise(windows))
    assert all(later.lines[-1].number > earlier.lines[-1].number for earlier, later in pairwise(windows))


def test_windows_overlap_by_whole_lines() -> None:
    """The last sentences of a window are the first of the next, at most as many characters as were asked for."""
    windows = _cut(build_card(*(f"Sentence {number} says something of the model." for number in range(200))), overlap=300)

    for earlier, later in pairwise(windows):
        shared = [line for line in later.lines if line in earlier.lines]
        assert shared
        assert sum(len(line.shown) + 1 for line in shared) <= 300


def test_a_window_says_what_it_stands_under() -> None:
    """A window that begins in the middle of a section names the sections above it by their numbers."""
    sentences = "\n".join(f"Sentence {number} says something of the model." for number in range(100))
    windows = _cut(build_card("# 4 Safety", "# 4.1 Tests", "# 4.1.2 Attacks", sentences))

    assert windows[-1].titles == ("4 Safety", "4.1 Tests", "4.1.2 Attacks")


def test_rows_keep_caption_and_heads() -> None:
    """A window that begins in the middle of a table repeats its caption and its heads, without a number that could be quoted."""
    windows = _cut(build_card(TABLE))

    assert len(windows) > 3
    assert windows[0].table == ()
    assert all(window.table == ("Table 1: violations by model", "Model | Rate") for window in windows[1:])
    assert windows[1].text.startswith("| Table 1: violations by model\n| Model | Rate\n")


def test_a_passage_longer_than_a_window_is_read_in_pieces() -> None:
    """A text without sentences is cut at white space, and every word of it is shown whole."""
    words = [f"w{number}" for number in range(3000)]
    windows = _cut(build_card(" ".join(words)))

    assert {word for window in windows for line in window.lines for word in line.text.split()} == set(words)


def test_a_word_longer_than_a_window_ends() -> None:
    """Not even a text without white space makes a window too long, or one too many."""
    windows = _cut(build_card("x" * 20_000))

    assert all(len(window.text) <= SMALLEST for window in windows)
    assert len(windows) < 30


def test_nothing_to_read_makes_no_window() -> None:
    """A card without passages has no windows."""
    card, outline = build_card("One sentence.")

    assert cut_windows(PassageContext(Outline(passages=(), headings=outline.headings), card.text), size=SMALLEST, overlap=0) == ()


@pytest.mark.parametrize(("size", "overlap"), [(SMALLEST - 1, 0), (SMALLEST, SMALLEST // 2 + 1), (SMALLEST, -1)])
def test_sizes_that_cannot_be_are_refused(size: int, overlap: int) -> None:
    """A window too small for its headings, and an overlap that would not let it go on, are no windows."""
    with pytest.raises(ValueError, match="a window has at least"):
        _cut(build_card("One sentence."), size, overlap)


def test_halves_have_all_lines_of_a_window() -> None:
    """Two halves are the window, one after the other, with heads for the second; a single line has none."""
    card, outline = build_card(TABLE)
    around = PassageContext(outline, card.text)
    window = cut_windows(around, size=SMALLEST, overlap=0)[0]

    halves = halve(window, around)

    assert halves is not None
    assert halves[0].lines + halves[1].lines == window.lines
    assert halves[1].table == ("Table 1: violations by model", "Model | Rate")
    assert halve(cut_windows(PassageContext(build_card("One.")[1], "One."), size=SMALLEST, overlap=0)[0], around) is None


def test_a_window_is_told_by_its_sections() -> None:
    """A person finds a window by the sections that it begins and ends in."""
    built = build_card("# 1 Begin", "A sentence.", "# 2 End", "Another.")

    assert describe_window(_cut(built)[0], built[1]) == "“1 Begin” to “2 End”"
