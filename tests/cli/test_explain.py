"""`caveat explain`: the catalogue of errors on the command line."""

import json

from click.testing import CliRunner

from registry.cli.main import cli
from registry.errors import find_entry, list_explanations


def test_a_code_is_explained_with_what_to_do_next() -> None:
    """Title, meaning and advice of the page; the colon of a copied code is ignored."""
    done = CliRunner().invoke(cli, ["explain", "card-empty:", "--json"])

    assert done.exit_code == 0
    assert json.loads(done.stdout) == {
        "schema": "caveat/explanation/1",
        "code": "card-empty",
        "title": "Empty card file",
        "meaning": "The file has 0 bytes.",
        "advice": "download the card again",
    }


def test_without_a_code_all_are_listed() -> None:
    """Each code of the page with its title, in the page's order."""
    titles = json.loads(CliRunner().invoke(cli, ["explain", "--json"]).stdout)["titles"]

    assert list(titles) == list(list_explanations())
    assert all(entry is not None and entry.title == titles[entry.code] for entry in map(find_entry, titles))


def test_codes_are_completed() -> None:
    """A shell offers the codes that begin with what was typed."""
    command = cli.get_command(None, "explain")  # type: ignore[arg-type]
    assert command is not None

    offered = [item.value for item in command.params[0].shell_complete(None, "card-w")]  # type: ignore[arg-type]

    assert offered == ["card-without-text", "card-without-pages"]
