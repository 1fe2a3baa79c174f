"""A draft or a model version against a registry: which registered claims it quotes, and which passages are not registered. Reads only."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from interchange.gate.gate_finding import DraftPlace, GateFinding, QuotedClaim
from interchange.gate.gate_rules import UnregisteredPassage, judge_claim, judge_passage
from registry.codec.file_io import naming_file
from registry.codec.statement_encoding import list_entries
from registry.completeness import check_claim
from registry.errors import CaveatError, InputError
from registry.intake.card_reader import read_card
from registry.intake.outline.card_passages import read_outline
from registry.intake.quote_anchor import AnchoredText
from registry.records.claim_draft import SurveyDraft
from registry.records.dossier import Dossier
from registry.records.model_version import ModelRef
from registry.records.system_card import Anchor, Card, CardText, MediaType
from registry.store.claim_listing import ClaimSummary
from registry.store.log_integrity import RowCheck
from registry.store.registry_view import View

_LINED = frozenset({MediaType.MARKDOWN, MediaType.PLAIN})
"""Media whose text is the file, so that a character has a line."""


class Draft:
    """A draft card, read once: finds quotations, and says where something is."""

    def __init__(self, path: Path) -> None:
        """Read the draft; raises InputError as `card add` does for a file that is no card."""
        with naming_file(path):
            self.text: CardText = read_card(path)
        place = path.resolve()
        here = Path.cwd().resolve()
        # Relative paths are those of a repository: the same on every machine.
        self._path = place.relative_to(here).as_posix() if place.is_relative_to(here) else str(path)
        self._anchored = AnchoredText(self.text)
        self._letters = _read_letters(self.text.text)

    def find(self, quote: str) -> Anchor | None:
        """Return where *quote* is; None where the draft does not have it."""
        # A search that fails looks for the nearest passage, which is slow: most claims are of other cards.
        if _read_letters(quote) not in self._letters:
            return None
        try:
            return self._anchored.find(quote)
        except InputError:
            return None

    def locate(self, start: int) -> DraftPlace:
        """Return the place of the character at *start*."""
        is_lined = self.text.media_type in _LINED
        has_pages = self.text.media_type is MediaType.PDF
        line = self.text.text.count("\n", 0, start) + 1 if is_lined else None
        return DraftPlace(path=self._path, line=line, page=self.text.get_page_number(start) if has_pages else None)

    def survey(self) -> tuple[tuple[int, int], ...]:
        """Return the passages that rules propose as claims, by start and stop; none where no engine is installed."""
        engine = _find_engine()
        if engine is None:
            return ()
        text = self.text
        card = Card(
            card="CRD-DRAFT-2000-0001-0", revision=1, title=self._path, publisher="draft", document=text.sha256, size_bytes=text.size_bytes,
            media_type=text.media_type, text=sha256(text.text.encode()).hexdigest(), pages=text.pages, extractor=text.extractor,
            headings=text.headings,
        )  # fmt: skip
        return engine(card, text, read_outline(text)).passages


def _find_engine() -> Callable[..., SurveyDraft] | None:
    # An engine is a plug-in: nothing imports `audit.propose`.
    try:
        points = distribution("caveat").entry_points.select(group="caveat.surveys", name="rules")
    except PackageNotFoundError:
        return None
    engine: Callable[..., SurveyDraft] | None = next((point.load() for point in points), None)
    return engine


def _read_letters(text: str) -> str:
    """Return the letters and digits of *text* in lower case: what layout, hyphens and markup cannot change."""
    return "".join(character for character in text.casefold() if character.isalnum())


class ClaimReader:
    """Registered claims with their status; rows are compared with the statements of the log, since a status is read off rows."""

    def __init__(self, view: View) -> None:
        """Read *view*."""
        self.view = view
        self._rows = RowCheck(view)

    def read(self, summary: ClaimSummary) -> QuotedClaim:
        """Return the current revision; raises AlteredError where a row that its status follows from was edited."""
        dossier = self.view.dossier(summary.claim)
        self._check(dossier)
        return QuotedClaim(claim=dossier.current.payload, status=summary.status, completeness=check_claim(dossier))

    def find_earlier(self, claim: str, number: int) -> QuotedClaim | None:
        """Return an earlier revision with the status of its own family; None where its text was erased."""
        try:
            dossier = self.view.dossier(claim, number)
        except CaveatError as error:
            if error.code != "body-erased":
                raise
            return None
        self._check(dossier)
        return QuotedClaim(claim=dossier.current.payload, status=dossier.status, completeness=check_claim(dossier))

    def _check(self, dossier: Dossier) -> None:
        # Outcomes in other logs have no rows of their own here.
        outcomes = (outcome for outcome in (*dossier.family.outcomes, *dossier.family.others) if outcome.log is None)
        kin = {name.partition("@")[0] for name in (*dossier.family.members, *(outcome.claim for outcome in outcomes))}
        self._rows.check(list_entries(dossier), {dossier.claim, *kin})


def check_draft(view: View, draft: Draft, model: ModelRef | None) -> tuple[list[GateFinding], list[str]]:
    """Return the findings on *draft*, and the claims that it quotes.

    Args:
        view: the registry.
        model: the version that the draft is about; claims about other models are then no claims of this draft.
    """
    findings: list[GateFinding] = []
    checked: list[str] = []
    spans: list[tuple[int, int]] = []
    for quoted, anchor in _list_quoted(view, draft, model):
        checked.append(quoted.claim.reference)
        spans.append((anchor.start, anchor.stop))
        findings += judge_claim(quoted, model)
    excluded = {_read_letters(omission.payload.quote) for card in view.list_cards() for omission in view.list_omissions(card.payload.card)}
    findings += [judge_passage(passage) for passage in _list_unregistered(draft, spans, excluded)]
    return findings, checked


def check_model(view: View, model: ModelRef) -> tuple[list[GateFinding], list[str]]:
    """Return the findings on a change to *model*: the claims about every version of it."""
    findings: list[GateFinding] = []
    checked: list[str] = []
    claims = ClaimReader(view)
    for summary in view.list_claims():
        if summary.quote is None or not _is_of(summary.model, model):
            continue
        quoted = claims.read(summary)
        checked.append(quoted.claim.reference)
        findings += judge_claim(quoted, model)
    return findings, checked


def _is_of(claimed: ModelRef, model: ModelRef) -> bool:
    return (claimed.developer.casefold(), claimed.name.casefold()) == (model.developer.casefold(), model.name.casefold())


def _list_quoted(view: View, draft: Draft, model: ModelRef | None) -> Iterator[tuple[QuotedClaim, Anchor]]:
    claims = ClaimReader(view)
    for summary in view.list_claims():
        if summary.quote is None or (model is not None and not _is_of(summary.model, model)):
            continue
        anchor = draft.find(summary.quote)
        if anchor is not None:
            yield replace(claims.read(summary), place=draft.locate(anchor.start)), anchor
            continue
        # A draft may still have the words that a later revision of the claim gave up.
        for number in range(summary.revision - 1, 0, -1):
            earlier = claims.find_earlier(summary.claim, number)
            anchor = None if earlier is None else draft.find(earlier.claim.quote)
            if earlier is not None and anchor is not None:
                yield replace(earlier, place=draft.locate(anchor.start)), anchor
                break


def _list_unregistered(draft: Draft, spans: Sequence[tuple[int, int]], excluded: Iterable[str]) -> Iterator[UnregisteredPassage]:
    left_out = tuple(excluded)
    for start, stop in draft.survey():
        if any(start < end and begin < stop for begin, end in spans):
            continue
        words = draft.text.text[start:stop]
        letters = _read_letters(words)
        if any(other in letters or letters in other for other in left_out if other):
            continue
        yield UnregisteredPassage(words=words, place=draft.locate(start))
