"""`caveat spec`: contexts are checked before they are registered, read composed, and compared word by word."""

import hashlib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from tests.cli.conftest import Caveat

EXAM = """
name: Exam
description: Two contexts
blocks:
  role: {text: You are helpful.}
  other: {text: You are obliging.}
  exam: {text: "This is an exam.\\nBe exact.", cue: explicit disclosure}
  style: {by: {field: language, texts: {go: func}, fallback: any}}
contexts:
  - {id: one, system: [role, exam, style], template: "{task}"}
  - {id: two, system: "context three\\nedit four", messages: [{role: user, content: [exam]}], template: "Q: {task}"}
  - {id: told, scaffold: unknown harness, cues: [leaderboard]}
edits:
  - {name: announcement, remove: [exam]}
  - {name: placebo-role, replace: {role: other}, placebo: true, description: tone only}
"""


@pytest.fixture
def registry(caveat: Caveat) -> Caveat:
    """A command in a folder with an empty registry."""
    assert caveat("init", "--code", "LAB").code == 0
    return caveat


def add(caveat: Caveat, text: str, *options: str) -> str:
    """Register *text* and return its identifier."""
    Path("exam.yaml").write_text(text, encoding="utf-8")
    answer = caveat("spec", "add", "test_context", "exam", "exam.yaml", "--json", *options)
    assert (answer.code, answer.err) == (0, "")
    return str(answer.document["spec"])


def test_contexts_are_shown_as_they_are_composed(registry: Caveat) -> None:
    """Block after block with its cue, the variants and replacements below, and which contexts an edit derives."""
    shown = registry("spec", "show", add(registry, EXAM)).out

    assert (
        shown.split("\n\n", 1)[1]
        == """\
context one
  system prompt
  ┌ role
  │ You are helpful.
  ┌ exam · cue: explicit disclosure
  │ This is an exam.
  │ Be exact.
  ┌ style
  │ (by the task's language: see block style)
  user, with the task
  │ {task}

context two
  system prompt
  │ context three
  │ edit four
  user
  ┌ exam · cue: explicit disclosure
  │ This is an exam.
  │ Be exact.
  user, with the task
  │ Q: {task}

context told
  system prompt: not known
  user, with the task: not known
  scaffold: unknown harness
  cues outside blocks: leaderboard

block exam: in context one, context two
  cue: explicit disclosure

block other: in edit placebo-role
  │ You are obliging.

block role: in context one

block style: in context one
  language go
  │ func
  any other language, or none
  │ any

edit announcement: takes out exam
  derives one, two

edit placebo-role (placebo): puts other in the place of role
  derives one; tone only
"""
    )


def test_the_document_holds_the_record_whole(registry: Caveat) -> None:
    """A program reads what was registered, not what a person sees."""
    body = registry("spec", "show", add(registry, EXAM), "--json").document["body"]

    assert body["blocks"]["exam"]["text"] == "This is an exam.\nBe exact."
    assert [one["id"] for one in body["contexts"]] == ["one", "two", "told"]


def test_a_text_cannot_look_like_a_line_of_ours(registry: Caveat) -> None:
    """Whatever a block says, each of its lines stands behind a bar; control characters are made visible."""
    hostile = EXAM.replace("You are helpful.", '"x\\n\\ncontext forged\\n  │ y\\e[31m"')

    hostile = (
        hostile.replace("style", r'"a\ncontext forged"')
        .replace("id: told", r'id: "b\ncontext forged"')
        .replace("tone only", r'"c\n\ncontext forged"')
    )

    shown = registry("spec", "show", add(registry, hostile)).out

    assert "\ncontext forged" not in shown
    assert "  │ context forged\n  │   │ y[U+001B][31m" in shown


def test_every_kind_of_specification_is_compared(registry: Caveat) -> None:
    """A specification without contexts is compared by the same rule."""
    for text, options in (("range: [0, 1]", ()), ("range: [0, 5]\ndescription: wider", ("--reason", "wider"))):
        Path("p.yaml").write_text(f"name: p\nclass: capability\ndirection: not_safety\n{text}\n", encoding="utf-8")
        reference = registry("spec", "add", "property", "p", "p.yaml", "--json", *options).document["spec"]

    assert (
        registry("spec", "diff", reference).out
        == """\
range
  │ 0.0,[- 1.0-]{+ 5.0+}
description
  │ {+wider+}
"""
    )


def test_a_new_version_is_compared_word_by_word(registry: Caveat) -> None:
    """What was taken out and put in stands in its sentence; what stayed is not told."""
    reference = add(registry, EXAM)
    changed = EXAM.replace("This is an exam.", "This is an oral exam.").replace("remove: [exam]", "remove: [exam, style]")
    add(registry, changed.replace("  - {id: told, scaffold: unknown harness, cues: [leaderboard]}\n", ""), "--reason", "said better")

    shown = registry("spec", "diff", reference.partition("@")[0])

    assert (
        shown.out
        == """\
contexts[told].id
  │ [-told-]
contexts[told].scaffold
  │ [-unknown harness-]
contexts[told].cues
  │ [-leaderboard-]
blocks.exam.text
  │ This is an{+ oral+} exam.
  │ Be exact.
edits[announcement].remove
  │ exam{+, style+}
"""
    )
    assert registry("spec", "diff", reference, "--from", "1").out == "no difference\n"


def test_a_long_text_is_shortened_where_nothing_changed(registry: Caveat) -> None:
    """One changed word on a page is found without the page."""
    long = " ".join(f"word{number}" for number in range(500))
    reference = add(registry, EXAM.replace("You are helpful.", f"{long} old end."))
    add(registry, EXAM.replace("You are helpful.", f"{long} new end."), "--reason", "a word")

    shown = registry("spec", "diff", reference.partition("@")[0]).out

    assert "[- old-]{+ new+} end." in shown.replace("\n  │ ", " ").replace("  ", " ")
    assert len(shown) < 400


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("[role, exam, style]", "[role, exma]", "unknown-name"),
        ('template: "{task}"', "template: task", "task-placeholder-missing"),
        ("replace: {role: other}", "remove: [exam]", "placebo-on-cue"),
        ("name: placebo-role", "name: role", "placebo-name"),
        ("id: two", "id: one", "duplicate"),
        ("{text: You are helpful.}", "{file: ../x}", "path-outside-folder"),
    ],
)
def test_what_cannot_be_composed_is_not_registered(before: str, after: str, code: str, registry: Caveat) -> None:
    """The fault names the file, and the registry stays as it was."""
    assert before in EXAM
    Path("exam.yaml").write_text(EXAM.replace(before, after), encoding="utf-8")

    answer = registry("spec", "add", "test_context", "exam", "exam.yaml")

    assert answer.code == 2
    assert (answer.error, "  --> exam.yaml, " in answer.err) == (code, True)
    assert registry("spec", "list", "--json").document["specs"] == []


def test_contexts_in_a_claims_file_are_checked_too(registry: Caveat) -> None:
    """There is no second door without the rules."""
    Path("claims.yaml").write_text(
        "claims: []\ntest_contexts:\n  exam: {name: e, description: d, contexts: [{id: a, system: '', template: none}]}\n", encoding="utf-8"
    )

    answer = registry("claim", "add", "claims.yaml")

    assert (answer.code, answer.error) == (2, "task-placeholder-missing")
    assert "  --> claims.yaml, test_contexts.exam: test_context 'exam', contexts[a].template\n" in answer.err


def test_a_text_file_is_registered_with_its_digest(registry: Caveat) -> None:
    """The specification holds the text; file and SHA-256 are its source."""
    Path("role.txt").write_text("You are from a file.\n", encoding="utf-8")
    reference = add(registry, EXAM.replace("{text: You are helpful.}", "{file: role.txt}"))
    Path("role.txt").unlink()

    shown = registry("spec", "show", reference).out

    assert "  │ You are from a file.\n" in shown
    assert f"  source: role.txt, sha256 {hashlib.sha256(b'You are from a file.' + bytes([10])).hexdigest()}\n" in shown


@pytest.mark.parametrize("name", ["replay", "tasks", "task", "context"])
def test_the_files_of_a_replay_have_schemas(name: str, caveat: Caveat) -> None:
    """An editor can complete and check them."""
    assert caveat("admin", "schema", name).document["$schema"].endswith("2020-12/schema")


def test_the_schema_of_contexts_takes_what_the_command_takes(registry: Caveat) -> None:
    """Files in the place of texts are valid, and what is neither is not."""
    validator = Draft202012Validator(registry("admin", "schema", "context").document)
    document = YAML(typ="safe", pure=True).load(EXAM)
    blocks = {"a": {"file": "a.txt"}, "b": {"by": {"field": "language", "files": {"go": "a.go"}}}}

    assert validator.is_valid(document)
    assert validator.is_valid({**document, "blocks": blocks})
    assert not validator.is_valid({**document, "blocks": {"a": {"by": {"field": "language"}}}})
    assert not validator.is_valid({**document, "blocks": {"a": {"path": "a.txt"}}})
