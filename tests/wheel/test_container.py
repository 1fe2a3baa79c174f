"""The Dockerfile, which is not built here: it copies what the wheel needs, and .dockerignore lets it through."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def list_copied() -> set[str]:
    """Return the paths that are copied from the checkout."""
    lines = [line.split()[1:-1] for line in LINES if line.startswith("COPY ") and "--from" not in line]
    return {path for line in lines for path in line}


def test_everything_that_the_wheel_holds_is_copied() -> None:
    """Packages, bundled files, and what pyproject.toml names itself."""
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {
        *wheel["packages"],
        *wheel["force-include"],
        "pyproject.toml",
        PROJECT["project"]["readme"],
        *PROJECT["project"]["license-files"],
    }

    assert list_copied() == needed
    assert all((ROOT / path).exists() for path in needed)


def test_the_context_holds_what_is_copied_and_nothing_else() -> None:
    """.dockerignore excludes everything, and lets the same paths through: no key, no registry and no environment enters an image."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()

    assert lines[0] == "*"
    assert {line.removeprefix("!") for line in lines if line.startswith("!")} == list_copied()


def test_the_system_libraries_are_those_that_make_demo_installs() -> None:
    """One list of packages for PDF in Dockerfile, tools/system-packages.sh and docs/install.md."""
    wanted = set(re.findall(r"lib(?:pango|harfbuzz)[\w.-]+", " ".join(line for line in LINES if "apt-get install" in line)))
    script = (ROOT / "tools" / "system-packages.sh").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")

    assert wanted == set(re.findall(r'need="\$need (lib[\w.-]+)"', script))
    assert all(name in page for name in wanted)


def test_the_image_runs_as_a_user_without_rights() -> None:
    """The last user is none that may install software, and the entry point is the command."""
    assert [line for line in LINES if line.startswith("USER ")] == ["USER caveat"]
    assert 'ENTRYPOINT ["caveat"]' in LINES
