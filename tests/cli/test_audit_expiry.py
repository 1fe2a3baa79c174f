"""Audits expire: lists go by the clock or by --as-of, documents by the log, and an expired verdict is provisional at most."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from registry.records.verdict import VerdictStanding, find_last_day, is_expired, weaken
from tests.cli.conftest import HERE, Answer, Caveat
from tests.cli.scenario import register, write_audit, write_scores

PLAN = "deployment: {{defensible: true, description: Office work}}\nplan: {{margin: 0.05, replicates: 0{more}}}\n"
Audited = Callable[..., Answer]


@pytest.mark.parametrize(
    ("began", "last"),
    [(date(2026, 11, 21), date(2027, 11, 21)), (date(2028, 2, 29), date(2029, 2, 28)), (date(2026, 12, 31), date(2027, 12, 31))],
)
def test_an_outcome_is_valid_for_twelve_months_by_calendar(began: date, last: date) -> None:
    """The same day of the month, the last one where that month is shorter; the plan's day goes first."""
    assert find_last_day(None, began) == last
    assert find_last_day(date(2030, 1, 1), began) == date(2030, 1, 1)


def test_an_outcome_counts_on_its_last_day_and_not_after_it() -> None:
    """What is not known expires nothing, and a verdict without a standing gets none."""
    last = date(2027, 3, 1)
    assert [is_expired(last, day) for day in (date(2027, 3, 1), date(2027, 3, 2), None)] == [False, True, False]
    assert weaken(VerdictStanding.ESTABLISHED, last, date(2027, 3, 2)) is VerdictStanding.PROVISIONAL
    assert (weaken(None, last, date(2027, 3, 2)), weaken(VerdictStanding.CONDITIONAL, None, last)) == (None, VerdictStanding.CONDITIONAL)


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Set the clock of the commands to a moment."""

    def set_clock(moment: str) -> None:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp())))

    return set_clock


@pytest.fixture
def example(caveat: Caveat, at: Callable[[str], None]) -> Caveat:
    """The command, speaking as EXAMPLE, whose clock may be fixed: on 21 November 2026."""
    at("2026-11-21T12:00")
    return lambda *words: caveat(*("EXAMPLE" if one == "AISI" else one for one in words))


@pytest.fixture
def claim(example: Caveat, tmp_path: Path, at: Callable[[str], None]) -> str:
    """A claim whose audit contradicts it: locked, run on 22 November 2026, valid until 1 March 2027."""
    name = register(example, tmp_path)[0]
    locked = example("audit", "lock", "--yes", write_audit(tmp_path, name, extra=PLAN.format(more=", valid_until: 2027-03-01")), "--json")
    assert locked.code == 0, locked.err
    at("2026-11-22T12:00")
    scores = write_scores(tmp_path / "scores.csv", test=0.02, deploy=0.5)
    done = example("audit", "conclude", locked.document["audit"], scores, "--run-date", "2026-11-22T10:00:00Z", "--json")
    assert done.document["restriction"]["valid_until"] == "2027-03-01", done.err
    return name.partition("@")[0]


def read_status(example: Caveat, *words: str) -> tuple[Any, ...]:
    """Return staleness, expiry and the causes of the first claim of the list."""
    status = example("claim", "list", "--json", *words).document["claims"][0]["status"]
    return status["staleness"], status["gravest"]["is_expired"], [one["kind"] for one in status["causes"]]


def test_a_list_goes_by_the_clock_or_by_as_of(example: Caveat, claim: str, at: Callable[[str], None]) -> None:
    """Nothing is recorded in between: a date after the last day is enough, and an entry is read on its own day."""
    assert read_status(example) == ("current", False, [])
    assert read_status(example, "--as-of", "2027-03-01") == ("current", False, [])
    assert read_status(example, "--as-of", "2027-03-02") == ("needs_review", True, ["expiry"])
    at("2027-03-02T00:00")
    assert read_status(example) == ("needs_review", True, ["expiry"])
    last = example("admin", "log", "show", "--json").document["entries"][-1]["entry"]["seq"]
    assert read_status(example, "--as-of", str(last)) == ("current", False, [])


def test_an_expired_audit_is_named_with_what_to_do(example: Caveat, claim: str, at: Callable[[str], None]) -> None:
    """In the list of stale claims with a new audit as the remedy, in the list of claims and audits, and by both shows."""
    at("2027-03-02T00:00")
    stale = example("stale", "list", "--json").document["claims"][0]
    words = {name: " ".join(example(*name.split()).out.split()) for name in ("claim list", f"claim show {claim}", "audit list")}
    audit = example("audit", "list", "--json").document["audits"][0]

    assert "expiry" in str(stale)
    assert "caveat stale renew" in str(stale)
    assert all("expired" in text for text in words.values()), words
    assert (audit["expired"], audit["valid_until"]) == (True, "2027-03-01")
    assert audit["verdict_standing"] in (None, "provisional")


def test_a_document_goes_by_the_log_and_published_bytes_stay(
    example: Caveat, claim: str, tmp_path: Path, at: Callable[[str], None]
) -> None:
    """The same log gives the same bytes on any day; the next entry after the last day makes new ones that say expired."""
    drawn = ("report", claim, "--html")
    assert example(*drawn, "-o", "first").code == 0
    at("2027-03-02T00:00")
    assert example(*drawn, "-o", "later").code == 0
    pages = [next((tmp_path / name).glob("CLM-*.html")) for name in ("first", "later")]
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert "valid until 2027-03-01" in re.sub(r"\s+", " ", pages[0].read_text(encoding="utf-8"))

    confirmed = example("stale", "confirm", claim, "--cause", "expiry", "--reason", "A year is over")
    assert confirmed.code == 0, confirmed.err
    assert example(*drawn, "-o", "new").code == 0
    page = re.sub(r"\s+", " ", next((tmp_path / "new").glob("CLM-*.html")).read_text(encoding="utf-8"))
    verified = example("verify", pages[0], *HERE)

    assert "this audit was valid until 1 March 2027, and the claim needs review" in page
    assert "superseded" in verified.out.lower(), verified.out + verified.err
    assert read_status(example)[0] == "stale"


def test_a_new_audit_settles_an_expired_one(example: Caveat, claim: str, tmp_path: Path, at: Callable[[str], None]) -> None:
    """The claim is current again; the older contradiction stays listed, as an expired one."""
    at("2027-03-02T12:00")
    draft = write_audit(tmp_path, f"{claim}@1", extra=PLAN.format(more=", seed: 1"))
    audit = example("audit", "lock", "--yes", draft, "--json").document["audit"]
    at("2027-03-03T12:00")
    scores = write_scores(tmp_path / "again.csv", test=0.03, deploy=0.4)
    done = example("audit", "conclude", audit, scores, "--run-date", "2027-03-03T10:00:00Z", "--json")

    outcomes = example("claim", "show", claim, "--json").document["family"]["outcomes"]
    assert done.document["restriction"]["valid_until"] == "2028-03-03", done.err
    assert read_status(example)[2] == []
    assert sorted(one["is_expired"] for one in outcomes) == [False, True]


@pytest.mark.parametrize("step", ["lock", "import"])
def test_a_last_day_before_the_run_is_refused(example: Caveat, tmp_path: Path, step: str) -> None:
    """At the lock and at the import, with the two days; nothing is recorded."""
    name = register(example, tmp_path)[0]
    draft = write_audit(tmp_path, name, extra=PLAN.format(more=", valid_until: 2026-11-20"))
    scores = write_scores(tmp_path / "scores.csv", test=0.02, deploy=0.5)
    words = (
        ("audit", "lock", "--yes", draft) if step == "lock" else ("audit", "conclude", draft, scores, "--run-date", "2026-11-21T10:00:00Z")
    )
    refused = example(*words)

    assert (refused.code, "expires-before-run" in refused.err) == (2, True), refused.err
    assert "2026-11-20" in refused.err
    assert "2026-11-21" in refused.err
    assert example("audit", "list", "--json").document["audits"] == []


def test_scores_older_than_a_year_have_expired_when_they_come(example: Caveat, tmp_path: Path) -> None:
    """The verdict is provisional from the beginning, and the condition says since when."""
    name = register(example, tmp_path)[0]
    scores = write_scores(tmp_path / "scores.csv", test=0.02, deploy=0.5)
    draft = write_audit(tmp_path, name, extra=PLAN.format(more=""))
    done = example("audit", "conclude", draft, scores, "--run-date", "2025-06-30T10:00:00Z", "--json")

    conditions = done.document["restriction"]["classification"]["readings"][0]["conditions"]
    assert ("missing", "the audit expired: it was valid until 2026-06-30") in [
        (one["status"], one["note"]) for one in conditions if one["condition"] == "validity"
    ]
    assert read_status(example)[1:] == (True, ["expiry"])
