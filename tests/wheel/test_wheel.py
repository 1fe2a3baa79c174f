"""What people get: the wheel, installed into a clean place, upgrades a database and prints a supplement."""

import json
import os
import site
import subprocess
import sys
import venv
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command `caveat` of a fresh environment that has the wheel, and the dependencies of this one."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(_ROOT)]
    subprocess.run(build, check=True, capture_output=True, text=True)
    (wheel,) = folder.glob("caveat-*.whl")
    venv.create(folder / "clean", with_pip=False)
    place = next((folder / "clean" / "lib").glob("python*")) / "site-packages"
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--target", str(place), str(wheel)], check=True)
    # Only plain folders are added: the editable installation's own hook in this environment must not answer for the wheel.
    (place / "dependencies.pth").write_text("\n".join(site.getsitepackages()))
    script = folder / "caveat"
    script.write_text(f"#!{folder}/clean/bin/python\nfrom caveat_command import main\nmain()\n")
    script.chmod(0o755)
    return script


def run(command: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in *folder*, far from the checkout."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "CAVEAT"))}
    return subprocess.run([command, *arguments], cwd=folder, capture_output=True, text=True, env=environment, check=False)


def test_the_code_comes_from_the_wheel(command: Path, tmp_path: Path) -> None:
    """The test would prove nothing if the checkout answered."""
    python = command.read_text().splitlines()[0].removeprefix("#!")
    found = subprocess.run(
        [python, "-c", "import registry; print(registry.__file__)"], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert "site-packages" in found.stdout
    assert str(_ROOT) not in found.stdout


def test_the_wheel_runs_beside_a_folder_registry_of_the_users(command: Path, tmp_path: Path) -> None:
    """The search path of the user comes after the installation."""
    (tmp_path / "mine" / "registry").mkdir(parents=True)
    (tmp_path / "mine" / "registry" / "__init__.py").write_text("raise SystemExit('the wrong package')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "mine")}

    done = subprocess.run(
        [command, "admin", "schema", "claims"], cwd=tmp_path, capture_output=True, text=True, env=environment, check=False
    )

    assert done.returncode == 0, done.stderr


def test_the_python_api_is_in_the_wheel_with_its_types(command: Path, tmp_path: Path) -> None:
    """`import caveat` works, loads what is asked for, and type checkers find `py.typed`."""
    python = command.read_text().splitlines()[0].removeprefix("#!")
    code = "import caveat, pathlib; folder = pathlib.Path(caveat.__file__).parent\n"
    code += "print(caveat.__version__, caveat.InputError.__name__, (folder / 'py.typed').exists())"
    done = subprocess.run([python, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert done.stdout.split()[1:] == ["InputError", "True"]


def test_a_registry_is_made_and_checked(command: Path, tmp_path: Path) -> None:
    """Migrations ship in the wheel."""
    made = run(command, "init", "--example", "--json", folder=tmp_path)
    checked = run(command, "admin", "db", "check", "--json", folder=tmp_path)

    assert made.returncode == 0, made.stderr
    assert json.loads(checked.stdout)["is_current"] is True


def test_the_demo_runs_from_the_wheel(command: Path, tmp_path: Path) -> None:
    """Templates, fonts and examples ship in the wheel; supplements come out."""
    done = run(command, "demo", "--no-pdf", "-o", "out", "--json", folder=tmp_path)

    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "out").rglob("*.html"))
