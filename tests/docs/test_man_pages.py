"""`make man`: one page for each command, from its help."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docs.test_site import load_tool


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with all pages."""
    folder = tmp_path_factory.mktemp("man")
    load_tool("man_pages").main(folder)
    return folder


def test_each_command_has_a_page_with_its_summary(pages: Path) -> None:
    """The name of the page is that of the command, with hyphens; groups list their commands as pages."""
    names = {path.stem for path in pages.iterdir()}
    group = (pages / "caveat-audit.1").read_text(encoding="utf-8")

    assert {"caveat", "caveat-verify", "caveat-audit-run", "caveat-admin-log-prove"} <= names
    assert len(names) > 100
    assert "caveat\\-audit\\-run(1)" in group
    assert "caveat\\-verify \\- Check supplements" in (pages / "caveat-verify.1").read_text(encoding="utf-8")


def test_no_line_of_help_is_taken_for_a_request(pages: Path) -> None:
    """In roff a line that begins with a dot or an apostrophe is a request; only ours begin so."""
    ours = (".TH ", ".SH ", ".TP", ".B ", ".PP", ".nf", ".fi")
    lines = [line for path in pages.iterdir() for line in path.read_text(encoding="utf-8").splitlines()]

    assert [line for line in lines if line.startswith((".", "'")) and not line.startswith(ours)] == []


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_roff_formats_them_without_a_warning(pages: Path) -> None:
    """Options and examples are in the output as the help has them."""
    command = ["groff", "-K", "utf8", "-man", "-Tutf8", "-ww", str(pages / "caveat-verify.1"), str(pages / "caveat.1")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.stderr == "" or "preconv" in done.stderr
    assert "verify supplement.pdf" in done.stdout or "preconv" in done.stderr
