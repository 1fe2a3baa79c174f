"""`caveat db` and `caveat rebuild`: the tables under the registry."""

import click

from registry.cli.app import App, pass_app


@click.group()
def db() -> None:
    """The database: bring its tables up to date, back, or compare them with what they should be."""


@db.command()
@click.option("--revision", default="head", show_default=True, help="The revision of the tables to go to.")
@pass_app
def upgrade(app: App, *, revision: str) -> None:
    """Bring the tables up to date; nothing recorded is touched."""
    from registry.store.engine import describe_url, refuse_memory
    from registry.store.schema import check, upgrade

    refuse_memory(app.config.url)
    upgrade(app.config.url, revision)
    state = check(app.config.url)
    app.report(
        {"schema": "caveat/db/1", "registry": describe_url(app.config.url), "revision": state.current},
        lambda console: console.print(f"{describe_url(app.config.url)} is at revision {state.current}."),
    )


@db.command()
@click.argument("revision")
@pass_app
def downgrade(app: App, *, revision: str) -> None:
    """Take the tables back to an earlier revision; refused where recorded statements would be lost."""
    from registry.store.engine import describe_url, refuse_missing
    from registry.store.schema import downgrade

    refuse_missing(app.config.url)
    downgrade(app.config.url, revision)
    app.report(
        {"schema": "caveat/db/1", "registry": describe_url(app.config.url), "revision": revision},
        lambda console: console.print(f"{describe_url(app.config.url)} is at revision {revision}."),
    )


@db.command("check")
@pass_app
@click.pass_context
def check_(ctx: click.Context, app: App) -> None:
    """Compare the tables with what they should be; exit code 1 if they differ."""
    from registry.store.engine import refuse_missing
    from registry.store.schema import check

    refuse_missing(app.config.url)
    state = check(app.config.url)
    document = {
        "schema": "caveat/db-check/1",
        "current": state.current,
        "head": state.head,
        "is_current": state.is_current,
        "differences": list(state.differences),
    }
    words = "up to date" if state.is_current else "not up to date; next: caveat db upgrade"
    if state.differences and state.current == state.head:
        words = "the tables are not as they should be; next: caveat rebuild URL replays the log into sound ones"
    app.report(
        document, lambda console: console.print("\n".join([f"revision {state.current} of {state.head}: {words}", *state.differences]))
    )
    ctx.exit(0 if state.is_current else 1)


@click.command()
@click.argument("target", metavar="URL")
@pass_app
def rebuild(app: App, *, target: str) -> None:
    """Replay the log of the registry into the empty database at URL, verifying every leaf on the way."""
    from registry.cli.progress import track
    from registry.store.engine import describe_url, refuse_memory
    from registry.store.rebuild import rebuild

    refuse_memory(target)
    with track(app, "replaying the log", unit="entries") as progress:
        outcome = rebuild(app.config.url, target, progress)
    from registry.codec.documents import to_document

    app.report(
        {"schema": "caveat/rebuild/1", **to_document(outcome)},
        lambda console: console.print(f"Replayed {outcome.entries} entries into {describe_url(target)}; every leaf is what it was."),
    )
