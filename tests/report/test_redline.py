"""The redline: what it takes away and adds is exactly the difference, in pieces that a person reads as edits."""

from hypothesis import given
from hypothesis.strategies import lists, sampled_from, text

from registry.report.quoted_text import RunChange, build_redline

SENTENCES = lists(
    sampled_from(["the", "model", "refuses", "97.2 %", "0.05", ",", "of", "requests", "deployment-like", "≤", "."]), max_size=25
).map(" ".join)


def join(original: str, restricted: str, change: RunChange) -> str:
    return "".join(run.text for run in build_redline(original, restricted) if run.change in (RunChange.KEPT, change))


@given(original=text(max_size=60), restricted=text(max_size=60))
def test_kept_and_removed_are_the_original(original: str, restricted: str) -> None:
    """Leaving out what was added gives the original, character for character."""
    assert join(original, restricted, RunChange.REMOVED) == original


@given(original=SENTENCES, restricted=SENTENCES)
def test_kept_and_added_are_the_restricted_text(original: str, restricted: str) -> None:
    """Leaving out what was removed gives the restricted claim."""
    assert join(original, restricted, RunChange.ADDED) == restricted


@given(claim=text(max_size=60))
def test_nothing_changed_is_shown_as_nothing_changed(claim: str) -> None:
    """Equal texts have no edit."""
    assert all(run.change is RunChange.KEPT for run in build_redline(claim, claim))


@given(original=SENTENCES, restricted=SENTENCES)
def test_no_island_of_one_or_two_words_stands_between_two_edits(original: str, restricted: str) -> None:
    """Short equal runs are folded into the edits around them."""
    runs = build_redline(original, restricted)

    for before, kept, after in zip(runs, runs[1:], runs[2:], strict=False):
        if kept.change is RunChange.KEPT and before.change is not RunChange.KEPT and after.change is not RunChange.KEPT:
            assert sum(any(letter.isalnum() for letter in word) for word in kept.text.split()) >= 3


def test_a_number_is_one_edit() -> None:
    """No digit of a number survives when the number changes."""
    runs = build_redline("the rate was 0.05 in our long evaluation", "the rate was 0.25 in our long evaluation")

    assert [(run.change.value, run.text.strip()) for run in runs] == [
        ("kept", "the rate was"),
        ("removed", "0.05"),
        ("added", "0.25"),
        ("kept", "in our long evaluation"),
    ]


def test_a_percent_sign_belongs_to_its_number() -> None:
    """`5 %` becoming `25 %` is one edit too."""
    removed = [run.text.strip() for run in build_redline("in 5 % of all runs", "in 25 % of all runs") if run.change is RunChange.REMOVED]

    assert removed == ["5 %"]


def test_a_sentence_put_before_the_claim_does_not_strike_its_first_word() -> None:
    """The white space that the first word gains is no change of the word."""
    runs = build_redline("Example answers all of it", "In the lab: Example answers all of it")

    assert [(run.change.value, run.text) for run in runs] == [("added", "In the lab: "), ("kept", "Example answers all of it")]


def test_a_claim_of_which_little_is_kept_is_struck_whole() -> None:
    """Words that a withdrawal repeats do not look as if they stood."""
    original = "In the consumer product it refuses at least 90 % of harmful requests."
    restricted = "Under deployment-like contexts it is 75 %. Withdrawn: the statement that refusal is at least 90 % in deployment."

    runs = build_redline(original, restricted)

    assert [(run.change, run.text) for run in runs] == [(RunChange.REMOVED, original), (RunChange.ADDED, restricted)]


def test_a_chapter_without_a_full_stop_is_one_edit_between_its_equal_ends() -> None:
    """Texts whose comparison would take minutes are told apart at once: what is the same at both ends is kept, character for character."""
    words = [("the", "model", "risk", "of", "a", "test")[(number * number + number // 7) % 6] for number in range(20_000)]
    others = [*words[:500], *(word.upper() if number % 9 == 0 else word for number, word in enumerate(words[500:-500])), *words[-500:]]
    original, restricted = " ".join(words), " ".join(others)

    runs = build_redline(original, restricted)

    assert [run.change for run in runs] in (
        [RunChange.KEPT, RunChange.REMOVED, RunChange.ADDED, RunChange.KEPT],
        [RunChange.REMOVED, RunChange.ADDED],
    )
    assert join(original, restricted, RunChange.REMOVED) == original
    assert join(original, restricted, RunChange.ADDED) == restricted
