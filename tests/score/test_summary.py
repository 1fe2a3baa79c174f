"""What is told of the sides of a scored run."""

from audit.score.run_evidence import SideCounts, remark_sides


def test_sides_with_and_without_a_specification_are_compared_by_their_rates_alone() -> None:
    """Arms that tie in everything else have names of unlike types, and only the rates decide."""
    tallies = {
        ("deploy", "chat", None): SideCounts(rows=10, scored=10, cut=5),
        ("test", None, "eval-word"): SideCounts(rows=10, scored=10),
        ("test", None, None): SideCounts(rows=10, scored=10),
    }

    (remark,) = remark_sides(tallies)

    assert remark.code == "unequal-truncation"
    assert "deploy chat 5 of 10, test without eval-word 0 of 10, test 0 of 10" in remark.message
