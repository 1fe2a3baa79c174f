"""The text of a skill, as an agent would load it: SKILL.md and what lies in references/."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from registry.codec.files import read_text
from registry.errors import Fault, InputError
from registry.registration.context_file import LARGEST_TEXT_BYTES, digest_file, find_beside

MAIN, REFERENCES = "SKILL.md", "references"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillText:
    """What a skill says."""

    main: str
    references: Mapping[str, str]
    """By path below references/, the text of each file, in the order of paths."""
    digests: dict[str, str]
    """By name of the file, seen from the study's folder, its SHA-256."""

    @property
    def chars(self) -> int:
        """Length of both."""
        return len(self.main) + len(self.join_references(None))

    def join_references(self, names: Sequence[str] | None) -> str:
        """Return the references called *names*, each under a line with its name; all of them where *names* is None or empty."""
        chosen = names or tuple(self.references)
        return "\n\n".join(f"---\n\n# Reference: {name}\n\n{self.references[name].strip()}" for name in chosen)


def read_skill_text(folder: Path, name: str, *, where: str) -> SkillText:
    """Return the text of the skill in the folder *name* beside a study in *folder*.

    Args:
        where: the place in the study that names the folder.

    Raises:
        InputError: with every fault: the folder leads out of the study's, SKILL.md is missing or empty, a file is no text.
    """
    place = find_beside(folder, name, where=where)
    if not place.is_dir():
        found = f"there is no folder {name!r}"
        raise InputError(Fault(code="skill-not-found", where=where, found=found, advice="name the folder that holds the skill's SKILL.md"))
    if not (place / MAIN).is_file():
        found = f"the folder {name!r} has no {MAIN}"
        raise InputError(Fault(code="skill-not-found", where=where, found=found, advice=f"a skill is a folder with {MAIN} in it"))
    faults: list[Fault] = []
    texts: dict[str, str] = {}
    digests: dict[str, str] = {}
    for path in (place / MAIN, *_list_references(place)):
        file = path.relative_to(folder).as_posix()
        try:
            find_beside(folder, file, where=where)
            texts[path.relative_to(place).as_posix()] = _read(path)
            digests[file] = digest_file(path)
        except InputError as error:
            faults.extend(error.faults)
    if faults:
        raise InputError(faults)
    main = texts.pop(MAIN)
    references = {file.removeprefix(f"{REFERENCES}/"): text for file, text in texts.items()}
    return SkillText(main=main, references=references, digests=digests)


def _list_references(place: Path) -> Iterator[Path]:
    """Give the files of references/; those whose name begins with a point are left to whoever put them there."""
    for path in sorted((place / REFERENCES).rglob("*")):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(place).parts):
            yield path


def _read(path: Path) -> str:
    text = read_text(path, largest=LARGEST_TEXT_BYTES)
    if "\0" in text:
        raise InputError(Fault(code="not-valid", where=str(path), found="has U+0000, which no record can hold", advice="remove it"))
    if not text.strip():
        raise InputError(Fault(code="not-valid", where=str(path), found="the file is empty, so nothing would be loaded"))
    return text
