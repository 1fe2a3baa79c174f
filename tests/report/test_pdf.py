"""The PDF: a lint of our own for what PDF/A-3 and PDF/UA-1 ask, and one test for each defect that the finisher mends."""

import re
import warnings
from collections.abc import Iterator, Mapping
from io import BytesIO
from itertools import pairwise
from typing import Any

import pypdfium2
import pytest
from pikepdf import Array, Dictionary, Name, Pdf

from registry.errors import UnavailableError
from registry.records.supplement import Supplement
from registry.report import pdf_rendering as pdf_module
from registry.report.html_rendering import Medium, build_html, render_json
from registry.report.pdf_rendering import _engine, find_elements, finish_pdf, render_pdf_in_process
from tests.report.builders import MADE_AT

PDFS = ["inverted_pdf", "hostile_pdf", "card_pdf", "found_pdf", "escaping_pdf", "change_pdf"]


@pytest.fixture(params=PDFS)
def printed(request: pytest.FixtureRequest) -> Iterator[Pdf]:
    with Pdf.open(BytesIO(request.getfixturevalue(request.param))) as pdf:
        yield pdf


@pytest.fixture(scope="module")
def raw(supplements: Mapping[str, Supplement]) -> bytes:
    """What WeasyPrint itself makes of the same HTML, before anything is mended."""
    engine = _engine()
    html = build_html(supplements["inverted"], medium=Medium.PRINT, covers=None)
    document = engine.weasyprint.HTML(string=html, base_url="bundled:", url_fetcher=engine.fetcher).render(
        font_config=engine.font_config, stylesheets=[engine.style]
    )
    attachment = engine.weasyprint.Attachment(string=b"{}", name="supplement.json", created=MADE_AT, modified=MADE_AT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        drawn: bytes = document.write_pdf(pdf_variant="pdf/a-3a", attachments=[attachment])
    return drawn


@pytest.fixture
def unmended(raw: bytes) -> Iterator[Pdf]:
    with Pdf.open(BytesIO(raw)) as pdf:
        yield pdf


@pytest.fixture
def mended(raw: bytes) -> Iterator[Pdf]:
    with Pdf.open(BytesIO(finish_pdf(raw, title="A title", moment=MADE_AT, links={"estimates": "Section 4, Estimates"}))) as pdf:
        yield pdf


def kinds(pdf: Pdf, kind: str) -> list[Any]:
    return [element for element, _ in find_elements(pdf) if str(element.S) == kind]


def packet(pdf: Pdf) -> str:
    return bytes(pdf.Root.Metadata.read_bytes()).decode()


def annotations(pdf: Pdf) -> list[Any]:
    """All but the field for the signature, which is described by its TU."""
    return [one for page in pdf.pages for one in page.obj.get(Name.Annots, Array()) if one.Subtype != Name.Widget]


def reached(pdf: Pdf) -> int:
    return sum(
        isinstance(kid, int) for element, _ in find_elements(pdf) for kid in (element.K if isinstance(element.get(Name.K), Array) else [])
    )


def marked(pdf: Pdf) -> int:
    return sum(len(re.findall(rb"/MCID\s+\d+", page.Contents.read_bytes())) for page in pdf.pages)


# --- what the standards ask ---


def test_both_standards_are_declared(printed: Pdf) -> None:
    """PDF/A-3A and PDF/UA-1 at once, with the extension schema that PDF/A wants for the second."""
    text = packet(printed)

    assert "<pdfaid:part>3</pdfaid:part><pdfaid:conformance>A</pdfaid:conformance>" in text
    assert "<pdfuaid:part>1</pdfuaid:part>" in text
    assert "<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>" in text


def test_the_document_is_tagged_and_named(printed: Pdf) -> None:
    """Marked, in a language, with its title in the window bar, and bookmarks."""
    root = printed.Root

    assert bool(root.MarkInfo.Marked)
    assert str(root.Lang) == "en"
    assert bool(root.ViewerPreferences.DisplayDocTitle)
    assert str(printed.docinfo["/Title"]).startswith("Caveat c")
    with printed.open_outline() as outline:
        assert len(list(outline.root)) >= 1


def test_the_bookmarks_are_the_numbered_sections(inverted_pdf: bytes) -> None:
    """Those that are printed, under the title, in order."""
    with Pdf.open(BytesIO(inverted_pdf)) as pdf, pdf.open_outline() as outline:
        names = [child.title for child in outline.root[0].children]

    assert [name.split()[0] for name in names] == [str(number) for number in range(1, len(names) + 1)]
    assert names[0].split() == ["1", "Estimates"]
    assert names[-1].split()[1:] == ["Verification"]


def test_nothing_in_it_acts(printed: Pdf) -> None:
    """No JavaScript, no launch, no submission, no external address."""
    forbidden = {"/JavaScript", "/Launch", "/SubmitForm", "/ImportData", "/URI", "/GoToR", "/GoToE", "/Rendition", "/Movie", "/Sound"}
    actions = {str(one.get(Name.S)) for one in printed.objects if isinstance(one, Dictionary) and Name.S in one}

    assert not actions & forbidden
    assert Name.OpenAction not in printed.Root
    assert Name.AA not in printed.Root
    assert Name.JavaScript not in printed.Root.get(Name.Names, Dictionary())


def test_the_only_form_field_is_an_empty_place_for_a_signature(printed: Pdf) -> None:
    """Printed and without extent, as PDF/A asks of what has no appearance; named; in the structure, as PDF/UA asks of a field."""
    (field,) = printed.Root.AcroForm.Fields
    (form,) = kinds(printed, "/Form")
    parents = printed.Root.StructTreeRoot.ParentTree.Nums
    by_key = {int(parents[at]): parents[at + 1] for at in range(0, len(parents), 2)}

    assert set(printed.Root.AcroForm.keys()) == {"/Fields", "/SigFlags"}
    assert str(field.FT) == "/Sig"
    assert Name.V not in field
    assert int(field.F) == 4 | 128
    assert [int(value) for value in field.Rect] == [0, 0, 0, 0]
    assert str(field.TU) == str(form.Alt) != ""
    assert form.K[0].Obj.objgen == field.objgen
    assert by_key[int(field.StructParent)].objgen == form.objgen
    assert printed.pages[-1].obj.objgen == field.P.objgen
    assert len(printed.Root.Perms) == 0


def test_all_fonts_are_embedded_and_ours(printed: Pdf) -> None:
    """Nothing from the machine: two families, each with its file inside and its text readable."""
    fonts = [
        one for one in printed.objects if isinstance(one, Dictionary) and one.get(Name.Type) == Name.Font and Name.DescendantFonts in one
    ]

    assert fonts
    for font in fonts:
        assert re.fullmatch(r"/[A-Z]{6}\+(Source-Sans-3|IBM-Plex-Mono)[-\w]*", str(font.BaseFont))
        assert Name.FontFile2 in font.DescendantFonts[0].FontDescriptor
        assert Name.ToUnicode in font


def test_the_record_is_attached_with_its_relation(printed: Pdf) -> None:
    """One file, canonical JSON, related to the document as its source, with the document's date."""
    attached = printed.Root.AF

    assert len(attached) == 1
    assert str(attached[0].AFRelationship) == "/Source"
    assert list(printed.attachments) == ["supplement.json"]
    assert str(attached[0].EF.F.Subtype) == "/application/json"


def test_the_attached_record_is_the_canonical_json(inverted_pdf: bytes, supplements: Mapping[str, Supplement]) -> None:
    """Byte for byte."""
    with Pdf.open(BytesIO(inverted_pdf)) as pdf:
        attached = pdf.attachments["supplement.json"].get_file().read_bytes()

    assert attached == render_json(supplements["inverted"])


def test_every_page_follows_the_structure_and_has_an_output_intent(printed: Pdf) -> None:
    """Tab order by structure, colours defined."""
    assert all(page.obj.get(Name.Tabs) == Name.S for page in printed.pages)
    assert str(printed.Root.OutputIntents[0].S) == "/GTS_PDFA1"


def test_figures_have_words_in_their_place(printed: Pdf) -> None:
    """Each figure has alternative text."""
    figures = kinds(printed, "/Figure")

    assert figures
    assert all(str(figure.get(Name.Alt, "")).strip() for figure in figures)


def test_headings_are_tagged_in_order(printed: Pdf) -> None:
    """One H1 first, then no level skipped."""
    found: list[int] = []

    def walk(element: Any) -> None:
        kind = str(element.get(Name.S, ""))
        if re.fullmatch(r"/H\d", kind):
            found.append(int(kind[-1]))
        inner = element.get(Name.K)
        for kid in inner if isinstance(inner, Array) else [inner]:
            if isinstance(kid, Dictionary):
                walk(kid)

    walk(printed.Root.StructTreeRoot)

    assert found[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(found))


def test_the_dates_are_the_one_that_was_given(printed: Pdf) -> None:
    """No clock was read."""
    assert str(printed.docinfo["/CreationDate"]) == str(printed.docinfo["/ModDate"]) == "D:20261121150409Z"
    assert "2026-11-21T15:04:09Z" in packet(printed)


def test_no_text_is_lost_to_a_missing_glyph(hostile_pdf: bytes) -> None:
    """Every glyph that is printed maps back to a character, and replaced ones are listed."""
    document = pypdfium2.PdfDocument(hostile_pdf)
    text = "".join(document[number].get_textpage().get_text_bounded() for number in range(len(document)))

    assert "\ufffd" not in text
    assert "\x00" not in text
    assert "Characters replaced." in text
    assert "U+05E9" in text
    assert "<script>alert(1)</script>" in text


def test_nothing_outside_the_bundle_can_be_fetched() -> None:
    """Files, network and data URLs are refused with an error that cannot be swallowed."""
    from weasyprint.urls import FatalURLFetchingError

    for url in ("file:///etc/passwd", "http://evil.example/", "https://evil.example/", "data:text/plain,x", "ftp://evil.example/"):
        with pytest.raises(FatalURLFetchingError):
            _engine().fetcher.fetch(url)
    with pytest.raises(FileNotFoundError):
        _engine().fetcher.fetch("bundled:../../LICENSE")


def test_a_missing_library_is_named_with_its_packages(monkeypatch: pytest.MonkeyPatch, supplements: Mapping[str, Supplement]) -> None:
    """Without Pango the command says what to install and exits with 3."""

    class Missing:
        def __init__(self) -> None:
            raise OSError("cannot load library 'libpango-1.0-0'")

    _engine.cache_clear()
    monkeypatch.setattr(pdf_module, "_Engine", Missing)
    with pytest.raises(UnavailableError) as caught:
        render_pdf_in_process(supplements["unaudited"])
    _engine.cache_clear()

    assert caught.value.code == "pdf-library-missing"
    assert caught.value.exit_code == 3
    assert "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0" in str(caught.value)


# --- what WeasyPrint 70 leaves, and the finisher mends: when the first assertion fails, the defect is gone upstream ---


def test_mended_table_headers_without_scope(unmended: Pdf, mended: Pdf) -> None:
    """WeasyPrint writes no Scope on TH."""
    assert not any(Name.Scope in one.A for one in kinds(unmended, "/TH"))

    headers = kinds(mended, "/TH")
    assert {str(one.A.Scope) for one in headers} == {"/Column", "/Row"}


def test_mended_identifiers_without_a_tree(unmended: Pdf, mended: Pdf) -> None:
    """WeasyPrint gives headers an ID but no IDTree lists them, and repeated headers share theirs."""
    assert any(Name.ID in one for one in kinds(unmended, "/TH"))
    assert Name.IDTree not in unmended.Root.StructTreeRoot

    assert not any(Name.ID in one for one in [*kinds(mended, "/TH"), *kinds(mended, "/TD")])
    assert not any(Name.Headers in one.A for one in kinds(mended, "/TD") if Name.A in one)


def test_mended_running_heads_tagged_as_content(unmended: Pdf, mended: Pdf) -> None:
    """WeasyPrint marks the text in page margins as content that no structure reaches."""
    assert marked(unmended) > reached(unmended)

    assert marked(mended) == reached(mended)
    assert all(b"/Artifact <</Type /Pagination>> BDC" in page.Contents.read_bytes() for page in mended.pages)


def test_mended_links_described_by_an_anchor(unmended: Pdf, mended: Pdf) -> None:
    """WeasyPrint describes a link by the name of its anchor."""
    assert "estimates" in {str(one.Contents) for one in annotations(unmended)}

    assert "Section 4, Estimates" in {str(one.Contents) for one in annotations(mended)}
    assert all(str(one.Contents).strip() for one in annotations(mended))


def test_mended_figure_boxes_in_pixels(unmended: Pdf, mended: Pdf) -> None:
    """WeasyPrint gives figure boxes in CSS pixels from the top of the page."""
    before, after = (kinds(pdf, "/Figure") for pdf in (unmended, mended))
    width = float(mended.pages[0].MediaBox[2])
    assert any(float(one.A.BBox[2]) > width for one in before)

    for figure in after:
        left, bottom, right, top = (float(value) for value in figure.A.BBox)
        assert 0 <= left < right <= width
        assert 0 <= bottom < top <= float(mended.pages[0].MediaBox[3])


def test_mended_attachments_listed_twice(unmended: Pdf, mended: Pdf) -> None:
    """WeasyPrint lists each attachment twice in AF."""
    assert len(unmended.Root.AF) == 2

    assert len(mended.Root.AF) == 1


def test_mended_second_standard_missing(unmended: Pdf, mended: Pdf) -> None:
    """WeasyPrint declares one standard, not both."""
    assert "pdfuaid" not in packet(unmended)

    assert "pdfuaid:part" in packet(mended)


def test_mended_font_tags_from_a_string_of_pango(unmended: Pdf, mended: Pdf) -> None:
    """WeasyPrint names a subset by a hash of Pango's description; ours is a hash of the font's bytes, and is used everywhere."""

    def tags(pdf: Pdf) -> set[str]:
        found = [
            one for one in pdf.objects if isinstance(one, Dictionary) and one.get(Name.Type) == Name.Font and Name.DescendantFonts in one
        ]
        return {str(one.BaseFont)[1:7] for one in found}

    def used(pdf: Pdf) -> set[str]:
        return {tag.decode() for page in pdf.pages for tag in re.findall(rb"/([A-Z]{6}) [-\d.]+ Tf", page.Contents.read_bytes())}

    assert tags(unmended) != tags(mended)
    assert used(mended) <= tags(mended)
    assert len(tags(mended)) == 4


def test_the_file_is_sound(printed: Pdf) -> None:
    """The syntax checker of qpdf finds nothing to complain about."""
    assert printed.check_pdf_syntax() == []
