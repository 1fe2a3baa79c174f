"""`caveat init`: a registry of one's own."""

from pathlib import Path

import click

from registry.cli.app import App, pass_app
from registry.records.authority import Authority, Role


@click.command()
@click.option("--code", default=None, metavar="CODE", help="Code of your authority: 2 to 12 capital letters or digits. Default: EXAMPLE.")
@click.option("--name", default=None, help="Name of your authority.")
@click.option("--role", type=click.Choice([role.value for role in Role]), default="auditor", show_default=True)
@pass_app
def init(app: App, *, code: str | None, name: str | None, role: str) -> None:
    """Make a registry and its authority in the current folder.

    Writes registry.cfg if there is none, creates the tables, and registers the authority. Doing it twice changes nothing.
    """
    from registry.store.schema import upgrade

    authority = Authority(code=code or app.config.authority, name=name or code or app.config.authority, role=Role(role))
    written = _write_config(app, authority.code)
    upgrade(app.config.url)
    with app.ledger.write(actor=authority.code) as writer:
        known = writer.find_authority(authority.code)
        if known is None:
            writer.append(authority)
    app.report(
        {"schema": "caveat/init/1", "registry": app.config.url, "authority": authority.code, "new": known is None, "config": written},
        lambda console: console.print(
            f"Registry {app.config.url} is ready; you speak as {authority.code}.\n"
            "Next: caveat card add CARD.pdf --title … --publisher …   then: caveat claim add claims.yaml"
        ),
    )


def _write_config(app: App, code: str) -> str | None:
    """Write registry.cfg with what this call uses; return its path, None if there is one already."""
    path = Path("registry.cfg")
    if path.exists():
        return None
    path.write_text(f"[registry]\nurl = {app.config.url}\nauthority = {code}\n", encoding="utf-8")
    return str(path)
