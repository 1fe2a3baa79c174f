"""Renewals that share one recorded replay, as their audits shared it, and those whose recording is gone."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from audit.fixing import describe_replay
from audit.renewing.choice import Chosen, Left
from audit.renewing.recording import Recording, Search, find_recordings
from audit.renewing.replay import REPLAY, RUN, find_changed_parts, name_folder
from audit.replay.replay_file import ReplayFile, digest_parts, read_replay
from registry.errors import CaveatError, Fault
from registry.store.view import View

MODEL_PART = "policy"
"""The one part of a replay that a renewal changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Audits whose plans are carried out together."""

    folder: Path
    """Where its files stand, or will."""
    chosen: tuple[Chosen, ...]
    recording: Recording | None
    """None for runs that were made elsewhere, and then `chosen` is one alone."""

    @property
    def replay(self) -> Path:
        """The replay's file."""
        return self.folder / REPLAY

    @property
    def run(self) -> Path:
        """The run folder."""
        return self.folder / RUN


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """Everything that was chosen, parted by replay."""

    groups: tuple[Group, ...]
    left: tuple[Left, ...]
    search: Search


def group(
    chosen: Sequence[Chosen], places: Sequence[Path], view: View, output: Path, *, owner: str, advance: Callable[[int], None]
) -> Grouped:
    """Return the *chosen* audits by the replay that they share, with its recording, in the order of their identifiers.

    Args:
        places: folders in which recordings are looked for.
        output: the folder of the renewal.
        owner: authority whose short names are meant first.
        advance: is told how many more folders were looked into.
    """
    ordered = sorted(chosen, key=lambda one: one.lock.audit)
    wanted = {one.lock.replay for one in ordered if one.lock.replay}
    search = find_recordings([output, *places], wanted, view, owner=owner, advance=advance) if wanted else Search(places=tuple(places))
    groups: list[Group] = []
    left: list[Left] = []
    for digest in dict.fromkeys(one.lock.replay for one in ordered):
        same = tuple(one for one in ordered if one.lock.replay == digest)
        if digest is None:
            groups += (Group(folder=output / one.lock.audit, chosen=(one,), recording=None) for one in same)
            continue
        recording = search.find(digest) or _find_renewed(same, digest, output, view, owner)
        if recording is not None:
            name = name_folder(recording.file.replay, digest)
            groups.append(Group(folder=output / name, chosen=same, recording=recording))
        elif all(one.is_concluded for one in same):
            groups += (Group(folder=output / one.lock.audit, chosen=(one,), recording=None) for one in same)
        else:
            left += (_miss(one, digest, search) for one in same)
    return Grouped(groups=tuple(groups), left=tuple(left), search=search)


def _find_renewed(same: Sequence[Chosen], digest: str, output: Path, view: View, owner: str) -> Recording | None:
    """Return the replay that an earlier call wrote, where the recording is gone since: its own lock says that it is the one."""
    locked = {one.renewed.lock.payload.replay for one in same if one.renewed and one.renewed.lock}
    for path in sorted(output.glob(f"*-{digest[:8]}/{REPLAY}")):
        try:
            file = read_replay(path, view, owner=owner)
        except CaveatError:
            continue
        if digest_parts(describe_replay(file)) in locked:
            return Recording(file=file, place=path, is_run=False)
    return None


def list_runs(search: Search, chosen: Chosen, *, but: Path) -> list[Path]:
    """Return the run folders that may hold the scores of the audit that is renewed, the new one's own *but* left out."""
    found = search.list_runs(chosen.lock.replay) if chosen.lock.replay else []
    return [one for one in found if one.resolve() != but.resolve()]


def check_same(before: ReplayFile, after: ReplayFile) -> None:
    """Refuse a replay that is not the recorded one but for its model; raises ValueError, for it was written so."""
    changed = set(find_changed_parts(before, after)) - {MODEL_PART}
    if changed:
        raise ValueError(f"the renewed replay differs in {', '.join(sorted(changed))}")


def _miss(one: Chosen, digest: str, search: Search) -> Left:
    sources = ", ".join(_list_sources(one)) or "no run on record"
    places = ", ".join(map(str, search.places))
    more = "; there are more folders than are searched" if search.is_cut else ""
    more += f"; {len(search.unread)} run folders could not be read: {'; '.join(search.unread[:3])}" if search.unread else ""
    found = (
        f"the replay that {one.lock.audit} locked (SHA-256 {digest}; scores once read from {sources}) is in none of the "
        f"{search.folders:,} folders below {places}{more}"
    )
    advice = "name the folder that holds its run folder or its replay file: --runs DIR"
    return Left(
        claim=one.claim.claim,
        audit=one.lock.audit,
        fault=Fault(code="recording-missing", where=f"{one.claim.reference}, {one.lock.audit}", found=found, advice=advice),
    )


def _list_sources(one: Chosen) -> Iterator[str]:
    runs = [run.payload.source for run in one.old.runs]
    said = runs or [outcome.payload.source for outcome in one.old.restrictions if outcome.payload.source]
    yield from dict.fromkeys(filter(None, said))
