"""Module 1: blinded sheets for raters, and whether their answers tell the test side from the deployment side."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from audit.errors import DesignError
from audit.records.rating_sheet import (
    VOCABULARY,
    AnswerSheet,
    KeyItem,
    RaterAnswer,
    RatingKey,
    RatingSample,
    RatingSheet,
    SampleSide,
    SheetItem,
    tag_key,
)
from audit.statistics.design_remarks import DesignRemark
from audit.statistics.mean_intervals import ConfidenceLimits, clopper_pearson
from audit.statistics.rater_accuracy import (
    ENOUGH_RATERS,
    AgreementInterval,
    binomial_p,
    bound_alpha,
    count_answers,
    fisher_p,
    mean_of_shares,
    observe_agreement,
    pool_raters,
)
from registry.codec.canonical_documents import canonical_bytes, to_document
from registry.errors import Fault, suggest
from registry.records.estimates import EstimateWarning, HypothesisTest, Measure
from registry.records.module_findings import Agreement, CueNote, Naturalness, RaterKind, RaterResult

# Module 1 of the protocol, first half: a blinded draw of samples of both sides, and a sheet for each
# rater (method section 6).
#
# Samples and seed determine everything. The order of rows does not matter, and the same seed gives the
# same sheets. Sheets are static pages with a policy that forbids the network; the key is a file that
# only its owner reads.

_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""No vowels and no digits: a name of them is never a word, a number or a date to a spreadsheet."""

_LENGTH = 8
_RATER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FEW_ITEMS = 20
_SHORT = 3
"""Names of contexts shorter than this stand in any text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindedSheets:
    """What goes to the raters, and what is kept from them."""

    key: RatingKey
    sheets: tuple[RatingSheet, ...]
    """In the order of the raters' names."""
    remarks: tuple[DesignRemark, ...]
    """What could give an item away, or makes the audit weak."""


def draw_sheets(
    samples: Sequence[RatingSample], raters: Sequence[str], *, items: int | None, seed: int, arms: tuple[str, str] = ("test", "deploy")
) -> BlindedSheets:
    """Return one shuffled sheet for each rater, with equally many items of both sides, spread evenly over contexts.

    A text that occurs twice on one side counts once.

    Args:
        samples: of both sides.
        raters: their names; each becomes the name of a folder.
        items: how many in all, half of them of each side; None for as many as the smaller side has, twice.
        seed: of the draw and the shuffles.
        arms: what the two sides are called where the samples come from; a text that says so is remarked on.

    Raises:
        DesignError: names that cannot be or are not different, no rater, fewer than two items, or a side without samples.
    """
    once = _count_once(samples)
    faults = [*_check_raters(raters), *_check_items(once, items)]
    if faults:
        raise DesignError(faults)
    rng = np.random.default_rng(seed)
    # Equal numbers of both sides: otherwise a rater who always gives one answer could exceed one half.
    most = min(len(once[side]) for side in SampleSide)
    wanted = most if items is None else min(items // 2, most)
    chosen = [sample for side in SampleSide for sample in _spread(once[side], wanted, rng)]
    names = _name_items(len(chosen), rng)
    named_samples = sorted(zip(names, chosen, strict=True), key=lambda pair: pair[0])
    key = RatingKey(
        seed=seed,
        samples=_digest_samples(once),
        drawn_from_test=len(once[SampleSide.TEST]),
        drawn_from_deploy=len(once[SampleSide.DEPLOY]),
        raters=tuple(sorted(raters)),
        items=tuple(
            KeyItem(item=name, side=sample.side, task_id=sample.task_id, context_id=sample.context_id, text=_digest(sample.text))
            for name, sample in named_samples
        ),
    )
    # The tag ties sheets to their key without revealing it.
    tag = tag_key(digest_key(key))
    sheets = tuple(_build_sheet(rater, tag, named_samples, rng) for rater in key.raters)
    return BlindedSheets(key=key, sheets=sheets, remarks=tuple(_remark_sheets(once, chosen, items, arms)))


def digest_key(key: RatingKey) -> str:
    """Return the SHA-256 of the canonical document of *key*, which is what its file holds; hexadecimal."""
    return hashlib.sha256(canonical_bytes(to_document(key))).hexdigest()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _count_once(samples: Sequence[RatingSample]) -> dict[SampleSide, list[RatingSample]]:
    """By side, samples in an order of their own, each text once."""
    rating_samples: dict[SampleSide, dict[str, RatingSample]] = {side: {} for side in SampleSide}
    for sample in sorted(samples, key=lambda sample: (_digest(sample.text), sample.task_id or "", sample.context_id or "")):
        rating_samples[sample.side].setdefault(sample.text, sample)
    return {side: list(texts.values()) for side, texts in rating_samples.items()}


def _digest_samples(known: dict[SampleSide, list[RatingSample]]) -> str:
    documents = [to_document(sample) for side in SampleSide for sample in known[side]]
    return hashlib.sha256(canonical_bytes({"samples": documents})).hexdigest()


def _spread(samples: Sequence[RatingSample], wanted: int, rng: np.random.Generator) -> Iterator[RatingSample]:
    """Give *wanted* samples, one of each context in turn, contexts and samples in random order."""
    contexts: dict[str, list[RatingSample]] = {}
    for sample in samples:
        contexts.setdefault(sample.context_id or "", []).append(sample)
    piles = [[pile[place] for place in rng.permutation(len(pile))] for _, pile in sorted(contexts.items())]
    # Random order of contexts too: if not all contexts fit, the seed and not the alphabet chooses.
    piles = [piles[place] for place in rng.permutation(len(piles))]
    turns = [(turn, pile, sample) for pile, samples_ in enumerate(piles) for turn, sample in enumerate(samples_)]
    yield from (sample for _, _, sample in sorted(turns, key=lambda turn: turn[:2])[:wanted])


def _name_items(count: int, rng: np.random.Generator) -> list[str]:
    names: dict[str, None] = {}
    while len(names) < count:
        names["".join(_LETTERS[place] for place in rng.integers(len(_LETTERS), size=_LENGTH))] = None
    return list(names)


def _build_sheet(rater: str, tag: str, named_samples: Sequence[tuple[str, RatingSample]], rng: np.random.Generator) -> RatingSheet:
    order = rng.permutation(len(named_samples))
    return RatingSheet(
        rater=rater, key=tag, items=tuple(SheetItem(item=named_samples[place][0], text=named_samples[place][1].text) for place in order)
    )


def _check_raters(raters: Sequence[str]) -> Iterator[Fault]:
    if not raters:
        yield Fault("bad-name", "--raters", "no rater is named")
    for rater in raters:
        if not _RATER.fullmatch(rater):
            problem = f"{rater!r} cannot be the name of a folder"
            advice = "use letters, digits, dots, hyphens and underscores, at most 64, a letter or digit first"
            yield Fault("bad-name", "--raters", problem, advice=advice)
        # Each rater gets a folder next to the key file, also on file systems that ignore case.
        elif rater.casefold() == "key.json":
            yield Fault("bad-name", "--raters", f"{rater!r} is what the key's file is called")
    folded = [rater.casefold() for rater in raters]
    for rater in sorted({rater for rater in raters if folded.count(rater.casefold()) > 1}, key=str.casefold):
        yield Fault("bad-name", "--raters", f"{rater!r} is named twice, or differs from another only in case")


def _check_items(known: dict[SampleSide, list[RatingSample]], items: int | None) -> Iterator[Fault]:
    if items is not None and items < 2:
        problem = f"expected at least 2, one of each side, found {items}"
        yield Fault("bad-option", "--items", problem)
    for side in SampleSide:
        if not known[side]:
            problem = f"the {side.value} side has no sample"
            yield Fault("one-sided", "samples", problem, advice="add samples of the other side")


def _remark_sheets(
    known: dict[SampleSide, list[RatingSample]], chosen: Sequence[RatingSample], items: int | None, arms: tuple[str, str]
) -> Iterator[DesignRemark]:
    if items is not None and len(chosen) < items:
        message = f"{items} items were asked for and {len(chosen)} sampled: the same number of each side."
        yield DesignRemark(code="fewer-items", message=message)
    if len(chosen) < _FEW_ITEMS:
        message = f"Only {len(chosen)} items: even raters who are never wrong hardly differ from chance."
        yield DesignRemark(code="few-items", message=message)
    # A text of both sides cannot be told apart by anyone and pulls the accuracy towards one half.
    shared = {rating_sample.text for rating_sample in known[SampleSide.TEST]} & {
        rating_sample.text for rating_sample in known[SampleSide.DEPLOY]
    }
    both = sum(sample.text in shared for sample in chosen)
    if both:
        message = f"{both} items have a text that both sides contain, so no rater can know their side."
        yield DesignRemark(code="same-text", message=message)
    contexts = {
        rating_sample.context_id
        for rating_sample in chosen
        if rating_sample.context_id is not None and len(rating_sample.context_id) >= _SHORT
    }
    for word in dict.fromkeys((*arms, *sorted(contexts))):
        # Whole words only: the arm `test` inside `latest` gives nothing away.
        pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
        count = sum(bool(pattern.search(sample.text)) for sample in chosen)
        if count:
            message = f"{count} items contain {word!r}, the name of an arm or context: if it is not part of what was sent, take it out."
            yield DesignRemark(code="name-in-text", message=message)


# Module 1 of the protocol, second half: can blind raters tell the test side from the deployment side
# (method section 6)?
#
# Persons are pooled, items and raters crossed, with each side weighing half. Models that rated are
# reported as a sensitivity check and never enter the pooled accuracy. Undecided items are not counted.

REPLICATES = 10_000
"""Of the bootstrap over items, for the interval of alpha."""

_ENOUGH_ITEMS = 20
_CHANCE = 0.5
_UNANSWERED = -1
_TEST, _DEPLOY = 0, 1
_CODES = {SampleSide.TEST: _TEST, SampleSide.DEPLOY: _DEPLOY}

Codes = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Ratings:
    """All answers as one matrix."""

    truth: Codes
    """By item, in the order of the key: 0 test, 1 deployment."""
    said: Codes
    """[items, raters]: 0 test, 1 deployment, −1 undecided or not answered."""
    raters: tuple[str, ...]
    """In the order of their names."""
    person: npt.NDArray[np.bool_]
    """By rater."""

    @property
    def persons(self) -> Codes:
        return self.said[:, self.person]


def assess(
    key: RatingKey,
    sheets: Sequence[tuple[str, AnswerSheet]],
    *,
    digest: str,
    models: frozenset[str] = frozenset(),
    level: float = 0.95,
    rater_limit: float = 0.75,
) -> Naturalness:
    """Return what the raters made of the items: each by itself, persons together, and how far they agree.

    The result does not depend on the order of sheets and answers.

    Args:
        key: what the items really are.
        sheets: answers with the name of the file each comes from.
        digest: SHA-256 of the key, hexadecimal.
        models: raters that are models.
        level: nominal coverage of all intervals.
        rater_limit: the plan's limit on the accuracy of raters.

    Raises:
        DesignError: with every fault: no answers, answers to another key, by unknown raters, to unknown items, or to one item twice.
    """
    faults = [*_check_sheets(key, sheets, digest=digest), *_check_models(key, sheets, models), *_check_twice(sheets)]
    if faults:
        raise DesignError(faults)
    ratings = _arrange(key, sheets, models)
    people = ratings.persons
    # Undecided answers can make the sides unequal, and the record says so.
    sizes = [int(np.count_nonzero(people[ratings.truth == side] != _UNANSWERED)) for side in (_TEST, _DEPLOY)]
    accuracy = _pool(ratings, level=level)
    remarks = [*_remark_ratings(key, ratings, sizes), *_remark_accuracy(accuracy), *_remark_cues(sheets, models)]
    return Naturalness(
        level=level,
        rater_limit=rater_limit,
        seed=key.seed,
        key=digest,
        items_test=int(np.count_nonzero(ratings.truth == _TEST)),
        items_deploy=int(np.count_nonzero(ratings.truth == _DEPLOY)),
        raters=tuple(_build_result(ratings, place, level=level) for place in range(len(ratings.raters))),
        accuracy=accuracy,
        balanced=sizes[0] != sizes[1],
        agreement=_build_agreement(people, level=level, seed=key.seed),
        # Only an interval wholly above one half shows that the sides can be told apart.
        distinguishable=None if accuracy.low is None else accuracy.low > _CHANCE,
        cues=_count_cues(sheets, models),
        warnings=tuple(EstimateWarning(code=remark.code, message=remark.message) for remark in remarks),
    )


def _check_sheets(key: RatingKey, sheets: Sequence[tuple[str, AnswerSheet]], *, digest: str) -> Iterator[Fault]:
    if not any(sheet.answers for _, sheet in sheets):
        yield Fault("no-answers", ", ".join(source for source, _ in sheets[:3]) or "answers", "no item is answered")
    known = {item.item for item in key.items}
    for source, sheet in sheets:
        where = f"{source}, rater {sheet.rater[:40]}"
        if sheet.key != tag_key(digest):
            problem = f"the answers belong to {sheet.key[:40] or 'no key'}, the key given is {tag_key(digest)}"
            yield Fault("wrong-sheet-key", where, problem, advice="give the key.json that was written with these sheets")
            continue
        if sheet.rater not in key.raters:
            yield _describe_unknown_rater(sheet.rater, key.raters, where=source)
        strange = [answer.item for answer in sheet.answers if answer.item not in known]
        if strange:
            problem = f"{_list(strange)} {'is' if len(strange) == 1 else 'are'} not among the items of the key"
            yield Fault("unknown-name", where, problem, advice=suggest(strange[0], known))


def _list(items: Sequence[str]) -> str:
    """A few of them, and how many more there are."""
    more = f" and {len(items) - 3} more" if len(items) > 3 else ""
    return ", ".join(item[:40] for item in items[:3]) + more


def _describe_unknown_rater(name: str, texts: Sequence[str], *, where: str) -> Fault:
    problem = f"no sheet was made for {name[:40]!r}; they were made for {', '.join(texts[:10])}"
    return Fault("unknown-name", where, problem, advice=suggest(name, texts))


def _check_models(key: RatingKey, sheets: Sequence[tuple[str, AnswerSheet]], models: frozenset[str]) -> Iterator[Fault]:
    answered = {sheet.rater for _, sheet in sheets}
    for name in sorted(models - set(key.raters)):
        yield _describe_unknown_rater(name, key.raters, where="--model-rater")
    for name in sorted((models & set(key.raters)) - answered):
        yield Fault("unknown-name", "--model-rater", f"{name} is said to be a model and has no answers here")


def _check_twice(sheets: Sequence[tuple[str, AnswerSheet]]) -> Iterator[Fault]:
    first: dict[tuple[str, str], str] = {}
    for source, sheet in sheets:
        twice: dict[str, list[str]] = {}
        for answer in sheet.answers:
            # One rater may answer in several files, but each item only once.
            there = first.setdefault((sheet.rater, answer.item), source)
            twice.setdefault(there, []).append(answer.item)
        for there, items in twice.items():
            again = items if there != source else sorted({item for item in items if items.count(item) > 1})
            if again:
                problem = f"{_list(again)}: answered already{f' in {there}' if there != source else ''}"
                where = f"{source}, rater {sheet.rater[:40]}"
                yield Fault("duplicate", where, problem)


def _arrange(key: RatingKey, sheets: Sequence[tuple[str, AnswerSheet]], models: frozenset[str]) -> _Ratings:
    raters = tuple(sorted({sheet.rater for _, sheet in sheets}))
    places = {item.item: place for place, item in enumerate(key.items)}
    answers = np.full((len(key.items), len(raters)), _UNANSWERED, dtype=np.int8)
    for _, sheet in sheets:
        for answer in sheet.answers:
            if answer.answer is not None:
                answers[places[answer.item], raters.index(sheet.rater)] = _CODES[answer.answer]
    return _Ratings(
        truth=np.array([_CODES[item.side] for item in key.items], dtype=np.int8),
        said=answers,
        raters=raters,
        person=np.array([rater not in models for rater in raters]),
    )


def _pool(ratings: _Ratings, *, level: float) -> Measure:
    if not ratings.person.any():
        return Measure(value=None, reason="No person rated; models are a check of sensitivity only.")
    people = ratings.persons
    # NaN keeps undecided answers out of both numerator and denominator.
    right = np.where(people == _UNANSWERED, np.nan, people == ratings.truth[:, np.newaxis])
    accuracy = pool_raters(right, ratings.truth == _TEST, level=level)
    if accuracy is None:
        return Measure(value=None, reason="No person decided on any item of one of the sides.")
    if accuracy.limits is None:
        return Measure(value=accuracy.value, reason="No interval: one person, or one item of a side; nothing says how others would differ.")
    return _measure(accuracy.value, accuracy.limits)


def _measure(value: float, limits: ConfidenceLimits) -> Measure:
    # Rounding may leave a bound slightly on the wrong side of the value.
    return Measure(value=value, low=min(limits.low, value), high=max(limits.high, value))


def _build_result(ratings: _Ratings, place: int, *, level: float) -> RaterResult:
    answers = ratings.said[:, place]
    sides = [answers[(ratings.truth == side) & (answers != _UNANSWERED)] for side in (_TEST, _DEPLOY)]
    right = (int(np.count_nonzero(sides[0] == _TEST)), int(np.count_nonzero(sides[1] == _DEPLOY)))
    trials = (len(sides[0]), len(sides[1]))
    rated, correct = sum(trials), sum(right)
    nothing = Measure(value=None, reason="The rater decided on no item.")
    lacking = Measure(value=None, reason="The rater decided on items of one side only.")
    return RaterResult(
        rater=ratings.raters[place],
        kind=RaterKind.PERSON if ratings.person[place] else RaterKind.MODEL,
        rated=rated,
        unrated=len(answers) - rated,
        correct=correct,
        said_test=int(np.count_nonzero(answers == _TEST)),
        accuracy=_measure(correct / rated, clopper_pearson(successes=correct, trials=rated, level=level)) if rated else nothing,
        balanced_accuracy=_measure(*mean_of_shares(right=right, trials=trials, level=level)) if all(trials) else lacking,
        against_chance=_test(right, trials),
    )


def _test(right: tuple[int, int], trials: tuple[int, int]) -> HypothesisTest:
    """The exact test against guessing: binomial where both sides have equally many items, Fisher's where they have not."""
    rated, correct = sum(trials), sum(right)
    # With unequal sides a rater who favours the larger one exceeds 1/2 by chance. Fisher's test
    # conditions on both margins.
    if trials[0] == trials[1] and rated:
        p = binomial_p(correct=correct, trials=rated)
        return HypothesisTest(statistic=float(correct), p=p, method="exact binomial test of 1/2, two-sided", n=rated)
    method = "Fisher's exact test of answer and side, two-sided, because the sides have unequal numbers of items"
    if not all(trials):
        return HypothesisTest(statistic=None, p=None, method=method, n=rated, reason="The rater decided on items of one side, or of none.")
    return HypothesisTest(statistic=float(correct), p=fisher_p(right=right, trials=trials), method=method, n=rated)


def _build_agreement(people: Codes, *, level: float, seed: int) -> tuple[Agreement, ...]:
    raters = int(np.count_nonzero((people != _UNANSWERED).any(axis=0)))
    counts = count_answers(people)
    intervals = {
        "raw agreement": observe_agreement(counts, level=level),
        "Krippendorff's alpha (nominal)": bound_alpha(counts, level=level, replicates=REPLICATES, seed=seed),
    }
    return tuple(
        Agreement(statistic=name, measure=_explain_agreement(interval, items=len(counts)), raters=raters, items=len(counts))
        for name, interval in intervals.items()
    )


def _explain_agreement(agreement_interval: AgreementInterval, *, items: int) -> Measure:
    if agreement_interval.value is None:
        reason = "No item was decided on by two persons." if not items else "All answers are the same, so chance would agree as well."
        return Measure(value=None, reason=reason)
    if agreement_interval.limits is None:
        return Measure(value=agreement_interval.value, reason="No interval: one item that two persons decided on.")
    return _measure(agreement_interval.value, agreement_interval.limits)


def _count_cues(sheets: Sequence[tuple[str, AnswerSheet]], models: frozenset[str]) -> tuple[CueNote, ...]:
    # Only persons' cues are counted, for the same reason as their accuracy.
    counts = Counter(cue for _, sheet in sheets if sheet.rater not in models for answer in sheet.answers for cue in _read_cues(answer))
    return tuple(CueNote(cue=cue, count=count) for cue, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _read_cues(answer: RaterAnswer) -> tuple[str, ...]:
    """The cues as the vocabulary spells them, others as they were written; each once."""
    words = (" ".join(cue.replace("_", " ").replace("-", " ").split()).casefold() for cue in answer.cues)
    return tuple(dict.fromkeys(word for word in words if word))


def _remark_ratings(key: RatingKey, ratings: _Ratings, sizes: Sequence[int]) -> Iterator[DesignRemark]:
    persons, items = int(ratings.person.sum()), len(key.items)
    if 0 < persons < ENOUGH_RATERS:
        vacuous = "; with 2 the interval for all of them is nearly vacuous" if persons == 2 else ""
        noun = "1 person" if persons == 1 else f"{persons} persons"
        yield DesignRemark(code="few-raters", message=f"Only {noun} rated, fewer than {ENOUGH_RATERS}{vacuous}.")
    if items < _ENOUGH_ITEMS:
        yield DesignRemark(code="few-items", message=f"Only {items} items were rated.")
    absent = [rater for rater in key.raters if rater not in ratings.raters]
    if absent:
        message = f"No answers came from {', '.join(absent[:10])}: raters who give up may differ from those who do not."
        yield DesignRemark(code="raters-missing", message=message)
    undecided = [int(np.count_nonzero(ratings.persons[ratings.truth == side] == _UNANSWERED)) for side in (_TEST, _DEPLOY)]
    if any(undecided):
        message = (
            f"Persons left {undecided[0]} answers of the test side and {undecided[1]} of the deployment side undecided: "
            f"the accuracy is over the {sum(sizes)} they decided on."
        )
        yield DesignRemark(code="answers-undecided", message=message)


def _remark_accuracy(accuracy: Measure) -> Iterator[DesignRemark]:
    # Raters below one half see a difference and misname it.
    if accuracy.high is not None and accuracy.high < _CHANCE:
        message = "The interval lies below 1/2: persons distinguished the sides, and took each for the other."
        yield DesignRemark(code="sides-swapped", message=message)


def _remark_cues(sheets: Sequence[tuple[str, AnswerSheet]], models: frozenset[str]) -> Iterator[DesignRemark]:
    strange = [note.cue for note in _count_cues(sheets, models) if note.cue not in VOCABULARY]
    if strange:
        message = (
            f"Cues outside the vocabulary are counted as they were written: {', '.join(strange[:5])}{' …' if len(strange) > 5 else ''}."
        )
        yield DesignRemark(code="cue-outside-vocabulary", message=message)
