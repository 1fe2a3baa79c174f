"""Keys that a person gives on the command line to check signatures with."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from registry.seal.note import VerifierKey

_Function = TypeVar("_Function", bound=Callable[..., Any])


def key_options(function: _Function) -> _Function:
    """Let a command take `--vkey` (as `vkeys`) and `--key` (as `key_files`), each any number of times."""
    vkey = click.option("--vkey", "vkeys", multiple=True, metavar="NAME+HASH+KEY", help="Believe this verifier key.")
    file = click.option(
        "--key",
        "key_files",
        multiple=True,
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Believe the verifier keys in this file, such as: caveat key show --public.",
    )
    return vkey(file(function))


def read_vkeys(vkeys: Sequence[str], key_files: Sequence[Path]) -> "tuple[VerifierKey, ...]":
    """Return the keys of logs that were given, each once; raises InputError for what is no key."""
    from registry.verification.trust import read_given

    given = read_given([*vkeys, *map(str, key_files)])
    return tuple({str(one.vkey): one.vkey for one in given.keys if one.vkey is not None}.values())
