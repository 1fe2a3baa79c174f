"""docs/errors.md, the catalogue of errors, and the source name the same codes."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from registry.errors import Fault, find_entry, list_explanations
from tests.docs.codes import find_codes

ROOT = Path(__file__).parents[2]


@cache
def read_raised() -> dict[str, str]:
    """Return the codes in the source, each with a place: reading the whole source takes seconds."""
    return find_codes(ROOT)


def test_every_code_in_the_source_is_explained() -> None:
    """A user never meets a code that the page does not know."""
    assert {code: place for code, place in read_raised().items() if code not in list_explanations()} == {}


def test_no_code_is_explained_that_nothing_raises() -> None:
    """A code that is gone leaves the page too."""
    raised = read_raised()

    assert [code for code in list_explanations() if code not in raised] == []


def test_every_code_is_explained_once_with_title_and_meaning() -> None:
    """Each heading occurs once; its text begins with a short bold title, then a meaning, and at most one line of advice ends it."""
    counts = Counter(re.findall(r"^### `([^`]+)`$", (ROOT / "docs" / "errors.md").read_text(encoding="utf-8"), re.MULTILINE))
    entries = [entry for entry in map(find_entry, counts) if entry]

    assert [code for code, count in counts.items() if count > 1] == []
    assert [entry.code for entry in entries] == list(list_explanations())
    assert [entry.code for entry in entries if not 1 <= len(entry.title.split()) <= 8 or "**" in entry.title + entry.meaning] == []
    assert [entry.code for entry in entries if len(entry.meaning.split()) < 3 or "Next:" in entry.meaning] == []
    assert [entry.code for entry in entries if entry.advice and ("*" in entry.advice or len(entry.advice) > 200)] == []


def test_the_words_of_the_page_are_plain() -> None:
    """None of the words of the old dialect (words.md) is in a title, a meaning or an advice."""
    text = "\n".join(list_explanations().values())

    assert re.findall(r"\b(?:nobody|somebody|anybody|told|stands?|given out|what became of|whose word)\b", text) == []


def test_a_fault_takes_its_advice_from_the_page_unless_the_place_has_better() -> None:
    """The default comes without marks of Markdown and without the last full stop."""
    assert Fault("card-empty", "a.pdf", "0 bytes").advice == "download the card again"
    assert Fault("card-not-found", "a.pdf", "no file").advice == "check the path; caveat card list shows the registered cards"
    assert Fault("card-empty", "a.pdf", "0 bytes", advice="ask its author").advice == "ask its author"
    assert Fault("card-empty", "a.pdf", "0 bytes", advice="").advice == ""
    assert Fault("too-deep", "a.yaml", "41 levels").advice is None


def test_a_fault_with_a_code_that_is_not_on_the_page_fails_in_tests() -> None:
    """The guard is in tests/conftest.py; users get such a message without advice."""
    with pytest.raises(AssertionError, match="no-such-code is not in docs/errors.md"):
        Fault("no-such-code", "x", "y")


def test_the_scan_sees_each_way_in_which_a_fault_is_made(tmp_path: Path) -> None:
    """Keyword, helper with a code, exception with one first, choice of two, variable, constant, exclusion, reason, table."""
    (tmp_path / "audit").mkdir()
    (tmp_path / "registry").mkdir()
    (tmp_path / "registry" / "room.py").write_text(
        "raise InputError(Fault(code='by-keyword', where='x'))\n"
        "raise InputError(Fault('single', 'x', 'y'))\n"
        "def _fault(code, where): ...\n"
        "_fault('by-helper', 'x')\n"
        "def complain(where, code): ...\n"
        "self.complain('x', 'by-position')\n"
        "raise _RefusedError('by-exception', 'x')\n"
        "code = 'if-so' if found else 'if-not'\n"
        "print('not-a-code')\n"
        "TIME_OUT = 'by-constant'\n"
        "ONE = 'word'\n"
        "Mark(excluded_reason=TIME_OUT)\n"
        "Mark(excluded=ONE, other='not-this')\n"
        "_exclude('by-exclusion', 'x')\n"
        "def find_reason(): return 'by-return' if found else None\n"
        "def warn():\n"
        "    shares: tuple[str, ...] = (('by-table', 'x'), ('by-row', 'y'))\n"
        "    for code, what in shares: print(code)\n"
    )

    found = find_codes(tmp_path)

    plain = {"by-keyword", "by-helper", "by-position", "by-exception", "if-so", "if-not", "single"}
    assert set(found) == {*plain, "by-constant", "word", "by-exclusion", "by-return", "by-table", "by-row"}
