"""What the installed command `caveat` runs first: its own installation takes precedence on the search path.

A module of its own, with a name that no other package uses: a folder `registry/` on the user's PYTHONPATH would otherwise be imported
instead of ours before any of our code could do something about it. Child processes get this search path too.
"""

import gc
import sys
import sysconfig
from pathlib import Path

SECTIONS = {
    "Start": {
        "demo": "Build a registry and its supplements from bundled inputs.",
        "init": "Make a registry with keys in the current folder.",
        "status": "Show what is registered, open, stale and unpublished.",
    },
    "Claims": {
        "card": "Register system cards, list and compare them.",
        "claim": "Register claims, show their outcomes, revise them.",
    },
    "Audit": {
        "audit": "Plan, lock, run, score and conclude audits.",
    },
    "Publish and check": {
        "report": "Write the supplements of claims and cards.",
        "site": "Write the registry as a website of static files.",
        "serve": "Serve the registry over HTTP, to be read.",
        "verify": "Check supplements, proofs, bundles and registries.",
        "export": "Write a claim or card in a format of other tools.",
        "gate": "Check a draft card, or a change of model.",
        "monitor": "Watch a claim in production after release.",
        "forecast": "Forecast production rates, and score the forecasts.",
        "stale": "Review claims that a change may have overtaken.",
        "compare": "Compare the claims of two registries or bundles.",
    },
    "Run": {
        "worker": "Work for a fleet until SIGTERM or Ctrl-C.",
        "fleet": "Set up and watch the work over many machines.",
    },
    "More": {
        "contest": "Object to claims and specifications, and decide.",
        "spec": "Register what is measured, scored and in which contexts.",
        "model": "Register model versions and their updates.",
        "analyze": "Compute statistics of score tables and run folders.",
        "admin": "Manage log, keys, database, backups and bundles.",
        "explain": "Explain the code of an error or a warning.",
    },
}
"""The commands of `caveat --help` by section, each with the first line of its help. They are listed without being loaded, which would
take half a second; a test compares them with the commands."""


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


def collect_rarely() -> None:
    """Look for objects that refer to each other in circles rarely: a command makes many records, hardly any such circle, and ends."""
    # By default Python looks after every 700 new objects: a tenth of the time of a bulk import.
    gc.set_threshold(20_000)


def main() -> None:
    """Run `caveat` from the installation that contains this file."""
    collect_rarely()
    sys.path[:] = put_installation_first(sys.path, str(Path(__file__).resolve().parent), find_standard_library())
    from registry.cli.main import main as run  # noqa: PLC0415  (found on the path that was set a line ago)

    run(SECTIONS)


def verify() -> None:
    """Run `caveat-verify`, of the distribution of that name, from the installation that contains this file."""
    sys.path[:] = put_installation_first(sys.path, str(Path(__file__).resolve().parent), find_standard_library())
    from registry.cli.main import main_verify  # noqa: PLC0415  (as in `main`)

    main_verify()


if __name__ == "__main__":
    main()
