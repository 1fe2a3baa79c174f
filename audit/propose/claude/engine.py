"""The engine `claude`: what a language model offers of every window, as far as the card says it, becomes proposals."""

from collections import Counter
from collections.abc import Iterator, Sequence

from audit.propose.about.around import Around
from audit.propose.claude.asking import Answered, Session, keep_asking, read_answers
from audit.propose.claude.ground import Ground
from audit.propose.claude.merge import merge_windows, tell_apart
from audit.propose.claude.question import Asking
from audit.propose.claude.windows import describe_window
from audit.propose.source import Source
from registry.errors import Fault, UnavailableError
from registry.records.card import CardText
from registry.records.passage import Outline
from registry.records.proposal import Dropped, Engine, Proposal, Proposals

_REASONS = {
    "answer-refused": "the model refused to answer, also about this half of a window",
    "answer-cut": "its answer reached the output limit, also in halves (raise --max-tokens, with another --run)",
    "answer-empty": "its answer was empty, twice",
    "answer-not-json": "its answer was no JSON object, twice",
    "answer-without-claims": "its answer was an object without a list of claims, twice",
    "not-asked": "it was never asked",
    "lost-in-flight": "the call was in flight when an earlier run was killed (--repeat-lost sends it again; it may be billed twice)",
}
"""By the code of a window without a readable answer; others are failures of a call, which --retry-failed sends again."""


def propose_by_claude(card: CardText, outline: Outline, source: Source, asking: Asking, session: Session) -> Proposals:
    """Return the claims that the model finds in a card, as far as the card says what they say.

    Windows without a readable answer are named in `notes`, with the reason; everything that was offered and does not stand in the card is
    in `dropped`. The same card, model, windows and prompt with the same folder send nothing twice.

    Raises:
        UnavailableError: no part of the card got a readable answer.
        ConflictError: the run folder holds the proposing of another card, by another model, or with other windows or words.
        CaveatError: what `session.ask` raises where it ends before its last call.
    """
    keep_asking(session.store, card, outline, asking)
    answered = read_answers(session, card, outline, asking)
    _check_read(answered, str(session.store.path.parent))
    ground = Ground(card, Around(outline, card.text), source)
    windows: list[tuple[Proposal, ...]] = []
    dropped: list[Dropped] = []
    for one in answered:
        found, lost = ground.check(one.window, one.reading)
        windows.append(found)
        dropped += lost
    return Proposals(
        card=source.card,
        document=card.sha256,
        title=source.title,
        engine=Engine.CLAUDE,
        by=_name(answered, asking),
        passages=len({line.passage for one in answered if one.reading.excluded is None for line in one.window.lines}),
        proposals=tell_apart(merge_windows(windows)),
        dropped=tuple(dropped),
        notes=(*_tell_unread(answered, outline), *outline.notes),
    )


def _check_read(answered: Sequence[Answered], folder: str) -> None:
    """A card of which nothing was read makes no claim that it makes none."""
    reasons = Counter(one.reading.excluded for one in answered)
    if answered and None not in reasons:
        told = ", ".join(f"{count} × {reason}" for reason, count in reasons.most_common())
        found = f"no part of the card was read; {len(answered)} windows have no readable answer: {told}"
        advice = "put right what stopped it; calls that failed are sent again with --retry-failed, another model is asked with --run DIR"
        raise UnavailableError(Fault(code="nothing-read", where=folder, found=found, advice=advice))


def _name(answered: Sequence[Answered], asking: Asking) -> str:
    models = sorted({one.reading.model for one in answered if one.reading.model is not None})
    return f"claude {', '.join(models)}" if models else f"claude {asking.model}, which answered nothing"


def _tell_unread(answered: Sequence[Answered], outline: Outline) -> Iterator[str]:
    unread = [one for one in answered if one.reading.excluded is not None]
    if unread:
        yield f"{len(unread)} of {len(answered)} windows of the card were NOT read; no claim of theirs is proposed:"
    for one in unread:
        code = str(one.reading.excluded)
        reason = _REASONS.get(code, f"the call failed with {code} (--retry-failed sends it again)")
        yield f"not read: {describe_window(one.window, outline)}: {reason}"
