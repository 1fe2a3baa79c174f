"""A supplement as PDF/A-3 and PDF/UA-1, in this process. The one door to WeasyPrint.

`workers.render_pdf` is what commands call: it does this in a process of its own, with a time limit.
"""

import warnings
from contextlib import suppress
from datetime import UTC
from functools import cache
from typing import Any

from registry.errors import Fault, UnavailableError
from registry.records.supplement import AnySupplement, CardSupplement, ChangeReport, Supplement
from registry.report.finish import finish_pdf
from registry.report.fonts import SCHEME, build_font_faces, find_font, is_covered
from registry.report.html import Medium, build_html, read_template, render_json
from registry.report.wording import NUMBERS, TITLES

PACKAGES = "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"


def draw_pdf(supplement: AnySupplement) -> bytes:
    """Return *supplement* as a PDF with its canonical JSON attached; the same record gives the same bytes.

    Raises:
        UnavailableError: Pango or HarfBuzz is missing; the advice names the Debian packages.
    """
    engine = _engine()
    record = render_json(supplement)
    html = build_html(supplement, medium=Medium.PRINT, covers=is_covered)
    attachment = engine.weasyprint.Attachment(
        string=record,
        name="supplement.json",
        description="The record this document is drawn from, as canonical JSON (RFC 8785)",
        created=supplement.made_at.astimezone(UTC),
        modified=supplement.made_at.astimezone(UTC),
        relationship="Source",
    )
    document = engine.weasyprint.HTML(string=html, base_url="bundled:", url_fetcher=engine.fetcher).render(
        font_config=engine.font_config, stylesheets=[engine.style]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # WeasyPrint 70 leaves its colour profile open
        drawn: bytes = document.write_pdf(pdf_variant="pdf/a-3a", attachments=[attachment])
    return finish_pdf(drawn, title=_title(supplement), moment=supplement.made_at, links=_link_names(supplement))


def load_engine() -> None:
    """Load what draws, before there is something to draw; what is missing is told by `draw_pdf`."""
    with suppress(UnavailableError):
        _engine()


def _title(supplement: AnySupplement) -> str:
    match supplement:
        case Supplement():
            kind = "claim supplement"
        case CardSupplement():
            kind = "card supplement"
        case ChangeReport():
            kind = "change report"
    return f"Caveat {kind} {supplement.identifier}"


def _link_names(supplement: AnySupplement) -> dict[str, str]:
    """What each internal link leads to, in words, for readers who hear it."""
    if isinstance(supplement, ChangeReport):
        return {f"change-{number}": f"What changed of {one.claim}" for number, one in enumerate(supplement.changes, start=1)}
    if isinstance(supplement, CardSupplement):
        return {f"claim-{number}": f"Claim {row.identifier}" for number, row in enumerate(supplement.claims, start=1)}
    return {section.value: f"Section {NUMBERS[section]}, {title}" for section, title in TITLES.items()}


class _Engine:
    """WeasyPrint with the bundled fonts and the parsed style sheet, shared by all documents of a process."""

    def __init__(self) -> None:
        import weasyprint  # noqa: PLC0415  (half a second that only printing pays)
        from weasyprint.text.fonts import FontConfiguration  # noqa: PLC0415

        self.weasyprint: Any = weasyprint
        self.fetcher = _build_fetcher()
        self.font_config = FontConfiguration()
        css = "\n".join([build_font_faces(), read_template("base.css"), read_template("print.css")])
        self.style = weasyprint.CSS(string=css, font_config=self.font_config, url_fetcher=self.fetcher, base_url="bundled:")


@cache
def _engine() -> _Engine:
    try:
        engine = _Engine()
    except OSError as error:
        raise UnavailableError(_missing_library(str(error).splitlines()[0].partition(":")[0])) from error
    from weasyprint.pdf.fonts import harfbuzz_subset  # noqa: PLC0415  (importable once the engine stands)

    if not harfbuzz_subset:
        raise UnavailableError(_missing_library("libharfbuzz-subset cannot be loaded, and without it the same record gives other bytes"))
    return engine


def _missing_library(found: str) -> Fault:
    return Fault(
        code="pdf-library-missing",
        where="PDF",
        found=found,
        advice=f"on Debian or Ubuntu: apt-get install {PACKAGES}; HTML and JSON work without them",
    )


def _build_fetcher() -> Any:
    """Return a fetcher for which nothing exists but the bundled fonts: no network, no files, no data URLs."""
    # WeasyPrint has no types, so its port is Any to mypy.
    from weasyprint.urls import FatalURLFetchingError, URLFetcher, URLFetcherResponse  # noqa: PLC0415

    class _BundledFetcher(URLFetcher):  # type: ignore[misc]
        def fetch(self, url: str, headers: Any = None) -> Any:  # noqa: ARG002  (the port has it)
            if not url.startswith(SCHEME):
                raise FatalURLFetchingError(f"a supplement reaches for {url[:200]!r}, which is not bundled")
            return URLFetcherResponse(url, find_font(url.removeprefix(SCHEME)).read_bytes(), {"Content-Type": "font/ttf"})

    return _BundledFetcher()
