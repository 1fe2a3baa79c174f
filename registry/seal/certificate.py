"""Self-signed X.509 certificates (RFC 5280) of document keys.

They bind a name to a key and vouch for nothing: what makes a key trusted is its entry in the log. So they have no end, and the same key and
names give the same bytes.
"""

import hashlib
import warnings
from datetime import UTC, datetime

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePrivateKey, EllipticCurvePublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.utils import CryptographyDeprecationWarning
from cryptography.x509.oid import NameOID, SignatureAlgorithmOID

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_END = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
"""RFC 5280 section 4.1.2.5: no well-defined expiration date."""
_LONGEST_NAME = 64
"""X.520, ub-common-name and ub-organization-name."""


def build_certificate(private: EllipticCurvePrivateKey, code: str, organisation: str | None) -> bytes:
    """Return the certificate, DER: common name *code*, organisation its name, cut to the 64 characters that X.520 allows."""
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, code[:_LONGEST_NAME])]
    if organisation:
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation[:_LONGEST_NAME]))
    name = x509.Name(attributes)
    public = private.public_key()
    serial = hashlib.sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
    builder = x509.CertificateBuilder(
        issuer_name=name,
        subject_name=name,
        public_key=public,
        serial_number=int.from_bytes(serial[:16], "big") >> 1 | 1,
        not_valid_before=_BEGIN,
        not_valid_after=_END,
    )
    for extension, is_critical in _list_extensions(public):
        builder = builder.add_extension(extension, critical=is_critical)
    return builder.sign(private, SHA256(), ecdsa_deterministic=True).public_bytes(Encoding.DER)


def read_certificate(der: bytes, public: EllipticCurvePublicKey) -> str:
    """Return the common name of the certificate *der*.

    Raises:
        ValueError: there is no certificate, it is of another key than *public*, or not signed by it.
    """
    certificate, shown = _load(der)
    if shown != public:
        raise ValueError("the certificate is of another key")
    _refuse_unsigned(certificate, public)
    name = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    if not name:
        raise ValueError("the certificate has no common name")
    return str(name[0].value)


def fingerprint_of_certificate(der: bytes) -> str:
    """Return the SHA-256 of a certificate's public key as DER SubjectPublicKeyInfo, hexadecimal.

    Raises:
        ValueError: it is no certificate of a P-256 key that signed itself.
    """
    certificate, public = _load(der)
    _refuse_unsigned(certificate, public)
    return hashlib.sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def _load(der: bytes) -> tuple[x509.Certificate, EllipticCurvePublicKey]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", CryptographyDeprecationWarning)  # what RFC 5280 forbids and a later release will refuse
            certificate = x509.load_der_x509_certificate(der)
            public = certificate.public_key()
    except (x509.InvalidVersion, UnsupportedAlgorithm, CryptographyDeprecationWarning) as error:  # these alone are no ValueError
        raise ValueError(f"the certificate cannot be read: {error}") from error
    if not isinstance(public, EllipticCurvePublicKey) or public.curve.name != SECP256R1.name:
        raise ValueError("the certificate's key is none of P-256")
    return certificate, public


def _list_extensions(public: EllipticCurvePublicKey) -> list[tuple[x509.ExtensionType, bool]]:
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=True,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
    return [
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (usage, True),
        (x509.SubjectKeyIdentifier.from_public_key(public), False),
    ]


def _refuse_unsigned(certificate: x509.Certificate, public: EllipticCurvePublicKey) -> None:
    if certificate.signature_algorithm_oid != SignatureAlgorithmOID.ECDSA_WITH_SHA256:
        raise ValueError("the certificate is not signed with ECDSA and SHA-256")
    try:
        public.verify(certificate.signature, certificate.tbs_certificate_bytes, ECDSA(SHA256()))
    except InvalidSignature as error:
        raise ValueError("the certificate is not signed by its own key") from error
