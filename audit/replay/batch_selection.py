"""Which calls go into batches: those without an outcome, and with parameters that one request for many can carry."""

from collections.abc import Collection, Iterable, Iterator

from audit.model import SAMPLING, WITHOUT_SAMPLING
from audit.replay.engine import LOST, UNSENT, Settings
from audit.replay.store import Call, RunStore
from audit.replay.summary import Tally
from registry.errors import Fault, InputError

_LOOKED_UP = 500
"""Calls that are looked up in the store at once."""


def select_calls(store: RunStore, calls: Iterable[Call], *, under_way: Collection[str], settings: Settings, tally: Tally) -> Iterator[Call]:
    """Give those of *calls* that are to be made; the others are counted in *tally* as settled before.

    Args:
        under_way: keys of calls that an open batch holds.
    """
    for group in _group(calls):
        known = store.find_outcomes([call.key for call in group])
        for call in group:
            if call.key in under_way or (call.key in known and not _is_wanted_again(known[call.key], settings)):
                tally.settled_before += 1
            else:
                yield call


def check_sampling(calls: Iterable[Call], *, api_version: str) -> None:
    """Return when *calls* set no sampling parameter that *api_version* does not take; the version is one header for a whole batch.

    Raises:
        InputError: they do.
    """
    found = {name for call in calls for name in SAMPLING if name in call.body}
    if not found or api_version < WITHOUT_SAMPLING:
        return
    said = f"cannot be set under API version {api_version}, and one version holds for a whole batch"
    advice = "set policy.api_version: '2023-06-01', or leave it out"
    where = [f"policy.{name}" for name in SAMPLING if name in found]
    raise InputError([Fault(code="sampling-not-settable", where=one, found=said, advice=advice) for one in where])


def _is_wanted_again(failure: str | None, settings: Settings) -> bool:
    if failure == LOST:
        return settings.repeat_lost
    return failure is not None and (failure in UNSENT or settings.retry_failed)


def _group(calls: Iterable[Call]) -> Iterator[list[Call]]:
    group: list[Call] = []
    for call in calls:
        group.append(call)
        if len(group) >= _LOOKED_UP:
            yield group
            group = []
    yield group
