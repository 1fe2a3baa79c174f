"""What `caveat claim propose` tells of its proposals, on standard error."""

from collections import Counter
from collections.abc import Iterator

from audit.propose.proposed_claims_file import count_dropped
from registry.records.claim import Form
from registry.records.claim_draft import Confidence, Proposals

_MOST_REASONS = 8


def tell_proposals(proposals: Proposals, *, unsure: int, registered: int, sighted: int, left_out: int) -> Iterator[str]:
    """Give, line by line, what was read, proposed, dropped and not read.

    Args:
        unsure: proposals that were left away for `--min-confidence`.
        registered: proposals that are registered already.
        sighted: proposals that a claim of another revision of the card makes, whose passage stands here too.
        left_out: proposals of passages that were deliberately left out before.
    """
    found = proposals.proposals
    yield f"{proposals.by}: {len(found):,} {_noun(len(found), 'claim')} proposed from {proposals.passages:,} passages of {proposals.title}"
    if found:
        forms, levels = Counter(one.form for one in found), Counter(one.confidence for one in found)
        yield f"  form: {', '.join(f'{one.value} {forms[one]}' for one in Form if forms[one])}"
        yield f"  confidence: {', '.join(f'{one.value} {levels[one]}' for one in Confidence if levels[one])}"
    if registered:
        yield f"  registered already, and not proposed again: {registered}"
    if sighted:
        yield f"  registered of another revision of the card, whose passage stands here too, and not proposed again: {sighted}"
    if left_out:
        yield f"  left out before, and not proposed again: {left_out}"
    if unsure:
        yield f"  below --min-confidence: {unsure}"
    if restated := sum(bool(one.restates) for one in found):
        yield f"  may restate a registered claim with another number: {restated}"
    if proposals.dropped:
        reasons = list(count_dropped(proposals))
        yield f"  offered and dropped: {len(proposals.dropped)}"
        yield from (f"    {count} × {reason}" for reason, count in reasons[:_MOST_REASONS])
        if len(reasons) > _MOST_REASONS:
            yield f"    and {len(reasons) - _MOST_REASONS} more reasons (--json has them all)"
    yield from (f"note: {one}" for one in proposals.notes)


def _noun(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"
