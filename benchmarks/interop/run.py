"""`make interop`: exports of every claim of the demo, read by validators that this project did not write.

Each group of validators has an environment of its own in `.interop/`, built from a requirement file with digests. The results are written
to benchmarks/INTEROP.md. Exit codes: 0 everything was accepted and every changed file was refused; 1 something was not; 3 an
environment could not be built, and the results say why.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from click.testing import CliRunner

from registry.cli.application import App
from registry.cli.main import cli
from registry.errors import CaveatError

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
HOME = ROOT / ".interop"
RESULTS = ROOT / "benchmarks" / "INTEROP.md"
SCHEMAS = ROOT / "tests" / "interchange" / "schemas"
GROUPS = ("attest", "bom", "cff", "cite", "eee", "graph")
NEWER = "eee"
"""The group that needs Python 3.12."""
FORMATS = (
    "in-toto", "in-toto --draft", "eee", "cyclonedx", "scitt", "oscal", "cff", "datacite", "csl", "bibtex", "case", "crate", "hf", "jsonld",
)  # fmt: skip
STATED = (
    "developer=example-lab",
    "deployment_type=self_deployed",
    "model_availability=open_weights",
    "lower_is_better=false",
    "benchmark=demo",
    "dataset_id=example-lab/everyday",
    "task_id=default",
    "source_url=https://registry.example/supplements",
    "license=https://creativecommons.org/licenses/by/4.0/",
)


@dataclass
class Outcome:
    """What the validators said of one format."""

    accepted: int = 0
    refused: list[str] = field(default_factory=list)
    changed: int = 0
    """Changed files that were refused, as they should be."""
    missed: list[str] = field(default_factory=list)
    """Changed files that were accepted."""


def find_python(group: str) -> str | None:
    """Return an interpreter for *group*; None where there is none. `PYTHON312` may name one."""
    if group != NEWER:
        return sys.executable
    for name in (os.environ.get("PYTHON312"), sys.executable, "python3.13", "python3.12"):
        if name is None or shutil.which(name) is None:
            continue
        check = subprocess.run([name, "-c", "import sys; sys.exit(sys.version_info < (3, 12))"], capture_output=True, check=False)
        if check.returncode == 0:
            return name
    return None


def build(group: str) -> tuple[Path | None, str]:
    """Return the interpreter of the environment of *group*, and why there is none."""
    lock = HERE / f"requirements-{group}.txt"
    folder = HOME / group
    python = folder / "bin" / "python"
    stamp = folder / "requirements.txt"
    if stamp.is_file() and stamp.read_bytes() == lock.read_bytes():
        return python, ""
    base = find_python(group)
    if base is None:
        return None, "Python 3.12 is not installed: name one, make interop PYTHON312=/path/to/python3.12"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([base, "-m", "venv", str(folder)], check=True)
    command = [
        str(python),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--require-hashes",
        "-r",
        str(lock),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        return None, "; ".join(lines)[:300] or "pip failed"
    shutil.copyfile(lock, stamp)
    return python, ""


def run(folder: Path, *words: str) -> tuple[str, list[str]]:
    """Run a command in *folder*, in this process; return what it printed, and the codes of its faults."""
    before = Path.cwd()
    os.chdir(folder)
    app = App()
    try:
        result = CliRunner().invoke(cli, list(words), obj=app)
    finally:
        app.close()
        os.chdir(before)
    if result.exception is not None and not isinstance(result.exception, (CaveatError, SystemExit)):
        raise result.exception
    return result.stdout, [fault.code for fault in result.exception.faults] if isinstance(result.exception, CaveatError) else []


def export_all(folder: Path) -> dict[str, list[str]]:
    """Write every export of every claim and card of the demo into *folder*; return the refusals by format."""
    demo = folder.parent / "demo"
    run(folder.parent, "demo", "-o", str(demo))
    claims = [row["claim"] for row in json.loads(run(demo, "claim", "list", "--json")[0])["claims"]]
    cards = sorted({path.name.partition("@")[0] for path in (demo / "supplements").glob("CRD-*.json")})
    key = run(demo, "admin", "key", "show", "--public")[0]
    (folder / "log.vkey").write_text(next(line for line in key.splitlines() if line.startswith("caveat.log")), encoding="utf-8")
    fields = [word for text in STATED for word in ("--field", text)]
    refused: dict[str, list[str]] = {}
    for subject in [*claims, *cards]:
        for format_ in FORMATS:
            place = folder / subject / format_.replace(" --", "-")
            _, codes = run(demo, "export", subject, "--as", *format_.split(), "-o", str(place), "--json", "--yes", *fields)
            if codes:
                refused.setdefault(format_, []).append(f"{subject} ({codes[0]})")
    gate = ("gate", str(ROOT / "examples" / "established" / "card.md"))
    run(demo, *gate, "--format", "sarif", "-o", str(folder / "gate.sarif"))
    run(demo, *gate, "--format", "junit", "-o", str(folder / "gate.junit.xml"))
    return refused


def check(group: str, python: Path, folder: Path, outcomes: dict[str, Outcome]) -> None:
    """Run the validators of *group* over *folder*."""
    command = [str(python), str(HERE / f"checks_{group}.py"), str(folder), *([str(SCHEMAS)] if group == "cite" else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"checks of {group} failed:\n{done.stderr[-3000:]}")
    for row in json.loads(done.stdout.splitlines()[-1]):
        outcome = outcomes.setdefault(row["format"], Outcome())
        outcome.accepted += not row["faults"]
        outcome.refused += [f"{row['file']}: {fault}".replace(str(ROOT), "") for fault in row["faults"]]
        outcome.changed += sum(row["rejected"].values())
        outcome.missed += [f"{row['file']}: {name}" for name, is_refused in row["rejected"].items() if not is_refused]


def list_versions(group: str) -> str:
    """Return the validators of *group* with their versions, as its requirement file pins them."""
    pinned = dict(
        line.removesuffix(" \\").split("==")
        for line in (HERE / f"requirements-{group}.txt").read_text(encoding="utf-8").splitlines()
        if "==" in line
    )
    sys.path.insert(0, str(HERE))
    from lock import GROUPS as WANTED  # noqa: PLC0415  (the table of validators, next to this file)

    names = [text.partition("==")[0].partition("[")[0].partition(">")[0] for text in WANTED[group]]
    return ", ".join(f"{name} {pinned.get(name, '?')}" for name in names)


def write_results(outcomes: dict[str, Outcome], refused: dict[str, list[str]], missing: dict[str, str]) -> None:
    """Write benchmarks/INTEROP.md."""
    lines = [
        "# Exports and the validators of others",
        "",
        f"Written by `make interop` on {datetime.now(UTC):%Y-%m-%d}. Every claim and card of the demo was exported. “Accepted”",
        "counts files; “changed files refused” copies with one changed byte, an unknown or wrong field, another key or another leaf.",
        "",
        "| format | accepted | not accepted | changed files refused | changed files accepted | claims refused by Caveat |",
        "|---|---|---|---|---|---|",
    ]
    for name, outcome in outcomes.items():
        counts = (outcome.accepted, len(outcome.refused), outcome.changed, len(outcome.missed), len(refused.get(name, [])))
        lines.append(f"| {name} | {' | '.join(map(str, counts))} |")
    lines += ["", "| environment | validators |", "|---|---|"]
    for group in GROUPS:
        lines.append(f"| {group} | {f'not built: {missing[group]}' if group in missing else list_versions(group)} |")
    for title, texts in (
        ("Not accepted", [text for outcome in outcomes.values() for text in outcome.refused]),
        ("Changed files that were accepted", [text for outcome in outcomes.values() for text in outcome.missed]),
    ):
        lines += ["", f"## {title}", "", *([f"* {text}" for text in texts] or ["None."])]
    lines += [
        "",
        "## Refused by Caveat",
        "",
        "A format that describes a result refuses a claim without one; a format of claims refuses a card.",
        "",
    ]
    for name, texts in refused.items():
        codes = sorted({text.partition("(")[2].rstrip(")") for text in texts})
        lines.append(f"* {name}: {len(texts)} ({', '.join(codes)})")
    RESULTS.write_text("\n".join([*lines, ""]), encoding="utf-8")


def main() -> None:
    """Build, export, check, report."""
    missing: dict[str, str] = {}
    outcomes: dict[str, Outcome] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "exports"
        folder.mkdir()
        refused = export_all(folder)
        for group in GROUPS:
            python, why = build(group)
            if python is None:
                missing[group] = why
                print(f"{group}: not built: {why}")
                continue
            check(group, python, folder, outcomes)
            print(f"{group}: done")
    write_results(outcomes, refused, missing)
    print(f"results: {RESULTS.relative_to(ROOT)}")
    if any(outcome.refused or outcome.missed for outcome in outcomes.values()):
        sys.exit(1)
    sys.exit(3 if missing else 0)


if __name__ == "__main__":
    main()
