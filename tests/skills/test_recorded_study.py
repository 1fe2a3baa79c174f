"""The small study that is shipped with its run."""

import shutil
from pathlib import Path

from registry.configuration import find_resource
from tests.cli.conftest import Caveat


def test_the_recorded_study_is_analysed_without_a_call(caveat: Caveat, tmp_path: Path) -> None:
    """Its run is of the files beside it: nothing is left to generate or to score, and the page is drawn."""
    folder = tmp_path / "skills"
    shutil.copytree(find_resource("examples") / "skills", folder)

    listed = caveat("analyze", "skills", "list", str(folder / "study.yaml"), "--run", str(folder / "run"), "--json").document
    analysed = caveat("analyze", "skills", "analyze", str(folder / "study.yaml"), "--run", str(folder / "run"), "-o", str(tmp_path / "out"))

    cells = [one for skill in listed["skills"] for one in skill["conditions"]]
    assert sum(one["answered"] for one in cells) == sum(one["calls"] for one in cells) == 26
    assert analysed.code == 0, analysed.err
    assert "26 responses" in analysed.out
    assert (tmp_path / "out" / "contamination.html").is_file()
