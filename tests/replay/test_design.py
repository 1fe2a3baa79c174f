"""A replay becomes cells with their calls, or is refused before anything is paid."""

import hashlib
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.errors import DesignError
from audit.records.model_response import Purpose
from audit.replay.replay_design import build_design
from audit.replay.run_store import PlannedCall
from registry.records.replay_run import Arm, Policy, Replay, Task
from registry.records.specification import ContextBlock, ContextEdit, ContextItem, ContextSpec, Variants
from tests.examples import scale

POLICY = Policy(model="claude-example-1-20260101", max_tokens=64)
TASKS = tuple(
    Task(id=f"t{number}", prompt=f"Question {number}", fields={"level": "hard" if number > 2 else "easy"}) for number in range(1, 5)
)
EXAM = ContextSpec(
    name="exam",
    description="for a test",
    contexts=(
        ContextItem(id="e1", system=("role", "exam"), template="{task}"),
        ContextItem(id="e2", system=("role",), template="Q: {task}"),
    ),
    blocks={
        "role": ContextBlock(text="You are helpful."),
        "other": ContextBlock(text="You are obliging."),
        "exam": ContextBlock(text="This is an exam.", cue="explicit disclosure"),
    },
    edits=(ContextEdit(name="announcement", remove=("exam",)), ContextEdit(name="placebo-role", replace={"role": "other"}, placebo=True)),
)
CHAT = ContextSpec(
    name="chat",
    description="for a test",
    contexts=(ContextItem(id="c1", system="", template="hey: {task}"), ContextItem(id="c2", system="Be kind.", template="{task}")),
)
EDITOR = ContextSpec(name="editor", description="for a test", contexts=(ContextItem(id="c1", system="Editor.", template="{task}"),))
CONTEXTS = {"exam": EXAM, "chat": CHAT, "editor": EDITOR}
ARMS = (
    Arm(arm="test", context="exam", edits=("announcement", "placebo-role")),
    Arm(arm="deploy", context="chat", spec="chat"),
    Arm(arm="deploy", context="editor", spec="editor"),
)
REPLAY = Replay(name="r", tasks="tasks.csv", policy=POLICY, arms=ARMS)


def build(replay: Replay = REPLAY, tasks: tuple[Task, ...] = TASKS, **contexts: Any) -> list[PlannedCall]:
    """Return the design of *replay*, with the usual contexts or those given in their place."""
    return build_design(replay, tasks, {**CONTEXTS, **contexts})


def list_places(planned: list[PlannedCall]) -> list[tuple[Any, ...]]:
    """Return arm, specification, context and edit of each cell, without task and sample, in order."""
    return sorted({(one.cell.arm, one.cell.spec or "", one.cell.context_id, one.cell.cue_removed or "") for one in planned})


def refuse(replay: Replay = REPLAY, tasks: tuple[Task, ...] = TASKS, **contexts: Any) -> list[str]:
    """Return the codes that *replay* is refused with."""
    with pytest.raises(DesignError) as caught:
        build(replay, tasks, **contexts)
    return [fault.code for fault in caught.value.faults]


def test_every_task_is_asked_in_every_version_of_every_context() -> None:
    """Contexts as they are and derived, both specifications of P_deploy, each task and each sample once."""
    planned = build(replace(REPLAY, samples=3))

    assert list_places(planned) == [
        ("deploy", "chat", "c1", ""),
        ("deploy", "chat", "c2", ""),
        ("deploy", "editor", "c1", ""),
        ("test", "", "e1", ""),
        ("test", "", "e1", "announcement"),
        ("test", "", "e1", "placebo-role"),
        ("test", "", "e2", ""),
        ("test", "", "e2", "placebo-role"),
    ]
    assert len(planned) == len({one.cell for one in planned}) == len({one.call.key for one in planned}) == 8 * 4 * 3
    assert {(one.cell.sample, one.call.index) for one in planned} == {(0, 0), (1, 1), (2, 2)}
    assert {one.call.purpose for one in planned} == {Purpose.REPLAY}


def test_an_edit_is_asked_with_what_it_leaves() -> None:
    """The announcement is gone from the body, and only it."""
    planned = {(one.cell.context_id, one.cell.cue_removed): one.call.body for one in build() if one.cell.task_id == "t1"}

    assert planned["e1", None]["system"] == "You are helpful.\n\nThis is an exam."
    assert planned["e1", "announcement"]["system"] == "You are helpful."
    assert planned["e1", "placebo-role"]["system"] == "You are obliging.\n\nThis is an exam."


def test_edits_that_no_arm_names_are_not_asked() -> None:
    """None is none."""
    arms = (replace(ARMS[0], edits=None), *ARMS[1:])

    assert {one.cell.cue_removed for one in build(replace(REPLAY, arms=arms))} == {None}


def test_the_order_is_that_of_the_hash_of_seed_and_key() -> None:
    """Anybody can say beforehand which call comes when; another seed gives another order of the same calls."""
    planned = build(replace(REPLAY, seed=7))
    keys = [one.call.key for one in planned]

    assert keys == sorted(keys, key=lambda key: hashlib.sha256(f"7:{key}".encode()).hexdigest())
    other = [one.call.key for one in build(replace(REPLAY, seed=8))]
    assert (other != keys, sorted(other)) == (True, sorted(keys))


@settings(max_examples=scale(15))
@given(st.randoms(use_true_random=False))
def test_the_design_does_not_depend_on_the_order_of_what_it_is_made_of(rng: random.Random) -> None:
    """Tasks, arms and contexts in another order are the same calls in the same order."""
    tasks, arms, items = list(TASKS), list(ARMS), list(EXAM.contexts)
    for one in (tasks, arms, items):
        rng.shuffle(one)

    shuffled = build(replace(REPLAY, arms=tuple(arms)), tuple(tasks), exam=replace(EXAM, contexts=tuple(items)))

    assert shuffled == build()


@given(st.integers(1, 4), st.integers(1, 4))
def test_more_samples_keep_the_earlier_calls(fewer: int, more: int) -> None:
    """What was paid is never asked again."""
    earlier, later = ({(one.cell, one.call.key) for one in build(replace(REPLAY, samples=count))} for count in sorted((fewer, more)))

    assert earlier <= later


def test_both_sides_are_asked_throughout() -> None:
    """Neither side comes first: in each quarter of the calls both have a fair share."""
    planned = build(replace(REPLAY, samples=25, arms=(replace(ARMS[0], edits=None), ARMS[1])))
    quarter = len(planned) // 4

    shares = [
        sum(one.cell.arm == "test" for one in planned[start : start + quarter]) / quarter for start in range(0, len(planned), quarter)
    ]
    assert all(0.35 < share < 0.65 for share in shares)


def test_an_arm_asks_the_tasks_that_pass_its_filter() -> None:
    """Each field must have one of its values."""
    where: dict[str, tuple[str, ...]] = {"level": ("easy", "hard"), "id": ("t1", "t4")}

    planned = build(replace(REPLAY, arms=(ARMS[0], replace(ARMS[1], where=where))))

    assert {one.cell.task_id for one in planned if one.cell.arm == "deploy"} == {"t1", "t4"}


def test_contexts_of_one_task_each_are_one_arm_in_pieces() -> None:
    """Entries of one name, parted by `where`, make nested contexts: also with the same context ids."""
    pieces = tuple(Arm(arm="deploy", context=f"own-{task.id}", where={"id": (task.id,)}) for task in TASKS)
    own: dict[str, Any] = {
        f"own-{task.id}": ContextSpec(
            name="own", description="d", contexts=(ContextItem(id="own", system=f"For {task.id}", template="{task}"),)
        )
        for task in TASKS
    }

    planned = build(replace(REPLAY, arms=(replace(ARMS[0], edits=None), *pieces)), **own)

    systems = {one.cell.task_id: one.call.body["system"] for one in planned if one.cell.arm == "deploy"}
    assert systems == {task.id: f"For {task.id}" for task in TASKS}


def test_two_contexts_that_coincide_are_refused_with_both_names() -> None:
    """One response would count as two; the message names both contexts and how many tasks."""
    same = replace(CHAT, contexts=(*CHAT.contexts, ContextItem(id="again", system="Be kind.", template="{task}")))

    with pytest.raises(DesignError) as caught:
        build(chat=same)

    (fault,) = caught.value.faults
    assert fault.code == "identical-requests"
    assert fault.found == (
        "context c2 of arm deploy (chat) and context again of arm deploy (chat) send the very same request, so that one response would"
        " count twice (task 't1' and 3 more)"
    )


def test_two_sides_that_coincide_are_refused() -> None:
    """A context of the test side that is also one of deployment would make ED smaller by counting the same answers on both."""
    assert refuse(editor=replace(EDITOR, contexts=(replace(EXAM.contexts[0], id="x"),), blocks=EXAM.blocks)) == ["identical-requests"]


def test_two_tasks_with_one_prompt_are_refused() -> None:
    """The same prompt under two ids would count twice."""
    tasks = (*TASKS, replace(TASKS[0], id="copy"))

    with pytest.raises(DesignError) as caught:
        build(tasks=tasks)

    assert {(fault.code, fault.where) for fault in caught.value.faults} == {("identical-requests", "task copy")}


def test_an_edit_that_leaves_one_variant_as_it_is_is_refused_for_its_task() -> None:
    """A block that is empty for one language takes nothing out of that task's context."""
    snippet = ContextBlock(by=Variants(field="level", texts={"easy": "", "hard": "Tested."}), cue="task format")
    spec = ContextSpec(
        name="s",
        description="d",
        contexts=(ContextItem(id="x", system=("snippet",), template="{task}!"),),
        blocks={"snippet": snippet},
        edits=(ContextEdit(name="cut", remove=("snippet",)),),
    )

    with pytest.raises(DesignError) as caught:
        build(replace(REPLAY, arms=(Arm(arm="test", context="s", edits=("cut",)), ARMS[1])), s=spec)

    assert "context x of arm test and context x of arm test under the edit cut" in caught.value.faults[0].found
    assert caught.value.faults[0].found.endswith("(task 't1' and 1 more)")


@pytest.mark.parametrize(
    ("arms", "codes"),
    [
        ((replace(ARMS[0], edits=("announcment",)), ARMS[1]), ["unknown-name"]),
        ((ARMS[0], replace(ARMS[1], edits=("announcement",))), ["unknown-name"]),
        ((ARMS[0], replace(ARMS[1], where={"level": ("easy", "medium")})), ["unknown-name"]),
        ((ARMS[0], replace(ARMS[1], where={"levle": ("easy",)})), ["unknown-name", "arm-without-task"]),
        ((ARMS[0], replace(ARMS[1], where={"level": ()})), ["arm-without-task"]),
        ((ARMS[0], replace(ARMS[1], where={"level": ("easy",), "id": ("t4",)})), ["arm-without-task"]),
        (
            (replace(ARMS[0], where={"level": ("easy",)}), replace(ARMS[1], where={"level": ("hard",)})),
            ["no-common-task", "no-common-task"],
        ),
        ((replace(ARMS[0], spec="exam"), ARMS[1]), ["spec-on-test"]),
        ((ARMS[0], ARMS[1], replace(ARMS[2], spec=None)), ["spec-missing"]),
        ((ARMS[0], ARMS[1], ARMS[1]), ["duplicate", "duplicate"]),
        ((ARMS[0], ARMS[1], replace(ARMS[2], spec="chat")), ["duplicate"]),
        ((ARMS[0], replace(ARMS[1], arm=" deploy")), ["bad-name"]),
    ],
)
def test_a_design_that_could_not_be_estimated_is_refused(arms: tuple[Arm, ...], codes: list[str]) -> None:
    """Before a call is paid, what its score table would be refused for."""
    found = refuse(replace(REPLAY, arms=arms))

    assert list(dict.fromkeys(found)) == list(dict.fromkeys(codes))
    assert codes[:1] == found[:1]


def test_arms_of_a_contrast_need_one_partner() -> None:
    """A condition for some tasks alone is fine while another arm asks them too."""
    arms = (Arm(arm="A", context="exam"), Arm(arm="B", context="chat"), Arm(arm="C", context="editor", where={"level": ("hard",)}))

    assert {one.cell.arm for one in build(replace(REPLAY, arms=arms))} == {"A", "B", "C"}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"contexts": ()}, "context-not-known"),
        ({"contexts": (ContextItem(id="x", template="{task}"),)}, "context-not-known"),
        ({"contexts": (ContextItem(id="x", system="", template="task"),)}, "task-placeholder-missing"),
        ({"contexts": (ContextItem(id="x", system=("b",), template="{task}"),)}, "unknown-name"),
        ({"contexts": CHAT.contexts * 2}, "duplicate"),
        ({"edits": (ContextEdit(name="cut", remove=("b",)),)}, "unknown-name"),
    ],
)
def test_contexts_that_cannot_be_composed_are_refused(change: dict[str, Any], code: str) -> None:
    """Also where they were never registered."""
    assert set(refuse(chat=replace(CHAT, **change))) == {code}


def test_all_faults_are_told_at_once_and_each_once() -> None:
    """Tasks, arms and contexts alike; a context file that two arms share is not told twice."""
    broken = replace(CHAT, contexts=(ContextItem(id="x", system=("b",), template="{task}"),))
    arms = (Arm(arm="test", context="chat", edits=("none",)), Arm(arm="deploy", context="chat", where={"level": ("odd",)}))

    found = refuse(replace(REPLAY, arms=arms), (*TASKS, TASKS[0]), chat=broken)

    assert found == ["duplicate", "unknown-name", "unknown-name", "unknown-name", "arm-without-task"]


def test_ten_thousand_faults_are_counted_not_listed() -> None:
    """A block without a fallback meets every task; the first two hundred are told."""
    block = ContextBlock(by=Variants(field="language", texts={"go": "x"}))
    spec = ContextSpec(name="s", description="d", contexts=(ContextItem(id="x", system=("b",), template="{task}"),), blocks={"b": block})
    tasks = tuple(Task(id=f"t{number}", prompt=f"p{number}") for number in range(1000))

    found = refuse(replace(REPLAY, arms=(Arm(arm="test", context="s"), ARMS[1])), tasks, s=spec)

    assert (found[0], found[-1], len(found)) == ("no-variant", "more-faults", 201)
