"""What a renewal moved: each claim as it stood before and as it stands now, and how often it came from which class to which."""

from collections import Counter
from collections.abc import Iterable

from audit.renewing.choice import Chosen
from registry.records.supplement import ClaimChange, ClaimState
from registry.report.change import build_change, rank_change
from registry.report.wording import get_words
from registry.store.ledger import Ledger

NOT_AUDITED = "not audited"


def find_change(ledger: Ledger, one: Chosen) -> ClaimChange | None:
    """Return how the claim of *one* changed since before it was carried, or since before its audit was renewed; None before that.

    Of a claim with several audits the outcome that leads counts, before and after.
    """
    if one.renewed is None:
        return None
    name = one.claim.claim
    with ledger.view() as view:
        after = view.dossier(name)
    about = int(one.old.audit.payload.claim.partition("@")[2])
    later = [revision.entry.seq for revision in after.revisions if revision.payload.revision > about]
    since = min([*later, one.renewed.audit.entry.seq]) - 1
    with ledger.view(since) as view:
        before = view.dossier(name)
    return build_change(before, after, since=since)


def sort_changes(changes: Iterable[ClaimChange]) -> list[ClaimChange]:
    """Return *changes* in the order of a report: newly inverted first, then other changes of class."""
    return sorted(changes, key=rank_change)


def count_transitions(changes: Iterable[ClaimChange]) -> list[tuple[str, str, int]]:
    """Return how many claims came from which class to which, most first."""
    counted = Counter((describe_class(one.before), describe_class(one.after)) for one in changes)
    return sorted(((before, after, count) for (before, after), count in counted.items()), key=lambda one: (-one[2], one[:2]))


def describe_class(state: ClaimState | None) -> str:
    """Return class, standing, mode and class of the point estimate of *state* in words: all that a change of class is told by."""
    if state is None or state.class_ is None:
        return NOT_AUDITED
    suggested = [f"the point estimate suggests {get_words(state.point_class)}"] if state.point_class else []
    return " · ".join([get_words(one) for one in (state.class_, state.standing, state.mode) if one] + suggested)
