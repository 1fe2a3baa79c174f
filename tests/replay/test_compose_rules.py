"""What a context specification is refused for before any task is known, and how its text files are read."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from registry.errors import InputError
from registry.records.specification import ContextBlock, ContextEdit, ContextItem, ContextSpec, Tool, Turn, TurnRole, Variants
from registry.registration.context_specification import LARGEST_TEXT_BYTES, check_contexts, derive, find_context_faults, read_context_spec

BLOCKS = {
    "role": ContextBlock(text="You are helpful."),
    "other": ContextBlock(text="You are obliging."),
    "same": ContextBlock(text="You are helpful."),
    "exam": ContextBlock(text="This is an exam.", cue="explicit disclosure"),
    "nothing": ContextBlock(text=""),
    "ask": ContextBlock(text="{task}"),
    "some": ContextBlock(by=Variants(field="f", texts={"x": "{task}", "y": "no place"})),
}
ITEM = ContextItem(id="one", system=("role", "exam"), template="{task}")


def list_codes(
    *items: ContextItem, edits: tuple[ContextEdit, ...] = (), blocks: dict[str, ContextBlock] | None = BLOCKS
) -> list[tuple[str, str]]:
    """Return code and place of every fault."""
    spec = ContextSpec(name="spec", description="for a test", contexts=items, blocks=blocks, edits=edits)
    return [(fault.code, fault.where) for fault in find_context_faults(spec, where="f")]


@pytest.mark.parametrize(
    "edit",
    [
        ContextEdit(name="cut", remove=("exam",)),
        ContextEdit(name="swap", replace={"exam": "other"}),
        ContextEdit(name="added", replace={"role": "exam"}),
        ContextEdit(name="placebo", replace={"role": "other"}, placebo=True),
        ContextEdit(name="Placebo: role", remove=("role",), placebo=True),
    ],
    ids=lambda edit: edit.name,
)
def test_an_edit_that_says_what_it_is_passes(edit: ContextEdit) -> None:
    """A cue may be taken out, replaced or put in; a placebo touches anything else."""
    assert list_codes(ITEM, edits=(edit,)) == []


def test_a_cue_is_put_in_at_an_empty_block() -> None:
    """An empty block keeps the place of a cue on the deployment side."""
    item = ContextItem(id="chat", system=("role", "nothing"), template="{task}")
    edit = ContextEdit(name="announced", replace={"nothing": "exam"})
    spec = ContextSpec(name="spec", description="for a test", contexts=(item,), blocks=BLOCKS, edits=(edit,))

    check_contexts(spec, where="f")
    assert [one.system for one in derive(spec, edit)] == [("role", "exam")]


@pytest.mark.parametrize(
    ("edit", "codes"),
    [
        (ContextEdit(name="placebo", remove=("exam",), placebo=True), ["placebo-on-cue"]),
        (ContextEdit(name="placebo", replace={"role": "exam"}, placebo=True), ["placebo-on-cue"]),
        (ContextEdit(name="cut", remove=("role",)), ["edit-without-cue"]),
        (ContextEdit(name="calm", remove=("role",), placebo=True), ["placebo-name"]),
        (ContextEdit(name="placebo-like", remove=("exam",)), ["placebo-name"]),
        (ContextEdit(name="placebo", remove=("other",), placebo=True), ["edit-changes-nothing"]),
        (ContextEdit(name="placebo", replace={"role": "same"}, placebo=True), ["edit-changes-nothing"]),
        (ContextEdit(name="cut", remove=("exam",), replace={"exam": "other"}), ["not-valid"]),
        (ContextEdit(name="cut", remove=("exma",)), ["unknown-name"]),
        (ContextEdit(name="cut", replace={"exam": "othr"}), ["unknown-name"]),
        (ContextEdit(name=" ", remove=("exam",)), ["id-empty"]),
        (ContextEdit(name="cut ", remove=("exam",)), ["bad-name"]),
    ],
)
def test_an_edit_that_measures_nothing_or_something_else_is_refused(edit: ContextEdit, codes: list[str]) -> None:
    """Each reason has its code."""
    assert [code for code, _ in list_codes(ITEM, edits=(edit,))] == codes


def test_removing_an_empty_block_changes_nothing() -> None:
    """The context would be asked twice with the same words."""
    item = replace(ITEM, system=("nothing",))
    blocks = {**BLOCKS, "nothing": ContextBlock(text="", cue="none to be seen")}

    assert list_codes(item, edits=(ContextEdit(name="cut", remove=("nothing",)),), blocks=blocks) == [
        ("edit-changes-nothing", "f, edits[cut]")
    ]


def test_an_edit_that_takes_the_task_out_is_refused_where_it_does() -> None:
    """The context as it is has no fault; its derived version would ask nothing."""
    blocks = {**BLOCKS, "ask": ContextBlock(text="In this exam: {task}", cue="exam")}
    item = ContextItem(id="one", system="", template=("ask",))

    found = list_codes(item, edits=(ContextEdit(name="cut", remove=("ask",)),), blocks=blocks)

    assert found == [("task-placeholder-missing", "f, edits[cut], as it makes contexts[one].template")]


@pytest.mark.parametrize(
    ("template", "holds"),
    [("{task}", True), ("{ task }", False), ("", False), (("ask",), True), (("role", "ask"), True), (("some",), False), ((), False)],
)
def test_a_template_asks_the_task_in_every_variant(template: Any, holds: bool) -> None:  # noqa: FBT001
    """One variant without the place is enough to lose tasks."""
    expected = [] if holds else [("task-placeholder-missing", "f, contexts[one].template")]

    assert list_codes(replace(ITEM, template=template)) == expected


def test_names_are_unknown_wherever_they_stand() -> None:
    """Every place is told at once, with the name that was meant."""
    turn = Turn(role=TurnRole.USER, content=("rol",))
    item = ContextItem(id="one", system=("exm",), messages=(turn,), template=("aks",))

    found = list_codes(item)

    assert found == [("unknown-name", f"f, contexts[one].{place}") for place in ("system", "messages[0]", "template")]
    with pytest.raises(InputError, match=r"did you mean exam\?"):
        check_contexts(ContextSpec(name="s", description="d", contexts=(item,), blocks=BLOCKS), where="f")


def test_names_without_blocks_say_that_there_are_none() -> None:
    """Who forgot the blocks is told so."""
    assert list_codes(replace(ITEM, system=("role",)), blocks=None) == [("unknown-name", "f, contexts[one].system")]


def test_contexts_and_edits_have_names_of_their_own() -> None:
    """The score table tells them apart by name alone."""
    edit = ContextEdit(name="cut", remove=("exam",))

    assert list_codes(ITEM, ITEM, edits=(edit, edit)) == [("duplicate", "f, contexts"), ("duplicate", "f, edits")]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"messages": (Turn(role=TurnRole.ASSISTANT, content="hello"),)}, "messages[0]"),
        ({"messages": (Turn(role=TurnRole.USER, content=""),)}, "messages[0]"),
        ({"tools": (Tool(name="t", description="", input_schema={}),) * 2}, "tools"),
    ],
)
def test_what_the_api_would_refuse_is_refused_here(change: dict[str, Any], place: str) -> None:
    """A conversation begins with the user, turns say something, tools have names of their own."""
    assert list_codes(replace(ITEM, **change)) == [("not-valid", f"f, contexts[one].{place}")]


def test_contexts_that_are_only_described_have_no_faults() -> None:
    """Not known is allowed in a record; only replaying needs more."""
    assert list_codes(ContextItem(id="one"), blocks=None) == []


# Text files

SPEC = "name: s\ndescription: d\nblocks:\n  rules: {{{block}}}\ncontexts:\n  - {{id: c, system: [rules], template: '{{task}}'}}\n"


def read(folder: Path, block: str) -> tuple[ContextSpec, dict[str, str]]:
    """Read a specification in *folder* whose block has the keys *block*."""
    path = folder / "spec.yaml"
    path.write_text(SPEC.format(block=block))
    return read_context_spec(path)


def test_a_text_file_becomes_the_text_with_its_digest(tmp_path: Path) -> None:
    """What is read is what counts afterwards: the file is not needed again."""
    (tmp_path / "rules.txt").write_bytes("Be brief. {task} ✓\r\n".encode())
    sha256 = hashlib.sha256("Be brief. {task} ✓\r\n".encode()).hexdigest()

    spec, digests = read(tmp_path, "file: rules.txt, cue: rules, source: by hand")

    assert spec.blocks == {"rules": ContextBlock(text="Be brief. {task} ✓\r\n", cue="rules", source=f"by hand; rules.txt, sha256 {sha256}")}
    assert digests == {"rules.txt": sha256}


def test_variants_may_stand_in_files(tmp_path: Path) -> None:
    """Snippets of a hundred languages need no copying into YAML."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.py").write_text("pass\n")

    spec, digests = read(tmp_path, "by: {field: language, texts: {go: func}, files: {python: deep/a.py}, fallback: none}")

    by = (spec.blocks or {})["rules"].by
    assert by == Variants(field="language", texts={"go": "func", "python": "pass\n"}, fallback="none")
    assert list(digests) == ["deep/a.py"]


@pytest.mark.parametrize(
    "name", ["../secret.txt", "/etc/hostname", "deep/../../secret.txt", "link.txt", "loop", "", "x" * 5000 + "/../../y"]
)
def test_no_file_outside_the_folder_is_read(name: str, tmp_path: Path) -> None:
    """What a context names is sent to a model: neither a path nor a link leads out."""
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "inner"
    folder.mkdir()
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "loop").symlink_to("loop")

    with pytest.raises(InputError) as caught:
        read(folder, f"file: {name!r}")

    assert caught.value.code == "path-outside-folder"
    assert (folder / "spec.yaml").name in caught.value.faults[0].where


@pytest.mark.parametrize(
    ("content", "code"),
    [(None, "file-not-readable"), (b"\xff", "not-utf-8"), (b"a\0b", "not-valid"), (b"x" * (LARGEST_TEXT_BYTES + 1), "file-too-large")],
)
def test_a_text_file_that_is_none_is_refused(content: bytes | None, code: str, tmp_path: Path) -> None:
    """Missing, not UTF-8, with U+0000, too large: each is told with its name."""
    if content is not None:
        (tmp_path / "rules.txt").write_bytes(content)

    with pytest.raises(InputError) as caught:
        read(tmp_path, "file: rules.txt")

    assert (caught.value.code, "rules.txt" in caught.value.faults[0].where) == (code, True)


@pytest.mark.parametrize(
    "block",
    ["file: 7", "file: rules.txt, text: x", "by: {field: f, texts: {a: x}, files: {a: rules.txt}}", "by: {field: f, files: {a: [1]}}"],
)
def test_a_file_beside_a_text_is_refused(block: str, tmp_path: Path) -> None:
    """Which of the two was meant is not guessed; a name is a text."""
    (tmp_path / "rules.txt").write_text("rules")

    with pytest.raises(InputError) as caught:
        read(tmp_path, block)

    assert caught.value.code == "not-valid"


@pytest.mark.parametrize("text", ["- 1\n", "blocks: [1]\nname: s\ndescription: d\n", "name: s\ndescription: d\nblocks: {a: 1}\n"])
def test_a_file_of_another_shape_is_left_to_the_record(text: str, tmp_path: Path) -> None:
    """No shape of a document is a crash."""
    path = tmp_path / "spec.yaml"
    path.write_text(text)

    with pytest.raises(InputError) as caught:
        read_context_spec(path)

    assert caught.value.code == "not-valid"
