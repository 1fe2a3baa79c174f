"""The page that checks supplements in a browser: one file, which loads nothing and sends nothing."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

# The page makes the checks published, inclusion, checkpoint and witness of `caveat verify`, with the
# browser's own SHA-256 and Ed25519. It is a file of its own and no template: its digest identifies
# it, so every registry has the same bytes. Its policy allows its own script and style by their
# digests, in the file itself, so that a saved copy keeps it. A test compares them.


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationPage:
    """The page's bytes."""

    content: bytes

    @property
    def sha256(self) -> str:
        """What identifies the page, hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()


def read_page() -> VerificationPage:
    """Return the page as it comes with this version of Caveat."""
    return VerificationPage(content=Path(__file__).with_name("verification_page.html").read_bytes())
