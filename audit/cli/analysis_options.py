"""Options that several analysis commands share, the plan they come to, and the finding that `--audit` records."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from registry.cli.application import AUDIT, App
from registry.errors import Fault, InputError
from registry.records.module_findings import FindingBody
from registry.records.record import Identifier
from registry.records.specification import ModelApi

if TYPE_CHECKING:
    from registry.records.analysis_plan import Plan

# The options that several commands share, and the plan they come to: one wording and one default for each.

Command = TypeVar("Command", bound=Callable[..., object])

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


class _Table(click.Path):
    """A score table, or a run folder, which stands for the table that `caveat audit score` wrote into it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path of the table; a folder without one ends the command with what makes it."""
        folder = Path(value)
        if not (folder / "responses.db").is_file():
            return super().convert(value, param, ctx)
        if not (folder / "scores.csv").is_file():
            self.fail(f"{str(value)!r} is a run that is not scored. Next: caveat audit score {value}", param, ctx)
        return folder / "scores.csv"


TABLE = _Table(exists=True, dir_okay=False, path_type=Path)

_PLAN = {
    "contexts": click.option("--contexts", type=click.Choice(["random", "fixed", "nested"]), help="What contexts are; default: random."),
    "margin": click.option("--margin", type=float, metavar="NUMBER", help="Materiality margin δ; default: 0.05 × range."),
    "level": click.option("--level", type=float, metavar="SHARE", help="Nominal coverage of the intervals; default: 0.95."),
    "rater_limit": click.option(
        "--rater-limit",
        type=float,
        metavar="SHARE",
        help="Accuracy of raters above which P_deploy is not defensible as specified; default: 0.75.",
    ),
    "replicates": click.option("--replicates", type=int, metavar="N", help="Bootstrap replicates; default: 10000."),
    "seed": click.option("--seed", type=int, metavar="N", help="Seed of the bootstrap; default: 0."),
}


def table_options(command: Command) -> Command:
    """Give *command* its tables and what to read of them: `tables`, `range_` (None if not given), `score` and `where`."""
    tables = click.argument("tables", metavar="TABLE|RUN...", nargs=-1, required=True, type=TABLE)
    where = click.option(
        "--where",
        metavar="COLUMN=VALUE[,VALUE...]",
        multiple=True,
        callback=lambda _context, _parameter, values: parse_where(values),
        help="Keep only rows with one of these values in COLUMN, any column of the file. May be repeated.",
    )
    return tables(score_options(where(command)))


def score_options(command: Command) -> Command:
    """Give *command* what to read of score tables: `range_` (None if not given) and `score`."""
    score = click.option("--score", metavar="COLUMN", default="score", show_default=True, help="The column of scores.")
    range_ = click.option("--range", "range_", nargs=2, type=float, metavar="LOW HIGH", help="The possible scores; default: 0 1.")
    return range_(score(command))


def arm_options(command: Command) -> Command:
    """Give *command* the names of the two sides, as `test` and `deploy`."""
    deploy = click.option("--deploy", metavar="ARM", default="deploy", show_default=True, help="The deployment-continuous arm.")
    return click.option("--test", metavar="ARM", default="test", show_default=True, help="The test-like arm.")(deploy(command))


def plan_options(*names: str) -> Callable[[Command], Command]:
    """Give a command these parts of a plan as options, None where not given: `build_plan` fills in the defaults."""

    def decorate(command: Command) -> Command:
        for name in reversed(names):
            command = _PLAN[name](command)
        return command

    return decorate


def audit_option(command: Command) -> Command:
    """Give *command* `audit`, the identifier of the audit that the result becomes a finding of; None where not given."""
    return click.option("--audit", type=AUDIT, metavar="AUD-…", help="Record the result as a finding of this audit.")(command)


def build_plan(options: Mapping[str, Any]) -> "Plan":
    """Return the plan that *options* come to; None means the default.

    Raises:
        InputError: a value is out of its range, or two do not go together.
    """
    from registry.codec.canonical_documents import from_document
    from registry.records.analysis_plan import Plan

    return from_document(Plan, {name: value for name, value in options.items() if value is not None}, where="options")


def parse_where(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the values to keep by column; several options for one column are taken together.

    Raises:
        InputError: a text has no `=`, or nothing before it.
    """
    by_column: dict[str, tuple[str, ...]] = {}
    faults = []
    for text in texts:
        column, sign, values = text.partition("=")
        if not sign or not column.strip():
            advice = "write for example --where model=gpt-5 or --where context_id=chat,agent"
            faults.append(Fault("bad-option", "--where", f"expected COLUMN=VALUE, found {text!r}", advice=advice))
            continue
        wanted = tuple(value.strip() for value in values.split(","))
        by_column[column.strip()] = tuple(dict.fromkeys((*by_column.get(column.strip(), ()), *wanted)))
    if faults:
        raise InputError(faults)
    return by_column


# The options of a command whose calls keep to limits of their own, as probe and model judge have them.


def api_option(text: str) -> Callable[[Command], Command]:
    """Return the decorator that adds the option for the API of an endpoint, with *text* as its help."""
    return click.option(
        "--api",
        type=click.Choice([api.value for api in ModelApi]),
        callback=lambda _context, _option, value: None if value is None else ModelApi(value),
        help=text,
    )


def send_key_option(of: str = "A ") -> Callable[[Command], Command]:
    """Return the option that allows a host the key; *of*: for which of the command's engines, such as `Judge: a `."""
    return click.option(
        "--send-key-to",
        "send_key_to",
        metavar="HOST",
        multiple=True,
        envvar="CAVEAT_SEND_KEY_TO",
        help=f"{of}host of a replay file that may get your key (or CAVEAT_SEND_KEY_TO). May be repeated.",
    )


def list_key_hosts(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the hosts that may get the key: those of `--send-key-to`, and of an address that the command line itself names."""
    base_url = options.get("base_url")
    return (*options["send_key_to"], *((base_url,) if base_url else ()))


def call_options(answer: str, work: str) -> Callable[[Command], Command]:
    """Give a command the options of its calls, under the names that `audit.cli.model_calls` and `audit.cli.model_calls` read.

    Args:
        answer: what one call gives, such as `one classification`.
        work: what the calls make up, such as `a probe`.
    """
    seconds = click.FloatRange(1, 3600)
    options = (
        click.option("--max-tokens", metavar="N", type=click.IntRange(16), help=f"Output tokens of {answer}; default: 1024."),
        click.option("--max-calls", metavar="N", type=click.IntRange(1), help="Calls to make now, at most; running again goes on."),
        click.option(
            "--max-usd", metavar="USD", type=click.FloatRange(0, min_open=True), help="Dollars to spend now, at most; needs --prices."
        ),
        click.option("--prices", metavar="FILE", type=FILE, help="Prices of models, for dollars (caveat admin schema prices)."),
        click.option("--batch", is_flag=True, help="By batches: cheaper, and may take a day."),
        click.option("--time-out", "timeout_s", metavar="SECONDS", type=seconds, default=600, show_default=True, help="Of a request."),
        send_key_option(),
        click.option(
            "--concurrency", metavar="N", type=click.IntRange(1), default=64, show_default=True, help="Calls under way at once, at most."
        ),
        click.option("--retry-failed", is_flag=True, help="Ask again where a call failed."),
        click.option("--repeat-lost", is_flag=True, help=f"Ask again what was in flight when {work} was killed; it may be billed twice."),
        click.option("--dry-run", is_flag=True, help="Say how many calls it would take, and make none."),
    )

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


# Recording what a module found, for the commands that take `--audit`.


def record_findings(app: App, audit: Identifier | None, bodies: Sequence[FindingBody], *, source: str) -> None:
    """Record *bodies* as findings of *audit*, all or none, and say so on stderr; without an audit, nothing is recorded.

    Raises:
        CaveatError: the audit is not registered, or has its outcome already.
    """
    if audit is None:
        return
    from audit.protocol.audit_record import add_finding

    with app.ledger.write(actor=app.config.authority) as writer:
        added = [add_finding(writer, audit.bare, body, source=source)[1] for body in bodies]
    for is_new in added:
        done = "recorded" if is_new else "recorded already"
        app.say(f"{done} as a finding of {audit.bare}; its outcome, once imported, takes it into account")


def record_finding(app: App, audit: Identifier | None, body: FindingBody, *, source: str) -> None:
    """Record *body* by itself as `record_findings` does."""
    record_findings(app, audit, (body,), source=source)
