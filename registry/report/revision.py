"""The bytes that a signature appends to a PDF, every one of them prescribed.

Signing fills the empty field that `finish.add_signature_field` left: the appended revision (ISO 32000-2, 7.5.6) replaces the field and
the permissions and adds the signature dictionary (12.8.1) with its cross-reference stream. It is written here and not by pyHanko, whose
writer draws random identifiers, rewrites the metadata and deflates its cross-references, so that whoever has the unsigned file, the
moment and the signature writes the same bytes again, with any release of any library, and can compare them all.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO

LARGEST_REVISION_BYTES = 65_536
"""What is appended is smaller: a few hundred bytes, and twice the certificate."""

END = b"%%EOF\n"
"""How Caveat ends each revision."""
_RANGE_WIDTH = 50
_RANGES = re.compile(rb"/ByteRange\s*\[\s*0\s+(\d{1,10})\s+(\d{1,10})\s+(\d{1,10})\s*\]")
_MOMENT = re.compile(rb"/M \(D:(\d{14})Z\)")
_TRACES = (b"/ByteRange", b"/ETSI.CAdES.detached", b"/Adobe.PPKLite", b"/adbe.pkcs7.detached", b"/TransformMethod")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """An appended revision whose signature is still to be filled in."""

    data: bytes
    """The whole file: the unsigned bytes, then the revision, with zeros where the signature goes."""
    start: int
    """Where the `<` before the signature's hexadecimal digits stands."""
    end: int
    """After the `>` that follows them."""

    @property
    def digest(self) -> bytes:
        """SHA-256 of all but what stands from `start` to `end`: what is signed."""
        return hash_around(self.data, self.start, self.end)

    def fill(self, cms: bytes) -> bytes:
        """Return the file with the signature *cms* in its place; raises ValueError if it is too long for it."""
        digits, room = cms.hex().encode(), self.end - self.start - 2
        if len(digits) > room:
            raise ValueError(f"a signature of {len(cms)} bytes in a place for {room // 2}")
        return self.data[: self.start + 1] + digits.ljust(room, b"0") + self.data[self.end - 1 :]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Where a file says that it is signed; nothing of it is checked."""

    unsigned_end: int
    """Length of what stands before the revision."""
    start: int
    """As `Revision.start`."""
    end: int
    """As `Revision.end`."""
    covered_end: int
    """Length of the file that the signature speaks of."""
    count: int
    """Number of signatures."""
    contents: bytes
    """The signature with the zeros after it, empty if it is no hexadecimal text."""
    at: datetime | None
    """When it was signed, as the signer says; None if it is not said as Caveat says it."""


def write_revision(unsigned: bytes, *, at: datetime, room: int) -> Revision:
    """Return *unsigned* with a revision that certifies it and permits no change (DocMDP level 1), to be filled with a signature.

    Args:
        unsigned: a PDF of `registry.report`.
        at: when it is signed, to the second.
        room: how many bytes the signature may have.

    Raises:
        ValueError: it has no empty place for a signature.
    """
    if any(trace in unsigned for trace in _TRACES):
        raise ValueError("it is signed already")
    blank = read_blank(unsigned)
    signature, table = blank.size, blank.size + 1
    before, after = _write_signature(signature, at)
    permissions = b"%d 0 obj\n<< /DocMDP %d 0 R >>\nendobj\n" % (blank.permissions, signature)
    field = b"%d 0 obj\n%s/V %d 0 R >>\nendobj\n" % (blank.field, blank.field_text, signature)
    parts = {blank.permissions: permissions, blank.field: field, signature: before + b" " * _RANGE_WIDTH + after + b"<>" + b" >>\nendobj\n"}
    offsets, position = {}, len(unsigned)
    for number, part in parts.items():
        offsets[number] = position
        position += len(part) + (2 * room if number == signature else 0)
    start = offsets[signature] + len(before) + _RANGE_WIDTH + len(after)
    end = start + 2 * room + 2
    table_text = write_table(blank, {**offsets, table: position}, unsigned)
    size = position + len(table_text)
    ranges = (b"[0 %d %d %d]" % (start, end, size - end)).ljust(_RANGE_WIDTH)
    signed = before + ranges + after + b"<" + b"0" * (2 * room) + b"> >>\nendobj\n"
    return Revision(data=b"".join((unsigned, permissions, field, signed, table_text)), start=start, end=end)


def find_revision(data: bytes) -> Found | None:
    """Return where *data* says that it is signed: by its first signature. None if nothing in it looks like one.

    Raises:
        ValueError: there is a trace of a signature, and no byte range that says what is signed; the text says so.
    """
    found = list(_RANGES.finditer(data))
    if not found:
        if any(trace in data for trace in _TRACES):
            raise ValueError("there are traces of a signature, and nothing says what it covers: it is damaged or cut off")
        return None
    start, end, rest = (int(number) for number in found[0].groups())
    begin = data.rfind(END, 0, found[0].start()) + len(END)
    moment = _MOMENT.search(data, begin, min(len(data), begin + LARGEST_REVISION_BYTES))
    return Found(
        unsigned_end=begin if begin >= len(END) else 0,
        start=start,
        end=end,
        covered_end=end + rest,
        count=len(found),
        contents=_read_hexadecimal(data[start:end] if start <= end <= start + LARGEST_REVISION_BYTES else b""),
        at=_read_moment(moment[1]) if moment else None,
    )


def hash_around(data: bytes, start: int, end: int) -> bytes:
    """Return the SHA-256 of *data* without what stands from *start* to *end*."""
    return hashlib.sha256(data[:start] + data[end:]).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Blank:
    """What an unsigned file says that its revision repeats."""

    field: int
    field_text: bytes
    """The field's dictionary without the `>>` at its end."""
    permissions: int
    size: int
    """One more than the largest object number."""
    previous: int
    """Where its cross-references begin."""
    root: int
    info: int
    identifier: bytes


def read_blank(unsigned: bytes) -> Blank:
    """Return what the unsigned PDF says that a revision repeats; raises ValueError if it has no empty place for a signature."""
    import pikepdf  # noqa: PLC0415  (only signing and checking need it)
    from pikepdf import Name  # noqa: PLC0415

    tail = re.search(rb"startxref\n(\d{1,10})\n%%EOF\n\Z", unsigned[-40:])
    if tail is None:
        raise ValueError("the file does not end as Caveat ends a PDF")
    try:
        with pikepdf.Pdf.open(BytesIO(unsigned)) as pdf:
            (field,), trailer = pdf.Root.AcroForm.Fields, pdf.trailer
            permissions = pdf.Root.Perms
            if Name.V in field or len(permissions) or not field.is_indirect or not permissions.is_indirect:
                raise ValueError("its place for a signature is not empty")
            return Blank(
                field=field.objgen[0],
                field_text=field.unparse(resolved=True).removesuffix(b">>"),
                permissions=permissions.objgen[0],
                size=int(trailer.Size),
                previous=int(tail[1]),
                root=trailer.Root.objgen[0],
                info=trailer.Info.objgen[0],
                identifier=bytes(trailer.ID[0]),
            )
    except (pikepdf.PdfError, AttributeError, KeyError, TypeError, RuntimeError) as error:
        raise ValueError("it has no place for a signature: it was drawn by an earlier release of Caveat, or by something else") from error


def _write_signature(number: int, at: datetime) -> tuple[bytes, bytes]:
    """Return what stands before the byte range, and between it and the signature."""
    moment = at.astimezone(UTC).strftime("%Y%m%d%H%M%S").encode()
    transform = b"<< /Type /SigRef /TransformMethod /DocMDP /TransformParams << /Type /TransformParams /V /1.2 /P 1 >> >>"
    before = b"%d 0 obj\n<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /ETSI.CAdES.detached " % number
    return before + b"/M (D:%sZ) /Reference [ %s ] /ByteRange " % (moment, transform), b" /Contents "


def write_table(blank: Blank, offsets: dict[int, int], unsigned: bytes) -> bytes:
    """Return the cross-reference stream (ISO 32000-2, 7.5.8), not compressed: what zlib makes of it differs between its releases."""
    table = max(offsets)
    rows = b"".join(b"\x01" + offsets[number].to_bytes(4, "big") + b"\x00\x00" for number in sorted(offsets))
    index = " ".join(f"{number} 1" for number in sorted(offsets)).encode()
    second = hashlib.sha256(unsigned).digest()[: len(blank.identifier)]
    head = b"/Type /XRef /Size %d /Prev %d /Root %d 0 R /Info %d 0 R " % (table + 1, blank.previous, blank.root, blank.info)
    head += b"/ID [ <%s> <%s> ] " % (blank.identifier.hex().encode(), second.hex().encode())
    head += b"/W [ 1 4 2 ] /Index [ %s ] /Length %d" % (index, len(rows))
    return b"%d 0 obj\n<< %s >>\nstream\n%s\nendstream\nendobj\nstartxref\n%d\n%s" % (table, head, rows, offsets[table], END)


def _read_hexadecimal(text: bytes) -> bytes:
    try:
        return bytes.fromhex(text[1:-1].decode("ascii")) if text[:1] + text[-1:] == b"<>" else b""
    except ValueError:
        return b""


def _read_moment(digits: bytes) -> datetime | None:
    try:
        return datetime.strptime(digits.decode(), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
