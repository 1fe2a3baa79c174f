"""The extractors themselves, and the process they run in."""

import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from registry.errors import InputError, UnavailableError
from registry.intake import text_extractors as extractors
from registry.intake.card_reader import ask_extractor, find_bookmarked_headings, measure_agreement, read_card
from registry.intake.html_reader import read_hypertext
from tests.intake.pdf_files import build_pdf

LIMITS = {"maximum_pages": 3, "maximum_characters": 100, "maximum_on_a_page": 100}


def answer_of(extractor: str, limits: Mapping[str, object], data: bytes, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What the program writes, run in this process."""
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=out))
    monkeypatch.setattr("registry.intake.text_extractors.warnings.simplefilter", lambda _: None)
    extractors.main(extractor, json.dumps(limits))
    answer: dict[str, object] = json.loads(out.getvalue())
    return answer


def test_pdfium_gives_pages_and_bookmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page's text, and the bookmarks with their page."""
    answer = answer_of("pdfium", LIMITS, build_pdf(["one\ntwo", "three"], bookmarks=[("Three", 1)]), monkeypatch)

    assert answer["pages"] == ["one\ntwo", "three"]
    assert answer["bookmarks"] == [["Three", 1]]
    assert str(answer["extractor"]).startswith("pypdfium2 ")


def test_pdfminer_gives_the_pages_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the sample is read."""
    answer = answer_of("pdfminer", {"sample": [1]}, build_pdf(["one", "two", "three"]), monkeypatch)

    assert "".join(map(str, answer["pages"])).split() == ["two"]  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (build_pdf(["text"], password="open"), "card-encrypted"),  # noqa: S106 - of a test file
        (build_pdf(["a"] * 4), "card-too-long"),
        (build_pdf(["a long line " * 20]), "card-too-long"),
        (b"%PDF-1.4 nothing", "card-unreadable"),
    ],
)
def test_pdfium_refuses_with_a_code(data: bytes, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be accepted is an answer, not a crash."""
    answer = answer_of("pdfium", LIMITS, data, monkeypatch)

    assert answer["code"] == code
    assert answer["advice"]


def test_lexbor_gives_text_and_headings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A heading begins where the answer says."""
    answer = answer_of("lexbor", {}, b"<p>Before</p><h2>A <i>title</i></h2><p>After", monkeypatch)

    assert answer["pages"] == ["Before\n\nA title\n\nAfter"]
    assert answer["headings"] == [[8, "A title"]]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>one<br>two</p>three", "one\ntwo\n\nthree"),
        ("<ul><li>one<li>two</ul>", "one\ntwo"),
        ("<table><tr><td><p>a</p><p>b</p><td>c<br>d</table>", "a b\tc d"),
        ("<pre>a\n   b</pre>", "a\n   b"),
        ("a<b>b</b> <i> c</i>", "ab c"),
        ("x<sup>2</sup> and 10<sup>2</sup>", "x2 and 10^2"),
        ("<p>shown<template>not</template><noscript>not</noscript><!-- not --></p>", "shown"),
        ("<div style='visibility:hidden'>not</div><div style='color:red'>shown</div>", "shown"),
        ("&lt;script&gt; is &amp; stays", "<script> is & stays"),
        ("", ""),
        ("<h1> </h1>text", "text"),
    ],
)
def test_hypertext_reads_as_a_browser_shows_it(source: str, text: str) -> None:
    """Blocks on lines, cells by tabs, white space folded, hidden things left out."""
    assert read_hypertext(source)[0] == text


def test_a_crash_in_an_extractor_is_an_error_about_the_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child killed by a signal, or ended by an exception, leaves the command alive, with the reason."""
    crash = tmp_path / "crash.sh"
    crash.write_text("#!/bin/sh\ncat > /dev/null\nkill -SEGV $$\n", encoding="utf-8")
    crash.chmod(0o755)

    with pytest.raises(InputError, match="KeyError") as unknown:
        ask_extractor("no such", {}, b"", where="card.pdf", seconds=30)
    monkeypatch.setattr(sys, "executable", str(crash))
    with pytest.raises(InputError, match="ended by signal 11") as crashed:
        ask_extractor("pdfium", LIMITS, b"%PDF-1.4", where="card.pdf", seconds=30)

    assert {unknown.value.code, crashed.value.code} == {"card-unreadable"}


def test_an_extractor_that_cannot_be_started_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    """That is not the card's fault."""
    monkeypatch.setattr(sys, "executable", "/no/such/program")

    with pytest.raises(UnavailableError) as caught:
        ask_extractor("pdfium", LIMITS, b"%PDF-1.4", where="card.pdf", seconds=30)

    assert caught.value.code == "extractor-missing"


def test_without_a_second_opinion_the_card_is_read_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When pdfminer does not finish, agreement is unknown, which is not zero."""
    monkeypatch.setattr("registry.intake.card_reader.SECOND_SECONDS", 0)
    path = tmp_path / "card.pdf"
    path.write_bytes(build_pdf(["some text"]))

    card = read_card(path)

    assert card.agreement is None
    assert card.second_extractor is None
    assert any("no second opinion" in warning for warning in card.warnings)


def test_agreement_counts_words_as_often_as_they_stand() -> None:
    """Two of three words in common on either side are two thirds; hyphenation at line ends is no disagreement."""
    assert measure_agreement(["a b c"], ["a b d"]) == pytest.approx(2 / 3)
    assert measure_agreement(["a a a b"], ["a b"]) == pytest.approx(4 / 6)
    assert measure_agreement(["evalua-\ntion"], ["evaluation"]) == 1.0
    assert measure_agreement([""], [""]) is None


def test_a_bookmark_is_placed_where_its_title_stands() -> None:
    """A title that fills a line wins over one inside a sentence; one that is not on its page stands at its top."""
    texts = ["See 2 Results below.\n2 Results\nbody", "other text"]

    headings = find_bookmarked_headings(texts, [("Results", 0), ("Missing", 1), (" ", 0), ("Beyond", 7)])

    assert [(heading.start, heading.title) for heading in headings] == [(21, "Results"), (36, "Missing")]


def test_a_missing_library_is_no_damaged_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The child looks for it where the parent does; the error names what pip calls it, and speaks of no damage."""
    (tmp_path / "python_calamine.py").write_text("raise ModuleNotFoundError(name='python_calamine')", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(UnavailableError, match="extractor-missing") as caught:
        ask_extractor("calamine", {}, b"PK", where="scores.xlsx", seconds=30, code="file-not-readable")

    (fault,) = caught.value.faults
    assert fault.found == "it was not read: the library python-calamine is not installed"
    assert str(fault.advice).startswith("pip install python-calamine")
