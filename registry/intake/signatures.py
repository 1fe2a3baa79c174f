"""What kind of binary file some bytes are, by how they begin."""

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"{\\rtf", "a rich text document"),
    (b"%!PS", "a PostScript file"),
)


def find_signature(data: bytes) -> str | None:
    """Return "PDF" or the kind of binary file, None if the beginning is not known (text, most likely).

    A PDF may begin with white space or a byte order mark, as readers accept; not with text, which may be about PDF.
    """
    for signature, kind in _SIGNATURES:
        if data.startswith(signature):
            return kind
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "a WebP image"
    return "PDF" if data[:1024].lstrip(b"\xef\xbb\xbf\x00\r\n\t ").startswith(b"%PDF-") else None
