"""PDFs as an attacker would make them: changed and saved, appended to, or written by hand to hurt who opens them."""

import warnings
import zlib
from collections.abc import Callable
from io import BytesIO

from pikepdf import ObjectStreamMode, Pdf
from pyhanko.pdf_utils.generic import DictionaryObject, StreamObject, TextStringObject
from pyhanko.pdf_utils.generic import pdf_name as name
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter

Edit = Callable[[Pdf], object]


def rewrite(data: bytes, edit: Edit = lambda _: None) -> bytes:
    """Return *data* opened, edited and saved anew by qpdf."""
    output = BytesIO()
    with warnings.catch_warnings(), Pdf.open(BytesIO(data)) as pdf:
        warnings.simplefilter("ignore")
        edit(pdf)
        pdf.save(output, object_stream_mode=ObjectStreamMode.generate)
    return output.getvalue()


def append(data: bytes, edit: Callable[[IncrementalPdfFileWriter], object]) -> bytes:
    """Return *data* with a revision that pyHanko appends."""
    writer, output = IncrementalPdfFileWriter(BytesIO(data)), BytesIO()
    edit(writer)
    writer.write(output)
    return output.getvalue()


def swap_page(writer: IncrementalPdfFileWriter) -> None:
    """Show another content on the first page, as a shadow attack does: what was there stays in the file."""
    page = writer.root["/Pages"]["/Kids"][0]
    page[name("/Contents")] = writer.add_object(StreamObject(stream_data=b"BT ET"))
    writer.update_container(page)


def add_script(writer: IncrementalPdfFileWriter) -> None:
    """Let JavaScript run when the file is opened."""
    writer.root[name("/OpenAction")] = DictionaryObject({name("/S"): name("/JavaScript"), name("/JS"): TextStringObject("app.alert(1)")})
    writer.update_root()


def add_nothing(writer: IncrementalPdfFileWriter) -> None:
    """Write the catalog again, as it is."""
    writer.update_root()


PAGES = {2: b"<< /Type /Pages /Kids [9 0 R] /Count 1 >>", 9: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources << >> >>"}


def write_by_hand(objects: dict[int, bytes], *, extra: str = "") -> bytes:
    """Return a PDF of one empty page and *objects*, the first of which is the catalog, with a classic table."""
    objects = PAGES | objects
    parts, offsets, position = [b"%PDF-1.7\n"], {}, 9
    for number, body in objects.items():
        offsets[number] = position
        parts.append(b"%d 0 obj\n%s\nendobj\n" % (number, body))
        position += len(parts[-1])
    rows = b"".join(b"%d 1\n%010d 00000 n \n" % (number, offset) for number, offset in offsets.items())
    tail = f"trailer\n<< /Size {max(objects) + 1} /Root 1 0 R {extra}>>\nstartxref\n{position}\n%%EOF\n"
    return b"".join([*parts, b"xref\n0 1\n0000000000 65535 f \n", rows, tail.encode()])


def write_in_stream(text: bytes) -> bytes:
    """Return a PDF whose catalog stands in a compressed object stream, after *text*, which is as long as you like."""
    inner = b"1 0 2 26 " + b"<< /Pages 2 0 R /Lang(x) >>" + b"<< /Kids [] /Count 0 >>" + text
    packed = zlib.compress(inner, 9)
    head = b"%PDF-1.7\n"
    stream = b"3 0 obj\n<< /Type /ObjStm /N 2 /First 9 /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream\nendobj\n"
    stream %= (len(packed), packed)
    rows = [b"\x02\x00\x00\x00\x03\x00\x00", b"\x02\x00\x00\x00\x03\x00\x01", b"\x01" + (9).to_bytes(4, "big") + b"\x00\x00"]
    start = len(head) + len(stream)
    rows.append(b"\x01" + start.to_bytes(4, "big") + b"\x00\x00")
    table = b"4 0 obj\n<< /Type /XRef /Size 5 /Root 1 0 R /W [ 1 4 2 ] /Index [ 1 4 ] /Length 28 >>\nstream\n%s\nendstream\nendobj\n"
    return head + stream + table % b"".join(rows) + b"startxref\n%d\n%%%%EOF\n" % start


def compress_zeros(megabytes: int) -> bytes:
    """Return what inflates to that many million zeros."""
    packer = zlib.compressobj(9)
    return b"".join(packer.compress(bytes(1_000_000)) for _ in range(megabytes)) + packer.flush()
