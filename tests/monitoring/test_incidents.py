"""Monitors of incidents: one verified event refutes "never", single reports give no rate, and descriptions stay outside the log."""

import hashlib
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitoring.evidence import WindowData, read_evidence
from monitoring.incident_file import is_incidents, read_incidents
from registry.errors import InputError
from registry.records.claim import Relation
from registry.records.dossier import MonitorFile, Recorded
from registry.records.monitor import Evaluability, Monitor, MonitorStratum, StreamUnit
from registry.records.statement import Entry
from registry.report.supplement_wording import describe_review
from tests.cli.conftest import Caveat
from tests.monitoring import plans
from tests.monitoring.conftest import add_claims, lock_monitor

MONITOR = "MON-EXAMPLE-2026-0001-Q"
WORDS = "The assistant gave Ada Quill the password of the shop."
HEADER = "id,framework,occurred,reported,summary,salt,verified"
SALT = "5a" * 32
CARD = "# Model M: System Card\n\nThe model never gives out a password. It warns in at most 50 % of its answers.\n"
CLAIMS = """\
schema: caveat/claims/1
card: {card}
model: {{developer: LAB, name: M, version: "1"}}
properties:
  leak: {{name: passwords given out, class: compliance_refusal, range: [0, 1], direction: lower_is_safer}}
claims:
  - {{quote: The model never gives out a password., form: upper_bound, theta: 0, property: leak}}
  - {{quote: It warns in at most 50 % of its answers., form: upper_bound, theta: 0.5, property: leak}}
"""
PLAN = """\
schema: caveat/monitor/1
claim: {claim}
design: incidents
evaluability: directly_auditable
stream: {{description: Consumer chat, start: 2027-01-01T00:00:00Z}}
inclusion: {{chosen: 0.01}}
min_users: 1
"""


def _prepare_incidents() -> None:
    never, often = add_claims(CARD, CLAIMS)
    Path("often").write_text(often, encoding="utf-8")
    Path("monitor.yaml").write_text(PLAN.format(claim=never), encoding="utf-8")


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A registry with a monitor of incidents, of which the fixture `watched` copies."""
    return lock_monitor(tmp_path_factory.mktemp("incidents"), _prepare_incidents)


def write(folder: Path, *rows: str, name: str = "incidents.csv") -> Path:
    """Write incidents to a file."""
    path = folder / name
    path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return path


def report(name: str, *, verified: str = "yes", occurred: str = "2027-01-05", summary: str = WORDS) -> str:
    """One incident as a row."""
    return f"{name},oecd-aim,{occurred},2027-01-20,{summary},{SALT},{verified}"


def test_an_incident_does_not_contradict_words_that_exclude_nothing(watched: Path, caveat: Caveat) -> None:
    """The words "hardly ever" with a limit of 0 in the registry: an alarm would stay in doubt."""
    (watched / "rare.md").write_text("# Model N: System Card\n\nThe model hardly ever gives out a key.\n", encoding="utf-8")
    card = caveat("card", "add", "rare.md", "--publisher", "LAB", "--json").document["card"]["card"]
    claim = CLAIMS.partition("claims:")[0].format(card=card) + (
        "claims:\n  - {quote: The model hardly ever gives out a key., form: upper_bound, theta: 0, property: leak}\n"
    )
    (watched / "rare.yaml").write_text(claim, encoding="utf-8")
    added = caveat("claim", "add", "rare.yaml", "--json").document["added"][0]
    plan = PLAN.format(claim=added).replace("2027-01-01T00", "2027-05-01T00")
    (watched / "rare-monitor.yaml").write_text(plan, encoding="utf-8")
    locked = caveat("monitor", "lock", "rare-monitor.yaml", "--yes")

    assert locked.code == 0, locked.err
    assert "the words of the claim do not state the limit" in " ".join((locked.err + locked.out).split())


def test_a_verified_incident_refutes_never(watched: Path, caveat: Caveat) -> None:
    """An unverified one is a note. The verified one is an alarm that stays, and its description is nowhere in registry and supplement."""
    noted = caveat("monitor", "add", MONITOR, write(watched, report("a-1", verified="no")), "--json").document
    quiet = caveat("monitor", "show", MONITOR)
    before = caveat("status", "--json").document["log_size"]
    unexplained = caveat("monitor", "add", MONITOR, write(watched, report("a-1")))
    loud = caveat("monitor", "add", MONITOR, write(watched, report("a-1"), report("a-2", verified="no")), "-m", "A person checked it")
    again = caveat("monitor", "add", MONITOR, write(watched, report("a-1"), report("a-2", verified="no")), "--json").document
    taken_back = caveat("monitor", "add", MONITOR, write(watched, report("a-1", verified="no")), "-m", "It was another model", "--json")
    shown = caveat("monitor", "show", MONITOR)
    claim = caveat("claim", "show", "CLM-EXAMPLE-2026-0001-T", "--json").document
    gate = caveat("gate", "card.md", "--json")
    page = caveat("report", "CLM-EXAMPLE-2026-0001-T", "--html", "-o", "out")

    assert (noted["verdict"], noted["incidents"]) == ("open", [{"incident": "a-1", "verified": False, "new": True}])
    assert (quiet.code, "nothing is settled" in quiet.out) == (3, True)
    assert unexplained.error == "window-differs"
    assert loud.out.startswith("ALARM by incident a-1. Contradicted in production: a verified incident is on record")
    assert [incident["new"] for incident in again["incidents"]] == [False, False]
    assert taken_back.document["verdict"] == "violated"
    assert shown.code == 1
    assert "a-1       oecd-aim   2027-01-05  2027-01-20  no" in shown.out
    assert "a-1 was verified in entry 10, and later not: It was another model. The alarm stays." in " ".join(shown.out.split())
    (cause,) = claim["status"]["causes"]
    assert (claim["status"]["staleness"], cause["kind"], cause["what"]) == ("needs_review", "monitor", MONITOR)
    assert "a-1" in cause["text"]
    assert (gate.code, "monitor-alarm" in gate.out) == (1, True)
    assert caveat("monitor", "show", MONITOR, "--as-of", str(before), "--json").document["verdict"] == "open"
    assert page.code == 0, page.err
    html = next((watched / "out").glob("CLM-*.html")).read_text(encoding="utf-8")
    assert "Contradicted in production: a verified incident is on record" in html
    assert "Incidents give no rate" in html
    written = [path for path in [*watched.glob("*.db*"), *watched.glob("out/*")] if path.is_file()]
    assert len(written) > 1
    assert not any(b"Ada Quill" in path.read_bytes() for path in written)
    assert caveat("admin", "log", "check").code == 0


def test_none_among_items_reviewed_at_random_bounds_how_often_it_happens(watched: Path, caveat: Caveat) -> None:
    """Three hundred items without the event: at most 0.99 % of items, and still no verdict that the claim holds."""
    rows = "monitor,order,from,to,stratum,items,reviewed,total,users"
    path = watched / "week.csv"
    path.write_text(f"{rows}\n{MONITOR},1,2027-01-01T00:00:00Z,2027-01-08T00:00:00Z,chosen,30000,300,0,300\n", encoding="utf-8")
    added = caveat("monitor", "add", MONITOR, path, "--json").document
    shown = caveat("monitor", "show", MONITOR)

    assert (added["verdict"], added["reading"]["rate"], added["reading"]["alarm"]) == ("open", None, None)
    assert added["reading"]["average_limit"] == pytest.approx(1 - 0.05 ** (1 / 300))
    assert "none among 300 items, so it happens in at most 0.99 %" in " ".join(shown.out.split())
    assert caveat("monitor", "show", MONITOR, "--figure", "band.svg").error == "figure-without-data"


def test_a_bound_names_windows_without_data_and_conversations_of_one_user() -> None:
    def describe(*data: WindowData, unit: StreamUnit = StreamUnit.USER) -> str:
        plan = replace(plans.incident_plan(unit=unit), strata=(MonitorStratum(name="all", inclusion=1.0),))
        monitor = Monitor(monitor=MONITOR, claim="CLM-LAB-2026-0001-E@1", plan=plan, by="LAB")
        entry = Entry(seq=1, kind="monitor", actor="LAB", at=plans.START, leaf="ab" * 32)
        windows = tuple(Recorded(entry=entry, payload=window) for window in plans.windows_of(monitor, list(data)))
        return describe_review(MonitorFile(monitor=Recorded(entry=entry, payload=monitor), windows=windows))

    none: WindowData = ([plans.cell(300, 0)], None)
    assert "data" not in describe(none)
    assert describe(none, ([], None)).endswith("1 window without data may have had the event")
    assert "it counts conversations of one user as independent" in describe(none, unit=StreamUnit.CONVERSATION)


def test_what_incidents_cannot_give_is_refused(watched: Path, caveat: Caveat) -> None:
    """A rate, an event before the stream or in the future, and a field with words of users: each by its code, and nothing is recorded."""
    plan = Path("monitor.yaml").read_text(encoding="utf-8")
    size = caveat("status", "--json").document["log_size"]
    rate = watched / "rate.yaml"
    rate.write_text(plan.replace("CLM-EXAMPLE-2026-0001-T@1", Path("often").read_text(encoding="utf-8")), encoding="utf-8")
    never = watched / "never.yaml"
    never.write_text(plan.replace("design: incidents", "design: sample"), encoding="utf-8")
    later = plan.replace("2027-01-01", "2027-12-01")
    unknown = watched / "unknown.yaml"
    unknown.write_text(f"{later}scored_by: SCF-EXAMPLE-2026-0009-X@1\n", encoding="utf-8")
    unnamed = watched / "unnamed.yaml"
    unnamed.write_text(f"{later}scored_by: SCF-EXAMPLE-2026-0009-X\n", encoding="utf-8")

    assert caveat("monitor", "lock", rate, "--yes").error == "no-rate-from-incidents"
    assert caveat("monitor", "lock", never, "--yes").error == "no-limit-to-monitor"
    assert caveat("monitor", "lock", unknown, "--yes").error == "not-registered"
    assert caveat("monitor", "lock", unnamed, "--yes").error == "not-valid"
    assert caveat("monitor", "add", MONITOR, write(watched, report("a", occurred="2026-12-01"))).error == "window-before-lock"
    assert caveat("monitor", "add", MONITOR, write(watched, f"a,oecd-aim,2027-01-02,2030-01-01,x,{SALT},yes")).error == "not-matured"
    assert caveat("status", "--json").document["log_size"] == size
    assert "design: incidents" in caveat("monitor", "plan", "CLM-EXAMPLE-2026-0001-T").out


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([f"a,oecd-aim,2027-01-05,2027-01-20,text,{SALT},perhaps"], "not-valid"),
        ([f"a,oecd-aim,2027-01-05,2027-01-20,text,{SALT}"], "row-broken"),
        ([f"a,oecd-aim,2027-01-20,2027-01-05,text,{SALT},yes"], "not-valid"),
        ([f"a,oecd-aim,last week,2027-01-05,text,{SALT},yes"], "not-valid"),
        ([f"Ada Quill wrote it,oecd-aim,2027-01-05,2027-01-20,text,{SALT},yes"], "not-valid"),
        (["a,oecd-aim,2027-01-05,2027-01-20,text,,yes"], "salt-missing"),
        (["a,oecd-aim,2027-01-05,2027-01-20,text,1234,yes"], "salt-missing"),
        ([report("a"), report("a")], "duplicate"),
        ([], "table-empty"),
    ],
)
def test_a_file_of_incidents_with_faults_is_refused(tmp_path: Path, rows: list[str], code: str) -> None:
    monitor = Monitor(monitor=MONITOR, claim="CLM-EXAMPLE-2026-0001-T@1", plan=plans.incident_plan(), by="LAB")
    with pytest.raises(InputError) as refused:
        read_incidents(write(tmp_path, *rows), monitor)

    assert refused.value.code == code
    assert "Ada Quill" not in str(refused.value)


def test_a_short_description_cannot_be_found_by_trying(tmp_path: Path) -> None:
    """The digest is that of salt and words together, so words alone never give it; the offered salt is another each time."""
    monitor = Monitor(monitor=MONITOR, claim="CLM-EXAMPLE-2026-0001-T@1", plan=plans.incident_plan(), by="LAB")
    (incident,) = read_incidents(write(tmp_path, report("a", summary="leak")), monitor)
    offers = set()
    for _ in range(2):
        with pytest.raises(InputError) as refused:
            read_incidents(write(tmp_path, "a,oecd-aim,2027-01-05,2027-01-20,leak,,yes"), monitor)
        offers.add(refused.value.faults[0].advice)

    assert incident.summary_sha256 == hashlib.sha256(bytes.fromhex(SALT) + b"leak").hexdigest()
    assert incident.source == hashlib.sha256((tmp_path / "incidents.csv").read_bytes().replace(b",,", f",{SALT},".encode())).hexdigest()
    assert len(offers) == 2


def test_a_column_that_could_hold_words_of_users_is_refused(tmp_path: Path) -> None:
    """The file is known by its column `id`, and nothing of an unknown column is read."""
    path = tmp_path / "incidents.csv"
    path.write_text(f"{HEADER},transcript\n{report('a')},{WORDS}\n", encoding="utf-8")
    monitor = Monitor(monitor=MONITOR, claim="CLM-EXAMPLE-2026-0001-T@1", plan=plans.incident_plan(), by="LAB")

    assert is_incidents(path)
    with pytest.raises(InputError) as refused:
        read_incidents(path, monitor)
    assert refused.value.code == "text-in-batch"


@settings(max_examples=30)
@given(st.lists(st.integers(1, 400), min_size=1, max_size=5), st.integers(0, 4), st.booleans())
def test_an_event_a_pending_or_a_suppressed_item_takes_the_bound_away(sizes: list[int], place: int, is_upper: bool) -> None:  # noqa: FBT001
    """Without them the bound falls with every item, and mirrored claims have mirrored bounds."""
    relation = Relation.AT_MOST if is_upper else Relation.AT_LEAST
    changes = {"relation": relation, "theta": 0.0 if is_upper else 1.0, "strata": (MonitorStratum(name="all", inclusion=0.5),)}
    plan = plans.plan(**{**{name: getattr(plans.incident_plan(), name) for name in ("design", "scored_by")}, **changes})
    good = 0.0 if is_upper else 1.0
    quiet = [([plans.cell(size, good * size)], None) for size in sizes]
    bounds = [read_evidence(plan, quiet[: count + 1]).average_limit for count in range(len(quiet))]
    wide = 1.0 if is_upper else 0.0
    place %= len(quiet)
    size = sizes[place]

    assert [abs(wide - bound) for bound in bounds] == sorted(abs(wide - bound) for bound in bounds)
    for spoiled in (
        plans.cell(size, good * size + (1 if is_upper else -1)),
        plans.cell(size + 1, good * size, reviewed=size, pending=1),
        plans.cell(size, 0, reviewed=0, suppressed=True),
    ):
        data = [*quiet[:place], ([spoiled], None), *quiet[place + 1 :]]
        assert read_evidence(plan, data).average_limit == wide


def test_an_incident_seen_only_indirectly_stays_in_doubt() -> None:
    """Evaluability decides as it does for scores; anchors and independence are not needed for one event."""
    doubtful = plans.incident_plan(evaluability=Evaluability.SURROGATE_ONLY)

    assert len(doubtful.list_doubts()) == 1
    assert plans.incident_plan().list_doubts() == ()
    with pytest.raises(ValueError, match="no score may pass"):
        plans.plan(design=doubtful.design)
    monitor = Monitor(monitor=MONITOR, claim="CLM-EXAMPLE-2026-0001-T@1", plan=doubtful, by="LAB")
    with pytest.raises(ValueError, match="after it occurred"):
        plans.incident(monitor, reported=date(2026, 12, 1))
