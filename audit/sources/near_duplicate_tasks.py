"""Tasks that look alike and are in no common family: their scores are hardly independent."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from audit.records.model_response import ImportedLog
from registry.intake.text_similarity import MOST, find_alike
from registry.records.replay_definition import Task
from registry.records.replay_run import NearDuplicates

_SHOWN = 20


def find_near_duplicates(texts: Mapping[str, str], families: Mapping[str, str]) -> NearDuplicates | None:
    """Return the near-duplicates that are in no common family; None where no text is known.

    Args:
        texts: what each task asks, by its id.
        families: the family of each task that has one, by its id.
    """
    if not texts:
        return None
    ids = sorted(texts)
    alike = [(ids[first], ids[second]) for first, second in find_alike([texts[task] for task in ids])]
    # Statistics treat tasks as independent. Near-duplicates in no common family make every interval too narrow; those
    # with a common family are already treated as one cluster.
    apart = [(first, second) for first, second in alike if families.get(first) is None or families.get(first) != families.get(second)]
    return NearDuplicates(
        compared=min(len(ids), MOST), not_compared=max(0, len(ids) - MOST), found=len(apart), pairs=tuple(sorted(apart)[:_SHOWN])
    )


def find_alike_tasks(tasks: Iterable[Task]) -> NearDuplicates | None:
    """Return the near-duplicates among the tasks of a replay; the text of a task is its prompt with its options."""
    listed = list(tasks)
    return find_near_duplicates(
        {task.id: "\n".join((task.prompt, *task.options)) for task in listed}, {task.id: task.family for task in listed if task.family}
    )


def warn_of_near_duplicates(near_duplicates: NearDuplicates | None) -> str | None:
    """Return the warning that names the first pair and the remedy; None where there is nothing to warn of."""
    if near_duplicates is None or not near_duplicates.pairs:
        return None
    first, second = near_duplicates.pairs[0]
    others = (
        f"; {near_duplicates.found - 1} more pairs are"
        if near_duplicates.found > 2
        else "; 1 more pair is"
        if near_duplicates.found == 2
        else ""
    )
    return (
        f"tasks {first} and {second} are near-duplicates and in no common family{others}. Intervals take such tasks to be independent and "
        "are too narrow: give both the same family (key or column `family`)"
    )


def note_near_duplicates(imported: ImportedLog, near_duplicates: NearDuplicates | None) -> ImportedLog:
    """Return *imported* with what was found, as a warning on its first file and in its provenance."""
    warning = warn_of_near_duplicates(near_duplicates)
    files = imported.files
    if warning is not None and files:
        files = (replace(files[0], warnings=(*files[0].warnings, warning)), *files[1:])
    return replace(imported, files=files, provenance=replace(imported.provenance, near_duplicates=near_duplicates))
