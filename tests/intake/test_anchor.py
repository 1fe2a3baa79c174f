"""Where a quotation stands: the level that was needed, the page that was meant, and what is refused."""

import hashlib

import pytest

from registry.errors import InputError
from registry.intake.card_reader import find_headings, split_pages
from registry.intake.quote_anchor import AnchoredText, find_quote
from registry.records.system_card import CardText, MatchLevel, MediaType


def card_of(text: str, media_type: MediaType = MediaType.MARKDOWN) -> CardText:
    """A card with *text*, form feeds between its pages."""
    data = text.encode("utf-8", errors="surrogatepass")
    return CardText(
        sha256=hashlib.sha256(data).hexdigest(),
        size_bytes=len(data),
        media_type=media_type,
        text=text,
        pages=split_pages(text),
        extractor="test",
        headings=find_headings(text),
    )


@pytest.mark.parametrize(
    ("text", "quote", "level", "exact"),
    [
        ("a rate of 9 % in all", "rate of 9 %", "N0", "rate of 9 %"),
        ("a rate\n  of\t9 % in all", "rate of 9 %", "N1", "rate\n  of\t9 %"),
        ("rates over 7× higher", "rates over 7x higher", "N2", "rates over 7× higher"),
        ("we don’t say “never”…", 'we don\'t say "never"...', "N2", "we don’t say “never”…"),
        ("just 1–2% of sessions", "just 1-2% of sessions", "N2", "just 1–2% of sessions"),
        ("the ﬁrst ofﬁce", "the first office", "N2", "the ﬁrst ofﬁce"),
        ("un\u00adsafe con\u200btent", "unsafe content", "N2", "un\u00adsafe con\u200btent"),
        ("at least 97.5\u00a0%", "at least 97.5 %", "N2", "at least 97.5\u00a0%"),
        ("the cafe\u0301 is open", "the café is open", "N2", "the cafe\u0301 is open"),
        ("the evalua-\ntion is over", "the evaluation is over", "N3", "the evalua-\ntion is over"),
        ("while GPT-\n5.3 achieved", "while GPT-5.3 achieved", "N3", "while GPT-\n5.3 achieved"),
        ("a load-\nbearing part", "a load-bearing part", "N3", "a load-\nbearing part"),
        ("the evaluation is over", "the evalua-\ntion is over", "N3", "the evaluation is over"),
        ("the frontier—\nit is", "the frontier—it is", "N3", "the frontier—\nit is"),
        ("is **161 (n=67)** now", "is 161 (n=67) now", "N4", "is **161 (n=67)** now"),
        ("see [the policy](https://a.b/c_d) first", "see the policy first", "N4", "see [the policy](https://a.b/c_d) first"),
        ("<td><b>Kestrel</b></td>\n<td>90%</td>", "Kestrel 90%", "N4", "Kestrel</b></td>\n<td>90%"),
        ("| Kestrel | 90% | 99% |", "Kestrel 90% 99%", "N4", "Kestrel | 90% | 99%"),
        ("a &lt;4% rate &amp; more", "a <4% rate & more", "N4", "a &lt;4% rate &amp; more"),
        ("[Kestrel] is 2 * 3 = 6", "**[Kestrel] is 2 * 3 = 6**", "N4", "[Kestrel] is 2 * 3 = 6"),
        ("this model.1 It is good", "this model. It is good", "N5", "this model.1 It is good"),
        ("at 47%2 of the runs", "at 47% of the runs", "N5", "at 47%2 of the runs"),
        ("the baseline² was low", "the baseline was low", "N5", "the baseline² was low"),
        ("as shown [12] in tests", "as shown in tests", "N5", "as shown [12] in tests"),
        ("of requests[^1]; it held", "of requests; it held", "N5", "of requests[^1]; it held"),
        ("according to\n25\n\fthe set up", "according to the set up", "N5", "according to\n25\n\fthe set up"),
        ("the rea-\n7\n\fsoning holds", "the reasoning holds", "N5", "the rea-\n7\n\fsoning holds"),
        ("the M A X I M U M  R I S K here", "the MAXIMUM RISK here", "N6", "the M A X I M U M  R I S K here"),
    ],
)
def test_the_lowest_level_that_finds_it_is_recorded(text: str, quote: str, level: str, exact: str) -> None:
    """The level is the declared one, and the passage is the document's own characters at its own place."""
    anchor = find_quote(card_of(text), quote)

    assert anchor.level == level
    assert anchor.exact == exact == text[anchor.start : anchor.stop]


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("only 99.5 % passed", "5 % passed"),
        ("a score of 57 %", "a score of 5"),
        ("about 1,250 runs", "about 1"),
        ("about 1,250 runs", "250 runs"),
        ("a change of -3 points", "3 points"),
        ("10² failures in all", "102 failures in all"),
        ("10<sup>2</sup> failures in all", "102 failures in all"),
        ("pages 1-\n2 of it", "pages 12 of it"),
        ("pages 1–2 of it", "pages 12 of it"),
        ("the re-sign of it", "the resign of it"),
        ("scores 5 0 % and A B", "scores 50 % and A B"),
        ("Qwen2 was better", "Qwen3 was better"),
        ("this model.1 It is", "this model.2 It is"),
        ("a part of it", "apart of it"),
        ("2½ times as many", "21/2 times as many"),
        ("the model failed", "The model failed"),
        ("did not fail", "did fail"),
        ("5*3 = 15 tests", "53 = 15 tests"),
    ],
)
def test_what_the_card_does_not_say_is_not_found(text: str, quote: str) -> None:
    """No level turns one number, word or sign into another."""
    with pytest.raises(InputError) as caught:
        find_quote(card_of(text), quote)

    assert caught.value.code == "quotation-not-found"


PAGED = "A claim: 9 % of runs.\n1\n\fOther text, nothing more.\n2\n\fA claim: 9 % of\nruns. And more.\n3\n"


def test_an_occurrence_on_the_page_given_wins() -> None:
    """Even if it needs a higher level than one elsewhere."""
    anchor = find_quote(card_of(PAGED), "A claim: 9 % of runs.", page=3)

    assert (anchor.page, anchor.level, anchor.occurrences) == (3, MatchLevel.N1, 2)


def test_a_wrong_page_is_refused_with_the_right_one() -> None:
    """The message says where it was expected, where it is, and what to write."""
    with pytest.raises(InputError) as caught:
        find_quote(card_of(PAGED), "Other text", page=1, where="claims.yaml, claims[3].quote")

    assert str(caught.value) == (
        "error[quotation-on-other-page]: Quotation on another page\n  --> claims.yaml, claims[3].quote\n"
        "  expected on page 1, found on page 2\n"
        "  fix: set claims[3].page to 2, counting pages of the file from 1, or leave it out"
    )


def test_a_page_beyond_the_last_is_refused() -> None:
    """The message says how many pages there are."""
    with pytest.raises(InputError, match=r"expected on page 9 \(the card has 3\), found on page 2"):
        find_quote(card_of(PAGED), "Other text", page=9)


def test_a_page_in_a_card_without_pages_is_refused() -> None:
    """A Markdown card without page marks has none to name."""
    with pytest.raises(InputError) as caught:
        find_quote(card_of("some text"), "some text", page=1)

    assert caught.value.code == "card-without-pages"


SECTIONED = "# 1 Scope\n\nWe found none.\n\n# 2 Results\n\n## 2.1 Cyber\n\nWe found none.\n\n## 2.2 Bio\n\nWe found none.\n"


def test_of_several_occurrences_section_and_position_choose() -> None:
    """The section given wins, then the nearest to a position, then the first; their number is told."""
    anchored = AnchoredText(card_of(SECTIONED))

    chosen = [
        anchored.find("We found none."),
        anchored.find("We found none.", section="2.1"),
        anchored.find("We found none.", section="bio"),
        anchored.find("We found none.", near=len(SECTIONED)),
        anchored.find("We found none.", section="9 No such"),
    ]

    assert [anchor.section for anchor in chosen] == ["1 Scope", "2.1 Cyber", "2.2 Bio", "2.2 Bio", "1 Scope"]
    assert {anchor.occurrences for anchor in chosen} == {3}


def test_an_anchor_carries_its_surroundings() -> None:
    """Prefix and suffix are the 32 characters on either side, fewer at the ends."""
    text = "begin " + "x" * 40 + " the passage " + "y" * 40

    anchor = find_quote(card_of(text), "the passage")

    assert anchor.prefix == "x" * 31 + " "
    assert anchor.suffix == " " + "y" * 31
    assert anchor.page is None


def test_what_is_not_there_is_answered_with_the_nearest_passage() -> None:
    """The words that differ are visible, and the page."""
    with pytest.raises(InputError) as caught:
        find_quote(card_of(PAGED), "Other text, something more.")

    message = str(caught.value)
    assert caught.value.code == "quotation-not-found"
    assert "nearest passage on page 2: “Other text, nothing more.”" in message
    assert "“something” → “nothing”" in message


def test_a_quotation_like_nothing_in_the_card_is_told_so() -> None:
    """No passage is shown when none is similar."""
    with pytest.raises(InputError, match="nothing in it is similar"):
        find_quote(card_of(PAGED), "zebra quantum xylophone")


@pytest.mark.parametrize("quote", ["", "  ", "ab", "– … “”", "**\n**"])
def test_a_quotation_too_short_is_refused(quote: str) -> None:
    """Fewer than three letters and digits stand almost everywhere."""
    with pytest.raises(InputError) as caught:
        find_quote(card_of("ab – … “” **\n**"), quote)

    assert caught.value.code == "quotation-too-short"


def test_a_quotation_too_long_is_refused() -> None:
    """A quotation is a passage, not the card."""
    with pytest.raises(InputError) as caught:
        find_quote(card_of("some text"), "word " * 5_000)

    assert caught.value.code == "quotation-too-long"


@pytest.mark.parametrize(
    "quote", ["<script>alert(1)</script>", "a\x1b[31mred\x00 text", "abc\u202edef", "(?:a+bc)+$ (((", "'; DROP TABLE card;--"]
)
def test_a_hostile_quotation_is_data(quote: str) -> None:
    """It is found where it stands, and shown without its control characters where it does not."""
    found = find_quote(card_of(f"before {quote} after"), quote)
    with pytest.raises(InputError) as caught:
        find_quote(card_of("something else altogether"), quote)

    assert found.exact == quote
    assert not any(character in str(caught.value) for character in "\x1b\x00\u202e")


def test_a_passage_across_pages_may_skip_a_running_head() -> None:
    """A head that stands on every page is left out at N5."""
    page = "Kestrel 2 System Card  {n}\n{w} goes on\n{w} two\n{w} three\n{w} four\n{w} begins a sentence that\n{n}\n"
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
    text = "\f".join(page.format(n=number, w=word) for number, word in enumerate(words, start=1))

    anchor = find_quote(card_of(text), "beta begins a sentence that gamma goes on", page=2)

    assert anchor.level is MatchLevel.N5
    assert anchor.page == 2


def test_noncharacters_in_a_card_imitate_nothing() -> None:
    """The characters used inside for optional hyphens do not open a back door for numbers."""
    with pytest.raises(InputError):
        find_quote(card_of("at 1\ufdd02 per cent"), "at 12 per cent")


def test_marks_of_another_shape_are_no_difference() -> None:
    """What the search overlooks anyway is not told among the words that differ."""
    with pytest.raises(InputError) as caught:
        find_quote(
            card_of("We didn’t find the model to be capable of undermining oversight of its behavior."),
            "We didn't find the model to be capable of undermining oversight of its behaviour.",
        )

    assert "differs: “behaviour.” → “behavior.”" in str(caught.value)
