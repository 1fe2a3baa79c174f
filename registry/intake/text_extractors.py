"""One extractor, run as a program: the file on standard input, one JSON answer on standard output."""

import io
import json
import re
import sys
import warnings
from collections.abc import Iterator
from datetime import date, time, timedelta
from importlib.metadata import version
from pathlib import PurePosixPath
from typing import Any
from zipfile import BadZipFile, ZipFile

_BOOKMARKS = 10_000
_FIGURE = re.compile(r"(?<!\S)[<>≤≥~±(]?[-+−]?\d[\d.,]*%?\)?(?!\S)")
_WORD = re.compile(r"\S+")


class _RefusedError(Exception):
    """The file cannot be accepted: code, what was found, what to do."""


def read_with_pdfium(data: bytes, limits: dict[str, Any]) -> dict[str, Any]:
    """Return every page's text as PDFium reads it, lines ended by a line feed."""
    import pypdfium2  # noqa: PLC0415 - the other extractor does without
    import pypdfium2.raw  # noqa: PLC0415

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise _explain(pypdfium2.raw.FPDF_GetLastError() if "password" not in str(error).lower() else 4, str(error)) from error
    count = len(document)
    if count == 0:
        raise _RefusedError("card-unreadable", "the PDF has no pages that can be read", "download it again")
    # Limits are checked while reading, so that a hostile file does not fill the memory first.
    if count > limits["maximum_pages"]:
        problem = f"{count:,} pages, expected at most {limits['maximum_pages']:,}"
        raise _RefusedError("card-too-long", problem, "give the part of it that is the card")
    pages: list[str] = []
    pictures: list[int] = []
    unplaced: list[int] = []
    characters = 0
    for index in range(count):
        text, is_picture, is_placed = _read_page(document, index, limits["maximum_on_a_page"])
        pages.append(text)
        pictures += [index + 1] if is_picture else []
        unplaced += [] if is_placed else [index + 1]
        characters += len(pages[-1])
        if characters > limits["maximum_characters"]:
            problem = f"more than {limits['maximum_characters']:,} characters by page {index + 1:,} of {count:,}"
            raise _RefusedError("card-too-long", problem, "give the part of it that is the card")
    bookmarks = _read_bookmarks(document, pypdfium2.PdfiumError)
    return {
        "extractor": f"pypdfium2 {version('pypdfium2')}",
        "pages": pages,
        "bookmarks": bookmarks,
        "pictures": pictures,
        "unplaced": unplaced,
    }


def read_with_pdfminer(data: bytes, limits: dict[str, Any]) -> dict[str, Any]:
    """Return the text of the pages in `limits["sample"]` as pdfminer.six reads them."""
    from pdfminer.high_level import extract_text  # noqa: PLC0415 - the other extractor does without
    from pdfminer.layout import LAParams  # noqa: PLC0415

    # Without boxes_flow pdfminer does much less work. The reading order suffers, but words are only counted.
    text = extract_text(io.BytesIO(data), page_numbers=set(limits["sample"]), laparams=LAParams(boxes_flow=None))
    return {"extractor": f"pdfminer.six {version('pdfminer.six')}", "pages": [_clean(page) for page in text.split("\f")]}


def read_with_lexbor(data: bytes, _limits: dict[str, Any]) -> dict[str, Any]:
    """Return the text of an HTML page in UTF-8, on one page, and its headings."""
    from registry.intake.html_reader import describe_excluded, read_hypertext  # noqa: PLC0415 - the other extractors do without

    source = data.decode("utf-8")
    text, headings = read_hypertext(source)
    return {
        "extractor": f"selectolax {version('selectolax')}",
        "pages": [_clean(text)],
        "headings": [(heading.start, heading.title) for heading in headings],
        "warnings": describe_excluded(source),
    }


# A spreadsheet's cells. Calamine (Rust, memory-safe) gives the values and drops two things that matter for scores: a
# formula that was never computed and an error such as #N/A both come as empty cells. A second pass over the sheet's XML
# finds them, only where there are any.

_SHEETS_LISTED = 12
_SHEETS_READ = 50
"""With more sheets than this, the sheet must be named: each is parsed to see whether it has data."""
_COMPUTED = re.compile(rb"""<(?:\w+:)?f[\s/>]|\st=["']e["']""")
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def read_with_calamine(data: bytes, limits: dict[str, Any]) -> dict[str, Any]:
    """Return the cells of the sheet `limits["sheet"]` (None: the only visible one with data) as rows, with their place in the sheet."""
    import python_calamine  # noqa: PLC0415 - the other extractors do without

    _refuse_archive(data, limits["maximum_bytes"])
    try:
        workbook = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheet = _choose_sheet(workbook, limits["sheet"])
        merged = [f"{name_cell(*start)}:{name_cell(*end)}" for start, end in sheet.merged_cell_ranges or ()]
        first_row, first_column = sheet.start or (0, 0)
        if sheet.height * sheet.width > limits["maximum_cells"]:
            problem = f"sheet {sheet.name!r} spans {sheet.height:,} rows and {sheet.width:,} columns"
            raise _RefusedError("table-too-wide", problem, "delete empty rows and columns with formats, or save the cells with data as CSV")
        rows = [[_plain(cell) for cell in row] for row in sheet.to_python()]
    except python_calamine.CalamineError as error:
        raise _RefusedError("file-not-readable", f"the file is no XLSX that can be read ({error})", "save it again as XLSX") from error
    uncomputed, errors = _find_uncomputed(data, workbook.sheet_names.index(sheet.name))
    for (row, column), text in errors.items():
        rows[row - first_row][column - first_column] = text
    return {
        "sheet": sheet.name,
        "rows": rows,
        "first_row": first_row,
        "first_column": first_column,
        "merged": merged,
        "uncomputed": uncomputed,
    }


def name_cell(row: int, column: int) -> str:
    """Return the name of a cell, such as D17, counted from 0."""
    letters = ""
    while column >= 0:
        column, letter = divmod(column, 26)
        letters = chr(ord("A") + letter) + letters
        column -= 1
    return f"{letters}{row + 1}"


def _refuse_archive(data: bytes, most: int) -> None:
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except BadZipFile as error:
        raise _RefusedError("file-not-readable", f"the file is no XLSX that can be read ({error})", "save it again as XLSX") from error
    # What an archive states about itself may be wrong; the limit on the memory of this process holds then.
    if size > most:
        problem = f"its parts inflate to {size:,} bytes, expected at most {most:,}; it was not read"
        raise _RefusedError("file-too-large", problem, "save the sheet with the scores as CSV")


def _choose_sheet(workbook: Any, name: str | None) -> Any:
    from python_calamine import SheetTypeEnum, SheetVisibleEnum  # noqa: PLC0415 - as above

    sheets = [sheet for sheet in workbook.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
    names = [sheet.name for sheet in sheets]
    shown = ", ".join(map(repr, names[:_SHEETS_LISTED])) + (
        f" and {len(names) - _SHEETS_LISTED:,} more" if len(names) > _SHEETS_LISTED else ""
    )
    if name is not None:
        if name not in names:
            raise _RefusedError("unknown-name", f"there is no sheet {name!r}; the sheets are {shown}", "name one of them with --sheet")
        return workbook.get_sheet_by_name(name)
    if len(names) > _SHEETS_READ:
        raise _RefusedError("choice-needed", f"the file has {len(names):,} sheets: {shown}", "name one of them with --sheet")
    visible = [sheet.name for sheet in sheets if sheet.visible == SheetVisibleEnum.Visible]
    full = [sheet for sheet in map(workbook.get_sheet_by_name, visible) if sheet.height]
    if not full:
        raise _RefusedError("table-empty", f"no visible sheet has data; the sheets are {shown}", "name another one with --sheet")
    if len(full) > 1:
        problem = f"{len(full)} sheets have data: {', '.join(repr(sheet.name) for sheet in full[:_SHEETS_LISTED])}"
        raise _RefusedError("choice-needed", problem, "name one of them with --sheet")
    return full[0]


def _plain(cell: Any) -> str | float | bool | None:
    """Return a cell as JSON can hold it; Excel stores whole numbers as floats."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return int(cell)
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell) if isinstance(cell, timedelta) else None if cell == "" else cell


_Places = list[tuple[int, int]]


def _find_uncomputed(data: bytes, number: int) -> tuple[_Places, dict[tuple[int, int], str]]:
    """Return the cells of a sheet with a formula and no value, and those with an error, with its text."""
    with ZipFile(io.BytesIO(data)) as archive:
        part = _find_part(archive, number)
        if part is None or not _COMPUTED.search(archive.read(part)):
            return [], {}
        uncomputed: _Places = []
        errors: dict[tuple[int, int], str] = {}
        for place, cell in _list_cells(archive, part):
            value = cell.findtext(f"{_MAIN}v")
            if cell.get("t") == "e":
                errors[place] = value or "#N/A"
            elif not value and cell.find(f"{_MAIN}f") is not None and cell.get("t") != "str":
                uncomputed.append(place)
        return uncomputed, errors


def _find_part(archive: ZipFile, number: int) -> str | None:
    """Return the member of the archive that holds a sheet; None where the workbook does not say it in the usual way."""
    from xml.etree import ElementTree as ET  # noqa: PLC0415 - Expat limits entities since 2.4.1, and this process its memory

    try:
        sheets = ET.fromstring(archive.read("xl/workbook.xml")).findall(f"{_MAIN}sheets/{_MAIN}sheet")  # noqa: S314
        links = ET.fromstring(archive.read("xl/_rels/workbook.xml.rels"))  # noqa: S314
        wanted = sheets[number].get(_LINK)
        target = next(link.get("Target", "") for link in links if link.get("Id") == wanted)
    except (KeyError, IndexError, StopIteration, ET.ParseError):
        return None
    part = target.lstrip("/") if target.startswith("/") else str(PurePosixPath("xl") / target)
    return part if part in archive.namelist() else None


def _list_cells(archive: ZipFile, part: str) -> Iterator[tuple[tuple[int, int], Any]]:
    from xml.etree import ElementTree as ET  # noqa: PLC0415 - as above

    with archive.open(part) as stream:
        for _, element in ET.iterparse(stream):  # noqa: S314
            if element.tag == f"{_MAIN}c" and (match := re.fullmatch(r"([A-Z]{1,3})([0-9]{1,7})", element.get("r", ""))):
                column = 0
                for letter in match[1]:
                    column = column * 26 + ord(letter) - ord("A") + 1
                yield (int(match[2]) - 1, column - 1), element
            elif element.tag == f"{_MAIN}row":
                element.clear()


_PICTURE, _LITTLE_TEXT, _MOST_OBJECTS = 0.15, 800, 200
"""The share of a page that an image takes, characters of its text, and objects that are looked at: such an image may be a table."""


def _read_page(document: Any, index: int, most: int) -> tuple[str, bool, bool]:
    """Return the text of a page, whether it has a large image and little text, and whether its columns could be read if it has any."""
    page = document[index]
    text_page = page.get_textpage()
    if text_page.count_chars() > most:
        problem = f"{text_page.count_chars():,} characters on page {index + 1:,}, expected at most {most:,}"
        raise _RefusedError("card-too-long", problem, "give the part of it that is the card")
    text: str = text_page.get_text_range()
    is_picture, is_placed = len(text) < _LITTLE_TEXT and _has_picture(page), True
    if _may_have_table(text):
        placed = _set_columns(text_page, text)
        text, is_placed = placed or text, placed is not None
    text_page.close()
    page.close()
    # PDFium writes U+FFFE for a hyphen at a line end and drops the line end.
    return _clean(text.replace("\r\n", "\n").replace("\ufffe", "-\n")), is_picture, is_placed


def _has_picture(page: Any) -> bool:
    import pypdfium2.raw  # noqa: PLC0415 - the other extractors do without

    width, height = page.get_size()
    for item, _ in zip(page.get_objects(filter=[pypdfium2.raw.FPDF_PAGEOBJ_IMAGE], max_depth=3), range(_MOST_OBJECTS), strict=False):
        left, bottom, right, top = item.get_bounds()
        if abs((right - left) * (top - bottom)) > _PICTURE * width * height:
            return True
    return False


def _may_have_table(text: str) -> bool:
    """Whether several lines hold two figures or more; positions of words cost time and are asked for only then."""
    return sum(len(_FIGURE.findall(line)) > 1 for line in text.split("\n")) > 1


def _set_columns(text_page: Any, text: str) -> str | None:
    """Return the text of the page with a tab before each column of its tables; None where its characters have no places."""
    import pypdfium2.raw  # noqa: PLC0415 - the other extractors do without

    from registry.intake.column_layout import PlacedLine, PlacedWord, set_tabs  # noqa: PLC0415 - as above

    # The text has characters that the page has not (line ends), and the page some that the text has not. PDFium counts in
    # UTF-16, in which a character beyond the first plane is two.
    is_plain = len(text) == text_page.count_chars()
    units = [0]
    for character in "" if is_plain else text:
        units.append(units[-1] + 1 + (ord(character) > 0xFFFF))

    def locate(at: int) -> int:
        return at if is_plain else int(pypdfium2.raw.FPDFText_GetCharIndexFromTextIndex(text_page, units[at]))

    lines: list[PlacedLine] = []
    at = 0
    for line in text.split("\r\n"):
        words, bottom, height = [], 0.0, 0.0
        for match in _WORD.finditer(line):
            first, last = locate(at + match.start()), locate(at + match.end() - 1)
            if min(first, last) < 0:
                return None
            left, low, _, _ = text_page.get_charbox(first, loose=True)
            _, _, right, top = text_page.get_charbox(last, loose=True)
            words.append(PlacedWord(match.start(), match.end(), left, right))
            if len(words) == 1:
                bottom, height = low, max(top - low, 1.0)
        lines.append(PlacedLine(line, tuple(words), bottom, height))
        at += len(line) + 2
    return "\r\n".join(set_tabs(lines))


def _clean(text: str) -> str:
    """Form feeds stand between pages only; what is no character at all cannot be kept."""
    return text.replace("\f", "\n").encode("utf-8", errors="replace").decode("utf-8")


def _read_bookmarks(document: Any, error: type[Exception]) -> list[tuple[str, int]]:
    bookmarks: list[tuple[str, int]] = []
    try:
        for bookmark in document.get_toc(max_depth=8):
            target = bookmark.get_dest()
            page = target.get_index() if target is not None else None
            if page is not None:
                bookmarks.append((_clean(bookmark.get_title()), page))
            if len(bookmarks) >= _BOOKMARKS:
                break
    except error:
        pass  # a broken outline costs the sections below it, not the card
    return bookmarks


def _explain(code: int, message: str) -> _RefusedError:
    if code == 4:  # FPDF_ERR_PASSWORD
        return _RefusedError("card-encrypted", "the PDF asks for a password", "save it without a password and register that file")
    if code == 5:  # FPDF_ERR_SECURITY
        return _RefusedError("card-encrypted", "the PDF is encrypted in a way that cannot be opened", "save it without protection")
    return _RefusedError("card-unreadable", f"the PDF cannot be opened ({message})", "download it again; it may be cut off or damaged")


_DISTRIBUTIONS = {"python_calamine": "python-calamine", "pdfminer": "pdfminer.six"}
"""What `pip install` calls a library whose module has another name."""


def main(extractor: str, limits: str) -> None:
    """Answer for the file on standard input."""
    warnings.simplefilter("ignore")
    read = {"pdfium": read_with_pdfium, "pdfminer": read_with_pdfminer, "lexbor": read_with_lexbor, "calamine": read_with_calamine}[
        extractor
    ]
    try:
        answer = read(sys.stdin.buffer.read(), json.loads(limits))
    except _RefusedError as refusal:
        answer = dict(zip(("code", "found", "advice"), refusal.args, strict=True))
    except ModuleNotFoundError as error:
        name = _DISTRIBUTIONS.get(error.name or "", error.name)
        found = f"it was not read: the library {name} is not installed"
        answer = {"code": "extractor-missing", "found": found, "advice": f"pip install {name} (every full installation of caveat has it)"}
    sys.stdout.buffer.write(json.dumps(answer, ensure_ascii=False).encode("utf-8"))
