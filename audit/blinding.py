"""Module 1 of the protocol, first half: a blinded draw of samples of both sides, and a sheet for each rater (method section 6).

Everything follows from the samples and the seed: the order of rows does not count, and the same seed makes the same sheets again.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from audit.errors import DesignError
from audit.records.rating_sheet import KeyItem, RatingKey, RatingSample, RatingSheet, SampleSide, SheetItem, tag_key
from audit.statistics.design_remarks import DesignRemark
from registry.codec.canonical_documents import canonical_bytes, to_document
from registry.errors import Fault

_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""No vowels and no digits: a name of them is never a word, a number or a date to a spreadsheet."""

_LENGTH = 8
_RATER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FEW_ITEMS = 20
_SHORT = 3
"""Names of contexts shorter than this stand in any text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What goes to the raters, and what is kept from them."""

    key: RatingKey
    sheets: tuple[RatingSheet, ...]
    """In the order of the raters' names."""
    remarks: tuple[DesignRemark, ...]
    """What could give an item away, or makes the audit weak."""


def draw_sheets(
    samples: Sequence[RatingSample], raters: Sequence[str], *, items: int | None, seed: int, arms: tuple[str, str] = ("test", "deploy")
) -> Drawn:
    """Return one shuffled sheet for each rater, with equally many items of both sides, spread evenly over contexts.

    A text that stands twice on one side counts once.

    Args:
        samples: of both sides.
        raters: their names; each becomes the name of a folder.
        items: how many in all, half of them of each side; None for as many as the smaller side has, twice.
        seed: of the draw and the shuffles.
        arms: what the two sides are called where the samples come from; a text that says so is remarked on.

    Raises:
        DesignError: names that cannot be or are not different, no rater, fewer than two items, or a side without samples.
    """
    known = _count_once(samples)
    faults = [*_check_raters(raters), *_check_items(known, items)]
    if faults:
        raise DesignError(faults)
    rng = np.random.default_rng(seed)
    most = min(len(known[side]) for side in SampleSide)
    wanted = most if items is None else min(items // 2, most)
    chosen = [sample for side in SampleSide for sample in _spread(known[side], wanted, rng)]
    names = _name_items(len(chosen), rng)
    found = sorted(zip(names, chosen, strict=True), key=lambda pair: pair[0])
    key = RatingKey(
        seed=seed,
        samples=_digest_samples(known),
        drawn_from_test=len(known[SampleSide.TEST]),
        drawn_from_deploy=len(known[SampleSide.DEPLOY]),
        raters=tuple(sorted(raters)),
        items=tuple(_build_item(name, sample) for name, sample in found),
    )
    tag = tag_key(digest_key(key))
    sheets = tuple(_build_sheet(rater, tag, found, rng) for rater in key.raters)
    return Drawn(key=key, sheets=sheets, remarks=tuple(_remark(known, chosen, items, arms)))


def digest_key(key: RatingKey) -> str:
    """Return the SHA-256 of the canonical document of *key*, which is what its file holds; hexadecimal."""
    return hashlib.sha256(canonical_bytes(to_document(key))).hexdigest()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _count_once(samples: Sequence[RatingSample]) -> dict[SampleSide, list[RatingSample]]:
    """By side, samples in an order of their own, each text once."""
    found: dict[SampleSide, dict[str, RatingSample]] = {side: {} for side in SampleSide}
    for sample in sorted(samples, key=lambda one: (_digest(one.text), one.task_id or "", one.context_id or "")):
        found[sample.side].setdefault(sample.text, sample)
    return {side: list(texts.values()) for side, texts in found.items()}


def _digest_samples(known: dict[SampleSide, list[RatingSample]]) -> str:
    documents = [to_document(sample) for side in SampleSide for sample in known[side]]
    return hashlib.sha256(canonical_bytes({"samples": documents})).hexdigest()


def _spread(samples: Sequence[RatingSample], wanted: int, rng: np.random.Generator) -> Iterator[RatingSample]:
    """Give *wanted* samples, one of each context in turn, contexts and samples in random order."""
    contexts: dict[str, list[RatingSample]] = {}
    for sample in samples:
        contexts.setdefault(sample.context_id or "", []).append(sample)
    piles = [[pile[place] for place in rng.permutation(len(pile))] for _, pile in sorted(contexts.items())]
    piles = [piles[place] for place in rng.permutation(len(piles))]
    turns = [(turn, pile, sample) for pile, samples_ in enumerate(piles) for turn, sample in enumerate(samples_)]
    yield from (sample for _, _, sample in sorted(turns, key=lambda one: one[:2])[:wanted])


def _name_items(count: int, rng: np.random.Generator) -> list[str]:
    names: dict[str, None] = {}
    while len(names) < count:
        names["".join(_LETTERS[place] for place in rng.integers(len(_LETTERS), size=_LENGTH))] = None
    return list(names)


def _build_item(name: str, sample: RatingSample) -> KeyItem:
    return KeyItem(item=name, side=sample.side, task_id=sample.task_id, context_id=sample.context_id, text=_digest(sample.text))


def _build_sheet(rater: str, tag: str, found: Sequence[tuple[str, RatingSample]], rng: np.random.Generator) -> RatingSheet:
    order = rng.permutation(len(found))
    return RatingSheet(rater=rater, key=tag, items=tuple(SheetItem(item=found[place][0], text=found[place][1].text) for place in order))


def _check_raters(raters: Sequence[str]) -> Iterator[Fault]:
    if not raters:
        yield Fault(code="bad-rater", where="--raters", found="no rater is named", advice="name them, separated by commas")
    for rater in raters:
        if not _RATER.fullmatch(rater):
            found = f"{rater!r} cannot be the name of a folder"
            advice = "use letters, digits, dots, hyphens and underscores, at most 64, a letter or digit first"
            yield Fault(code="bad-rater", where="--raters", found=found, advice=advice)
        elif rater.casefold() == "key.json":
            yield Fault(
                code="bad-rater", where="--raters", found=f"{rater!r} is what the key's file is called", advice="name them otherwise"
            )
    folded = [rater.casefold() for rater in raters]
    for rater in sorted({rater for rater in raters if folded.count(rater.casefold()) > 1}, key=str.casefold):
        yield Fault(code="bad-rater", where="--raters", found=f"{rater!r} is named twice, or differs from another only in case")


def _check_items(known: dict[SampleSide, list[RatingSample]], items: int | None) -> Iterator[Fault]:
    if items is not None and items < 2:
        found = f"expected at least 2, one of each side, found {items}"
        yield Fault(code="bad-items", where="--items", found=found)
    for side in SampleSide:
        if not known[side]:
            found = f"the {side.value} side has no sample"
            yield Fault(code="one-sided", where="samples", found=found, advice="add samples of the other side")


def _remark(
    known: dict[SampleSide, list[RatingSample]], chosen: Sequence[RatingSample], items: int | None, arms: tuple[str, str]
) -> Iterator[DesignRemark]:
    if items is not None and len(chosen) < items:
        message = f"{items} items were asked for and {len(chosen)} drawn: the same number of each side."
        yield DesignRemark(code="fewer-items", message=message)
    if len(chosen) < _FEW_ITEMS:
        message = f"Only {len(chosen)} items: even raters who are never wrong could hardly be told from chance."
        yield DesignRemark(code="few-items", message=message)
    shared = {one.text for one in known[SampleSide.TEST]} & {one.text for one in known[SampleSide.DEPLOY]}
    both = sum(sample.text in shared for sample in chosen)
    if both:
        message = f"{both} items have a text that stands on both sides, so nobody can tell where they come from."
        yield DesignRemark(code="same-text", message=message)
    contexts = {one.context_id for one in chosen if one.context_id is not None and len(one.context_id) >= _SHORT}
    for word in dict.fromkeys((*arms, *sorted(contexts))):
        pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
        count = sum(bool(pattern.search(sample.text)) for sample in chosen)
        if count:
            message = f"{count} items contain {word!r}, the name of an arm or context: if it is not part of what was sent, take it out."
            yield DesignRemark(code="name-in-text", message=message)
