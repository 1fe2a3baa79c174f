"""A published file: the rendered bytes, the proof inside it, the PDF signature around both, and links to its neighbours."""

import hashlib
import re
import warnings
from base64 import b64decode
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from registry.errors import Fault, InputError
from registry.records.log_seal import KeyAlgorithm
from registry.records.statement import OutputFormat
from registry.report.pdf_reading import PdfDocument, decode_text, get_number

if TYPE_CHECKING:
    from asn1crypto import cms as asn1

    from registry.seal.signing_keys import SigningKey

# The bytes that a signature appends to a PDF, every one of them prescribed.
#
# Signing fills the empty field of `pdf_rendering.add_signature_field`. The appended revision (ISO
# 32000-2, 7.5.6) replaces the field and the permissions, and adds the signature dictionary (12.8.1)
# with its cross-reference stream.
#
# It is written here and not by pyHanko (decision of 2026-11-22), whose writer draws random
# identifiers, rewrites the metadata and compresses its cross-references. Here anyone with the
# unsigned file, the moment and the signature writes the same bytes again and can compare them all.
# The cost: a valid signature by another program is refused, and there are no countersignatures.

LARGEST_REVISION_BYTES = 65_536
"""What is appended is smaller: a few hundred bytes, and twice the certificate."""

END = b"%%EOF\n"
"""How Caveat ends each revision."""
# The ranges are known last, so their place has a fixed width.
_RANGE_WIDTH = 50
_RANGES = re.compile(rb"/ByteRange\s*\[\s*0\s+(\d{1,10})\s+(\d{1,10})\s+(\d{1,10})\s*\]")
_MOMENT = re.compile(rb"/M \(D:(\d{14})Z\)")
# Traces of any signature, also of kinds that Caveat does not make.
_TRACES = (b"/ByteRange", b"/ETSI.CAdES.detached", b"/Adobe.PPKLite", b"/adbe.pkcs7.detached", b"/TransformMethod")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureRevision:
    """An appended revision whose signature is still to be filled in."""

    data: bytes
    """The whole file: the unsigned bytes, then the revision, with zeros where the signature goes."""
    start: int
    """Where the `<` before the signature's hexadecimal digits stands."""
    end: int
    """After the `>` that follows them."""

    @property
    def digest(self) -> bytes:
        """SHA-256 of all but what is from `start` to `end`: what is signed."""
        return hash_around(self.data, self.start, self.end)

    def fill(self, cms: bytes) -> bytes:
        """Return the file with the signature *cms* in its place; raises ValueError if it is too long for it."""
        digits, room = cms.hex().encode(), self.end - self.start - 2
        if len(digits) > room:
            raise ValueError(f"a signature of {len(cms)} bytes in a place for {room // 2}")
        # The rest of the place stays zero.
        return self.data[: self.start + 1] + digits.ljust(room, b"0") + self.data[self.end - 1 :]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignaturePlace:
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


def write_revision(unsigned: bytes, *, at: datetime, room: int) -> SignatureRevision:
    """Return *unsigned* with a revision that certifies it and permits no change (DocMDP level 1), to be filled with a signature.

    Args:
        unsigned: a PDF of `registry.report`.
        at: when it is signed, to the second.
        room: how many bytes the signature may have.

    Raises:
        ValueError: it has no empty place for a signature.
    """
    # A second signature would change what the first covers.
    if any(trace in unsigned for trace in _TRACES):
        raise ValueError("it is signed already")
    blank = read_blank(unsigned)
    signature, table = blank.size, blank.size + 1
    before, after = _write_signature(signature, at)
    permissions = b"%d 0 obj\n<< /DocMDP %d 0 R >>\nendobj\n" % (blank.permissions, signature)
    field = b"%d 0 obj\n%s/V %d 0 R >>\nendobj\n" % (blank.field, blank.field_text, signature)
    # The lengths must be known before the offsets: the signature's place is counted as two digits a
    # byte.
    parts = {blank.permissions: permissions, blank.field: field, signature: before + b" " * _RANGE_WIDTH + after + b"<>" + b" >>\nendobj\n"}
    offsets, position = {}, len(unsigned)
    for number, part in parts.items():
        offsets[number] = position
        position += len(part) + (2 * room if number == signature else 0)
    start = offsets[signature] + len(before) + _RANGE_WIDTH + len(after)
    end = start + 2 * room + 2
    table_text = write_table(blank, {**offsets, table: position}, unsigned)
    # The byte range covers all but the signature itself, which cannot sign its own value.
    size = position + len(table_text)
    ranges = (b"[0 %d %d %d]" % (start, end, size - end)).ljust(_RANGE_WIDTH)
    signed = before + ranges + after + b"<" + b"0" * (2 * room) + b"> >>\nendobj\n"
    return SignatureRevision(data=b"".join((unsigned, permissions, field, signed, table_text)), start=start, end=end)


def find_revision(data: bytes) -> SignaturePlace | None:
    """Return where *data* says that it is signed: by its first signature. None if nothing in it looks like one.

    Raises:
        ValueError: there is a trace of a signature, and no byte range that says what is signed; the text says so.
    """
    matches = list(_RANGES.finditer(data))
    if not matches:
        # A trace without a range cannot be checked, and must not pass as an unsigned file.
        if any(trace in data for trace in _TRACES):
            raise ValueError("there are traces of a signature, and nothing says what it covers: it is damaged or cut off")
        return None
    start, end, rest = (int(number) for number in matches[0].groups())
    # The revision begins after the end of the file before it.
    begin = data.rfind(END, 0, matches[0].start()) + len(END)
    moment = _MOMENT.search(data, begin, min(len(data), begin + LARGEST_REVISION_BYTES))
    return SignaturePlace(
        unsigned_end=begin if begin >= len(END) else 0,
        start=start,
        end=end,
        covered_end=end + rest,
        count=len(matches),
        # Bounded: a forged range must not make the reader decode gigabytes.
        contents=_read_hexadecimal(data[start:end] if start <= end <= start + LARGEST_REVISION_BYTES else b""),
        at=_read_moment(moment[1]) if moment else None,
    )


def hash_around(data: bytes, start: int, end: int) -> bytes:
    """Return the SHA-256 of *data* without what is from *start* to *end*."""
    return hashlib.sha256(data[:start] + data[end:]).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsignedPdf:
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


def read_blank(unsigned: bytes) -> UnsignedPdf:
    """Return what the unsigned PDF says that a revision repeats; raises ValueError if it has no empty place for a signature."""
    # Only the exact end that Caveat writes: the appended table continues it.
    tail = re.search(rb"startxref\n(\d{1,10})\n%%EOF\n\Z", unsigned[-40:])
    if tail is None:
        raise ValueError("the file does not end as Caveat ends a PDF")
    try:
        pdf = PdfDocument(unsigned)
        (field,), (identifier, _) = pdf.follow_list(pdf.root, "AcroForm", "Fields"), pdf.follow_list(pdf.trailer, "ID")
        # A filled field or permissions would already change what the document allows.
        is_empty = pdf.follow(field, "V") is None and pdf.follow(pdf.root, "Perms") == {}
        blank = UnsignedPdf(
            field=get_number(field),
            field_text=pdf.read_text(get_number(field)).removesuffix(b">>"),
            permissions=get_number(pdf.root.get("Perms")),
            size=pdf.size,
            previous=int(tail[1]),
            root=get_number(pdf.trailer.get("Root")),
            info=get_number(pdf.trailer.get("Info")),
            identifier=identifier if isinstance(identifier, bytes) else b"",
        )
    except ValueError as error:
        raise ValueError("it has no place for a signature: it was made by an earlier release of Caveat, or by another program") from error
    if not is_empty:
        raise ValueError("its place for a signature is not empty")
    return blank


def _write_signature(number: int, at: datetime) -> tuple[bytes, bytes]:
    """Return what stands before the byte range, and between it and the signature."""
    moment = at.astimezone(UTC).strftime("%Y%m%d%H%M%S").encode()
    transform = b"<< /Type /SigRef /TransformMethod /DocMDP /TransformParams << /Type /TransformParams /V /1.2 /P 1 >> >>"
    before = b"%d 0 obj\n<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /ETSI.CAdES.detached " % number
    return before + b"/M (D:%sZ) /Reference [ %s ] /ByteRange " % (moment, transform), b" /Contents "


def write_table(blank: UnsignedPdf, offsets: dict[int, int], unsigned: bytes) -> bytes:
    """Return the cross-reference stream (ISO 32000-2, 7.5.8), not compressed: what zlib makes of it differs between its releases."""
    # One row an object: type, offset in four bytes, generation. No supplement reaches four
    # gigabytes.
    table = max(offsets)
    rows = b"".join(b"\x01" + offsets[number].to_bytes(4, "big") + b"\x00\x00" for number in sorted(offsets))
    index = " ".join(f"{number} 1" for number in sorted(offsets)).encode()
    # The second identifier changes with each revision (ISO 32000-2, 14.4). Random bytes could not
    # be made again.
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


# A published file: the rendered file, the proof inside it, and in a PDF the signature around both.
#
# The log records digest and length of the rendered file, so proof and signature can only come after
# it. All added bytes are prescribed: whoever has the rendered file, the proof and the signature's
# value writes the published file again and compares it whole. So nothing can be appended that shows
# another page.
#
# A PDF gets the proof as an attached file (ISO 32000-2, 7.11.4 and 14.13; ISO 19005-3, 6.8),
# uncompressed, in a revision that replaces two objects: the list of attached files and the tree of
# their names, which `pdf_rendering.mend_attachments` prepared. HTML gets it as one script element
# that no browser runs, directly before `</body>`. A JSON file keeps its proof beside it.

PROOF_NAME = "supplement.tlog-proof"
"""What the attached proof is called."""
LARGEST_PROOF_BYTES = 16_777_216

_TYPE = b"/application#2Fvnd.c2sp.tlog-proof"
_HEAD = re.compile(rb"(\d{1,10}) 0 obj\n<< /Type /EmbeddedFile /Subtype " + re.escape(_TYPE) + rb" /Length (\d{1,9}) ")
_STREAM = b" >>\nstream\n"
_OPENING, _CLOSING, _BODY = b'<script type="application/caveat-proof">', b"</script>", b"</body>"
_FORBIDDEN = (b"%%EOF", b"endstream", b"<", b"/ByteRange", b"/ETSI.CAdES.detached", b"/TransformMethod")
"""What would end the place where a proof lies, or look like a signature. A proof is base64 with the name of a log, so none has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLayers:
    """What a file is made of."""

    rendered: bytes
    """Revision 1: what was rendered from the record. The whole file where it holds no proof as Caveat writes it."""
    proof: bytes | None
    """The proof inside it; None where there is none."""


def enclose_proof(content: bytes, format_: OutputFormat, proof: bytes) -> bytes:
    """Return the file *content* with *proof* inside it; JSON as it is, since its proof lies next to it.

    Raises:
        InputError: `not-sealable`: the file has no place for a proof, or the proof cannot lie in one.
    """
    # JSON has no place for foreign bytes: every byte belongs to the record.
    if format_ is OutputFormat.JSON:
        return content
    try:
        return _enclose_in_pdf(content, proof) if format_ is OutputFormat.PDF else _enclose_in_html(content, proof)
    except ValueError as error:
        advice = "render it again with caveat report, and publish that"
        raise InputError(Fault("not-sealable", format_.value.upper(), str(error), advice=advice)) from error


def split_file(data: bytes, format_: OutputFormat, *, unsigned: bytes | None = None) -> FileLayers:
    """Return what the file *data* is made of. Only bytes that `enclose_proof` writes again are taken off.

    Args:
        unsigned: a PDF without its signature, where that is known; None looks for where the signature begins.
    """
    match format_:
        case OutputFormat.JSON:
            return FileLayers(rendered=data, proof=None)
        case OutputFormat.HTML:
            return _split_html(data)
        case OutputFormat.PDF:
            return _split_pdf(_find_unsigned(data) if unsigned is None else unsigned)


def is_finished(data: bytes, format_: OutputFormat) -> bool:
    """Whether something was added to the rendered file: a proof or a signature."""
    layers = split_file(data, format_)
    return layers.proof is not None or len(layers.rendered) != len(data)


def _find_unsigned(data: bytes) -> bytes:
    try:
        revision = find_revision(data)
    except ValueError:
        # A damaged signature is reported by the check of signatures; here the file counts as
        # unsigned.
        return data
    return data[: revision.unsigned_end] if revision and revision.unsigned_end else data


def _enclose_in_html(content: bytes, proof: bytes) -> bytes:
    _refuse_odd(proof)
    # From the end, since quoted text could contain the same tag.
    place = content.rfind(_BODY)
    if place < 0 or _split_html(content).proof is not None:
        raise ValueError("it has no place for a proof, or has one already")
    return content[:place] + _OPENING + proof + _CLOSING + content[place:]


def _split_html(data: bytes) -> FileLayers:
    end = data.rfind(_BODY)
    start = data.rfind(_OPENING, 0, max(end, 0))
    inside = data[start + len(_OPENING) : end - len(_CLOSING)]
    # A proof is base64 without markup; anything else is not taken off, and so fails the comparison.
    if end < 0 or start < 0 or data[end - len(_CLOSING) : end] != _CLOSING or not inside or b"<" in inside:
        return FileLayers(rendered=data, proof=None)
    return FileLayers(rendered=data[:start] + data[end:], proof=inside)


def _enclose_in_pdf(content: bytes, proof: bytes) -> bytes:
    _refuse_odd(proof)
    places = _read_places(content)
    blank = read_blank(content)
    stream, file = blank.size, blank.size + 1
    # MD5 is what ISO 32000-2, 7.11.4 asks for as a checksum. It protects nothing here.
    checksum = hashlib.md5(proof, usedforsecurity=False).hexdigest().encode()
    params = b"/Params << /Size %d /ModDate (%s) /CheckSum <%s> >>" % (len(proof), places.moment, checksum)
    head = b"%d 0 obj\n<< /Type /EmbeddedFile /Subtype %s /Length %d " % (stream, _TYPE, len(proof))
    name = PROOF_NAME.encode()
    described = b"/Desc (Proof that this document was published in the log it names) /AFRelationship /Supplement"
    parts = {
        stream: head + params + _STREAM + proof + b"\nendstream\nendobj\n",
        file: b"%d 0 obj\n<< /Type /Filespec /F (%s) /UF (%s) %s /EF << /F %d 0 R /UF %d 0 R >> >>\nendobj\n"
        % (file, name, name, described, stream, stream),
        places.files: b"%d 0 obj\n[ %d 0 R %d 0 R ]\nendobj\n" % (places.files, places.record, file),
        places.names: b"%d 0 obj\n<< /Names [ (%s) %d 0 R (%s) %d 0 R ] >>\nendobj\n"
        % (places.names, places.record_name, places.record, name, file),
    }
    # Offsets follow from the lengths, in the order of writing.
    offsets, position = {}, len(content)
    for number, part in parts.items():
        offsets[number] = position
        position += len(part)
    return content + b"".join(parts.values()) + write_table(blank, {**offsets, file + 1: position}, content)


def _split_pdf(unsigned: bytes) -> FileLayers:
    whole = FileLayers(rendered=unsigned, proof=None)
    # The end before the last one is where the proof's revision begins.
    end = unsigned.rfind(END, 0, max(0, len(unsigned) - len(END))) + len(END)
    head = _HEAD.match(unsigned, end) if end >= len(END) else None
    if head is None or int(head[2]) > LARGEST_PROOF_BYTES:
        return whole
    start = unsigned.find(_STREAM, head.end(), head.end() + 200) + len(_STREAM)
    proof = unsigned[start : start + int(head[2])]
    # Taken off only if writing it again gives these very bytes: slack could hide something.
    try:
        again = _enclose_in_pdf(unsigned[:end], proof)
    except ValueError:
        return whole
    return FileLayers(rendered=unsigned[:end], proof=proof) if again == unsigned else whole


@dataclass(frozen=True, slots=True, kw_only=True)
class _AttachmentPlaces:
    """The objects of a rendered PDF that list its attached files."""

    files: int
    names: int
    record: int
    """Of the attached record."""
    record_name: bytes
    moment: bytes
    """When the document was made, as it says it."""


def _read_places(content: bytes) -> _AttachmentPlaces:
    try:
        pdf = PdfDocument(content)
        files, names = pdf.root.get("AF"), pdf.follow(pdf.root, "Names")
        tree = names.get("EmbeddedFiles") if isinstance(names, dict) else None
        (record,), (name, listed) = pdf.follow_list(files), pdf.follow_list(tree, "Names")
        record_name, moment = decode_text(name), decode_text(pdf.follow(pdf.trailer, "Info", "ModDate"))
        # Other places for attachments would let a proof be added beside the list that readers show.
        is_only = record == listed and pdf.follow(tree) == {"Names": [name, listed]}
        places = _AttachmentPlaces(
            files=get_number(files),
            names=get_number(tree),
            record=get_number(record),
            record_name=record_name.encode(),
            moment=moment.encode(),
        )
    except ValueError as error:
        raise ValueError("it has no place for a proof: something else than Caveat rendered it") from error
    if not is_only:
        raise ValueError("its attached files are not listed where a proof can be added")
    # These texts are copied into the revision, so they must not hold anything but what Caveat writes.
    if re.fullmatch(r"D:\d{14}Z", moment) is None or re.fullmatch(r"[a-z.]{1,40}", record_name) is None:
        raise ValueError("its date or the name of its record is not written as Caveat writes it")
    return places


def _refuse_odd(proof: bytes) -> None:
    # None of these can occur in base64 with a log's name; they could close the place they lie in.
    if not proof or len(proof) > LARGEST_PROOF_BYTES or any(forbidden in proof for forbidden in _FORBIDDEN):
        raise ValueError("the proof is none that Caveat writes")


# The signature of a PDF: PAdES baseline B-B (ETSI EN 319 142-1) by an ECDSA key over P-256, made
# and checked.
#
# The one door to asn1crypto, which reads and writes the CMS. pyHanko, which would do the same, loads a
# client for HTTP and an XML parser that a reader of one file never needs; the tests let it judge our
# signatures. A signature is good only if the whole
# file is what Caveat writes from the unsigned bytes, the moment, the certificate and the
# signature's value. So every byte is checked, also those that readers ignore. Whether the key can
# be trusted is looked up in the log, not here.

_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_LONGEST_SIGNATURE = 72
"""Bytes of an ECDSA signature over P-256 in DER."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfSignature:
    """What the signature of a PDF says, and whether it holds."""

    certificate: bytes | None
    """Of the key that is said to have signed, DER; None where none can be read."""
    subject: str | None
    """Whom the certificate names, as RFC 4514 writes names. Anybody can make a certificate of any name."""
    fingerprint: str | None
    """SHA-256 of the key as DER SubjectPublicKeyInfo, hexadecimal, as the log records it; None where it is no key of Caveat's."""
    valid_from: datetime | None
    valid_until: datetime | None
    at: datetime | None
    """When it was signed, as the signer says; None where it is not said as Caveat says it."""
    covers_all: bool
    """Nothing was appended to the file after it was signed, and nothing is missing."""
    unsigned: bytes
    """The file as it was before it was signed; the file itself where that cannot be told."""
    is_intact: bool
    """The certificate's key signed exactly this file, and every byte is as Caveat writes it: there are no problems."""
    problems: tuple[str, ...]
    """What is wrong, in words; empty if the signature is good."""


def sign_pdf(data: bytes, key: "SigningKey", *, at: datetime) -> bytes:
    """Return *data* with a signature appended; the same file, key and moment give the same bytes (RFC 6979).

    Args:
        data: a PDF that `registry.report` drew.
        key: a document key.
        at: when it is signed, to the second; the signer's word, with no time stamp of another.

    Raises:
        InputError: `not-sealable`: it has no empty place for a signature.
        ValueError: the key signs no documents.
    """
    # Document keys are ECDSA keys with a certificate; log keys are neither.
    if key.algorithm is not KeyAlgorithm.ECDSA_P256 or key.certificate is None:
        raise ValueError("documents are signed with a document key")
    certificate = b64decode(key.certificate)
    try:
        # The room is that of the longest signature with this certificate, so that it never depends
        # on the value.
        revision = write_revision(data, at=at, room=_measure(certificate))
    except ValueError as error:
        raise InputError(Fault("not-sealable", "PDF", str(error), advice="render it again with caveat report, and sign that")) from error
    attributes = _list_attributes(certificate, revision.digest)
    # The lower of the two valid values, so that one key and file give one signature.
    return revision.fill(_build_cms(certificate, attributes, _take_lower(key.sign(attributes.dump()))))


def find_signature(data: bytes) -> PdfSignature | None:
    """Return what the signature of the PDF *data* says and whether it holds, as `check_signature`; None if it has none."""
    try:
        revision = find_revision(data)
    except ValueError as error:
        # Traces without a range: something is wrong, and it is reported as a bad signature.
        return _build(data, None, None, [str(error)])
    if revision is None:
        return None
    certificate, signed, unreadable = _read_cms(revision.contents)
    problems = _check_extent(data, revision) + unreadable
    # Without certificate or with bytes missing there is nothing to compute on.
    if certificate is not None and signed is not None and revision.covered_end <= len(data):
        problems += _check_cryptography(data[: revision.covered_end], revision, certificate, signed)
        # Only a valid signature is worth writing again; its value is part of the bytes.
        if not problems:
            problems += _check_bytes(data, revision, certificate, signed)
    return _build(data, revision, certificate, problems)


def check_signature(data: bytes) -> PdfSignature:
    """Return what the signature of the PDF *data* says, and whether it holds.

    Raises:
        InputError: `not-signed`: it has none.
    """
    signature = find_signature(data)
    if signature is None:
        raise InputError(Fault("not-signed", "PDF", "the PDF carries no signature"))
    return signature


def _check_extent(data: bytes, signature_place: SignaturePlace) -> list[str]:
    problems = []
    if signature_place.count > 1:
        # Permissions are at level 1, so a second signature is a change.
        problems.append(f"it carries {signature_place.count} signatures; Caveat gives one, which permits no other")
    if signature_place.covered_end > len(data):
        problems.append(f"it is cut off: the signature speaks of {signature_place.covered_end:,} bytes, the file has {len(data):,}")
    if signature_place.covered_end < len(data):
        problems.append(f"{len(data) - signature_place.covered_end:,} bytes were appended after it was signed")
    if signature_place.at is None:
        problems.append("the moment of signing is not written as Caveat writes it")
    return problems


def _read_cms(contents: bytes) -> "tuple[bytes | None, asn1.SignerInfo | None, list[str]]":
    """Return the certificate and what its key signed, and what is wrong with them as far as reading shows it."""
    # `tsp` adds the attribute that names the certificate to the types that `cms` knows: before the first of them is read.
    from asn1crypto import cms, tsp  # noqa: F401, PLC0415  (30 ms)

    try:
        content = cms.ContentInfo.load(contents)["content"]
        # Exactly one certificate and one signer, as Caveat writes them.
        (certificate,), (signer,) = content["certificates"], content["signer_infos"]
        return bytes(certificate.chosen.dump()), signer, []
    except Exception as error:  # noqa: BLE001  (whatever foreign bytes do to the parser: they are no signature of Caveat's)
        return None, None, [f"it cannot be read as a signature of one key with its certificate ({type(error).__name__})"]


def _check_cryptography(covered: bytes, signature_place: SignaturePlace, certificate: bytes, signer: "asn1.SignerInfo") -> list[str]:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePublicKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415
    from cryptography.x509 import load_der_x509_certificate  # noqa: PLC0415

    digest = hash_around(covered, signature_place.start, signature_place.end)
    problems = []
    try:
        # Of the attributes only the digest is read here. That they are exactly those that Caveat writes shows the comparison of all bytes.
        (stated,) = (attribute["values"][0].native for attribute in signer["signed_attrs"] if attribute["type"].native == "message_digest")
        key = load_der_x509_certificate(certificate).public_key()
        if not isinstance(key, EllipticCurvePublicKey):
            return ["the signature cannot be checked: the key of its certificate is not ECDSA"]
        if stated != digest:
            problems.append("the file was changed after it was signed: the signature is of other bytes")
        # RFC 5652, section 5.4: what is signed is the DER of the attributes with the tag of a set.
        key.verify(signer["signature"].native, signer["signed_attrs"].untag().dump(), ECDSA(SHA256()))
    except InvalidSignature:
        problems.append("the certificate's key did not make this signature")
    except Exception as error:  # noqa: BLE001  (as in `_read_cms`; the library's own words are kept)
        return [f"the signature cannot be checked: {(str(error) or type(error).__name__).splitlines()[0][:200]}"]
    return problems


def _check_bytes(data: bytes, signature_place: SignaturePlace, certificate: bytes, signer: "asn1.SignerInfo") -> list[str]:
    """Write the signed file again from what the signature says; every byte must be the same."""
    value = signer["signature"].native
    try:
        # Another value for the same signature would allow two files for one document.
        if signature_place.at is None or value != _take_lower(value):
            return ["the value of the signature is not written as Caveat writes it"]
        revision = write_revision(data[: signature_place.unsigned_end], at=signature_place.at, room=_measure(certificate))
        again = revision.fill(_build_cms(certificate, _list_attributes(certificate, revision.digest), value))
    except ValueError as error:
        return [f"it is no signature as Caveat makes them: {error}"]
    if again != data:
        # The first differing byte helps a person to find what was added.
        first = next(place for place in range(len(data)) if again[place : place + 1] != data[place : place + 1])
        return [f"what was appended to sign it is not what Caveat appends: it differs from byte {first:,} on"]
    return []


def _build(data: bytes, signature_place: SignaturePlace | None, certificate: bytes | None, problems: list[str]) -> PdfSignature:
    named = None
    if certificate is not None:
        try:
            named = _read_certificate(certificate)
        except Exception as error:  # noqa: BLE001  (as in `_read_cms`)
            problems = [*problems, f"its certificate is none that Caveat makes: {error}"]
    # A certificate outside its dates says nothing about who held the key then.
    if named and signature_place and signature_place.at and not named.valid_from <= signature_place.at <= named.valid_until:
        problems = [*problems, f"its certificate was not valid on {signature_place.at:%Y-%m-%d}, when it says it was signed"]
    return PdfSignature(
        certificate=certificate,
        subject=named.subject if named else None,
        fingerprint=named.fingerprint if named else None,
        valid_from=named.valid_from if named else None,
        valid_until=named.valid_until if named else None,
        at=signature_place.at if signature_place else None,
        covers_all=signature_place is not None and signature_place.covered_end == len(data) and signature_place.count == 1,
        unsigned=data[: signature_place.unsigned_end] if signature_place and signature_place.unsigned_end else data,
        is_intact=not problems,
        problems=tuple(problems),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Certificate:
    subject: str
    fingerprint: str
    valid_from: datetime
    valid_until: datetime


def _read_certificate(der: bytes) -> _Certificate:
    """Return what the certificate *der* says; raises ValueError, or one of the parser's errors, if it is none that Caveat makes."""
    from cryptography.x509 import load_der_x509_certificate  # noqa: PLC0415

    from registry.seal.signing_keys import fingerprint_of_certificate  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what cryptography only warns of, such as a negative serial number, Caveat never makes
        certificate = load_der_x509_certificate(der)
        return _Certificate(
            subject=certificate.subject.rfc4514_string(),
            fingerprint=fingerprint_of_certificate(der),
            valid_from=certificate.not_valid_before_utc,
            valid_until=certificate.not_valid_after_utc,
        )


def _list_attributes(certificate: bytes, digest: bytes) -> "asn1.CMSAttributes":
    """Return what the key signs: the type of the content, its digest, and which certificate is meant (RFC 5035), as PAdES B-B asks."""
    from asn1crypto import cms, tsp, x509  # noqa: PLC0415

    signing = x509.Certificate.load(certificate)
    names = [x509.GeneralName({"directory_name": signing.issuer})]
    meant = tsp.ESSCertIDv2(
        {
            "hash_algorithm": {"algorithm": "sha256"},
            "cert_hash": hashlib.sha256(certificate).digest(),
            "issuer_serial": {"issuer": names, "serial_number": signing["tbs_certificate"]["serial_number"]},
        }
    )
    named: dict[str, Any] = {
        "content_type": "data",
        "message_digest": digest,
        "signing_certificate_v2": tsp.SigningCertificateV2({"certs": [meant]}),
    }
    return cms.CMSAttributes([cms.CMSAttribute({"type": name, "values": (value,)}) for name, value in named.items()])


def _build_cms(certificate: bytes, attributes: "asn1.CMSAttributes", value: bytes) -> bytes:
    """Return the signed data (RFC 5652) as DER: one signer, one certificate, nothing that is not signed."""
    from asn1crypto import cms, x509  # noqa: PLC0415

    signing = x509.Certificate.load(certificate)
    named = {"issuer": signing.issuer, "serial_number": signing.serial_number}
    signer = {
        "version": "v1",
        "sid": cms.SignerIdentifier({"issuer_and_serial_number": cms.IssuerAndSerialNumber(named)}),
        "digest_algorithm": {"algorithm": "sha256"},
        "signature_algorithm": {"algorithm": "sha256_ecdsa"},
        "signed_attrs": attributes,
        "signature": value,
    }
    signed = {
        "version": "v1",
        "digest_algorithms": [{"algorithm": "sha256"}],
        "encap_content_info": {"content_type": "data"},
        "certificates": [cms.CertificateChoices(name="certificate", value=signing)],
        "signer_infos": [signer],
    }
    return bytes(cms.ContentInfo({"content_type": "signed_data", "content": cms.SignedData(signed)}).dump())


def _measure(certificate: bytes) -> int:
    """Return how many bytes the longest signature with *certificate* has."""
    # Computed with a signature of the greatest length; the digest's value does not change the
    # length.
    return len(_build_cms(certificate, _list_attributes(certificate, bytes(32)), bytes(_LONGEST_SIGNATURE)))


def _take_lower(value: bytes) -> bytes:
    """Return the ECDSA signature *value* with the lower of its two s, in DER: (r, s) and (r, n - s) hold both, and one must do."""
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature  # noqa: PLC0415

    r, s = decode_dss_signature(value)
    return encode_dss_signature(r, min(s, _P256_ORDER - s))


# Links between files of one folder use bare file names, so they hold wherever the folder lies,
# without a server (decision of 2026-11-22). A file that is sent alone has links that lead nowhere,
# so the target is always printed too.

_EXTENSIONS = {"screen": "html", "print": "pdf"}
_NAME = re.compile(
    r"(?P<name>(?P<kind>CLM|CRD)-[A-Z][A-Z0-9]{1,11}-[0-9]{4}-[0-9]{4,12}-[0-9A-Z])(?:@(?P<revision>[1-9][0-9]{0,8}))?(?:#[0-9a-f]{16})?"
    r"|changes-[0-9]{1,12}-[0-9]{1,12}(?:-[0-9a-f]{8})?"
)
_FILE = re.compile(
    r"(?:(?:CLM|CRD)-[A-Z][A-Z0-9]{1,11}-[0-9]{4}-[0-9]{4,12}-[0-9A-Z]@[1-9][0-9]{0,8}|changes-[0-9]{1,12}-[0-9]{1,12}(?:-[0-9a-f]{8})?)\.pdf",
    re.ASCII,
)


def find_file(name: str, medium: str) -> str | None:
    """Return the file in which the supplement of *name* lies in the folder; None for what names neither claim, card nor change report.

    Without `@n` it is that of the first revision, which every registered claim and card has; it leads on to the newest.

    Args:
        name: `CLM-…`, `CRD-…`, with or without `@n` and `#digest`, or `changes-N-M`. It may come from a forged record.
        medium: `screen` or `print`: a file links to files of its own kind.
    """
    # The name may come from a forged record, so nothing but the exact forms becomes a file name.
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    # The first revision always exists and leads on to the newest.
    stem = name if match["name"] is None else f"{match['name']}@{match['revision'] or 1}"
    return f"{stem}.{_EXTENSIONS[medium]}"


_NEIGHBOURS = re.compile(rb'<nav class="contents" aria-label="Contents" data-neighbours="([a-z ]*)">')


def read_neighbours(html: bytes) -> tuple[OutputFormat, ...]:
    """Return the other formats that an HTML supplement says were rendered with it; what it says may be forged, and changes links only."""
    match = _NEIGHBOURS.search(html)
    names = match[1].decode().split() if match else []
    return tuple(output_format for output_format in OutputFormat if output_format.value in names)


_NEIGHBOUR_LINK = re.compile(rb'<a href="[^"<>]*\.(?:pdf|json)">(?:PDF|JSON)</a>(?: \xc2\xb7 )?')


def drop_neighbours(html: bytes) -> bytes:
    """Return an HTML supplement without its links to other formats: what is the same of one rendered without and one rendered with them."""
    head, contents, rest = html.partition(b'<nav class="contents"')
    contents, end, rest = rest.partition(b"</nav>") if contents else (b"", b"", b"")
    return head + re.sub(rb'data-neighbours="[a-z ]*"', b"", _NEIGHBOUR_LINK.sub(b"", contents)) + end + rest


def is_file_link(target: bytes) -> bool:
    """Whether the URI *target* of a PDF names another file of the folder, and nothing else: no scheme, path, query or fragment."""
    return target.isascii() and _FILE.fullmatch(target.decode("ascii")) is not None


def describe_link(target: str) -> str:
    """Return what a link to the file *target* leads to, in words, for readers who hear it."""
    return f"The file {target} in the same folder: the supplement of {target.removesuffix('.pdf')}"
