"""What the attacks on the command have in common: what a refusal looks like, and how long the log is."""

from tests.cli.conftest import Answer, Caveat


def size_of(caveat: Caveat) -> int:
    """Return the number of log entries."""
    return int(caveat("log", "show", "--json").document["size"])


def check_refusal(answer: Answer, *codes: str) -> None:
    """Check that *answer* is a refusal in the family's words, with one of *codes* if any are given."""
    assert answer.code in (2, 3), answer
    assert "internal-error" not in answer.err
    assert answer.out == ""
    assert not codes or any(code in answer.err for code in codes), answer.err
