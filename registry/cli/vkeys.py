"""Keys that a person gives on the command line to check signatures with."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from registry.seal.note import VerifierKey

_Function = TypeVar("_Function", bound=Callable[..., Any])
_LARGEST = 65_536


def key_options(function: _Function) -> _Function:
    """Let a command take `--vkey` (as `vkeys`) and `--key` (as `key_files`), each any number of times."""
    vkey = click.option("--vkey", "vkeys", multiple=True, metavar="NAME+HASH+KEY", help="Believe this verifier key.")
    file = click.option(
        "--key",
        "key_files",
        multiple=True,
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Believe the verifier keys in this file, one a line.",
    )
    return vkey(file(function))


def read_vkeys(vkeys: Sequence[str], key_files: Sequence[Path]) -> "tuple[VerifierKey, ...]":
    """Return the keys that were given, each once; raises InputError for what is no verifier key."""
    from registry.codec.files import read_text
    from registry.errors import CaveatError, Fault, InputError
    from registry.seal.note import parse_vkey

    lines = [("--vkey", text.strip()) for text in vkeys]
    faults: list[Fault] = []
    for path in key_files:
        rows = [row.strip() for row in read_text(path, largest=_LARGEST).splitlines() if row.strip() and not row.startswith("#")]
        if not rows:
            faults.append(Fault(code="bad-vkey", where=str(path), found="it has no verifier key", advice="caveat key show prints one"))
        lines += [(str(path), row) for row in rows]
    found = []
    for where, text in lines:
        try:
            found.append(parse_vkey(text, where=where))
        except CaveatError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return tuple({str(one): one for one in found}.values())
