"""The demo: what it says of real published cases and of the recorded replay, and that it says it twice."""

import csv
import hashlib
import io
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from rich.console import Console

from audit.cli.demo_command import _present_files, present_recognition
from audit.demo_sequel import CLASSIFIER, JUDGE, run_recognition
from audit.demo_story import SECOND_CONCLUDED, DemoStory
from registry.cli import terminal_output
from registry.present.blocks import Subtitle
from registry.report.pdf_rendering import render_pdf_in_process
from registry.report.supplement_reading import read_supplement
from registry.store.ledger import Ledger
from tests.cli.conftest import Caveat
from tests.report.layout import answer_questions, count_words, find_faults, find_overlaps, find_unanswered, is_sign_consistent, list_pages
from tests.store.builders import salting, ticking
from tests.store.traversal import check_changes, check_claims

OUTCOMES = [
    ("degraded", None, "reported"),
    ("undetermined", None, "reported"),
    ("inverted", "candidate", "reported"),
    ("inverted", "candidate", "reported"),
    ("degraded", None, "reported"),
    ("undetermined", None, "reported"),
    ("undetermined", None, "reported"),
    ("undetermined", None, "reported"),
    ("undetermined", None, "replay"),
    ("undetermined", None, "replay"),
    ("degraded", "established", "replay"),
    ("stable", "established", "replay"),
    ("inverted", "established", "replay"),
]


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of each file in *folder*."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def check_links(caveat: Caveat, recognition: dict[str, Any], folder: Path) -> None:
    """The link that the demo shows is what `probe` and `audit link` give of the recorded answers, without a call to any endpoint."""
    run, mentions = folder / "everyday-questions.run", folder / "again.csv"
    asked = ("--judge", CLASSIFIER.model, "--max-tokens", str(CLASSIFIER.max_tokens), "--mentions", mentions)
    probed = caveat("analyze", "probe", run, *asked, "--json")
    rows = list(csv.DictReader(mentions.read_text(encoding="utf-8").splitlines()))
    test_side = [row["mentioned"] for row in rows if row["arm"] == "test"]

    assert probed.code == 0, probed.err
    assert mentions.read_bytes() == (folder / "mentions.csv").read_bytes()
    assert (recognition["responses"], recognition["mentioned"], recognition["unknown"]) == (144, test_side.count("1"), test_side.count(""))
    for link in recognition["links"]:
        (only,) = link["link"]["links"]
        assert only["mentioned"]["responses"] + only["not_mentioned"]["responses"] + only["unknown"] == 144


def check_recognition(caveat: Caveat, document: dict[str, Any], folder: Path) -> None:
    """The recorded judge is held against the locked plan and fits 80 columns; the log refuses it after the outcome, as the demo says."""
    rating, registry = document["rating"], f"sqlite:///{folder}/caveat.db"
    single, pairs = rating["judgments"]
    audit = caveat("audit", "show", rating["audits"][0], "--registry", registry, "--json").document
    command = ("audit", "rate", "judge", folder / "rating", "--judge", JUDGE.model, "--max-tokens", str(JUDGE.max_tokens), "--json")

    again = caveat(*command)
    refused = caveat(*command, "--audit", rating["audits"][0], "--registry", registry)
    page = io.StringIO()
    story = DemoStory(url=registry, cards=(), audits=(), concluded=SECOND_CONCLUDED)
    for block in present_recognition(run_recognition(story, folder)):
        terminal_output._print_block(Console(file=page, width=80), block)

    assert again.document == single, "the command in the demo's folder reads the same recording"
    assert (single["single"]["correct"], single["single"]["answered"], pairs["pairwise"]["complete"]) == (5, 9, 6)
    assert single["rater_limit"] == audit["lock"]["payload"]["plan"]["rater_limit"]
    assert (rating["recorded"], refused.code) == (False, 2)
    assert "audit-concluded" in refused.err
    assert "23 November 2026" in rating["reason"]
    check_links(caveat, document["recognition"], folder)
    assert "test or deployment?  9 of 12   right: 55.6 % (21.2 to 86.3) " in page.getvalue(), "no row of the table is folded"


MOST_PAGES = {"replayed": 6, "evidence": 5, "unaudited": 1, "card": 3}


MOST_WORDS = {
    "Contradicted": 160,
    "Does not carry over": 165,
    # How often such a verdict is false with few contexts belongs on page one.
    "Holds in the contexts tested": 180,
    # The sources of the published evidence are named.
    "In doubt": 180,
    # Why nothing is resolved, and the replay that would resolve it.
    "Inconclusive": 180,
    "Not audited": 85,
}
"""On page one of a claim, by the first words of its verdict; the goal is 170, which a regulator reads in 45 seconds."""
FOR_REVIEW = 20
"""More words where the claim needs review: a reader has to know which monitor raised an alarm, and what resolves it."""
MOST_WORDS_OF_A_CARD = 200
"""On page one of a card, with its table of eight claims."""
CODE_NAME = re.compile(
    r"\b(?:any|all|no)_(?:expected|anti)\b|\bhit_rate\b|\bdeploy-point-\w+|\b[a-z]+_is_safer\b|\bnot_safety\b|\bclosed_form\b"
)
DECIMAL = re.compile(r"(?<![\w.])[+−-]?0\.\d{3}\b|\[[+−]?0\.\d+, [+−]?0\.\d+\]")


def check_words(path: Path, record: dict[str, Any], pages: list[list[str]]) -> None:
    """Words and questions of page one; no code name, and no share as a decimal in a table of findings."""
    is_card = path.name.startswith("CRD")
    most = MOST_WORDS_OF_A_CARD if is_card else next(n for head, n in MOST_WORDS.items() if record["verdict"].startswith(head))
    most += 0 if is_card or record["status"]["staleness"] == "current" else FOR_REVIEW
    assert count_words(pages[0]) <= most, path.name
    assert find_unanswered("card" if is_card else "claim", pages[0]) == [], path.name
    html = path.with_suffix(".html").read_text(encoding="utf-8").partition('<script type="application/json"')[0]
    main = re.sub(r"<[^>]+>", " ", html.partition("<main")[2])
    assert CODE_NAME.findall(main) == [], path.name
    findings = re.findall(
        r'<section class="part" aria-labelledby="(?:ablation|naturalness|judge|versions|explorations)">.*?</section>', html, re.DOTALL
    )
    # p-values and coefficients of agreement have no unit.
    told = [re.sub(r"<[^>]+>", " ", re.sub(r"p = 0\.\d+", "", one)) for one in findings]
    assert [DECIMAL.findall(one) for one in told if DECIMAL.findall(one)] == [], path.name


def check_layout(folder: Path) -> None:
    """Page counts, page ends, words and five questions on page one, and the sign of the difference in each headline."""
    for path in sorted(folder.glob("*.pdf")):
        record = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        pages = list_pages(path.read_bytes())
        kind = "card" if path.name.startswith("CRD") else "unaudited" if record["audit"] is None else "evidence"
        kind = "replayed" if kind == "evidence" and "% CI" in record["verdict"] else kind
        assert len(pages) <= MOST_PAGES[kind], path.name
        assert find_faults(pages) == [], path.name
        assert find_overlaps(path.read_bytes()) == [], path.name
        check_words(path, record, pages)
        if kind != "card":
            assert not [question for question, answered in answer_questions(pages[0]).items() if not answered], path.name
            assert is_sign_consistent(record["verdict"]), record["verdict"]


def check_index(url: str) -> None:
    """What the store finds by index is what all statements say, as of several entries and between them."""
    ledger = Ledger.open(url, clock=ticking(), salt=salting())
    with ledger.view() as view:
        sizes = [*range(25, view.log_size, 40), view.log_size]
    for first, last in pairwise(sizes):
        with ledger.view(first) as before, ledger.view(last) as after:
            assert check_claims(after) > 10
            check_changes(before, after)
    ledger.close()


def test_a_demo_of_which_nothing_could_be_rendered_names_no_file() -> None:
    """Without the library for PDF the errors follow, and no command for a file that is not there."""
    (block,) = _present_files(cast(Any, None), [], Path("demo"), is_last=True)

    assert block == Subtitle("No supplement could be rendered:")


@pytest.mark.slow
def test_the_demo_tells_the_same_story_twice(caveat: Caveat, tmp_path: Path) -> None:
    """The paper's cases and both recorded replays come out as they must; a second run records nothing and draws the same bytes."""
    first = caveat("demo", "-o", "demo", "--json")
    size = caveat("admin", "log", "show", "--registry", f"sqlite:///{tmp_path}/demo/caveat.db", "--json").document["size"]
    drawn = digests(tmp_path / "demo" / "supplements")

    second = caveat("demo", "-o", "demo", "--json")

    assert first.code == second.code == 0, first.err
    assert [(one["class"], one["standing"], one["basis"]) for one in first.document["audits"]] == OUTCOMES
    assert caveat("admin", "log", "show", "--registry", f"sqlite:///{tmp_path}/demo/caveat.db", "--json").document["size"] == size
    assert digests(tmp_path / "demo" / "supplements") == drawn
    assert len([name for name in drawn if name[:3] in ("CLM", "CRD")]) == 4 * 18  # HTML, PDF and JSON of each, beside JSON its proof
    replayed = json.loads((tmp_path / "demo" / "supplements" / "CLM-EXAMPLE-2026-0006-J@1.json").read_text(encoding="utf-8"))
    (ablation,) = replayed["audit"]["findings"]
    changes = ablation["payload"]["body"]["changes"]
    assert {(one["cue"], one["tasks"], one["placebo"]) for one in changes} == {
        ("letter-only", 24, False),
        ("announcement", 24, False),
        ("placebo-role", 24, True),
    }
    assert {one["section"] for one in replayed["not_made"]} == {"naturalness", "judge"}
    check_recognition(caveat, first.document, tmp_path / "demo")
    check_layout(tmp_path / "demo" / "supplements")
    check_index(f"sqlite:///{tmp_path}/demo/caveat.db")

    late = caveat("demo", "-o", "demo", "--update")

    assert late.code == 2
    assert "not-empty" in late.err, "the update is earlier than the second card, and a log does not go back in time"


MOST_WORDS_AFTER_AN_UPDATE = {"CLM": 200, "CRD": 220, "changes": 200}
"""By kind of document: why a claim needs review, and which model version a figure is about, take a line more."""


def check_words_after_update(folder: Path) -> None:
    """Page one of each kind of document: superseded, applied, in need of review, not audited, the card, and the report of changes."""
    names = ("0006-J@1.entry-", "0006-J@2", "0008-F@1.entry-", "0010-R@1.entry-", "CRD-EXAMPLE-2026-0001-J@1.entry-", "changes-")
    documents = [next(path for path in sorted(folder.glob("*.json")) if name in path.name) for name in names]
    for path in documents:
        supplement = read_supplement(path.read_bytes(), where=path.name)
        first = list_pages(render_pdf_in_process(supplement))[0]
        kind = path.name.partition("-")[0]
        assert count_words(first) <= MOST_WORDS_AFTER_AN_UPDATE[kind], path.name
        assert find_unanswered({"CLM": "claim", "CRD": "card", "changes": "change"}[kind], first) == [], path.name
        text = " ".join(first)
        if "0006-J@1" in path.name:
            assert "Superseded by CLM-EXAMPLE-2026-0006-J@2. Applied to another version, Example Assistant 135M, 1.0 (entry " in text
        if "0008-F@1" in path.name:
            assert "Needs review: its model was followed by Example Assistant 135M 1.0 (resolved by applying the claim to it" in text
        if kind == "CRD":
            assert "Example Assistant 1.5B, 1.0 was followed by Example Assistant 135M 1.0: needs review" in text
            assert "57.3 % (earlier version)" in text


@pytest.mark.slow
def test_the_second_act_follows_the_first(caveat: Caveat, tmp_path: Path) -> None:
    """Two locked plans are carried out again on the smaller model; what was due is drawn, what it replaced is kept, and nothing is due."""
    told = caveat("demo", "-o", "demo", "--update", "--no-pdf", "--json")
    registry = f"sqlite:///{tmp_path}/demo/caveat.db"

    assert told.code == 0, told.err
    moved = {one["claim"]: one for one in told.document["update"]["changes"]}
    assert {name: (one["before"]["point_class"], one["after"]["point_class"]) for name, one in moved.items()} == {
        "CLM-EXAMPLE-2026-0006-J": ("degraded", "degraded"),
        "CLM-EXAMPLE-2026-0007-H": ("inverted", "stable"),
    }
    assert all(step["finding"] for one in moved.values() for step in one["steps"]), "scores are compared task by task"
    assert "57.3" not in moved["CLM-EXAMPLE-2026-0006-J"]["after"]["restricted"], "no figure of the version before is repeated"
    assert told.document["update"]["rendered"] == 11
    newer = [name for name in digests(tmp_path / "demo" / "supplements") if ".entry-" in name]
    assert len([name for name in newer if not name.endswith(".tlog-proof")]) == 2 * 9, "without PDF: HTML and JSON of each"
    check_words_after_update(tmp_path / "demo" / "supplements")
    assert (
        caveat(
            "report", "--stale", "--check", "--publish", "--yes", "--html", "--json", "-o", "demo/supplements", "--registry", registry
        ).code
        == 0
    )
