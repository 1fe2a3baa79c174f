"""ARCHITECTURE.md names what exists, has the levels of the import contracts, and stays short."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
_SPAN = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"[\w.-]+(?:/[\w.-]*)+|[\w-]+\.(?:py|md|toml|cfg|j2|css)")
_ROW = re.compile(r"^\| (\d+) \| `([^`]+)` \|", re.MULTILINE)


def list_paths() -> list[str]:
    """Return everything in code spans that has the form of a path in the project."""
    return [span for span in _SPAN.findall(TEXT) if _PATH.fullmatch(span)]


def list_planned_rooms() -> set[tuple[int, str]]:
    """Return the level and path of each room, as the import contracts have them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    rooms = set()
    for contract in contracts:
        for package in contract.get("containers", ()):
            for level, line in enumerate(contract["layers"], start=1):
                for name in re.findall(r"\w+", line):
                    path = f"{package}/{name}"
                    rooms.add((level, f"{path}/" if (ROOT / path).is_dir() else f"{path}.py"))
    return rooms


def test_every_file_and_folder_of_the_page_exists() -> None:
    """A file that was renamed or merged is renamed on the page too; a folder ends in a slash."""
    paths = list_paths()

    assert len(paths) > 100
    assert [path for path in paths if not ((ROOT / path).is_dir() if path.endswith("/") else (ROOT / path).is_file())] == []


def test_names_in_the_tasks_exist_in_a_file_of_their_task() -> None:
    """A class or function that a task names is in one of the files of the same row."""
    section = TEXT.split("## Fourteen tasks")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and not line.startswith("| task")]
    missing = []
    for row in rows:
        spans = _SPAN.findall(row)
        texts = [(ROOT / span).read_text(encoding="utf-8") for span in spans if span.endswith(".py")]
        names = [span for span in spans if re.fullmatch(r"[A-Z]\w+|_\w+|begin", span)]
        missing += [name for name in names if not any(re.search(rf"\b{name}\b", text) for text in texts)]

    assert len(rows) == 14
    assert missing == []


def test_the_map_has_every_room_on_its_level() -> None:
    """The tables of rooms and the layers in pyproject.toml are one plan."""
    assert {(int(level), path) for level, path in _ROW.findall(TEXT)} == list_planned_rooms()


def test_the_page_stays_short() -> None:
    """It has fewer than 2,500 words and at most ten decisions; longer ones belong to their modules or to docs/decisions.md."""
    assert len(TEXT.split()) < 2_500
    assert len(re.findall(r"^\*\*\d+\. ", TEXT, re.MULTILINE)) <= 10
