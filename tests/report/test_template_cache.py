"""Compiled templates are kept for the next command, and a file that cannot be used is never in the way."""

import os
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from registry.configuration import find_cache_folder
from registry.report.html_rendering import TemplateCache


def render(folder: Path | None, template: str = "{{ word }}!") -> str:
    environment = Environment(loader=DictLoader({"page": template}), bytecode_cache=TemplateCache(folder), autoescape=True)
    return environment.get_template("page").render(word="now")


def test_a_compiled_template_is_kept_and_used(tmp_path: Path) -> None:
    assert render(tmp_path) == "now!"
    (kept,) = tmp_path.iterdir()
    before = kept.read_bytes()

    assert render(tmp_path) == "now!"
    assert kept.read_bytes() == before


def test_a_changed_template_is_compiled_again(tmp_path: Path) -> None:
    render(tmp_path)

    assert render(tmp_path, "{{ word }}?") == "now?"


@pytest.mark.parametrize("place", [0, 31, 32, 40, -1])
def test_a_damaged_file_is_compiled_again(tmp_path: Path, place: int) -> None:
    render(tmp_path)
    (kept,) = tmp_path.iterdir()
    whole = kept.read_bytes()
    data = bytearray(whole)
    data[place] ^= 1
    kept.write_bytes(bytes(data))

    assert render(tmp_path) == "now!"
    assert kept.read_bytes() == whole

    kept.write_bytes(whole[:20])
    assert render(tmp_path) == "now!"


def test_a_folder_that_is_gone_or_none_changes_nothing(tmp_path: Path) -> None:
    assert render(tmp_path / "gone") == "now!"
    assert render(None) == "now!"


def test_the_cache_folder_belongs_to_the_user_alone(tmp_path: Path) -> None:
    """Whoever can write there could change what Caveat runs."""
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    folder = find_cache_folder("templates", environ)
    assert folder == tmp_path / "caveat" / "templates"

    folder.parent.chmod(0o777)
    assert find_cache_folder("templates", environ) is None
    folder.parent.chmod(0o700)
    folder.chmod(0o770)
    assert find_cache_folder("templates", environ) is None


def test_a_cache_folder_that_cannot_be_made_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert find_cache_folder("templates", {"XDG_CACHE_HOME": str(tmp_path / "file")}) is None


def test_caches_of_versions_that_are_gone_are_removed_when_a_new_one_begins(tmp_path: Path) -> None:
    """A folder of last month goes; a recent one and what is no cache of templates stay."""
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    for name in ("templates-old", "templates-recent", "others-old"):
        assert find_cache_folder(name, environ) is not None
    for name in ("templates-old", "others-old"):
        os.utime(tmp_path / "caveat" / name, (1e9, 1e9))

    find_cache_folder("templates-new", environ)

    assert {path.name for path in (tmp_path / "caveat").iterdir()} == {"templates-recent", "templates-new", "others-old"}
