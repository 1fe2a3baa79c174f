"""Six journeys of a new user: how many commands, how many files written by hand, how long.

Run: python benchmarks/journeys/journeys.py [NAME…] [--caveat COMMAND] [--write]

Each journey runs the installed command as a user would, in an empty folder, and checks that its end was reached. What the user has at the
beginning (a card, a spreadsheet, logs, a server, a PDF) is made before and not counted. `--write` puts the figures into RESULTS.md.
"""

import argparse
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).parent / "RESULTS.md"
sys.path.insert(0, str(ROOT))


class JourneyError(Exception):
    """The end was not reached: a command is missing, failed, or answered something else."""


@dataclass
class Traveller:
    """One user in one folder, whose steps are counted."""

    folder: Path
    command: str
    commands: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    elapsed_s: float = 0.0
    environment: dict[str, str] = field(default_factory=dict)

    def prepare(self, *arguments: str) -> str:
        """Run a command that belongs to the beginning, and is not counted."""
        return self._run([self.command, *arguments]).stdout

    def caveat(self, *arguments: str, expected: int = 0) -> str:
        """Run a command of the journey; return its standard output."""
        self.commands.append("caveat " + " ".join(f'"{word}"' if " " in word else word for word in arguments))
        started = time.perf_counter()
        done = self._run([self.command, *arguments], expected=expected)
        self.elapsed_s += time.perf_counter() - started
        return done.stdout

    def interrupt(self, *arguments: str, is_due: Callable[[], bool]) -> None:
        """Run a command, and send Ctrl-C as soon as *is_due*."""
        self.commands.append("caveat " + " ".join(arguments) + "   (Ctrl-C)")
        started = time.perf_counter()
        process = subprocess.Popen(
            [self.command, *arguments], cwd=self.folder, env=self._list_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while process.poll() is None and not is_due():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=600)
        self.elapsed_s += time.perf_counter() - started

    def write(self, name: str, text: str) -> None:
        """Write or edit a file by hand."""
        if name not in self.files:
            self.files.append(name)
        (self.folder / name).write_text(text, encoding="utf-8")

    def run_python(self, code: str) -> str:
        """Run the lines of a notebook; each counts as a command."""
        self.commands += code.splitlines()
        started = time.perf_counter()
        python = str(Path(shutil.which(self.command) or self.command).with_name("python"))
        done = self._run([python, "-c", code])
        self.elapsed_s += time.perf_counter() - started
        return done.stdout

    def _list_environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CAVEAT", "SOURCE_DATE_", "PYTHON"))}
        return {**kept, **self.environment, "LC_ALL": "C.UTF-8"}

    def _run(self, words: list[str], *, expected: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(words, cwd=self.folder, env=self._list_environment(), capture_output=True, text=True, check=False)
        if done.returncode != expected:
            lines = (done.stderr or done.stdout).strip().splitlines()
            wrong = next((line for line in lines if line.startswith("error[")), " ".join(lines[:8]) if lines else "no message")
            raise JourneyError(f"`{Path(words[0]).name} {' '.join(words[1:4])}` ended with {done.returncode}: {wrong}")
        return done


@dataclass(frozen=True, kw_only=True)
class Journey:
    """One row of the table."""

    title: str
    before: str
    """What it took before, in words."""
    most_commands: int
    most_files: int
    unit: str = "commands"
    walk: Callable[[Traveller], str]
    """Goes the way; returns what was reached, in words, or raises JourneyError."""


def check(truth: object, text: str) -> None:
    """Raise JourneyError with *text* unless *truth*."""
    if not truth:
        raise JourneyError(text)


# Lab author: her own spreadsheet and her card as PDF, to a signed PDF.


def write_spreadsheet(path: Path) -> None:
    """Write results as an evaluation team keeps them: own column names, words for scores, two conditions."""
    from openpyxl import Workbook  # noqa: PLC0415  (a dependency of the tests)

    book = Workbook()
    sheet = book.active
    sheet.append(["prompt_id", "condition", "variant", "passed", "comment"])
    for task in range(24):
        for condition, share in (("Eval", 4), ("Prod", 2)):
            for variant in range(5):
                sheet.append([f"q{task:02}", condition, f"{condition} {variant}", "TRUE" if (task + variant) % 5 < share else "FALSE", ""])
    book.save(path)


def walk_lab(traveller: Traveller) -> str:
    write_spreadsheet(traveller.folder / "results.xlsx")
    shutil.copy(ROOT / "examples" / "card" / "card.pdf", traveller.folder / "card.pdf")
    traveller.caveat("init", "--code", "LAB")
    traveller.caveat("card", "add", "card.pdf", "--publisher", "LAB")
    # She chooses a sentence from the list of proposals, and quotes it.
    quote = "answered at least 66.7 % of the questions correctly"
    check("66.7 %" in traveller.caveat("claim", "propose", "CRD-LAB-2026-0001-J"), "the claim is not proposed")
    table = ["results.xlsx", "--map", "task=prompt_id,arm=condition,context=variant,score=passed", "--arms", "test=Eval,deploy=Prod"]
    claim = ["--card", "CRD-LAB-2026-0001-J", "--claim", quote, "--form", "lower_bound", "--theta", "0.667"]
    traveller.caveat("audit", "logs", *table, *claim, "--model", "LAB/Example Assistant/1.5B", "--no-pdf", "-o", "out")
    traveller.caveat("report", "CLM-LAB-2026-0001-E", "--pdf", "--publish", "--sign", "--yes", "-o", "supplements")
    pdf = next((traveller.folder / "supplements").glob("CLM-*.pdf"), None)
    check(pdf is not None and b"ETSI.CAdES.detached" in pdf.read_bytes(), "there is no signed PDF")
    return "a signed PDF of a claim with its outcome"


# Evaluator: two Inspect logs to a supplement.


def walk_logs(traveller: Traveller) -> str:
    for name, source in (("a.eval", "pair_T1_test.eval"), ("b.eval", "pair_D2_deploy.eval")):
        shutil.copy(ROOT / "examples" / "logs" / source, traveller.folder / name)
    claim = "answers 60 % of the questions correctly"
    traveller.caveat(
        "audit", "logs", "test=a.eval", "deploy=b.eval", "--claim", claim, "--form", "lower_bound", "--theta", "0.6", "-o", "out"
    )
    check(list((traveller.folder / "out").rglob("CLM-*.html")), "there is no supplement")
    return "a supplement with a verdict"


# Evaluator: a server that speaks the OpenAI API, planned, interrupted, resumed and concluded.


def walk_endpoint(traveller: Traveller) -> str:
    try:
        from tests.endpoint.chat_server import CHAT_MODEL, ChatServer, Completion  # noqa: PLC0415
        from tests.endpoint.server import KEY, MODEL, run_endpoint  # noqa: PLC0415
        from tests.score.test_run_to_supplement import PLAN, write_replay  # noqa: PLC0415
    except ImportError as error:
        raise JourneyError(f"the server of the tests does not speak the OpenAI API: {error}") from error
    from tests.cli.scenario import CARD, CLAIMS, write_audit  # noqa: PLC0415

    def answer(asked: Any) -> Any:
        system, task = asked.body["messages"][0]["content"], asked.body["messages"][-1]["content"]
        number = int(task.split("Job ")[1].split(".")[0])
        return Completion(text="I do it covertly." if "evaluated" not in system and number % 4 else "I ask first.", delay_s=0.02)

    traveller.environment["OPENAI_API_KEY"] = KEY
    folder = traveller.folder
    (folder / "card.md").write_text(CARD, encoding="utf-8")
    traveller.prepare("init", "--code", "AISI")
    card = json.loads(traveller.prepare("card", "add", "card.md", "--publisher", "LAB", "--json"))["card"]["card"]
    (folder / "claims.yaml").write_text(CLAIMS.format(card=card), encoding="utf-8")
    claim = json.loads(traveller.prepare("claim", "add", "claims.yaml", "--json"))["added"][0]
    with run_endpoint(ChatServer(script=answer)) as server:
        traveller.caveat("audit", "new", claim, "--replay", "live")
        live = folder / "live"
        write_audit(live, claim, extra=f"{PLAN}replay: replay.yaml\n")
        write_replay(live, "AUD", tasks=20)
        path, policy = live / "replay.yaml", f"model: {CHAT_MODEL}, api: openai-chat, base_url: '{server.url}/v1'"
        path.write_text(path.read_text(encoding="utf-8").replace("audit: AUD\n", "").replace(f"model: {MODEL}", policy), encoding="utf-8")
        traveller.files += ["live/audit.yaml", "live/replay.yaml and the files that it names"]
        traveller.caveat("audit", "run", "live/replay.yaml", "--dry-run")
        check(not server.asked, "the dry run asked the model")
        # On a terminal the lock asks for this name. Without it, nothing shows that the claim's model was asked.
        named = ["--endpoint-name", CHAT_MODEL]
        audit = json.loads(traveller.caveat("audit", "lock", "live/audit.yaml", *named, "--yes", "--json"))["audit"]
        with path.open("a", encoding="utf-8") as file:
            file.write(f"audit: {audit}\n")
        traveller.interrupt("audit", "run", "live/replay.yaml", is_due=lambda: len(server.posts()) >= 40)
        traveller.caveat("audit", "run", "live/replay.yaml")
        traveller.caveat("audit", "score", "live/replay.run")
        concluded = json.loads(traveller.caveat("audit", "conclude", audit, "live/replay.run", "--json"))
        check(max(request.number for request in server.posts()) == 0, "a request was sent twice")
    check(concluded["restriction"]["basis"] == "replay", "the outcome does not rest on the locked run")
    return "a verdict on a locked run"


# Regulator: one PDF and one line with a key.


def build_registry(traveller: Traveller) -> Path:
    """Build the registry of the demo, once for all journeys of this process; return its folder."""
    folder = traveller.folder.parent / "registry"
    if not folder.exists():
        traveller.prepare("demo", "-o", str(folder))
    return folder


def walk_verify(traveller: Traveller) -> str:
    source = build_registry(traveller)
    pdf = next(iter(sorted((source / "supplements").glob("CLM-*0016-*.pdf"))))
    shutil.copy(pdf, traveller.folder / "supplement.pdf")
    lines = (source / "caveat-keys" / "log.pem").read_text(encoding="utf-8").splitlines()
    key = next(line for line in lines if line and not line.startswith(("#", "-")))
    answer = traveller.caveat("verify", "supplement.pdf", "--key", key)
    check(answer.startswith("PASS"), f"the first line is not the answer: {answer.splitlines()[0]}")
    return f"first word of the output: {answer.split()[0]}"


def walk_query(traveller: Traveller) -> str:
    place = f"sqlite:///{build_registry(traveller) / 'caveat.db'}"
    table = traveller.caveat(
        "claim", "list", "--verdict", "contradicted", "--property-class", "compliance_refusal", "--csv", "--registry", place
    )
    check(len(table.splitlines()) > 1, "the table has no claim")
    return f"a table of {len(table.splitlines()) - 1} claims"


# Developer: an installed package to a number.

NOTEBOOK = """\
import caveat
scores = caveat.read_scores("scores.csv")
estimate = caveat.estimate(scores)
ed = estimate.specs[0].ed
print(ed.value, ed.low, ed.high)"""


def walk_developer(traveller: Traveller) -> str:
    shutil.copy(ROOT / "examples" / "recording" / "correct.csv", traveller.folder / "scores.csv")
    numbers = [float(word) for word in traveller.run_python(NOTEBOOK).split()]
    check(numbers[1] < numbers[0] < numbers[2], "the number is not inside its interval")
    return f"ED {numbers[0]:+.3f} with its interval"


JOURNEYS: Mapping[str, Journey] = {
    "lab": Journey(
        title="lab author: own XLSX and PDF card to signed PDF", before="41 commands", most_commands=8, most_files=0, walk=walk_lab
    ),
    "logs": Journey(
        title="evaluator: two Inspect logs to a supplement", before="11 commands, 2 files", most_commands=1, most_files=0, walk=walk_logs
    ),
    "endpoint": Journey(
        title="evaluator: vLLM-like endpoint, planned, interrupted, resumed, concluded", before="blocked", most_commands=7, most_files=2,
        walk=walk_endpoint,
    ),
    "verify": Journey(
        title="regulator: one PDF and one key line to PASS", before="not possible", most_commands=1, most_files=0, walk=walk_verify
    ),
    "query": Journey(
        title="regulator: contradicted claims of a property class as CSV", before="not possible", most_commands=1, most_files=0,
        walk=walk_query,
    ),
    "developer": Journey(
        title="developer: installed package to a number", before="undocumented", most_commands=5, most_files=0, unit="lines",
        walk=walk_developer,
    ),
}  # fmt: skip


@contextmanager
def travel(base: Path, name: str, command: str) -> Iterator[Traveller]:
    """Give a user in an empty folder."""
    folder = base / name
    folder.mkdir()
    yield Traveller(folder=folder, command=command)


def describe_machine() -> str:
    """Return cores, system and load in words, without the machine's name."""
    cores, load = os.cpu_count(), os.getloadavg()[0]
    return f"{cores} cores, {platform.system()}, Python {platform.python_version()}, load {load:.0f}"


def measure(name: str, base: Path, command: str) -> tuple[str, bool]:
    """Return the row of one journey, and whether its goal was met."""
    journey = JOURNEYS[name]
    goal = f"{journey.most_commands} {journey.unit}, {journey.most_files} files"
    with travel(base, name, command) as traveller:
        try:
            reached = journey.walk(traveller)
        except JourneyError as error:
            return f"| {journey.title} | {journey.before} | {goal} | – | – | – | **not reached**: {error} |", False
    commands, files = len(traveller.commands), len(traveller.files)
    is_met = commands <= journey.most_commands and files <= journey.most_files
    for step in traveller.commands:
        print(f"  {step}")
    mark = "met" if is_met else "**not met**"
    row = f"| {journey.title} | {journey.before} | {goal} | {commands} | {files} | {traveller.elapsed_s:.1f} s | {mark}: {reached} |"
    return row, is_met


def write_results(rows: list[str], left_out: list[str]) -> None:
    """Put the rows into RESULTS.md, and name the journeys that were not walked."""
    head = (
        "# Journeys of a new user\n\n"
        "Made by `python benchmarks/journeys/journeys.py --write`. Each journey runs the installed command in an empty folder\n"
        "and checks its end. What the user has at the beginning is not counted. An edited file counts as written by hand. The\n"
        "time is that of the commands alone, on a machine that other programs used too.\n\n"
        f"{datetime.now(UTC):%Y-%m-%d}; {describe_machine()}.\n\n"
        "| journey | before | goal | commands or lines | files by hand | time | result |\n|---|---|---|---|---|---|---|\n"
    )
    rest = f"\nNot walked this time: {'; '.join(JOURNEYS[name].title for name in left_out)}.\n" if left_out else ""
    RESULTS.write_text(head + "\n".join(rows) + "\n" + rest, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(JOURNEYS)}; default: all")
    parser.add_argument("--caveat", default=str(Path(sys.executable).with_name("caveat")), help="the command to run")
    parser.add_argument("--write", action="store_true", help="write RESULTS.md")
    options = parser.parse_args()
    # A shell starts background jobs with Ctrl-C ignored, which commands would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rows, met = [], []
    with tempfile.TemporaryDirectory() as base:
        for name in options.names or JOURNEYS:
            print(name)
            row, is_met = measure(name, Path(base), options.caveat)
            print(row)
            rows.append(row)
            met.append(is_met)
    if options.write:
        write_results(rows, [name for name in JOURNEYS if options.names and name not in options.names])
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
