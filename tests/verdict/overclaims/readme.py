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


def write_table_of_findings(path: Path, findings: list[Finding]) -> None:
    """Replace the table between the two marks in *path*."""
    failed = [one for one in findings if one.faults]
    lines = [
        f"{len(findings)} cases, of which {len(failed)} fail.",
        "",
        "| case | what the product says | what it may say | more than that |",
        "|---|---|---|---|",
        *(f"| {one.case} | {one.today} | {one.allowed} | {_shorten(one.faults)} |" for one in failed),
        "",
        "These cases pass: " + ", ".join(one.case for one in findings if not one.faults) + ".",
    ]
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    path.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}", encoding="utf-8")


def _shorten(faults: tuple[str, ...]) -> str:
    text = "; ".join(" ".join(one.split()) for one in faults).replace("|", "\\|")
    return text if len(text) <= 220 else f"{text[:217]}…"
