"""Answers as JSON: every command has a declared format, and every format a schema that can be printed."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from jsonschema_rs import Draft202012Validator, meta

from registry.cli.main import cli
from registry.cli.registry_commands import list_answer_formats
from tests.answers import check_answer
from tests.cli.conftest import Caveat

pytestmark = pytest.mark.slow  # it loads all records to make their schemas
_PAGE = Path(__file__).parents[2] / "docs" / "answers.md"


def list_json_commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the commands under *group* that take `--json`, without `caveat`."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from list_json_commands(command, (*path, name))
        # A group that does something by itself is a command too.
        if (
            (not isinstance(command, click.Group) or command.invoke_without_command)
            and command is not None
            and any("--json" in param.opts for param in command.params)
        ):
            yield " ".join((*path, name))


def test_every_command_with_json_has_a_declared_format() -> None:
    """A command that takes --json without a format in `list_formats` fails here; so does a declaration for a command that is gone."""
    declared = {command for answer_format in list_answer_formats().values() for command in answer_format.commands}
    # `report --json` asks for supplements in JSON files, which `caveat admin schema supplement` describes.
    assert set(list_json_commands(cli)) - {"report"} == declared


def test_a_schema_is_valid_closed_and_names_its_format() -> None:
    """Each schema is a JSON Schema, refuses an empty document and an unknown field, and fixes the field `schema`."""
    for name, answer_format in list_answer_formats().items():
        schema = answer_format.build_schema()
        meta.validate(schema)
        assert schema["properties"]["schema"]["const"] == f"caveat/{name}/1"
        assert schema["additionalProperties"] is False, name
        assert not Draft202012Validator(schema).is_valid({}), name


def test_the_page_lists_the_formats_of_each_command() -> None:
    """docs/answers.md names every command with its formats, in the order of the alphabet; CAVEAT_UPDATE_DOCS rewrites its table."""
    commands: dict[str, list[str]] = {}
    for name, answer_format in list_answer_formats().items():
        for command in answer_format.commands:
            commands.setdefault(command, []).append(f"`{name}`")
    rows = "".join(f"| `caveat {command}` | {', '.join(sorted(names))} |\n" for command, names in sorted(commands.items()))
    head, rule, table = _PAGE.read_text(encoding="utf-8").partition("|---|---|\n")
    if os.environ.get("CAVEAT_UPDATE_DOCS"):
        _PAGE.write_text(head + rule + rows, encoding="utf-8")
        table = rows
    assert table == rows


def test_schemas_are_printed_by_name(caveat: Caveat) -> None:
    """`caveat admin schema` lists the formats of answers, and prints each by its listed name."""
    names = caveat("admin", "schema", "--json").document["names"]
    assert "answers/model-add" in names
    assert caveat("admin", "schema", "answers/model-add").document["title"] == "caveat/model-add/1"
    refused = caveat("admin", "schema", "answers/model-ad")
    assert refused.code != 0
    assert "unknown-name" in refused.err


def test_the_check_of_answers_fails_for_what_is_not_declared() -> None:
    """A field too many, a field too few, another command and an unknown format are each refused by the check that all tests use."""
    fine = {"schema": "caveat/model-add/1", "model": "A/b/1", "new": True}
    check_answer(fine, "model add")
    wrong = [({**fine, "more": 1}, "model add"), ({"schema": "caveat/model-add/1"}, "model add"), (fine, "model list")]
    for document, command in [*wrong, ({"schema": "caveat/none/1"}, "model add")]:
        with pytest.raises(AssertionError, match="model"):
            check_answer(json.loads(json.dumps(document)), command)
