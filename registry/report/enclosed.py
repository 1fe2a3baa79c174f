"""A published file: what was drawn, the proof inside it, and in a PDF the signature around both.

The log records digest and length of what was drawn (revision 1), so the proof and the signature can only come after it. Every byte that is
added is prescribed here and in `revision`: whoever has the drawn file, the proof and the value of the signature writes the published file
again and compares it whole. So nothing can be appended that shows another page.

A PDF gets the proof as an attached file (ISO 32000-2, 7.11.4 and 14.13; ISO 19005-3, 6.8), uncompressed, in a revision of its own that
replaces two objects: the list of attached files and the tree of their names. `finish.mend_attachments` made these two objects for it.
HTML gets it as one script element that no browser runs, directly before `</body>`. JSON keeps its proof beside it.
"""

import hashlib
import re
from dataclasses import dataclass

from registry.errors import Fault, InputError
from registry.records.statement import OutputFormat
from registry.report.revision import END, find_revision, read_blank, write_table

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
class Layers:
    """What a file is made of."""

    drawn: bytes
    """Revision 1: what was drawn from the record. The whole file where it holds no proof as Caveat writes it."""
    proof: bytes | None
    """The proof inside it; None where there is none."""


def enclose_proof(drawn: bytes, format_: OutputFormat, proof: bytes) -> bytes:
    """Return the file *drawn* with *proof* inside it; JSON as it is, since its proof lies beside it.

    Raises:
        InputError: `not-enclosable`: the file has no place for a proof, or the proof cannot lie in one.
    """
    if format_ is OutputFormat.JSON:
        return drawn
    try:
        return _enclose_in_pdf(drawn, proof) if format_ is OutputFormat.PDF else _enclose_in_html(drawn, proof)
    except ValueError as error:
        advice = "render it again with caveat report, and publish that"
        raise InputError(Fault(code="not-enclosable", where=format_.value.upper(), found=str(error), advice=advice)) from error


def split_file(data: bytes, format_: OutputFormat, *, unsigned: bytes | None = None) -> Layers:
    """Return what the file *data* is made of. Only bytes that `enclose_proof` writes again are taken off.

    Args:
        unsigned: a PDF without its signature, where that is known; None looks for where the signature begins.
    """
    match format_:
        case OutputFormat.JSON:
            return Layers(drawn=data, proof=None)
        case OutputFormat.HTML:
            return _split_html(data)
        case OutputFormat.PDF:
            return _split_pdf(_find_unsigned(data) if unsigned is None else unsigned)


def is_finished(data: bytes, format_: OutputFormat) -> bool:
    """Whether something was added to the drawn file: a proof or a signature."""
    layers = split_file(data, format_)
    return layers.proof is not None or len(layers.drawn) != len(data)


def _find_unsigned(data: bytes) -> bytes:
    try:
        found = find_revision(data)
    except ValueError:
        return data
    return data[: found.unsigned_end] if found and found.unsigned_end else data


def _enclose_in_html(drawn: bytes, proof: bytes) -> bytes:
    _refuse_odd(proof)
    place = drawn.rfind(_BODY)
    if place < 0 or _split_html(drawn).proof is not None:
        raise ValueError("it has no place for a proof, or has one already")
    return drawn[:place] + _OPENING + proof + _CLOSING + drawn[place:]


def _split_html(data: bytes) -> Layers:
    end = data.rfind(_BODY)
    start = data.rfind(_OPENING, 0, max(end, 0))
    inside = data[start + len(_OPENING) : end - len(_CLOSING)]
    if end < 0 or start < 0 or data[end - len(_CLOSING) : end] != _CLOSING or not inside or b"<" in inside:
        return Layers(drawn=data, proof=None)
    return Layers(drawn=data[:start] + data[end:], proof=inside)


def _enclose_in_pdf(drawn: bytes, proof: bytes) -> bytes:
    _refuse_odd(proof)
    places = _read_places(drawn)
    blank = read_blank(drawn)
    stream, file = blank.size, blank.size + 1
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
    offsets, position = {}, len(drawn)
    for number, part in parts.items():
        offsets[number] = position
        position += len(part)
    return drawn + b"".join(parts.values()) + write_table(blank, {**offsets, file + 1: position}, drawn)


def _split_pdf(unsigned: bytes) -> Layers:
    whole = Layers(drawn=unsigned, proof=None)
    end = unsigned.rfind(END, 0, max(0, len(unsigned) - len(END))) + len(END)
    head = _HEAD.match(unsigned, end) if end >= len(END) else None
    if head is None or int(head[2]) > LARGEST_PROOF_BYTES:
        return whole
    start = unsigned.find(_STREAM, head.end(), head.end() + 200) + len(_STREAM)
    proof = unsigned[start : start + int(head[2])]
    try:
        again = _enclose_in_pdf(unsigned[:end], proof)
    except ValueError:
        return whole
    return Layers(drawn=unsigned[:end], proof=proof) if again == unsigned else whole


@dataclass(frozen=True, slots=True, kw_only=True)
class _Places:
    """The objects of a drawn PDF that list its attached files."""

    files: int
    names: int
    record: int
    """Of the attached record."""
    record_name: bytes
    moment: bytes
    """When the document was made, as it says it."""


def _read_places(drawn: bytes) -> _Places:
    from io import BytesIO  # noqa: PLC0415

    import pikepdf  # noqa: PLC0415  (only publishing and checking need it)

    try:
        with pikepdf.Pdf.open(BytesIO(drawn)) as pdf:
            files, names = pdf.Root.AF, pdf.Root.Names.EmbeddedFiles
            (record,), (name, listed) = files, names.Names
            moment = str(pdf.docinfo["/ModDate"])
            if not (files.is_indirect and names.is_indirect) or record.objgen != listed.objgen or set(names.keys()) != {"/Names"}:
                raise ValueError("its attached files are not listed where a proof can be added")
            if re.fullmatch(r"D:\d{14}Z", moment) is None or re.fullmatch(r"[a-z.]{1,40}", str(name)) is None:
                raise ValueError("its date or the name of its record is not written as Caveat writes it")
            return _Places(
                files=files.objgen[0],
                names=names.objgen[0],
                record=record.objgen[0],
                record_name=str(name).encode(),
                moment=moment.encode(),
            )
    except (pikepdf.PdfError, AttributeError, KeyError, TypeError, RuntimeError) as error:
        raise ValueError("it has no place for a proof: something else than Caveat rendered it") from error


def _refuse_odd(proof: bytes) -> None:
    if not proof or len(proof) > LARGEST_PROOF_BYTES or any(one in proof for one in _FORBIDDEN):
        raise ValueError("the proof is none that Caveat writes")
