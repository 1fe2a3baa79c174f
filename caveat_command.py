"""What the installed command `caveat` runs first: its own installation takes precedence on the search path.

A module of its own, with a name that nobody else uses: a folder `registry/` on the user's PYTHONPATH would otherwise be imported instead of
ours before any of our code could do something about it. Child processes get this search path too.
"""

import sys
import sysconfig
from pathlib import Path


def put_installation_first(path: list[str], folder: str, standard: set[str]) -> list[str]:
    """Return the search path *path* with *folder* before everything but the standard library.

    Site packages may contain modules with names of the standard library, so that stays first.

    Args:
        folder: the folder that contains the running code.
        standard: the folders of Python's standard library.
    """
    library = [entry for entry in path if entry in standard]
    return [*library, folder, *(entry for entry in path if entry not in standard and entry != folder)]


def find_standard_library() -> set[str]:
    """Return the folders of Python's standard library, as they are written in `sys.path`."""
    folders = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    zipped = f"python{sys.version_info.major}{sys.version_info.minor}.zip"
    return {entry for entry in sys.path if entry in folders or Path(entry).name in (zipped, "lib-dynload")}


def main() -> None:
    """Run `caveat` from the installation that contains this file."""
    sys.path[:] = put_installation_first(sys.path, str(Path(__file__).resolve().parent), find_standard_library())
    from registry.cli.main import main as run  # noqa: PLC0415  (found on the path that was set a line ago)

    run()


if __name__ == "__main__":
    main()
