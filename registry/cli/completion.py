"""`caveat completion`: the script that teaches a shell the command."""

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    bash:  eval "$(caveat completion bash)"        in ~/.bashrc
    zsh:   eval "$(caveat completion zsh)"         in ~/.zshrc
    fish:  caveat completion fish | source         in config.fish
    """
    from click.shell_completion import get_completion_class

    from registry.cli.main import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(kind(cli, {}, "caveat", "_CAVEAT_COMPLETE").source())
