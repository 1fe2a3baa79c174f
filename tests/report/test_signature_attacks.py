"""Every change of a signed PDF is noticed: single bits, later revisions, second signatures, prepared content, other writers, cut ends."""

import random
from base64 import b64decode
from collections.abc import Callable
from datetime import timedelta
from io import BytesIO

import pytest
from asn1crypto import cms, keys, x509
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign.fields import SigSeedSubFilter
from pyhanko.sign.general import SigningError, simple_cms_attribute
from pyhanko.sign.signers import PdfSignatureMetadata, PdfSigner, SimpleSigner
from pyhanko_certvalidator.registry import SimpleCertificateStore

from registry.records.log_seal import KeyAlgorithm
from registry.report.published_file import _P256_ORDER, SignaturePlace, check_signature, find_revision, find_signature, sign_pdf
from registry.report.supplement_reading import list_threats
from registry.seal.signing_keys import SigningKey, make_key
from tests.report.forging import add_nothing, add_script, append, rewrite, swap_page
from tests.report.signing import AT


def flip(data: bytes, place: int, bit: int) -> bytes:
    return b"".join((data[:place], bytes([data[place] ^ 1 << bit]), data[place + 1 :]))


def is_caught(data: bytes) -> bool:
    """There is a signature, and it is not good."""
    found = find_signature(data)
    return found is not None and not found.is_intact and found.problems != ()


def locate(data: bytes) -> SignaturePlace:
    found = find_revision(data)
    assert found is not None
    return found


def replace_cms(data: bytes, change: Callable[[cms.SignedData, cms.SignerInfo], None]) -> bytes:
    """Return the signed *data* with its CMS changed where nothing is signed, and as much room as before."""
    found = locate(data)
    content = cms.ContentInfo.load(found.contents)
    change(content["content"], content["content"]["signer_infos"][0])
    digits = content.dump(force=True).hex().encode()
    room = found.end - found.start - 2
    return data[: found.start + 1] + digits[:room].ljust(room, b"0") + data[found.end - 1 :]


def test_every_flipped_bit_of_padding_brackets_and_value_is_noticed(signed_pdf: bytes) -> None:
    """Exhaustive where the signature does not cover itself and a lax reader looks away; the rest in benchmarks/bit_flips.py."""
    found = locate(signed_pdf)
    places = [
        *range(found.start - 2, found.start + 12),
        *range(found.end - 24, found.end + 24),
        *range(len(signed_pdf) - 8, len(signed_pdf)),
    ]

    assert [(place, bit) for place in places for bit in range(8) if not is_caught(flip(signed_pdf, place, bit))] == []


def test_a_flipped_bit_anywhere_is_noticed(signed_pdf: bytes, unaudited_pdf: bytes) -> None:
    """Places at random in what was there before, and a stride over what was appended."""
    rng = random.Random(20261122)
    places = [*(rng.randrange(len(unaudited_pdf)) for _ in range(300)), *range(len(unaudited_pdf), len(signed_pdf), 13)]

    assert [place for place in places if not is_caught(flip(signed_pdf, place, rng.randrange(8)))] == []


def test_capital_digits_are_noticed(signed_pdf: bytes) -> None:
    """The same CMS in another case is another file."""
    found = locate(signed_pdf)
    capital = signed_pdf[: found.start] + signed_pdf[found.start : found.end].upper() + signed_pdf[found.end :]

    assert capital != signed_pdf
    assert is_caught(capital)


def test_the_other_value_that_also_holds_is_noticed(signed_pdf: bytes) -> None:
    """ECDSA: (r, n - s) holds where (r, s) does; anybody can compute it."""

    def turn(_: cms.SignedData, signer: cms.SignerInfo) -> None:
        r, s = decode_dss_signature(signer["signature"].native)
        signer["signature"] = encode_dss_signature(r, _P256_ORDER - s)

    turned = check_signature(replace_cms(signed_pdf, turn))

    assert turned.problems == ("the value of the signature is not written as Caveat writes it",)


def test_what_nobody_signed_is_noticed(signed_pdf: bytes) -> None:
    """Unsigned attributes, another version, digests listed twice: pyHanko finds these files good, and they are not ours."""

    def add_unsigned(_: cms.SignedData, signer: cms.SignerInfo) -> None:
        signer["unsigned_attrs"] = [simple_cms_attribute("content_type", "data")]  # type: ignore[no-untyped-call]

    def name_version(content: cms.SignedData, _: cms.SignerInfo) -> None:
        content["version"] = "v3"

    def list_twice(content: cms.SignedData, _: cms.SignerInfo) -> None:
        content["digest_algorithms"].append(content["digest_algorithms"][0].copy())

    for change in (add_unsigned, name_version, list_twice):
        assert is_caught(replace_cms(signed_pdf, change)), change.__name__


@pytest.mark.parametrize("edit", [swap_page, add_script, add_nothing])
def test_a_later_revision_is_noticed(signed_pdf: bytes, edit: Callable[[IncrementalPdfFileWriter], None]) -> None:
    """Whatever it does; and it is said how much was appended."""
    changed = append(signed_pdf, edit)
    found = check_signature(changed)

    assert not found.is_intact
    assert not found.covers_all
    assert f"{len(changed) - len(signed_pdf):,} bytes were appended after it was signed" in found.problems
    assert "pdf-altered" in {one.code for one in list_threats(changed)}


def test_content_prepared_before_signing_is_noticed(unaudited_pdf: bytes, document_key: SigningKey) -> None:
    """A shadow attack: two contents in one file, signed while one is seen, and swapped by a small revision later."""
    prepared = append(unaudited_pdf, swap_page)
    signed = sign_pdf(prepared, document_key, at=AT)

    assert check_signature(signed).unsigned == prepared
    assert "pdf-altered" in {one.code for one in list_threats(signed)}
    assert is_caught(append(signed, swap_page))


def test_a_second_signature_is_noticed(signed_pdf: bytes, document_key: SigningKey) -> None:
    """Caveat certifies that nothing may be added: pyHanko refuses to, and what is added all the same is found."""
    writer = IncrementalPdfFileWriter(BytesIO(signed_pdf))
    metadata = PdfSignatureMetadata(field_name="Second", subfilter=SigSeedSubFilter.PADES, md_algorithm="sha256")
    with pytest.raises(SigningError, match="forbids all changes"):
        PdfSigner(metadata, build_signer(document_key)).sign_pdf(writer, output=BytesIO())

    found = check_signature(signed_pdf + signed_pdf[locate(signed_pdf).unsigned_end :])
    assert not found.is_intact
    assert not found.covers_all
    assert any("2 signatures" in problem for problem in found.problems)


def test_a_signature_of_another_program_is_not_taken_for_ours(unaudited_pdf: bytes, document_key: SigningKey) -> None:
    """The right key and a valid signature by pyHanko's own writer: it is not what Caveat appends, and whose it is is still told."""
    writer = IncrementalPdfFileWriter(BytesIO(unaudited_pdf))
    metadata = PdfSignatureMetadata(field_name="Signature", subfilter=SigSeedSubFilter.PADES, md_algorithm="sha256")
    signed = BytesIO()
    PdfSigner(metadata, build_signer(document_key)).sign_pdf(writer, output=signed)
    found = check_signature(signed.getvalue())

    assert not found.is_intact
    assert found.covers_all
    assert found.fingerprint == document_key.fingerprint


def build_signer(key: SigningKey) -> SimpleSigner:
    secret = key.private.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    certificate = x509.Certificate.load(b64decode(key.certificate or ""))
    return SimpleSigner(certificate, keys.PrivateKeyInfo.load(secret), SimpleCertificateStore())


def test_a_signature_moved_to_another_file_is_noticed(signed_pdf: bytes, inverted_pdf: bytes, document_key: SigningKey) -> None:
    """The signature of one supplement under another."""
    other = sign_pdf(inverted_pdf, document_key, at=AT)
    mine, theirs = locate(signed_pdf), locate(other)
    moved = other[: theirs.start] + signed_pdf[mine.start : mine.end] + other[theirs.end :]

    assert is_caught(moved)
    assert is_caught(inverted_pdf + signed_pdf[mine.unsigned_end :])


def test_another_moment_is_noticed(signed_pdf: bytes, unaudited_pdf: bytes, document_key: SigningKey) -> None:
    """The time that is shown is signed with the rest."""
    stamp = AT.strftime("(D:%Y%m%d%H%M%SZ)").encode()
    later = (AT + timedelta(days=1)).strftime("(D:%Y%m%d%H%M%SZ)").encode()

    assert is_caught(signed_pdf.replace(stamp, later))
    assert is_caught(signed_pdf.replace(stamp, stamp.replace(b"D:2026", b"D:9999")))
    assert is_caught(signed_pdf.replace(stamp, b"(D:20269922030000Z)"))


def test_a_copy_saved_anew_is_noticed(signed_pdf: bytes) -> None:
    """As qpdf writes it: the same pages, other bytes."""
    assert is_caught(rewrite(signed_pdf))


def test_a_cut_file_is_noticed_or_is_the_unsigned_one(signed_pdf: bytes, unaudited_pdf: bytes) -> None:
    """What is left of a signature is no signature; without any of it the file is as it was."""
    beyond = range(len(unaudited_pdf) + 1, len(signed_pdf))
    silent = [place for place in beyond if not is_caught(signed_pdf[:place]) and find_signature(signed_pdf[:place]) is not None]
    unseen = [place for place in beyond if find_signature(signed_pdf[:place]) is None]

    assert silent == []
    assert all(list_threats(signed_pdf[:place]) for place in unseen[::20])
    assert find_signature(signed_pdf[: len(unaudited_pdf)]) is None


def test_bytes_before_it_are_noticed(signed_pdf: bytes) -> None:
    """Ten million of them, which readers skip."""
    assert is_caught(b"\0" * 10_000_000 + signed_pdf)


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.7\n/ByteRange [0 0 0 0]",
        b"/ByteRange [0 9999999999 9999999999 9999999999]",
        b"/ByteRange [0 5 1 0]",
        b"%PDF-1.7\n/ByteRange [0 12 40 0] <3000> " + b"x" * 100,
        b"/ByteRange [",
        b"/TransformMethod",
        b"%PDF-1.7\n" + b"/ByteRange [0 1 2 3] " * 10_000,
        b"%%EOF\n/M (D:00000000000000Z) /ByteRange [0 60 64 0] <" + b"30" * 1_000,
    ],
)
def test_what_only_looks_signed_is_no_signature(data: bytes) -> None:
    """Numbers out of any range and digits that are none end in words."""
    assert is_caught(data)


def test_a_certificate_is_nobodys_word_but_its_own(unaudited_pdf: bytes) -> None:
    """Anybody can sign under any name: the signature holds, and only the fingerprint says whose it is."""
    impostor = make_key(KeyAlgorithm.ECDSA_P256, "EXAMPLE", seed=b"i" * 32, organisation="Example Institute")
    found = check_signature(sign_pdf(unaudited_pdf, impostor, at=AT))

    assert found.is_intact
    assert found.subject == "O=Example Institute,CN=EXAMPLE"
    assert found.fingerprint == impostor.fingerprint
