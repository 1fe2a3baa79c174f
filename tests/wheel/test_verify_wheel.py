"""The second distribution: `caveat-verify` in an environment that has its dependencies and nothing else."""

import os
import shutil
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.cli.given_out import NAME, build

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "packaging" / "caveat-verify"
PROJECT = tomllib.loads((SOURCE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LARGEST_MB = 60
"""By plain pip, with everything that is required."""


def list_closure(names: list[str]) -> set[str]:
    """Return the distributions *names* with all that they require, without extras, as they are installed here."""
    found: set[str] = set()
    while names:
        name = names.pop().lower().replace("_", "-").replace(".", "-")
        if name not in found:
            found.add(name)
            requirements = map(Requirement, distribution(name).requires or ())
            names += [each.name for each in requirements if each.marker is None or each.marker.evaluate({"extra": ""})]
    return found


def measure_mb(folder: Path) -> float:
    """Return the size of the files below *folder*."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages of an environment with the wheel and all that it requires, copied from this one, compiled."""
    folder = tmp_path_factory.mktemp("verify")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(SOURCE)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    venv.create(folder / "clean", with_pip=False)
    packages = next((folder / "clean" / "lib").glob("python*")) / "site-packages"
    (wheel,) = folder.glob("caveat_verify-*.whl")
    target = ["--target", str(packages), str(wheel)]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", *target], check=True, capture_output=True)
    for name in list_closure([Requirement(text).name for text in PROJECT["dependencies"]]):
        for file in distribution(name).files or ():
            source = Path(str(file.locate()))
            if source.is_file() and ".." not in file.parts:
                (packages / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, packages / file)
    subprocess.run([folder / "clean" / "bin" / "python", "-m", "compileall", "-q", packages], check=False, capture_output=True)
    return packages


@pytest.fixture(scope="module")
def mail(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published PDF with its JSON form, and one key line."""
    folder = tmp_path_factory.mktemp("mail")
    build(folder)
    lines = (folder / "caveat-keys" / "log.pem").read_text(encoding="utf-8").splitlines()
    (folder / "institute.keys").write_text(next(line for line in lines if line and not line.startswith(("#", "-"))), encoding="utf-8")
    return folder


def run(place: Path, mail: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `caveat-verify` of that environment, as its console script does."""
    python = place.parents[2] / "bin" / "python"
    code = "import sys; from caveat_command import verify; sys.argv[0] = 'caveat-verify'; verify()"
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "CAVEAT"))}
    return subprocess.run([python, "-c", code, *arguments], cwd=mail, env=environment, capture_output=True, text=True, check=False)


def test_the_dependencies_are_those_of_caveat_without_the_heavy_ones() -> None:
    """Each has the same bound in both; none of them brings statistics, a database or layout."""
    full = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    heavy = {
        "numpy",
        "scipy",
        "pyarrow",
        "weasyprint",
        "sqlalchemy",
        "alembic",
        "zstandard",
        "anthropic",
        "pyhanko",
        "pikepdf",
        "pillow",
        "lxml",
    }

    assert set(PROJECT["dependencies"]) <= set(full["dependencies"])
    assert PROJECT["version"] == full["version"]
    assert list_closure([Requirement(text).name for text in PROJECT["dependencies"]]) & heavy == set()


@pytest.mark.slow
def test_a_pdf_and_a_key_line_are_enough(place: Path, mail: Path) -> None:
    """One command, whose first word is PASS, from an installation of at most 60 MB."""
    done = run(place, mail, f"out/{NAME}.pdf", "--key", "institute.keys")

    assert done.stdout.startswith("PASS  "), done.stderr
    assert done.returncode == 0
    assert measure_mb(place) <= LARGEST_MB


@pytest.mark.slow
def test_the_wheel_has_the_rooms_of_verification_and_no_others(place: Path) -> None:
    """Neither store nor intake; every library that a check imports is required, or the checks above would have failed."""
    rooms = {path.name for path in (place / "registry").iterdir() if path.is_dir() and path.name != "__pycache__"}

    assert rooms == {"_bundled", "cli", "codec", "exchange", "present", "records", "report", "seal", "verify"}
    assert not {path.name.partition("-")[0].lower() for path in place.iterdir()} & {
        "pil",
        "lxml",
        "pikepdf",
        "numpy",
        "sqlalchemy",
        "scipy",
    }


@pytest.mark.slow
def test_rendering_again_is_not_checked_and_says_why(place: Path, mail: Path) -> None:
    """Layout is not installed: the check `bytes` has that reason, and a registry is refused with the name of the full distribution."""
    redrawn = run(place, mail, f"out/{NAME}.pdf", "--key", "institute.keys", "--rerender")
    read = run(place, mail, f"out/{NAME}.html", f"out/{NAME}.json", "--key", "institute.keys", "--json")
    required = run(place, mail, f"out/{NAME}.html", "--key", "institute.keys", "--require", "bytes")
    refused = run(place, mail, "--registry", "sqlite:///caveat.db")

    assert "not_checked  bytes" in redrawn.stdout
    assert "this installation has no layout" in " ".join(redrawn.stdout.split())
    assert (redrawn.returncode, required.returncode, refused.returncode, read.returncode) == (0, 3, 3, 0), read.stderr
    assert "error[part-not-installed]" in refused.stderr
    assert "pip install caveat" in refused.stderr


@pytest.mark.slow
def test_a_wrong_option_is_a_usage_error(place: Path, mail: Path) -> None:
    """The library that finds similar names is not installed, so none is suggested."""
    done = run(place, mail, "--kye", "institute.keys")

    assert done.returncode == 2
    assert done.stderr.startswith("error[unknown-option]"), done.stderr


@pytest.mark.slow
def test_what_was_altered_fails_as_in_the_full_installation(place: Path, mail: Path) -> None:
    """One word of the record is another."""
    data = (mail / "out" / f"{NAME}.html").read_bytes()
    (mail / "altered.html").write_bytes(data.replace(b"scheming rate", b"scheming bait"))

    done = run(place, mail, "altered.html", "--key", "institute.keys")

    assert done.stdout.startswith("FAIL  ")
    assert done.returncode == 1
