"""`caveat monitor` as a person uses it: lock, add windows, read, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Caveat
from tests.monitoring.conftest import MONITOR, PLAN, set_clock, window

Write = Callable[..., Path]
CLAIM = "CLM-EXAMPLE-2026-0001-T"


def test_windows_are_added_and_an_alarm_makes_the_claim_need_review(watched: Path, caveat: Caveat, write: Write) -> None:
    quiet = caveat("monitor", "add", MONITOR, write(window(1), window(2)), "--json").document
    assert (quiet["added"], quiet["verdict"], quiet["reading"]["alarm"]) == ([1, 2], "open", None)
    assert caveat("status", "--json").code == 0
    loud = caveat("monitor", "add", MONITOR, write(*(window(number, bad=0.4) for number in range(3, 8))))
    assert loud.out.startswith("ALARM in window 3. Contradicted in production")
    shown = caveat("monitor", "show", MONITOR)
    assert shown.code == 1
    assert "Production gives no ED" in shown.out
    claim = caveat("claim", "show", CLAIM, "--json").document
    (cause,) = claim["status"]["causes"]
    assert (claim["status"]["staleness"], cause["kind"], cause["what"]) == ("needs_review", "monitor", MONITOR)
    gate = caveat("gate", "card.md", "--json")
    assert (gate.code, "monitor-alarm" in gate.out) == (1, True)
    before = cause["entry"] - 1
    assert caveat("monitor", "show", MONITOR, "--as-of", str(before), "--json").document["verdict"] == "open"
    assert caveat("claim", "show", CLAIM, "--as-of", str(before), "--json").document["status"]["causes"] == []
    assert caveat("admin", "log", "check").code == 0
    dismissed = caveat("stale", "dismiss", CLAIM, "--cause", "monitor", "--reason", "A test of the pipeline")
    assert dismissed.code == 0, dismissed.err
    assert caveat("claim", "show", CLAIM, "--json").document["status"]["causes"] == []


def test_the_same_window_again_changes_nothing_and_another_needs_a_reason(watched: Path, caveat: Caveat, write: Write) -> None:
    caveat("monitor", "add", MONITOR, write(window(1)))
    size = caveat("status", "--json").document["log_size"]
    assert caveat("monitor", "add", MONITOR, write(window(1)), "--json").document["known"] == [1]
    assert caveat("monitor", "add", MONITOR, write(window(1, bad=0.03))).error == "window-differs"
    assert caveat("status", "--json").document["log_size"] == size
    assert caveat("monitor", "add", MONITOR, write(window(1, bad=0.03)), "--reason", "labels were late").code == 0
    shown = caveat("monitor", "show", MONITOR)
    assert "window 1 was corrected: labels were late" in shown.out


def test_a_correction_does_not_take_an_alarm_back(watched: Path, caveat: Caveat, write: Write) -> None:
    caveat("monitor", "add", MONITOR, write(window(1, bad=0.5)))
    caveat("monitor", "add", MONITOR, write(window(1)), "--reason", "the export was wrong")
    document = caveat("monitor", "show", MONITOR, "--json").document
    assert document["windows"][-1]["payload"]["reading"]["alarm"] == 1
    assert document["state"] == "alarm"


def test_a_csv_file_gives_what_json_gives(watched: Path, caveat: Caveat, write: Write) -> None:
    batch = window(1)
    lines = ["monitor,order,from,to,stratum,items,reviewed,total,squares,users,inclusion,pending,suppressed"]
    for cell in batch["cells"]:
        values = [cell[name] for name in ("stratum", "items", "reviewed", "total", "squares", "users", "inclusion")]
        # A day is its midnight, here as in JSON.
        lines.append(",".join(map(str, [MONITOR, 1, batch["from"][:10], batch["to"][:10], *values, 0, "false"])))
    (watched / "window.csv").write_text("\n".join(lines) + "\n")
    del batch["anchors"]
    readings = [caveat("monitor", "add", MONITOR, path, "--dry-run", "--json").document["reading"] for path in ("window.csv", write(batch))]
    assert readings[0] == readings[1]


def test_a_window_without_data_says_why(watched: Path, caveat: Caveat, write: Write) -> None:
    missing = window(2, cells=[], missing="the pipeline was down")
    del missing["anchors"]
    assert caveat("monitor", "add", MONITOR, write(window(1), missing)).code == 0
    shown = caveat("monitor", "show", MONITOR)
    assert shown.code == 3
    assert "window 2 has no data: the pipeline was down" in shown.out


def test_an_alarm_of_the_anchors_ends_the_monitor(watched: Path, caveat: Caveat, write: Write) -> None:
    wrong = {"good": 100, "bad": 100, "false_positive": 60, "false_negative": 9}
    answer = caveat("monitor", "add", MONITOR, write(window(1, bad=0.5, anchors=wrong)))
    assert "The judge changed" in answer.out
    assert "The monitor ended" in answer.out
    assert caveat("monitor", "add", MONITOR, write(window(2))).error == "monitor-ended"
    assert caveat("claim", "show", CLAIM, "--json").document["status"]["causes"] == []


CELLS = window(1)["cells"]
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("inclusion-differs", {"cells": [CELLS[0], CELLS[1] | {"inclusion": 0.2}]}),
    ("inclusion-differs", {"cells": [CELLS[0] | {"reviewed": 399}, CELLS[1]]}),
    ("inclusion-differs", {"cells": [CELLS[0], CELLS[1] | {"reviewed": 250}]}),
    ("inclusion-differs", {"cells": [CELLS[0], CELLS[1] | {"reviewed": 4000}]}),
    ("cell-too-small", {"cells": [CELLS[0] | {"users": 12}, CELLS[1]]}),
    ("cell-too-small", {"cells": [{name: value for name, value in CELLS[0].items() if name != "users"}, CELLS[1]]}),
    ("cell-impossible", {"cells": [CELLS[0] | {"reviewed": 401}, CELLS[1]]}),
    ("cell-impossible", {"cells": [CELLS[0] | {"total": 500}, CELLS[1]]}),
    ("cell-impossible", {"cells": [CELLS[0] | {"total": -1}, CELLS[1]]}),
    ("cell-impossible", {"cells": [CELLS[0] | {"users": 4000}, CELLS[1]]}),
    ("cell-impossible", {"cells": [CELLS[0]]}),
    ("cell-impossible", {"cells": [CELLS[0], *CELLS]}),
    ("cell-impossible", {"cells": [CELLS[0] | {"suppressed": True}, CELLS[1]]}),
    ("monitor-differs-from-lock", {"cells": [CELLS[0] | {"stratum": "other"}, CELLS[1]]}),
    ("monitor-differs-from-lock", {"judge": "SCF-EXAMPLE-2026-0001-T@2"}),
    ("window-not-as-planned", {"from": "2026-12-20T00:00:00Z", "to": "2026-12-27T00:00:00Z"}),
    ("window-missing", window(2)),
    ("not-matured", window(30)),
    ("not-valid", {"cells": [CELLS[0] | {"text": "a message"}, CELLS[1]]}),
    ("not-valid", {"cells": []}),
]


@pytest.mark.parametrize(("code", "changes"), REFUSED, ids=[f"{code} {place}" for place, (code, _) in enumerate(REFUSED)])
def test_a_window_that_does_not_fit_is_refused_and_nothing_is_recorded(
    watched: Path, caveat: Caveat, write: Write, code: str, changes: dict[str, Any]
) -> None:
    size = caveat("status", "--json").document["log_size"]
    answer = caveat("monitor", "add", MONITOR, write(window(1) | changes))
    assert (answer.error, answer.code) == (code, 2), answer.err
    assert "a message" not in answer.err
    assert caveat("status", "--json").document["log_size"] == size


def test_a_column_that_could_hold_texts_is_refused(watched: Path, caveat: Caveat) -> None:
    (watched / "window.csv").write_text("monitor,order,from,to,stratum,N,message\n")
    assert caveat("monitor", "add", MONITOR, "window.csv").error == "text-in-batch"


def test_a_plan_is_locked_before_its_stream_and_for_a_claim_with_a_limit(
    watched: Path, caveat: Caveat, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert caveat("monitor", "lock", "monitor.yaml", "--yes").error == "window-before-lock"
    assert caveat("monitor", "plan", "CLM-EXAMPLE-2026-0002-R").error == "no-limit-to-monitor"
    from tests.monitoring.conftest import LOCKED_AT

    set_clock(monkeypatch, LOCKED_AT)
    draft = caveat("monitor", "plan", CLAIM).out
    assert "start: 2026-12-31 " in draft
    Path("draft.yaml").write_text(draft)
    assert caveat("monitor", "lock", "draft.yaml", "--dry-run").error == "not-valid"
    Path("draft.yaml").write_text(draft.replace("…", "SCF-EXAMPLE-2026-0001-T@1"))
    locked = caveat("monitor", "lock", "draft.yaml", "--dry-run")
    assert locked.code == 0, locked.err
    assert "warning: an alarm will stay in doubt: there are no anchors" in locked.out
    Path("zero.yaml").write_text(PLAN.format(claim=CLAIM).replace("rest: 0.1", "rest: 0"))
    refused = caveat("monitor", "lock", "zero.yaml", "--yes")
    assert (refused.error, "must lie in (0, 1]" in refused.err) == ("not-valid", True)


def test_without_a_name_every_monitor_is_listed(watched: Path, caveat: Caveat, write: Write) -> None:
    caveat("monitor", "add", MONITOR, write(window(1)))
    (row,) = caveat("monitor", "show", "--json").document["monitors"]
    assert (row["monitor"], row["windows"], row["state"]) == (MONITOR, 1, "silent")
    listed = caveat("monitor", "show")
    assert (listed.code, MONITOR in listed.out) == (0, True)
    assert caveat("monitor", "show", MONITOR, "--csv").code == 2
    assert caveat("monitor", "show", "--figure", "band.svg").code == 2


def test_a_monitor_ends_with_a_reason(watched: Path, caveat: Caveat, write: Write) -> None:
    assert caveat("monitor", "end", MONITOR, "-m", "new sampler", "--yes").code == 0
    assert caveat("monitor", "add", MONITOR, write(window(1))).error == "monitor-ended"


def span(number: int, *, score: float | None, pi: float | None = 1, stratum: str = "flagged", **attributes: Any) -> dict[str, Any]:
    """One span of production, with a message text that nobody may read."""
    known: dict[str, Any] = {
        "gen_ai.response.model": "m-1",
        "gen_ai.response.id": f"r-{number}",
        "caveat.unit": f"user-{number}",
        "caveat.stratum": stratum,
        "gen_ai.input.messages": "THE SECRET MESSAGE",
        **({} if pi is None else {"caveat.pi": pi}),
        **attributes,
    }
    kinds = {bool: "boolValue", str: "stringValue"}
    events = []
    if score is not None:
        events = [{"name": "gen_ai.evaluation.result", "attributes": _attributes({"gen_ai.evaluation.name": "scheming", "gen_ai.evaluation.score.value": score}, kinds)}]  # fmt: skip  # noqa: E501
    return {
        "spanId": f"{number:016x}",
        "startTimeUnixNano": "1798848000000000000",
        "attributes": _attributes(known, kinds),
        "events": events,
    }


def _attributes(values: dict[str, Any], kinds: dict[type, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {kinds.get(type(value), "doubleValue"): value}} for key, value in values.items()]


def traces(spans: list[dict[str, Any]], environment: str = "production") -> dict[str, Any]:
    resource = {"attributes": [{"key": "deployment.environment.name", "value": {"stringValue": environment}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}


def test_traces_become_windows_and_no_message_is_kept(watched: Path, caveat: Caveat) -> None:
    spans = [span(number, score=float(number % 10 == 0)) for number in range(60)]
    spans += [span(100 + number, score=0.0, pi=0.1, stratum="rest", **{"caveat.chosen": number < 30}) for number in range(200)]
    late = [span(1000, score=None)]
    anchors = [span(2000 + number, score=float(number < 4), **{"caveat.anchor": "bad" if number < 5 else "good"}) for number in range(8)]
    Path("traces.json").write_text(json.dumps(traces(spans + late + anchors)))
    answer = caveat("monitor", "add", MONITOR, "traces.json", "--json")
    assert answer.code == 0, answer.err
    assert answer.document["reading"]["items"] == 261
    (recorded,) = caveat("monitor", "show", MONITOR, "--json").document["windows"]
    flagged, rest = recorded["payload"]["cells"]
    assert recorded["payload"]["anchors"] == {"good": 3, "bad": 5, "false_positive": 0, "false_negative": 1}
    assert (flagged["items"], flagged["reviewed"], flagged["total"], flagged["pending"]) == (61, 60, 6, 1)
    assert (rest["items"], rest["reviewed"], rest["total"]) == (200, 30, 0)
    assert b"SECRET" not in Path("caveat.db").read_bytes()


@pytest.mark.parametrize(
    ("code", "spans"),
    [
        ("inclusion-unknown", [span(1, score=0, pi=None)]),
        ("inclusion-unknown", [span(1, score=0, pi=0.1, stratum="rest")]),
        ("inclusion-differs", [span(1, score=0, pi=0.5, stratum="rest", **{"caveat.chosen": True})]),
        ("score-out-of-range", [span(1, score=2)]),
    ],
)
def test_traces_without_what_a_monitor_needs_are_refused(watched: Path, caveat: Caveat, code: str, spans: list[dict[str, Any]]) -> None:
    Path("traces.json").write_text(json.dumps(traces(spans)))
    answer = caveat("monitor", "add", MONITOR, "traces.json")
    assert (answer.error, "SECRET" in answer.err) == (code, False)


def test_traces_of_another_environment_or_model_are_excluded(watched: Path, caveat: Caveat) -> None:
    other = span(1, score=1.0, **{"gen_ai.response.model": "m-2"})
    Path("traces.jsonl").write_text(json.dumps(traces([span(2, score=1.0)], "staging")) + "\n" + json.dumps(traces([other])))
    assert caveat("monitor", "add", MONITOR, "traces.jsonl").error == "not-matured"
    spans = [span(number, score=0.0) for number in range(30)]
    lines = [traces(spans), traces([span(2, score=1.0)], "staging"), traces([other])]
    Path("traces.jsonl").write_text("\n".join(map(json.dumps, lines)))
    added = caveat("monitor", "add", MONITOR, "traces.jsonl", "--json").document
    assert added["excluded"] == {"spans of other environments": 1, "spans of other models, or of none": 1}
