"""A supplement read back from any of its forms: canonical JSON, the attachment of a PDF, or the script element of an HTML file."""

import json
import re

from registry.codec.canonical_documents import from_json
from registry.errors import Fault, InputError
from registry.records.record import Identifier, Kind, parse_identifier
from registry.records.supplement import AnySupplement, CardSupplement, ChangeReport, Supplement
from registry.report.attached import read_attached
from registry.report.opening import open_pdf

LARGEST_RECORD_BYTES = 50_000_000

_EMBEDDED = re.compile(rb'<script type="application/json" id="record">(.*?)</script>', re.DOTALL)
_NOUNS: dict[str, type[Supplement] | type[CardSupplement] | type[ChangeReport]] = {
    "caveat/supplement/1": Supplement,
    "caveat/card-supplement/1": CardSupplement,
    "caveat/change-report/1": ChangeReport,
}
_LONGEST_NUMBER = 9
_WANTED = "give a file that caveat report wrote"


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
    if (newer := _find_newer(schema)) is not None:
        raise InputError(Fault(code="record-newer", where=where, found=newer, advice="update Caveat, then read it again"))
    if schema not in _NOUNS:
        found = f"schema {schema!r}; expected {' or '.join(_NOUNS)}"
        raise InputError(Fault(code="not-a-supplement", where=where, found=found, advice=_WANTED))
    return from_json(_NOUNS[schema], text, where=where)


def parse_subject(supplement: AnySupplement, *, where: str) -> Identifier | None:
    """Return the claim or card that *supplement* is about. A file may be forged, and its name becomes a file name.

    None for a change report, which is about none; it is called what its numbers make it, as its record sees to.

    Raises:
        InputError: it names neither.
    """
    if isinstance(supplement, ChangeReport):
        return None
    try:
        return parse_identifier(supplement.identifier, Kind.CLAIM, Kind.CARD)
    except ValueError as error:
        raise InputError(Fault(code="not-a-supplement", where=f"{where}, identifier", found=str(error))) from error


def find_record(data: bytes, *, where: str) -> bytes:
    """Return the JSON of the record that *data* carries, as it stands there; raises InputError as `read_supplement`."""
    text = _find_record(data, where)
    if len(text) > LARGEST_RECORD_BYTES:
        raise InputError(Fault(code="file-too-large", where=where, found=f"a record of {len(text):,} bytes"))
    return text


def _find_newer(schema: str | None) -> str | None:
    """Return that *schema* is of a later version of Caveat, in words; None where it is not."""
    name, _, number = (schema or "").rpartition("/")
    known = next((int(one.rpartition("/")[2]) for one in _NOUNS if one.rpartition("/")[0] == name), None)
    if known is None or not (number.isascii() and number.isdecimal()) or len(number) > _LONGEST_NUMBER or int(number) <= known:
        return None
    return f"a newer version of Caveat made it: its record has the schema {name}/{int(number)}, and this version reads {name}/{known}"


def _find_record(data: bytes, where: str) -> bytes:
    if data.startswith(b"%PDF-"):
        return _read_attachment(data, where)
    if data.lstrip()[:1] == b"{":
        return data
    match = _EMBEDDED.search(data)
    if match is None:
        found = "neither a supplement in JSON, nor a PDF or HTML file that carries one"
        raise InputError(Fault(code="not-a-supplement", where=where, found=found, advice=_WANTED))
    return match[1]


def _read_attachment(data: bytes, where: str) -> bytes:
    with open_pdf(data, where=where) as opened:
        return read_attached(opened)


def _read_schema(text: bytes, where: str) -> str | None:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(Fault(code="not-json", where=where, found=str(error))) from error
    schema = document.get("schema") if isinstance(document, dict) else None
    return schema if isinstance(schema, str) else None
