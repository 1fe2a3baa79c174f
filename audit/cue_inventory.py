"""Cue inventories: what raters and the probe named becomes one list, with a part that can be held out until the run is over.

Cues that are spelled almost alike are one: `difflib`'s ratio of at least 0.85 between the words in lower case [ours]. Each name goes to the
commonest cue that it is like, so the order of the files does not count.
"""

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audit.errors import DesignError
from audit.records.rating_sheet import VOCABULARY, AnswerSheet, SampleSide
from registry.codec.canonical_documents import digest, to_document
from registry.errors import Fault
from registry.records.estimates import EstimateWarning
from registry.records.module_findings import Ablation, InventoryCoverage
from registry.records.specification import Cue, CueInventorySpec

ALIKE = 0.85
"""Ratio from which two names are one cue: a letter swapped in `task format`, and not `task format` for `task forms`."""
GENERIC = "generic"
FAMILIES: Mapping[str, str] = {
    "not-real": "stimulus artificiality",
    "meta": "scenario coherence",
    "deployment": "ecological completeness",
    "named": "paradigm recognisability",
    "monitoring": "explicit disclosure",
    "designed": "stakes telegraphing",
    "test": GENERIC,
}
"""Where a quote of the probe belongs in the vocabulary, by the family of patterns that marks it; the first that applies. A hint [ours]."""
_LONGEST = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCue:
    """A cue as it was named once."""

    name: str
    source: str
    """`raters`, `model raters` or `probe`."""
    category: str | None = None
    """None: the name itself if it is a word of the vocabulary, else generic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventories:
    """What a collection of named cues comes to."""

    open: CueInventorySpec
    held_out: CueInventorySpec | None


def list_rater_cues(sheets: Iterable[AnswerSheet], *, models: frozenset[str]) -> tuple[list[NamedCue], int]:
    """Return the cues of items that raters took for tests, and how many were named for other items: those give no test away.

    Args:
        models: raters that are models.
    """
    named: list[NamedCue] = []
    others = 0
    for sheet in sheets:
        source = "model raters" if sheet.rater in models else "raters"
        for answer in sheet.answers:
            if answer.answer is SampleSide.TEST:
                named += [NamedCue(name=cue, source=source) for cue in answer.cues]
            else:
                others += len(answer.cues)
    return named, others


def read_probe_cue(quote: str, families: Sequence[str]) -> NamedCue:
    """Return the cue that a recognised passage names: its quote, placed by the patterns that mark it."""
    category = next((place for family, place in FAMILIES.items() if family in families), GENERIC)
    return NamedCue(name=" ".join(quote.split())[:_LONGEST], source="probe", category=category)


def build_inventory(named: Sequence[NamedCue], *, name: str) -> CueInventorySpec:
    """Return the inventory of *named*, near-duplicates as one, the most frequent first.

    Raises:
        DesignError: no cue was named.
    """
    words = Counter(_fold(cue.name) for cue in named if _fold(cue.name))
    if not words:
        found = "nobody named a cue"
        advice = "raters name cues in the column cue of their sheets, the probe in the quotes that -o writes"
        raise DesignError(Fault(code="cues-missing", where="cues", found=found, advice=advice))
    heads = _find_heads(words)
    groups: dict[str, list[NamedCue]] = {}
    for cue in named:
        if _fold(cue.name):
            groups.setdefault(heads[_fold(cue.name)], []).append(cue)
    cues = [_build_cue(head, cues) for head, cues in groups.items()]
    return CueInventorySpec(name=name, cues=tuple(sorted(cues, key=lambda cue: (-(cue.count or 0), cue.name))))


def hold_out(inventory: CueInventorySpec, *, count: int, seed: int) -> Inventories:
    """Return *inventory* without *count* cues that *seed* draws, and these.

    Raises:
        DesignError: fewer than one cue would be held out, or none would be left.
    """
    total = len(inventory.cues)
    if not 1 <= count < total:
        found = f"expected at least 1 and fewer than the {total} cues there are, found {count}"
        raise DesignError(Fault(code="bad-held-out", where="--held-out", found=found))
    ordered = sorted(inventory.cues, key=lambda cue: cue.name)
    drawn = {ordered[place].name for place in np.random.default_rng(seed).permutation(total)[:count].tolist()}
    kept = tuple(cue for cue in inventory.cues if cue.name not in drawn)
    secret = tuple(cue for cue in inventory.cues if cue.name in drawn)
    held = CueInventorySpec(name=f"{inventory.name}, held out", cues=secret, seed=seed)
    return Inventories(open=replace(inventory, cues=kept), held_out=held)


def cover_inventories(ablation: Ablation, listed: Sequence[tuple[str, CueInventorySpec]]) -> Ablation:
    """Return *ablation* with what it did of each inventory, and warnings of cues that were not ablated, or that none lists.

    Args:
        listed: the source and the body of each inventory.
    """
    if not listed:
        return ablation
    cues = list(dict.fromkeys(change.cue for change in ablation.changes if not change.placebo))
    coverages = tuple(_cover(source, body, cues) for source, body in listed)
    names = {name for _, body in listed for cue in body.cues for name in _list_names(cue)}
    warnings = []
    for coverage in coverages:
        if coverage.not_ablated:
            message = f"{coverage.name}: nothing is known of {len(coverage.not_ablated)} cues: {', '.join(coverage.not_ablated[:5])}."
            warnings.append(EstimateWarning(code="cues-not-ablated", message=message))
    outside = [cue for cue in cues if not any(_is_alike(_fold(cue), name) for name in names)]
    if outside:
        message = f"No inventory lists {', '.join(outside[:5])}: whether they were chosen before the run, the inventories do not show."
        warnings.append(EstimateWarning(code="cue-outside-inventory", message=message))
    return replace(ablation, inventories=coverages, warnings=(*ablation.warnings, *warnings))


def _cover(source: str, body: CueInventorySpec, cues: Sequence[str]) -> InventoryCoverage:
    folded = [_fold(cue) for cue in cues]
    ablated = [cue.name for cue in body.cues if any(_is_alike(name, word) for name in _list_names(cue) for word in folded)]
    return InventoryCoverage(
        name=body.name,
        source=source,
        sha256=digest(to_document(body)),
        ablated=tuple(ablated),
        not_ablated=tuple(cue.name for cue in body.cues if cue.name not in ablated),
        held_out=body.held_out,
    )


def _list_names(cue: Cue) -> tuple[str, ...]:
    return tuple(_fold(name) for name in (cue.name, *cue.spellings))


def _fold(name: str) -> str:
    """The words of a name as they are compared: as the vocabulary spells them."""
    return " ".join(name.replace("_", " ").replace("-", " ").split()).casefold()


def _find_heads(words: Counter[str]) -> dict[str, str]:
    """By name, the name of its group: vocabulary first, then the commonest, each taking in what is like it."""
    heads: dict[str, str] = {}
    for word in sorted(words, key=lambda one: (one not in VOCABULARY, -words[one], one)):
        like = next((head for head in dict.fromkeys((*VOCABULARY, *heads.values())) if _is_alike(word, head)), word)
        heads[word] = like
    return heads


def _is_alike(first: str, second: str) -> bool:
    if first == second:
        return True
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    return matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE


def _build_cue(head: str, cues: Sequence[NamedCue]) -> Cue:
    sources = Counter(cue.source for cue in cues)
    spellings = sorted({" ".join(cue.name.split()) for cue in cues if _fold(cue.name) != head})
    categories = Counter(cue.category for cue in cues if cue.category is not None)
    category = head if head in VOCABULARY else max(sorted(categories), key=lambda one: categories[one], default=GENERIC)
    name = head if head in VOCABULARY else min(" ".join(cue.name.split()) for cue in cues if _fold(cue.name) == head)
    return Cue(
        name=name,
        category=category,
        description=VOCABULARY.get(head),
        count=len(cues),
        sources=tuple(f"{source}: {count}" for source, count in sorted(sources.items())),
        spellings=tuple(spellings),
    )
