"""What each figure is about: the card's own model, another one, or what the card leaves open."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from audit.propose.card_figures import CardFigure, FigureUnit
from audit.propose.card_models import CardModels, ModelMention, is_strange_model, read_size
from audit.propose.passage_context import PassageContext
from audit.propose.vocabulary import read_expression
from registry.records.claim_draft import ComparisonNote
from registry.records.system_card import Passage, PassageKind

# A model named after a comparing word, or in the parenthesis with its own figure, is never the subject of what follows.
# An elided subject is the card's own model, with less certainty. What the words leave open stays open.


@dataclass(frozen=True, slots=True)
class FigureSubject:
    """What a figure is about, and the words that say so."""

    model: str | None
    """As the card names it; None where the words leave it open."""
    words: str = ""
    """The words it was read from."""
    place: str = ""
    """Where they are: "sentence", "column head", "row label", "sentence above", "heading", "caption", "card title"."""
    certainty: float = 0.0
    is_own: bool | None = field(kw_only=True)
    """Whether it is a model the card is about; None where that is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Party:
    """What a figure of a sentence may belong to."""

    start: int
    stop: int
    name: str | None
    """None for a pronoun, which means the model spoken of."""
    is_own: bool | None
    """None for a safeguard, which is no model."""
    is_aside: bool
    """Whether a comparing word is before it, or before those it is listed with."""


_GUARDS = re.compile(
    r"(?:^|(?<=[.;,] )|(?<=that ))(?:the|our|its|these|a|an)(?: [\w-]{2,20}){0,3}? (?:classifiers?|monitors?|safeguards?|filters?"
    r"|safety reasoner|guard models?)\b(?=(?: [\w-]+ly)? (?:detect|catch|flag|block|has|have|had|reach|achiev|identif|is|are|was"
    r"|were|correctly|miss)\w*)",
    re.IGNORECASE,
)
"""A safeguard as the subject of a sentence."""
_PRONOUN = re.compile(
    r"\b(?:it|its|the (?:new |released |final |same )?model|this model|our model|the assistant)\b(?! (?:is|was) (?:important"
    r"|possible|likely|worth|not clear))",
    re.IGNORECASE,
)
_GROUPS = read_expression("groups")
ALL_MODELS = re.compile(
    r"\b(?:all|every|each|any|none|both|no)(?: of)?(?: the| our| these)?(?: (?!(?:other|previous|prior|earlier|older"
    r"|non)\b)\w+){0,2} models?"
    r"(?: (?:we )?(?:tested|evaluated|assessed|studied))?\b(?! apart| except| other| besides| but\b)",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(r"no(?:ne)?\b", re.IGNORECASE)
"""What no model did, the card's own did not do either."""
_COMPARING = read_expression("comparing")
_LISTED = re.compile(
    r"[\])*%\d.,\s]*(?:,? (?:and|or|as well as|&) |, |/)(?:the |both |to |for |\d[\d.]*\s?% (?:for|of the time for) )?[\[(*]*"
)
_INSTRUMENT = re.compile(
    r"(?:[- ]based)?(?: (?:classifiers?|graders?|judges?|monitors?|auditors?|raters?)\b| as (?:an? )?(?:\w+ )?(?:judge|grader)\b)"
)
"""Behind a model that measured something, and is not what was measured."""
_NEXT_CLAUSE = re.compile(
    r"; |, (?:while|whereas|but) | (?:while|whereas) |(?<!vs)\. |, and (?:also )?(?=(?:achiev|reach|scor|obtain|attain|gets?\b)\w*)"
)
_TURN = read_expression("turn")
_FOR = re.compile(
    r"^[\s)\]]*(?:of (?:the )?(?:time|cases|tasks|attempts|them) )?(?:for|by|from|of|in|with)(?: (?:both|the|each of|that of))*[\s(\[*]*$",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"^[\])*]*(?:['’]s?)?[\s(:=,–—-]*(?:(?:which|who|at|of|was|is|had|scor(?:es?|ed|ing)|got|gets|with|reach\w*|achiev\w*|solv\w*"
    r"|refus\w*|both|each|only|about|an?|the|average|averaged|rate|up|to|just"
    r"|around|result|it|are|were|did|so|managed|[~<>≥≤])[\s:(,]*){0,6}$",
    re.IGNORECASE,
)
_FROM = re.compile(
    r"\b(?:from|previously|down from|up from)(?: an?| about| around| roughly| over| the| initial| approximately)*\s*$", re.IGNORECASE
)
_TO = re.compile(
    r"^[\s)%]*(?:\([^()]{0,30}\)\s*)?(?:[\w-]{1,20}\s){0,4}?(?:down |up )?(?:to|→|->)(?: an?| about| just| only| around"
    r"| roughly)*\s*$|^\s*(?:→|->)\s*$",
    re.IGNORECASE,
)
_PAIR = re.compile(r"^\s?(?:vs\.?|versus|compared (?:to|with)|against|/)\s?$", re.IGNORECASE)
_CHANGE = re.compile(r"^\s?(?:to|→|->|⟶)\s?$")
_ANNOUNCED = re.compile(
    r"\((?P<what>[^()]{0,80}\b(?:compared|comparison|relative)\b[^()]{3,160}?\b(?:in|given in)) (?:parentheses|parenthesis|brackets)\)",
    re.IGNORECASE,
)
SURE, NAMED, PRONOUN, ABOVE, TITLE, OPEN = 0.97, 0.95, 0.85, 0.8, 0.75, 0.3
"""Certainties by how the model was named; measured on the committed examples of the calibration test."""


@dataclass(frozen=True, slots=True)
class _Owner:
    """Whose one figure of a sentence is."""

    party: _Party | None
    """None for the subject that the sentence leaves out."""
    is_own: bool | None
    certainty: float
    subject: str = ""
    """In words, for a figure of something else."""


def find_subjects(passage: Passage, figures: Sequence[CardFigure], around: PassageContext, models: CardModels) -> tuple[FigureSubject, ...]:
    """Return what each of the *figures* of running text is about, in their order."""
    # What a sentence announces for its parentheses names no subject.
    words = _ANNOUNCED.sub(lambda match: " " * len(match[0]), passage.words)
    parties = _find_parties(words, models)
    subjects = []
    announced = _ANNOUNCED.search(passage.words)
    for place, figure in enumerate(figures):
        owner = _find_owner(words, figures, place, parties)
        # Behind the announcement figures in parentheses are other models'.
        if announced is not None and words.rfind("(", announced.end(), figure.start) > words.rfind(")", announced.end(), figure.start):
            owner = _Owner(None, is_own=False, certainty=SURE, subject="a model in parentheses")
        subjects.append(_settle(owner, passage, parties, around, models))
    return tuple(subjects)


def find_worded_subject(passage: Passage, at: int, around: PassageContext, models: CardModels) -> FigureSubject:
    """Return what a claim in words is about, whose words begin at *at*."""
    parties = _find_parties(passage.words, models)
    groups = ALL_MODELS.search(passage.words)
    if groups is not None and not _COMPARING.search(passage.words[: groups.start()]):
        if _NO_MODEL.match(groups[0]) and len(models.own) == 1:
            return FigureSubject(models.own[0], groups[0], "sentence", PRONOUN, is_own=True)
        return FigureSubject(groups[0], groups[0], "sentence", NAMED, is_own=None)
    before = [party for party in parties if party.start <= at + 1 and not party.is_aside]
    after = [party for party in parties if party.start > at and not party.is_aside]
    clause = [party for party in before if not _NEXT_CLAUSE.search(passage.words, party.stop, max(party.stop, at))] or before
    chosen = (clause or before or [party for party in after if party.is_own] or [None])[0]  # type: ignore[list-item]
    owner = _Owner(chosen, None if chosen is None else chosen.is_own, NAMED if chosen else TITLE)
    return _settle(owner, passage, parties, around, models)


def drop_announced(passage: Passage, figures: Sequence[CardFigure]) -> tuple[CardFigure, ...]:
    """Return the figures without the "interval" in parentheses that the sentence announces as results of other models."""
    if not _ANNOUNCED.search(passage.words):
        return tuple(figures)
    cut = (figure.written.partition("(")[0].rstrip() for figure in figures)
    return tuple(
        figure if figure.low is None else replace(figure, low=None, high=None, written=written, stop=figure.start + len(written))
        for figure, written in zip(figures, cut, strict=True)
    )


def compare_figures(subjects: Sequence[FigureSubject], figures: Sequence[CardFigure]) -> tuple[ComparisonNote, ...]:
    """Return the figures of other models as notes of the claims beside them."""
    return tuple(
        ComparisonNote(subject=subject.model or "something else", value=figure.value, words=figure.written)
        for subject, figure in zip(subjects, figures, strict=True)
        if subject.is_own is False
    )


def _find_parties(words: str, models: CardModels) -> tuple[_Party, ...]:
    spans: list[tuple[int, int, str | None, bool | None]] = []
    for start, stop, name, is_own in (
        *((mention.start, mention.stop, mention.name, mention.is_own if models.own else None) for mention in models.find(words)),
        *((hit.start(), hit.end(), hit[0], None) for hit in _GUARDS.finditer(words)),
        *((hit.start(), hit.end(), hit[0], False) for hit in _GROUPS.finditer(words)),
        *((hit.start(), hit.end(), None, True) for hit in _PRONOUN.finditer(words)),
        *((hit.start(), hit.end(), None, True) for hit in (models.bare.finditer(words) if models.bare else ())),
    ):
        # Names first: the patterns of groups and pronouns may match a part of a name.
        if not any(start < other[1] and other[0] < stop for other in spans):
            spans.append((start, stop, name, is_own))
    parties: list[_Party] = []
    for start, stop, name, is_own in sorted(spans, key=lambda span: span[:2]):
        last = parties[-1] if parties else None
        # "Compared with A, it …": a pronoun is the subject, and no further part of the list.
        is_listed = last is not None and last.is_aside and name is not None and _LISTED.fullmatch(words, last.stop, start) is not None
        is_aside = (
            is_listed or _COMPARING.search(words[max(0, start - 70) : start]) is not None or _INSTRUMENT.match(words, stop) is not None
        )
        parties.append(_Party(start=start, stop=stop, name=name, is_own=is_own, is_aside=is_aside))
    return tuple(parties)


def _find_owner(words: str, figures: Sequence[CardFigure], place: int, parties: tuple[_Party, ...]) -> _Owner:
    figure = figures[place]
    previous = figures[place - 1].stop if place else 0
    following = figures[place + 1].start if place + 1 < len(figures) else len(words)
    if figure.unit in (FigureUnit.MULTIPLE, FigureUnit.POINTS):
        # A factor or difference belongs to the subject of the sentence, even if another name is nearer.
        return _from_clause(words, figure, parties, 0)
    pair = _find_in_pair(words, figures, place, parties)
    if pair is not None:
        return pair
    after = next((party for party in parties if figure.stop <= party.start < following), None)
    if after is not None and after.name is not None and _FOR.match(words[figure.stop : after.start]):
        return _Owner(after, after.is_own, SURE)
    before = next((party for party in reversed(parties) if previous <= party.stop <= figure.start), None)
    if before is not None and _BEFORE.match(words[before.stop : figure.start]):
        return _Owner(before, before.is_own, PRONOUN if before.name is None else SURE)
    return _from_clause(words, figure, parties, previous)


def _find_in_pair(words: str, figures: Sequence[CardFigure], place: int, parties: tuple[_Party, ...]) -> _Owner | None:
    """Whose a figure is that the card sets beside another one: a change, or two sides of a comparison."""
    figure = figures[place]
    previous = figures[place - 1].stop if place else 0
    following = figures[place + 1].start if place + 1 < len(figures) else len(words)
    # The earlier one of "from 30 % to 6 %" and of "30 % → 6 %".
    between = words[figure.stop : following] if following < len(words) else ""
    if _CHANGE.match(between) or (between and _FROM.search(words[: figure.start]) and _TO.match(between)):
        return _Owner(None, is_own=False, certainty=SURE, subject="the earlier condition")
    if place and _PAIR.match(words[previous : figure.start]):
        other = next((party for party in reversed(parties) if party.start < figures[place - 1].start and not party.is_own), None)
        return _Owner(other, is_own=False, certainty=SURE, subject="the other side of the comparison")
    if _PAIR.match(between):
        # "Fewer than Model A (81 % vs. 90 %)": the first of the pair is the subject's.
        subject = next((party for party in parties if party.stop <= figure.start and not party.is_aside), None)
        return _Owner(subject, True if subject is None else subject.is_own, TITLE if subject is None else NAMED)
    return None


def _from_clause(words: str, figure: CardFigure, parties: tuple[_Party, ...], previous: int) -> _Owner:
    """Whose figure it is by its clause: behind a comparing word another's, otherwise that of the clause's subject."""
    ends = [hit.end() for hit in _NEXT_CLAUSE.finditer(words, 0, figure.start)]
    start = ends[-1] if ends else 0
    turns = list(_TURN.finditer(words, start, figure.start))
    # Behind a comparing word figures are another's until the own model is named again.
    turns = [
        hit
        for hit in turns
        if not any(
            party.is_own and not party.is_aside and hit.end() < party.start <= figure.start and party.start < previous for party in parties
        )
    ]
    if turns and figure.unit not in (FigureUnit.MULTIPLE, FigureUnit.POINTS):
        other = next((party for party in parties if turns[-1].end() <= party.start + 1 and party.stop <= figure.start), None)
        # "Compared to X, the model scored 5 %": the subject comes after the comparison.
        own = next(
            (party for party in parties if turns[-1].end() <= party.start and party.stop <= figure.start and not party.is_aside), None
        )
        if own is not None and "," in words[turns[-1].end() : own.start]:
            return _Owner(own, own.is_own, NAMED if own.name else PRONOUN)
        return _Owner(
            other, False if other is None or not other.is_own else None, NAMED, words[turns[-1].start() : figure.start].strip()[:60]
        )
    here = [party for party in parties if start <= party.start and party.stop <= figure.start and not party.is_aside]
    if not here and start:
        here = [party for party in parties if party.stop <= figure.start and not party.is_aside]
    if not here:
        here = [party for party in parties if party.start >= figure.stop and not party.is_aside and party.is_own][:1]
    if not here:
        return _Owner(None, is_own=True, certainty=TITLE)
    # The first party of a clause is its subject; of several the nearest own one, which is then less certain.
    first = here[0]
    if first.is_own and any(party.name and not party.is_own for party in here):
        return _Owner(first, is_own=True, certainty=PRONOUN)
    return _Owner(first, first.is_own, NAMED if first.name else PRONOUN)


def _settle(owner: _Owner, passage: Passage, parties: tuple[_Party, ...], around: PassageContext, models: CardModels) -> FigureSubject:
    party = owner.party
    if party is not None and party.name is not None:
        return FigureSubject(party.name, passage.words[party.start : party.stop], "sentence", owner.certainty, is_own=owner.is_own)
    if owner.is_own is False:
        return FigureSubject(owner.subject or None, owner.subject, "sentence", owner.certainty, is_own=False)
    # A pronoun or an elided subject: the own model that the sentence, the paragraph or a heading names.
    own = next((one for one in parties if one.name is not None and one.is_own and not one.is_aside), None)
    if own is not None:
        return FigureSubject(own.name, passage.words[own.start : own.stop], "sentence", PRONOUN, is_own=True)
    return find_spoken_of(passage, around, models, ABOVE if party is None else PRONOUN)


def find_spoken_of(passage: Passage, around: PassageContext, models: CardModels, certainty: float = ABOVE) -> FigureSubject:
    """Return the model that the surroundings speak of: that of the sentences above, of a heading, or the card's own."""
    above = (*around.lead_in(passage)[-3:], *(one for one in around.neighbours(passage, before=3, after=0) if one.block == passage.block))
    for one in reversed(above):
        if one.kind in (PassageKind.ROW, PassageKind.HEAD):
            continue
        named = [party for party in _find_parties(one.words, models) if party.name is not None and not party.is_aside]
        mentions = [party for party in named if party.is_own]
        if mentions:
            return FigureSubject(
                mentions[0].name, one.words[mentions[0].start : mentions[0].stop], "sentence above", certainty, is_own=True
            )
        if named and not _GROUPS.fullmatch(named[0].name or ""):
            # The paragraph speaks of another model: whose the figure is stays open.
            return FigureSubject(None, one.words[named[0].start : named[0].stop], "sentence above", OPEN, is_own=None)
    for title in reversed(around.section_titles(passage)):
        if own := next((mention for mention in models.find(title) if mention.is_own), None):
            return FigureSubject(own.name, title, "heading", certainty, is_own=True)
    if not models.own:
        return FigureSubject(None, is_own=None)
    return FigureSubject(models.own[0], models.own[0], "card title", TITLE if len(models.own) == 1 else 0.5, is_own=True)


# Rows of a table. The head of a column names the model, else the label of the row, else the caption or the text around.


def find_cell_subject(passage: Passage, place: int, figure: CardFigure, around: PassageContext, models: CardModels) -> FigureSubject:
    """Return what a figure in the cell at *place* is about."""
    head = passage.cells[place].column or ""
    for words, where in ((figure.label or "", "cell"), (head, "column head")):
        if mentions := models.find(words):
            subject = _take_mention(mentions[-1], where)
            # A family is another model where the table names the own one too.
            is_other = subject.is_own is None and _names_own(passage, around, models)
            return replace(subject, is_own=False) if is_other else subject
        if party := _GROUPS.search(words):
            return FigureSubject(party[0], party[0], where, NAMED, is_own=False)
        if (short := _read_short_name(words, where, models)) is not None:
            return short
    label = find_label_subject(passage, place, models)
    if label is not None and label.is_own is None and _names_own(passage, around, models):
        return replace(label, is_own=False)
    return label or _find_table_subject(passage, head, around, models)


def _names_own(passage: Passage, around: PassageContext, models: CardModels) -> bool:
    """Whether the heads or labels of a row's table name an own model."""
    heads = [cell.column for cell in passage.cells if cell.column]
    labels = [row.cells[0].text for row in around.block(passage) if row.cells]
    return any(mention.is_own for text in (*heads, *labels) for mention in models.find(text))


def _take_mention(mention: ModelMention, place: str, certainty: float = SURE) -> FigureSubject:
    return FigureSubject(mention.name, mention.written, place, certainty, is_own=mention.is_own)


def _find_table_subject(passage: Passage, head: str, around: PassageContext, models: CardModels) -> FigureSubject:
    """The model of a figure whose head and label name none: that of the caption or of the text around, unless the table names several."""
    # A column among columns of models is another model's, also where its name is none that is known.
    if any(models.find(cell.column or "") for cell in passage.cells):
        return FigureSubject(head or "another column", head, "column head", PRONOUN, is_own=False)
    if any(models.find(row.cells[0].text) for row in around.block(passage) if row.cells and not _PARTS.search(row.cells[0].column or "")):
        return FigureSubject(passage.cells[0].text, "", "row label", PRONOUN, is_own=False)
    captioned = models.find(passage.caption or "")
    if captioned and len({mention.name for mention in captioned}) == 1:
        return _take_mention(captioned[0], "caption", PRONOUN)
    return find_spoken_of(passage, around, models)


_PARTS = re.compile(r"\b(?:base|backbone|teacher|encoder|decoder|initiali[sz]ed)\b", re.IGNORECASE)
"""Heads of columns that name what a model was made from."""


def find_label_subject(passage: Passage, place: int, models: CardModels) -> FigureSubject | None:
    """The model, or the group, that the label of a row names."""
    cells = [cell for cell in passage.cells[:place] if not re.fullmatch(r"[\d.,%±()\s/–-]*", cell.text)]
    labels = [cell.text for cell in cells if not _PARTS.search(cell.column or "")]
    for label in labels[:2]:
        if mentions := models.find(label):
            return _take_mention(mentions[0], "row label")
    # A name may be torn into two cells: "Claude Opus" and "4 -0.60".
    is_part = _PARTS.search(passage.cells[0].column or "") is not None
    torn = None if is_part else next((mention for mention in models.find(passage.words) if mention.start < 2), None)
    if torn is not None:
        return _take_mention(torn, "row label", OPEN)
    if labels and (party := _GROUPS.match(labels[0])):
        return FigureSubject(party[0], party[0], "row label", NAMED, is_own=False)
    if labels and (subject := _read_short_name(labels[0], "row label", models)):
        return subject
    # A model that nothing else in the card names.
    if labels and models.own and is_strange_model(labels[0], models.own):
        return FigureSubject(labels[0], labels[0], "row label", OPEN, is_own=False)
    return None


def _read_short_name(words: str, where: str, models: CardModels) -> FigureSubject | None:
    """The model that a head or label names by its size alone, or by its name without the version."""
    if sized := read_size(words, models.own):
        return FigureSubject(sized[0], words, where, NAMED, is_own=sized[1])
    return FigureSubject(models.own[0], words, where, NAMED, is_own=True) if models.is_bare(words) else None


# The snapshot that a figure was measured on, in the card's own words.

_SNAPSHOTS = read_expression("snapshots")


def find_version(
    passage: Passage, at: int | None, around: PassageContext, models: CardModels, *, cell: int | None = None
) -> tuple[str, str] | None:
    """Return the build stated beside the figure, or in the sentences that introduce it, with where it was read."""
    if cell is not None and (build := _read_build(passage, cell, models)):
        return build, "column head"
    beside = passage.words if at is None or passage.cells else _cut_clause(passage.words, at)
    if hit := _SNAPSHOTS.search(beside):
        return hit[0], "sentence" if not passage.cells else "row label"
    for one in (*around.lead_in(passage), *around.continued(passage)):
        if (hit := _SNAPSHOTS.search(one.words)) and not _COMPARING.search(one.words[: hit.start()]):
            named = models.find(one.words)
            return (hit[0], "sentence above") if not named or any(mention.is_own for mention in named) else None
    return None


_BUILD = re.compile(r"\b(?:GA|preview|experimental|early|final|beta|checkpoint|snapshot|\d\d-\d\d|20\d\d)\b", re.IGNORECASE)
"""What names a build. An effort or tools in a head are conditions of one build."""


def _read_build(passage: Passage, cell: int, models: CardModels) -> str:
    """Return what follows the model in the head of a column, if another column has the same model: "Preview (05-06)"; else nothing."""
    heads = [column.column or "" for column in passage.cells]
    names = {place: mentions[-1] for place, head in enumerate(heads) if (mentions := models.find(head))}
    if cell not in names or not any(place != cell and mention.name == names[cell].name for place, mention in names.items()):
        return ""
    build = heads[cell][names[cell].stop :].strip(" *†‡:–-")
    return build if _BUILD.search(build) else ""


def _cut_clause(words: str, at: int) -> str:
    starts = [hit.end() for hit in re.finditer(r"[;,]\s|\s(?:and|but|while|whereas|compared)\s", words[:at])]
    stop = next((hit.start() for hit in re.finditer(r"[;,]\s|\s(?:and|but|while|whereas|compared)\s", words[at:])), len(words) - at)
    # The phrase a sentence begins with, up to its first comma, is said of all its figures.
    opening = words[: words.find(",")] if 0 < words.find(",") < min(at, 160) and not re.search(r"\d", words[: words.find(",")]) else ""
    return f"{opening} · {words[(starts[-1] if starts else 0) : at + stop]}"
