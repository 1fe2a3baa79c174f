"""A card whose passages were proposed, registered and left out, for the coverage of a card supplement."""

from collections.abc import Sequence
from dataclasses import replace

from registry.records.claim import ClaimRevision
from registry.records.dossier import Dossier, Recorded
from registry.records.supplement import Coverage
from registry.records.system_card import Anchor, Card, Heading, MatchLevel, MatchResult, Omission, PassageMatch, Survey
from registry.records.verdict import RestrictionStatus
from registry.report.card_coverage import PassageHistory, build_coverage
from tests.report.builders import CARD, SHA, Log, build, card, revision
from tests.report.hostile import HOSTILE

TEXT = "".join(f"Passage {number:04} says that the model did so in {number % 90 + 10} % of runs. \n" for number in range(1_200))
LENGTH = len(TEXT) // 1_200
TITLES = ("1 Introduction", "2 Safeguards", f"2.1 {'A very long title of a section ' * 6}", HOSTILE, "4 Silent")


def span(number: int, count: int = 1) -> tuple[int, int]:
    """Where passage *number* of the text stands, or *count* of them."""
    return number * LENGTH, (number + count) * LENGTH - 2


def headed_card(log: Log, *, number: int = 1) -> Recorded[Card]:
    """The card with headings at passages 10, 20, 30, 40 and 1,000; its file differs by revision."""
    plain = card(log, number).payload
    headings = tuple(Heading(start=span(at)[0], title=title) for at, title in zip((10, 20, 30, 40, 1_000), TITLES, strict=True))
    return log.say(replace(plain, headings=headings, document=document(number)))


def document(number: int) -> str:
    return SHA if number == 1 else f"{number:064x}"


def place(number: int, *, of: int = 1, count: int = 1) -> Anchor:
    """An anchor at passage *number* of revision *of*."""
    start, stop = span(number, count)
    return Anchor(
        document=document(of),
        start=start,
        stop=stop,
        exact=TEXT[start:stop],
        prefix="",
        suffix="",
        level=MatchLevel.N0,
        page=1,
        section=None,
    )


def claim_at(number: int, *, claim: int = 1, of: int = 1, **changes: object) -> ClaimRevision:
    """A claim that quotes passage *number* of revision *of*."""
    anchor = place(number, of=of)
    fields: dict[str, object] = {"claim": f"CLM-EXAMPLE-2026-{claim:04}-X", "card": f"{CARD}@{of}", "anchor": anchor}
    return revision(anchor.exact, **(fields | changes))


def dossier_at(number: int, *, claim: int = 1, of: int = 1, passage_matches: Sequence[PassageMatch] = (), **changes: object) -> Dossier:
    """A claim no one audited, that quotes passage *number*."""
    log = Log()
    dossier = build(log, claim_at(number, claim=claim, of=of, **changes), RestrictionStatus.UNAUDITED)
    return replace(dossier, passage_matches=tuple(log.say(one) for one in passage_matches))


def sighted(number: int | None, *, claim: int = 1, of: int = 2, match_result: MatchResult = MatchResult.MOVED) -> PassageMatch:
    """The claim's passage found at *number* of revision *of*."""
    anchor = None if number is None else place(number, of=of)
    return PassageMatch(claim=f"CLM-EXAMPLE-2026-{claim:04}-X@1", card=f"{CARD}@{of}", match_result=match_result, anchor=anchor)


def survey(*numbers: int, of: int = 1, by: str = "rules 1") -> Survey:
    return Survey(card=f"{CARD}@{of}", by=by, passages=tuple(span(number) for number in numbers))


def omission(number: int, reason: str = "It is about another model.", *, of: int = 1) -> Omission:
    anchor = place(number, of=of)
    return Omission(card=f"{CARD}@{of}", quote=anchor.exact, anchor=anchor, reason=reason)


def say(surveys: Sequence[Survey] = (), omissions: Sequence[Omission] = ()) -> PassageHistory:
    log = Log()
    return PassageHistory(surveys=[log.say(one) for one in surveys], omissions=[log.say(one) for one in omissions])


def cover(dossiers: Sequence[Dossier], said: PassageHistory, *, number: int = 1, text: str | None = TEXT) -> Coverage:
    return build_coverage(headed_card(Log(), number=number), dossiers, said, text=text)


def full() -> Coverage:
    """Something of everything: claims, passages left out, unreviewed ones, several engines, a claim without a place."""
    surveys = (survey(*range(5, 60), 1_100), survey(*range(50, 70), by="claude model-1"))
    omissions = (omission(12), omission(41, reason=HOSTILE))
    elsewhere = replace(place(3, of=2), exact="Words that stand in another revision alone.")
    dossiers = [dossier_at(11), dossier_at(21, claim=2), dossier_at(3, claim=3, of=2, anchor=elsewhere)]
    return cover(dossiers, say(surveys, omissions))


def sighted_everywhere() -> Dossier:
    """A claim whose passage had every match result in later revisions of its card, once in words that try to get out of their place."""
    reworded = replace(place(21, of=4), exact=f"Passage 0011 says that the model never did so {HOSTILE}", section=HOSTILE)
    respelled = replace(place(21, of=6), exact=place(11).exact.replace("model", "Model"))
    found = [
        sighted(11, of=2, match_result=MatchResult.UNCHANGED),
        sighted(21, of=3, match_result=MatchResult.MOVED),
        replace(sighted(21, of=4, match_result=MatchResult.REWORDED), anchor=reworded),
        sighted(None, of=5, match_result=MatchResult.GONE),
        replace(sighted(21, of=6, match_result=MatchResult.REWORDED), anchor=respelled, differs=("model → Model", HOSTILE)),
    ]
    return dossier_at(11, passage_matches=found)
