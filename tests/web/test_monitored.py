"""Monitors after release on the web: facets, the page of a claim, the answer for programs."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from registry.registration.claim_search import ClaimQuery, search_claims
from tests.cli.conftest import caveat  # noqa: F401  (a fixture)
from tests.cli.given_out import ask, run
from tests.monitoring.conftest import FIRST, MONITOR, locked, set_clock, watched, window, write  # noqa: F401  (fixtures)
from tests.web.brute_force import ClaimTable
from tests.web.conftest import open_ledger
from web.facets import ClaimFilter
from web.pages.addresses import PageSettings
from web.server.application import RegistryServer, ServerSettings
from web.shelf.shelf_file import Shelf

Write = Callable[..., Path]


def look(folder: Path, client: TestClient, shelf: Shelf) -> dict[str, Any]:
    """Return what the server says of the claim with a monitor; the shelf has to count as looking at every claim does."""
    with open_ledger(folder).view() as view:
        table, reading = ClaimTable(search_claims(view, ClaimQuery(), log="")), shelf.read(view)
        for wanted in (
            ClaimFilter(),
            ClaimFilter(chosen={"production": ("violated", "in_doubt")}),
            ClaimFilter(chosen={"monitoring": ("silent",)}),
        ):
            expected, selection = table.select(wanted, limit=10), reading.select(wanted, limit=10)
            assert (selection.total, selection.facets) == (expected.total, expected.facets)
    claim = ask("monitor", "show")["monitors"][0]["claim"]
    items = client.get("/api/1/claims").json()["items"]
    assert [item["monitoring"] for item in items if item["claim"] != claim] == [None] * (len(items) - 1)
    (item,) = (item for item in items if item["claim"] == claim)
    return {**item["monitoring"], "page": client.get(f"/{claim.partition('@')[0]}/").text}


def test_a_monitor_is_found_and_shown_from_its_lock_to_its_alarm(
    watched: Path,  # noqa: F811
    write: Write,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the day of the last entry it becomes silent, without an entry of its own."""
    ledger, shelf = open_ledger(watched), Shelf(open_ledger(watched), tmp_path / "followed.db")
    settings = ServerSettings(pages=PageSettings(has_search=True), hosts=frozenset({"testserver"}))
    server = RegistryServer(ledger, Shelf(ledger, tmp_path / "shelf.db"), settings)
    with TestClient(server.build_application()) as client:
        locked = look(watched, client, shelf)
        assert (locked["state"], locked["verdict"]) == ("locked", "open")
        assert "open: nothing is settled" in locked["page"]
        assert "silent without a window by" in locked["page"]

        set_clock(monkeypatch, FIRST + timedelta(days=400))
        (watched / "other.md").write_text("Another card.", encoding="utf-8")
        run("card", "add", "other.md", "--publisher", "LAB")
        assert look(watched, client, shelf)["state"] == "silent"

        ask("monitor", "add", MONITOR, str(write(*(window(number, bad=0.5) for number in (1, 2, 3)))))
        alarm = look(watched, client, shelf)
        assert alarm["state"] == "alarm"
        assert alarm["verdict"] in ("violated", "in_doubt")
        chosen = client.get(f"/claims/?production={alarm['verdict']}").text
        assert "1 claim" in chosen
        document = json.loads(client.get("/api/1/claims?monitoring=alarm").content)
        assert document["count"] == 1
    server.close()
    shelf.close()
