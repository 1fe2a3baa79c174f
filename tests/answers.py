"""Every document that a command prints with `--json` in the tests is validated against the JSON Schema of its format.

`watch_answers` puts the check into the one function that prints documents, in the process of the tests and in the server that forks the
commands of the documentation: no answer can escape it.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import click
from jsonschema_rs import Draft202012Validator, meta

from registry.cli import terminal_output
from registry.cli.registry_commands import list_answer_formats
from registry.present.answer_formats import AnswerFormat

_PRINT = terminal_output.print_json
_NO_ANSWER = {"audit new": "an audit file with blanks to be filled in", "classify": "the example of a case file"}
"""Commands that also print a file for people to complete, which has no schema yet because it is not complete."""


@cache
def get_formats() -> dict[str, AnswerFormat]:
    """Return the formats that are declared, by what their documents say in `schema`."""
    return {answer_format.schema: answer_format for answer_format in list_answer_formats().values()}


@cache
def get_validator(schema: str) -> Draft202012Validator:
    """Return the validator of the format *schema*, such as `caveat/model/1`."""
    return Draft202012Validator(get_formats()[schema].build_schema())


def name_command() -> str:
    """Return the command that is being run, without `caveat`."""
    return click.get_current_context().command_path.partition(" ")[2]


def check_answer(document: Mapping[str, Any], command: str) -> None:
    """Fail where *command* is not declared to print *document*, or the document does not have its declared form."""
    # `caveat admin schema NAME` prints a schema, and it must be a valid one.
    if "$schema" in document:
        meta.validate(document)
        return
    if "schema" not in document or document["schema"] not in get_formats():
        assert command in _NO_ANSWER, f"{command} prints a document of an undeclared format: {document.get('schema')!r}"
        return
    answer_format = get_formats()[document["schema"]]
    assert command in answer_format.commands, f"{command} prints {answer_format.schema}, which is declared for {answer_format.commands}"
    for fault in get_validator(answer_format.schema).iter_errors(document):
        raise AssertionError(f"{answer_format.schema} of {command}, {fault.instance_path}: {fault.message}")


def _print_checked(document: Mapping[str, Any]) -> None:
    check_answer(document, name_command())
    _PRINT(document)


def watch_answers() -> None:
    """Check from now on every document that is printed in this process."""
    terminal_output.print_json = _print_checked
