"""`caveat admin log tiles`: the log as files for programs (C2SP tlog-tiles)."""

from pathlib import Path

import click

from registry.cli.application import App, examples, pass_app


@examples("admin log tiles -o public", "admin log tiles -o public --json")
@click.command()
@click.option(
    "-o", "--output", "folder", required=True, type=click.Path(file_okay=False, path_type=Path), help="The folder that is written."
)
@pass_app
def tiles(app: App, *, folder: Path) -> None:
    """Write the log as tiles for any file server.

    Checkpoint, tiles of hashes and bundles of entries (C2SP tlog-tiles), of the newest signed checkpoint; also those of the logs that were
    imported from other registries. Run it again after a new checkpoint. Bundles with an erased statement are excluded.
    """
    from web.site.tile_export import export_tiles

    with app.view() as view:
        done = export_tiles(view, folder, quorum=app.config.quorum)
    document = {
        "schema": "caveat/tiles-written/1", "folder": str(folder), "written": done.written, "unchanged": done.unchanged,
        "removed": done.removed, "logs": list(done.logs),
    }  # fmt: skip
    removed = f", {done.removed:,} removed" if done.removed else ""
    logs = "1 log" if len(done.logs) == 1 else f"{len(done.logs):,} logs"
    app.answer(document, f"Wrote {done.written:,} files of {logs}, {done.unchanged:,} unchanged{removed}: {', '.join(done.logs)}")
