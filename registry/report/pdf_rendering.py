"""A supplement as PDF/A-3 and PDF/UA-1, rendered in this process. The one door to WeasyPrint."""

import hashlib
import re
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import version
from io import BytesIO
from itertools import count
from pathlib import Path
from platform import python_version_tuple
from typing import Any
from xml.sax.saxutils import escape

import pikepdf
from pikepdf import Array, Dictionary, Name, Object, Pdf, String

from registry.configuration import find_resource
from registry.errors import Fault, UnavailableError
from registry.records.supplement import AnySupplement, CardSupplement, ChangeReport, Supplement
from registry.report.claim_outcome import find_absent, number_sections
from registry.report.font_subset import FACES, list_characters
from registry.report.html_rendering import Medium, build_html, read_template, render_json, template_digest
from registry.report.published_file import describe_link
from registry.report.supplement_wording import TITLES

# Only bundled fonts: a font of the machine would make other bytes from the same record.

SCHEME = "bundled:"


def find_font(name: str) -> Path:
    """Return the file of the bundled font *name*; raises FileNotFoundError for anything else."""
    # The name can come from a style sheet, so only listed files are opened.
    if name not in {f"{file}.ttf" for _, file, _, _ in FACES}:
        raise FileNotFoundError(f"{name} is not one of the bundled fonts")
    return find_resource("report_templates") / "fonts" / name


def build_font_faces() -> str:
    """Return the CSS that names the bundled fonts by the `bundled:` scheme, which only our own fetcher understands."""
    return "\n".join(
        f'@font-face{{font-family:"{family}";font-weight:{weight};font-style:{style};src:url("{SCHEME}{file}.ttf")}}'
        for family, file, weight, style in FACES
    )


def is_covered(character: str) -> bool:
    """Whether the bundled fonts have a glyph for *character*."""
    return ord(character) in _covered()


@cache
def _covered() -> frozenset[int]:
    """Every text style falls back on both families, so one union serves them all; each weight has the same characters."""
    return list_characters("SourceSans3-Regular.ttf") | list_characters("IBMPlexMono-Regular.ttf")


# What WeasyPrint 70 leaves undone for PDF/A-3 together with PDF/UA-1.
#
# The written file is mended by pikepdf, not by a hook inside WeasyPrint (decision of 2026-11-21):
# qpdf orders the objects and derives the identifier from the content, so the bytes are the same on
# every machine. It costs 45 ms a document. WeasyPrint is pinned below 71. Each defect has one
# function and one test, so that a fix upstream is noticed.
#
# The one door to pikepdf for writing.

SIGNATURE_WORDS = "Digital signature of the auditor's registry; empty in a file that was not signed"
"""What the field for the signature is called by readers that speak."""

_PRINTED_AND_LOCKED = 4 | 128
_HAS_FIELD_AND_IS_ONLY_APPENDED_TO = 1 | 2
_PIXELS_TO_POINTS = 0.75
_MARKED = re.compile(rb"/(\w+)\s*<<\s*/MCID\s+(\d+)\s*>>\s*BDC")
_FONT_USE = re.compile(rb"/([A-Z]{6})(?=\s+[-\d.]+\s+Tf)")


Element = tuple[Object, tuple[str, ...]]
"""An element of the structure tree with the types of its ancestors, outermost first."""


def finish_pdf(content: bytes, *, title: str, moment: datetime, links: Mapping[str, str]) -> bytes:
    """Return *rendered* with its defects mended and written anew without anything that differs between two runs.

    Args:
        moment: the only date in the file.
        links: what each internal link leads to, in words, by the name of its anchor.
    """
    with Pdf.open(BytesIO(content)) as pdf:
        # The tree is read once: all mends change attributes of these same elements.
        elements = list(find_elements(pdf))
        mend_scopes(elements)
        mend_running_heads(pdf, elements)
        mend_figure_boxes(elements)
        mend_link_contents(pdf, links)
        mend_attachments(pdf)
        mend_font_tags(pdf)
        mend_identification(pdf, title=title, moment=moment)
        add_signature_field(pdf)
        output = BytesIO()
        pdf.save(
            output,
            # Derived from the content, since two runs must give the same bytes.
            deterministic_id=True,
            object_stream_mode=pikepdf.ObjectStreamMode.generate,
            compress_streams=True,
            recompress_flate=False,
            min_version="1.7",
            fix_metadata_version=False,
        )
    return output.getvalue()


def find_elements(pdf: Pdf) -> Iterator[Element]:
    """Yield every element of the structure tree with the types of its ancestors, outermost first."""
    stack: list[tuple[Object, tuple[str, ...]]] = [(pdf.Root.StructTreeRoot, ())]
    while stack:
        element, path = stack.pop()
        kids = element.get(Name.K)
        kind = str(element.get(Name.S, ""))
        if kind:
            yield element, path
        below = (*path, kind) if kind else path
        stack.extend((kid, below) for kid in _as_list(kids) if isinstance(kid, Dictionary) and Name.S in kid)


def mend_scopes(elements: Sequence[Element]) -> None:
    """Give every table header its scope, and drop the identifiers that no IDTree lists and that repeated headers share."""
    for element, path in elements:
        kind = str(element.S)
        if kind not in ("/TH", "/TD"):
            continue
        # Repeated table heads share identifiers, and no IDTree lists them.
        if Name.ID in element:
            del element.ID
        attributes = element.get(Name.A)
        if isinstance(attributes, Dictionary) and Name.Headers in attributes:
            del attributes.Headers
        if kind == "/TH":
            # A head inside THead heads a column, any other a row.
            scope = Name.Column if "/THead" in path else Name.Row
            if not isinstance(attributes, Dictionary):
                element.A = Dictionary(O=Name.Table, Scope=scope)
            else:
                attributes.Scope = scope


def mend_running_heads(pdf: Pdf, elements: Sequence[Element]) -> None:
    """Turn the tagged text of page margins into artifacts: the structure tree does not reach it."""
    reached = _find_marked_content(elements)
    parents = pdf.Root.StructTreeRoot.ParentTree.Nums
    # The parent tree is a flat list of keys and values (ISO 32000-2, 7.9.7).
    by_key = {int(parents[position]): parents[position + 1] for position in range(0, len(parents), 2)}
    for page in pdf.pages:
        known = reached.get(page.obj.objgen, set())
        content = page.Contents.read_bytes()
        mended = _MARKED.sub(partial(_keep_or_artifact, known), content)
        if mended != content:
            page.Contents = pdf.make_stream(mended)
        entry = by_key.get(int(page.obj.get(Name.StructParents, -1)))
        if isinstance(entry, Array):
            # An artifact has no parent in the structure; its place stays, because the places are
            # numbered.
            for number in range(len(entry)):
                if number not in known:
                    entry[number] = None


def _keep_or_artifact(numbers: set[int], match: re.Match[bytes]) -> bytes:
    # Running heads repeat on every page and are no content for a screen reader.
    return match[0] if int(match[2]) in numbers else b"/Artifact <</Type /Pagination>> BDC"


def _find_marked_content(elements: Sequence[Element]) -> dict[tuple[int, int], set[int]]:
    """Return the marked-content numbers that the structure tree reaches, by page."""
    reached: dict[tuple[int, int], set[int]] = {}
    for element, _ in elements:
        page = element.get(Name.Pg)
        if page is None:
            continue
        for kid in _as_list(element.get(Name.K)):
            if isinstance(kid, int):
                reached.setdefault(page.objgen, set()).add(kid)
    return reached


def mend_figure_boxes(elements: Sequence[Element]) -> None:
    """Say where figures are in points from the bottom of the page, not in CSS pixels from its top."""
    for element, _ in elements:
        attributes = element.get(Name.A)
        if str(element.S) != "/Figure" or not isinstance(attributes, Dictionary) or Name.BBox not in attributes:
            continue
        # PDF counts from the bottom in points (1/72 inch); WeasyPrint writes CSS pixels (1/96 inch)
        # from the top.
        height = float(element.Pg.MediaBox[3])
        left, top, right, bottom = (float(value) * _PIXELS_TO_POINTS for value in attributes.BBox)
        attributes.BBox = Array([_round(left), _round(height - bottom), _round(right), _round(height - top)])
        if Name.Placement not in attributes:
            attributes.Placement = Name.Block


def _round(value: float) -> float:
    return round(value, 3)


def mend_link_contents(pdf: Pdf, links: Mapping[str, str]) -> None:
    """Describe each link by what it leads to, not by the name of an anchor or by an address."""
    for page in pdf.pages:
        for annotation in page.obj.get(Name.Annots, Array()):
            if annotation.get(Name.Subtype) == Name.Link:
                action = annotation.get(Name.A)
                # A file link is described by the file it leads to, an internal one by its section.
                if isinstance(action, Dictionary) and Name.URI in action:
                    annotation.Contents = String(describe_link(str(action.URI)))
                    continue
                target = str(annotation.get(Name.Dest, annotation.get(Name.Contents, "")))
                annotation.Contents = String(links.get(target, f"Go to {target}" if target else "Link"))


def mend_attachments(pdf: Pdf) -> None:
    """List each attached file once, in two objects of their own: a proof is added later by replacing them (`enclosed`)."""
    listed = pdf.Root.get(Name.AF)
    if listed is None:
        return
    # A repeated entry would count as a second attachment for `verify`.
    seen: dict[tuple[int, int], Object] = {}
    for file in listed:
        seen.setdefault(file.objgen, file)
    # Indirect, so that adding a proof replaces these two objects and touches nothing else.
    pdf.Root.AF = pdf.make_indirect(Array(list(seen.values())))
    tree = pdf.Root.Names.EmbeddedFiles
    pdf.Root.Names.EmbeddedFiles = pdf.make_indirect(Dictionary(Names=Array(list(tree.Names))))


def mend_font_tags(pdf: Pdf) -> None:
    """Name each font subset by a hash of its bytes: WeasyPrint's tag hashes a string that differs between releases of Pango."""
    tags: dict[bytes, bytes] = {}
    resources = _find_font_resources(pdf)
    for fonts in resources:
        for key in list(fonts.keys()):
            font = fonts[key]
            new = _tag_of(font)
            # Two passes: first all new names, then the references to them.
            tags[key[1:].encode()] = new
            _rename_font(font, new.decode())
    for fonts in resources:
        renamed = {f"/{tags[key[1:].encode()].decode()}": fonts[key] for key in list(fonts.keys()) if key[1:].encode() in tags}
        for key in list(fonts.keys()):
            del fonts[key]
        # Sorted, because the order of the old keys follows the old tags.
        for key in sorted(renamed):
            fonts[key] = renamed[key]
    _rename_uses(pdf, tags)


def _find_font_resources(pdf: Pdf) -> list[Object]:
    """Return the font dictionaries of all resources, each once."""
    objects: dict[tuple[int, int], Object] = {}
    for object_ in pdf.objects:
        # Resources have fonts and no type of their own.
        if isinstance(object_, Dictionary) and isinstance(object_.get(Name.Font), Dictionary) and Name.Type not in object_:
            objects.setdefault(object_.Font.objgen, object_.Font)
    return list(objects.values())


def _tag_of(font: Object) -> bytes:
    """Six capital letters from the embedded file of *font* and its name (two faces never share both)."""
    descriptor = font.DescendantFonts[0].FontDescriptor
    file = descriptor[Name.FontFile2 if Name.FontFile2 in descriptor else Name.FontFile3]
    # The hash covers the subset itself: equal subsets get equal tags on every machine.
    name = str(font.BaseFont).split("+", 1)[-1]
    hashed = hashlib.sha256(file.read_bytes() + name.encode()).digest()
    return bytes(65 + value % 26 for value in hashed[:6])


def _rename_font(font: Object, tag: str) -> None:
    # Pango writes a comma after a family that ends in a digit.
    name = Name(f"/{tag}+{str(font.BaseFont).split('+', 1)[-1].lstrip('/').replace(',', '')}")
    font.BaseFont = name
    below = font.DescendantFonts[0]
    below.BaseFont = name
    below.FontDescriptor.FontName = name


def _rename_uses(pdf: Pdf, tags: Mapping[bytes, bytes]) -> None:
    # Fonts are used in pages and in form objects.
    streams = [object_ for object_ in pdf.objects if isinstance(object_, pikepdf.Stream) and object_.get(Name.Subtype) == Name.Form]
    for stream in [*(page.Contents for page in pdf.pages), *streams]:
        content = stream.read_bytes()
        renamed = _FONT_USE.sub(lambda match: b"/" + tags.get(match[1], match[1]), content)
        if renamed != content:
            stream.write(renamed)


def mend_identification(pdf: Pdf, *, title: str, moment: datetime) -> None:
    """Declare PDF/A-3A and PDF/UA-1 together, with the schema that PDF/A asks for, and the same dates everywhere."""
    # One moment in the information dictionary and in the metadata.
    info = pdf.docinfo
    stamp = moment.astimezone(UTC)
    author, subject = str(info.get(Name.Author, "")), str(info.get(Name.Subject, ""))
    producer, creator = str(info.get(Name.Producer, "WeasyPrint")), str(info.get(Name.Creator, "Caveat"))
    packet = _XMP.format(
        title=escape(title),
        author=escape(author),
        subject=escape(subject),
        producer=escape(producer),
        creator=escape(creator),
        iso=stamp.strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    metadata = pdf.make_stream(packet.encode())
    metadata.Type, metadata.Subtype = Name.Metadata, Name.XML
    pdf.Root.Metadata = metadata
    date = stamp.strftime("D:%Y%m%d%H%M%SZ")
    for key, text in (("/Title", title), ("/CreationDate", date), ("/ModDate", date), ("/Creator", creator)):
        info[key] = String(text)


def add_signature_field(pdf: Pdf) -> None:
    """Add an empty field for a signature, and an empty dictionary of permissions: signing then replaces these two objects and adds one.

    The field is tagged, named and printed, without extent: PDF/A-3 (ISO 19005-3, 6.3.2) forbids hidden annotations and asks for no
    appearance of one without area; PDF/UA-1 (ISO 14289-1, 7.18.1, 7.18.4) wants it inside a Form element, with words in its place.
    A field that the signer added would be outside the structure.
    """
    # Every PDF has this field, signed or not. Signing then only appends to reproducible bytes
    # (decision of 2026-11-22).
    tree, page = pdf.Root.StructTreeRoot, pdf.pages[-1].obj
    # WeasyPrint may write no next key; then it is one above the largest.
    key = int(tree.ParentTreeNextKey) if Name.ParentTreeNextKey in tree else _next_parent_key(tree.ParentTree)
    top = _as_list(tree.K)[0]
    field = pdf.make_indirect(
        Dictionary(
            Type=Name.Annot,
            Subtype=Name.Widget,
            FT=Name.Sig,
            T=String("Signature"),
            TU=String(SIGNATURE_WORDS),
            F=_PRINTED_AND_LOCKED,
            Rect=Array([0, 0, 0, 0]),
            P=page,
            StructParent=key,
        )
    )
    reference = Dictionary(Type=Name.OBJR, Obj=field, Pg=page)
    element = Dictionary(Type=Name.StructElem, S=Name.Form, P=top, Pg=page, Alt=String(SIGNATURE_WORDS), K=Array([reference]))
    element = pdf.make_indirect(element)
    top.K = Array([*_as_list(top.get(Name.K)), element])
    tree.ParentTree.Nums = Array([*tree.ParentTree.Nums, key, element])
    tree.ParentTreeNextKey = key + 1
    page.Annots = Array([*page.get(Name.Annots, Array()), field])
    pdf.Root.AcroForm = Dictionary(Fields=Array([field]), SigFlags=_HAS_FIELD_AND_IS_ONLY_APPENDED_TO)
    # Signing puts DocMDP here, level 1: no change is permitted afterwards.
    pdf.Root.Perms = pdf.make_indirect(Dictionary())


def _next_parent_key(parents: Object) -> int:
    return 1 + max((int(number) for number in list(parents.Nums)[::2]), default=-1)


def _as_list(value: Object | None) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, Array) else [value]


_XMP = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/"><pdfaid:part>3</pdfaid:part>\
<pdfaid:conformance>A</pdfaid:conformance></rdf:Description>
<rdf:Description rdf:about="" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/"><pdfuaid:part>1</pdfuaid:part></rdf:Description>
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">{title}</rdf:li></rdf:Alt></dc:title>
<dc:creator><rdf:Seq><rdf:li>{author}</rdf:li></rdf:Seq></dc:creator>
<dc:description><rdf:Alt><rdf:li xml:lang="x-default">{subject}</rdf:li></rdf:Alt></dc:description>
<dc:language><rdf:Bag><rdf:li>en</rdf:li></rdf:Bag></dc:language>
</rdf:Description>
<rdf:Description rdf:about="" xmlns:pdf="http://ns.adobe.com/pdf/1.3/"><pdf:Producer>{producer}</pdf:Producer></rdf:Description>
<rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/"><xmp:CreatorTool>{creator}</xmp:CreatorTool>\
<xmp:CreateDate>{iso}</xmp:CreateDate><xmp:ModifyDate>{iso}</xmp:ModifyDate></rdf:Description>
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" \
xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
<pdfaSchema:schema>PDF/UA identification schema</pdfaSchema:schema>
<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI>
<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>
<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">
<pdfaProperty:name>part</pdfaProperty:name><pdfaProperty:valueType>Integer</pdfaProperty:valueType>
<pdfaProperty:category>internal</pdfaProperty:category><pdfaProperty:description>Part of ISO 14289 followed</pdfaProperty:description>
</rdf:li></rdf:Seq></pdfaSchema:property>
</rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>
</rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>"""


# The one door to WeasyPrint. Commands call `render_workers.render_pdf`, which does this in a
# process of its own with a time limit.

PACKAGES = "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"


def render_pdf_in_process(supplement: AnySupplement) -> bytes:
    """Return *supplement* as a PDF with its canonical JSON attached; the same record gives the same bytes.

    Raises:
        UnavailableError: Pango or HarfBuzz is missing; the advice names the Debian packages.
    """
    engine = _engine()
    # The JSON is attached as the source: a reader gets the record back from the PDF.
    record = render_json(supplement)
    html = build_html(supplement, medium=Medium.PRINT, covers=is_covered)
    attachment = engine.weasyprint.Attachment(
        string=record,
        name="supplement.json",
        description="The record this document was rendered from, as canonical JSON (RFC 8785)",
        # The record's own moment. The time of rendering would change the bytes.
        created=supplement.made_at.astimezone(UTC),
        modified=supplement.made_at.astimezone(UTC),
        relationship="Source",
    )
    # The base address has no scheme that a fetcher serves, so nothing outside is reached.
    document = engine.weasyprint.HTML(string=html, base_url="bundled:", url_fetcher=engine.fetcher).render(
        font_config=engine.font_config, stylesheets=[engine.style]
    )
    with warnings.catch_warnings():
        # The warning is about WeasyPrint's own file, and tests treat warnings as errors.
        warnings.simplefilter("ignore", ResourceWarning)  # WeasyPrint 70 leaves its colour profile open
        pdf: bytes = document.write_pdf(pdf_variant="pdf/a-3a", attachments=[attachment])
    return finish_pdf(pdf, title=_title(supplement), moment=supplement.made_at, links=_link_names(supplement))


def load_engine() -> None:
    """Load what draws, before there is something to draw; what is missing is reported by `render_pdf_in_process`."""
    with suppress(UnavailableError):
        _engine()


def describe_press() -> dict[str, str]:
    """Return what shapes a file besides its record, by name: the same press gives the same bytes.

    Raises:
        UnavailableError: Pango or HarfBuzz is missing.
    """
    _engine()
    from weasyprint.text.ffi import harfbuzz, pango  # noqa: PLC0415  (only who draws pays for it)

    libraries = {name: version(name) for name in ("weasyprint", "pydyf", "pikepdf", "fonttools", "tinycss2", "tinyhtml5", "pyphen")}
    system = {"pango": str(pango.pango_version()), "harfbuzz": _find_harfbuzz(harfbuzz.hb_version_atleast)}
    system["zlib"] = zlib.ZLIB_RUNTIME_VERSION
    return {**libraries, **system, "python": ".".join(python_version_tuple()[:2]), "templates": template_digest()}


def _find_harfbuzz(is_atleast: Callable[[int, int, int], bool]) -> str:
    """Return the version of HarfBuzz. WeasyPrint declares only the question whether it is at least another."""
    major = next(number for number in count() if not is_atleast(number + 1, 0, 0))
    minor = next(number for number in count() if not is_atleast(major, number + 1, 0))
    micro = next(number for number in count() if not is_atleast(major, minor, number + 1))
    return f"{major}.{minor}.{micro}"


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
        return {f"change-{number}": f"What changed of {change.claim}" for number, change in enumerate(supplement.changes, start=1)}
    if isinstance(supplement, CardSupplement):
        return {f"claim-{number}": f"Claim {row.identifier}" for number, row in enumerate(supplement.claims, start=1)}
    return {section.value: f"Section {number}, {TITLES[section]}" for section, number in number_sections(find_absent(supplement)).items()}


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
        # WeasyPrint fails with OSError where a system library is missing.
        engine = _Engine()
    except OSError as error:
        raise UnavailableError(_missing_library(str(error).splitlines()[0].partition(":")[0])) from error
    from weasyprint.pdf.fonts import harfbuzz_subset  # noqa: PLC0415  (importable once the engine stands)

    # Without this library WeasyPrint subsets fonts by other code, and the bytes differ. That is
    # refused, not accepted silently.
    if not harfbuzz_subset:
        raise UnavailableError(_missing_library("libharfbuzz-subset cannot be loaded, and without it the same record gives other bytes"))
    return engine


def _missing_library(text: str) -> Fault:
    return Fault(
        "pdf-library-missing", "PDF", text, advice=f"on Debian or Ubuntu: apt-get install {PACKAGES}; HTML and JSON work without them"
    )


def _build_fetcher() -> Any:
    """Return a fetcher for which nothing exists but the bundled fonts: no network, no files, no data URLs."""
    # WeasyPrint has no types, so its port is Any to mypy.
    from weasyprint.urls import FatalURLFetchingError, URLFetcher, URLFetcherResponse  # noqa: PLC0415

    class _BundledFetcher(URLFetcher):  # type: ignore[misc]
        def fetch(self, url: str, headers: Any = None) -> Any:  # noqa: ARG002  (the port has it)
            # Everything else is refused: a supplement with foreign text must not reach for a file
            # or an address.
            if not url.startswith(SCHEME):
                raise FatalURLFetchingError(f"a supplement reaches for {url[:200]!r}, which is not bundled")
            return URLFetcherResponse(url, find_font(url.removeprefix(SCHEME)).read_bytes(), {"Content-Type": "font/ttf"})

    return _BundledFetcher()
