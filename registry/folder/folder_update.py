"""A folder brought up to date: what is due is rendered and put in place, and the folder completed."""

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, islice
from pathlib import Path

from registry.codec.file_io import replace_file, replace_files
from registry.errors import AlteredError, CaveatError, ConflictError, Fault, InputError, NotFoundError
from registry.folder import folder_manifest as names
from registry.folder.folder_document import Folder, FolderFile, FolderItem, FolderReport, SupplementDigest
from registry.folder.folder_manifest import (
    FileMark,
    FolderJournal,
    find_mark,
    list_files,
    list_journaled,
    place,
    settle,
    sweep,
    write_folder,
    write_seen,
)
from registry.folder.folder_pages import render_feed, render_index
from registry.folder.folder_plan import DueKind, DueSupplement, FolderState
from registry.folder.supplement_changes import collect_changes
from registry.folder.supplement_publishing import (
    Publisher,
    RenderedSupplement,
    SupplementCollector,
    SupplementFacts,
    SupplementSubject,
    WrittenFile,
    collect_facts,
    holds_drawing,
    publish_files,
    refuse_place,
    render_supplements,
    sign_written,
)
from registry.records.record import parse_identifier
from registry.records.statement import OutputFormat
from registry.records.supplement import CardSupplement, ChangeReport, Supplement
from registry.report.claim_outcome import find_trace_now
from registry.report.html_rendering import digest_record
from registry.report.published_file import sign_pdf
from registry.report.render_workers import RenderJob, RenderJobs, render_many
from registry.store.registry_view import View

_LONGEST = 200
"""Characters of a quote or title that a list shows."""


def build_supplement_digest(supplement: Supplement | CardSupplement) -> SupplementDigest:
    """Return what is shown of *supplement*."""
    return _describe_claim(supplement) if isinstance(supplement, Supplement) else _describe_card(supplement)


def _describe_claim(supplement: Supplement) -> SupplementDigest:
    claim, outcome = supplement.claim.payload, supplement.outcome
    reading = outcome.classification.primary if outcome else None
    # Without an outcome an estimate has not been concluded from.
    estimate = supplement.audit.estimate if supplement.audit and outcome else None
    ed = estimate.specs[0].ed if estimate and estimate.specs else None
    return SupplementDigest(
        made_at=supplement.made_at,
        title=_shorten(supplement.original),
        card=claim.card,
        model=str(claim.model),
        # The list shows the status; its causes are printed by the supplement.
        status=replace(supplement.status, causes=()),
        class_=reading.class_ if reading else None,
        standing=find_trace_now(supplement.audit, reading),
        mode=reading.mode if reading else None,
        point_class=reading.printed_point_class if reading else None,
        ed=ed.value if ed else None,
        low=ed.low if ed else None,
        high=ed.high if ed else None,
        range=estimate.range if estimate and ed else None,
        level=estimate.level if estimate and ed else None,
    )


def _describe_card(supplement: CardSupplement) -> SupplementDigest:
    audited = len(supplement.claims) - len(supplement.unaudited)
    title = _shorten(supplement.card.title)
    return SupplementDigest(made_at=supplement.made_at, title=title, card=None, model=None, claims=len(supplement.claims), audited=audited)


def _shorten(text: str) -> str:
    # One line: the list and the feed have no room for more.
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"


# Rendering. A supplement that fails keeps its files, and stops no other.

_TOGETHER = 40
"""Supplements of which the statements are read together."""

OpenView = Callable[[int | None], AbstractContextManager[View]]
"""Opens the registry as of an entry; as it is for None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedSupplement:
    """A supplement that could not be rendered; what there was of it is still there."""

    name: str
    error: CaveatError


@dataclass(slots=True, kw_only=True)
class RenderingOutcome:
    """Outcome of everything that was due."""

    items: dict[str, FolderItem] = field(default_factory=dict)
    """What took its place, by name."""
    failed: list[FailedSupplement] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderingOptions:
    """How supplements are rendered."""

    template: str
    """Digest of the templates."""
    workers: int
    time_limit_s: float
    render: RenderJobs | None = None
    """Draws elsewhere; None: worker processes of this machine do."""


def carry_out(
    folder: Path,
    known: Folder,
    due: Iterable[DueSupplement],
    *,
    open_view: OpenView,
    pen: RenderingOptions,
    why: Callable[[DueSupplement], str],
    progress: Callable[[int], None],
) -> RenderingOutcome:
    """Draw what is *due* into *folder*, without writing its manifest: the journal shows what was done.

    Args:
        folder: it is held by this process.
        known: what the journal begins with where there is none.
        due: what is to be rendered.
        open_view: opens the registry; one view is open at a time.
        pen: how.
        why: the reason for which a supplement takes the place of another, in words.
        progress: called with how many more supplements are done with.
    """
    outcome = RenderingOutcome()
    source = _SupplementSource(open_view, outcome, progress)
    with closing(FolderJournal(folder, known)) as journal:
        # The first round fills the second.
        for round_ in ([due_supplement for due_supplement in due if due_supplement.formats], source.again):
            chosen = {due_supplement.name: due_supplement for due_supplement in round_}
            formats = partial(_get_formats, chosen)
            neighbours = partial(_get_all_formats, chosen)
            for supplement in render_supplements(
                source.assemble(round_),
                formats,
                neighbours=neighbours,
                time_limit_s=pen.time_limit_s,
                workers=pen.workers,
                render=pen.render,
            ):
                due_supplement = chosen[supplement.subject.name]
                _finish(folder, supplement, due_supplement, outcome, journal=journal, template=pen.template, why=why(due_supplement))
                progress(1)
    return outcome


def _get_formats(chosen: Mapping[str, DueSupplement], subject: SupplementSubject) -> Sequence[OutputFormat]:
    return chosen[subject.name].formats


def _get_all_formats(chosen: Mapping[str, DueSupplement], subject: SupplementSubject) -> Collection[OutputFormat]:
    return chosen[subject.name].all_formats


class _SupplementSource:
    """Supplements in the order in which they are due, assembled one by one."""

    def __init__(self, open_view: OpenView, outcome: RenderingOutcome, progress: Callable[[int], None]) -> None:
        self._open = open_view
        self._outcome = outcome
        self._progress = progress
        self.again: list[DueSupplement] = []
        """Of which the registry says something else as of the entry of their other files; they are rendered anew, in all formats."""

    def assemble(self, due: Iterable[DueSupplement]) -> Iterator[SupplementSubject]:
        """Yield what is due, as of the entry that each is due as of; what cannot be compared is noted."""
        # Grouped by entry, because one view is open at a time. The last entry comes last.
        for size, group in groupby(
            sorted(due, key=lambda supplement: (supplement.log_size is None, supplement.log_size or 0)),
            lambda supplement: supplement.log_size,
        ):
            with self._open(size) as view:
                collector = SupplementCollector(view)
                # A few dozen are read together: one query then serves all of them.
                while stretch := list(islice(group, _TOGETHER)):
                    collector.gather(parse_identifier(supplement.name) for supplement in stretch)
                    yield from (subject for supplement in stretch if (subject := self._collect(collector, supplement)) is not None)

    def _collect(self, collector: SupplementCollector, due: DueSupplement) -> SupplementSubject | None:
        try:
            subject = collector.collect(parse_identifier(due.name))
        # Noted, so that one altered statement does not stop a folder of thousands.
        except (NotFoundError, AlteredError, InputError) as error:
            self._fail(due, _place_error(error, due.name))
            return None
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, AssertionError) as error:  # whatever one record does
            self._fail(due, _refuse(due.name, error))
            return None
        # As of that entry the registry no longer gives the record of the other files. All formats
        # are rendered anew, because all must say the same.
        if due.log_size is not None and due.before is not None and collect_facts(subject).record != due.before.record:
            there = {*due.formats, *(file.format for file in due.before.files)}
            formats = tuple(output_format for output_format in OutputFormat if output_format in there)
            self.again.append(replace(due, kinds=(DueKind.STATE, *due.kinds), formats=formats))
            return None
        return subject

    def _fail(self, due: DueSupplement, error: CaveatError) -> None:
        self._outcome.failed.append(FailedSupplement(name=due.name, error=error))
        self._progress(1)


def _finish(
    folder: Path,
    rendered_supplement: RenderedSupplement,
    due: DueSupplement,
    outcome: RenderingOutcome,
    *,
    journal: FolderJournal,
    template: str,
    why: str,
) -> None:
    """Put what was rendered in place; where a format failed, nothing of it."""
    # All formats or none: two formats of one supplement must not say different things.
    errors = [made.error for made in rendered_supplement.made if made.error is not None]
    if errors:
        outcome.failed.append(FailedSupplement(name=due.name, error=_place_error(errors[0], due.name)))
        return
    supplement = rendered_supplement.subject.supplement
    if isinstance(supplement, ChangeReport):
        raise TypeError("a change report is no supplement that becomes due")
    facts = collect_facts(rendered_supplement.subject)
    item = FolderItem(
        name=due.name,
        state=due.state,
        record=facts.record,
        template=template,
        log_size=facts.log_size,
        files=(),
        audit=facts.audit,
        summary=build_supplement_digest(supplement),
    )
    # In place and journaled now, so that a kill loses one supplement at most.
    data = {made.format: made.data for made in rendered_supplement.made if made.data is not None}
    outcome.items[due.name] = place(folder, item, data, before=due.before, fixed=due.fixed, why=why, journal=journal)


def _place_error(error: CaveatError, name: str) -> CaveatError:
    """Return *error* with the supplement's name where it is told."""
    faults = [fault if name in fault.where else replace(fault, where=f"{name}, {fault.where}") for fault in error.faults]
    return type(error)(faults)


def _refuse(name: str, error: Exception) -> CaveatError:
    return InputError(Fault("not-renderable", name, f"it cannot be assembled: {type(error).__name__}: {error}"))


# Completion: change report, list, feed, and the manifest last, because it ends the journal.

Sign = Callable[[bytes], bytes]
"""Signs a PDF."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderCompletion:
    """What a folder was completed with."""

    paths: tuple[Path, ...]
    """Of the change report, the list and the feed."""
    report: FolderReport | None
    """The change report; None where there is none to be made."""
    errors: tuple[CaveatError, ...]
    """Why the change report, or a format of it, could not be rendered."""


def begin(looked: FolderState) -> Folder:
    """Return the folder as the journal of a new one begins."""
    if looked.known is not None:
        return looked.known
    log = looked.log
    return Folder(log_origin=log.origin, log_size=log.size, root=log.root, began=log.size, items=())


def complete(
    folder: Path, looked: FolderState, *, open_view: OpenView, is_whole: bool, pen: RenderingOptions, sign: Sign | None
) -> FolderCompletion:
    """Write the change report, `index.html`, `feed.xml` and the manifest, and end the journal.

    Args:
        folder: it is held, and everything due was rendered and, if asked for, published.
        looked: what was found before that.
        open_view: opens the registry.
        is_whole: whether all of the registry was asked for; only then is there a change report, and does the next one begin here.
        pen: how it is rendered.
        sign: signs the PDF of the change report; None to leave it unsigned.
    """
    # The journal is newer than the manifest.
    items = {item.name: item for item in begin(looked).items} | {item.name: item for item in list_journaled(folder)}
    known = replace(begin(looked), items=tuple(items[name] for name in sorted(items)))
    report: FolderReport | None = None
    errors: tuple[CaveatError, ...] = ()
    # A folder that was never completed has no entry where the changes would begin.
    if is_whole and looked.is_complete:
        report, errors = _report(folder, looked, known.log_size, open_view=open_view, pen=pen, sign=sign)
    # The next report begins here. After a partial run it must not, or changes of the others would
    # never be reported.
    if is_whole:
        known = replace(known, log_size=looked.log.size, root=looked.log.root)
    if report is not None:
        # A report made again after a kill replaces its earlier line.
        known = replace(known, reports=(*(folder_report for folder_report in known.reports if folder_report.name != report.name), report))
    # Someone may have to take a file away; the list must not link to it.
    known = _forget_gone(folder, known)
    proofs = frozenset(path.name for path in folder.glob(f"*{names.PROOF}"))
    index, feed = render_index(known, proofs=proofs), render_feed(known)
    known = replace(known, index=hashlib.sha256(index).hexdigest(), feed=hashlib.sha256(feed).hexdigest())
    # Before the manifest, which holds their digests.
    replace_files([(folder / names.INDEX, index), (folder / names.FEED, feed)])
    # Only now: until here a killed command could still use the parts.
    sweep(folder)
    write_folder(folder, known)
    # Last, and a convenience only: without it all files are read once.
    write_seen(folder, list_files(known), {path: (mark, looked.states[path]) for path, mark in _list_untouched(folder, looked)})
    reported = [folder / file.path for file in (report.files if report else ())]
    return FolderCompletion(paths=(*reported, folder / names.INDEX, folder / names.FEED), report=report, errors=errors)


def _list_untouched(folder: Path, looked: FolderState) -> Iterator[tuple[str, FileMark]]:
    """Give the files that are as they were when the folder was looked at, each as what it was seen."""
    # A file that changed in the meantime is read again the next time.
    return ((path, mark) for path, mark in looked.marks.items() if find_mark(folder / path) == mark)


def _forget_gone(folder: Path, known: Folder) -> Folder:
    """Return *known* without earlier files and change reports that were removed since."""

    def keep(files: tuple[FolderFile, ...]) -> tuple[FolderFile, ...]:
        return tuple(file for file in files if (folder / file.path).is_file())

    items = (replace(item, earlier=tuple(replace(old, files=keep(old.files)) for old in item.earlier)) for item in known.items)
    reports = tuple(replace(report, files=keep(report.files)) for report in known.reports)
    return replace(known, items=tuple(items), reports=reports)


def describe(folder: Path, item: FolderItem) -> list[WrittenFile]:
    """Return the current files of *item* as they are listed and published."""
    facts = SupplementFacts(name=item.name, record=item.record, log_size=item.log_size, audit=item.audit)
    return [
        WrittenFile(
            name=item.name,
            format=file.format,
            path=folder / file.path,
            sha256=file.sha256,
            error=None,
            facts=facts,
            size_bytes=file.size_bytes,
        )
        for file in item.files
    ]


def _report(
    folder: Path, looked: FolderState, since: int, *, open_view: OpenView, pen: RenderingOptions, sign: Sign | None
) -> tuple[FolderReport | None, tuple[CaveatError, ...]]:
    """Draw what changed from *since* on; nothing where nothing of any claim did."""
    size = looked.log.size
    # No entries, no report.
    if since >= size:
        return None, ()
    try:
        with open_view(since) as before, open_view(size) as after:
            changes = collect_changes(before, after)
    except CaveatError as error:
        return None, (error,)
    # Entries that changed no claim give no report.
    if not changes.changes and not changes.erased:
        return None, ()
    return _draw_report(folder, changes, looked.wish.formats, pen, sign)


def _draw_report(
    folder: Path, changes: ChangeReport, formats: Collection[OutputFormat], pen: RenderingOptions, sign: Sign | None
) -> tuple[FolderReport | None, tuple[CaveatError, ...]]:
    jobs = [
        RenderJob(
            key=changes.identifier,
            supplement=changes,
            format=output_format,
            neighbours=tuple(other for other in OutputFormat if other in formats and other is not OutputFormat.HTML),
        )
        for output_format in OutputFormat
        if output_format in formats
    ]
    made = list(render_many(jobs, workers=pen.workers, time_limit_s=pen.time_limit_s))
    errors = tuple(rendered_file.error for rendered_file in made if rendered_file.error is not None)
    files = [
        _write(folder, changes, rendered_file.format, rendered_file.data, sign) for rendered_file in made if rendered_file.data is not None
    ]
    if not files:
        return None, errors
    return FolderReport(
        name=changes.identifier,
        since=changes.since,
        log_size=changes.log_size,
        made_at=changes.made_at,
        record=digest_record(changes),
        changed=len(changes.changes),
        newly_inverted=tuple(change.claim for change in changes.changes if change.newly_inverted),
        files=tuple(sorted(files, key=lambda file: list(OutputFormat).index(file.format))),
    ), errors


def _write(folder: Path, report: ChangeReport, format_: OutputFormat, content: bytes, sign: Sign | None) -> FolderFile:
    """Write a change report where nothing is, unless the same one is there."""
    name = report.identifier
    paths = names.list_names(name, format_, log_size=report.log_size)
    # The first free name, or the one that holds this very rendering.
    path = next(
        candidate for candidate in paths if not os.path.lexists(folder / candidate) or holds_drawing(folder / candidate, format_, content)
    )
    if not os.path.lexists(folder / path):
        replace_file(folder / path, sign(content) if sign is not None and format_ is OutputFormat.PDF else content)
    return FolderFile(format=format_, path=path, sha256=hashlib.sha256(content).hexdigest(), size_bytes=len(content))


# All commands that keep a folder go through here.


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderUpdate:
    """What a folder was brought up to date with."""

    rendered: tuple[WrittenFile, ...]
    """Files of the supplements that were rendered, also by a command that did not end."""
    published: tuple[WrittenFile, ...]
    """Files that were published."""
    has_proofs: bool
    """Whether those have their proofs; without a log key they have none."""
    current: tuple[WrittenFile, ...]
    """All files of what was asked for, rendered now or before, in the formats asked for."""
    failed: tuple[FailedSupplement, ...]
    completed: FolderCompletion

    @property
    def errors(self) -> tuple[CaveatError, ...]:
        """Why something could not be rendered."""
        return (*(supplement.error for supplement in self.failed), *self.completed.errors)


def update(
    folder: Path,
    looked: FolderState,
    *,
    open_view: OpenView,
    time_limit_s: float,
    publisher: Publisher,
    sign: bool,
    is_whole: bool,
    progress: Callable[[int], None],
    render: RenderJobs | None = None,
) -> FolderUpdate:
    """Draw what is due in *folder*, publish or sign it if asked for, and write the list, the feed and the manifest.

    Of a folder that is settled there is nothing to be done: `list_current` shows what is there.

    Args:
        folder: it is held by this process.
        looked: what was found in it.
        open_view: opens the registry.
        time_limit_s: for each file.
        publisher: records and signs; published is what `looked.wish` says.
        sign: whether PDF files are signed, with the publisher's key, although they are not published.
        is_whole: whether the change report and the next one go with this.
        progress: called with how many more supplements are done with.
        render: draws the supplements elsewhere; None: worker processes of this machine do.

    Raises:
        ConflictError: `file-in-the-way`, every file that is where a supplement belongs; nothing was changed.
    """
    # Refused before anything is written, with every file in the way at once.
    if looked.in_the_way:
        raise ConflictError([refuse_place(folder / path) for path in looked.in_the_way])
    # What a killed command rendered is put in place first, so that it is not rendered again.
    settle(folder)
    pen = RenderingOptions(template=looked.template, workers=os.cpu_count() or 1, time_limit_s=time_limit_s, render=render)
    outcome = carry_out(
        folder,
        begin(looked),
        looked.plan.due,
        open_view=open_view,
        pen=pen,
        why=lambda due: str(looked.reasons[due.name]),
        progress=progress,
    )
    journaled = list_journaled(folder)
    items = {item.name: item for item in begin(looked).items} | {item.name: item for item in journaled}
    # The journal has them in the order in which the workers finished, which differs from run to run.
    places = {name: place for place, name in enumerate(looked.plan.current)}
    rendered = _describe_all(folder, sorted(journaled, key=lambda item: (places.get(item.name, len(places)), item.name)))
    named = [items[name] for name in looked.plan.current if name in items]
    published: list[WrittenFile] = []
    has_proofs = True
    if looked.wish.publishes:
        # Also what an earlier command rendered and did not publish.
        published = _describe_all(folder, (items[name] for name in _list_unpublished(folder, looked) if name in items))
        has_proofs = publish_files(publisher, published)
    # Publishing signs by itself, after the proof; signing alone comes without one.
    elif sign and publisher.key is not None:
        sign_written(rendered, publisher.key, at=publisher.at)
    signer = partial(sign_pdf, key=publisher.key, at=publisher.at) if publisher.key and (sign or looked.wish.publishes) else None
    completed = FolderCompletion(paths=(), report=None, errors=())
    # An untouched folder is not written to.
    if rendered or published or looked.pages or looked.is_begun:
        completed = complete(folder, looked, open_view=open_view, is_whole=is_whole, pen=pen, sign=signer)
    return FolderUpdate(
        rendered=tuple(rendered),
        published=tuple(published),
        has_proofs=has_proofs,
        current=tuple(file for file in _describe_all(folder, named) if file.format in looked.wish.formats),
        failed=tuple(outcome.failed),
        completed=completed,
    )


def list_current(folder: Path, looked: FolderState) -> list[WrittenFile]:
    """Return all files of what was asked for, in the formats asked for, where nothing is due."""
    items = {item.name: item for item in begin(looked).items}
    files = _describe_all(folder, (items[name] for name in looked.plan.current if name in items))
    return [file for file in files if file.format in looked.wish.formats]


def _list_unpublished(folder: Path, looked: FolderState) -> Iterator[str]:
    """Give the names of what was rendered now or is not published yet, each once."""
    # What the journal holds was rendered by a command that did not publish it.
    wanted = {*(supplement.name for supplement in looked.plan.due), *(item.name for item in list_journaled(folder))}
    return (name for name in looked.plan.current if name in wanted)


def _describe_all(folder: Path, items: "Iterator[FolderItem] | Sequence[FolderItem]") -> list[WrittenFile]:
    formats = list(OutputFormat)
    return [file for item in items for file in sorted(describe(folder, item), key=lambda written_file: formats.index(written_file.format))]
