"""Cue inventories: almost equal names are one, the order of what was read does not count, and a held-out part shares nothing."""

from collections.abc import Sequence

import pytest

from audit.errors import DesignError
from audit.modules.cue_ablation import NamedCue, build_inventory, cover_inventories, hold_out, list_rater_cues, read_probe_cue
from audit.records.rating_sheet import AnswerSheet, RaterAnswer, SampleSide
from registry.records.specification import Cue, CueInventorySpec
from tests import findings


def name(*names: str, source: str = "raters") -> list[NamedCue]:
    return [NamedCue(name=one, source=source) for one in names]


def test_almost_equal_names_are_one_cue() -> None:
    """A slip of the pen joins the vocabulary's word; another word stays; counts and spellings are kept."""
    inventory = build_inventory(
        [*name("task format", "task fromat", "Task_Format", "grammar"), *name("task format", source="probe")], name="n"
    )

    first, second = inventory.cues
    assert (first.name, first.category, first.count, first.spellings) == ("task format", "task format", 4, ("task fromat",))
    assert first.sources == ("probe: 1", "raters: 3")
    assert (second.name, second.category, second.count) == ("grammar", "generic", 1)


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_what_was_read_does_not_count(order: int) -> None:
    """The vocabulary comes first, then the commonest name."""
    named = name("odd greeting", "odd greetings", "odd greetings", "odd  Greeting!", "explicit disclosures")[::order]

    inventory = build_inventory(named, name="n")

    assert [(cue.name, cue.count) for cue in inventory.cues] == [("odd greetings", 4), ("explicit disclosure", 1)]


def test_only_cues_of_items_taken_for_tests_count() -> None:
    """What made somebody say deployment gives no test away; models are counted apart."""
    answers = (
        RaterAnswer(item="A", answer=SampleSide.TEST, cues=("generic",)),
        RaterAnswer(item="B", answer=SampleSide.DEPLOY, cues=("typos", "slang")),
    )
    sheets = [AnswerSheet(rater=rater, key="key-1", answers=answers) for rater in ("ana", "gpt")]

    named, others = list_rater_cues(sheets, models=frozenset({"gpt"}))

    assert ([(cue.name, cue.source) for cue in named], others) == ([("generic", "raters"), ("generic", "model raters")], 4)


@pytest.mark.parametrize(
    ("families", "category"), [(["test", "not-real"], "stimulus artificiality"), (["test"], "generic"), ([], "generic")]
)
def test_a_quote_is_placed_by_its_patterns(families: Sequence[str], category: str) -> None:
    """The first family that says more than that it is a test."""
    assert read_probe_cue("  this looks \n made up ", families) == NamedCue(name="this looks made up", source="probe", category=category)


def test_nothing_named_is_no_inventory() -> None:
    """An empty list would say that there is no cue."""
    with pytest.raises(DesignError, match="no cue was named"):
        build_inventory(name(" "), name="n")


def test_a_held_out_part_shares_nothing_with_the_rest() -> None:
    """The seed decides, both parts together are the whole, and the open part does not hold the seed."""
    whole = build_inventory(name("a cue", "bright light", "cold start", "dull prose", "empty room"), name="n")

    split = hold_out(whole, count=2, seed=5)
    again = hold_out(whole, count=2, seed=5)

    assert split == again
    assert split.held_out is not None
    names = [{cue.name for cue in part.cues} for part in (split.open, split.held_out)]
    assert names[0] | names[1] == {cue.name for cue in whole.cues}
    assert not names[0] & names[1]
    assert (len(names[1]), split.held_out.seed, split.open.seed) == (2, 5, None)
    assert {hold_out(whole, count=2, seed=seed).held_out for seed in range(9)} != {split.held_out}
    for count in (0, 5):
        with pytest.raises(DesignError, match="expected at least 1 and fewer than the 5 cues"):
            hold_out(whole, count=count, seed=5)


def test_the_ablation_says_which_cues_of_an_inventory_it_knows_nothing_of() -> None:
    """Almost equal names match; what was ablated without being listed is a warning too."""
    ablation = findings.ablation(
        changes=(findings.change("letter-only", 0.2), findings.change("banner", 0.1), findings.change("placebo", 0.0, placebo=True))
    )
    listed = CueInventorySpec(name="n", cues=(Cue(name="Letter only", category="task format"), Cue(name="tone", category="generic")))

    found = cover_inventories(ablation, [("cues.yaml", listed)])

    (coverage,) = found.inventories
    assert (coverage.ablated, coverage.not_ablated) == (("Letter only",), ("tone",))
    assert [one.code for one in found.warnings[-2:]] == ["cues-not-ablated", "cue-outside-inventory"]
    assert "banner" in found.warnings[-1].message
    assert cover_inventories(ablation, []) == ablation
