"""What stands around a passage: sections, neighbours, blocks, introductions."""

from audit.propose.passage_context import PassageContext
from registry.records.system_card import Heading, Outline, Passage, PassageKind
from tests.propose.written import lay_out, sentence

HEADINGS = ("1 Safety", "1.1 Refusals", "1.1.1 Single turn", "2 Capability", "2.1 Mathematics")


def test_numbered_headings_nest() -> None:
    """A heading lies in those whose number begins its own, outermost first."""
    around = lay_out(sentence("x", 9, section=2), sentence("y", 12, section=4), titles=HEADINGS)

    assert [around.section_titles(one) for one in around.passages] == [
        ("1 Safety", "1.1 Refusals", "1.1.1 Single turn"),
        ("2 Capability", "2.1 Mathematics"),
    ]


def test_hash_marks_nest_where_there_are_no_numbers() -> None:
    """Markdown tells the depth by its marks."""
    text = "# Safety\n\n## Refusals\n\nIt refused.\n"
    headings = (Heading(start=0, title="Safety"), Heading(start=10, title="Refusals"))
    passage = sentence("It refused.", 23, section=1)

    titles = PassageContext(Outline(passages=(passage,), headings=headings), text).section_titles(passage)

    assert titles == ("Safety", "Refusals")


def test_bookmarks_nest_by_the_numbers_in_the_text() -> None:
    """A PDF's bookmarks have no numbers; the text below them has."""
    text = "4 Safety\n4.2 Refusals\nIt refused."
    headings = (Heading(start=0, title="Safety"), Heading(start=9, title="Refusals"))
    passage = sentence("It refused.", 22, section=1)

    titles = PassageContext(Outline(passages=(passage,), headings=headings), text).section_titles(passage)

    assert titles == ("Safety", "Refusals")


def test_a_heading_without_number_or_mark_stands_alone() -> None:
    """Nothing is invented about where it belongs."""
    around = lay_out(sentence("x", 9, section=1), titles=("1 Safety", "Acknowledgements"))

    assert around.section_titles(around.passages[0]) == ("Acknowledgements",)


def test_above_the_first_heading_there_is_no_section() -> None:
    """The title page has none."""
    around = lay_out(sentence("x"))

    assert around.section_titles(around.passages[0]) == ()


def test_neighbours_stay_in_the_section() -> None:
    """What stands under another heading is no neighbour."""
    passages = [sentence(letter, index, section=index // 3) for index, letter in enumerate("abcdef")]
    around = lay_out(*passages, titles=("1 A", "2 B"))

    near = around.neighbours(passages[3], before=2, after=1)

    assert [one.words for one in near] == ["e"]


def test_contents_and_furniture_are_nobodys_neighbours() -> None:
    """Lines of the table of contents and running heads stand between, and are not read."""
    passages = (
        sentence("a", 0),
        sentence("3", 1, kind=PassageKind.FURNITURE),
        sentence("b", 2),
    )
    around = lay_out(*passages)

    assert [one.words for one in around.neighbours(passages[2], before=5, after=5)] == ["a"]


def test_a_list_is_introduced_by_the_paragraph_above_it() -> None:
    """Items, each a block of its own, share the paragraph above."""
    lead = sentence("Pass rates were:", 0, block=1)
    items = [sentence(f"- model {index}: 80%", 20 + 20 * index, kind=PassageKind.ITEM, block=2 + index) for index in range(3)]
    around = lay_out(lead, *items)

    assert around.lead_in(items[2]) == (lead,)


def test_running_text_has_no_introduction() -> None:
    """A sentence is introduced by nothing; the one before it is its neighbour."""
    first, second = sentence("We ran it.", 0), sentence("It failed.", 20)
    around = lay_out(first, second)

    assert around.lead_in(second) == ()


def test_an_empty_outline_answers() -> None:
    """A card of which nothing could be read has no surroundings."""
    lost = sentence("x", 5)
    around = lay_out()

    assert (around.block(lost), around.neighbours(lost, before=3, after=3)) == ((lost,), ())


def _positions(passages: tuple[Passage, ...]) -> list[int]:
    return [one.start for one in passages]


def test_neighbours_come_in_order() -> None:
    """The order is the card's, whatever side they stand on."""
    passages = [sentence(letter, index) for index, letter in enumerate("abcdefg")]
    around = lay_out(*passages)

    assert _positions(around.neighbours(passages[3], before=2, after=2)) == [1, 2, 4, 5]
