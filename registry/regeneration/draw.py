"""What is due is assembled, drawn and put in place, one supplement after the other; one that fails keeps its files."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, islice
from pathlib import Path

from registry.errors import AlteredError, CaveatError, Fault, InputError, NotFoundError
from registry.publishing import Collector, Drawn, Subject, draw_supplements, tell_facts
from registry.records.record import parse_identifier
from registry.records.statement import OutputFormat
from registry.records.supplement import ChangeReport
from registry.regeneration.folder_document import Folder, FolderItem
from registry.regeneration.manifest import Journal
from registry.regeneration.place import place
from registry.regeneration.plan import Due, DueKind
from registry.regeneration.told import tell
from registry.store.view import View

_TOGETHER = 40
"""Supplements of which the statements are read together."""

OpenView = Callable[[int | None], AbstractContextManager[View]]
"""Opens the registry as of an entry; as it is for None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A supplement that could not be drawn; what there was of it is still there."""

    name: str
    error: CaveatError


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What became of all that was due."""

    items: dict[str, FolderItem] = field(default_factory=dict)
    """What took its place, by name."""
    failed: list[Failed] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pen:
    """How supplements are drawn."""

    template: str
    """Digest of the templates."""
    workers: int
    time_limit_s: float


def carry_out(
    folder: Path,
    known: Folder,
    due: Iterable[Due],
    *,
    open_view: OpenView,
    pen: Pen,
    why: Callable[[Due], str],
    progress: Callable[[int], None],
) -> Outcome:
    """Draw what is *due* into *folder*, whose manifest is not written here: the journal tells what was done.

    Args:
        folder: it is held by this process.
        known: what the journal begins with where there is none.
        due: what is to be drawn.
        open_view: opens the registry; one view is open at a time.
        pen: how.
        why: the reason for which a supplement takes the place of another, in words.
        progress: told how many more supplements are done with.
    """
    outcome = Outcome()
    source = _Source(open_view, outcome, progress)
    with closing(Journal(folder, known)) as journal:
        for round_ in ([one for one in due if one.formats], source.again):
            chosen = {one.name: one for one in round_}
            formats = partial(_get_formats, chosen)
            for drawn in draw_supplements(source.assemble(round_), formats, time_limit_s=pen.time_limit_s, workers=pen.workers):
                one = chosen[drawn.subject.name]
                _finish(folder, drawn, one, outcome, journal=journal, template=pen.template, why=why(one))
                progress(1)
    return outcome


def _get_formats(chosen: Mapping[str, Due], subject: Subject) -> Sequence[OutputFormat]:
    return chosen[subject.name].formats


class _Source:
    """Supplements in the order in which they are due, assembled one by one."""

    def __init__(self, open_view: OpenView, outcome: Outcome, progress: Callable[[int], None]) -> None:
        self._open = open_view
        self._outcome = outcome
        self._progress = progress
        self.again: list[Due] = []
        """Of which the registry says something else as of the entry of their other files; they are drawn anew, in all formats."""

    def assemble(self, due: Iterable[Due]) -> Iterator[Subject]:
        """Yield what is due, as of the entry that each is due as of; what cannot be told is noted."""
        for size, group in groupby(sorted(due, key=lambda one: (one.log_size is None, one.log_size or 0)), lambda one: one.log_size):
            with self._open(size) as view:
                collector = Collector(view)
                while stretch := list(islice(group, _TOGETHER)):
                    collector.gather(parse_identifier(one.name) for one in stretch)
                    yield from (subject for one in stretch if (subject := self._collect(collector, one)) is not None)

    def _collect(self, collector: Collector, due: Due) -> Subject | None:
        try:
            subject = collector.collect(parse_identifier(due.name))
        except (NotFoundError, AlteredError, InputError) as error:
            self._fail(due, _place_error(error, due.name))
            return None
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, AssertionError) as error:  # whatever one record does
            self._fail(due, _refuse(due.name, error))
            return None
        if due.log_size is not None and due.before is not None and tell_facts(subject).record != due.before.record:
            there = {*due.formats, *(one.format for one in due.before.files)}
            formats = tuple(one for one in OutputFormat if one in there)
            self.again.append(replace(due, kinds=(DueKind.STATE, *due.kinds), formats=formats))
            return None
        return subject

    def _fail(self, due: Due, error: CaveatError) -> None:
        self._outcome.failed.append(Failed(name=due.name, error=error))
        self._progress(1)


def _finish(folder: Path, drawn: Drawn, due: Due, outcome: Outcome, *, journal: Journal, template: str, why: str) -> None:
    """Put what was drawn in place; where a format failed, nothing of it."""
    errors = [made.error for made in drawn.made if made.error is not None]
    if errors:
        outcome.failed.append(Failed(name=due.name, error=_place_error(errors[0], due.name)))
        return
    supplement = drawn.subject.supplement
    if isinstance(supplement, ChangeReport):
        raise TypeError("a change report is no supplement that becomes due")
    facts = tell_facts(drawn.subject)
    item = FolderItem(
        name=due.name,
        state=due.state,
        record=facts.record,
        template=template,
        log_size=facts.log_size,
        files=(),
        audit=facts.audit,
        told=tell(supplement),
    )
    data = {made.format: made.data for made in drawn.made if made.data is not None}
    outcome.items[due.name] = place(folder, item, data, before=due.before, fixed=due.fixed, why=why, journal=journal)


def _place_error(error: CaveatError, name: str) -> CaveatError:
    """Return *error* with the supplement's name where it is told."""
    faults = [one if name in one.where else replace(one, where=f"{name}, {one.where}") for one in error.faults]
    return type(error)(faults)


def _refuse(name: str, error: Exception) -> CaveatError:
    found = f"it cannot be assembled: {type(error).__name__}: {error}"
    return InputError(Fault(code="not-drawable", where=name, found=found, advice="report this with the record (caveat claim history)"))
