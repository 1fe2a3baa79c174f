"""Pages with commands and their output, run from top to bottom in an empty folder."""

import difflib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_FENCE = re.compile(r"(?:<!-- save: (?P<name>[\w.-]+) -->\n)?```(?P<language>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (?P<command>.*)\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)
_EXPORT = re.compile(r"export (\w+)=(\S+)")
_DOCS = Path(__file__).parents[2] / "docs"
INSTALLED = Path(sys.executable).parent
"""The folder of the installed `caveat`."""


def check_pages(names: tuple[str, ...], folder: Path, commands: Path) -> None:
    """Fail where a command of the pages, run in *folder* in their order, prints something else than they show.

    With CAVEAT_UPDATE_DOCS set, the pages are rewritten instead.

    Args:
        commands: the folder of the executable `caveat` that the pages call.
    """
    (folder / "examples").symlink_to(_DOCS.parent / "examples")
    shown = {name: (_DOCS / name).read_text(encoding="utf-8") for name in names}

    printed = {name: run_page(page, folder, commands) for name, page in shown.items()}
    assert "internal-error" not in "".join(printed.values())
    for name, page in printed.items():
        if os.environ.get("CAVEAT_UPDATE_DOCS") and hide_what_varies(page) != hide_what_varies(shown[name]):
            (_DOCS / name).write_text(page, encoding="utf-8")
            shown[name] = page

    if changes := "".join(_list_changes(name, shown[name], page) for name, page in printed.items()):
        pytest.fail(changes, pytrace=False)


def _list_changes(name: str, shown: str, printed: str) -> str:
    """Return the lines that differ alone: a report of whole pages gets cut before it comes to them."""
    before, after = (hide_what_varies(page).splitlines() for page in (shown, printed))
    return "\n".join(difflib.unified_diff(before, after, f"{name}, as shown", f"{name}, as printed", n=1, lineterm=""))


def run_page(page: str, folder: Path, commands: Path) -> str:
    """Return *page* with what its commands print now, run in *folder*, where the page's files are saved on the way."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("CAVEAT_", "SOURCE_DATE_", "COLUMNS", "LINES"))}
    environment["LC_ALL"] = "C.UTF-8"
    environment["PATH"] = os.pathsep.join((str(commands), str(INSTALLED), environment.get("PATH", "")))

    def run(found: re.Match[str]) -> str:
        if found["name"]:
            (folder / found["name"]).write_text(found["body"], encoding="utf-8")
        if found["language"] != "console":
            return found[0]
        return "```console\n" + "".join(_run_block(found["body"], folder, environment)) + "```"

    return _FENCE.sub(run, page)


def _run_block(body: str, folder: Path, environment: dict[str, str]) -> Iterator[str]:
    for found in _COMMAND.finditer(body):
        command = found["command"]
        if export := _EXPORT.fullmatch(command):
            environment[export[1]] = export[2]
            yield f"$ {command}\n"
            continue
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        lines = [line.rstrip() for line in done.stdout.splitlines()]
        yield "\n".join([f"$ {command}", *lines]) + "\n"


def hide_what_varies(page: str) -> str:
    """Return *page* without what the salts and keys of a registry change: digests, signatures, and the sizes of files that hold them."""
    page = re.sub(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", "CERTIFICATE", page, flags=re.DOTALL)
    page = re.sub(r"\b[0-9a-f]{4}(?: [0-9a-f]{4}){7}\b", "FINGERPRINT", page)
    page = re.sub(r"\b[0-9a-f]{16,64}\b", "DIGEST", page)
    page = re.sub(r"\b[0-9a-f]{8,}…", "DIGEST…", page)
    page = re.sub(r"[A-Za-z0-9+/]{40,}={0,2}", "BASE64", page)
    page = re.sub(r"\+[0-9a-f]{8}\b", "+KEYID", page)
    # A page that does not fix the clock shows the day on which it was written.
    page = re.sub(r"\bvalid until \d{4}-\d\d-\d\d\b", "valid until DAY", page)
    # A PDF holds keys and digests, compressed, so its size differs from run to run.
    return re.sub(r"\b\d{1,3}(?:,\d{3})+ bytes", "N bytes", page)
