"""The signature of a PDF: what it adds, what it says, and that pyHanko, OpenSSL and our own check agree on it."""

import hashlib
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from ssl import DER_cert_to_PEM_cert

import pypdfium2
import pytest
from pikepdf import Name, Pdf
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko.sign.validation.status import SignatureCoverageLevel
from pyhanko_certvalidator import ValidationContext

from registry.errors import InputError
from registry.records.log_seal import KeyAlgorithm
from registry.records.supplement import Supplement
from registry.report.html_rendering import render_json
from registry.report.published_file import check_signature, find_signature, sign_pdf
from registry.report.supplement_reading import find_record, read_supplement
from registry.seal.signing_keys import SigningKey, make_key
from tests.report.signing import AT


def test_signing_only_appends(unaudited_pdf: bytes, signed_pdf: bytes) -> None:
    """The signed file begins with the unsigned bytes, and is told from them."""
    assert signed_pdf.startswith(unaudited_pdf)
    assert len(signed_pdf) - len(unaudited_pdf) < 3_000
    assert find_signature(unaudited_pdf) is None


def test_a_good_signature_says_who_and_when(unaudited_pdf: bytes, signed_pdf: bytes, document_key: SigningKey) -> None:
    """Everything covered, every byte as Caveat writes it, and the unsigned file given back."""
    found = check_signature(signed_pdf)

    assert found.is_intact
    assert found.covers_all
    assert found.problems == ()
    assert found.unsigned == unaudited_pdf
    assert found.at == AT
    assert found.fingerprint == document_key.fingerprint
    assert found.subject == "O=Example Institute,CN=EXAMPLE"


def test_the_same_file_key_and_moment_give_the_same_bytes(unaudited_pdf: bytes, signed_pdf: bytes, document_key: SigningKey) -> None:
    """RFC 6979: no chance; and what is smaller than a second makes no difference."""
    again = sign_pdf(unaudited_pdf, document_key, at=AT + timedelta(microseconds=1))

    assert again == signed_pdf
    assert sign_pdf(unaudited_pdf, document_key, at=AT + timedelta(seconds=1)) != signed_pdf


def test_any_file_key_and_moment_give_a_good_signature(inverted_pdf: bytes, hostile_pdf: bytes, card_pdf: bytes) -> None:
    """Also with keys whose signatures are shorter, and moments on the other side of the world."""
    for number, data in enumerate((inverted_pdf, hostile_pdf, card_pdf)):
        for seed in range(8):
            key = make_key(KeyAlgorithm.ECDSA_P256, f"KEY{seed}", seed=bytes([number, seed] * 16), organisation="Ünïcode (Ltd) \\ ü" * seed)
            at = datetime(2026, 2, 28 - seed, 23, 59, 59, tzinfo=UTC)

            found = check_signature(sign_pdf(data, key, at=at))

            assert found.problems == ()
            assert found.fingerprint == key.fingerprint
            assert found.at == at


def test_pyhanko_finds_a_certified_whole_file(signed_pdf: bytes, document_key: SigningKey) -> None:
    """Another reader of PDF agrees: valid, covering the whole file, certified so that nothing may be changed."""
    (signature,) = PdfFileReader(BytesIO(signed_pdf)).embedded_signatures

    status = validate_pdf_signature(signature, ValidationContext(trust_roots=[signature.signer_cert], allow_fetching=False))

    assert status.intact
    assert status.valid
    assert status.coverage is SignatureCoverageLevel.ENTIRE_FILE
    assert signature.docmdp_level is not None
    assert signature.docmdp_level.value == 1
    assert str(signature.sig_object["/SubFilter"]) == "/ETSI.CAdES.detached"
    assert hashlib.sha256(signature.signer_cert.public_key.dump()).hexdigest() == document_key.fingerprint


def test_openssl_verifies_what_is_cut_out(signed_pdf: bytes, tmp_path: Path) -> None:
    """The signature from the byte range, checked as CMS over the rest, with the certificate that the signed attributes mean (CAdES)."""
    folder = tmp_path
    with Pdf.open(BytesIO(signed_pdf)) as pdf:
        value = pdf.Root.AcroForm.Fields[0].V
        start, end = int(value.ByteRange[1]), int(value.ByteRange[2])
        (folder / "signature.der").write_bytes(bytes(value.Contents))
    certificate = DER_cert_to_PEM_cert(check_signature(signed_pdf).certificate or b"")
    (folder / "certificate.pem").write_text(certificate)
    (folder / "signed").write_bytes(signed_pdf[:start] + signed_pdf[end:])
    command = "cms -verify -inform DER -in signature.der -content signed -binary -CAfile certificate.pem -purpose any -cades -out /dev/null"
    run = subprocess.run(["openssl", *command.split()], cwd=folder, capture_output=True, check=False)
    (folder / "signed").write_bytes(signed_pdf[:start] + signed_pdf[end:] + b"\n")
    other = subprocess.run(["openssl", *command.split()], cwd=folder, capture_output=True, check=False)

    assert run.returncode == 0, run.stderr
    assert other.returncode != 0


def test_the_signed_file_is_sound_and_reads_as_before(signed_pdf: bytes, supplements: Mapping[str, Supplement]) -> None:
    """The syntax checker of qpdf finds nothing; field, permissions and record are where readers look for them."""
    with Pdf.open(BytesIO(signed_pdf)) as pdf:
        assert pdf.check_pdf_syntax() == []
        field = pdf.Root.AcroForm.Fields[0]
        assert field.V.objgen == pdf.Root.Perms.DocMDP.objgen
        assert pdf.pages[-1].Annots[-1].objgen == field.objgen
        assert pdf.Root.StructTreeRoot.K[0].K[-1].K[0].Obj.objgen == field.objgen
        assert len(bytes(pdf.trailer.ID[0])) == len(bytes(pdf.trailer.ID[1]))
        assert field.V.Type == Name.Sig
    assert find_record(signed_pdf, where="s.pdf") == render_json(supplements["unaudited"])
    assert read_supplement(signed_pdf, where="s.pdf") == supplements["unaudited"]


def test_every_page_looks_the_same_signed(unaudited_pdf: bytes, signed_pdf: bytes) -> None:
    """The signature shows nothing: the pixels are those of the unsigned file."""
    before, after = pypdfium2.PdfDocument(unaudited_pdf), pypdfium2.PdfDocument(signed_pdf)

    assert len(before) == len(after)
    for number in range(len(before)):
        pixels = [one[number].render(scale=0.5, may_draw_forms=True).to_numpy().tobytes() for one in (before, after)]
        assert pixels[0] == pixels[1]


def test_a_signature_needs_a_document_key(unaudited_pdf: bytes) -> None:
    """A log's key signs logs."""
    with pytest.raises(ValueError, match="document key"):
        sign_pdf(unaudited_pdf, make_key(KeyAlgorithm.ED25519, "registry.example"), at=AT)


def test_what_has_no_empty_place_is_not_signed(unaudited_pdf: bytes, signed_pdf: bytes, document_key: SigningKey) -> None:
    """A file that is signed already, or that something else drew, is refused with what to do."""
    with Pdf.open(BytesIO(unaudited_pdf)) as pdf:
        del pdf.Root.AcroForm
        del pdf.pages[-1].Annots
        plain = BytesIO()
        pdf.save(plain)
    for data, words in (
        (signed_pdf, "signed already"),
        (plain.getvalue(), "no place"),
        (b"%PDF-1.7\n", "does not end"),
        (b"", "does not end"),
    ):
        with pytest.raises(InputError) as caught:
            sign_pdf(data, document_key, at=AT)

        assert caught.value.code == "not-sealable"
        assert words in str(caught.value)


def test_what_is_not_signed_has_no_signature_to_check(unaudited_pdf: bytes) -> None:
    """An error that says what to do, and no answer."""
    with pytest.raises(InputError) as caught:
        check_signature(unaudited_pdf)

    assert caught.value.code == "not-signed"


def test_a_certificate_of_another_key_is_noticed(unaudited_pdf: bytes, document_key: SigningKey) -> None:
    """Who shows somebody else's certificate cannot sign with its key."""
    other = make_key(KeyAlgorithm.ECDSA_P256, "OTHER", seed=b"o" * 32)
    found = check_signature(sign_pdf(unaudited_pdf, replace(document_key, private=other.private), at=AT))

    assert not found.is_intact
    assert found.problems == ("the certificate's key did not make this signature",)


def test_a_moment_before_the_certificate_is_noticed(unaudited_pdf: bytes, document_key: SigningKey) -> None:
    """The signature itself holds, and is not good all the same."""
    found = check_signature(sign_pdf(unaudited_pdf, document_key, at=datetime(2025, 12, 31, tzinfo=UTC)))

    assert not found.is_intact
    assert "was not valid on 2025-12-31" in found.problems[0]
