"""What commands share: the application object, option types, dry runs and progress bars."""

import functools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click

from registry.configuration import DEFAULT_FILE, Config, read_config
from registry.errors import AnswerNoError, CaveatError, Fault, InputError
from registry.records.model_version import ModelRef
from registry.records.record import Identifier, Kind, parse_identifier

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from registry.present.answers import Answer
    from registry.present.blocks import Block
    from registry.seal.signed_notes import VerifierKey
    from registry.seal.signing_keys import KeyRing, SigningKey
    from registry.store.ledger import Ledger
    from registry.store.log_writer import Writer
    from registry.store.registry_view import View

# One call of `caveat`.

ALL_LOGS = "all"
"""What `--log` takes for the own log and all that were taken over."""

P = ParamSpec("P")
R = TypeVar("R")
Command = TypeVar("Command", bound=click.Command)


class App:
    """One call of `caveat`."""

    def __init__(self) -> None:
        self.json = False
        self.debug = False
        self.registry: str | None = None
        self.as_of: str | None = None
        self.log: str | None = None
        self._ledger: Ledger | None = None
        self._config: Config | None = None
        self._passphrase: str | None = None

    @property
    def config(self) -> Config:
        """The configuration of this call, read once."""
        # Read when first asked for, so that `--help` works with a broken configuration.
        if self._config is None:
            self._config = read_config(Path.cwd(), url=self.registry)
        return self._config

    def work_in(self, folder: Path, *, authority: str | None) -> None:
        """Use the registry of *folder* for the rest of this call, as *authority* if that is given; nothing may have been read before.

        A registry that an option, the environment or the current folder names comes first, and *folder* has none then.
        """
        if self.config.names_registry or Path(DEFAULT_FILE).is_file():
            self._config = read_config(Path.cwd(), url=self.registry, authority=authority)
            return
        # The file in that folder names its database relative to the folder, and this call works elsewhere.
        url = f"sqlite:///{(folder / DEFAULT_FILE).resolve()}"
        self._config = read_config(folder.resolve(), url=url, authority=authority)

    @property
    def ledger(self) -> "Ledger":
        """The open ledger; raises UnavailableError if there is no registry here."""
        if self._ledger is None:
            # Imports inside functions keep `--help` fast: nothing that a command does not use is
            # loaded.
            import secrets

            from registry.store.ledger import Ledger  # SQLAlchemy: 150 ms that `--help` need not pay

            # Salts are drawn, and the clock is the configuration's, so that a fixed clock gives
            # fixed records.
            salt, clock = (lambda: secrets.token_hex(16)), self.config.now
            self._ledger = Ledger.open(self.config.url, clock=clock, salt=salt, find_key=self.find_statement_key)
        return self._ledger

    @contextmanager
    def view(self, *, by_clock: bool = False) -> Iterator["View"]:
        """A reading of the registry, as of `--as-of` if that was given, of the other registry's log that `--log` names.

        Args:
            by_clock: outcomes expire by the clock, or by the date that `--as-of` names; for lists. Without it, and as of an entry, they
                expire by the last entry that is seen, so that what is rendered depends on the log only.
        """
        # An entry is a state of the log; a date is also a day on which outcomes expire.
        as_of = parse_as_of(self.as_of)
        today = None
        if by_clock and not isinstance(as_of, int):
            today = self.config.today if as_of is None else as_of.astimezone(UTC).date()
        with self.ledger.view(as_of, log=self.log_origin, today=today) as view:
            yield view

    def views(self, *, by_clock: bool = False) -> "Iterator[tuple[str, View]]":
        """Yield a reading of each log that `--log` names, with its short name: of the own one without it, of every one with `--log all`.

        Args:
            by_clock: as `view`.
        """
        from registry.exchange.log_names import shorten_origins

        if self.log != ALL_LOGS:
            with self.view(by_clock=by_clock) as view:
                names = shorten_origins([log.origin for log in self.ledger.list_logs()])
                yield names.get(view.log_origin, view.log_origin), view
            return
        as_of = parse_as_of(self.as_of)
        if isinstance(as_of, int):
            problem = f"{as_of} is the number of an entry, and each log counts its own"
            raise InputError(Fault("bad-date", "--as-of", problem, advice="give a date with --log all, or name one log"))
        today = self.config.today if as_of is None else as_of.astimezone(UTC).date()
        logs = self.ledger.list_logs()
        names = shorten_origins([log.origin for log in logs])
        for log in logs:
            origin = None if log.is_own else log.origin
            with self.ledger.view(as_of, log=origin, today=today if by_clock else None) as view:
                yield names[log.origin], view

    @property
    def log_origin(self) -> str | None:
        """The origin of the log that `--log` names, by its origin or its short name; None for the own log.

        Raises:
            NotFoundError: none is called so.
            InputError: several are.
        """
        from registry.exchange.log_names import get_origin

        if self.log is None:
            return None
        if self.log == ALL_LOGS:
            problem = "this command reads one log"
            raise InputError(Fault("bad-option", "--log", problem, advice="name one: caveat admin log list"))
        return get_origin(self.log, [log.origin for log in self.ledger.list_logs()])

    def read_keys(self) -> "KeyRing":
        """The secret keys of this call's folder; a passphrase is taken from the environment or asked for on a terminal.

        Which of them may sign is asked of the log: `registry.registration.key_registration.get_log_keys` and `get_document_key`.
        """
        from registry.seal.key_files import read_keys

        # What a crash left is put right before a key is used.
        self.settle_keys()
        return read_keys(self.config.keys, ask=self.ask_passphrase)

    def find_statement_key(self, authority: str) -> "SigningKey | None":
        """Return the secret key that signs what *authority* states; None where none is here, and then the operator asserts it."""
        from registry.seal.key_files import read_statement_key

        self.settle_keys()
        return read_statement_key(self.config.keys, authority, ask=self.ask_passphrase)

    def settle_keys(self) -> None:
        """Put right what a crash left between the log and the folder of keys; nothing while another process is at work there."""
        from registry.seal.key_files import hold_folder

        # Without waiting: another process that holds the folder does this itself.
        with hold_folder(self.config.keys, is_waiting=False) as is_held:
            if is_held:
                self._settle_keys()

    @contextmanager
    def change_keys(self) -> Iterator[None]:
        """Hold the folder of keys while new ones are written and recorded in a transaction, then put them in their place."""
        from registry.seal.key_files import hold_folder

        with hold_folder(self.config.keys, is_waiting=True):
            # Before and after: an earlier crash first, then the keys that were just recorded.
            self._settle_keys()
            yield
            self._settle_keys()

    def _settle_keys(self) -> None:
        from registry.registration.key_registration import settle_keys
        from registry.seal.key_files import list_key_files

        # Only new key files make the registry be opened.
        if any(key_file.is_new for key_file in list_key_files(self.config.keys)):
            with self.ledger.view() as view:
                settle_keys(view, self.config.keys)

    def ask_passphrase(self) -> str | None:
        """Return what opens the secret keys: CAVEAT_PASSPHRASE, or what is asked for once on a terminal; None without either."""
        # The environment comes first, so that scripts are never asked.
        if self.config.passphrase is not None:
            return self.config.passphrase
        # A program that pipes input must not wait for a question that no one sees.
        if self._passphrase is None and sys.stdin is not None and sys.stdin.isatty():
            self._passphrase = str(click.prompt("Passphrase of the secret keys", hide_input=True, err=True))
        return self._passphrase

    def choose_passphrase(self) -> str | None:
        """Return what is to encrypt keys of a new folder: CAVEAT_PASSPHRASE, or what is asked for twice on a terminal; None for nothing."""
        if self.config.passphrase is not None:
            # An empty passphrase in the environment asks for keys that are not encrypted.
            return self.config.passphrase or None
        if sys.stdin is None or not sys.stdin.isatty():
            return None
        text = "Passphrase for the secret keys (empty for none)"
        return str(click.prompt(text, default="", show_default=False, hide_input=True, confirmation_prompt=True, err=True)) or None

    def report(self, answer: "Answer") -> None:
        """Print *answer*: its document with `--json` and where it has no blocks, else its blocks."""
        from registry.cli.terminal_output import print_blocks, print_json  # rich: 40 ms

        if self.json or answer.blocks is None:
            print_json(answer.document)
        else:
            print_blocks(answer.blocks)

    def answer(self, document: Mapping[str, Any], blocks: "Iterable[Block] | str | None" = None) -> None:
        """Print *document* and *blocks*, or one sentence, as `report` does: for a command without a presenter of its own."""
        from registry.present.answers import Answer

        self.report(Answer(document, [blocks] if isinstance(blocks, str) else blocks))

    def say(self, message: str) -> None:
        """Show a person something that is not the answer, on standard error."""
        # What is said on standard error may come from a file, too.
        from registry.present.answers import show

        click.echo(show(message), err=True)

    @property
    def is_interactive(self) -> bool:
        """Whether there is a terminal to ask on."""
        return sys.stdin is not None and sys.stdin.isatty()

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask before what cannot be undone, or may be misread; with *yes*, do not ask.

        Raises:
            InputError: there is no terminal to ask on: a missing answer does not count as yes.
            AnswerNoError: the answer is no.
        """
        if yes:
            return
        if not self.is_interactive:
            problem = "this needs your confirmation, and there is no terminal to ask on"
            raise InputError(Fault("not-a-terminal", click.get_current_context().command_path, problem, advice="add --yes if you are sure"))
        self.require_yes(question)

    def require_yes(self, question: str) -> None:
        """Ask *question* on the terminal; raises AnswerNoError for a no."""
        from registry.present.answers import show

        if not click.confirm(show(question), err=True):
            raise AnswerNoError(Fault("not-confirmed", click.get_current_context().command_path, "you answered no; nothing was recorded"))

    def close(self) -> None:
        """Let go of the database."""
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None


def parse_as_of(text: str | None, *, where: str = "--as-of") -> int | datetime | None:
    """Return the log entry or the time written in *text*, the end of a day for a date; None for None.

    Args:
        where: the option that it was given for, for messages.

    Raises:
        InputError: neither a number of an entry nor an ISO 8601 date or time.
    """
    if text is None:
        return None
    if text.isascii() and text.isdecimal():
        return int(text[:20])  # more digits than any log has entries, and fewer than Python refuses to convert
    from datetime import time

    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        problem = f"{text!r} is neither the number of a log entry nor a date such as 2026-11-21 or 2026-11-21T12:00:00Z"
        raise InputError(Fault("bad-date", where, problem)) from error
    # A day ends with its last moment, so that entries of that day are included.
    if len(text) <= len("2026-11-21"):
        moment = datetime.combine(moment.date(), time.max)
    # Without a zone a time is UTC, as all times in the log are.
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def pass_app(function: Callable[Concatenate[App, P], R]) -> Callable[P, R]:
    """Give the command its App and the options that all commands share: `--json`, `--registry`, `--debug`."""
    return click.option("--json", is_flag=True, help="Answer with one JSON document.")(_take_app(function, ("json", "as_of", "log")))


def pass_app_only(function: Callable[Concatenate[App, P], R]) -> Callable[P, R]:
    """As `pass_app`, for a command with a meaning of its own for `--json`."""
    return _take_app(function, ("as_of", "log"))


def _take_app(function: Callable[Concatenate[App, P], R], names: tuple[str, ...]) -> Callable[P, R]:
    @functools.wraps(function)
    def command(*args: P.args, **kwargs: P.kwargs) -> R:
        # The same application object for groups and commands, so that options work in both places.
        app = click.get_current_context().ensure_object(App)
        for name in (*names, "registry", "debug"):
            value = kwargs.pop(name, None)
            # An option left out must not undo the same option of the group.
            if value:
                setattr(app, name, value)
        # Before the command runs: a record could not hold such text, and the error would come late.
        _refuse_broken_text(kwargs)
        return function(app, *args, **kwargs)

    options = (
        click.option("--registry", metavar="URL", help="The registry; default: CAVEAT_REGISTRY, registry.cfg, or sqlite:///caveat.db."),
        click.option("--debug", is_flag=True, help="Show the traceback of an error."),
    )
    return functools.reduce(lambda wrapped, option: option(wrapped), reversed(options), command)


def _refuse_broken_text(options: Mapping[str, object]) -> None:
    """Bytes on the command line that are not UTF-8 arrive as lone surrogates, which no record can hold."""
    broken = [
        Fault("not-utf-8", name, f"{value!r} is not UTF-8", advice="type the text again in a UTF-8 terminal")
        for name, value in options.items()
        if isinstance(value, str) and not value.isascii() and _is_broken(value)
    ]
    if broken:
        raise InputError(broken)


def _is_broken(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


_AS_OF = click.option("--as-of", metavar="DATE|ENTRY", help="Read the registry as it was then.")


def as_of_option(function: Callable[P, R]) -> Callable[P, R]:
    """Let a command that only reads take `--as-of` and `--log`."""
    return _AS_OF(click.option("--log", metavar="NAME", help="Read this imported log instead (caveat admin log list).")(function))


def logs_option(function: Callable[P, R]) -> Callable[P, R]:
    """Let a command that lists what logs hold take `--as-of` and `--log`, which may be `all`."""
    return _AS_OF(click.option("--log", metavar="NAME|all", help="Read this imported log, or all logs here.")(function))


def reason_option(help_text: str, *, required: bool = True) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a command take the reason of a statement: `--reason` or `-m`, by this name in every command."""
    return click.option("-m", "--reason", metavar="TEXT", required=required, help=help_text)


yes_option = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")


_WORD = re.compile(r'(?:-m )?(?:[^\s"]|"[^"]*")+')
"""A word of a shell command; a reason stays on the line of its option."""


def examples(*calls: str) -> Callable[[Command], Command]:
    """Show at the end of a command's help how it is called; *calls* are without `caveat`, and a test parses each of them."""

    def add(command: Command) -> Command:
        command.epilog = "\b\nExamples:\n" + "\n".join(_fold(f"caveat {call}") for call in calls)
        return command

    return add


def _fold(call: str) -> str:
    """Return *call* indented and, where it is wider than a terminal, continued on further lines as a shell reads them."""
    lines = [" "]
    for word in _WORD.findall(call):
        # 74: an indent of two columns on a page of 80, and room for the backslash.
        if len(lines[-1]) + len(word) > 74:
            lines[-1] += " \\"
            lines.append("     ")
        lines[-1] += f" {word}"
    return "\n".join(lines)


# Option types that several commands share.

_LONGEST_MODEL = 500


class IdentifierType(click.ParamType[Identifier]):
    """An identifier of one of some kinds, its check character verified."""

    name = "id"

    def __init__(self, *kinds: Kind) -> None:
        self._kinds = kinds

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Identifier:
        """Return the identifier; a wrong one ends the command with those of the registry that may have been meant."""
        if isinstance(value, Identifier):
            return value
        try:
            return parse_identifier(str(value), *self._kinds)
        except ValueError as error:
            near = _find_used(ctx, str(value)) if ctx is not None else None
            return self.fail(f"{error}; {near}" if near else str(error), param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":  # noqa: ARG002  (Click gives all three)
        """Return the identifiers of the registry that begin with *incomplete*; none where no registry is open."""
        from click.shell_completion import CompletionItem

        app = ctx.ensure_object(App)
        # A shell asks before any command runs, so options of the group are not taken over yet.
        app.registry = ctx.params.get("registry") or ctx.find_root().params.get("registry")
        try:
            with app.ledger.view() as view:
                return [CompletionItem(name) for name in view.complete(incomplete, [kind.value for kind in self._kinds])]
        except CaveatError:
            return []
        finally:
            app.close()


def _find_used(ctx: click.Context, text: str) -> str | None:
    """Return a question that names identifiers of the registry that *text* may have meant; None where none is or no registry is open."""
    app = ctx.ensure_object(App)
    app.registry = app.registry or ctx.params.get("registry")
    try:
        with app.ledger.view() as view:
            return view.suggest(text)
    # Without a registry the identifier is wrong all the same.
    except CaveatError:
        return None


@contextmanager
def refusing(where: str) -> Iterator[None]:
    """What a record refuses while it is built from options becomes a fault of *where*."""
    try:
        yield
    except ValueError as error:
        raise InputError(Fault("not-valid", where, str(error))) from error


def shorten(path: Path) -> str:
    """Return *path* as seen from the current folder where it lies in it, else as it is."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


CLAIM = IdentifierType(Kind.CLAIM)
CARD = IdentifierType(Kind.CARD)
AUDIT = IdentifierType(Kind.AUDIT)
PROPERTY = IdentifierType(Kind.PROPERTY)
OBJECTION = IdentifierType(Kind.OBJECTION)
SPEC = IdentifierType(Kind.PROPERTY, Kind.SCORING, Kind.CONTEXT, Kind.CUES, Kind.METHOD)
CONTESTABLE = IdentifierType(Kind.CLAIM, Kind.PROPERTY, Kind.SCORING, Kind.CONTEXT, Kind.CUES, Kind.METHOD)
ANY = IdentifierType()


def parse_model(text: str, *, where: str) -> ModelRef:
    """Return the model version written as `developer/name/version`; a version may hold slashes itself. Raises InputError."""
    # Only the first two slashes part the name: a version may hold more.
    parts = [part.strip() for part in text.split("/", 2)]
    if len(text) > _LONGEST_MODEL:
        problem = f"{text[:40]!r}… is not a model version: it has {len(text):,} characters, at most {_LONGEST_MODEL} are taken"
    elif len(text.splitlines()) > 1:
        problem = f"{text!r} is not a model version: it holds a line break"
    elif len(parts) != len(("developer", "name", "version")) or not all(parts):
        problem = f"{text!r} is not a model version"
    else:
        return ModelRef(developer=parts[0], name=parts[1], version=parts[2])
    raise InputError(Fault("bad-model", where, problem))


def parse_date(text: str, *, where: str) -> date:
    """Return the day written as `2026-11-21`; raises InputError."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise InputError(Fault("bad-date", where, f"{text!r} is not a day", advice="write it as 2026-11-21")) from error


# One transaction for each command, which a dry run rolls back.

Done = TypeVar("Done")


class _TrialError(Exception):
    """Ends a transaction that was only a trial, so that nothing of it is recorded."""


def record(app: App, work: Callable[["Writer"], Done], *, dry_run: bool = False) -> Done:
    """Return what *work* returns, done in one transaction; with *dry_run* everything is checked and nothing recorded."""
    done: list[Done] = []
    try:
        with app.ledger.write(actor=app.config.authority) as writer:
            # Kept outside the transaction: a dry run ends it with an exception.
            done.append(work(writer))
            _end_if(dry_run)
    except _TrialError:
        pass
    return done[0]


def _end_if(dry_run: bool) -> None:  # noqa: FBT001  (read aloud it says what it does)
    if dry_run:
        raise _TrialError


# Keys that are given on the command line.

_Function = TypeVar("_Function", bound=Callable[..., Any])


def key_options(function: _Function) -> _Function:
    """Let a command take `--vkey` (as `vkeys`) and `--key` (as `key_files`), each any number of times."""
    vkey = click.option("--vkey", "vkeys", multiple=True, metavar="NAME+HASH+KEY", help="Believe this verifier key.")
    file = click.option(
        "--key",
        "key_files",
        multiple=True,
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Believe the verifier keys in this file, such as: caveat admin key show --public.",
    )
    return vkey(file(function))


def read_vkeys(vkeys: Sequence[str], key_files: Sequence[Path]) -> "tuple[VerifierKey, ...]":
    """Return the keys of logs that were given, each once; raises InputError for what is no key."""
    from registry.verify.verification_keys import read_given

    trust = read_given([*vkeys, *map(str, key_files)])
    # One key can be given as text and in a file.
    return tuple({str(key.vkey): key.vkey for key in trust.keys if key.vkey is not None}.values())


# Progress on standard error. Programs and files get none.


@contextmanager
def track(app: App, title: str, *, total: int | None = None, unit: str = "") -> Iterator[Callable[[int], None]]:
    """Give a function that receives how much more is done.

    The bar shows after half a second, and only when standard error is a terminal and `--json` was not asked for.
    """
    if app.json or not sys.stderr.isatty():
        yield lambda _more: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TextColumn(unit, markup=False))
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda more: bar.advance(task, more)


def count_up(advance: Callable[[int], None]) -> Callable[[int], None]:
    """Return a function that takes how much is done in all, for an *advance* that takes how much more; a smaller number begins anew."""
    done = 0

    def tell(total: int) -> None:
        nonlocal done
        advance(total - done if total >= done else 0)
        done = total

    return tell
