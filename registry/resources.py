"""Finds what ships beside the code (templates, migrations, examples), in a checkout and in a wheel alike."""

from pathlib import Path

_HERE = Path(__file__).resolve().parent


def find_resource(name: str) -> Path:
    """Return the folder or file called *name* that ships with Caveat.

    In a wheel it lies in `registry/_bundled/`, in a checkout beside `registry/`.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    for place in (_HERE / "_bundled" / name, _HERE.parent / name):
        if place.exists():
            return place
    raise FileNotFoundError(f"{name} is missing from this installation of caveat; reinstall it")
