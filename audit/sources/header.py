"""Which columns a score table has, and what is wrong with them."""

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from audit.sources.selection import Selection, find_named, find_unknown
from registry.errors import Fault

IDS = ("task_id", "arm", "context_id", "sample")
KEYS = ("spec", "cue_removed", "judge", "judge_repeat")
"""Optional columns that tell responses apart, beside `IDS`."""

OPTIONAL = (*KEYS, "excluded_reason", "weight", "family", "template", "truncated", "settled", "refused", "stop_reason")
SYNONYMS = {"side": "arm"}
COLUMNS = (*IDS, "score", *OPTIONAL)

MOST_COLUMNS = 10_000
"""Columns that a table may have: each costs memory and time before one row is read."""
LONGEST_HEADER = 1_000_000
"""Characters that a header may have."""

_MEANT = {
    "task": "task_id",
    "item_id": "task_id",
    "context": "context_id",
    "sample_id": "sample",
    "value": "score",
    "specification": "spec",
    "cue": "cue_removed",
    "ablated": "cue_removed",
    "judge_run": "judge_repeat",
    "weights": "weight",
    "task_weight": "weight",
    "task_family": "family",
    "families": "family",
    "context_template": "template",
    "templates": "template",
    "excluded": "excluded_reason",
    "exclusion": "excluded_reason",
    "exclusion_reason": "excluded_reason",
    "is_truncated": "truncated",
    "was_truncated": "truncated",
    "is_refused": "refused",
    "was_refused": "refused",
    "finish_reason": "stop_reason",
}
"""Names that people give to columns of ours and that spelling alone would not find."""


def find_columns(names: Sequence[str], selection: Selection, *, where: str) -> tuple[dict[str, str], list[Fault]]:
    """Return, by our name, the name each column of ours has in the file; and every fault of the header.

    Columns we do not know are left out, unless they look like one of ours that is absent. The column of scores is the one that
    *selection* names.
    """
    faults = [
        Fault(code="column-twice", where=f"{where}, column {name}", found=f"the column occurs {count} times", advice="keep one of them")
        for name, count in Counter(names).items()
        if count > 1 and (name in COLUMNS or name in SYNONYMS or name in selection.names or name == selection.score)
    ]
    faults.extend(find_unknown(selection, names, where=where))
    found = {name: name for name in COLUMNS if name in names} | {"score": selection.score}
    if selection.score not in names:
        del found["score"]
    for synonym, name in SYNONYMS.items():
        if synonym in names and name in found:
            both = f"both {name} and {synonym} are there; they are two words for one column"
            faults.append(
                Fault(code="arm-and-side", where=f"{where}, columns {name} and {synonym}", found=both, advice="remove one of them")
            )
        elif synonym in names:
            found[name] = synonym
    return found, [*faults, *_find_absent(names, found, selection, where=where)]


def _find_absent(names: Sequence[str], found: dict[str, str], selection: Selection, *, where: str) -> Iterable[Fault]:
    asked = {find_named(name, names) for name in selection.names}
    spare = [name for name in list_unknown(names, found) if name not in asked]
    for name in COLUMNS:
        # A column of scores with a name of its own was looked for already.
        if name in found or (name == "score" and selection.score != "score"):
            continue
        meant = _find_meant(name, spare)
        if name not in OPTIONAL:
            there = ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
            known = f"the column is missing; the columns are: {there or 'none'}"
            advice = f"did you mean {meant!r}? rename it to {name}" if meant else _advise(names, name)
            yield Fault(code="column-missing", where=f"{where}, column {name}", found=known, advice=advice)
        elif meant:
            unread = f"the column {meant!r} would not be read"
            yield Fault(code="column-typo", where=f"{where}, column {meant}", found=unread, advice=f"did you mean {name}? rename it")


def list_unknown(names: Sequence[str], found: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns that are none of ours, in the order of the file."""
    return tuple(name for name in dict.fromkeys(names) if name not in found.values() and name not in SYNONYMS and name != "score")


def _find_meant(name: str, spare: Sequence[str]) -> str | None:
    """Return the spare column that was probably meant to be *name*."""
    plain = {candidate.strip().lower().replace(" ", "_").replace("-", "_"): candidate for candidate in spare}
    for written, candidate in plain.items():
        if written == name or _MEANT.get(written) == name or SYNONYMS.get(written) == name:
            return candidate
    close = difflib.get_close_matches(name, list(plain), n=1, cutoff=0.8)
    return plain[close[0]] if close else None


def _advise(names: Sequence[str], name: str) -> str:
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        return "separate columns by commas"
    return f"add the column {name}" + (" (or side)" if name == "arm" else "")


def tell_too_wide(where: str, found: str) -> Fault:
    """Return the fault of a table with more columns, or a longer header, than is read."""
    advice = f"keep the columns that are needed; at most {MOST_COLUMNS:,} are read"
    return Fault(code="table-too-wide", where=where, found=found, advice=advice)
