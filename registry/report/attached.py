"""The record that a PDF carries: the file attached to it, listed where readers look. A published PDF has one more: its proof."""

import hashlib
from typing import TYPE_CHECKING

from registry.errors import Fault, InputError
from registry.report.enclosed import PROOF_NAME
from registry.report.opening import Opened

if TYPE_CHECKING:
    from pikepdf import Object, Pdf

ATTACHMENT = "supplement.json"
_DEEPEST_TREE = 20
_MOST_FILES = 100
_WANTED = "give a file that caveat report wrote"


def read_attached(opened: Opened) -> bytes:
    """Return the attached record of the open PDF.

    Raises:
        InputError: `not-a-supplement`: nothing is attached; `pdf-attachment`: something else is, or several files are, or one that the
            document does not name as its source, or not the one that its checksum is of.
    """
    files = _list_files(opened.pdf)
    if not files:
        found = f"a PDF without the attachment {ATTACHMENT}"
        raise InputError(Fault(code="not-a-supplement", where=opened.where, found=found, advice=_WANTED))
    if wrong := _find_wrong(opened.pdf, files):
        raise InputError(Fault(code="pdf-attachment", where=opened.where, found=wrong, advice=_WANTED))
    stream = files[0][1].EF.F
    data = bytes(stream.read_bytes())
    stated = _follow(stream, "/Params", "/CheckSum")
    if stated is not None and bytes(stated) != hashlib.md5(data, usedforsecurity=False).digest():  # ISO 32000-2, 7.11.4.2
        found = f"the attached {ATTACHMENT} was swapped: its checksum is of another file"
        raise InputError(Fault(code="pdf-attachment", where=opened.where, found=found, advice=_WANTED))
    return data


def _find_wrong(pdf: "Pdf", files: "list[tuple[str, Object]]") -> str | None:
    names = [name for name, _ in files]
    if len(files) > 1 and names != [ATTACHMENT, PROOF_NAME]:
        return f"{len(files)} files are attached: {', '.join(names[:5])}; one is expected, and in a published file its proof"
    name, file = files[0]
    shown = {name, str(file.get("/UF", name)), str(file.get("/F", name))}
    if shown != {ATTACHMENT}:
        return f"the attachment is called {' and '.join(sorted(shown))}, not {ATTACHMENT}"
    if "/EF" not in file or set(file.EF.keys()) - {"/F", "/UF"} or "/F" not in file.EF:
        return "the attachment holds no file"
    if file.EF.get("/UF", file.EF.F).objgen != file.EF.F.objgen:
        return "the attachment holds two files under one name"
    sources = _follow(pdf.Root, "/AF")
    if sources is None or [one.objgen for one in sources] != [one.objgen for _, one in files]:
        return "the document does not name what is attached as its files, and nothing else"
    return None


def _list_files(pdf: "Pdf") -> "list[tuple[str, Object]]":
    """Return every entry of the tree of attached files, also those of one name, in order; raises ValueError for a tree that is none."""
    tree = _follow(pdf.Root, "/Names", "/EmbeddedFiles")
    waiting = [] if tree is None else [(tree, 0)]
    found: list[tuple[str, Object]] = []
    while waiting:
        node, depth = waiting.pop()
        names = list(node.get("/Names", []))
        found += [(str(names[at]), names[at + 1]) for at in range(0, len(names) - 1, 2)]
        if depth > _DEEPEST_TREE or len(found) + len(waiting) > _MOST_FILES:
            raise ValueError("its tree of attached files has no end")
        waiting += [(kid, depth + 1) for kid in node.get("/Kids", [])]
    return found


def _follow(start: "Object", *keys: str) -> "Object | None":
    found: Object | None = start
    for key in keys:
        found = None if found is None else found.get(key)
    return found
