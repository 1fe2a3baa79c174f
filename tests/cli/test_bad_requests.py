"""Requests that make no sense: wrong identifiers, options, URLs, configurations, clocks; each is refused and records nothing."""

import sqlite3
from pathlib import Path

import pytest

from registry.records.record import Kind, format_identifier
from tests.cli.conftest import Caveat
from tests.cli.refusals import check_refusal, size_of
from tests.cli.scenario import CARD, register, write_audit, write_scores

COMMANDS_WITH_IDS = [
    ("card", "show", "ID"),
    ("claim", "show", "ID"),
    ("claim", "history", "ID"),
    ("claim", "diff", "ID"),
    ("claim", "revise", "ID", "claims.yaml", "--reason", "w"),
    ("claim", "publish", "ID"),
    ("claim", "withdraw", "ID", "--reason", "r", "--yes"),
    ("claim", "supersede", "ID", "OTHER", "--reason", "r", "--yes"),
    ("claim", "supersede", "OTHER", "ID", "--reason", "r", "--yes"),
    ("contest", "open", "ID", "--reason", "g"),
    ("contest", "open", "OTHER", "--reason", "g", "--rival", "ID"),
    ("contest", "uphold", "--yes", "ID", "--reason", "n"),
    ("claim", "relate", "ID", "related", "OTHER"),
    ("claim", "relate", "OTHER", "related", "ID"),
    ("claim", "list", "--card", "ID"),
    ("spec", "show", "ID"),
    ("spec", "diff", "ID"),
    ("audit", "new", "ID"),
    ("audit", "show", "ID"),
    ("report", "ID", "--json"),
    ("card", "add", "card2.md", "--publisher", "LAB", "--reason", "w", "--revises", "ID"),
]


@pytest.mark.parametrize("command", COMMANDS_WITH_IDS, ids=" ".join)
def test_a_wrong_identifier_is_refused_by_every_command(caveat: Caveat, tmp_path: Path, command: tuple[str, ...]) -> None:
    """Mistyped, of nothing, of another kind, of a revision or a digest that is not there, or no identifier at all."""
    first, second, _ = (one.partition("@")[0] for one in register(caveat, tmp_path))
    (tmp_path / "card2.md").write_text(CARD + "More.\n")
    size, year = size_of(caveat), int(first.split("-")[2])
    wrong = [
        first[:-1] + ("A" if first[-1] != "A" else "B"),
        *(format_identifier(kind, "AISI", year, 777) for kind in Kind),
        format_identifier(Kind.CLAIM, "AISI", year, 10**30),
        f"{first}@99",
        f"{first}@99999999999999999999",
        f"{first}#0000000000000000",
        f"{first}@1#0000000000000000",
        "garbage",
        "",
        "../../etc/passwd",
        "{{7*7}}",
        "\x1b[31m",
        "\udcff",
    ]

    for one in wrong:
        check_refusal(caveat(*(one if word == "ID" else second if word == "OTHER" else word for word in command)))
    assert size_of(caveat) == size


BROKEN_OPTIONS = [
    ("init", "--code", "a"),
    ("init", "--code", "../x"),
    ("init", "--code", "AISI\n"),
    ("init", "--registry", "sqlite://"),
    ("admin", "rebuild", "sqlite://"),
    ("admin", "rebuild", "sqlite:///caveat.db"),
    ("admin", "rebuild", "garbage"),
    ("admin", "db", "downgrade", ""),
    ("admin", "db", "downgrade", "zzz"),
    ("admin", "db", "downgrade", "base"),
    ("claim", "withdraw", "ID", "--reason", " ", "--yes"),
    ("claim", "supersede", "ID", "ID", "--reason", "r", "--yes"),
    ("claim", "relate", "ID", "related", "ID"),
    ("contest", "open", "ID", "--reason", " \n"),
    ("contest", "open", "ID", "--reason", "\udcff"),
    ("claim", "list", "--restriction", "garbage"),
    ("claim", "list", "--model", "//"),
    ("claim", "list", "--limit", "0"),
    ("claim", "list", "--text", "a " * 20_000),
    ("claim", "list", "--text", "\udcff"),
    ("claim", "reserve", "--count", "99999999"),
    ("claim", "diff", "ID", "--from", "9" * 30),
    ("model", "add", "a/b"),
    ("model", "add", "a/\udcff/c"),
    ("model", "add", "a/b/c", "--predecessor", "a/b/c"),
    ("admin", "schema", "garbage"),
    ("spec", "add", "property", "s", "card.md"),
    ("card", "add", "card.md", "--publisher", "LAB", "--published", "2026-99-99"),
    ("analyze", "estimate", "scores.csv", "--range", "-1e308", "1e308"),
    ("analyze", "estimate", "scores.csv", "--level", "nan"),
    ("analyze", "estimate", "scores.csv", "--margin", "inf"),
    ("analyze", "estimate", "scores.csv", "--test", "deploy"),
    ("audit", "conclude", "audit.yaml", "scores.csv", "--run-date", "yesterday"),
    ("report",),
    ("report", "ID", "-o", "card.md/below"),
    ("report", "ID", "-o", "n" * 300),
    ("report", "ID", "-o", "card.md"),
    ("demo", "-o", "."),
    ("demo", "-o", "/proc/nowhere"),
    *(("card", "list", "--as-of", text) for text in ("garbage", "99", "-1", "9" * 5000, "2026-13-01", "1.5", "٣")),
]  # fmt: skip


@pytest.mark.parametrize("command", BROKEN_OPTIONS, ids=lambda command: ascii(" ".join(command))[:60])
def test_options_that_make_no_sense_are_refused(caveat: Caveat, tmp_path: Path, command: tuple[str, ...]) -> None:
    """A fault, an exit code of 2 or 3, and the log as long as before."""
    claim, *_ = register(caveat, tmp_path)
    write_audit(tmp_path, claim)
    write_scores(tmp_path / "scores.csv", test=0.1, deploy=0.2, tasks=3, contexts=2)
    size = size_of(caveat)

    check_refusal(caveat(*(claim.partition("@")[0] if word == "ID" else word for word in command)))
    assert size_of(caveat) == size


def test_a_date_before_everything_shows_nothing(caveat: Caveat, tmp_path: Path) -> None:
    """Long ago there were no cards, which is an answer and no error."""
    register(caveat, tmp_path)

    assert caveat("card", "list", "--as-of", "2000-01-01", "--json").document["cards"] == []
    assert caveat("card", "list", "--as-of", "0", "--json").document["cards"] == []


def test_a_reserved_claim_is_shown_and_not_reported(caveat: Caveat, tmp_path: Path) -> None:
    """It has an identifier and no words yet."""
    register(caveat, tmp_path)
    reserved = caveat("claim", "reserve", "--json").document["claims"][0]

    assert "is reserved" in caveat("claim", "show", reserved).out
    check_refusal(caveat("claim", "diff", reserved), "only reserved")
    check_refusal(caveat("report", reserved), "identifier-reserved")


BEFORE_INIT = [
    ("card", "list"), ("card", "add", "card.md", "--publisher", "LAB"), ("claim", "list"), ("claim", "reserve"), ("admin", "log", "show"),
    ("admin", "log", "check"), ("admin", "db", "check"), ("admin", "db", "downgrade", "base"), ("model", "list"), ("spec", "list"),
    ("audit", "list"), ("report", "--all"), ("admin", "rebuild", "sqlite:///target.db"),
]  # fmt: skip


@pytest.mark.parametrize("command", BEFORE_INIT, ids=" ".join)
def test_before_init_every_command_says_so_and_makes_nothing(caveat: Caveat, tmp_path: Path, command: tuple[str, ...]) -> None:
    """Looking creates no database."""
    (tmp_path / "card.md").write_text(CARD)

    check_refusal(caveat(*command), "run: caveat init")
    assert [path.name for path in tmp_path.iterdir()] == ["card.md"]


def test_a_second_authority_is_told_from_the_one_who_speaks(caveat: Caveat) -> None:
    """Registering another code changes no one's name, and says how to."""
    caveat("init", "--code", "AISI")

    again = caveat("init", "--code", "AISI", "--json").document
    other = caveat("init", "--code", "LAB", "--join", "--json").document

    assert (again["new"], again["speaks_as"]) == (False, "AISI")
    assert (other["new"], other["speaks_as"]) == (True, "AISI")
    assert "authority = LAB" in caveat("init", "--code", "LAB").out  # it is registered by now, so nothing is joined again


def test_a_failed_init_leaves_no_configuration(caveat: Caveat, tmp_path: Path) -> None:
    """A wrong URL is not written down for the next command."""
    check_refusal(caveat("init", "--code", "AISI", "--registry", "sqlite:////nonexistent/folder/caveat.db"), "registry-unavailable")
    check_refusal(caveat("init", "--registry", "garbage"), "registry-url")

    assert list(tmp_path.iterdir()) == []


BROKEN_URLS = {
    "garbage": "registry-url",
    "http://host/x": "registry-url",
    "postgresql://u@host:port/x": "registry-url",
    "sqlite:///caveat.db?timeout=abc": "registry-url",
    "sqlite:///caveat.db?bogus=1": "registry-url",
    "sqlite:///" + "x" * 5000: "registry-url",
    "sqlite:///" + "x" * 300: "registry-not-found",
    "sqlite:///nothing.db": "registry-not-found",
    "sqlite://": "registry-not-found",
    "sqlite:///.": "registry-not-found",
    "sqlite:///card.md": "registry-unavailable",
    "postgresql://u:secret@127.0.0.1:1/x": "registry-unavailable",
    "postgresql://u:secret@/x?host=/nonexistent": "registry-unavailable",
    "postgresql://u:secret@127.0.0.1:99999/x": "registry-unavailable",
    "\x1b[31m": "registry-url",
}


@pytest.mark.parametrize("url", BROKEN_URLS, ids=lambda url: ascii(url)[:40])
def test_a_registry_that_cannot_be_reached_is_named(caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """No URL, no database, no server: told as what it is, and a password is not."""
    register(caveat, tmp_path)
    monkeypatch.setenv("CAVEAT_REGISTRY", url)

    refused = caveat("card", "list")

    check_refusal(refused, f"error[{BROKEN_URLS[url]}]")
    assert "secret" not in refused.err


@pytest.mark.parametrize(
    "content",
    [b"garbage", b"[registry]\nurl", b"[registry]\nfoo=1", b"[foo]\n", b"[DEFAULT]\nx=1\n", b"\xff\xfe", b"[registry]\nurl=a\nurl=b",
     b"[report]\ntime_limit_s=nan", b"[report]\ntime_limit_s=inf", b"[report]\ntime_limit_s=soon", b"[registry]\nauthority=../x", b"\0"],
)  # fmt: skip
def test_a_broken_configuration_is_not_guessed(caveat: Caveat, tmp_path: Path, content: bytes) -> None:
    """Unknown sections, keys and values are refused rather than passed over."""
    register(caveat, tmp_path)
    (tmp_path / "registry.cfg").write_bytes(content)

    check_refusal(caveat("card", "list"), "bad-configuration")


def test_a_configuration_that_cannot_be_read_is_not_passed_over(caveat: Caveat, tmp_path: Path) -> None:
    """Speaking as somebody else than is written there would be worse than silence."""
    (tmp_path / "registry.cfg").mkdir()

    check_refusal(caveat("card", "list"), "bad-configuration")


@pytest.mark.parametrize("epoch", ["abc", "-1", "1e9", "9" * 12, "9" * 40, " 5", "٣"])
def test_a_clock_that_is_none_is_refused(caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, epoch: str) -> None:
    """SOURCE_DATE_EPOCH is a number of seconds, within the years that have four digits."""
    claim, *_ = register(caveat, tmp_path)
    size = size_of(caveat)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)

    check_refusal(caveat("claim", "publish", claim), "bad-configuration")
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert size_of(caveat) == size


def test_a_registry_that_somebody_holds_is_busy(caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer waits, then says so and records nothing; readers are not kept waiting."""
    monkeypatch.setattr("registry.store.database_engine.BUSY_TIMEOUT_MS", 200)
    claim, *_ = register(caveat, tmp_path)
    size = size_of(caveat)
    holder = sqlite3.connect(tmp_path / "caveat.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    refused = caveat("claim", "publish", claim)
    read = caveat("claim", "list")
    holder.rollback()
    holder.close()

    check_refusal(refused, "registry-busy")
    assert read.code == 0
    assert size_of(caveat) == size


def test_a_demo_never_writes_into_the_registry_of_somebody(caveat: Caveat, tmp_path: Path) -> None:
    """Nothing is ever taken back from a registry, so the demo asks for a folder of its own."""
    register(caveat, tmp_path)
    before = (tmp_path / "registry.cfg").read_bytes()

    check_refusal(caveat("demo", "-o", "."), "not-empty")
    assert (tmp_path / "registry.cfg").read_bytes() == before
