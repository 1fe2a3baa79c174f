"""`caveat init`: a registry of one's own."""

from pathlib import Path

import click

from registry.cli.app import App, pass_app
from registry.cli.parameters import refusing
from registry.records.authority import Authority, Role


@click.command()
@click.option("--code", default=None, metavar="CODE", help="Code of your authority: 2 to 12 capital letters or digits. Default: EXAMPLE.")
@click.option("--name", default=None, help="Name of your authority.")
@click.option(
    "--role", type=click.Choice([role.value for role in Role]), default="auditor", show_default=True, help="What your authority is."
)
@pass_app
def init(app: App, *, code: str | None, name: str | None, role: str) -> None:
    """Make a registry and its authority in the current folder.

    Writes registry.cfg if there is none, creates the tables, and registers the authority. Doing it twice changes nothing.
    """
    from registry.store.engine import describe_url, refuse_memory
    from registry.store.schema import upgrade

    with refusing("--code"):
        authority = Authority(code=code or app.config.authority, name=name or code or app.config.authority, role=Role(role))
    refuse_memory(app.config.url)
    upgrade(app.config.url)
    with app.ledger.write(actor=authority.code) as writer:
        known = writer.find_authority(authority.code)
        if known is None:
            writer.append(authority)
    written = _write_config(app, authority.code)
    registry, speaker = describe_url(app.config.url), authority.code if written else app.config.authority
    other = f"\nTo speak as {authority.code}, set `authority = {authority.code}` in registry.cfg." if speaker != authority.code else ""
    app.report(
        {
            "schema": "caveat/init/1",
            "registry": registry,
            "authority": authority.code,
            "speaks_as": speaker,
            "new": known is None,
            "config": written,
        },
        lambda console: console.print(
            f"Registry {registry} is ready; you speak as {speaker}.{other}\n"
            "Next: caveat card add CARD.pdf --title … --publisher …   then: caveat claim propose CARD",
            soft_wrap=True,
        ),
    )


def _write_config(app: App, code: str) -> str | None:
    """Write registry.cfg with what this call uses; return its path, None if there is one already."""
    path = Path("registry.cfg")
    if path.exists():
        return None
    path.write_text(f"[registry]\nurl = {app.config.url}\nauthority = {code}\n", encoding="utf-8")
    return str(path)
