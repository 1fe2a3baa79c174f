"""`caveat report`: supplements, change reports, and a folder of supplements that is kept up to date."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from registry.cli.application import ANY, App, as_of_option, examples, parse_as_of, pass_app_only, yes_option
from registry.cli.fleet_parts import check_fleet, fleet_option, load_fleet_part
from registry.errors import CaveatError, Fault, InputError, NotFoundError
from registry.records.record import Identifier, Kind

if TYPE_CHECKING:
    from registry.folder.folder_plan import FolderRequest, FolderState
    from registry.folder.folder_update import FailedSupplement, FolderUpdate
    from registry.folder.supplement_publishing import Publisher, SupplementCollector, SupplementSubject, WrittenFile
    from registry.records.statement import OutputFormat
    from registry.report.render_workers import RenderJobs
    from registry.seal.signing_keys import SigningKey
    from registry.store.registry_view import View

# `caveat report --since`: a change report.

_DAY = len("2026-11-21")
_MOST_NAMED = 3
_CLASHING = {
    "sources": "--from draws a report again without a registry; --since makes one of a registry.",
    "seals": "--confidential shows sealed specifications, of which a change report shows none.",
    "forms": "--form is about one claim; a change report is about many.",
    "stale": "--stale makes its change report itself, since the folder was last gone through; --since makes only that.",
    "fleet": "--since makes one report, which this machine draws.",
    "publish": "--publish records that supplements of claims and cards were published; a change report is about neither. Sign it: --sign.",
}


def refuse_with_since(options: Mapping[str, Any]) -> str | None:
    """Return what `--since` says, None without it; raises UsageError next to an option that does not go with it."""
    since: str | None = options["since"]
    # Refused, because one of the two options would be ignored.
    for name, why in _CLASHING.items():
        if since is not None and options.get(name):
            raise click.UsageError(why)
    return since


@contextmanager
def compare(app: App, since: str, subjects: Sequence[Identifier]) -> "Iterator[tuple[Iterable[SupplementSubject], int, list[CaveatError]]]":
    """Give the change report from *since* to `--as-of` (now), only of *subjects* if there are any, as `caveat report` renders it."""
    from registry.folder.supplement_changes import collect_changes
    from registry.folder.supplement_publishing import name_subject

    # `--as-of` is the end of the report, `--since` its beginning; both read the same log.
    with app.ledger.view(parse_since(since), log=app.log_origin) as before, app.view() as after:
        # An empty report is no error, so there is only a warning.
        if before.log_size == after.log_size:
            app.say(f"warning: --since {since}: nothing was recorded since; the last entry that is read is {after.log_size}")
        claims = _list_changed_claims(after, subjects) if subjects else None
        report = collect_changes(before, after, claims=claims, scope=_describe(subjects))
        yield [name_subject(report)], 1, []


def parse_since(text: str) -> int | datetime:
    """Return the entry or time that *text* says a report begins after: for a date, what was there when that day began, in UTC.

    Raises:
        InputError: it is neither.
    """
    moment = parse_as_of(text, where="--since")
    # A date means the beginning of that day, so the report starts with the last entry before it.
    if isinstance(moment, datetime) and len(text) <= _DAY:
        return datetime.combine(moment.date(), time.min, tzinfo=UTC) - timedelta(seconds=1)
    return moment or 0


def _list_changed_claims(view: "View", subjects: Sequence[Identifier]) -> list[str]:
    """Return the claims named and those of the cards named, each once."""
    from registry.folder.supplement_publishing import list_claims_of

    claims: dict[str, None] = {}
    for subject in subjects:
        if subject.kind is Kind.CLAIM:
            claims[subject.bare] = None
        elif subject.kind is Kind.CARD:
            claims |= dict.fromkeys(list_claims_of(view, subject))
        else:
            problem = (
                f"names a {subject.kind.name.lower()}; change reports are about claims (CLM-…), or cards (CRD-…) with all their claims"
            )
            raise InputError(Fault("bad-identifier", str(subject), problem))
    if not claims:
        problem = "it has no registered claims, so there is nothing to compare"
        raise InputError(Fault("nothing-to-report", ", ".join(map(str, subjects)), problem, advice="caveat claim list"))
    return list(claims)


def _describe(subjects: Sequence[Identifier]) -> str | None:
    """Return what a report is limited to, in words; None for nothing."""
    if not subjects:
        return None
    named = [f"the claims of {subject.bare}" if subject.kind is Kind.CARD else subject.bare for subject in subjects]
    left = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    return ", ".join(named[:_MOST_NAMED]) + left


# `caveat report` for a folder that is kept up to date: with a list, a feed and a manifest.

_MOST_LISTED = 20
"""Failures, and files on a terminal, that are listed one by one; the rest are counted."""
NO_KEY = (
    "published without proofs: there is no log key here to sign the log with\n"
    "  fix: name its folder (CAVEAT_KEYS) or make a key (caveat admin key add), and publish the same files again"
)

BuildWish = Callable[["View"], "FolderRequest"]


def keep(
    app: App,
    folder: Path,
    wish: BuildWish,
    *,
    check: bool,
    is_whole: bool,
    lists_all: bool,
    sign: bool,
    publisher: "Publisher",
    render: "RenderJobs | None" = None,
) -> None:
    """Bring *folder* up to date, or with *check* only report what is due; ends the command with its exit code.

    Args:
        wish: what is asked for, from a reading of the registry.
        is_whole: whether all of the registry is gone through, as with `--stale` and no name.
        lists_all: whether the files asked for are reported, and not only those that were rendered now.
        sign: whether PDF files are signed although they are not published.
        publisher: who publishes and signs.
        render: draws elsewhere; None: this machine does.
    """
    from registry.folder.folder_manifest import hold_folder
    from registry.folder.folder_plan import inspect_folder

    # A folder that this call makes is removed again if nothing was rendered.
    is_new = not folder.is_dir()
    # The registry is read before the folder is made: a wrong identifier leaves no folder behind.
    if is_new or check:
        with app.view() as view:
            request = wish(view)  # a registry that has nothing of it leaves no folder behind
            if check:
                _describe_due(app, inspect_folder(folder, view, request))
                return
        folder.mkdir(parents=True, exist_ok=True)
    # Held from the inspection to the end, so that no other process changes what was seen.
    with hold_folder(folder):
        with app.view() as view:
            # The view is closed before rendering, which opens views as of other entries.
            looked = inspect_folder(folder, view, wish(view))
        try:
            if looked.is_settled:
                _describe_nothing(app, folder, looked, lists_all=lists_all)
            else:
                _update(app, folder, looked, is_whole=is_whole, lists_all=lists_all, sign=sign, publisher=publisher, render=render)
        finally:
            if is_new and lists_all and not any(folder.iterdir()):
                folder.rmdir()  # nothing could be drawn


def _describe_due(app: App, looked: "FolderState") -> None:
    """Print what is due, with its reason; the answer is no when something is."""
    for supplement in looked.plan.due:
        click.echo(f"{supplement.name}  {looked.reasons[supplement.name]}")
    if looked.is_begun:
        app.say("a command that was drawing here did not end; the next one goes on where it stopped")
    for path in looked.pages:
        click.echo(f"{path}  it was altered in the folder")
    for path in looked.in_the_way:
        click.echo(f"{path}  it is in the way: it is not the file that was rendered here")
    if looked.is_settled:
        _describe_nothing(app, None, looked, lists_all=False)
        return
    _describe_damaged(app, looked)
    _describe_count(app, looked, "are due")
    # With `--check` something due is the answer no.
    click.get_current_context().exit(1)


def _describe_nothing(app: App, folder: Path | None, looked: "FolderState", *, lists_all: bool) -> None:
    from registry.folder.folder_update import list_current

    if lists_all and folder is not None:
        _print_files([file.path for file in list_current(folder, looked)])
    total = looked.plan.total
    app.say(
        f"nothing is due: {'the' if total == 1 else 'all'} {total:,} supplement{' is' if total == 1 else 's are'} as the registry has them"
    )
    if _describe_damaged(app, looked):
        # An altered file that cannot be rendered again is a fault also where nothing is due.
        click.get_current_context().exit(1)


def _describe_damaged(app: App, looked: "FolderState") -> bool:
    """Tell of altered files that cannot be drawn again as they were; return whether there are any."""
    for path in looked.damaged[:_MOST_LISTED]:
        app.say(f"ALTERED: {path} is not the file that was rendered here, and cannot be rendered again as it was; remove it")
    if len(looked.damaged) > _MOST_LISTED:
        app.say(f"ALTERED: and {len(looked.damaged) - _MOST_LISTED:,} more files that cannot be rendered again")
    return bool(looked.damaged)


def _describe_count(app: App, looked: "FolderState", verb: str) -> None:
    from registry.folder.folder_plan import count_reasons

    total = looked.plan.total
    counted = count_reasons(looked.reasons.values())
    app.say(f"{len(looked.plan.due):,} of {total:,} supplements {verb}{f': {counted}' if counted else ''}")


def _update(
    app: App,
    folder: Path,
    looked: "FolderState",
    *,
    is_whole: bool,
    lists_all: bool,
    sign: bool,
    publisher: "Publisher",
    render: "RenderJobs | None",
) -> None:
    from registry.cli.application import track
    from registry.folder.folder_update import update

    for page in looked.pages:
        app.say(f"ALTERED: {page} is not the page that was written here; it is written again")
    with track(app, "drawing supplements", total=len(looked.plan.due), unit="supplements") as progress:
        updated = update(
            folder,
            looked,
            open_view=partial(_open_view, app, looked.log.size),
            time_limit_s=app.config.time_limit_s,
            publisher=publisher,
            sign=sign,
            is_whole=is_whole,
            progress=progress,
            render=render,
        )
    # Asked for one by one, all files are listed; with `--stale` only what changed.
    files = (
        updated.current
        if lists_all
        else (*updated.rendered, *(written_file for written_file in updated.published if written_file not in updated.rendered))
    )
    _print_files([*(file.path for file in files), *(() if lists_all else updated.completed.paths)])
    if not updated.has_proofs:
        app.say(NO_KEY)
    if not lists_all:
        _describe_count(app, looked, "were due")
    _describe_failed(app, updated, looked)


def _print_files(paths: Sequence[Path]) -> None:
    """Print *paths*: all of them to a program, and to a person on a terminal as many as can be read."""
    shown = paths[:_MOST_LISTED] if sys.stdout.isatty() and len(paths) > _MOST_LISTED + 1 else paths
    for path in shown:
        click.echo(str(path))
    if len(shown) < len(paths):
        click.echo(f"and {len(paths) - len(shown):,} more files in {paths[-1].parent}")


def _open_view(app: App, size: int, as_of: int | None) -> "AbstractContextManager[View]":
    """Open the registry as of an entry, or as it was when the folder was looked at; what was recorded since is for the next time."""
    return app.ledger.view(size if as_of is None else as_of, log=app.log_origin)


def _describe_failed(app: App, updated: "FolderUpdate", looked: "FolderState") -> None:
    errors: Sequence[CaveatError] = updated.errors
    for error in errors[:_MOST_LISTED]:
        app.say(str(error))
    if len(errors) > _MOST_LISTED:
        app.say(f"and {len(errors) - _MOST_LISTED:,} more like these")
    _count_failed(app, updated.failed, looked)
    if looked.plan.unknown:
        app.say(f"the registry has no word of {', '.join(looked.plan.unknown[:_MOST_LISTED])}; their files are left as they are")
    if _describe_damaged(app, looked) or errors or looked.plan.unknown:
        # Not evaluated as a whole: exit code 3, whatever was written.
        click.get_current_context().exit(3)


def _count_failed(app: App, failed: "Sequence[FailedSupplement]", looked: "FolderState") -> None:
    if not failed:
        return
    there = {item.name for item in looked.known.items} if looked.known else set()
    kept = sum(supplement.name in there for supplement in failed)
    files = f"; of {kept:,} of them the files that were there still are, and say what was so then" if kept else ""
    app.say(f"{len(failed):,} of {len(looked.plan.due):,} could not be rendered{files}; they are due again the next time")


# `caveat report`.

_FORMATS = ("pdf", "html", "json")
_TOGETHER = 40
"""Supplements of which the statements are read together."""
_NOT_WITH_STALE = ("--from", "--confidential", "--form", "--all", "--as-of")


@examples("report CLM-LAB-2026-0001-E --pdf --form eu-gpai-code", "report CRD-LAB-2026-0001-J --publish --sign --yes",
          "report --stale -o site --fleet postgresql://fleet@db.example.org/fleet")  # fmt: skip
@click.command()
@click.argument("subjects", type=ANY, nargs=-1, metavar="ID…")
@click.option("--all", "everything", is_flag=True, help="Every card and every claim of the registry.")
@click.option("--from", "sources", type=click.Path(exists=True, dir_okay=False, path_type=Path), multiple=True, metavar="FILE",
              help="Draw again what a supplement (PDF, HTML or JSON) carries; no registry is read.")  # fmt: skip
@click.option("--since", metavar="ENTRY|DATE", help="Only the change report: changes since then, of all claims or of ID…, up to --as-of.")
@click.option("--pdf", is_flag=True, help="Only PDF (with --html or --json: these too).")
@click.option("--html", is_flag=True, help="Only HTML.")
@click.option("--json", is_flag=True, help="Only JSON.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("supplements"),
    show_default=True,
    help="The folder of the files.",
)
@click.option(
    "--confidential",
    "seals",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    metavar="SEAL",
    help="Show the sealed specification that this seal file opens, on pages marked CONFIDENTIAL; may be given again.",
)
@click.option("--form", "forms", multiple=True, metavar="NAME",
              help="Add this reporting form, filled from the record (eu-gpai-code); may be given again.")  # fmt: skip
@click.option("--publish", is_flag=True, help="Record in the log that these files are published, and add the proof to each.")
@yes_option
@click.option("--sign/--no-sign", default=None, help="Sign the PDF files. Without it: with --publish, if there is a document key here.")
@click.option("--stale", is_flag=True, help="Keep the folder up to date: draw only what is new or changed there.")
@click.option("--check", is_flag=True, help="With --stale: draw nothing, list what is due; exit code 1 if anything is.")
@as_of_option
@fleet_option
@pass_app_only
def report(app: App, /, *, subjects: tuple[Identifier, ...], output: Path, **options: Any) -> None:
    """Write the supplements of claims and cards.

    Name claims (CLM-…) or cards (CRD-…, with all their claims). Only due supplements are rendered; index.html lists the folder.
    Published and signed files are never overwritten: newer ones are called NAME.entry-N. A failure does not stop the others; the exit
    code is then 3. Of many files a terminal lists the first 20, and a pipe gets all.

    With --stale the folder is kept up to date: without ID, every revision of every claim and card, a feed and a report of changes. A
    second run continues where the first stopped. With --fleet, workers draw; this machine writes the files and signs.
    """
    from registry.records.statement import OutputFormat

    since = refuse_with_since(options)
    check_fleet(options["fleet"])
    if options["publish"] and app.log:
        raise click.UsageError("--publish records in this registry's own log; --log reads another.")
    # Without a choice, all three.
    chosen = [OutputFormat(name) for name in _FORMATS if options[name]] or [OutputFormat(name) for name in _FORMATS]
    _refuse_combinations(app, options | {"subjects": subjects})
    # Before rendering, which can take minutes.
    if options["publish"]:
        _refuse_publishing(app)
    # A key may be missing or locked by a passphrase, so it is found before rendering, too.
    key = None
    if not options["check"]:
        key = _find_key(app, sign=options["sign"], publish=options["publish"], draws_pdf=OutputFormat.PDF in chosen)
    if options["publish"] and not options["check"]:
        app.confirm("Record in the log that these files are published, for good?", yes=options["yes"])
    publisher = _build_publisher(app, key, publishes=options["publish"] and not options["check"])
    # These files are as of another entry or another source, so they are not part of a kept folder.
    if since or app.as_of is not None or options["sources"] or options["seals"] or options["forms"]:
        _draw_apart(app, subjects, chosen, output, options=options, publisher=publisher)
        return
    _refuse_nothing(subjects, everything=options["everything"] or options["stale"])
    is_kept = options["stale"]
    keep(
        app,
        output,
        partial(_build_wish, subjects, chosen, is_kept=is_kept, publishes=options["publish"], proves=bool(publisher.ring.log)),
        check=options["check"],
        # Only a complete run moves the beginning of the next change report.
        is_whole=is_kept and not subjects,
        lists_all=not is_kept,
        sign=key is not None,
        publisher=publisher,
        render=_find_renderer(app, options["fleet"]),
    )


def _find_renderer(app: App, fleet: str | None) -> "RenderJobs | None":
    """Return what draws on the fleet at *fleet*; None without one."""
    return None if fleet is None else partial(load_fleet_part("draw"), fleet, time_limit_s=app.config.time_limit_s, tell=app.say)


def _draw_apart(
    app: App,
    subjects: "Sequence[Identifier]",
    formats: "Sequence[OutputFormat]",
    output: Path,
    *,
    options: Mapping[str, Any],
    publisher: "Publisher",
) -> None:
    """Draw what is not kept up to date: of an earlier entry, of files, confidential files, a change report."""
    from registry.cli.application import track
    from registry.folder.supplement_publishing import publish_files, sign_written, write_supplements

    with ExitStack() as stack:
        # The collection is only prepared; nothing is read before the context is entered.
        collected = _collect(app, subjects, everything=options["everything"], sources=options["sources"])
        collected = compare(app, options["since"], subjects) if options["since"] else collected
        supplement_subjects, count, erasures = stack.enter_context(collected)
        progress = stack.enter_context(track(app, "drawing supplements", total=count * len(formats), unit="files"))
        opened = _add_forms(_add_openings(supplement_subjects, options["seals"]), options["forms"])
        limit = app.config.time_limit_s
        supplements = write_supplements(opened, formats, output, time_limit_s=limit, workers=os.cpu_count() or 1, progress=progress)
    # Nothing could be rendered: then the reason is the command's error.
    if erasures and not supplements:
        raise erasures[0]
    if options["publish"]:
        # A change report names no claim or card, so no publication can name it.
        others = {supplement.name for supplement in supplements if supplement.facts is not None and not supplement.facts.is_recordable}
        for name in sorted(others):
            app.say(f"not recorded: {name} is about no one claim or card, so the log cannot say that it was published; sign it (--sign)")
        if not publish_files(publisher, supplements):
            app.say(NO_KEY)
    elif publisher.key is not None:
        sign_written(supplements, publisher.key, at=publisher.at)
    _tell(app, supplements, erasures)


def _build_publisher(app: App, key: "SigningKey | None", *, publishes: bool) -> "Publisher":
    from registry.folder.supplement_publishing import Publisher
    from registry.seal.signing_keys import KeyRing

    # Keys are read only for publishing: reading them may ask for a passphrase.
    ring = app.read_keys() if publishes else KeyRing()
    actor = app.config.authority if publishes else ""
    return Publisher(ledger=lambda: app.ledger, actor=actor, ring=ring, key=key, at=app.config.now())


def _build_wish(
    subjects: "Sequence[Identifier]", formats: "Sequence[OutputFormat]", view: "View", *, is_kept: bool, publishes: bool, proves: bool
) -> "FolderRequest":
    """Return what is asked of the folder; raises as `Collector.collect` where the registry has no supplement of a subject."""
    from registry.folder.folder_plan import FolderRequest

    names = None
    if subjects:
        wanted = _expand(view, subjects, everything=False)
        # As identifiers with and without revision, since the folder knows both.
        names = frozenset(map(str, wanted))
        if not is_kept:
            _refuse_unknown(view, subjects)
    return FolderRequest(formats=tuple(formats), asked=names, newest_only=not is_kept, publishes=publishes, proves=proves)


def _refuse_unknown(view: "View", subjects: "Sequence[Identifier]") -> None:
    """Raise what drawing one of *subjects* would, for those that the registry has no text of."""
    from registry.folder.supplement_publishing import SupplementCollector
    from registry.store.supplement_states import find_states

    states = find_states(view)
    bare = {name.partition("@")[0] for name in states}
    for subject in subjects:
        if str(subject) not in states and str(subject) not in bare:
            # Collecting raises the error that names what is near.
            SupplementCollector(view).collect(subject)


def _refuse_nothing(subjects: "Sequence[Identifier]", *, everything: bool) -> None:
    if not subjects and not everything:
        problem = "nothing to report on"
        advice = "name claims or cards, or give --all; caveat claim list shows what there is"
        raise InputError(Fault("nothing-to-report", "caveat report", problem, advice=advice))


def _refuse_combinations(app: App, options: Mapping[str, Any]) -> None:
    """Raise UsageError for options of which one would be passed over."""
    if options["check"] and not options["stale"]:
        raise click.UsageError("--check goes with --stale.")
    keys = {"--from": "sources", "--confidential": "seals", "--form": "forms", "--all": "everything", "ID": "subjects"}
    used = {name for name, key in keys.items() if options[key]} | ({"--as-of"} if app.as_of is not None else set())
    used |= {f"--{name}" for name in ("publish", "sign") if options[name]}
    # Each combination names the option that would be ignored.
    for option, why, refused in (
        ("stale", "--stale keeps a folder as the registry is now, of all of it or of the IDs given", _NOT_WITH_STALE),
        ("check", "--check draws nothing", ("--sign",)),
        ("fleet", "workers draw what a folder is kept up to date with", ("--from", "--confidential", "--as-of")),
        ("sources", "--from draws what a file carries, and no registry is read for it", ("ID", "--all", "--as-of")),
    ):
        if options[option] and (clash := [option_name for option_name in refused if option_name in used]):
            raise click.UsageError(f"{why}: it takes no {clash[0]}.")


def _refuse_publishing(app: App) -> None:
    """Raise ConflictError before anything is drawn where this authority cannot publish in this log."""
    from registry.registration.key_registration import refuse_publishing

    with app.ledger.view() as view:
        refuse_publishing(view, app.config.authority)


def _find_key(app: App, *, sign: bool | None, publish: bool, draws_pdf: bool) -> "SigningKey | None":
    """Return what PDF files are signed with; None where they are not. It may be missing, so it is asked for before anything is drawn."""
    from registry.registration.key_registration import get_document_key

    if sign and not draws_pdf:
        problem, advice = "only PDF files are signed, and none is rendered", "give --pdf too, or leave --sign out"
        raise InputError(Fault("bad-option", "--sign", problem, advice=advice))
    # By default only published files are signed.
    if not draws_pdf or not (publish if sign is None else sign):
        return None
    ring = app.read_keys()
    # Signing was not asked for, so its absence is said and is no error.
    if sign is None and ring.document is None:
        app.say("the PDF files are not signed: there is no document key here (caveat admin key add makes one)")
        return None
    with app.ledger.view() as view:
        return get_document_key(view, ring)


@contextmanager
def _collect(
    app: App, subjects: Sequence[Identifier], *, everything: bool, sources: Sequence[Path]
) -> "Iterator[tuple[Iterable[SupplementSubject], int, list[CaveatError]]]":
    """Give the supplements to draw, how many at most, and why others, of which a statement was erased, cannot be; the last grows meanwhile.

    The registry is read as they are taken, so that one of any size needs no more memory than a few of its supplements.
    """
    from registry.folder.supplement_publishing import SupplementCollector, read_supplements

    erasures: list[CaveatError] = []
    if sources:
        read = read_supplements(sources)
        yield read, len(read), erasures
        return
    _refuse_nothing(subjects, everything=everything)
    # `--as-of` prints what superseded a supplement since, which only the latest view knows.
    with app.view() as view, app.ledger.view(log=app.log_origin) as latest:
        wanted = _expand(view, subjects, everything=everything)
        # One subject needs its own state only; of many, all states are found at once.
        collector = SupplementCollector(view, now=latest if app.as_of else None, subjects=() if len(wanted) == 1 else None)
        assembled = _assemble(collector, wanted, erasures)
        # Named by their entry, so that they never take the place of the current files.
        named = (replace(subject, is_of_entry=True) for subject in assembled) if app.as_of is not None else assembled
        yield named, len(wanted), erasures


def _assemble(
    collector: "SupplementCollector", wanted: "Iterable[Identifier]", erasures: "list[CaveatError]"
) -> "Iterator[SupplementSubject]":
    """Yield the supplement of each of *wanted*; those of which a statement was erased are added to *erasures*."""
    # A few dozen at a time bound the memory.
    rest = iter(wanted)
    while stretch := list(islice(rest, _TOGETHER)):
        collector.gather(stretch)
        for subject in stretch:
            try:
                yield collector.collect(subject)
            except NotFoundError as error:
                # Erased text stops one supplement and not the others.
                if error.code != "body-erased":
                    raise
                erasures.append(NotFoundError([replace(fault, where=f"{subject}, {fault.where}") for fault in error.faults]))


def _add_openings(supplement_subjects: "Iterable[SupplementSubject]", seals: Sequence[Path]) -> "Iterable[SupplementSubject]":
    """Give *supplement_subjects* with what the seal files open beside the public record; as it is without any."""
    from registry.registration.specification_registration import read_seal
    from registry.report.status_account import add_openings

    openings = [read_seal(path).opening for path in seals]
    # Without openings the record stays the very same object.
    return (
        (
            replace(supplement_subject, supplement=add_openings(supplement_subject.supplement, openings))
            for supplement_subject in supplement_subjects
        )
        if openings
        else supplement_subjects
    )


def _add_forms(supplement_subjects: "Iterable[SupplementSubject]", names: Sequence[str]) -> "Iterable[SupplementSubject]":
    """Give *supplement_subjects* with the reporting forms *names*; as it is without any."""
    from registry.report.reporting_forms import add_forms

    if not names:
        return supplement_subjects
    return (replace(subject, supplement=add_forms(subject.supplement, names)) for subject in supplement_subjects)


def _expand(view: "View", subjects: Sequence[Identifier], *, everything: bool) -> "list[Identifier]":
    """Return the subjects with the claims of each card, each once, in order."""
    from registry.folder.supplement_publishing import list_claims_of
    from registry.records.record import parse_identifier

    wanted: dict[str, Identifier] = {}
    if everything:
        subjects = [parse_identifier(card.payload.card) for card in view.list_cards()]
        subjects += [parse_identifier(summary.claim) for summary in view.list_claims()]
    for subject in subjects:
        if subject.kind not in (Kind.CARD, Kind.CLAIM):
            problem = f"names a {subject.kind.name.lower()}; supplements are made of claims (CLM-…) and cards (CRD-…)"
            raise InputError(Fault("bad-identifier", str(subject), problem))
        wanted[str(subject)] = subject
        # A card brings its claims, because its supplement links to theirs.
        if subject.kind is Kind.CARD:
            wanted |= {claim: parse_identifier(claim) for claim in list_claims_of(view, subject)}
    return list(wanted.values())


def _tell(app: App, written_files: "Sequence[WrittenFile]", erasures: "Sequence[CaveatError]") -> None:
    failed = [written_file for written_file in written_files if written_file.error is not None]
    for file in written_files:
        if file.error is None:
            click.echo(str(file.path))
    for error in (*erasures, *(file.error for file in failed)):
        app.say(str(error))
    if failed:
        app.say(f"{len(failed)} of {len(written_files)} files could not be rendered")
    if failed or erasures:
        # 3: something could not be made here.
        click.get_current_context().exit(3)
