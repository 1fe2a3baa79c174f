"""The web at a size: search, claim pages and throughput of the server, with datasette on the same rows; and a site of files.

The registry is that of `web_world.py`, written through the ledger. Server and datasette are processes of their own, asked over HTTP on the
loopback with the same questions; each question is another one, so that nothing is answered from a cache of whole answers.

Run: python benchmarks/web.py [--claims N] [--folder DIR] [--datasette PROGRAM] [--site N] [--keep-shelf]
     20,000 claims and 2,000 of the site without options: four minutes. With 1,000,000 claims half an hour and 5 GB on the disk.
"""

import argparse
import http.client
import json
import os
import random
import resource
import secrets
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import cycle
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.bulk_import_store import open_ledger
from benchmarks.web_world import WORDS, fill
from registry.records.claim import ClaimEvent, ClaimEventKind
from registry.records.claim_status import Lifecycle
from registry.store.ledger import Ledger
from web.facets import FACETS, ClaimFilter
from web.pages.addresses import LinkStyle, PageSettings
from web.shelf.bit_sets import GROUPS
from web.shelf.shelf_file import Shelf, find_shelf, hold_claims
from web.site.site_export import export_site

ROUNDS = 100
CLIENTS = 8
LAST_S = 10
CAVEAT = str(Path(sys.executable).with_name("caveat"))
COLUMNS = ("claim", "quote", *FACETS)


def open_registry(path: Path) -> Ledger:
    """Open a registry that is there."""
    return Ledger.open(f"sqlite:///{path}", clock=lambda: datetime.now(UTC), salt=lambda: secrets.token_hex(16))


def measure(what: str, work: Callable[[], object]) -> None:
    """Print how long *work* takes, and the load of the machine after it."""
    started, cpu, others = time.perf_counter(), time.process_time(), read_children()
    work()
    helped = f", {read_children() - others:.1f} s CPU in other processes" if read_children() - others > 0.05 else ""
    used = f"{time.perf_counter() - started:.1f} s, {time.process_time() - cpu:.1f} s CPU{helped}"
    print(f"{what}: {used}, load {os.getloadavg()[0]:.1f}", flush=True)


def read_children() -> float:
    """Return the seconds of CPU of all processes that this one started and that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure_shelf(registry: Path, *, is_kept: bool) -> Path:
    """Print how long the shelf takes from nothing, from its file, and after a new entry, and what memory this process has then."""
    ledger = open_registry(registry)
    with ledger.view() as view:
        shelf_path = find_shelf(ledger.url, view.log_origin)
    if not is_kept:
        shelf_path.unlink(missing_ok=True)

    def read(shelf: Shelf) -> None:
        with ledger.view() as view:
            shelf.read(view).select(ClaimFilter(), limit=1)

    if not shelf_path.exists():
        measure("shelf from nothing", lambda: read(Shelf(ledger, shelf_path)))
    shelf = Shelf(ledger, shelf_path)
    measure("shelf from its file", lambda: read(shelf))
    with ledger.view() as view:
        name = next(claim.claim for claim in view.list_claims() if claim.status.lifecycle.value == "registered")
    with ledger.write(actor="EXAMPLE") as writer:
        writer.append(ClaimEvent(claim=name, event=ClaimEventKind.WITHDRAW, reason="retracted"))
    measure("a new entry in lists", lambda: read(shelf))
    print(f"memory: {read_memory(os.getpid())}; file {shelf_path.stat().st_size / 1e6:,.0f} MB", flush=True)
    ledger.close()
    return shelf_path


def read_memory(process: int) -> str:
    """Return what a process has in memory beyond mapped files, now, and the most that it had in all."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    sizes = {
        name: int(rest.split()[0]) // 1024 for name, _, rest in (line.partition(":") for line in lines) if name.startswith(("Rss", "VmHWM"))
    }
    return f"{sizes['RssAnon']} MB, at most {sizes['VmHWM']} MB with mapped files"


# The peer: datasette with the same rows, an index for each facet, and its own full-text search.


def write_peer(registry: Path, shelf_path: Path, path: Path) -> None:
    """Write the rows of the shelf, with their quotations, as datasette takes them."""
    with sqlite3.connect(path) as peer:
        columns = ", ".join(f'"{name}" TEXT' for name in COLUMNS)
        peer.execute(f"CREATE TABLE claim (seq INTEGER PRIMARY KEY, {columns})")
        peer.execute("ATTACH ? AS shelf", (str(shelf_path),))
        peer.execute("ATTACH ? AS registry", (str(registry),))
        values: list[list[list[str]]] = [[] for _ in GROUPS]
        for part, facets in peer.execute("SELECT part, facets FROM shelf.combination ORDER BY part, code"):
            values[part].append(json.loads(facets))
        rows = peer.execute(
            "SELECT period.seq, revision.claim, quote, codes FROM shelf.period JOIN shelf.revision USING (seq)"
            " LEFT JOIN registry.claim_text t ON t.log = 1 AND t.seq = period.seq WHERE until IS NULL"
        )
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        peer.executemany(f"INSERT INTO claim VALUES ({marks})", _decode(rows, values))
        for facet in FACETS:
            peer.execute(f'CREATE INDEX "by_{facet}" ON claim ("{facet}")')
        peer.execute("CREATE VIRTUAL TABLE claim_fts USING fts5(quote, content='claim', content_rowid='seq')")
        peer.execute("INSERT INTO claim_fts (claim_fts) VALUES ('rebuild')")


def _decode(rows: sqlite3.Cursor, values: Sequence[Sequence[Sequence[str]]]) -> Iterator[tuple[object, ...]]:
    for seq, claim, quote, codes in rows:
        combinations = (known[int(code)] for known, code in zip(values, codes.split(","), strict=True))
        yield seq, claim, quote, *(value for combination in combinations for value in combination)


def find_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def run_program(command: Sequence[str], port: int, path: str) -> Iterator[int]:
    """Run a server until the block ends; give its process as soon as it answers."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            for _ in range(1200):
                with suppress(OSError):
                    fetch(http.client.HTTPConnection("127.0.0.1", port, timeout=60), path)
                    break
                time.sleep(0.1)
            yield process.pid
        finally:
            process.terminate()


def fetch(connection: http.client.HTTPConnection, path: str) -> bytes:
    """Return the answer to one question."""
    connection.request("GET", path)
    answer = connection.getresponse()
    data = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status} {data[:200]!r}")
    return data


def list_questions(rng: random.Random) -> dict[str, list[dict[str, str]]]:
    """Return what is asked: facets and words of each question."""
    facets = [
        {"developer": f"Lab {rng.randrange(60):02}", "form": rng.choice(("prevalence", "existence", "threshold"))} for _ in range(ROUNDS)
    ]
    frequent = [{"q": f"{rng.choice(WORDS[:200])} {rng.choice(WORDS[:200])}"} for _ in range(ROUNDS)]
    rare = [{"q": rng.choice(WORDS[20_000:])} for _ in range(ROUNDS)]
    return {"two facets": facets, "two words": frequent, "rare word": rare}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a server answered, in milliseconds each."""

    times: list[float]
    cpu: float
    """CPU time of the server for one answer, on average: other work on the machine adds less to it than to the time by the clock."""
    bodies: list[bytes]


def ask(port: int, process: int, paths: Sequence[str]) -> Answers:
    """Return the answers of the server *process* to one question after the other."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    times, bodies, cpu = [], [], read_cpu(process)
    for path in paths:
        started = time.perf_counter()
        bodies.append(fetch(connection, path))
        times.append(1000 * (time.perf_counter() - started))
    return Answers(times=times, cpu=1000 * (read_cpu(process) - cpu) / len(paths), bodies=bodies)


def read_cpu(process: int) -> float:
    """Return the seconds of CPU that a process, its threads and the processes that it runs used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    others = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + sum(read_cpu(int(other)) for other in others)


def show(what: str, answers: Answers, more: str = "") -> tuple[float, float]:
    """Print median, 99th percentile and CPU time, and return the median and the CPU time."""
    middle, high = statistics.median(answers.times), sorted(answers.times)[max(0, int(0.99 * len(answers.times)) - 1)]
    size = statistics.median(map(len, answers.bodies)) / 1000
    print(f"{what}: p50 {middle:.1f} ms, p99 {high:.1f} ms, {answers.cpu:.1f} ms CPU, {size:.0f} kB{more}", flush=True)
    return middle, answers.cpu


def write_ours(asked: dict[str, str]) -> str:
    """Return the question as our server takes it."""
    return f"/api/1/claims?{urlencode({**asked, 'limit': '20'})}"


def write_theirs(database: str, asked: dict[str, str]) -> str:
    """Return the question as datasette takes it: the same facets counted, the latest claims first."""
    pairs = [("_search" if name == "q" else name, value) for name, value in asked.items()]
    pairs += [("_facet", name) for name in FACETS] + [("_size", "20"), ("_sort_desc", "seq"), ("_shape", "objects")]
    return f"/{database}/claim.json?{urlencode(pairs)}"


def count_answers(port: int, process: int, paths: Sequence[str], *, last_s: float) -> tuple[float, float]:
    """Return the answers a second that eight clients get, each asking for other *paths*, and the milliseconds of CPU of one."""
    counts, cpu = [0] * CLIENTS, read_cpu(process)
    stop = time.perf_counter() + last_s

    def run(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        for path in cycle(paths[number::CLIENTS]):
            if time.perf_counter() >= stop:
                return
            fetch(connection, path)
            counts[number] += 1

    threads = [threading.Thread(target=run, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / last_s, 1000 * (read_cpu(process) - cpu) / sum(counts)


def show_rate(what: str, port: int, process: int, paths: Sequence[str]) -> None:
    """Print how many answers a second eight clients get."""
    rate, cpu = count_answers(port, process, paths, last_s=LAST_S)
    load = os.getloadavg()[0]
    print(f"two facets {what}, {CLIENTS} clients: {rate:.0f} answers a second, {cpu:.1f} ms CPU each, load {load:.1f}", flush=True)


def measure_servers(registry: Path, shelf_path: Path, folder: Path, datasette: str | None) -> None:
    """Print how long the server and datasette take for the same questions."""
    asked = list_questions(random.Random(7))  # noqa: S311
    ours: dict[str, tuple[float, float]] = {}
    port = find_port()
    serve = [CAVEAT, "serve", "--registry", f"sqlite:///{registry}", "--port", str(port)]
    with run_program([*serve, *list_own_options()], port, "/status/") as process:
        show("first page", ask(port, process, ["/"] * ROUNDS))
        for what, questions in asked.items():
            paths = [write_ours(question) for question in questions]
            ours[what] = show(what, ask(port, process, paths))
            show(f"{what}, again", ask(port, process, paths))
        listed = json.loads(ask(port, process, ["/api/1/claims?limit=100&lifecycle=registered"]).bodies[0])
        names = [f"/{item['claim'].partition('@')[0]}/" for item in listed["items"]]
        # The first pages of a server load templates.
        ask(port, process, names[:5])
        show("claim page", ask(port, process, names[5:]))
        show("claim page, again", ask(port, process, names[5:]))
        every = [write_ours(question) for question in list_every_pair(listed["facets"])]
        for what, pages in (("never asked before", every), ("asked before", every[:ROUNDS])):
            show_rate(what, port, process, pages)
        print(f"server: {read_memory(process)}", flush=True)
    with run_program([*serve, *list_own_options(), "--processes", "2"], port, "/status/") as process:
        # Until the other one answers, too.
        ask(port, process, ["/status/"] * ROUNDS)
        time.sleep(LAST_S)
        show_rate("never asked before, two processes", port, process, every)
    if datasette is None:
        return
    peer = folder / f"peer-{registry.stem}.db"
    if not peer.exists():
        write_peer(registry, shelf_path, peer)
    command = [datasette, str(peer), "--port", str(port), "--setting", "suggest_facets", "off"]
    with run_program(command, port, "/-/versions.json") as process:
        for what, questions in asked.items():
            answers = ask(port, process, [write_theirs(peer.stem, question) for question in questions[:20]])
            late = sum(bool(json.loads(answer).get("facets_timed_out")) for answer in answers.bodies)
            middle, cpu = show(f"datasette, {what}", answers, f", {late} of {len(answers.bodies)} without all counts")
            print(f"ratio, {what}: {middle / ours[what][0]:.0f} by the clock, {cpu / ours[what][1]:.0f} in CPU time", flush=True)


def list_every_pair(facets: dict[str, list[dict[str, str]]]) -> list[dict[str, str]]:
    """Return other questions of two *facets*, in no order: more than a server answers in some seconds."""
    values = {name: [value["value"] for value in facets[name]] for name in ("developer", "property", "card")}
    others = [(name, value) for name in ("property", "card") for value in values[name]]
    pairs = [{"developer": lab, name: value} for lab in values["developer"] for name, value in others]
    random.Random(11).shuffle(pairs)  # noqa: S311
    return pairs


def list_own_options() -> list[str]:
    """Return options of `caveat serve` that let one address ask as often as it likes, where it has them."""
    printed = subprocess.run([CAVEAT, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    return ["--reads", "0"] if "--reads" in printed else []


def measure_site(folder: Path, count: int) -> None:
    """Print how long exports with two processes take: of all, of nothing new, and after claims were withdrawn, of one card or of all."""
    made = open_ledger(f"sqlite:///{folder / 'site.db'}")
    fill(made, count)
    made.close()
    ledger = open_registry(folder / "site.db")

    def export() -> None:
        with ledger.view() as view:
            settings, claims = PageSettings(links=LinkStyle.FILES), partial(hold_claims, ledger)
            done = export_site(view, folder / "site", settings, open_view=ledger.view, database=ledger.url, claims=claims)
        print(f"  {done.written:,} files, {done.bytes_written / 1e6:,.0f} MB")

    def withdraw(number: int, card: str | None) -> None:
        with ledger.view() as view:
            names = [claim.claim for claim in view.list_claims(card=card) if claim.status.lifecycle is Lifecycle.REGISTERED][:number]
        with ledger.write(actor="EXAMPLE") as writer:
            writer.append_many([ClaimEvent(claim=name, event=ClaimEventKind.WITHDRAW, reason="retracted") for name in names])

    measure(f"site of {count:,} claims, all", export)
    measure("nothing new", export)
    with ledger.view() as view:
        card = view.list_cards()[-1].payload.card
    for number, of in ((1, card), (100, card), (100, None)):
        withdraw(number, of)
        measure(f"{number} claims of {'one card' if of else 'many cards'} withdrawn", export)
    ledger.close()


def main() -> None:
    """Make the registries that are not there, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=int, default=20_000, help="claims of the server; 0: no server")
    parser.add_argument("--folder", type=Path, help="keeps the registry for the next run")
    parser.add_argument("--datasette", help="the program of datasette, in an environment of its own")
    parser.add_argument("--keep-shelf", action="store_true", help="do not build a shelf that is there again")
    parser.add_argument("--site", type=int, default=2_000, help="claims of the site; 0: no site")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="caveat-benchmark-") as name:
        folder = chosen.folder or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        registry = folder / f"{chosen.claims}.db"
        if chosen.claims and not registry.exists():
            made = open_ledger(f"sqlite:///{registry}")
            measure(f"{chosen.claims:,} claims recorded", lambda: fill(made, chosen.claims))
            made.close()
        if chosen.claims:
            measure_servers(registry, measure_shelf(registry, is_kept=chosen.keep_shelf), folder, chosen.datasette)
        if chosen.site:
            measure_site(Path(name), chosen.site)


if __name__ == "__main__":
    main()
