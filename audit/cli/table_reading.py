"""What is said of logs and tables on the command line, and the columns of a person's own table, guessed and confirmed."""

import csv
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

import click

from audit.cli.analysis_options import parse_where
from registry.errors import Fault, InputError
from registry.present.blocks import Block, Table, Title

if TYPE_CHECKING:
    from audit.sources.column_guess import TableGuess
    from audit.sources.log_rows import LogOptions
    from audit.statistics.responses import ScoreTable
    from registry.cli.application import App

# Options of `caveat audit table` and `caveat audit conclude`: one wording for logs and for tables.

Command = TypeVar("Command", bound=Callable[..., object])

_MATTERS = "May be repeated."


def map_options(command: Command) -> Command:
    """Give *command* what may be said of a person's own table: `maps`, `arm_names`, `values` and `sheet`."""
    options = (
        click.option("--map", "maps", metavar="ROLE=COLUMN,...", multiple=True, help="Which column of your own table has which role."),
        click.option("--arms", "arm_names", metavar="ARM=VALUE,...", multiple=True, help="Which value of the arm's column is which arm."),
        click.option("--score-values", "values", metavar="TEXT=NUMBER,...", multiple=True, help="What a text is as a score, such as C=1."),
        click.option("--sheet", metavar="NAME", help="Which sheet of a spreadsheet; default: the only one with data."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def reading_options(command: Command) -> Command:
    """Give *command* what may be said of logs and tables: what `build_reading` takes."""
    options = (
        click.option(
            "--where",
            metavar="COLUMN=VALUE[,VALUE...]",
            multiple=True,
            callback=lambda _context, _parameter, values: parse_where(values),
            help=f"Of your own table, keep only rows with one of these values in COLUMN. {_MATTERS}",
        ),
        click.option("--scorer", metavar="NAME", help="Which scorer or metric of a log (or column of a table) gives the scores."),
        click.option("--key", metavar="NAME", help="Which entry of a score that is an object; of the harness: which filter."),
        click.option("--arm-field", metavar="FIELD", help="Where a log says the arm itself, such as metadata.condition."),
        click.option("--context-field", metavar="FIELD", help="Where a log says the context; default: one context per file."),
        click.option("--task-field", metavar="FIELD", help="Where a log says the task; default: the sample's identifier."),
        click.option("--family-field", metavar="FIELD", help="Where a log says the family of a task; default: none are declared."),
        click.option("--unfinished", is_flag=True, help="Take a log also when it says that it did not finish."),
    )
    for option in reversed(options):
        command = option(command)
    return map_options(command)


def build_reading(sources: Sequence[str], options: Mapping[str, Any]) -> "tuple[tuple[str, ...], LogOptions]":
    """Return the paths that *sources* name, and what the user says of them.

    Args:
        sources: `PATH`, `ARM=PATH` or `ARM/SPEC=PATH`; a file with a name that has `=` is taken as it is.
        options: what `reading_options` gives.

    Raises:
        InputError: an option or a source is not of its form.
    """
    from audit.sources.log_import import split_sources

    split = split_sources(sources)
    return tuple(source.path for source in split), replace(
        parse_map_options(options),
        arms={source.path: source.arm for source in split if source.arm},
        specs={source.path: source.spec for source in split if source.spec},
        arm_field=options["arm_field"],
        context_field=options["context_field"],
        task_field=options["task_field"],
        family_field=options["family_field"],
        scorer=options["scorer"],
        key=options["key"],
        where=options["where"],
        unfinished=options["unfinished"],
    )


def parse_map_options(options: Mapping[str, Any]) -> "LogOptions":
    """Return what `map_options` gives; raises InputError where an option is not of its form."""
    from audit.sources.log_rows import LogOptions

    maps = _parse_pairs(options["maps"], "--map", "task=prompt_id,arm=condition,score=passed")
    arms = _parse_pairs(options["arm_names"], "--arms", "test=Eval,deploy=Prod")
    # A text may hold an equals sign, a number never does.
    values = _parse_pairs(options["values"], "--score-values", "pass=1,fail=0", at_last=True)
    return LogOptions(
        mapping=_refuse_conflicts(maps, "--map") or None,
        # Several values may be one arm, but no value is two arms.
        arm_names=_refuse_conflicts([(value, arm) for arm, value in arms], "--arms"),
        values={name: _parse_number(name, text) for name, text in _refuse_conflicts(values, "--score-values").items()},
        sheet=options["sheet"],
    )


def read_scores(
    tables: Sequence[Path],
    options: Mapping[str, Any],
    *,
    score: str,
    where: Mapping[str, tuple[str, ...]],
    range_: tuple[float, float],
) -> "ScoreTable":
    """Return score tables as they are, and a person's own tables by what `map_options` says of them, as one checked table.

    Raises:
        InputError: an option is not of its form.
        TableError: with every fault of the files.
    """
    from audit.sources.log_import import SourceFormat, find_format, read_logs
    from audit.sources.score_table import read_table

    reading = parse_map_options(options)
    paths = [str(path) for path in tables]
    is_own = all(path.suffix for path in tables) and find_format(paths, reading) is SourceFormat.OWN_TABLE
    if not is_own:
        return read_table(tables, low=range_[0], high=range_[1], score=score, where=where)
    mapping = {**({} if score == "score" else {"score": score}), **(reading.mapping or {})}
    return read_logs(paths, replace(reading, mapping=mapping or None, where=where), low=range_[0], high=range_[1]).table


def _parse_pairs(texts: Sequence[str], option: str, example: str, *, at_last: bool = False) -> list[tuple[str, str]]:
    """Return the pairs of a list such as `a=1,b=2`; an item with a comma is written as in a CSV file, `"a,b=1"`."""
    pairs = []
    faults = []
    for item in (item for text in texts for record in csv.reader([text]) for item in record):
        name, sign, value = item.rpartition("=") if at_last else item.partition("=")
        if sign and name.strip() and value.strip():
            pairs.append((name.strip(), value.strip()))
        else:
            expected = f"expected something like {example}, found {item!r}"
            faults.append(Fault("bad-option", option, expected, advice=f"write {option} {example}"))
    if faults:
        raise InputError(faults)
    return pairs


def _refuse_conflicts(pairs: Sequence[tuple[str, str]], option: str) -> dict[str, str]:
    meanings: dict[str, str] = {}
    for name, value in pairs:
        if meanings.setdefault(name, value) != value:
            problem = f"{name} is given as {meanings[name]} and as {value}"
            raise InputError(Fault("bad-option", option, problem, advice="keep one of them"))
    return meanings


def _parse_number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if number - number != 0:  # neither NaN nor infinite
        advice = "write for example --score-values C=1"
        raise InputError(Fault("bad-option", f"--score-values {name}", f"{text!r} is not a number", advice=advice))
    return number


# The columns of a person's own table where `--map` does not say them: guessed, shown, and confirmed by the person.


def settle_mapping(app: "App", paths: Sequence[str], reading: "LogOptions", command: Sequence[str], *, yes: bool) -> "LogOptions":
    """Return *reading* with the columns of the tables at *paths*; unchanged for logs, with `--map`, and for Caveat's own columns.

    Args:
        app: the call.
        paths: the sources.
        reading: what the user says of them.
        command: the words of this command but for `--map` and `--arms`, for the command to paste.
        yes: take a complete guess without asking.

    Raises:
        InputError: the guess was not confirmed, and there is no terminal to ask on; the advice is the command with `--map`.
    """
    from audit.sources.column_guess import guess_columns
    from audit.sources.log_import import SourceFormat, build_one_sided, find_format
    from audit.sources.own_table import REQUIRED, find_own_names, find_twice, find_uncomputed
    from audit.sources.sheet_files import read_sheet

    if reading.mapping is not None or find_format(paths, reading) not in {SourceFormat.TABLE, SourceFormat.OWN_TABLE}:
        return reading
    sheet = read_sheet(Path(paths[0]), sheet=reading.sheet)
    has_arm = bool(reading.arms)
    if all(role in find_own_names(sheet.columns) or (has_arm and role == "arm") for role in REQUIRED):
        return reading
    guess = guess_columns(sheet, has_arm=has_arm)
    # The column that is missing is probably one that was never computed, or one that occurs twice.
    if guess.missing and (faults := [*find_uncomputed(sheet, sheet.columns), *find_twice(sheet, sheet.columns)]):
        raise InputError(faults)
    if len(guess.arm_values) == 1:
        raise InputError(build_one_sided(sheet.name, len(sheet.rows), guess.arm_values[0]))
    if not app.json:
        _print(present_guess(guess, sheet.name, sheet.kind))
    arms = dict(reading.arm_names) or dict(guess.arms)
    is_complete = replace(guess, arms=arms).is_complete
    if yes and is_complete:
        return replace(reading, mapping=guess.mapping, arm_names=arms)
    if app.json or sys.stdin is None or not sys.stdin.isatty():
        raise InputError(_build_fault(guess, arms, sheet.name, command, yes=yes))
    mapping = {**guess.mapping, **_ask_columns(guess)}
    arms = arms if is_complete else _ask_arms(sheet.list_texts(mapping["arm"]) if "arm" in mapping else ())
    app.require_yes("Take these columns?")
    app.say(f"the same without a question: {_write_command(command, mapping, arms)}")
    return replace(reading, mapping=mapping, arm_names=arms)


def _print(blocks: Iterator[Block]) -> None:
    from registry.cli.terminal_output import print_blocks

    print_blocks(blocks)


def present_guess(guess: "TableGuess", name: str, kind: str) -> Iterator[Block]:
    """Present each column with its probable role, why, and examples; then the arms."""
    yield Title(f"{name} ({kind}): columns as Caveat reads them")
    rows = [
        (column.column, column.role or "–", column.why, ", ".join(example[:16] for example in column.examples)) for column in guess.columns
    ]
    yield Table(("column", "role", "why", "examples"), rows)
    if guess.missing:
        yield f"No column found for: {', '.join(guess.missing)}."
    for value in guess.arm_values:
        side = guess.arms.get(value, value if value in {"test", "deploy"} else None)
        yield f"{value}: " + (f"arm {side}" if side else "which arm this is, Caveat cannot know")


def _build_fault(guess: "TableGuess", arms: Mapping[str, str], name: str, command: Sequence[str], *, yes: bool) -> Fault:
    assignments = ", ".join(f"{role} = {column}" for role, column in guess.mapping.items())
    if guess.missing:
        problem = f"Caveat found no column for {' and '.join(guess.missing)}" + (f"; it guesses {assignments}" if assignments else "")
    elif not replace(guess, arms=arms).is_complete:
        problem = f"Caveat guesses {assignments}, and cannot know which value is the test-like arm: {', '.join(guess.arm_values)}"
    else:
        problem = f"Caveat guesses {assignments}; nothing was written" + ("" if yes else " (--yes takes the guess)")
    mapping = {**dict.fromkeys(guess.missing, "COLUMN"), **guess.mapping}
    spare = [value for value in guess.arm_values if value not in arms and value not in {"test", "deploy"}]
    # What is not known stays a word in capitals: a command that can be pasted must not hold a guess at the direction of a difference.
    sides = dict(arms) | ({} if len(arms) or not spare else {"VALUE": "test", "OTHER-VALUE": "deploy"})
    return Fault("mapping-needed", name, problem, advice=_write_command(command, mapping, sides))


def _write_command(command: Sequence[str], mapping: Mapping[str, str], arms: Mapping[str, str]) -> str:
    from audit.sources.column_guess import join_pairs

    words = [*command, "--map", join_pairs(mapping.items())]
    if arms:
        words += ["--arms", join_pairs((arm, value) for value, arm in arms.items())]
    return " ".join(map(quote, words))


def _ask_columns(guess: "TableGuess") -> dict[str, str]:
    """Return by role the columns that a person names for what no column was found for."""
    free = [column.column for column in guess.columns if column.role is None]
    return {role: str(click.prompt(f"Column of the {role}", type=click.Choice(free), err=True)) for role in guess.missing}


def _ask_arms(values: Sequence[str]) -> dict[str, str]:
    """Return by value the arm that a person says it is."""
    if len(values) < 2:
        return {}
    test = str(click.prompt("Which value is the test-like arm", type=click.Choice(list(values)), err=True))
    others = [value for value in values if value != test]
    deploy = others[0] if len(others) == 1 else str(click.prompt("Which is the deployment arm", type=click.Choice(others), err=True))
    return {test: "test", deploy: "deploy"}
