"""The strict reader of PDFs: it reads what qpdf reads, and whatever qpdf would repair it refuses."""

import random
import warnings
import zlib
from io import BytesIO

import pikepdf
import pytest
from pikepdf import ObjectStreamMode, Pdf

from registry.errors import InputError
from registry.report.pdf_reading import PdfDamageError, PdfDocument, PdfName, PdfReference, PdfStream, decode_text, list_values, parse_value
from registry.report.supplement_reading import list_threats, read_supplement
from tests.report.forging import write_by_hand

CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"


def save_plain(data: bytes) -> bytes:
    """Return *data* with all objects readable and a classic table, as qpdf saves it."""
    output = BytesIO()
    with Pdf.open(BytesIO(data)) as pdf:
        pdf.save(output, object_stream_mode=ObjectStreamMode.disable, compress_streams=False)
    return output.getvalue()


def list_names_by_qpdf(value: pikepdf.Object) -> set[str]:
    """Return every name in *value*, as qpdf reads it."""
    names: set[str] = set()
    waiting: list[object] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, pikepdf.Name):
            names.add(str(item)[1:])
        elif isinstance(item, pikepdf.Object) and item.objgen != (0, 0) and item is not value:
            continue
        elif isinstance(item, pikepdf.Stream | pikepdf.Dictionary):
            names |= {key[1:] for key in item.keys()}  # noqa: SIM118  (an object of pikepdf is no dictionary)
            waiting += [entry for _, entry in item.items()]
        elif isinstance(item, pikepdf.Array):
            waiting += list(item)
    return names


@pytest.mark.parametrize("is_plain", [False, True])
@pytest.mark.parametrize("fixture", ["hostile_pdf", "signed_pdf"])
def test_every_object_has_the_names_that_qpdf_reads(fixture: str, is_plain: bool, request: pytest.FixtureRequest) -> None:  # noqa: FBT001
    """With object streams and a compressed table, and without them."""
    data: bytes = request.getfixturevalue(fixture)
    data = save_plain(data) if is_plain else data
    document = PdfDocument(data)
    with Pdf.open(BytesIO(data)) as pdf:
        expected = {value.objgen[0]: list_names_by_qpdf(value) for value in pdf.objects}

    read = {
        number: {str(item) for item in list_values(document.read_object(number)) if isinstance(item, PdfName)}
        for number in document.list_objects()
    }

    assert {number: names for number, names in read.items() if names != expected.get(number, set())} == {}
    assert {number for number, names in expected.items() if names} <= read.keys()


def is_refused_by_qpdf(data: bytes) -> bool:
    """Whether qpdf fails on *data*, or has to repair something."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Pdf.open(BytesIO(data)) as pdf:
                for value in pdf.objects:
                    value.unparse()
                return bool(pdf.get_warnings())
        except Exception:  # noqa: BLE001  (pikepdf raises errors of many kinds)
            return True


@pytest.mark.parametrize("is_plain", [False, True])
def test_what_qpdf_would_repair_is_refused(unaudited_pdf: bytes, is_plain: bool) -> None:  # noqa: FBT001
    """Bits flipped, bytes cut and added, numbers changed at random; the seed is fixed."""
    data, rng = save_plain(unaudited_pdf) if is_plain else unaudited_pdf, random.Random(20261126)
    missed = []
    for _ in range(60):
        place = rng.randrange(len(data) - 2_000, len(data)) if rng.random() < 0.5 else rng.randrange(len(data))
        added = rng.choice([bytes([data[place] ^ 1 << rng.randrange(8)]), b"", b"/", b"(", b">", b"#", b"7", b"\n1 0 R "])
        changed = data[:place] + added + data[place + 1 :]
        if is_refused_by_qpdf(changed) and not list_threats(changed):
            missed.append((place, added))

    assert missed == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"[1 -2.5 +.5 true false null]", [1, -2.5, 0.5, True, False, None]),
        (b"<< /A#20b /C /D [ 12 0 R ] >>", {"A b": "C", "D": [PdfReference(12, 0)]}),
        (rb"(a\(b\) (c) \101\n\q\\)", b"a(b) (c) A\nq\\"),
        (b"<48 656C6 C6f7>", b"Hellop"),
        (b"[/A/B(c)<64>]", ["A", "B", b"c", b"d"]),
        (b" % comment\n/X", "X"),
    ],
)  # fmt: skip
def test_a_value_is_read_as_the_standard_says(text: bytes, value: object) -> None:
    """ISO 32000-2, 7.3."""
    assert parse_value(text, 0) == (value, len(text))


def test_texts_are_decoded_by_their_mark() -> None:
    """UTF-16, UTF-8, and Latin where there is no mark."""
    assert [decode_text(value) for value in (b"\xfe\xff\x00a", b"\xef\xbb\xbf\xc3\xa4", b"\xe4")] == ["a", "ä", "ä"]


@pytest.mark.parametrize(
    "text",
    [
        b"<< /A 1 /A 2 >>", b"<< /A >>", b"<< 1 2 >>", b"[ 1 >>", b">>", b"(a", b"/A#g1", b"trueish", b"[1 0 Rx]", b"<zz>", b"[1 2", b"",
        b"%" * 100_000, b"(" * 100_000,
    ],
)  # fmt: skip
def test_a_value_with_two_readings_is_refused(text: bytes) -> None:
    """A key twice, an open bracket, an unknown word: readers guess differently."""
    with pytest.raises(PdfDamageError):
        parse_value(text, 0)


def build_stream(entries: bytes, content: bytes) -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), entries, content)


DAMAGED = {
    "a stream that is longer than it says": write_by_hand({1: CATALOG, 3: b"<< /Length 2 >>\nstream\nabc\nendstream"}),
    "a length that is the stream itself": write_by_hand({1: CATALOG, 3: b"<< /Length 3 0 R >>\nstream\nabc\nendstream"}),
    "a reference to nothing": write_by_hand({1: b"<< /Type /Catalog /Pages 2 0 R /X 77 0 R >>"}),
    "an object that is a reference": write_by_hand({1: b"<< /Type /Catalog /Pages 3 0 R >>", 3: b"2 0 R"}),
    "a table in a circle": write_by_hand({1: CATALOG}, extra="/Prev 0 "),
    "two tables": write_by_hand({1: CATALOG}, extra="/XRefStm 9 "),
    "a page twice": write_by_hand({1: CATALOG, 2: b"<< /Type /Pages /Kids [9 0 R 9 0 R] /Count 2 >>"}),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_document_with_two_readings_is_refused(name: str) -> None:
    """By a fault about the document, in addition to the missing attachment."""
    assert {fault.code for fault in list_threats(DAMAGED[name])} & {"pdf-damaged", "file-not-readable", "pdf-altered"}


@pytest.mark.parametrize(
    ("entries", "content"),
    [
        (b"/Filter /FlateDecode", zlib.compress(b"x")[:-1]),
        (b"/Filter /FlateDecode", zlib.compress(b"x") + b"more"),
        (b"/Filter /FlateDecode", b"not compressed"),
        (b"/Filter /LZWDecode", b"x"),
        (b"/Filter [ /FlateDecode /FlateDecode ]", zlib.compress(zlib.compress(b"x"))),
        (b"/Filter /FlateDecode /DecodeParms << /Predictor 12 >>", zlib.compress(b"x")),
    ],
)
def test_an_attachment_is_read_in_one_way_only(entries: bytes, content: bytes) -> None:
    """A stream that readers inflate differently is not read."""
    catalog = b"<< /Type /Catalog /Pages 2 0 R /AF [3 0 R] /Names << /EmbeddedFiles << /Names [(supplement.json) 3 0 R] >> >> >>"
    file = b"<< /Type /Filespec /F (supplement.json) /UF (supplement.json) /EF << /F 4 0 R >> >>"
    data = write_by_hand({1: catalog, 3: file, 4: build_stream(entries, content)})

    stream = PdfDocument(data).read_object(4)
    assert isinstance(stream, PdfStream)
    assert stream.data == content
    with pytest.raises(InputError) as caught:
        read_supplement(data, where="forged.pdf")
    assert caught.value.code in {"pdf-damaged", "file-not-readable"}
