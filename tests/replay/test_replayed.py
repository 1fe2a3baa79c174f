"""What a run folder says of its replay: the account that supplements and checklists print."""

from dataclasses import replace
from pathlib import Path

import pytest

from audit.records.model_response import Attempt, Failure, Purpose, Response, Usage
from audit.replay.replay_provenance import (
    CONTEXTS,
    LONGEST_BYTES,
    SOURCES,
    RequestTally,
    build_provenance,
    build_replayed,
    describe_budget,
    withhold_prompts,
)
from audit.replay.run_store import RunStore, open_store, put_replay, put_version
from registry.codec.canonical_documents import to_document
from registry.records.replay_run import Arm, ArmOutcomes, Budget, Policy, Replay, ReplayAccount, Task
from registry.records.specification import ContextBlock, ContextItem, ContextSpec, Tool
from registry.report.minimum_reporting import describe_cues, describe_mapping, describe_outcomes
from tests.replay.calling import make_calls

TASKS = tuple(Task(id=f"t{one}", prompt="p", fields={"language": "go" if one else "python"}) for one in range(3))
ARMS = (
    Arm(arm="test", context="exam"),
    Arm(arm="deploy", spec="chat", context="chat.yaml"),
    Arm(arm="deploy", spec="editor", context="editor", where={"language": ("go",)}),
)
REPLAY = Replay(name="made", tasks="tasks.csv", policy=Policy(model="m-1", max_tokens=10), arms=ARMS, samples=2, budget=Budget(calls=1200))
EXAM = ContextSpec(
    name="Exam",
    description="d",
    blocks={
        "role": ContextBlock(text="R"),
        "exam": ContextBlock(text="E", cue="explicit disclosure"),
        "unused": ContextBlock(text="U", cue="task format"),
    },
    contexts=(ContextItem(id="E1", system=("role", "exam"), template="{task}", cues=("prose register",)),),
)
CHAT = ContextSpec(name="Chat", description="d", contexts=(ContextItem(id="C1", system="", template="{task}"),))
TOOL = Tool(name="read", description="d", input_schema={})
EDITOR = ContextSpec(
    name="Editor", description="d", contexts=(ContextItem(id="D1", system="", template="{task}", tools=(TOOL,), scaffold="IDE"),)
)


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    """A run folder with its documents and no call yet."""
    made = open_store(tmp_path / "run", create=True)
    put_replay(made, REPLAY, TASKS)
    put_version(made, SOURCES, {"files": {"tasks.csv": "a" * 64, "chat.yaml": "b" * 64}, "specs": {"exam": "CTX-A@1", "editor": "CTX-B@2"}})
    return made


def keep_contexts(store: RunStore, *, chat: ContextSpec = CHAT) -> ReplayAccount:
    """Keep the contexts of the three arms, and return what the folder then says."""
    put_version(store, CONTEXTS, {name: to_document(one) for name, one in (("exam", EXAM), ("chat.yaml", chat), ("editor", EDITOR))})
    found = build_replayed(store, RequestTally())
    assert found is not None
    return found


def test_an_arm_says_its_tasks_and_where_its_contexts_come_from(store: RunStore) -> None:
    """Registered specifications by reference, files by digest; `where` leaves two of three tasks."""
    found = keep_contexts(store)

    assert [(one.contexts, one.tasks) for one in found.arms] == [("exam", 3), ("chat.yaml", 3), ("editor", 2)]
    assert [(one.reference, one.file) for one in found.contexts] == [("CTX-A@1", None), (None, "b" * 64), ("CTX-B@2", None)]
    assert found.tasks_file == f"tasks.csv, SHA-256 {'a' * 64}"
    assert "deploy (editor): 2 tasks (language go), each in the 1 context of CTX-B@2" in describe_mapping(found)
    assert "2 responses to each task in each context" in describe_mapping(found)


def test_one_file_among_registered_specifications_leaves_the_side_without_an_owner(store: RunStore) -> None:
    """No one answers for a file, so the deployment side as a whole is owned by no one on record."""
    found = keep_contexts(store)

    assert found.list_references("test") == ("CTX-A@1",)
    assert found.list_references("deploy") == ()


def test_only_cues_that_were_sent_are_named(store: RunStore) -> None:
    """Those of blocks in a context of the test side and of the contexts themselves; a block that stands nowhere was not sent."""
    assert describe_cues(keep_contexts(store)) == "marked in the contexts that were replayed: prose register, explicit disclosure"


def test_tools_are_told_for_each_side(store: RunStore) -> None:
    """A tool of one side alone is a difference between the sides."""
    keep_contexts(store)

    assert build_provenance(store).tools == "test, deploy (chat): no tools; deploy (editor): tools read; scaffold IDE"


def test_contexts_too_long_to_print_are_known_by_digest_and_not_disclosed(store: RunStore) -> None:
    """All of them, so that no side is shown alone; and then no checklist can call the prompts disclosed."""
    long = replace(CHAT, contexts=(replace(CHAT.contexts[0], system="x" * LONGEST_BYTES),))
    found = keep_contexts(store, chat=long)

    assert [one.spec for one in found.contexts] == [None, None, None]
    assert all(len(one.digest) == 64 for one in found.contexts)
    assert build_provenance(store).system_prompts is None
    assert describe_cues(found) is None


def test_withheld_prompts_leave_their_digests(store: RunStore) -> None:
    """The digest of a composition does not depend on whether it is shown."""
    shown = keep_contexts(store)

    withheld = withhold_prompts(build_provenance(store))

    assert withheld.system_prompts is None
    assert withheld.replayed is not None
    assert [one.digest for one in withheld.replayed.contexts] == [one.digest for one in shown.contexts]
    assert not withheld.replayed.is_disclosed


def test_a_folder_without_contexts_says_nothing_of_them(store: RunStore) -> None:
    """As one that was written before they were kept."""
    assert build_replayed(store, RequestTally()) is None
    assert build_provenance(store).system_prompts is None


def test_repetitions_that_may_be_billed_twice_are_those_after_no_answer() -> None:
    """A refusal by 529 or no connection was never worked on; a request without an answer, or given up by a gateway, may have been."""
    tally = RequestTally()
    attempts = [(529, "overloaded"), (None, "time-out"), (504, "gateway"), (None, "unreachable"), (200, None)]
    tally.add(
        Response(
            key="k",
            request="r",
            purpose=Purpose.REPLAY,
            model_requested="m",
            text="ok",
            attempts=tuple(Attempt(status=status, request_id=None, error=error) for status, error in attempts),
        )
    )

    assert (tally.sent, tally.repeated, tally.doubtful) == (5, 4, 2)


def test_calls_in_batches_have_no_requests_of_their_own() -> None:
    """Also where a batch says of a request that it failed, which is kept as an attempt."""
    tally = RequestTally()
    attempt = Attempt(status=None, request_id="req_1", error="api_error")
    failure = Failure(code="endpoint-error", message="no")
    tally.add(Response(key="k", request="r", purpose=Purpose.REPLAY, model_requested="m", attempts=(attempt,), batch="b", failure=failure))

    assert (tally.sent, tally.calls) == (0, 1)


def test_outcomes_are_told_without_those_of_edits(store: RunStore) -> None:
    """The checklist is about the two sides; what was never asked is told as well."""
    counts = ArmOutcomes(
        arm="test", spec=None, cue_removed=None, planned=9, answered=6, refused=2, truncated=1, empty=0, failures={"time-out": 1}
    )
    found = replace(keep_contexts(store), outcomes=(counts, replace(counts, cue_removed="announcement")))

    assert describe_outcomes(found) == "answers as they came: test: 2 refused, 1 cut, 1 time-out, 2 never asked of 9"


def test_limits_are_told_in_words() -> None:
    """None when a replay sets none: that is not a limit of nothing."""
    assert describe_budget(Budget(calls=1200, output_tokens=5, usd=2.5)) == "1,200 calls, 5 output tokens, $2.50"
    assert describe_budget(Budget()) is None


def test_a_call_that_was_never_made_is_none_that_was_spent_or_made_again(store: RunStore) -> None:
    """One that the end of a run kept from being sent, and that the next run made, is one call."""
    keep_contexts(store)
    call = next(make_calls(1))
    never = Response(
        key=call.key, request=call.request, purpose=call.purpose, model_requested="m", failure=Failure(code="interrupted", message="ended")
    )
    made = replace(never, failure=None, text="ok", usage=Usage(input_tokens=3, output_tokens=2))
    for response in (never, made):
        (intent,) = store.intend([call], at="2026-11-21T12:00:00+00:00")
        store.settle([(intent, response)])

    found = build_provenance(store)

    assert found.budget_spent == "1 call, 3 input tokens, 2 output tokens"
    assert found.replayed is not None
    assert found.replayed.requests.calls_again == 0
