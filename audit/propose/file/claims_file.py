"""The claims file that `caveat claim add` takes, written from proposed or accepted claims, with comments for the person who edits it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from textwrap import wrap

from audit.propose.file.claim_model import KnownModels
from audit.propose.file.drafts import Entry, comment_proposal, draft_claim
from audit.propose.file.yaml_text import WIDTH, render_key
from registry.codec.documents import to_document
from registry.intake.show import show_text
from registry.records.claim import Reported
from registry.records.draft import ClaimDraft, OmissionDraft, SurveyDraft
from registry.records.model import ModelRef
from registry.records.proposal import Proposal, Proposals
from registry.records.spec import PropertySpec

_ORDER = (
    *("id", "why", "quote", "quote_status", "card", "page", "form", "relation", "theta", "reported", "property", "direction"),
    *("evaluation", "grader", "elicitation", "model", "scoring", "test_context", "deploy_contexts", "deployment", "source", "restates"),
    "note",
)
_LONGEST_COMMENT = 600
_WHY_PROPOSED = "Which passages were proposed, so that caveat card coverage can tell what nobody has decided on. Leave it as it is."
_HOW_TO_LEAVE_OUT = """\
What of the card is deliberately not registered, with the reason; it counts in the card's coverage. Write it like this:
left_out:
  - quote: The words as the card has them.
    reason: A figure of another model.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Everything that goes into one claims file."""

    head: tuple[str, ...]
    """Comments at the top, one thought each."""
    card: str | None
    """`CRD-…@n`; None for a file that is not registered."""
    model: ModelRef
    """Stands for all claims that name none."""
    entries: tuple[Entry, ...]
    """In the order of the file."""
    left_out: tuple[OmissionDraft, ...] = ()
    proposed: SurveyDraft | None = None
    registered: Mapping[str, PropertySpec | None] | None = None
    """Short names of properties that the registry has already, with what they stand for there; None for a sealed one."""


def build_survey(proposals: Proposals) -> SurveyDraft:
    """Return which passages *proposals* quote: all that the engine proposed, not only those that a person asked for."""
    passages = sorted({(one.anchor.start, one.anchor.stop) for one in proposals.proposals})
    return SurveyDraft(by=proposals.by, document=proposals.document, passages=tuple(passages))


def build_entries(proposals: Sequence[Proposal], known: KnownModels, default: ModelRef) -> tuple[Entry, ...]:
    """Return the claims that *proposals* come to, in their order, numbered from 1."""
    return tuple(build_entry(proposal, number, known, default) for number, proposal in enumerate(proposals, start=1))


def build_entry(proposal: Proposal, number: int, known: KnownModels, default: ModelRef) -> Entry:
    """Return the claim that *proposal* comes to.

    Args:
        number: of the proposal, from 1.
        known: what names of models stand for.
        default: the file's model.
    """
    draft = draft_claim(proposal, known, default)
    return Entry(draft=draft, spec=proposal.property, comments=comment_proposal(proposal, number, draft.model or default))


def render_sheet(sheet: Sheet) -> str:
    """Return *sheet* as YAML.

    Equal properties stand in it once; where one short name is wished for two properties, the second gets a number. The same words that make
    the same claim twice stand once; where they give another figure, their property is told apart, so that the file can be registered.
    """
    properties, entries = _settle(sheet)
    lines = [*_comment(sheet.head), "schema: caveat/claims/1"]
    lines += render_key("card", sheet.card, 0) if sheet.card else ["# card: CRD-…   (what caveat card add prints)"]
    lines += render_key("model", to_document(sheet.model), 0)
    if properties:
        lines += ["", "properties:"]
        for slug, spec in properties.items():
            lines += render_key(slug, _drop_empty(to_document(spec)), 2)
    lines += ["", "claims:" if entries else "claims: []"]
    for entry in entries:
        lines += ["", *_comment(entry.comments, "  "), *_render_item(_order(entry.draft))]
    lines += ["", *_render_left_out(sheet.left_out)]
    if sheet.proposed is not None:
        lines += ["", *_comment((_WHY_PROPOSED,)), "proposed:"]
        for key, value in to_document(sheet.proposed).items():
            lines += render_key(key, value, 2)
    return "\n".join(lines) + "\n"


def render_drafts(entries: Sequence[Entry], head: Sequence[str] = ()) -> str:
    """Return claims with their properties as a small claims file for an editor, with the comments *head* at its top."""
    lines = [*_comment(head)]
    specs = {entry.draft.property: entry.spec for entry in entries if entry.spec is not None}
    lines += ["properties:"] if specs else []
    for slug, spec in specs.items():
        body = _drop_empty(to_document(spec))
        lines += [f"  {slug}:", *(line for key, value in body.items() for line in render_key(key, value, 4))]
    lines.append("claims:")
    for entry in entries:
        lines += _render_item(_order(entry.draft))
    return "\n".join(lines) + "\n"


def _settle(sheet: Sheet) -> tuple[dict[str, PropertySpec], list[Entry]]:
    """Return the properties by the short names they get, and the claims under these names, each once."""
    names = _Names(sheet.registered or {})
    settled: list[Entry] = []
    groups: dict[tuple[object, ...], list[int]] = {}
    for entry in sheet.entries:
        named = _rename(entry, names)
        group = groups.setdefault(_key(named, sheet), [])
        same = next((place for place in group if _is_same(settled[place].draft, named.draft)), None)
        if same is not None:
            settled[same] = _add_comment(settled[same], f"the same words stand again{_describe_page(named.draft)}")
            continue
        if group and entry.spec is not None:
            named = _rename(_tell_apart(entry, entry.spec, len(group) + 1), names)
        group.append(len(settled))
        settled.append(named)
    return names.used, settled


class _Names:
    """Gives properties their short names: equal ones the same, others never."""

    def __init__(self, registered: Mapping[str, PropertySpec | None]) -> None:
        self._registered = registered
        self.used: dict[str, PropertySpec] = {}

    def give(self, wish: str, spec: PropertySpec) -> str:
        """Return the short name of *spec*: the wish, or the wish with the first free number."""
        name = next(one for one in chain((wish,), (f"{wish}-{number}" for number in count(2))) if self._may_be(one, spec))
        self.used[name] = spec
        return name

    def _may_be(self, name: str, spec: PropertySpec) -> bool:
        """Whether *name* stands for nothing else, in this file and in the registry."""
        if name in self.used:
            return self.used[name] == spec
        return name not in self._registered or self._registered[name] == spec


def _rename(entry: Entry, names: _Names) -> Entry:
    if entry.spec is None:
        return entry
    return replace(entry, draft=replace(entry.draft, property=names.give(entry.draft.property, entry.spec)))


def _tell_apart(entry: Entry, spec: PropertySpec, number: int) -> Entry:
    """Give a claim that has the words of another a property of its own: two figures cannot be one quantity."""
    told = replace(entry, spec=replace(spec, name=f"{spec.name} (figure {number} of the passage)"))
    return _add_comment(told, "these words make another claim above too: name in the property what this figure measures")


def _add_comment(entry: Entry, comment: str) -> Entry:
    return replace(entry, comments=(*entry.comments, comment))


def _describe_page(draft: ClaimDraft) -> str:
    return "" if draft.page is None else f" on page {draft.page}"


def _key(entry: Entry, sheet: Sheet) -> tuple[object, ...]:
    """What makes two claims of the file one claim, as `registry.store.natural` has it."""
    draft = entry.draft
    return " ".join(draft.quote.split()), draft.property, draft.form, draft.model or sheet.model, draft.card, draft.source


def _is_same(one: ClaimDraft, other: ClaimDraft) -> bool:
    """Whether two claims say the same, wherever they stand and whatever else is noted."""
    fields = ("theta", "reported", "relation", "evaluation", "grader", "elicitation")
    return all(_plain(getattr(one, name)) == _plain(getattr(other, name)) for name in fields)


def _plain(value: object) -> object:
    return Reported(value=value) if isinstance(value, float) else value


def _order(draft: ClaimDraft) -> dict[str, object]:
    document = _drop_empty(to_document(draft))
    if document.get("quote_status") == "verbatim":
        del document["quote_status"]
    return {key: document[key] for key in _ORDER if key in document}


def _drop_empty(document: Mapping[str, object]) -> dict[str, object]:
    """Leave out what says nothing: None, empty lists, and `false`, which is the default where it occurs; also inside."""
    kept = {key: _drop_empty(value) if isinstance(value, dict) else value for key, value in document.items()}
    return {key: value for key, value in kept.items() if value is not None and value is not False and value not in ([], ())}


def _render_item(document: Mapping[str, object]) -> list[str]:
    lines = [line for key, value in document.items() for line in render_key(key, value, 4)]
    return [f"  - {lines[0].removeprefix('    ')}", *lines[1:]]


def _render_left_out(left_out: Iterable[OmissionDraft]) -> list[str]:
    items = [line for one in left_out for line in _render_item(_drop_empty(to_document(one)))]
    return ["left_out:", *items] if items else [f"# {line}" for line in _HOW_TO_LEAVE_OUT.splitlines()]


def _comment(thoughts: Iterable[str], indent: str = "") -> Iterator[str]:
    """Give *thoughts* as comment lines; whatever they hold, none can end the comment or steer a terminal."""
    for thought in thoughts:
        shown = show_text(thought, limit=_LONGEST_COMMENT)
        for place, line in enumerate(wrap(shown, WIDTH - len(indent) - 4, break_on_hyphens=False)):
            yield f"{indent}# {'  ' if place else ''}{line}"
