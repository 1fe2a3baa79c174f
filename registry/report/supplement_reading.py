"""A supplement read back from JSON, PDF or HTML within limits, and what no supplement's PDF contains."""

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from registry.codec.canonical_documents import from_json
from registry.errors import Fault, InputError
from registry.records.record import Identifier, Kind, parse_identifier
from registry.records.statement import OutputFormat
from registry.records.supplement import AnySupplement, CardSupplement, ChangeReport, Supplement
from registry.report.pdf_reading import (
    PdfDamageError,
    PdfDocument,
    PdfName,
    PdfReference,
    PdfSizeError,
    PdfStream,
    PdfValue,
    decode_text,
    list_values,
)
from registry.report.published_file import PROOF_NAME, FileLayers, find_revision, is_file_link, split_file

# A foreign PDF, opened within limits.
#
# Nothing is inflated to more than a supplement ever has, and no reading is waited for without end.
# A process for each file, as for cards, would take longer than everything else that is asked of a
# supplement. Under these limits a hostile file can cost some seconds, and memory in proportion to
# them.

_SECONDS = 20.0
_REPAIR = "a reader has to repair it, and readers repair differently"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPdf:
    """An open PDF, and until when it may be read."""

    pdf: PdfDocument
    where: str
    deadline: float
    damage: list[str] = field(default_factory=list)
    """What `walk` met that a reader would have to repair."""

    def walk(self) -> Iterator[tuple[int, PdfValue]]:
        """Yield every object with its number, and None for a damaged one; raises InputError `pdf-damaged` when the time is up."""
        # Checked at every object: a file can have half a million of them.
        for number in self.pdf.list_objects():
            if time.monotonic() > self.deadline:
                raise InputError(Fault("pdf-damaged", self.where, "reading it takes longer than any supplement does"))
            try:
                value = self.pdf.read_object(number)
            except PdfDamageError as error:
                self.damage.append(str(error))
                value = None
            yield number, value


@contextmanager
def open_pdf(data: bytes, *, where: str, seconds: float = _SECONDS) -> Iterator[OpenPdf]:
    """Open the PDF *data*; what goes wrong in the block is reported in words.

    Args:
        data: the file.
        where: what it is called, for messages.
        seconds: how long `OpenPdf.walk` may take.

    Raises:
        InputError: `pdf-damaged`, `file-too-large` (also what inflates to too much), `file-not-readable`.
    """
    try:
        pdf = PdfDocument(data)
        if "Encrypt" in pdf.trailer:
            raise InputError(Fault("pdf-damaged", where, "it is encrypted, which no supplement is"))
        yield OpenPdf(pdf=pdf, where=where, deadline=time.monotonic() + seconds)
    except PdfSizeError as error:
        raise InputError(Fault("file-too-large", where, str(error))) from error
    except PdfDamageError as error:
        raise InputError(Fault("pdf-damaged", where, f"{_REPAIR}: {error}")) from error
    except ValueError as error:
        raise InputError(Fault("file-not-readable", where, f"not a PDF that can be read: {error}")) from error


# The record attached to a PDF. A published file has a second attachment: its proof.

ATTACHMENT = "supplement.json"
_DEEPEST_TREE = 20
_MOST_FILES = 100


def read_attached(opened: OpenPdf) -> bytes:
    """Return the attached record of the open PDF.

    Raises:
        InputError: `not-a-supplement`: nothing is attached; `pdf-altered`: something else is, or several files are, or one that the
            document does not name as its source, or not the one that its checksum is of.
    """
    files = _list_files(opened.pdf)
    # A PDF of another program.
    if not files:
        raise InputError(Fault("not-a-supplement", opened.where, f"a PDF without the attachment {ATTACHMENT}"))
    if wrong := _find_wrong(opened.pdf, files):
        raise InputError(Fault("pdf-altered", opened.where, wrong))
    stream = opened.pdf.follow(files[0][1], "EF", "F")
    if not isinstance(stream, PdfStream):
        raise InputError(Fault("pdf-altered", opened.where, "the attachment holds no file"))
    data = stream.inflate()
    stated = opened.pdf.follow(stream.dictionary.get("Params"), "CheckSum")
    if stated is not None and stated != hashlib.md5(data, usedforsecurity=False).digest():  # ISO 32000-2, 7.11.4.2
        # The checksum shows an attachment that was swapped without care; the byte comparison in
        # `verify` shows every other.
        raise InputError(Fault("pdf-altered", opened.where, f"the attached {ATTACHMENT} was swapped: its checksum is of another file"))
    return data


def _find_wrong(pdf: PdfDocument, files: list[tuple[str, PdfValue]]) -> str | None:
    names = [name for name, _ in files]
    # A third file has no business in a supplement, and readers would show it as part of one.
    if len(files) > 1 and names != [ATTACHMENT, PROOF_NAME]:
        return f"{len(files)} files are attached: {', '.join(names[:5])}; one is expected, and in a published file its proof"
    name, file = files[0]
    # The name stands in three places, and readers differ in which they show.
    others = [pdf.follow(file, key) for key in ("UF", "F")]
    shown = {name, *(decode_text(other) for other in others if other is not None)}
    if shown != {ATTACHMENT}:
        return f"the attachment is called {' and '.join(sorted(shown))}, not {ATTACHMENT}"
    streams = pdf.follow(file, "EF")
    if not isinstance(streams, dict) or streams.keys() - {"F", "UF"} or "F" not in streams:
        return "the attachment holds no file"
    # Two streams under one name: some readers would open the other one.
    if streams.get("UF", streams["F"]) != streams["F"]:
        return "the attachment holds two files under one name"
    # The list of associated files must name the same objects in the same order.
    sources = pdf.follow(pdf.root, "AF")
    if sources != [filespec for _, filespec in files] or not all(isinstance(filespec, PdfReference) for _, filespec in files):
        return "the document does not name what is attached as its files, and nothing else"
    return None


def _list_files(pdf: PdfDocument) -> list[tuple[str, PdfValue]]:
    """Return every entry of the tree of attached files, also those of one name, in order; raises ValueError for a tree that is none."""
    tree = pdf.follow(pdf.root, "Names", "EmbeddedFiles")
    waiting: list[tuple[PdfValue, int]] = [] if tree is None else [(tree, 0)]
    files: list[tuple[str, PdfValue]] = []
    while waiting:
        node, depth = waiting.pop()
        # Names come in pairs of key and value.
        names, kids = pdf.follow(node, "Names") or [], pdf.follow(node, "Kids") or []
        if not isinstance(names, list) or not isinstance(kids, list) or len(names) % 2:
            raise ValueError("its tree of attached files is damaged")
        files += [(decode_text(pdf.follow(name)), file) for name, file in zip(names[::2], names[1::2], strict=True)]
        # A tree that refers to itself would have no end.
        if depth > _DEEPEST_TREE or len(files) + len(waiting) > _MOST_FILES:
            raise ValueError("its tree of attached files has no end")
        waiting += [(kid, depth + 1) for kid in kids]
    return files


# A supplement, read from any of its forms: JSON, the attachment of a PDF, or the script element of
# an HTML file.

LARGEST_RECORD_BYTES = 50_000_000

_EMBEDDED = re.compile(rb'<script type="application/json" id="record">(.*?)</script>', re.DOTALL)
_NOUNS: dict[str, type[Supplement] | type[CardSupplement] | type[ChangeReport]] = {
    "caveat/supplement/1": Supplement,
    "caveat/card-supplement/1": CardSupplement,
    "caveat/change-report/1": ChangeReport,
}
_LONGEST_NUMBER = 9


def read_supplement(data: bytes, *, where: str) -> AnySupplement:
    """Return the supplement in *data*: JSON, or a PDF or HTML file made by `registry.report`.

    Drawing what comes back gives the bytes of the file again, if templates and libraries are the same.

    Args:
        where: what the file is called, for messages.

    Raises:
        InputError: nothing in it is a supplement, or it does not fit the record.
    """
    text = find_record(data, where=where)
    schema = _read_schema(text, where)
    # A newer record is not a damaged one: the advice is to update.
    if (newer := _find_newer(schema)) is not None:
        raise InputError(Fault("newer-format", where, newer, advice="update Caveat, then read it again"))
    if schema not in _NOUNS:
        raise InputError(Fault("not-a-supplement", where, f"schema {schema!r}; expected {' or '.join(_NOUNS)}"))
    return from_json(_NOUNS[schema], text, where=where)


def parse_subject(supplement: AnySupplement, *, where: str) -> Identifier | None:
    """Return the claim or card that *supplement* is about. A file may be forged, and its name becomes a file name.

    None for a change report, which is about none; it is called what its numbers make it, as its record sees to.

    Raises:
        InputError: it names neither.
    """
    # Its file name is made from its two entry numbers, which the record checks.
    if isinstance(supplement, ChangeReport):
        return None
    # A forged name must not become a path.
    try:
        return parse_identifier(supplement.identifier, Kind.CLAIM, Kind.CARD)
    except ValueError as error:
        raise InputError(Fault("not-a-supplement", f"{where}, identifier", str(error))) from error


def find_record(data: bytes, *, where: str) -> bytes:
    """Return the JSON of the record that *data* carries, as it is there; raises InputError as `read_supplement`."""
    text = _find_record(data, where)
    # Before anything is parsed.
    if len(text) > LARGEST_RECORD_BYTES:
        raise InputError(Fault("file-too-large", where, f"a record of {len(text):,} bytes"))
    return text


def _find_newer(schema: str | None) -> str | None:
    """Return that *schema* is of a later version of Caveat, in words; None where it is not."""
    name, _, number = (schema or "").rpartition("/")
    # Any later number of a known schema counts; other names are not Caveat's.
    known = next((int(known_schema.rpartition("/")[2]) for known_schema in _NOUNS if known_schema.rpartition("/")[0] == name), None)
    # Short decimal numbers only: `int` of a long text takes very long.
    if known is None or not (number.isascii() and number.isdecimal()) or len(number) > _LONGEST_NUMBER or int(number) <= known:
        return None
    return f"a newer version of Caveat made it: its record has the schema {name}/{int(number)}, and this version reads {name}/{known}"


def _find_record(data: bytes, where: str) -> bytes:
    if data.startswith(b"%PDF-"):
        return _read_attachment(data, where)
    # JSON may begin with white space.
    if data.lstrip()[:1] == b"{":
        return data
    match = _EMBEDDED.search(data)
    if match is None:
        raise InputError(Fault("not-a-supplement", where, "neither a supplement in JSON, nor a PDF or HTML file that carries one"))
    return match[1]


def _read_attachment(data: bytes, where: str) -> bytes:
    with open_pdf(data, where=where) as opened:
        return read_attached(opened)


def _read_schema(text: bytes, where: str) -> str | None:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(Fault("not-json", where, str(error))) from error
    schema = document.get("schema") if isinstance(document, dict) else None
    return schema if isinstance(schema, str) else None


# What no supplement's PDF contains: things that act, hide, reach outside, or were added later.
#
# This is a list of known harm, so an empty one proves nothing. The proof is that rendering the
# record again gives the same bytes. The list says why a failing file was made.

_END = re.compile(rb"startxref\s+(\d{1,12})\s+%%EOF\n")
_OBJECT = re.compile(rb"(?<![0-9])([1-9][0-9]{0,7}) [0-9]{1,5} obj(?![a-z])")
# Keys that lead to earlier tables. Names may be written with `#` and digits, so any such spelling
# counts.
_EARLIER = re.compile(rb"/(?:Prev|XRefStm|[A-Za-z]*#[0-9A-Fa-f]{2})")

_SCRIPTS = {"JavaScript": "JavaScript", "JS": "JavaScript"}
_ACTIONS = {
    "OpenAction": "something happens when it is opened",
    "AA": "something happens on an event, such as turning a page",
    "Launch": "an action that starts a program or opens a file",
    "URI": "a link to an address outside the document",
    "GoToR": "a link to another file",
    "GoToE": "a link to an attached file",
    "SubmitForm": "an action that sends data away",
    "ImportData": "an action that takes in data from a file",
    "ResetForm": "an action that changes fields",
    "Hide": "an action that hides or shows something",
    "SetOCGState": "an action that switches layers",
    "Named": "an action of the reader's menu",
    "Rendition": "a medium that plays",
    "Movie": "a film",
    "Sound": "a sound",
    "Screen": "a place where media play",
    "RichMedia": "a medium that runs",
    "GoTo3DView": "an action on a model in three dimensions",
    "3D": "a model in three dimensions, which may carry scripts",
    "Thread": "an article of this or another file",
    "PS": "a program in PostScript",
}
_FORMS = {"XFA": "a form in XML, which other readers show instead of the pages", "NeedAppearances": "fields that the reader draws"}
_LAYERS = dict.fromkeys(("OCProperties", "OCG", "OCMD"), "layers that can be shown and hidden")
_OUTSIDE = {
    "FFilter": "a stream with content in another file",
    "FDecodeParms": "a stream with content in another file",
    "OPI": "an image that is another file",
    "Alternates": "images that are shown instead of others",
}
_FILES = {"FileAttachment": "a file attached to a page", "Collection": "a portfolio of files"}
# The keys of our one field and of our links. Any other key makes them foreign.
_FIELD = {"F", "FT", "P", "Rect", "StructParent", "Subtype", "T", "TU", "Type", "V"}
_LINK = {"A", "BS", "Contents", "F", "P", "Rect", "StructParent", "Subtype", "Type"}


def list_threats(data: bytes) -> tuple[Fault, ...]:
    """Return what the PDF *data* has in it that no supplement has, each with where it is; empty if nothing was found.

    A good signature and a proof are no threat; what was appended after them, or as them, is. Whether they are good say other checks.
    """
    # The proof and the signature are taken off first, since both are appended on purpose.
    layers = split_file(data, OutputFormat.PDF)
    faults = list(_find_appended(data, layers))
    try:
        with open_pdf(data, where="PDF") as opened:
            faults += _find_named(opened, files=1 if layers.proof is None else 2)
            faults += _find_fields(opened.pdf)
            faults += _find_damage(opened)
            _check_pages(opened.pdf)
            faults += _find_attachment(opened)
    # A file that cannot be opened within limits is itself a finding.
    except InputError as error:
        faults += error.faults
    return tuple(faults)


def _find_appended(data: bytes, layers: FileLayers) -> Iterator[Fault]:
    """Tell what of the file is no part of one document written at once, and of the proof and signature appended to it."""
    # Many readers skip foreign bytes at the beginning, and so can show another document.
    start = data.find(b"%PDF-")
    if start != 0:
        before = f"{start:,} bytes are before" if start > 0 else "there is nothing of"
        yield _fault("pdf-altered", f"{before} the beginning of a PDF")
    try:
        signature = find_revision(data)
    except ValueError as error:
        yield _fault("pdf-altered", str(error))
        signature = None
    # Without the layers that Caveat appends, one document written at once remains.
    base = layers.rendered
    ends = list(_END.finditer(base))
    if signature and (signature.count > 1 or signature.covered_end != len(data)):
        later = f"{max(0, len(data) - signature.covered_end):,} bytes and {signature.count - 1} more signatures"
        yield _fault("pdf-altered", f"it was changed after it was signed: {later}")
    # Each end marks a revision, and a later one can replace any page.
    elif len(ends) > 1:
        yield _fault("pdf-altered", f"it was added to after it was first written: it has {len(ends)} ends")
    if not ends:
        yield _fault("pdf-damaged", "its end is missing")
    elif ends[-1].end() != len(base):
        yield _fault("pdf-altered", f"{len(base) - ends[-1].end():,} bytes are after its end")
    yield from _find_hidden(base, int(ends[-1][1]) if ends else len(base))


def _find_hidden(base: bytes, table: int) -> Iterator[Fault]:
    # A table that continues in another can define objects the first reader never sees.
    if _EARLIER.search(base[table:].partition(b"stream")[0]):
        yield _fault("pdf-altered", "its cross-references continue in others, which a document written at once has none of")
    # Of an object written twice, readers show the last; the other is hidden.
    counter = Counter(match[1] for match in _OBJECT.finditer(base))
    if twice := sorted(int(number) for number, count in counter.items() if count > 1):
        yield _fault("pdf-altered", f"objects are written twice, one of them hidden: {_list_numbers(twice)}")


def _find_named(opened: OpenPdf, *, files: int) -> list[Fault]:
    """Tell every kind of thing that is known by a name in a dictionary, once, with the objects it stands in.

    Args:
        files: how many attached files there may be.
    """
    known = _list_known()
    places: dict[tuple[str, str], list[int]] = {}
    attached: list[int] = []
    for number, pdf_object in opened.walk():
        names = _list_names(pdf_object)
        opened.damage.extend(_list_dangling(opened.pdf, pdf_object, f"object {number}"))
        for meaning in {known[name] for name in names & known.keys()}:
            places.setdefault(meaning, []).append(number)
        # An embedded file has the key EF.
        attached += [number] * ("EF" in names)
        if isinstance(pdf_object, PdfStream) and "F" in pdf_object.dictionary:
            places.setdefault(("pdf-active", _OUTSIDE["FFilter"]), []).append(number)
    faults = [_fault(code, f"{words} (object {_list_numbers(numbers)})") for (code, words), numbers in sorted(places.items())]
    # One is the record, a second the proof.
    if len(attached) > files:
        faults.append(_fault("pdf-altered", f"several files are attached (objects {_list_numbers(attached)})"))
    return faults


def _list_known() -> dict[str, tuple[str, str]]:
    """Return what each name stands for: the code of the fault, and words."""
    groups = (
        ("pdf-active", _SCRIPTS),
        ("pdf-active", _ACTIONS),
        ("pdf-active", _FORMS),
        ("pdf-active", _LAYERS),
        ("pdf-active", _OUTSIDE),
        ("pdf-altered", _FILES),
    )
    known: dict[str, tuple[str, str]] = {}
    for code, group in groups:
        known |= {name: (code, words) for name, words in group.items()}
    return known


def _list_names(pdf_object: PdfValue) -> set[str]:
    """Return every name that *pdf_object* has in it, as key or value, with what was escaped written out, such as /J#61vaScript.

    What makes a link to another supplement in the same folder is left out, and only that.
    """
    if isinstance(pdf_object, dict) and _is_file_link(pdf_object):
        pdf_object = {key: value for key, value in pdf_object.items() if key != "A"}
    return {str(value) for value in list_values(pdf_object) if isinstance(value, PdfName)}


def _is_file_link(pdf_object: dict[str, PdfValue]) -> bool:
    """Whether *pdf_object* is a link whose one action, written in it, names a file of the folder by its bare name, and nothing else."""
    # Exactly a link and nothing more: every further key could carry an action.
    if pdf_object.get("Subtype") != PdfName("Link") or not pdf_object.keys() <= _LINK:
        return False
    action = pdf_object.get("A")
    # An indirect action could be shared, and changed elsewhere.
    if not isinstance(action, dict) or action.keys() != {"Type", "S", "URI"}:
        return False
    target = action["URI"]
    return action["Type"] == PdfName("Action") and action["S"] == PdfName("URI") and isinstance(target, bytes) and is_file_link(target)


def _find_fields(pdf: PdfDocument) -> list[Fault]:
    """There is one field, for the signature, and it shows nothing; files rendered by earlier releases have none."""
    form = pdf.follow(pdf.root, "AcroForm")
    if form is None:
        return []
    fields = pdf.follow(form, "Fields")
    only = pdf.follow(fields[0]) if isinstance(fields, list) and len(fields) == 1 else None
    is_ours = isinstance(only, dict) and only.get("FT") == PdfName("Sig") and only.keys() <= _FIELD
    if is_ours and pdf.follow(only, "Rect") == [0, 0, 0, 0]:
        return []
    return [_fault("pdf-active", "it has other fields than the one for its signature, or that one shows something")]


def _find_damage(opened: OpenPdf) -> list[Fault]:
    damage = [*opened.damage, *_list_dangling(opened.pdf, opened.pdf.trailer, "its table")]
    if opened.pdf.trailer.get("Size") != opened.pdf.size:
        damage.append("its table says another number of objects")
    # Readers repair damage in different ways, so two people could see different documents.
    return [_fault("pdf-damaged", f"{_REPAIR} ({len(damage)} places): {damage[0]}")] if damage else []


def _list_dangling(pdf: PdfDocument, value: PdfValue, place: str) -> list[str]:
    references = (item for item in list_values(value) if isinstance(item, PdfReference))
    return [f"{place} refers to object {reference.number}, which does not exist" for reference in references if not pdf.has(reference)]


def _check_pages(pdf: PdfDocument) -> None:
    """Raise ValueError if a page stands twice in the tree of pages, or the tree in itself."""
    waiting, numbers = [pdf.root.get("Pages")], set[int]()
    while waiting:
        node = waiting.pop()
        if not isinstance(node, PdfReference) or node.number in numbers:
            raise ValueError("its tree of pages has no end, or a page twice")
        numbers.add(node.number)
        kids = pdf.follow(node, "Kids")
        waiting += kids if isinstance(kids, list) else []


def _find_attachment(opened: OpenPdf) -> list[Fault]:
    try:
        read_attached(opened)
    except InputError as error:
        return list(error.faults)
    return []


def _list_numbers(numbers: list[int]) -> str:
    return ", ".join(str(number) for number in numbers[:5]) + (f" and {len(numbers) - 5} more" if len(numbers) > 5 else "")


def _fault(code: str, text: str) -> Fault:
    return Fault(code, "PDF", text)
