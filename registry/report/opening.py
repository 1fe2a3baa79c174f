"""A PDF from anybody, opened within limits.

What inflates to more than a supplement ever has is not inflated, and what never ends is not waited for. qpdf's limits are of the whole
process: they are set while a file is open, and put back. A process of its own for each file, as cards get one, would take longer than all
else that is asked of a supplement; what these limits leave a hostile file is some seconds, and memory in proportion to them.
"""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from registry.errors import Fault, InputError

if TYPE_CHECKING:
    from pikepdf import Object, Pdf

LARGEST_STREAM_BYTES = 50_000_000
"""Of what any compressed stream may inflate to."""
MOST_OBJECTS = 500_000
_MOST_ITEMS = 500_000
_MOST_NESTING = 100
_MOST_FILTERS = 2
_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An open PDF, and until when it may be read."""

    pdf: "Pdf"
    where: str
    deadline: float

    def walk(self) -> "Iterator[tuple[int, Object]]":
        """Yield every object with its number; raises InputError `pdf-too-slow` when the time is up."""
        for one in self.pdf.objects:
            if time.monotonic() > self.deadline:
                raise InputError(Fault(code="pdf-too-slow", where=self.where, found="reading it takes longer than any supplement does"))
            yield one.objgen[0], one


@contextmanager
def open_pdf(data: bytes, *, where: str, seconds: float = _SECONDS) -> Iterator[Opened]:
    """Open the PDF *data*, damaged or not; what goes wrong in the block is told in words.

    Args:
        data: the file.
        where: what it is called, for messages.
        seconds: how long `Opened.walk` may take.

    Raises:
        InputError: `pdf-encrypted`, `pdf-too-slow`, `file-too-large` (also what inflates to too much), `file-not-readable`.
    """
    import pikepdf  # noqa: PLC0415  (only PDFs need it)
    from pikepdf.settings import set_qpdf_limits  # noqa: PLC0415

    before = set_qpdf_limits(
        flate_max_memory=LARGEST_STREAM_BYTES,
        run_length_max_memory=LARGEST_STREAM_BYTES,
        png_max_memory=LARGEST_STREAM_BYTES,
        tiff_max_memory=LARGEST_STREAM_BYTES,
        parser_max_nesting=_MOST_NESTING,
        parser_max_container_size=_MOST_ITEMS,
        max_stream_filters=_MOST_FILTERS,
        doc_max_warnings=1_000,
    )
    try:
        with pikepdf.Pdf.open(BytesIO(data)) as pdf:
            _refuse_unusual(pdf, where)
            yield Opened(pdf=pdf, where=where, deadline=time.monotonic() + seconds)
    except InputError:
        raise
    except pikepdf.PasswordError as error:
        raise _encrypted(where) from error
    except Exception as error:  # pikepdf raises errors of many kinds on hostile files
        raise _explain(error, where) from error
    finally:
        set_qpdf_limits(**before)  # type: ignore[arg-type]


def _refuse_unusual(pdf: "Pdf", where: str) -> None:
    if pdf.is_encrypted:
        raise _encrypted(where)
    if len(pdf.objects) > MOST_OBJECTS:
        found = f"it has {len(pdf.objects):,} objects; no supplement has more than {MOST_OBJECTS:,}"
        raise InputError(Fault(code="file-too-large", where=where, found=found))


def _encrypted(where: str) -> InputError:
    advice = "ask for the file as caveat report wrote it"
    return InputError(Fault(code="pdf-encrypted", where=where, found="it is encrypted, which no supplement is", advice=advice))


def _explain(error: Exception, where: str) -> InputError:
    if "limit exceeded" in str(error) or isinstance(error, MemoryError):
        found = f"something in it inflates to more than {LARGEST_STREAM_BYTES:,} bytes"
        return InputError(Fault(code="file-too-large", where=where, found=found))
    words = re.sub(r"(stream )?<_io\.BytesIO[^>]*>:? ?", "", str(error)).partition(";")[0][:200]
    return InputError(Fault(code="file-not-readable", where=where, found=f"not a PDF that can be read: {words or type(error).__name__}"))
