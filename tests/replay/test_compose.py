"""A context, a task and a policy become one request body."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.replay.replay_design import compose_request
from registry.codec.canonical_documents import digest
from registry.errors import InputError
from registry.records.replay_run import Policy, Task
from registry.records.specification import ContextBlock, ContextEdit, ContextItem, ContextSpec, Tool, Turn, TurnRole, Variants
from registry.registration.context_specification import derive, find_context_faults

POLICY = Policy(model="claude-example-1-20260101", max_tokens=64)
TASK = Task(id="t1", prompt="What is 2 + 2?", fields={"language": "go"})
SNIPPET = ContextBlock(by=Variants(field="language", texts={"go": "func main() {}", "python": "pass"}))


def build_spec(*items: ContextItem, edits: tuple[ContextEdit, ...] = (), **blocks: Any) -> ContextSpec:
    """Return a specification; a text stands for a block that says it."""
    named = {name: ContextBlock(text=one) if isinstance(one, str) else one for name, one in blocks.items()}
    return ContextSpec(name="spec", description="for a test", contexts=items, blocks=named or None, edits=edits)


def ask(item: ContextItem, task: Task = TASK, policy: Policy = POLICY, **blocks: Any) -> dict[str, Any]:
    """Return the body that *task* has in *item*."""
    return dict(compose_request(build_spec(item, **blocks), item, task, policy, where="here"))


def test_what_is_written_out_is_sent_as_it_is_written() -> None:
    """System prompt, turns and template arrive character for character, the prompt in its place."""
    turns = (Turn(role=TurnRole.USER, content="hi"), Turn(role=TurnRole.ASSISTANT, content="hello"))

    body = ask(ContextItem(id="c", system=" You are Lumen.\n", messages=turns, template="Q: {task}\n"))

    assert body == {
        "model": "claude-example-1-20260101",
        "max_tokens": 64,
        "system": " You are Lumen.\n",
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "hello"},
            {"role": "user", "content": "Q: What is 2 + 2?\n"},
        ],
    }


def test_blocks_are_joined_by_one_empty_line() -> None:
    """Line breaks at the ends of a block, and empty blocks, leave nothing behind; what stands inside a block stays."""
    body = ask(ContextItem(id="c", system=("a", "none", "b"), template="{task}"), a="first\n\n\nstill first\n\n", none="\n", b="\n  second")

    assert body["system"] == "first\n\n\nstill first\n\n  second"


@pytest.mark.parametrize("system", ["", (), ("none",)], ids=["empty text", "no block", "empty block"])
def test_no_system_prompt_is_excluded(system: Any) -> None:
    """An empty system prompt is not sent as an empty text."""
    assert "system" not in ask(ContextItem(id="c", system=system, template="{task}"), none="")


def test_a_system_prompt_or_template_that_is_not_known_cannot_be_replayed() -> None:
    """Not known is not empty; both are told at once."""
    with pytest.raises(InputError) as caught:
        ask(ContextItem(id="c"))

    assert [(fault.code, fault.where) for fault in caught.value.faults] == [
        ("context-not-known", "here.system"),
        ("context-not-known", "here.template"),
    ]


def test_a_variant_is_chosen_by_the_field_of_the_task() -> None:
    """Each language gets its snippet, others the fallback."""
    item = ContextItem(id="c", system=("snippet",), template="{task}")
    block = ContextBlock(by=Variants(field="language", texts={"go": "func main() {}", "python": "pass"}, fallback="in any language"))

    found = [
        ask(item, replace(TASK, fields=fields), snippet=block)["system"] for fields in ({"language": "python"}, {"language": "c"}, None)
    ]

    assert found == ["pass", "in any language", "in any language"]


def test_the_field_id_is_the_id_of_the_task() -> None:
    """A block can have a text for each single task."""
    item = ContextItem(id="c", system=("own",), template="{task}")

    assert ask(item, own=ContextBlock(by=Variants(field="id", texts={"t1": "for t1 alone"})))["system"] == "for t1 alone"


@pytest.mark.parametrize(("fields", "said"), [({"language": "rust"}, "language is 'rust'"), (None, "has no field 'language'")])
def test_a_task_without_a_text_and_without_a_fallback_is_refused(fields: dict[str, str] | None, said: str) -> None:
    """The message names the task, the field and its value; no empty text is sent instead."""
    with pytest.raises(InputError) as caught:
        ask(ContextItem(id="c", system=("snippet",), template="{task}"), replace(TASK, fields=fields), snippet=SNIPPET)

    (fault,) = caught.value.faults
    assert (fault.code, fault.where) == ("no-variant", "here.system")
    assert fault.found.startswith(f"task 't1' {said}: the block 'snippet'")
    assert "go, python" in str(fault.advice)


def test_the_system_prompt_is_never_searched_for_places() -> None:
    """A rule about code may say {task} and {options}."""
    body = ask(
        ContextItem(id="c", system='print(f"{task} {options}")', template="{task}"), Task(id="t", prompt="A or B", options=("A", "B"))
    )

    assert body["system"] == 'print(f"{task} {options}")'


def test_each_place_takes_the_prompt_and_a_prompt_has_no_places() -> None:
    """Twice {task} is twice the prompt; the {task} that a prompt holds stays."""
    task = Task(id="t", prompt="Explain {task}, {options}, {0} and {{x}}.")

    body = ask(
        ContextItem(id="c", system="", messages=(Turn(role=TurnRole.USER, content="about: {task}"),), template="{task}|{task}"), task
    )

    said = "Explain {task}, {options}, {0} and {{x}}."
    assert [one["content"] for one in body["messages"]] == [f"about: {said}", f"{said}|{said}"]


def test_options_are_shown_with_their_letters() -> None:
    """{options} is one line for each, A first."""
    task = Task(id="t", prompt="Which?", options=("red", "{task}", "blue"), answer="B")

    body = ask(ContextItem(id="c", system="", template="{task}\n\n{options}\nOne letter."), task)

    assert body["messages"][0]["content"] == "Which?\n\nA) red\nB) {task}\nC) blue\nOne letter."


def test_options_of_a_task_without_any_stay_as_they_are_written() -> None:
    """Code in a template may use the word."""
    assert ask(ContextItem(id="c", system="", template="${options} {task}"))["messages"][0]["content"] == "${options} What is 2 + 2?"


def test_options_that_nobody_shows_are_refused() -> None:
    """A model that does not see what it chooses from is not asked; a prompt that shows them needs no place."""
    item = ContextItem(id="c", system="", template="{task}")
    task = Task(id="t", prompt="Which? A) red", options=("red", "blue"))

    assert ask(item, replace(task, prompt="Which? A) red B) blue"))["messages"]
    with pytest.raises(InputError) as caught:
        ask(item, task)
    assert (caught.value.code, "'blue'" in caught.value.faults[0].found) == ("options-not-shown", True)


def test_tools_and_parameters_are_sent_as_the_api_takes_them() -> None:
    """Each parameter that is set has its place; effort stands in output_config."""
    tool = Tool(name="search", description="Searches", input_schema={"type": "object"})
    policy = replace(
        POLICY,
        temperature=0.0,
        top_p=0.9,
        top_k=5,
        stop_sequences=("END",),
        effort="low",
        thinking={"type": "disabled"},
        service_tier="auto",
    )

    body = ask(ContextItem(id="c", system="", template="{task}", tools=(tool,)), TASK, policy)

    assert {key: body[key] for key in body if key not in ("model", "max_tokens", "messages")} == {
        "tools": [{"name": "search", "description": "Searches", "input_schema": {"type": "object"}}],
        "temperature": 0.0,
        "top_p": 0.9,
        "top_k": 5,
        "stop_sequences": ["END"],
        "thinking": {"type": "disabled"},
        "output_config": {"effort": "low"},
        "service_tier": "auto",
    }


def test_a_turn_of_which_nothing_is_left_is_not_sent() -> None:
    """The API refuses empty texts, and silence is no turn."""
    turns = (Turn(role=TurnRole.USER, content="hi"), Turn(role=TurnRole.ASSISTANT, content=("none",)))

    body = ask(ContextItem(id="c", system="", messages=turns, template="{task}"), none="")

    assert [one["role"] for one in body["messages"]] == ["user", "user"]


texts = st.text(st.sampled_from("ab {}\\\n$%") | st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=30)
names = st.sampled_from(["a", "b", "c", "d"])
parts = st.lists(names, max_size=5).map(tuple)
block_sets = st.fixed_dictionaries({name: texts.map(lambda text: ContextBlock(text=text)) for name in "abcd"})


@given(blocks=block_sets, system=parts, prompt=texts)
def test_composing_is_deterministic(blocks: dict[str, Any], system: tuple[str, ...], prompt: str) -> None:
    """The same three give the same digest, whatever order the blocks are written in."""
    item = ContextItem(id="c", system=system, template="{task}")
    turned = dict(reversed(blocks.items()))

    one, other = (ask(item, Task(id="t", prompt=prompt), POLICY, **named) for named in (blocks, turned))

    assert digest(one) == digest(other)


@given(prompt=texts, before=texts.filter(lambda text: "{" not in text), after=texts.filter(lambda text: "{" not in text))
def test_a_prompt_arrives_whole(prompt: str, before: str, after: str) -> None:
    """Braces, backslashes and dollar signs of a prompt survive, and so does what stands around it."""
    body = ask(ContextItem(id="c", system="", template=f"{before}{{task}}{after}"), Task(id="t", prompt=prompt))

    assert [one["content"] for one in body["messages"]] == ([before + prompt + after] if before + prompt + after else [])


@given(blocks=block_sets, system=parts)
def test_joined_blocks_have_no_empty_line_too_many(blocks: dict[str, Any], system: tuple[str, ...]) -> None:
    """Each block stands whole, two line breaks from the next; nothing stands at the ends."""
    body = ask(ContextItem(id="c", system=system, template="{task}"), **blocks)

    said = [text for name in system if (text := (blocks[name].text or "").strip("\n"))]
    assert body.get("system", "") == "\n\n".join(said)


@given(blocks=block_sets, system=parts, other=parts, removed=names)
def test_an_edit_is_the_context_written_without_the_block(
    blocks: dict[str, Any], system: tuple[str, ...], other: tuple[str, ...], removed: str
) -> None:
    """Deriving and writing by hand come to the same body, and contexts without the block are not derived."""
    items = ContextItem(id="x", system=system, template="{task}"), ContextItem(id="y", system=other, template="{task}")
    edit = ContextEdit(name="cut", remove=(removed,))
    spec = build_spec(*items, edits=(edit,), **blocks)

    derived = {item.id: item for item in derive(spec, edit)}

    assert set(derived) == {item.id for item in items if removed in (item.system or ())}
    for item in items:
        if item.id in derived:
            by_hand = replace(item, system=tuple(name for name in item.system or () if name != removed))
            assert compose_request(spec, derived[item.id], TASK, POLICY, where="") == compose_request(spec, by_hand, TASK, POLICY, where="")


@given(blocks=block_sets, system=parts)
def test_the_presence_of_edits_changes_no_context_as_it_is(blocks: dict[str, Any], system: tuple[str, ...]) -> None:
    """Who adds an edit later reuses the earlier answers."""
    item = ContextItem(id="x", system=system, template="{task}")
    plain, edited = build_spec(item, **blocks), build_spec(item, edits=(ContextEdit(name="cut", remove=("a",)),), **blocks)

    assert compose_request(plain, item, TASK, POLICY, where="") == compose_request(edited, item, TASK, POLICY, where="")


@given(blocks=block_sets, system=parts)
def test_putting_a_block_in_and_back_is_the_context_again(blocks: dict[str, Any], system: tuple[str, ...]) -> None:
    """Replacing a by a block of its own, and that by a, changes nothing."""
    item = ContextItem(id="x", system=system, template="{task}")
    there, back = ContextEdit(name="there", replace={"a": "new"}), ContextEdit(name="back", replace={"new": "a"})
    spec = build_spec(item, **blocks, new="something else")

    found = [again for once in derive(spec, there) for again in derive(replace(spec, contexts=(once,)), back)]

    assert found == ([item] if "a" in system else [])


@pytest.mark.parametrize("system", [("a",), "literal"])
def test_faults_of_a_specification_do_not_depend_on_the_tasks(system: Any) -> None:
    """What passes the rules of a specification composes for every task without variants."""
    item = ContextItem(id="x", system=system, template="{task}")

    assert list(find_context_faults(build_spec(item, a="text"), where="spec")) == []
    assert ask(item, a="text")["messages"] == [{"role": "user", "content": "What is 2 + 2?"}]
