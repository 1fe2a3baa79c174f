"""A card file in, its text out; and every file that cannot be read, refused with its reason."""

import os
import stat
import time
import zlib
from pathlib import Path

import pytest

from registry.errors import InputError
from registry.intake.card_reader import MAXIMUM_BYTES, read_card
from registry.records.system_card import CardText, MediaType
from tests.intake.pdf_files import build_pdf

CARDS = Path(__file__).parent.parent / "cards"


def read_bytes(folder: Path, name: str, data: bytes) -> CardText:
    path = folder / name
    path.write_bytes(data)
    return read_card(path)


def test_a_markdown_card_keeps_its_source() -> None:
    """The text of a Markdown card is the source itself, markup and raw HTML included, with the headings found."""
    card = read_card(CARDS / "kestrel.md")

    assert card.media_type is MediaType.MARKDOWN
    assert card.text == (CARDS / "kestrel.md").read_text(encoding="utf-8")
    titles = [heading.title for heading in card.headings]
    assert titles == ["Kestrel 2 System Card", "1 Introduction", "2 Evaluations", "2.1 Refusals", "2.2 Honesty"]
    assert len(card.pages) == 1
    assert card.warnings == ()


def test_an_html_card_gives_what_a_person_reads() -> None:
    """Scripts, styles and hidden elements are left out, table rows stand on one line, a power is not glued to its base."""
    card = read_card(CARDS / "kestrel.html")

    assert card.media_type is MediaType.HTML
    assert "Model\tRefused\nKestrel 1\t91.0 %\nKestrel 2\t97.5 %" in card.text
    assert "10^2" in card.text
    assert "requests1;" in card.text
    for excluded in ("never read", "hidden", "color", "<"):
        assert excluded not in card.text
    assert [card.text[heading.start :].startswith(heading.title) for heading in card.headings] == [True, True]


def test_a_pdf_card_has_pages_headings_and_a_second_opinion(tmp_path: Path) -> None:
    """Each page lies where the page map says, and both extractors agree on a plain PDF."""
    data = build_pdf(["1 Scope\nThe first page.", "2 Results\nThe second page."], bookmarks=[("1 Scope", 0), ("Results", 1)])

    card = read_bytes(tmp_path, "card.pdf", data)

    assert card.media_type is MediaType.PDF
    assert [card.text[page.start : page.stop].splitlines()[0] for page in card.pages] == ["1 Scope", "2 Results"]
    assert card.text[card.pages[0].stop] == "\f"
    assert card.agreement == 1.0
    assert card.second_extractor is not None
    assert [(heading.title, card.get_page_number(heading.start)) for heading in card.headings] == [("1 Scope", 1), ("Results", 2)]


def test_form_feeds_in_plain_text_are_page_breaks(tmp_path: Path) -> None:
    """Text that pdftotext wrote keeps its pages; the last form feed opens none."""
    card = read_bytes(tmp_path, "card.txt", b"one\n\x0ctwo\n\x0c")

    assert [card.text[page.start : page.stop] for page in card.pages] == ["one\n", "two\n"]


def test_page_marks_in_markdown_are_pages(tmp_path: Path) -> None:
    """Comments that name the pages of the PDF a Markdown card was made from are its page numbers."""
    card = read_bytes(tmp_path, "card.md", b"Cover text.\n\n<!-- p.2 -->\n\nSecond. <!-- p.4 -->Fourth.\n")

    assert [page.number for page in card.pages] == [1, 2, 4]
    assert card.get_page_number(card.text.index("Fourth")) == 4


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"<!doctype html><p>Hello world", MediaType.HTML), (b"# Title\n\nHello", MediaType.MARKDOWN), (b"Hello world\n", MediaType.PLAIN)],
)
def test_without_a_telling_name_the_content_decides(tmp_path: Path, data: bytes, expected: MediaType) -> None:
    """A file with another suffix is taken for what its beginning says."""
    assert read_bytes(tmp_path, "card.download", data).media_type is expected


@pytest.mark.parametrize(
    ("name", "data", "code", "words"),
    [
        ("card.md", build_pdf(["text"]), "card-type-mismatch", "rename the file to end in .pdf"),
        ("card.pdf", b"\x89PNG\r\n\x1a\n" + bytes(100), "card-type-mismatch", "found a PNG image"),
        ("card.zip", b"PK\x03\x04" + bytes(100), "card-not-supported", "a ZIP archive"),
        ("card.pdf", b"<!DOCTYPE html><title>404</title>", "card-type-mismatch", "perhaps an error page"),
        ("card.pdf", b"just text", "card-type-mismatch", "the content is text"),
        ("card.txt", b"", "card-empty", "0 bytes"),
        ("card.txt", b"  \n\n", "card-without-text", "no letter or digit"),
        ("card.html", b"<html><script>var x = 1</script>", "card-without-text", "1 × scripts"),
        ("card.txt", bytes(range(256)) * 40 + zlib.compress(bytes(5000)), "card-not-supported", "no known encoding"),
        ("card.pdf", build_pdf(["secret text"], password="open"), "card-encrypted", "asks for a password"),  # noqa: S106 - of a test file
        ("card.pdf", build_pdf(["text"])[:200], "card-unreadable", "cannot be opened"),
        ("card.pdf", b"%PDF-1.7\n" + b"\x00garbage" * 50, "card-unreadable", "cannot be opened"),
        ("card.pdf", build_pdf(["", ""]), "card-without-text", "OCR"),
    ],
)
def test_what_is_no_card_is_refused_with_its_reason(tmp_path: Path, name: str, data: bytes, code: str, words: str) -> None:
    """Every kind of wrong file gets its own code, what was found, and what to do."""
    with pytest.raises(InputError) as caught:
        read_bytes(tmp_path, name, data)

    assert caught.value.code == code
    assert words in str(caught.value)
    assert caught.value.faults[0].advice


def test_a_file_over_the_limit_is_refused_unread(tmp_path: Path) -> None:
    """A sparse file of 500 MB is refused at once, by its size."""
    path = tmp_path / "card.pdf"
    with path.open("wb") as stream:
        stream.truncate(5 * MAXIMUM_BYTES)
    begun = time.monotonic()

    with pytest.raises(InputError) as caught:
        read_card(path)

    assert caught.value.code == "file-too-large"
    assert time.monotonic() - begun < 0.5


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """Nothing there, a directory and a pipe are refused without waiting for them."""
    pipe = tmp_path / "pipe.md"
    os.mkfifo(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)

    codes = []
    for path in (tmp_path / "nothing.md", tmp_path, pipe, tmp_path / "pipe.md" / "inside.md"):
        with pytest.raises(InputError) as caught:
            read_card(path)
        codes.append(caught.value.code)

    assert codes == ["card-not-found", "file-not-readable", "file-not-readable", "card-not-found"]


def test_pages_without_text_are_named(tmp_path: Path) -> None:
    """A PDF with scanned pages among others is read, and the warning names those pages."""
    card = read_bytes(tmp_path, "card.pdf", build_pdf(["one", "", "", "four", ""]))

    assert any("pages 2–3, 5 of 5" in warning for warning in card.warnings)


@pytest.mark.parametrize(
    ("encoding", "named"), [("latin-1", "CP1252"), ("utf-16", "UTF-16-LE"), ("utf-16-le", "UTF-16-LE"), ("utf-16-be", "UTF-16-BE")]
)
def test_another_encoding_is_read_and_named(tmp_path: Path, encoding: str, named: str) -> None:
    """Text that is not UTF-8 is decoded, and the warning says as what."""
    text = "Das Modell lehnte höchstens 5 % der Anfragen ab; die Prüfung währte über längere Zeiträume. Ähnlich für Übersetzungen.\n" * 5

    card = read_bytes(tmp_path, "card.txt", text.encode(encoding))

    assert card.text == text
    assert any(named in warning for warning in card.warnings)


@pytest.mark.parametrize("text", ["Café", "At the Café the model refused 5 % of requests.", "The model’s naïve façade — “as is”"])
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_a_short_western_text_is_read_as_cp1252(tmp_path: Path, text: str, encoding: str) -> None:
    """A few accents are too little to guess a rarer encoding by; the warning stays."""
    if encoding == "latin-1":
        text = text.translate({ord("’"): "'", ord("—"): "-", ord("“"): '"', ord("”"): '"'})

    card = read_bytes(tmp_path, "card.txt", text.encode(encoding))

    assert card.text == text
    assert any("read as CP1252" in warning for warning in card.warnings)


def test_a_text_in_another_script_is_not_taken_for_western(tmp_path: Path) -> None:
    """Cyrillic letters in a card that is mostly English are read as what they are."""
    text = f"{'The model refused five percent of the harmful requests. ' * 4}Модель отказалась от вредных запросов\n"

    card = read_bytes(tmp_path, "card.txt", text.encode("cp1251"))

    assert card.text == text


def test_a_byte_order_mark_of_utf_8_is_no_text(tmp_path: Path) -> None:
    """The mark is dropped without a warning."""
    card = read_bytes(tmp_path, "card.txt", b"\xef\xbb\xbfplain text")

    assert (card.text, card.warnings) == ("plain text", ())


def test_the_encoding_an_html_page_declares_is_used(tmp_path: Path) -> None:
    """A page that declares Windows-1251 is read as that."""
    data = '<html><meta charset="windows-1251"><p>Модель отказала'.encode("cp1251")

    card = read_bytes(tmp_path, "card.html", data)

    assert card.text == "Модель отказала"


def test_hidden_characters_are_kept_and_named(tmp_path: Path) -> None:
    """NUL bytes, terminal escapes and right-to-left overrides stay in the text, and a warning tells of each kind."""
    text = "A model\x00 with \x1b[31mcolour\x1b[0m and \u202eevil\u202c text."

    card = read_bytes(tmp_path, "card.md", text.encode())

    assert card.text == text
    assert any("U+0000, U+001B" in warning for warning in card.warnings)
    assert any("U+202C, U+202E" in warning for warning in card.warnings)


def test_an_extractor_that_hangs_ends_with_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An HTML page nested 100,000 deep, which the parser needs minutes for, is given up in time."""
    monkeypatch.setattr("registry.intake.card_reader.HYPERTEXT_SECONDS", 1)
    begun = time.monotonic()

    with pytest.raises(InputError) as caught:
        read_bytes(tmp_path, "card.html", b"<div>" * 100_000 + b"deep text")

    assert caught.value.code == "card-unreadable"
    assert time.monotonic() - begun < 10


def test_a_pdf_of_ten_thousand_pages_is_read_in_bounds(tmp_path: Path) -> None:
    """All pages are read, the second opinion is asked on a sample, and the warning says so."""
    card = read_bytes(tmp_path, "card.pdf", build_pdf([f"Page text number {number}" for number in range(10_000)]))

    assert len(card.pages) == 10_000
    assert card.text.endswith("number 9999")
    assert card.agreement == 1.0
    assert any("60 of 10,000 pages" in warning for warning in card.warnings)


def test_a_pdf_with_too_much_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit on characters holds while the pages are read."""
    monkeypatch.setattr("registry.intake.card_reader.MAXIMUM_CHARACTERS", 1_000)

    with pytest.raises(InputError) as caught:
        read_bytes(tmp_path, "card.pdf", build_pdf(["a long line of text\n" * 30] * 5))

    assert caught.value.code == "card-too-long"
    assert "by page 2 of 5" in str(caught.value)


def test_what_an_html_page_has_beside_its_text_is_named(tmp_path: Path) -> None:
    """Scripts, formulas and hidden elements are left out and counted; a page without them has no warning."""
    page = b"<!doctype html><body><p>It refused 5 %%.</p>%s</body>"
    extra = b"<script>document.write('97 %')</script><math><mi>x</mi></math><p hidden>not shown</p>"

    plain = read_bytes(tmp_path, "plain.html", page % b"")
    rich = read_bytes(tmp_path, "rich.html", page % extra)

    assert plain.warnings == ()
    assert rich.warnings == (
        "Excluded from the page, because it does not show or is no text: 1 × scripts, 1 × formulas, 1 × hidden elements.",
    )
    assert plain.text == rich.text


def test_text_that_was_encoded_twice_is_told(tmp_path: Path) -> None:
    """Quotations copied from the right file would not be found in it."""
    path = tmp_path / "card.md"
    path.write_bytes("Plover 8B’s refusals".encode().decode("cp1252").encode())

    card = read_card(path)

    assert any("wrong encoding" in one and "character 9" in one for one in card.warnings)


def test_a_heading_of_a_saved_page_has_no_link_to_itself(tmp_path: Path) -> None:
    """Sites put an empty link before each heading."""
    path = tmp_path / "card.md"
    path.write_text("# Heron 2\n\n### [](https://example.org/heron#limits)**Limits**\n\nHeron 2 may err.\n", encoding="utf-8")

    assert [heading.title for heading in read_card(path).headings] == ["Heron 2", "Limits"]
