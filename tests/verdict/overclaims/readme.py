"""The table of findings in README.md."""

from dataclasses import dataclass
from pathlib import Path

BEGIN, END = "<!-- findings -->", "<!-- end of findings -->"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What the product said of one case."""

    case: str
    title: str
    today: str
    allowed: str
    faults: tuple[str, ...]


def write_table_of_findings(path: Path, findings: list[Finding], cases: set[str]) -> None:
    """Replace the table between the two marks in *path*; rows of *cases* that were not run stay as they are."""
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    table, _, after = rest.partition(END)
    rows = {line.split("|")[1].strip(): line for line in table.splitlines() if line.startswith("| ")}
    rows |= {one.case: f"| {one.case} | {one.today} | {one.allowed} | {_shorten(one.faults)} |" for one in findings}
    kept = [rows[name] for name in sorted(cases & set(rows))]
    failed = sum(not line.endswith("| – |") for line in kept)
    lines = [
        f"{len(kept)} cases were run, and {failed} fail.",
        "",
        "| case | what the product says | what it may say | how that is more |",
        "|---|---|---|---|",
        *kept,
    ]
    path.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}", encoding="utf-8")


def _shorten(faults: tuple[str, ...]) -> str:
    text = "; ".join(" ".join(one.split()) for one in faults).replace("|", "/")
    return text if 0 < len(text) <= 200 else f"{text[:197]}…" if text else "–"
