"""Words whose change turns a passage although no figure changed."""

import pytest

from registry.intake.revision.passage_changes import find_turns


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("The model is unable to help", "The model is able to help", "a negation changed: unable → able"),
        ("It does not scheme", "It does scheme", "a negation changed: not → nothing"),
        ("It can be misled", "It can't be misled", "a negation changed: nothing → can't"),
        ("It always refuses", "It never refuses", "a negation changed: nothing → never"),
        ("All models passed", "No models passed", "how far it holds changed: all → nothing"),
        ("Rates increased with effort", "Rates decreased with effort", "an opposite changed: increased → decreased"),
        ("Harm is likely", "Harm is unlikely", "a negation changed: likely → unlikely"),
        ("Swift Heron refused it", "Swift Merlin refused it", "a name changed: Heron → Merlin"),
        ("It is not weak but strong", "It is weak but not strong", "a negation changed: not → nothing"),
        ("It failed the screen", "It passed the screen", "an opposite changed: failed → passed"),
    ],
)
def test_what_turns_a_statement_is_named(old: str, new: str, told: str) -> None:
    """Negations, opposites, how far it holds and names are found in both directions."""
    what, _, words = told.partition(" changed: ")
    before, _, after = words.partition(" → ")

    assert told in map(str, find_turns(old, new))
    assert f"{what} changed: {after} → {before}" in map(str, find_turns(new, old))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The rate is above the limit", "The rate exceeds the limit"),
        ("It cannot help", "It can not help"),
        ("It doesn't help", "It does not help"),
        ("The model refused it", "The assistant refused it"),
        ("It always holds", "In every case it holds"),
        ("It is not known", "It is not known to us"),
    ],
)
def test_other_words_for_the_same_turn_nothing(old: str, new: str) -> None:
    """A synonym, or a contraction written out, is no alarm."""
    assert find_turns(old, new) == ()
