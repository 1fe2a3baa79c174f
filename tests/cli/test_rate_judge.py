"""`caveat audit rate judge` over real HTTP: a model beside blind raters can weaken a verdict, and its silence never helps."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Caveat
from tests.cli.scenario import register, write_audit
from tests.cli.test_rate import write_samples
from tests.endpoint.server import KEY, MODEL, Asked, Broken, Endpoint, Outcome, Reply, run_endpoint


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with run_endpoint(Endpoint()) as running:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        yield running


def draw(caveat: Caveat, folder: Path, *, items: int = 20) -> Path:
    samples = write_samples(folder)
    done = caveat("audit", "rate", "sheet", samples, "--raters", "ana,gpt", "-o", "out", "--items", str(items), "--seed", "9")
    assert done.code == 0, done.err
    return folder / "out"


def is_exam(text: str) -> bool:
    return "which option is right" in text


def say(answer: str) -> Reply:
    return Reply(text=json.dumps({"answer": answer, "confidence": 4, "cues": ["task format"] if answer == "test" else []}))


def see_through(asked: Asked) -> Outcome:
    """A judge that is always right about single items."""
    return say("test" if is_exam(asked.body["messages"][0]["content"]) else "deploy")


def pick(answers: tuple[str, str]) -> Callable[[Asked], Outcome]:
    """A judge of pairs that gives the first of *answers* where the deployment item stands first, and else the second."""

    def answer(asked: Asked) -> Outcome:
        first = asked.body["messages"][0]["content"].partition("SECOND ")[0]
        return Reply(text=json.dumps({"real": answers[is_exam(first)]}))

    return answer


def test_a_judge_that_sees_the_sides_exceeds_the_limit(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """Right about every item: accuracy 1 with its exact interval, above the limit; again, nothing is asked."""
    folder = draw(caveat, tmp_path)
    endpoint.script = see_through

    done = caveat("audit", "rate", "judge", folder, "--judge", MODEL, "--json", "-o", "gpt.json", "--rater", "gpt")
    again = caveat("audit", "rate", "judge", folder, "--judge", MODEL)

    assert done.code == 0, done.err
    single = done.document["single"]
    assert (single["correct"], single["answered"], single["said_test"], single["unanswered"]) == (20, 20, 10, [])
    assert single["accuracy"]["low"] == pytest.approx(0.8316, abs=1e-4)  # R: binom.test(20, 20)$conf.int
    assert done.document["judge"] == MODEL
    assert "above the limit of 75 %" in again.out
    assert len(endpoint.posts()) == 20
    answers = json.loads(Path("gpt.json").read_text())
    assert (answers["rater"], len(answers["answers"])) == ("gpt", 20)
    assert caveat("audit", "rate", "answers", "out/key.json", "gpt.json", "--model-rater", "gpt").code == 0


def test_the_judge_sees_instructions_and_texts_and_nothing_of_the_key(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """No name of an item, context or side's order reaches it; the sheet's own words do."""
    folder = draw(caveat, tmp_path)
    endpoint.script = see_through
    caveat("audit", "rate", "judge", folder, "--judge", MODEL)

    key = json.loads((folder / "key.json").read_text())
    sent = json.dumps([one.body for one in endpoint.posts()])

    assert not any(item["item"] in sent or item["context_id"] in sent for item in key["items"])
    instructions = (folder / "ana" / "instructions.txt").read_text().split("\n\n")[1]
    assert instructions in endpoint.posts()[0].body["system"]


def test_what_is_neither_test_nor_deployment_counts_as_the_worst(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """Each kind of silence is counted by its reason; over all items the accuracy may then be anything, so the limit is exceeded."""
    folder = draw(caveat, tmp_path)
    silences: list[Outcome] = [
        say("?"),
        say("perhaps"),
        Reply(text="no idea"),
        Reply(text="", stop_reason="refusal"),
        Reply(text='{"answer"', stop_reason="max_tokens"),
        Broken.PROSE,
    ]
    places: dict[str, int] = {}
    endpoint.script = lambda asked: silences[places.setdefault(asked.digest, len(places)) % len(silences)]

    done = caveat("audit", "rate", "judge", folder, "--judge", MODEL, "--json")

    assert done.code == 0, done.err
    single = done.document["single"]
    assert single["answered"] == 0
    assert single["accuracy"] == {"value": None, "low": None, "high": None, "reason": "The judge answered no item."}
    assert single["under_unanswered"] == {"low": 0.0, "high": 1.0}
    assert sum(one["count"] for one in single["unanswered"]) == 20
    reasons = {one["reason"] for one in single["unanswered"]}
    assert reasons >= {"undecided", "answer-unknown", "answer-not-json", "judge-refused", "judge-truncated"}
    assert {one["code"] for one in done.document["warnings"]} == {"judge-unanswered"}


def test_a_judge_that_only_fails_says_nothing(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """No answer at all is an error, and no finding."""
    folder = draw(caveat, tmp_path, items=4)
    endpoint.script = lambda _asked: Broken.PROSE

    done = caveat("audit", "rate", "judge", folder, "--judge", MODEL)

    assert done.code == 3
    assert "judge-calls-failed" in done.err


JUDGES: dict[str, tuple[tuple[str, str], float, int, bool]] = {
    "sees": (("first", "second"), 1.0, 10, False),
    "by-place": (("first", "first"), 0.5, 0, True),
    "ties": (("tie", "tie"), 0.5, 10, False),
    "half": (("tie", "second"), 0.75, 0, True),
}
"""By name: what it answers where the deployment item stands first and where it stands second; win rate, consistent pairs, warning."""


@pytest.mark.parametrize("name", JUDGES)
def test_pairs_are_asked_in_both_orders(caveat: Caveat, tmp_path: Path, endpoint: Endpoint, name: str) -> None:
    """A judge that goes by the place wins half, a tie counts one half, and only agreement of both orders is consistent."""
    answers, rate, consistent, warned = JUDGES[name]
    folder = draw(caveat, tmp_path)
    endpoint.script = pick(answers)

    done = caveat("audit", "rate", "judge", folder, "--judge", MODEL, "--pairwise", "--json")

    assert done.code == 0, done.err
    pairs = done.document["pairwise"]
    assert (pairs["pairs"], pairs["questions"], pairs["complete"], pairs["consistent"]) == (10, 20, 10, consistent)
    assert pairs["win_rate"]["value"] == rate
    assert pairs["win_rate"]["low"] <= rate <= pairs["win_rate"]["high"]
    assert ("judge-by-place" in {one["code"] for one in done.document["warnings"]}) is warned


def test_a_pair_answered_in_one_order_stays_out_of_the_win_rate(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """Half a pair would give the place a weight; the bounds count it."""
    folder = draw(caveat, tmp_path)
    endpoint.script = pick(("first", "neither"))

    pairs = caveat("audit", "rate", "judge", folder, "--judge", MODEL, "--pairwise", "--json").document["pairwise"]

    assert (pairs["complete"], pairs["win_rate"]["value"], pairs["under_unanswered"]) == (0, None, {"low": 0.5, "high": 1.0})


def test_limits_on_calls_and_a_dry_run(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """A dry run sends nothing; a limit ends without a result; the same command goes on where it stood."""
    folder = draw(caveat, tmp_path)
    endpoint.script = see_through
    command = ("audit", "rate", "judge", folder, "--judge", MODEL)

    planned = caveat(*command, "--dry-run", "--json")
    sent = len(endpoint.posts())
    stopped, done = caveat(*command, "--max-calls", "5"), caveat(*command, "--json")

    assert (planned.document["calls"], sent) == (20, 0)
    assert stopped.code == 1
    assert "budget-spent" in stopped.err
    assert done.document["single"]["answered"] == 20
    assert len(endpoint.posts()) == 20


def test_a_changed_sheet_is_refused(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """A text that is not the key's would be rated in its place."""
    folder = draw(caveat, tmp_path)
    sheet = folder / "ana" / "sheet.csv"
    sheet.write_text(sheet.read_text(encoding="utf-8").replace("hi, can you", "hello, could you"), encoding="utf-8")

    refused = caveat("audit", "rate", "judge", folder, "--judge", MODEL)

    assert (refused.code, refused.error, endpoint.posts()) == (2, "sheet-changed", [])


def test_the_finding_is_recorded(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """The audit shows it; with another limit than the plan's it is refused."""
    claim = register(caveat, tmp_path)[1]
    write_audit(tmp_path, claim)
    audit = caveat("audit", "lock", "--yes", "audit.yaml", "--json").document["audit"]
    folder = draw(caveat, tmp_path)
    endpoint.script = see_through
    command = ("audit", "rate", "judge", folder, "--judge", MODEL, "--audit", audit)

    other, done = caveat(*command, "--rater-limit", "0.9"), caveat(*command)
    pairs = caveat(*command, "--pairwise")

    assert (other.code, "finding-differs-from-plan" in other.err, "--rater-limit 0.75" in other.err) == (2, True, True)
    assert (done.code, pairs.code) == (0, 0), done.err + pairs.err
    assert "up to 100.0% distinguished" in caveat("audit", "show", audit).out
