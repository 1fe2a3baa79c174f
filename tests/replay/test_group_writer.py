"""Groups of intents and outcomes: what waits at the same time is written in one go."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from audit.records.model_response import Purpose, Response
from audit.replay.call_engine import read_clock
from audit.replay.group_writer import GroupWriter
from audit.replay.run_store import Call, CallIntent, RunStore, build_call, open_store
from registry.codec.canonical_documents import Json

BODY: dict[str, Json] = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "?"}]}


class CountingStore:
    """A run folder that notes how many outcomes and intents each group has."""

    def __init__(self, store: RunStore) -> None:
        self.path = store.path
        self.groups: list[tuple[int, int]] = []
        self._store = store
        self.find_outcomes, self.list_lost, self.list_models = store.find_outcomes, store.list_lost, store.list_models

    def write(self, outcomes: Sequence[tuple[CallIntent, Response]], calls: Sequence[Call], *, at: str) -> Sequence[CallIntent | None]:
        """Write a group."""
        self.groups.append((len(outcomes), len(calls)))
        return self._store.write(outcomes, calls, at=at)


def write_calls(folder: Path, gather_s: float) -> list[tuple[int, int]]:
    """Write the intent of a call, then its outcome and the intent of another call a moment apart; return the sizes of the groups."""
    run_store = open_store(folder, create=True)
    store = CountingStore(run_store)
    first, second = (build_call(BODY, index=index, purpose=Purpose.REPLAY) for index in range(2))

    async def go() -> None:
        async with GroupWriter(store, read_clock) as writer:
            intent = await writer.intend(first)
            assert intent is not None
            writer.gather_s = gather_s
            response = Response(key=first.key, request=first.request, purpose=Purpose.REPLAY, model_requested="m", text="ok")
            settling = asyncio.create_task(writer.settle(intent, response))
            # Long enough for a group without a wait to be on its way.
            await asyncio.sleep(0.05)
            await asyncio.gather(settling, writer.intend(second))

    asyncio.run(go())
    assert set(run_store.find_outcomes([first.key, second.key])) == {first.key}
    assert [intent.key for intent in run_store.list_lost()] == [second.key]
    run_store.close()
    return store.groups


def test_entries_that_come_while_a_group_gathers_are_written_with_it(tmp_path: Path) -> None:
    """With a wait there is one transaction of both; without one, each is written at once."""
    assert write_calls(tmp_path / "together", 1.0) == [(0, 1), (1, 1)]
    assert write_calls(tmp_path / "apart", 0.0) == [(0, 1), (1, 0), (0, 1)]
