"""A published file: the proof inside what was drawn, and the signature around both."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pypdfium2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pikepdf import Name, Pdf
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko.sign.validation.status import SignatureCoverageLevel
from pyhanko_certvalidator import ValidationContext

from registry.errors import InputError
from registry.records.statement import OutputFormat
from registry.records.supplement import Supplement
from registry.report.html_rendering import render_html
from registry.report.published_file import PROOF_NAME, enclose_proof, find_signature, is_finished, sign_pdf, split_file
from registry.report.supplement_reading import find_record, list_threats
from registry.seal.signing_keys import SigningKey
from tests.examples import scale
from tests.report.signing import AT

PROOF = b"c2sp.org/tlog-proof@v1\nextra eyJhIjoxfQ==\nindex 3\nAAAA\n\nlog.example\n4\nAAAA=\n\n\xe2\x80\x94 log.example AAAA\n"
PDF, HTML, JSON = OutputFormat.PDF, OutputFormat.HTML, OutputFormat.JSON


@pytest.fixture(scope="session")
def published_pdf(inverted_pdf: bytes, document_key: SigningKey) -> bytes:
    return sign_pdf(enclose_proof(inverted_pdf, PDF, PROOF), document_key, at=AT)


def test_a_published_pdf_gives_back_what_was_drawn_and_its_proof(inverted_pdf: bytes, published_pdf: bytes) -> None:
    """Three revisions, of which the first is the drawn file, byte for byte."""
    assert split_file(published_pdf, PDF).rendered == inverted_pdf
    assert split_file(published_pdf, PDF).proof == PROOF
    assert published_pdf.startswith(inverted_pdf)
    assert (split_file(inverted_pdf, PDF).rendered, split_file(inverted_pdf, PDF).proof) == (inverted_pdf, None)
    assert (is_finished(published_pdf, PDF), is_finished(inverted_pdf, PDF)) == (True, False)


def test_a_published_pdf_is_sound(inverted_pdf: bytes, published_pdf: bytes) -> None:
    """The checker of qpdf finds nothing; proof and record are attached files of PDF/A-3; nothing is suspicious; its record is read."""
    with Pdf.open(BytesIO(published_pdf)) as pdf:
        assert pdf.check_pdf_syntax() == []
        assert bytes(pdf.attachments[PROOF_NAME].get_file().read_bytes()) == PROOF
        assert [str(one.UF) for one in pdf.Root.AF] == ["supplement.json", PROOF_NAME]
        assert [one.AFRelationship for one in pdf.Root.AF] == [Name.Source, Name.Supplement]
        stream = pdf.Root.AF[1].EF.F
        assert Name.Filter not in stream
        assert set(stream.Params.keys()) == {"/Size", "/ModDate", "/CheckSum"}
    assert list_threats(published_pdf) == ()
    assert list_threats(enclose_proof(inverted_pdf, PDF, PROOF)) == ()
    assert find_record(published_pdf, where="x.pdf") == find_record(inverted_pdf, where="x.pdf")


def test_a_published_pdf_shows_the_same_pages(inverted_pdf: bytes, published_pdf: bytes) -> None:
    """Proof and signature show nothing: the pixels are those of the drawn file."""
    before, after = pypdfium2.PdfDocument(inverted_pdf), pypdfium2.PdfDocument(published_pdf)

    assert len(before) == len(after)
    for number in range(len(before)):
        pixels = [one[number].render(scale=0.5, may_draw_forms=True).to_numpy().tobytes() for one in (before, after)]
        assert pixels[0] == pixels[1]


def test_the_signature_covers_the_proof(published_pdf: bytes, document_key: SigningKey) -> None:
    """Ours is intact, and pyHanko finds a valid certification of the whole file, proof included."""
    ours = find_signature(published_pdf)
    (signature,) = PdfFileReader(BytesIO(published_pdf)).embedded_signatures
    status = validate_pdf_signature(signature, ValidationContext(trust_roots=[signature.signer_cert], allow_fetching=False))

    assert ours is not None
    assert ours.is_intact
    assert ours.fingerprint == document_key.fingerprint
    assert (status.intact, status.valid, status.coverage) == (True, True, SignatureCoverageLevel.ENTIRE_FILE)


def test_poppler_accepts_the_signature(published_pdf: bytes, tmp_path: Path) -> None:
    """`pdfsig` is another program's word: the signature is valid and the whole document is signed; of a changed file it is not."""
    if shutil.which("pdfsig") is None:
        assert "CI" not in os.environ, "poppler-utils is missing: tools/system-packages.sh installs it"
        pytest.skip("pdfsig is not here (apt-get install poppler-utils)")
    (tmp_path / "good.pdf").write_bytes(published_pdf)
    place = published_pdf.index(b"c2sp.org/tlog-proof")
    (tmp_path / "bad.pdf").write_bytes(published_pdf[:place] + b"C" + published_pdf[place + 1 :])

    told = {
        name: subprocess.run(["pdfsig", "-nocert", name], cwd=tmp_path, capture_output=True, text=True, check=False).stdout
        for name in ("good.pdf", "bad.pdf")
    }

    assert "Signature is Valid" in told["good.pdf"], told["good.pdf"]
    assert "Total document signed" in told["good.pdf"]
    assert "Signature is Valid" not in told["bad.pdf"]


@settings(max_examples=scale(60), deadline=None)
@given(place=st.integers(0, 10**9), value=st.integers(1, 255), cut=st.integers(0, 400))
def test_no_other_byte_goes_unseen(inverted_pdf: bytes, published_pdf: bytes, place: int, value: int, cut: int) -> None:
    """A changed, cut or added byte after the drawn file makes it no published file of Caveat's, or its signature none."""
    added = len(published_pdf) - len(inverted_pdf)
    at = len(inverted_pdf) + place % added
    changed = published_pdf[:at] + bytes([published_pdf[at] ^ value]) + published_pdf[at + 1 :]
    for data in (changed, published_pdf[: len(published_pdf) - 1 - cut], published_pdf + b"\n" * (cut + 1)):
        signature = find_signature(data)
        assert signature is None or not signature.is_intact


def test_what_repaints_a_page_is_not_taken_off(inverted_pdf: bytes, document_key: SigningKey) -> None:
    """A revision that shows another page, before the proof or after it, belongs to what the digest is of, so the digest differs."""
    repaint = repaint_page(inverted_pdf)
    before = enclose_proof(repaint, PDF, PROOF)
    after = repaint_page(enclose_proof(inverted_pdf, PDF, PROOF))

    assert split_file(before, PDF).rendered == repaint
    assert split_file(after, PDF).rendered == after
    assert split_file(sign_pdf(after, document_key, at=AT), PDF).rendered == after
    assert {one.code for one in list_threats(before)} >= {"pdf-altered"}
    assert {one.code for one in list_threats(after)} >= {"pdf-altered"}


def repaint_page(data: bytes) -> bytes:
    """*data* with a revision, written as Caveat writes its own, in which the first page is empty."""
    from registry.report.published_file import read_blank, write_table

    with Pdf.open(BytesIO(data)) as pdf:
        page = pdf.pages[0].obj
        number, text = page.objgen[0], re.sub(rb"/Contents \d+ 0 R", b"", page.unparse(resolved=True))
    blank = read_blank(data)
    part = b"%d 0 obj\n%s\nendobj\n" % (number, text)
    return data + part + write_table(blank, {number: len(data), blank.size: len(data) + len(part)}, data)


@pytest.mark.parametrize("proof", [b"", b"a %%EOF b", b"endstream", b"<script>", b"/ByteRange"])
def test_what_is_no_proof_is_not_enclosed(inverted_pdf: bytes, proof: bytes) -> None:
    """What would end its place early, or look like a signature, is refused by name."""
    for format_, data in ((PDF, inverted_pdf), (HTML, b"<html><body></body></html>")):
        with pytest.raises(InputError) as caught:
            enclose_proof(data, format_, proof)
        assert caught.value.code == "not-sealable"


def test_a_proof_is_enclosed_once(inverted_pdf: bytes) -> None:
    """A file that has a proof takes no other."""
    for format_, data in ((PDF, inverted_pdf), (HTML, b"<html><body></body></html>")):
        with pytest.raises(InputError):
            enclose_proof(enclose_proof(data, format_, PROOF), format_, PROOF)


def test_html_gives_back_what_was_drawn(supplements: dict[str, Supplement]) -> None:
    """The one script element directly before `</body>` is taken off, and nothing else; the record is still found."""
    drawn = render_html(supplements["inverted"])
    published = enclose_proof(drawn, HTML, PROOF)

    assert split_file(published, HTML).rendered == drawn
    assert split_file(published, HTML).proof == PROOF
    assert find_record(published, where="x.html") == find_record(drawn, where="x.html")
    for edit in moved(published):
        layers = split_file(edit, HTML)
        assert (layers.rendered, layers.proof) != (drawn, PROOF)


def moved(published: bytes) -> list[bytes]:
    """*published* with its proof elsewhere, twice, with something after it, or in an element with another attribute."""
    start, end = published.index(b'<script type="application/caveat-proof">'), published.rindex(b"</body>")
    element = published[start:end]
    rest = published[:start] + published[end:]
    edits: list[Callable[[], bytes]] = [
        lambda: rest.replace(b"</body>", b"</body>" + element),
        lambda: published[:end] + b" " + published[end:],
        lambda: published[:start] + element.replace(b"<script ", b"<script src=x ") + published[end:],
        lambda: published[:end] + element + published[end:],
        lambda: rest.replace(b"<main", element + b"<main", 1),
    ]
    return [edit() for edit in edits]


def test_json_keeps_its_proof_beside_it() -> None:
    """A JSON file is its record and nothing else."""
    assert enclose_proof(b"{}", JSON, PROOF) == b"{}"
    assert split_file(b"{}", JSON).proof is None
