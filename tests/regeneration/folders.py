"""A folder of supplements in the hands of a test, and other templates than ours."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from registry import configuration as resources
from registry.report import html_rendering as html
from tests.cli.conftest import Answer, Caveat

SCHEMING, REFUSAL, COVERT = (f"CLM-AISI-2026-000{number}" for number in (1, 2, 3))


@dataclass(frozen=True)
class Regenerated:
    """A folder, and the command that draws into it."""

    caveat: Caveat
    path: Path

    def regenerate(self, *options: str | Path, formats: tuple[str, ...] = ("--html", "--json")) -> Answer:
        """Run `caveat report --stale` on it."""
        return self.caveat("report", "--stale", *formats, *options, "-o", self.path)

    def read(self) -> dict[str, bytes]:
        """Return its files, by path, but for what is kept of when files were seen."""
        files = (path for path in self.path.rglob("*") if path.is_file() and path.name != ".supplements.seen")
        return {path.relative_to(self.path).as_posix(): path.read_bytes() for path in files}

    def see(self) -> dict[str, tuple[int, int, bytes]]:
        """Return every file as it is: number, time of change, bytes."""
        return {
            path.relative_to(self.path).as_posix(): (path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes())
            for path in self.path.rglob("*")
            if path.is_file()
        }

    def find(self, name: str, extension: str = "json") -> Path:
        """Return the first file of what begins with *name*: a draft, or what was published first."""
        (path,) = (one for one in self.path.glob(f"{name}*.{extension}") if ".entry-" not in one.name)
        return path

    def find_newer(self, name: str, extension: str = "json") -> Path:
        """Return the one file of what begins with *name* that was published after the first."""
        (path,) = self.path.glob(f"{name}*.entry-*.{extension}")
        return path

    def manifest(self) -> Any:
        """Return what the folder knows of itself."""
        return json.loads((self.path / "supplements.json").read_bytes())

    def withdraw(self, claim: str = COVERT, reason: str = "retracted") -> None:
        """Withdraw a claim: its supplement and that of its card say something else from then on."""
        listed = self.caveat("claim", "list", "--json").document["claims"]
        (name,) = (one["claim"] for one in listed if one["claim"].startswith(claim))
        assert self.caveat("claim", "withdraw", name, "--reason", reason, "--yes").code == 0


@contextmanager
def bend_templates(place: Path, name: str, old: str, new: str) -> Iterator[None]:
    """Let the templates be a copy of ours in *place*, in which *old* is *new* in the file *name*."""
    (place / "registry").mkdir(parents=True)
    shutil.copytree(resources.find_resource("report_templates"), place / "report_templates")
    for other in ("migrations", "examples", "registry.cfg"):
        (place / other).symlink_to(resources.find_resource(other))
    path = place / "report_templates" / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resources, "_HERE", place / "registry")
        _forget()
        yield
    _forget()


def _forget() -> None:
    for cached in (html.template_digest, html._environment, html._screen_style):
        cached.cache_clear()
