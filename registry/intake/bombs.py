"""A PDF that a few kilobytes make into gigabytes of text is refused before an extractor opens it.

Extractors keep a hundred bytes and more for each character that a page shows. Here the streams of the file are inflated piece by piece, and
the text in them is counted, in memory that does not grow with it.
"""

import re
import zlib
from collections.abc import Iterator

LARGEST_STREAM_BYTES = 64_000_000
"""What a stream that is no image may inflate to."""
LARGEST_TOTAL_BYTES = 512_000_000
"""And all such streams together."""
MOST_TEXT_BYTES = 500_000
"""Bytes of text that one stream may show; a dense page has about 10,000."""
_STREAM = re.compile(rb"(?<!end)stream\r?\n")
_LONGEST_DICTIONARY = 4_000
_TEXT = re.compile(rb"\((?:[^()\\]|\\.)*\)|<[0-9A-Fa-f\s]+>", re.DOTALL)
_PIECE = 1 << 20


def find_text_bomb(data: bytes) -> str | None:
    """Return what is too large in the PDF *data*, in words; None where nothing is.

    Images are passed over, which are large and hold no text, and so are streams that are compressed in another way than by Flate.
    """
    total = 0
    for found in _STREAM.finditer(data):
        dictionary = data[max(0, found.start() - _LONGEST_DICTIONARY) : found.start()].rpartition(b" obj")[2]
        if b"/Image" in dictionary or (b"/FlateDecode" not in dictionary and b"/Fl " not in dictionary):
            continue
        size = text = 0
        for piece in _inflate(memoryview(data)[found.end() :], max(1, dictionary.count(b"/FlateDecode"))):
            size += len(piece)
            text += sum(shown.end() - shown.start() for shown in _TEXT.finditer(piece))
            if words := _describe_excess(text=text, size=size, total=total + size):
                return words
        total += size
    return None


def _describe_excess(*, text: int, size: int, total: int) -> str | None:
    if text > MOST_TEXT_BYTES:
        return f"a stream of it shows more than {MOST_TEXT_BYTES:,} bytes of text, which no page has"
    if size > LARGEST_STREAM_BYTES:
        return f"a stream of it that is no image inflates to more than {LARGEST_STREAM_BYTES:,} bytes"
    if total > LARGEST_TOTAL_BYTES:
        return f"its streams that are no images inflate to more than {LARGEST_TOTAL_BYTES:,} bytes"
    return None


def _inflate(packed: memoryview, layers: int) -> Iterator[bytes]:
    """Give what the stream that begins *packed* inflates to, in pieces; it ends where its compression does."""
    pieces = _inflate_pieces(packed[start : start + _PIECE] for start in range(0, len(packed), _PIECE))
    for _ in range(layers - 1):
        pieces = _inflate_pieces(pieces)
    return pieces


def _inflate_pieces(packed: "Iterator[bytes | memoryview]") -> Iterator[bytes]:
    decompressor = zlib.decompressobj()
    for piece in packed:
        left: bytes | memoryview = piece
        while left and not decompressor.eof:
            try:
                yield decompressor.decompress(left, _PIECE)
            except zlib.error:
                return  # damaged: the extractor says what it makes of it
            left = decompressor.unconsumed_tail
        if decompressor.eof:
            return
