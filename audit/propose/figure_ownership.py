"""Whose each figure of a sentence or table row is: the claim's own, or given for comparison."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from audit.propose.card_models import ALL_MODELS, PRONOUNS, CardModels
from audit.propose.claim_passages import PassageContext
from audit.propose.prose_figures import CardFigure, FigureUnit
from audit.propose.table_figures import find_cell_place
from registry.records.claim_draft import ComparisonNote
from registry.records.system_card import Passage, PassageKind, TableCell

# Words of comparison: a figure next to one of these may belong to something other than the claim's model.

HUMANS: tuple[str, ...] = (
    # A baseline that is not a model.
    (
        r"(?:(?:human|domain|subject[- ]matter|consensus|median|average|top|PhD[- ]level|trained|skilled) )*"
        r"(?:expert|experts|novice|novices|human|humans|participant|participants|crowd ?workers|PhDs?)(?: (?:\w+ )?(?:baseline|"
        r"performance|score|average|level))?"
    ),
    (
        r"(?:the )?(?:(?:random|chance|majority|naive|no-skill|non-expert|internet-only|control) ){1,3}(?:guess(?:ing)?|baseline|"
        r"group|arm|performance)"
    ),
    r"(?:the )?(?:\w+ ){0,3}baselines?",
)

ASIDE: tuple[str, ...] = (
    # Words between an own figure and the figures that it is compared with; from here on, figures belong to others.
    r"compar(?:ed|es|ing|able|ably) (?:to|with)",
    r"in (?:comparison|contrast) (?:to|with)",
    r"relative to",
    r"versus|vs\.?",
    r"(?:improv(?:ing|ed|es|ement)|gain(?:s|ed|ing)?|advantage|lead) (?:over|on|upon)",
    r"(?:similar|similarly|close|closer|closest|nearly identical|equal|equivalent|on par|in line|consistent)(?: \w+)? (?:to|with)",
    r"(?:up|down|reduced|increased|improved) from",
    r"as opposed to|as against|against|unlike|whereas|while|but",
    (
        r"(?:higher|lower|better|worse|more|less|fewer|greater|larger|smaller|weaker|stronger|safer|above|below|behind|"
        r"ahead)(?: \w+){0,2} (?:than|of)"
    ),
    r"than",
    r"exceed(?:s|ed|ing)?|surpass(?:es|ed|ing)?|outperform(?:s|ed|ing)?|underperform(?:s|ed|ing)?|match(?:es|ed|ing)?|trail(?:s|ed|ing)?",
    r"followed by|ahead of|behind",
)

RELATIVE: tuple[str, ...] = (
    # A bound that is another figure: the statement holds relative to that figure only.
    (
        r"(?:(?:over|more than|at least|about|around|roughly|approximately|nearly|almost|up to) )?(?:~ ?)?"
        r"(?:\d{1,4}(?:\.\d{1,2})?(?: ?[×x]| ?-?fold| times)|twice|double|triple|half|one[- ]half|one[- ]third|a third|a quarter)"
        r"(?: (?:higher|lower|more|less|fewer|greater|larger|smaller|better|worse|as (?:often|much|many|likely|high|low)(?: as)?|"
        r"(?:the |that )?(?:rates?|scores?|level|"
        r"frequency)?(?: of)?|an? (?:increase|decrease|reduction|drop|improvement)|decrease|increase|reduction|drop|improvement))*"
    ),
    (
        r"(?:(?:significantly|substantially|slightly|much|far|somewhat|marginally|considerably|consistently|statistically) )*"
        r"(?:higher|lower|better|worse|more|less|fewer|greater|larger|smaller|weaker|stronger|safer)"
    ),
    r"(?:outperform|underperform|exceed|surpass|trail|match|beat)(?:s|es|ed|ing)?",
    r"(?:roughly |broadly |very |largely |statistically )*(?:comparabl[ey]|similar(?:ly)?|equivalent|on par|in line)",
    r"(?:improv|regress|increas|decreas|declin|reduc)(?:es|ed|ing|tion|ements?)?",
)

LINKS = r"(?:to|than|of|over|from|with|as|on|those of|that of|compared (?:to|with)|relative to|in comparison (?:to|with)|versus|vs\.?)"
"""What joins such words to what they are relative to."""

GROUPS = (
    r"(?:(?:the|an?|any|all|every|no|other|its|our) )*(?:(?:most|least|next|second|best|strongest|top|leading|other)"
    r"(?:[- ][\w-]{1,20}){0,2} )?non-(?-i:[A-Z])\w{1,20} (?:models?|systems?|assistants?)|"
    r"(?:(?:the|our|a) )?(?:(?:next|second)[- ](?:best|most \w{1,20})|strongest|closest|nearest|leading|best|top)(?: [\w-]{1,20}){0,2} "
    r"(?:competitors?|competing models?|rivals?|alternatives?)|"
    r"no (?:other )?models? (?:apart from|except|other than|besides|but) "
    r"(?-i:[A-Z])[\w.-]{0,20}(?: (?-i:[A-Z\d])[\w.-]{0,20}){0,3}|"
    r"(?:all |any |every |most |our |the |its )*(?:other|previous|prior|earlier|older|recent|comparable|publicly available|"
    r"existing|preceding|predecessor)"
    r"(?: \w+){0,3} (?:models?|versions?|releases?|snapshots?|generations?)(?: (?:we )?(?:tested|evaluated|assessed))?|(?:its|"
    r"their) predecessors?"
)
"""Models that are not named one by one."""

ANNOUNCED = (
    r"\((?P<what>[^()]{0,80}\b(?:compared|comparison|relative|scores?|results?|rates?|numbers?|figures?|"
    r"values?)\b[^()]{3,160}?\b(?:in|shown in|given in)) (?:parenthes[ei]s|parentheses|brackets)\)"
)
"""A sentence that says what stands in its parentheses."""

SETTINGS = (
    r"^(?:#|no\.?|n|k|num(?:ber)?\b.*|count|total|max(?:imum)?(?: score)?|shots?|# ?shots?|.*\bshots?|samples?|responses?|trials?|"
    r"runs?|attempts?|prompts?|"
    r"(?:sample )?size|items|questions|tasks|scenarios|environments?|metric|unit|version|year|date|seed|temperature|weight|"
    r"parameters?|params|section|page)$"
)
"""Heads of columns that hold how something was measured, not what came out."""

IN_HEAD_ONLY = (
    r"\b(?:delta|Δ|difference|change|diff\.?|improvement|p-?value|significance|std\.?(?: dev)?|stderr|"
    r"standard (?:error|deviation)|±|ci|rank)\b"
)
"""Heads of columns that say something about other columns."""


# The figures of a passage, sorted by owner.


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFigure:
    """One figure that a claim can be made of, with what the passage sets beside it."""

    quantity: CardFigure
    model: str | None
    """The model it is about, where the passage or its table names it beside the figure; None where it does not."""
    column: str | None
    """Head of its column in a table; None outside tables."""
    comparisons: tuple[ComparisonNote, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SortedFigures:
    """Outcome of the figures of a passage."""

    own: tuple[OwnFigure, ...]
    """In the order of the passage; empty where every figure belongs to something else."""
    others: tuple[ComparisonNote, ...] = ()
    """The figures of something else, in order."""
    relative_to: str | None = None
    """What the passage relates its claim to, in its own words ("over 7× higher than Claude Opus 4.1"); None for none."""
    notes: tuple[str, ...] = ()


# Parties named in a sentence: models, groups of models, human and other baselines.

_OTHERS = re.compile(rf"\b(?:{GROUPS})|(?<![\w-])(?:{'|'.join(HUMANS)})(?![\w-])", re.IGNORECASE)
_OWN = re.compile(rf"{PRONOUNS}|{ALL_MODELS}", re.IGNORECASE)
_ASIDE = re.compile(rf"\b(?:{'|'.join(ASIDE)})(?: (?:both|the|that of|those of|for|an?|all|our))*[ \"“(\[]*$", re.IGNORECASE)
_AND = re.compile(r"[\])*]*(?:,? (?:and|or|as well as|&) |, )(?:the |both |to )?[\[(*]*")

_Span = tuple[int, int, str | None, bool]
"""First character, one past the last, name as written, whether own."""

_PARTY_REACH = 60
"""Characters before a name in which its comparing word is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedParty:
    """What a figure may belong to."""

    start: int
    """First character in the words."""
    stop: int
    name: str | None
    """As written; None for a pronoun that stands for the card's model."""
    is_own: bool
    is_aside: bool
    """Whether a comparing word stands before it, or before those it is listed with."""


def find_parties(words: str, models: CardModels) -> tuple[NamedParty, ...]:
    """Return who is named in *words*, in order, without overlaps."""
    spans: list[_Span] = [
        (mention.start, mention.stop, mention.written, mention.is_own or not models.own) for mention in models.find(words)
    ]
    # Names of models first: the patterns of groups and pronouns may match a part of a name.
    spans = _add(spans, [(hit.start(), hit.end(), hit[0], False) for hit in _OTHERS.finditer(words)])
    spans = _add(spans, [(hit.start(), hit.end(), None, True) for hit in _OWN.finditer(words)])
    parties: list[NamedParty] = []
    for start, stop, name, is_own in spans:
        last = parties[-1] if parties else None
        is_listed = last is not None and last.is_aside and _AND.fullmatch(words[last.stop : start]) is not None
        is_aside = is_listed or _ASIDE.search(words[max(0, start - _PARTY_REACH) : start]) is not None
        parties.append(NamedParty(start=start, stop=stop, name=name, is_own=is_own, is_aside=is_aside))
    return tuple(parties)


def _add(spans: list[_Span], more: list[_Span]) -> list[_Span]:
    """Return both in order, without those of *more* that overlap one of *spans*."""
    starts = [span[0] for span in spans]
    free = []
    for one in more:
        place = bisect_right(starts, one[0])
        is_before = place == len(spans) or one[1] <= spans[place][0]
        if is_before and (place == 0 or spans[place - 1][1] <= one[0]):
            free.append(one)
    return sorted([*spans, *free], key=lambda one: one[:2])


def find_listed(words: str, parties: tuple[NamedParty, ...], first: int) -> tuple[NamedParty, ...]:
    """Return the party at index *first* and those listed with it: "X, Y and Z"."""
    last = first
    while last + 1 < len(parties) and _AND.fullmatch(words[parties[last].stop : parties[last + 1].start]):
        last += 1
    return parties[first : last + 1]


# Owner of each figure in a sentence. The claim's own figure is told apart from figures of others by an announced
# parenthesis, "from … to", "vs.", a party right after or before it, another condition, and the clause. Figures of
# others become comparisons.

_ANNOUNCED = re.compile(ANNOUNCED, re.IGNORECASE)
_FOR = re.compile(
    r"[\s)\]]*(?:(?!(?:is|was|are|were|to|than|half|while|and|but|compared|versus|above|below)\b)[\w-]{1,30} ){0,5}?"
    r"(?:for|by|from|on|in|with)"
    r"(?: (?:both|the|each of|that of|all))*[\s(\[*]*",
    re.IGNORECASE,
)
"""Between a figure and whom it is said of: "of the time for both"."""

_BEFORE = re.compile(
    r"[\])*]*(?:['’]s?)?[\s(:=,–—-]*(?:(?:which|who|at|of|was|is|had|scores?|scored|got|gets|with|reach\w*|achiev\w*|solv\w*|only|"
    r"about|an?|the|"
    r"approximately|roughly|over|average|averaged|rate|score|up|to|just|around|result|results|it|is|are|were|[~<>≥≤])[\s:(,]*){0,6}",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d{1,7}(?:\.\d{1,6})?\s?%?")
_TURN = re.compile(r"[;]|, (?:while|whereas|but|and) ")
_FROM = re.compile(r"\b(?:from|was|were|previously|against)(?: an?| about| around| roughly| over| the)?\s*$", re.IGNORECASE)
_TO = re.compile(
    r"(?:[\s)]+(?:[\w-]{1,30} ){0,5}?(?:down |up )?(?:to|→)(?: an?| about| just| only| around| roughly| as \w+ as)*\s*)|\s*(?:→|->)\s*",
    re.IGNORECASE,
)
_NEAR = 40
"""Characters between two figures of which the second is where the first came from."""

_CONDITION = re.compile(
    r"\b(?:compar(?:ed|able) (?:to|with)|in (?:comparison|contrast) (?:to|with)|versus|vs\.?|relative to|as opposed to|as against|"
    r"approaching|"
    r"(?:improvement|improving|improved) (?:over|on)|(?:similar|close|closer) to|(?:higher|lower|better|worse|more|less|fewer) than)"
    r" (?P<what>(?:(?![,;:()]|which\b|who\b)[^,;:()]){0,60})$",
    re.IGNORECASE,
)
"""A comparison with something that is no model: another condition, another measurement."""
_TRIM = re.compile(r"(?:\b(?:of|at|is|was|a|an|only|just|about|over|the)\b[\s~]*)+$", re.IGNORECASE)
_AFTERWARDS = re.compile(
    r"(?:\W{0,2}of (?:the )?\w+)? ?(?P<what>(?:with(?:out)?|for|in|on|when|under|after|before|using|at) [^,;:()]{2,60})"
)

EARLIER = "the earlier condition"
"""Subject of the first figure in "from 30% to 6%"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureOwner:
    """Whose one figure is."""

    names: tuple[str, ...]
    """As written; empty for the model of the claim where the sentence does not name it beside the figure."""
    is_own: bool
    is_ahead: bool = False
    """Whether the figure it is set beside follows: the first of "from 30% to 6%"."""


_CLAIM = FigureOwner(names=(), is_own=True)


def find_owners(words: str, quantities: tuple[CardFigure, ...], models: CardModels) -> tuple[FigureOwner, ...]:
    """Return the owner of each figure, in the order of *quantities*, which is that of the sentence."""
    announced = _ANNOUNCED.search(words)
    parties = tuple(
        party for party in find_parties(words, models) if announced is None or not announced.start() <= party.start < announced.end()
    )
    promised = find_parties(announced["what"], models) if announced else ()
    owners: list[FigureOwner] = []
    for place, quantity in enumerate(quantities):
        owner = (
            # From the most explicit sign to the weakest. The first sign that applies decides, and the clause always
            # gives an answer.
            _from_promise(words, quantities, place, promised)
            or _from_change(words, quantities, place)
            or _from_pair(words, quantities, place, parties)
            or _from_after(words, quantities, place, parties)
            or _from_before(words, quantities, place, parties)
            or _from_condition(words, quantities, place, parties)
            or _from_clause(words, quantities, place, parties, owners)
        )
        # A factor or difference belongs to the subject of the sentence, even if another name is nearer: "twice that of
        # X".
        owners.append(_find_speaker(parties, quantity) if quantity.unit in (FigureUnit.MULTIPLE, FigureUnit.POINTS) else owner)
    return tuple(owners)


def _find_speaker(parties: tuple[NamedParty, ...], quantity: CardFigure) -> FigureOwner:
    """Return whose a factor or a difference is: the claim's, unless the sentence speaks of another alone before it."""
    before = [party for party in parties if party.stop <= quantity.start and not party.is_aside]
    return _name(before[0]) if before and not any(named_party.is_own for named_party in before) else _CLAIM


def open_promised(words: str, quantities: tuple[CardFigure, ...]) -> tuple[CardFigure, ...]:
    """Return the figures with those apart that a sentence announced for its parentheses, and that look like an interval."""
    if not _ANNOUNCED.search(words):
        return quantities
    return tuple(part for quantity in quantities for part in _open(quantity))


def _open(card_figure: CardFigure) -> Iterator[CardFigure]:
    """Yield "86%", "68%" and "100%" of "86% (68%, 100%)"."""
    opening = card_figure.written.find("(")
    inside = list(_NUMBER.finditer(card_figure.written, opening)) if opening > 0 else []
    if card_figure.low is None or len(inside) != 2:
        yield card_figure
        return
    head = card_figure.written[:opening].rstrip()
    yield replace(card_figure, stop=card_figure.start + len(head), written=head, low=None, high=None)
    for match, value in zip(inside, (card_figure.low, card_figure.high), strict=True):
        yield replace(
            card_figure,
            start=card_figure.start + match.start(),
            stop=card_figure.start + match.end(),
            written=match[0],
            value=value,
            low=None,
            high=None,
        )


def _from_promise(words: str, quantities: tuple[CardFigure, ...], place: int, promised: tuple[NamedParty, ...]) -> FigureOwner | None:
    """Return whom an announcement gives the figure: "86% (68%, 100%)" after "compared to X, Y in parentheses"."""
    if not promised:
        return None
    opening = words.rfind("(", 0, quantities[place].start)
    if opening < 0 or ")" in words[opening : quantities[place].start]:
        return _CLAIM
    inside = sum(1 for quantity in quantities[:place] if quantity.start > opening)
    return _name(promised[inside]) if inside < len(promised) else None


def _from_change(words: str, quantities: tuple[CardFigure, ...], place: int) -> FigureOwner | None:
    """Return the earlier condition for the first of "from 30% to 6%" and the last of "6%, down from 30%"."""
    quantity = quantities[place]
    before = words[max(0, quantity.start - 40) : quantity.start]
    following = quantities[place + 1] if place + 1 < len(quantities) else None
    if following is not None and _FROM.search(before) and _TO.fullmatch(words[quantity.stop : following.start]):
        return FigureOwner(names=(EARLIER,), is_own=False, is_ahead=True)
    if (
        place
        and re.search(r"\bfrom(?: an?| about| the)?\s*$", before, re.IGNORECASE)
        and quantity.start - quantities[place - 1].stop < _NEAR
    ):
        return FigureOwner(names=(EARLIER,), is_own=False)
    if (
        place
        and _FROM.search(words[max(0, quantities[place - 1].start - 40) : quantities[place - 1].start])
        and _TO.fullmatch(words[quantities[place - 1].stop : quantity.start])
    ):
        return _CLAIM
    if re.search(r"\bby(?: an?| about| over| up to| roughly)?\s*$", before, re.IGNORECASE) and quantity.unit is FigureUnit.SCORE:
        return FigureOwner(names=(), is_own=False)
    return None


def _from_pair(words: str, quantities: tuple[CardFigure, ...], place: int, parties: tuple[NamedParty, ...]) -> FigureOwner | None:
    """Return the claim's model and then the other for "comparably to X (90% vs. 87%)"."""
    quantity = quantities[place]
    near = [party for party in parties if party.stop <= quantity.start]
    other = next((party for party in reversed(near) if not party.is_own), None)
    following = quantities[place + 1] if place + 1 < len(quantities) else None
    if following is not None and _is_versus(words[quantity.stop : following.start]) and near and near[-1].is_aside:
        return _CLAIM
    if place and _is_versus(words[quantities[place - 1].stop : quantity.start]) and not _names_after(words, quantities, place, parties):
        return _name(other) if other else FigureOwner(names=("the other figure",), is_own=False)
    return None


def _is_versus(gap: str) -> bool:
    return re.fullmatch(r"\s*,?\s*(?:vs\.?|versus)\s*", gap, re.IGNORECASE) is not None


def _from_after(words: str, quantities: tuple[CardFigure, ...], place: int, parties: tuple[NamedParty, ...]) -> FigureOwner | None:
    named_parties = _names_after(words, quantities, place, parties)
    if not named_parties:
        return None
    return FigureOwner(names=tuple(party.name for party in named_parties if party.name), is_own=named_parties[0].is_own)


def _names_after(words: str, quantities: tuple[CardFigure, ...], place: int, parties: tuple[NamedParty, ...]) -> tuple[NamedParty, ...]:
    """Return the parties of "2% of the time for X and Y"."""
    quantity = quantities[place]
    limit = quantities[place + 1].start if place + 1 < len(quantities) else len(words)
    first = next((index for index, party in enumerate(parties) if quantity.stop <= party.start < limit), None)
    if first is None or not _FOR.fullmatch(words[quantity.stop : parties[first].start]):
        return ()
    return find_listed(words, parties, first)


def _from_before(words: str, quantities: tuple[CardFigure, ...], place: int, parties: tuple[NamedParty, ...]) -> FigureOwner | None:
    """Return the party of "X (2%)", "X's 2%", "X, which solved 2%", "X: 2%"."""
    quantity = quantities[place]
    near = [party for party in parties if party.stop <= quantity.start]
    if near and _BEFORE.fullmatch(words[near[-1].stop : quantity.start]):
        return _name(near[-1])
    return None


def _from_condition(words: str, quantities: tuple[CardFigure, ...], place: int, parties: tuple[NamedParty, ...]) -> FigureOwner | None:
    """Return the other condition of "compared to 68% without safeguards", of "approaching the hidden-scratchpad rate of 14%"."""
    quantity = quantities[place]
    since = max([quantities[place - 1].stop if place else 0, *(party.stop for party in parties if party.stop <= quantity.start)])
    match = _CONDITION.search(words[since : quantity.start])
    if match is None:
        return None
    named = _TRIM.sub("", match["what"]).strip()
    after = _AFTERWARDS.match(words[quantity.stop :])
    return FigureOwner(names=(named or (after["what"].strip(" .") if after else "the other figure"),), is_own=False)


def _from_clause(
    words: str, quantities: tuple[CardFigure, ...], place: int, parties: tuple[NamedParty, ...], owners: list[FigureOwner]
) -> FigureOwner:
    """Return whoever was named since the figure before, else the owner of that figure if they are listed together."""
    quantity = quantities[place]
    since = quantities[place - 1].stop if place else 0
    near = [party for party in parties if since <= party.start and party.stop <= quantity.start]
    speaking = [party for party in near if not (party.is_aside and _is_left(words, party, quantity))]
    own = [party for party in speaking if party.is_own]
    if own and not (speaking[-1].is_aside and not speaking[-1].is_own):
        return _name(own[-1])
    if speaking:
        return _name(speaking[-1])
    # Figures listed without a new name belong to the owner of the figure before.
    if place and not near and not _TURN.search(words[since : quantity.start]):
        return (
            owners[-1]
            if owners[-1].names != (EARLIER,) and quantities[place - 1].unit not in (FigureUnit.MULTIPLE, FigureUnit.POINTS)
            else _CLAIM
        )
    return _CLAIM


def _is_left(words: str, party: NamedParty, quantity: CardFigure) -> bool:
    """Whether a comma ends the comparison before the figure: "Compared to X, refusals rose to 5%"."""
    rest = words[party.stop : quantity.start]
    return re.match(r"[\])*]*,(?! which| who| at\b| with\b)", rest) is not None


def _name(party: NamedParty) -> FigureOwner:
    return FigureOwner(names=(party.name,) if party.name else (), is_own=party.is_own)


# Owner of each figure in a table row. Rows of other models make no claim; their figures become comparisons.

_SETTINGS = re.compile(SETTINGS, re.IGNORECASE)
_SCORED = re.compile(r"\b(?:scores?|rating|elo|index|grade|points|mean|average|median)\b", re.IGNORECASE)
_BESIDE = re.compile(IN_HEAD_ONLY, re.IGNORECASE)
_FIGURE = re.compile(r"[<>≤≥~]?\s?[-−]?\d{1,7}(?:[.,]\d{1,6})?\s?%?")


def sort_row(passage: Passage, quantities: tuple[CardFigure, ...], *, around: PassageContext, models: CardModels) -> SortedFigures:
    """Return the figures of own models as own, those of other columns and rows as comparisons.

    Where columns name models, the row's figures are sorted by column; where the row's label names one, all figures are its;
    where neither does, all are the card's own model's.
    """
    if not passage.cells:
        return _sort_uncelled(passage, quantities, around, models)
    placed = [(quantity, find_cell_place(passage, quantity.start)) for quantity in quantities]
    results = [(figure, place) for figure, place in placed if place is not None and _is_result(passage, place)]
    results = _drop_counts(passage, results)
    # Columns that name models decide before the row's label, which then names a test.
    if any(models.find(cell.column or "") for cell in passage.cells):
        return _by_column(passage, results, models)
    return _by_label(passage, results, around, models)


def _is_result(passage: Passage, place: int) -> bool:
    """Whether the cell holds what came out: not a label, a setting, or something said of other columns."""
    cell = passage.cells[place]
    head = (cell.column or "").strip()
    if head and (_SETTINGS.search(head) or _BESIDE.search(head)):
        return False
    return place > 0 or _FIGURE.fullmatch(cell.text.strip()) is not None


def _drop_counts(passage: Passage, results: list[tuple[CardFigure, int]]) -> list[tuple[CardFigure, int]]:
    """Leave out bare whole numbers beside shares: "9 | 24 | 37.5 %" reports one figure. Those under a head such as "Score" stay."""
    has_share = any("%" in figure.written or figure.n is not None for figure, _ in results)
    return [
        (figure, place)
        for figure, place in results
        if not has_share
        or "%" in figure.written
        or not figure.written.strip().isdigit()
        or _SCORED.search(passage.cells[place].column or "")
    ]


def _by_column(passage: Passage, results: list[tuple[CardFigure, int]], models: CardModels) -> SortedFigures:
    own: list[OwnFigure] = []
    others: list[ComparisonNote] = []
    for quantity, place in results:
        cell = passage.cells[place]
        heads = find_parties(cell.column or "", models)
        named = models.find(cell.column or "")
        if not heads or heads[-1].is_own:
            own.append(OwnFigure(quantity=quantity, model=named[-1].name if named else None, column=cell.column))
        else:
            others.append(ComparisonNote(subject=heads[-1].name or cell.column or "", value=quantity.value, words=quantity.written))
    named_own = [figure for figure in own if figure.model]
    # Once one column names a model, figures under other heads are settings or differences.
    if named_own or others:
        own = named_own
    beside = [
        replace(
            figure, comparisons=(*others, *(_as_comparison(other) for other in own if other is not figure and other.model != figure.model))
        )
        for figure in own
    ]
    return SortedFigures(own=tuple(beside), others=tuple(others))


def _as_comparison(own_figure: OwnFigure) -> ComparisonNote:
    return ComparisonNote(
        subject=own_figure.model or own_figure.column or "", value=own_figure.quantity.value, words=own_figure.quantity.written
    )


def _by_label(passage: Passage, results: list[tuple[CardFigure, int]], around: PassageContext, models: CardModels) -> SortedFigures:
    """Return the figures as own unless the label names something else; rows beside it give the comparisons."""
    label = _read_label(passage, models)
    parties = find_parties(label, models)
    if parties and not any(party.is_own for party in parties):
        others = tuple(ComparisonNote(subject=parties[0].name or label, value=figure.value, words=figure.written) for figure, _ in results)
        return SortedFigures(own=(), others=others)
    named = [mention for mention in models.find(label) if mention.is_own]
    model = named[-1].name if named else None
    own = tuple(
        OwnFigure(
            quantity=figure,
            model=model,
            column=passage.cells[place].column,
            comparisons=_from_rows(passage, place, figure, around, models) if named else (),
        )
        for figure, place in results
    )
    return SortedFigures(own=own, others=tuple(dict.fromkeys(beside for figure in own for beside in figure.comparisons)))


def _read_label(passage: Passage, models: CardModels) -> str:
    """Return the first cell that is not empty, and where a model's name was torn into two cells, the whole name."""
    label = next((cell.text for cell in passage.cells if cell.text.strip()), "")
    first = next(iter(models.find(passage.words)), None)
    is_torn = first is not None and first.start == 0 and len(label) < first.stop and not find_parties(label, models)
    return passage.words[: first.stop] if first is not None and is_torn else label


def _from_rows(
    passage: Passage, place: int, quantity: CardFigure, around: PassageContext, models: CardModels
) -> tuple[ComparisonNote, ...]:
    """Return what the same column says in rows that name other models or baselines."""
    notes = []
    for row in around.block(passage):
        if row.kind is not PassageKind.ROW or row.start == passage.start or len(row.cells) != len(passage.cells):
            continue
        parties = find_parties(row.cells[0].text, models)
        cell = row.cells[place]
        if parties and not any(party.is_own for party in parties) and _FIGURE.search(cell.text):
            notes.append(ComparisonNote(subject=parties[0].name or row.cells[0].text, value=_read(cell, quantity), words=cell.text))
    return tuple(notes)


def _read(cell: TableCell, like: CardFigure) -> float | None:
    """Return the first number of the cell in the unit of the figure beside it."""
    match = re.search(r"[-−]?\d{1,7}(?:\.\d{1,6})?", cell.text.replace(",", ""))
    if match is None or "/" in cell.text:
        return None
    number = float(match[0].replace("−", "-"))
    is_percent = "%" in cell.text or (
        like.unit is FigureUnit.SHARE and "%" not in like.written and like.value is not None and like.value <= 1 < number
    )
    return round(number / 100, 12) if is_percent else number


def _sort_uncelled(passage: Passage, quantities: tuple[CardFigure, ...], around: PassageContext, models: CardModels) -> SortedFigures:
    """Sort a row whose cells cannot be told apart by the order of the models its head names."""
    heads = [mention for row in around.block(passage) if row.kind is PassageKind.HEAD for mention in models.find(row.words)]
    labels = find_parties(passage.words[: quantities[0].start], models) if quantities else ()
    if labels and not any(label.is_own for label in labels):
        return SortedFigures(
            own=(),
            others=tuple(
                ComparisonNote(subject=labels[0].name or "", value=quantity.value, words=quantity.written) for quantity in quantities
            ),
        )
    if labels or len(heads) != len(quantities):
        named = [mention for mention in models.find(passage.words) if mention.is_own]
        return SortedFigures(
            own=tuple(OwnFigure(quantity=quantity, model=named[0].name if named else None, column=None) for quantity in quantities)
        )
    pairs = list(zip(quantities, heads, strict=True))
    others = tuple(
        ComparisonNote(subject=head.written, value=figure.value, words=figure.written) for figure, head in pairs if not head.is_own
    )
    own = tuple(
        OwnFigure(quantity=figure, model=head.name, column=head.written, comparisons=others) for figure, head in pairs if head.is_own
    )
    return SortedFigures(own=own, others=others)


# The claim's own figures of a passage.

_RELATIVE = re.compile(rf"\b(?:{'|'.join(RELATIVE)})", re.IGNORECASE)
_LINK = re.compile(rf"\b{LINKS}(?: (?:both|the|that of|those of|all|our))*[\s(\[*]*$", re.IGNORECASE)
_LONGEST = 6000
"""Characters; a passage beyond is no sentence."""
_TOO_LONG = "The passage is too long to tell whose its figures are."
_RELATION_REACH = 90
"""Characters before a name in which a relation to it begins."""


def choose_own(passage: Passage, quantities: tuple[CardFigure, ...], *, around: PassageContext, models: CardModels) -> SortedFigures:
    """Return whose each of *quantities* is. Sample sizes and thresholds should be left out before."""
    if passage.cells or passage.kind is PassageKind.ROW:
        return sort_row(passage, quantities, around=around, models=models)
    if len(passage.words) > _LONGEST:
        return SortedFigures(
            own=tuple(OwnFigure(quantity=quantity, model=None, column=None) for quantity in quantities), notes=(_TOO_LONG,)
        )
    figures = open_promised(passage.words, quantities)
    choice = _drop_itself(_pair(figures, find_owners(passage.words, figures, models), models), models)
    return replace(choice, relative_to=find_relation(passage.words, quantities, models))


def _drop_itself(choice: SortedFigures, models: CardModels) -> SortedFigures:
    """Return *choice* without comparisons of a model with itself."""
    mine = models.own[0] if models.own else None

    def keep(own_figure: OwnFigure) -> OwnFigure:
        name = own_figure.model or mine
        others = (
            beside
            for beside in own_figure.comparisons
            if name is None or all(mention.name != name for mention in models.find(beside.subject))
        )
        return replace(own_figure, comparisons=tuple(others))

    return replace(choice, own=tuple(keep(figure) for figure in choice.own))


def find_relation(words: str, quantities: tuple[CardFigure, ...], models: CardModels) -> str | None:
    """Return the words that relate what is claimed to something else ("over 7× higher than Claude Opus 4.1"); None without such."""
    parties = find_parties(words, models)
    for index, party in enumerate(parties):
        if party.is_own and not party.is_aside:
            continue
        begin = max(0, party.start - _RELATION_REACH)
        before = words[begin : party.start]
        relation = next((match for match in _RELATIVE.finditer(before)), None)
        if relation is None or not (_LINK.search(before) or relation.end() >= len(before.rstrip())):
            continue
        stop = find_listed(words, parties, index)[-1].stop
        beyond = next((quantity.stop for quantity in quantities if quantity.unit is FigureUnit.MULTIPLE and stop <= quantity.start), stop)
        return words[begin + relation.start() : beyond].strip()
    return _from_multiple(words, quantities, models)


def _from_multiple(words: str, quantities: tuple[CardFigure, ...], models: CardModels) -> str | None:
    """Return the words of "compared to X – roughly a 2× decrease", where the factor stands after the name."""
    multiple = next((quantity for quantity in quantities if quantity.unit is FigureUnit.MULTIPLE), None)
    if multiple is None:
        return None
    near = [party for party in find_parties(words, models) if party.stop <= multiple.start and not party.is_own]
    link = _LINK.search(words[: near[-1].start]) if near else None
    return words[link.start() : multiple.stop].strip() if link else None


def _pair(quantities: tuple[CardFigure, ...], owners: tuple[FigureOwner, ...], models: CardModels) -> SortedFigures:
    """Give the figures of others to the own figures before them: to each its counterpart where there are as many, else to the last."""
    own: list[OwnFigure] = []
    others: list[ComparisonNote] = []
    group = 0
    is_after_others = False
    ahead: tuple[ComparisonNote, ...] = ()
    seen: Counter[str] = Counter()
    totals = Counter(name for owner in owners if not owner.is_own for name in owner.names)
    for quantity, owner in zip(quantities, owners, strict=True):
        if owner.is_own:
            if is_after_others:
                group, is_after_others, seen = len(own), False, Counter()
            own.append(OwnFigure(quantity=quantity, model=_full_name(owner, models), column=None, comparisons=ahead))
            ahead = ()
            continue
        if owner.is_ahead:
            ahead = tuple(ComparisonNote(subject=name, value=quantity.value, words=quantity.written) for name in owner.names)
            others += ahead
            continue
        is_after_others = bool(own)
        for name in owner.names:
            beside = ComparisonNote(subject=name, value=quantity.value, words=quantity.written)
            others.append(beside)
            if own:
                size = len(own) - group
                # "90 % and 80 %, compared with 70 % and 60 % for X": with equal numbers, figures correspond in order.
                place = group + seen[name] if totals[name] == size and seen[name] < size else len(own) - 1
                own[place] = replace(own[place], comparisons=(*own[place].comparisons, beside))
            seen[name] += 1
    if own and others and not any(figure.comparisons for figure in own):
        own[0] = replace(own[0], comparisons=tuple(others))
    return SortedFigures(own=tuple(own), others=tuple(others))


def _full_name(owner: FigureOwner, models: CardModels) -> str | None:
    mentions = models.find(owner.names[0]) if owner.names else ()
    return mentions[0].name if mentions else None
