"""PDF files that a few kilobytes make into gigabytes of text: named before an extractor opens them; ordinary files pass."""

import zlib
from pathlib import Path

import pytest

from registry.errors import InputError
from registry.intake import card_reader as bombs
from registry.intake.card_reader import find_text_bomb, read_card

TEXT = b"BT /F1 8 Tf 10 700 Td " + b"(The model refuses nearly all harmful requests.) Tj 0 -1 Td " * 20_000 + b"ET"


def write_pdf(stream: bytes, dictionary: bytes = b"/Filter/FlateDecode") -> bytes:
    """Return a PDF of one page with the content *stream*."""
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d%s>>\nstream\n%s\nendstream" % (len(stream), dictionary, stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    out, places = b"%PDF-1.5\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"xref\n0 6\n0000000000 65535 f \n%strailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (table, len(out))


@pytest.mark.parametrize("layers", [1, 2])
def test_a_stream_with_more_text_than_any_page_is_refused_unopened(tmp_path: Path, layers: int) -> None:
    """However often it is compressed; the card is refused by name."""
    stream = TEXT
    for _ in range(layers):
        stream = zlib.compress(stream, 9)
    path = tmp_path / "bomb.pdf"
    path.write_bytes(write_pdf(stream, b"/Filter[" + b"/FlateDecode" * layers + b"]"))

    with pytest.raises(InputError, match="bytes of text, which no page has") as refused:
        read_card(path)

    assert refused.value.code == "card-too-long"
    assert path.stat().st_size < 20_000


def test_what_inflates_without_end_is_refused_by_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawings may be large, up to a limit; streams together too. Images, which hold no text, are passed over."""
    monkeypatch.setattr(bombs, "LARGEST_STREAM_BYTES", 3_000_000)
    large = zlib.compress(b"1 0 0 rg " * 500_000, 9)
    small = write_pdf(zlib.compress(b"1 0 0 rg " * 200_000, 9))

    assert "that is no image inflates to more than 3,000,000 bytes" in str(find_text_bomb(write_pdf(large)))
    assert find_text_bomb(write_pdf(large, b"/Subtype/Image/Filter/FlateDecode")) is None
    assert find_text_bomb(small) is None
    monkeypatch.setattr(bombs, "LARGEST_TOTAL_BYTES", 3_000_000)
    assert "its streams that are no images inflate to more than" in str(find_text_bomb(small + small))


@pytest.mark.parametrize("data", [b"%PDF-1.5\nstream\n" * 1000, write_pdf(b"no zlib"), b"", b"%PDF-1.5\n/FlateDecode stream\n"])
def test_damaged_files_are_left_to_the_extractor(data: bytes) -> None:
    """What cannot be inflated is not judged here."""
    assert find_text_bomb(data) is None


def test_an_ordinary_page_passes(tmp_path: Path) -> None:
    """A dense page has some ten thousand characters."""
    path = tmp_path / "card.pdf"
    path.write_bytes(write_pdf(zlib.compress(TEXT[:2_000] + b") Tj ET", 9)))

    assert "refuses nearly all" in read_card(path).text
