"""The command `caveat`: finds its groups by entry points, runs one, and ends with an exit code."""

import os
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution
from typing import Any

import click

from registry.cli.application import App, examples
from registry.errors import CaveatError, Fault, find_near, format_faults, suggest

# Commands are found by entry points and loaded when they are called, so that `--help` answers
# within 0.2 s. `audit` adds commands to these groups without being imported here.

_GROUP = "caveat.commands"

_LONGEST_SUMMARY = 60


@cache
def find_commands(group: str = _GROUP) -> dict[str, EntryPoint]:
    """Return the commands that this installation offers under *group*, by name."""
    try:
        installed = distribution("caveat").entry_points
    # From a checkout without installation there is nothing to find.
    except PackageNotFoundError:
        return {}
    return {point.name: point for point in installed.select(group=group)}


class LazyGroup(click.Group):
    """A group whose commands are loaded when they are asked for."""

    def __init__(self, *args: Any, entry_points: str = _GROUP, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._entry_points = entry_points
        self.sections: Mapping[str, Mapping[str, str]] = {}
        """Of commands that need not be loaded for a list of them, the first line of their help, by name and by heading."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, sorted."""
        return sorted({*super().list_commands(ctx), *find_commands(self._entry_points)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command called *cmd_name*; None if there is none."""
        known_command = super().get_command(ctx, cmd_name)
        # Commands of the group itself come before those of entry points.
        if known_command is not None:
            return known_command
        point = find_commands(self._entry_points).get(cmd_name)
        if point is None:
            return None
        command: click.Command = point.load()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands by section; commands in no section, such as plug-ins, are loaded and listed last."""
        listed = {name for section in self.sections.values() for name in section}
        further = {
            name: command.get_short_help_str(_LONGEST_SUMMARY)
            for name in self.list_commands(ctx)
            if name not in listed and (command := self.get_command(ctx, name)) is not None and not command.hidden
        }
        sections = {**self.sections, "Commands": further}
        # One width for all sections, so that the columns of the page are in line.
        width = max((len(name) for section in sections.values() for name in section), default=0)
        for heading, section in sections.items():
            if section:
                with formatter.section(heading):
                    formatter.write_dl([(name.ljust(width), summary) for name, summary in section.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="caveat", message="caveat %(version)s")
@click.option("--registry", metavar="URL", help="The registry; default: CAVEAT_REGISTRY, registry.cfg, or sqlite:///caveat.db.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.option("-v", "--verbose", is_flag=True, help="Log files, databases, requests and cache decisions on standard error.")
@click.pass_context
def cli(ctx: click.Context, *, registry: str | None, debug: bool, verbose: bool) -> None:
    """Register, audit and publish the claims of AI system cards.

    \b
    Start here:   caveat demo            a worked example, offline
    Then:         caveat init            a registry of your own in this folder
                  caveat card add CARD   and: claim add, audit new, report
    """
    app = ctx.ensure_object(App)
    app.registry, app.debug = registry, debug
    if verbose:
        from registry.cli.standard_streams import log_to_stderr

        log_to_stderr()
    # The database is closed however the command ends.
    ctx.call_on_close(app.close)


def main(sections: Mapping[str, Mapping[str, str]] | None = None) -> None:
    """Run `caveat` and exit: 0 yes or done, 1 the answer is no, 2 wrong usage or bad input, 3 could not be evaluated here.

    Args:
        sections: the first line of the help of commands, by name and by heading; commands in none are loaded to list them.
    """
    from registry.cli.standard_streams import keep_streams

    cli.sections = sections or {}
    # Before anything can print.
    with keep_streams():
        _run(App(), cli, "caveat")


def main_verify() -> None:
    """Run only `caveat verify`, as the command `caveat-verify` of the distribution of that name, and exit as `main` does."""
    from registry.cli.standard_streams import keep_streams
    from registry.cli.verify_command import verify

    # Its examples are those of `caveat verify`, without the one for a registry, which needs the full distribution.
    lines = (verify.epilog or "").replace("caveat verify", "caveat-verify").splitlines()
    verify.epilog = "\n".join(line for line in lines if "--registry" not in line)
    command = click.version_option(package_name="caveat-verify", message="caveat-verify %(version)s")(verify)
    with keep_streams():
        _run(App(), command, "caveat-verify")


def _run(app: App, command: click.Command, name: str) -> None:
    """Run the command that was typed, and exit with its code."""
    try:
        # Also `python -m caveat` is called `caveat` in help and messages.
        exit_code = command.main(obj=app, prog_name=name, standalone_mode=False)
        # A full disk shows only when buffers are written.
        if sys.stdout is not None:
            sys.stdout.flush()
        sys.exit(exit_code if isinstance(exit_code, int) else 0)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        # The parser ended before it came to the option.
        app.json = app.json or "--json" in sys.argv
        _end(app, error, (_describe_usage(error),), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        # 130 is 128 plus SIGINT, as shells report it.
        sys.exit(130)
    except CaveatError as error:
        _end(app, error, error.faults, error.exit_code)
    except ModuleNotFoundError as error:
        problem = f"this needs the library {error.name}, which is not installed here"
        _end(app, error, (Fault("part-not-installed", error.name or "library", problem),), 3)
    except OSError as error:
        place = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else "file system"
        # Exit code 3: nothing was evaluated, so neither yes nor no would be true.
        problem = f"it cannot be read or written: {error.strerror or error}"
        fault = Fault("file-not-accessible", place, problem, advice="check path, permissions and free space")
        _end(app, error, (fault,), 3)
    except MemoryError as error:
        problem = f"this needs more memory than there is: {error}" if str(error) else "this needs more memory than there is"
        fault = Fault("out-of-memory", "memory", problem)
        _end(app, error, (fault,), 3)
    except Exception as error:  # noqa: BLE001  (the last resort: no traceback ever reaches a user unasked)
        fault = Fault("internal-error", type(error).__name__, str(error) or "no message")
        _end(app, error, (fault,), 3)


def _describe_usage(error: click.ClickException) -> Fault:
    """Return wrong usage as a fault: which option or argument of which command, and a name that exists where one is near."""
    context = (error.ctx if isinstance(error, click.UsageError) else None) or _find_context()
    command, path = context.command, context.command_path
    advice = f"{path} --help"
    match error:
        case click.NoSuchCommand():
            near = find_near(error.command_name, command.list_commands(context) if isinstance(command, click.Group) else ())
            return Fault(
                "unknown-command", path, f"found {error.command_name!r}", advice=f"did you mean {path} {near[0]}?" if near else advice
            )
        case click.NoSuchOption():
            known = [name for param in command.params for name in (*param.opts, *param.secondary_opts) if name.startswith("-")]
            problem = f"found {error.option_name}"
            return Fault("unknown-option", path, problem, advice=suggest(error.option_name, known) or advice)
        case click.MissingParameter():
            # The help of an option says what to give; Click has none for arguments.
            wanted = f"it is needed: {error.param.help}" if isinstance(error.param, click.Option) else "expected a value, found none"
            return Fault("option-missing", f"{path} {_name_parameter(error)}".rstrip(), wanted, advice=advice)
        case click.BadParameter():
            return Fault("bad-option", f"{path} {_name_parameter(error)}".rstrip(), error.message, advice=advice)
        case _:
            return Fault("bad-option", path, error.format_message(), advice=advice)


def _find_context() -> click.Context:
    """Return the context of the command that was typed: Click leaves it out where an option lacks its value."""
    context = click.Context(cli, info_name="caveat")
    for word in sys.argv[1:]:
        if isinstance(context.command, click.Group) and (command := context.command.get_command(context, word)) is not None:
            context = click.Context(command, info_name=word, parent=context)
    return context


def _name_parameter(error: click.BadParameter) -> str:
    """Return the option or argument that *error* is about as it is typed: the longest of its names, or the word of the usage line."""
    if isinstance(error.param, click.Option):
        return max(error.param.opts, key=len)
    if error.param is not None and error.ctx is not None:
        return error.param.make_metavar(error.ctx)
    return error.param_hint if isinstance(error.param_hint, str) else " ".join(error.param_hint or ())


def _end(app: App, error: Exception, faults: tuple[Fault, ...], exit_code: int) -> None:
    # Wrong usage is no defect of which a traceback would say anything.
    if app.debug and not isinstance(error, click.ClickException):
        raise error
    # A program that asked for JSON reads its errors as JSON, too.
    if app.json:
        import json

        from registry.present.answers import fault_document

        click.echo(json.dumps(fault_document(faults), indent=2), err=True)
    else:
        from registry.present.answers import show

        click.echo(show(format_faults(faults)), err=True)
    sys.exit(exit_code)


# `caveat admin completion`.


@examples("admin completion bash")
@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash:  eval "$(caveat admin completion bash)"        in ~/.bashrc
    zsh:   eval "$(caveat admin completion zsh)"         in ~/.zshrc
    fish:  caveat admin completion fish | source         in config.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(kind(cli, {}, "caveat", "_CAVEAT_COMPLETE").source())
