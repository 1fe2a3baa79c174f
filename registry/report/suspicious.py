"""What a PDF from anybody has in it that no supplement has: things that act, hide, reach outside, or came later.

It is a list of what is known to do harm, so an empty one proves nothing; that the file is drawn again from its record, byte for byte, does.
What is found here says why a file that fails was made.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from registry.errors import Fault, InputError
from registry.records.statement import OutputFormat
from registry.report.attached import read_attached
from registry.report.enclosed import Layers, split_file
from registry.report.links import is_file_link
from registry.report.opening import Opened, open_pdf
from registry.report.revision import find_revision

if TYPE_CHECKING:
    from pikepdf import Object

_STRING = re.compile(rb"\((?:[^\\()]|\\.)*\)", re.DOTALL)
_NAME = re.compile(rb"/([^\s<>\[\](){}/%]+)")
_END = re.compile(rb"startxref\s+(\d{1,12})\s+%%EOF\n")
_OBJECT = re.compile(rb"(?<![0-9])([1-9][0-9]{0,7}) [0-9]{1,5} obj(?![a-z])")
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
    "FFilter": "a stream whose content is another file",
    "FDecodeParms": "a stream whose content is another file",
    "OPI": "an image that is another file",
    "Alternates": "images that are shown instead of others",
}
_FILES = {"FileAttachment": "a file attached to a page", "Collection": "a portfolio of files"}
_FIELD = {"/F", "/FT", "/P", "/Rect", "/StructParent", "/Subtype", "/T", "/TU", "/Type", "/V"}
_LINK = {"/A", "/BS", "/Contents", "/F", "/P", "/Rect", "/StructParent", "/Subtype", "/Type"}
_ADVICE = "do not open it in a reader; ask its publisher for the file again"


def list_threats(data: bytes) -> tuple[Fault, ...]:
    """Return what the PDF *data* has in it that no supplement has, each with where it stands; empty if nothing was found.

    A good signature and a proof are no threat; what was appended after them, or as them, is. Whether they are good say other checks.
    """
    layers = split_file(data, OutputFormat.PDF)
    faults = list(_find_appended(data, layers))
    try:
        with open_pdf(data, where="PDF") as opened:
            faults += _find_named(opened, files=1 if layers.proof is None else 2)
            faults += _find_fields(opened)
            faults += _find_damage(opened)
            faults += _find_attachment(opened)
    except InputError as error:
        faults += error.faults
    return tuple(faults)


def _find_appended(data: bytes, layers: Layers) -> Iterator[Fault]:
    """Tell what of the file is no part of one document written at once, and of the proof and signature appended to it."""
    start = data.find(b"%PDF-")
    if start != 0:
        before = f"{start:,} bytes stand before" if start > 0 else "there is nothing of"
        yield _fault("pdf-appended", f"{before} the beginning of a PDF")
    try:
        signature = find_revision(data)
    except ValueError as error:
        yield _fault("pdf-appended", str(error))
        signature = None
    base = layers.drawn
    ends = list(_END.finditer(base))
    if signature and (signature.count > 1 or signature.covered_end != len(data)):
        later = f"{max(0, len(data) - signature.covered_end):,} bytes and {signature.count - 1} more signatures"
        yield _fault("pdf-appended", f"it was changed after it was signed: {later}")
    elif len(ends) > 1:
        yield _fault("pdf-appended", f"it was added to after it was first written: it has {len(ends)} ends")
    if not ends:
        yield _fault("pdf-damaged", "its end is missing")
    elif ends[-1].end() != len(base):
        yield _fault("pdf-appended", f"{len(base) - ends[-1].end():,} bytes stand after its end")
    yield from _find_hidden(base, int(ends[-1][1]) if ends else len(base))


def _find_hidden(base: bytes, table: int) -> Iterator[Fault]:
    if _EARLIER.search(base[table:].partition(b"stream")[0]):
        yield _fault("pdf-appended", "its cross-references continue in others, which a document written at once has none of")
    written = Counter(one[1] for one in _OBJECT.finditer(base))
    if twice := sorted(int(number) for number, count in written.items() if count > 1):
        yield _fault("pdf-appended", f"objects are written twice, one of them hidden: {_list_numbers(twice)}")


def _find_named(opened: Opened, *, files: int) -> list[Fault]:
    """Tell every kind of thing that is known by a name in a dictionary, once, with the objects it stands in.

    Args:
        files: how many attached files there may be.
    """
    known = _list_known()
    places: dict[tuple[str, str], list[int]] = {}
    attached: list[int] = []
    for number, one in opened.walk():
        names = _read_names(one)
        for said in {known[name] for name in names & known.keys()}:
            places.setdefault(said, []).append(number)
        attached += [number] * ("EF" in names)
        if _is_outside(one):
            places.setdefault(("pdf-outside", _OUTSIDE["FFilter"]), []).append(number)
    found = [_fault(code, f"{words} (object {_list_numbers(numbers)})") for (code, words), numbers in sorted(places.items())]
    if len(attached) > files:
        found.append(_fault("pdf-attachment", f"several files are attached (objects {_list_numbers(attached)})"))
    return found


def _list_known() -> dict[str, tuple[str, str]]:
    """Return what each name stands for: the code of the fault, and words."""
    groups = (
        ("pdf-script", _SCRIPTS),
        ("pdf-action", _ACTIONS),
        ("pdf-form", _FORMS),
        ("pdf-layer", _LAYERS),
        ("pdf-outside", _OUTSIDE),
        ("pdf-attachment", _FILES),
    )
    known: dict[str, tuple[str, str]] = {}
    for code, group in groups:
        known |= {name: (code, words) for name, words in group.items()}
    return known


def _read_names(one: "Object") -> set[str]:
    """Return every name that *one* has in it, as key or value; qpdf has written out what was escaped, such as /J#61vaScript.

    What makes a link to another supplement in the same folder is left out, and only that.
    """
    told = _read_dictionary(one)
    text = (_leave_out_action(told) if _is_file_link(told) else told).unparse(resolved=True)
    return {name.decode("latin-1") for name in _NAME.findall(_STRING.sub(b"", text))}


def _read_dictionary(one: "Object") -> "Object":
    from pikepdf import Stream  # noqa: PLC0415  (only PDFs need it)

    return one.stream_dict if isinstance(one, Stream) else one


def _is_file_link(told: "Object") -> bool:
    """Whether *told* is a link whose one action, written in it, names a file of the folder by its bare name, and nothing else."""
    from pikepdf import Dictionary, String  # noqa: PLC0415

    if not isinstance(told, Dictionary) or told.get("/Subtype") != "/Link" or not set(told.keys()) <= _LINK:
        return False
    action = told.get("/A")
    if not isinstance(action, Dictionary) or action.is_indirect or set(action.keys()) != {"/Type", "/S", "/URI"}:
        return False
    is_plain = action.get("/Type") == "/Action" and action.get("/S") == "/URI" and isinstance(action.URI, String)
    return is_plain and is_file_link(bytes(action.URI))


def _leave_out_action(told: "Object") -> "Object":
    from pikepdf import Dictionary  # noqa: PLC0415

    return Dictionary({key: value for key, value in told.items() if key != "/A"})


def _is_outside(one: "Object") -> bool:
    from pikepdf import Stream  # noqa: PLC0415

    return isinstance(one, Stream) and "/F" in one.stream_dict


def _find_fields(opened: Opened) -> list[Fault]:
    """There is one field, for the signature, and it shows nothing; files drawn by earlier releases have none."""
    form = opened.pdf.Root.get("/AcroForm")
    if form is None:
        return []
    fields = list(form.get("/Fields", []))
    is_ours = len(fields) == 1 and fields[0].get("/FT") == "/Sig" and set(fields[0].keys()) <= _FIELD
    if is_ours and [float(value) for value in fields[0].get("/Rect", [])] == [0, 0, 0, 0]:
        return []
    return [_fault("pdf-form", "it has other fields than the one for its signature, or that one shows something")]


def _find_damage(opened: Opened) -> list[Fault]:
    warnings = opened.pdf.get_warnings()
    words = f"a reader has to repair it ({len(warnings)} places), and readers repair differently"
    return [_fault("pdf-damaged", words)] if warnings else []


def _find_attachment(opened: Opened) -> list[Fault]:
    try:
        read_attached(opened)
    except InputError as error:
        return list(error.faults)
    return []


def _list_numbers(numbers: list[int]) -> str:
    return ", ".join(str(one) for one in numbers[:5]) + (f" and {len(numbers) - 5} more" if len(numbers) > 5 else "")


def _fault(code: str, found: str) -> Fault:
    return Fault(code=code, where="PDF", found=found, advice=_ADVICE)
