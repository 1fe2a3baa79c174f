"""`caveat serve`: a registry over HTTP, to be read."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from registry.cli.application import App, examples, pass_app_only
from registry.configuration import DEFAULT_FILE
from registry.errors import Fault, UnavailableError

if TYPE_CHECKING:
    from web.witness.witness_answers import Witness


@examples("serve", "serve --port 8080 --processes 2", "serve --host 0.0.0.0 --behind-proxy --base https://claims.example.org")
@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=click.IntRange(1, 65535), default=8017, show_default=True, help="The port to listen at.")
@click.option("--base", metavar="URL", help="The address that readers know; feeds and citations name it.")
@click.option(
    "--tls",
    nargs=2,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="CERT KEY",
    help="Encrypt with this certificate.",
)
@click.option("--behind-proxy", is_flag=True, help="A proxy in front of it encrypts.")
@click.option("--reads", type=click.IntRange(0), default=100, show_default=True, help="Requests a second of one address; 0: any number.")
@click.option(
    "--processes", type=click.IntRange(1, 32), default=1, show_default=True, help="Processes that answer, each with its own memory."
)
@click.option("--read-only", is_flag=True, help="Cosign for no log, whatever registry.cfg says.")
@click.option(
    "--supplements",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder of published files to offer as downloads.",
)
@click.option("--example", is_flag=True, help="Serve statements of the authority EXAMPLE to other machines too.")
@pass_app_only
def serve(
    app: App,
    *,
    host: str,
    port: int,
    base: str | None,
    tls: tuple[Path, Path] | None,
    behind_proxy: bool,
    reads: int,
    processes: int,
    read_only: bool,
    supplements: Path | None,
    example: bool,
) -> None:
    """Serve the registry over HTTP, to be read.

    Pages, search with exact counts, feeds, and an interface for programs below `/api/1/`. Readers need no account, and nothing can be
    written. It follows the registry: new entries appear without a restart. End it with Ctrl-C. If registry.cfg names the keys of other
    logs (`[witness] logs`), it also cosigns their checkpoints.

    One process makes one page at a time. Several use more cores, and each counts the requests of an address by itself (`--reads`).
    """
    try:
        from web.server.limits import Limits
        from web.server.run import ServeRequest, check_request, is_loopback, open_reader, run_server
    except ModuleNotFoundError as error:
        found = f"this needs the library {error.name}, which is not installed here"
        raise UnavailableError(Fault("part-not-installed", error.name or "library", found, advice="pip install 'caveat[web]'")) from error
    from web.cli.site_command import read_settings
    from web.site.site_export import refuse_example

    wanted = ServeRequest(
        host=host,
        port=port,
        base=read_settings(base).base if base else None,
        certificate=tls or None,
        is_behind_proxy=behind_proxy,
        contact=app.config.contact,
        limits=Limits(reads=reads, is_behind_proxy=behind_proxy),
        quorum=app.config.quorum,
        supplements=supplements,
        processes=processes,
    )
    check_request(wanted)
    with app.view() as view:
        if behind_proxy or not is_loopback(host):
            refuse_example(view, is_allowed=example, where="--host")
        size = view.log_size
    witness = _build_witness(app) if app.config.witnessed_logs and not read_only else None
    scheme = "https" if tls else "http"
    app.say(f"Serving {DEFAULT_FILE if not app.config.names_registry else 'the registry'} ({size:,} entries) at {scheme}://{host}:{port}/")
    ledger = open_reader(app.config.url)
    try:
        run_server(ledger, wanted, witness)
    finally:
        ledger.close()


def _build_witness(app: App) -> "Witness":
    from registry.seal.signed_notes import parse_vkey
    from web.witness.witness_answers import Witness

    keys = [parse_vkey(text, where="registry.cfg, [witness] logs") for text in app.config.witnessed_logs]
    app.say(f"Cosigning checkpoints of {', '.join(dict.fromkeys(key.name for key in keys))}")
    return Witness(app.ledger, app.read_keys(), actor=app.config.authority, keys=keys)
