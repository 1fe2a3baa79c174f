"""What a study's run folder remembers of its file, so that nothing of it is decided after a result could be seen."""

from collections.abc import Iterator
from typing import Any

from audit.replay.documents import list_versions, put_version
from audit.replay.store import RunStore
from audit.skills.study import StudyFile
from registry.codec.documents import to_document
from registry.errors import ConflictError, Fault

_NAME = "skills"
_FIXED = ("left_out", "risk_level", "test_category", "structural_score", "hidden_references")


def keep_study(store: RunStore, file: StudyFile) -> None:
    """Keep the skills of *file* in the run folder, each as it was when its calls were first planned.

    A study may grow: a skill more is no change of the others.

    Raises:
        ConflictError: a skill that was planned before is gone, or is now said to be another: left out, of another risk or category.
    """
    known = _find_known(store)
    faults = list(_compare(known, file))
    if faults:
        raise ConflictError(faults)
    put_version(store, _NAME, {name: to_document(entry) for name, entry in file.study.skills.items()})


def check_study(store: RunStore, file: StudyFile) -> None:
    """Refuse a study that is not the one of the run folder; raises ConflictError as `keep_study` does, and where there is none."""
    known = _find_known(store)
    if not known:
        found = "was not made by a skill study"
        advice = f"caveat skills generate {file.path} --run {store.path.parent}"
        raise ConflictError(Fault(code="run-differs", where=str(store.path.parent), found=found, advice=advice))
    faults = list(_compare(known, file))
    if faults:
        raise ConflictError(faults)


def _find_known(store: RunStore) -> dict[str, Any]:
    versions = list_versions(store, _NAME)
    return versions[-1] if versions else {}


def _compare(known: dict[str, Any], file: StudyFile) -> Iterator[Fault]:
    for name, before in known.items():
        where = f"{file.path}, skills.{name}"
        entry = file.study.skills.get(name)
        if entry is None:
            found = "the skill was planned in this run folder, and the study does not name it any more"
            yield Fault(
                code="skill-changed", where=where, found=found, advice="put it back: what was run is shown, also when it is left out"
            )
            continue
        now = to_document(entry)
        for key in _FIXED:
            if now[key] != before[key]:
                found = f"{key} was {before[key]!r} when its calls were planned, and is {now[key]!r} now"
                advice = "put it back; another decision needs a run folder of its own (--run DIR)"
                yield Fault(code="skill-changed", where=f"{where}.{key}", found=found, advice=advice)
