"""docs/errors.md and the source name the same codes."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

from tests.docs.codes import find_codes

ROOT = Path(__file__).parents[2]
HEADING = re.compile(r"^### `([^`]+)`\n(.*?)(?=^#|\Z)", re.MULTILINE | re.DOTALL)


def read_headings() -> list[tuple[str, str]]:
    """Return each code of the page with its paragraph."""
    return HEADING.findall((ROOT / "docs" / "errors.md").read_text(encoding="utf-8"))


@cache
def read_raised() -> dict[str, str]:
    """Return the codes in the source, each with a place: reading the whole source takes seconds."""
    return find_codes(ROOT)


def test_every_code_in_the_source_is_explained() -> None:
    """Nobody meets a code that the page does not know."""
    explained = {code for code, _ in read_headings()}

    assert {code: place for code, place in read_raised().items() if code not in explained} == {}


def test_no_code_is_explained_that_nothing_raises() -> None:
    """A code that is gone leaves the page too."""
    raised = read_raised()

    assert [code for code, _ in read_headings() if code not in raised] == []


def test_every_code_is_explained_once_and_in_words() -> None:
    """A heading has a paragraph below it, and stands once."""
    counts = Counter(code for code, _ in read_headings())

    assert [code for code, count in counts.items() if count > 1] == []
    assert [code for code, paragraph in read_headings() if len(paragraph.split()) < 4] == []


def test_the_scan_sees_each_way_in_which_a_fault_is_made(tmp_path: Path) -> None:
    """Keyword, helper with a code, exception with one first, choice of two, variable, composed code, constant, exclusion, reason, table."""
    (tmp_path / "audit").mkdir()
    (tmp_path / "registry").mkdir()
    (tmp_path / "registry" / "room.py").write_text(
        "raise InputError(Fault(code='by-keyword', where='x'))\n"
        "def _fault(code, where): ...\n"
        "_fault('by-helper', 'x')\n"
        "def complain(where, code): ...\n"
        "self.complain('x', 'by-position')\n"
        "raise _RefusedError('by-exception', 'x')\n"
        "code = 'if-so' if found else 'if-not'\n"
        "def unknown(what): return _fault(f'{what}-unknown', 'x')\n"
        "unknown('audit')\n"
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

    plain = {"by-keyword", "by-helper", "by-position", "by-exception", "if-so", "if-not", "audit-unknown"}
    assert set(found) == {*plain, "by-constant", "word", "by-exclusion", "by-return", "by-table", "by-row"}
