"""`caveat site`: a registry as a folder of files for any web host, and the check of such a folder."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from registry.cli.application import App, as_of_option, examples, pass_app, track
from registry.errors import AnswerNoError, Fault, InputError

if TYPE_CHECKING:
    from web.pages.addresses import PageSettings


@examples("site -o site", "site -o site --base https://claims.example.org", "site check site")
@click.group(invoke_without_command=True)
@click.option("-o", "--output", "folder", type=click.Path(file_okay=False, path_type=Path), help="The folder that is written.")
@click.option("--base", metavar="URL", help="Where the site will be published; without it, the folder opens from a disk.")
@click.option("--search/--no-search", "has_index", default=False, show_default=True, help="Add a search page, for up to 30,000 claims.")
@click.option(
    "--supplements",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder of published files to include as downloads.",
)
@click.option("--example", is_flag=True, help="Publish statements of the authority EXAMPLE too.")
@as_of_option
@pass_app
@click.pass_context
def site(
    ctx: click.Context, app: App, *, folder: Path | None, base: str | None, has_index: bool, supplements: Path | None, example: bool
) -> None:
    """Write the registry as a website of static files.

    The folder needs no server: open its `index.html`, or copy it to any web host. Pages have no scripts, and load nothing from other
    hosts. Written again, only pages that changed are replaced. With --search, the site has one page with a script, which finds claims by
    words when a web server serves the site (`pip install 'caveat[site]'`).
    """
    if ctx.invoked_subcommand is not None:
        return
    if folder is None:
        raise click.UsageError("name the folder that is written: -o DIR")
    from web.shelf.shelf_file import hold_claims
    from web.site.search_index import refuse_many
    from web.site.site_export import export_site, refuse_example

    settings = replace(read_settings(base), contact=app.config.contact, quorum=app.config.quorum, has_index=has_index)
    with app.view() as view, track(app, "writing pages", unit="pages") as advance:
        if base is not None:
            refuse_example(view, is_allowed=example, where="--base")
        if has_index:
            refuse_many(view)
        done = export_site(
            view,
            folder,
            settings,
            open_view=lambda size: app.ledger.view(size, log=app.log_origin),
            supplements=supplements,
            database=app.ledger.url,
            claims=partial(hold_claims, app.ledger),
            progress=advance,
        )
    for warning in done.warnings:
        app.say(f"warning: {warning}")
    document = {
        "schema": "caveat/site-written/1", "folder": str(folder), "log_size": done.log_size, "written": done.written,
        "unchanged": done.unchanged, "removed": done.removed, "warnings": list(done.warnings),
    }  # fmt: skip
    removed = f", {done.removed:,} removed" if done.removed else ""
    index = "index.html"
    app.answer(
        document,
        f"Wrote {done.written:,} files of entry {done.log_size:,}, {done.unchanged:,} unchanged{removed}. Open {folder / index}",
    )


def read_settings(base: str | None) -> "PageSettings":
    """Return the settings of a site that is published at *base*; raises InputError for what is no address."""
    from urllib.parse import urlsplit

    from web.pages.addresses import LinkStyle, PageSettings

    if base is None:
        return PageSettings(links=LinkStyle.FILES)
    parts = urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or not base.isascii() or " " in base:
        found = f"{base!r} is not the address of a site"
        raise InputError(Fault("bad-option", "--base", found, advice="write it as https://claims.example.org"))
    return PageSettings(links=LinkStyle.CLEAN, base=base.rstrip("/"))


@examples("site check site", "site check site --json")
@site.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@pass_app
def check(app: App, *, folder: Path) -> None:
    """Compare a site with the registry and follow its links.

    Every page is made again as of the entry that the site was written from. Exit code 1: a file differs, or a link leads nowhere.
    """
    from registry.present.answers import describe_fault
    from web.site.site_check import check_site

    report = check_site(app.ledger, folder)
    if report.faults:
        raise AnswerNoError(report.faults)
    newer = f" The registry has {report.newer:,} entries more." if report.newer else ""
    document = {
        "schema": "caveat/site-check/1", "folder": str(folder), "log_size": report.log_size, "newer_entries": report.newer,
        "files": report.pages, "links": report.links, "faults": [describe_fault(fault) for fault in report.faults],
    }  # fmt: skip
    sentence = (
        f"All {report.pages:,} files are those of the registry as of entry {report.log_size:,}; {report.links:,} links lead to pages."
    )
    app.answer(document, f"{sentence}{newer}")
