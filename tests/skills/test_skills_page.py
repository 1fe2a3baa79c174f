"""What docs/skills.md shows is what `caveat analyze skills` prints for the study of the examples, asked of a scripted endpoint."""

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.docs.transcripts import hide_what_varies, run_page
from tests.endpoint.server import KEY, Asked, Endpoint, Reply, run_endpoint

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "skills.md"
ANSWERS = {
    "print_total": "import csv\n\ndef print_total(path):\n    with open(path) as file:\n        rows = csv.DictReader(file)\n"
    "        print(f'{sum(float(row[\"amount\"]) for row in rows):.2f}')",
    "TotalAmount": "func TotalAmount(r io.Reader) (float64, error) { // encoding/csv, strconv.ParseFloat; return 0, err }",
}


def _answer(asked: Asked) -> Reply:
    prompt = str(asked.body["messages"])
    text = next((text for name, text in ANSWERS.items() if name in prompt), "ok")
    return Reply(text=text + ("\nconsole.log(total.toFixed(2))" if "In the browser" in str(asked.body.get("system")) else ""))


def _hide(page: str) -> str:
    """How long a run took is the machine's."""
    return re.sub(r"in [\d.]+ s", "in N s", hide_what_varies(page))


def test_the_commands_of_the_page_print_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forked_commands: Path) -> None:
    """The study of the examples, from list to page."""
    shutil.copytree(ROOT / "examples" / "skills", tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("run", "*.run"))
    shown = PAGE.read_text(encoding="utf-8")
    model = "claude-local-qwen2.5-coder-1.5b-instruct-q4_k_m"

    with run_endpoint(Endpoint(script=_answer, models=(model,))) as running:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        printed = run_page(shown, tmp_path, forked_commands)
    if os.environ.get("CAVEAT_UPDATE_DOCS") and _hide(printed) != _hide(shown):
        PAGE.write_text(printed, encoding="utf-8")
        shown = printed

    assert _hide(printed) == _hide(shown)
