"""How the installed command starts: with its own code, whatever lies on the user's search path."""

import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from caveat_command import SECTIONS, find_standard_library, put_installation_first
from registry.cli.main import find_commands

_ROOT = Path(__file__).resolve().parents[2]
_SCRIPT = "import sys\nfrom caveat_command import main\nsys.argv[0] = 'caveat'\nsys.exit(main())\n"
"""What an installer writes for the entry point `caveat_command:main`."""


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder of a user with packages that are called like ours."""
    for name in ("registry", "audit", "fleet", "interchange", "monitoring", "web", "caveat"):
        (tmp_path / "mine" / name).mkdir(parents=True)
        (tmp_path / "mine" / name / "__init__.py").write_text("raise SystemExit('the wrong package')\n", encoding="utf-8")
    return tmp_path / "mine"


def start(folder: Path, *path: Path, arguments: tuple[str, ...] = ("--version",)) -> subprocess.CompletedProcess[str]:
    """Run the console script in *folder* with *path* as PYTHONPATH."""
    script = folder / "script" / "caveat"
    script.parent.mkdir(exist_ok=True)
    script.write_text(_SCRIPT, encoding="utf-8")
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    return subprocess.run([sys.executable, script, *arguments], cwd=folder, env=environ, capture_output=True, text=True, check=False)


def test_a_package_registry_on_the_users_path_does_not_break_the_command(hostile: Path, tmp_path: Path) -> None:
    """Folders `registry/` and `caveat/` of the user's own come first on PYTHONPATH; the command runs from its installation."""
    process = start(tmp_path, hostile, _ROOT, arguments=("init", "--code", "AISI"))

    assert process.returncode == 0, process.stderr
    assert (tmp_path / "caveat.db").exists()


def test_child_processes_take_the_same_path(hostile: Path, tmp_path: Path) -> None:
    """Extractors of cards run in processes of their own, which find our code as well."""
    shutil.copytree(hostile / "registry", tmp_path / "registry")  # also in the current folder
    (tmp_path / "card.html").write_text(
        "<html><body><h1>Card</h1><p>The model refuses 96 % of requests.</p></body></html>", encoding="utf-8"
    )
    start(tmp_path, hostile, _ROOT, arguments=("init", "--code", "AISI"))

    added = start(tmp_path, hostile, _ROOT, arguments=("card", "add", "card.html", "--publisher", "LAB"))

    assert added.returncode == 0, added.stderr


def test_the_entry_point_is_the_module_that_sets_the_path() -> None:
    """The script that installers write imports a module with a name of its own, not the package `registry`."""
    import tomllib

    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    assert project["project"]["scripts"] == {"caveat": "caveat_command:main"}
    assert "caveat_command.py" in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


def test_the_standard_library_stays_first() -> None:
    """Site packages may have modules with names of the standard library; they do not replace those."""
    library = find_standard_library()
    ordered = put_installation_first(["/bin", "/mine", *sorted(library), "/site"], "/site", library)

    assert library
    assert ordered == [*sorted(library), "/site", "/bin", "/mine"]


def test_the_list_of_commands_says_what_their_help_says() -> None:
    """`caveat --help` prints summaries without loading a command; each is the first line of that command's own help."""
    listed = {name: summary for section in SECTIONS.values() for name, summary in section.items()}
    own = {name: inspect.cleandoc(str(point.load().help)).splitlines()[0] for name, point in find_commands().items()}

    assert own == listed
