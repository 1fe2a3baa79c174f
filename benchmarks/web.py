"""How long a site of files takes (all, nothing new, 100 claims changed), and how fast the server answers, in CPU time.

The registry is that of `one_claim.py`: all claims quote one card and are about one model version.

Run: python benchmarks/web.py [CLAIMS]    (2,000 without; two minutes)
"""

import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from starlette.testclient import TestClient

from benchmarks.bulk_import_store import open_ledger
from benchmarks.one_claim import fill
from registry.records.claim import ClaimEvent, ClaimEventKind
from registry.store.ledger import Ledger
from web.pages.addresses import LinkStyle, PageSettings
from web.server.application import RegistryServer, ServerSettings
from web.shelf.shelf_file import Shelf
from web.site.site_export import export_site

ASKED = {
    "first page": "/",
    "two facets": "/api/1/claims?class=inverted&form=threshold&limit=20",
    "two words": "/api/1/claims?q=ba+ce&limit=20",
    "list as a page": "/claims/?lifecycle=withdrawn",
}
TIMES = 40


def measure(work: Callable[[], object]) -> float:
    """Return the CPU seconds that *work* takes."""
    started = time.process_time()
    work()
    return time.process_time() - started


def write_sites(ledger: Ledger, folder: Path) -> None:
    """Print how long three exports take."""

    def export() -> None:
        with ledger.view() as view:
            print(export_site(view, folder, PageSettings(links=LinkStyle.FILES), open_view=ledger.view))

    print(f"all: {measure(export):.1f} s CPU")
    print(f"nothing new: {measure(export):.1f} s CPU")
    with ledger.view() as view:
        names = [claim.claim for claim in view.list_claims(limit=300)][100:200]
    with ledger.write(actor="EXAMPLE") as writer:
        for name in names:
            writer.append(ClaimEvent(claim=name, event=ClaimEventKind.WITHDRAW, reason="retracted"))
    print(f"100 claims withdrawn: {measure(export):.1f} s CPU")


def ask_server(ledger: Ledger, folder: Path) -> None:
    """Print how long the server takes for some answers; a client in the same process adds about 2 ms to each."""
    shelf = Shelf(ledger, folder / "shelf.db")
    with ledger.view() as view:
        print(f"shelf from nothing: {measure(lambda: shelf.read(view)):.1f} s CPU")
        claims = [claim.claim for claim in view.list_claims(limit=TIMES)]
    settings = ServerSettings(pages=PageSettings(has_search=True), hosts=frozenset({"localhost"}))
    with TestClient(RegistryServer(ledger, shelf, settings).build_application(), base_url="http://localhost") as client:
        for what, address in ASKED.items():
            client.get(address)
            print(f"{what}: {1000 * statistics.median(measure(partial(client.get, address)) for _ in range(TIMES)):.1f} ms CPU")
        pages = [measure(partial(client.get, f"/{claim}/")) for claim in claims]
        print(f"claim page, not yet made: {1000 * statistics.median(pages):.1f} ms CPU")
        again = [measure(partial(client.get, f"/{claim}/")) for claim in claims]
        print(f"claim page, made before: {1000 * statistics.median(again):.1f} ms CPU")


def main() -> None:
    """Make a registry in a temporary folder, and measure."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    with tempfile.TemporaryDirectory(prefix="caveat-benchmark-") as name:
        url = f"sqlite:///{name}/{count}.db"
        made = open_ledger(url)
        fill(made, count)
        made.close()
        ledger = Ledger.open(url, clock=lambda: datetime.now(UTC), salt=lambda: secrets.token_hex(16))
        write_sites(ledger, Path(name, "site"))
        ask_server(ledger, Path(name))
        ledger.close()


if __name__ == "__main__":
    main()
