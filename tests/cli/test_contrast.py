"""`caveat analyze contrast` as a user runs it: its text, its document, and what it refuses."""

import csv
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Caveat
from tests.statistics.arms import make_rows

HEAD = ("task_id", "arm", "context_id", "sample", "score")


def write(rows: Iterable[tuple[Any, ...]], *more: str, name: str = "arms.csv") -> Path:
    """A score table in the current folder; excluded responses get their reason in a column of its own."""
    path = Path(name)
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow((*HEAD, *more, "excluded_reason"))
        for row in rows:
            out.writerow("" if cell is None else cell for cell in (*row, "refused" if row[4] is None else ""))
    return path


def read_codes(err: str) -> list[str]:
    """The codes of the faults that a command printed."""
    return re.findall(r"(?m)^error\[([a-z-]+)\]", err)


def test_the_text_shows_arms_contrasts_and_tests(caveat: Caveat) -> None:
    """One table each, in percentage points; what is not identified has its sentence, and the uncorrected ratio is called so."""
    table = write(make_rows(3))

    answer = caveat(
        "analyze",
        "contrast",
        table,
        "--contrast",
        "B",
        "A",
        "--did",
        "B",
        "A",
        "D",
        "E",
        "--ratio",
        "B",
        "A",
        "--mitigation",
        "D",
        "B",
        "A",
    )

    assert answer.code == 0
    assert "Holm over all 4 contrasts asked for" in answer.out
    assert "differences in percentage points" in answer.out
    assert "(B − A) − (D − E)" in answer.out
    assert "1 − (D − ?) / (B − A): not identified: no matching baseline in the context of D is named" in answer.out
    assert "uncorrected, descriptive only: 0." in answer.out
    assert "method: closed-form/" in answer.out
    assert "warning" not in answer.out


def test_the_document_has_its_schema_and_everything_asked(caveat: Caveat) -> None:
    """With the matching baseline the mitigation is a number; the record says what Holm ran over."""
    table = write(make_rows(3))

    document = caveat(
        "analyze",
        "contrast",
        table,
        "--mitigation",
        "D",
        "B",
        "A",
        "--matching-baseline",
        "E",
        "--contrast",
        "B",
        "A",
        "--contexts",
        "fixed",
        "--json",
    ).document

    assert document["schema"] == "caveat/contrasts/1"
    assert [one["name"] for one in document["contrasts"]] == ["B − A", "1 − (D − E) / (B − A)"]
    assert 0 < document["contrasts"][1]["measure"]["low"] < document["contrasts"][1]["measure"]["high"]
    assert document["contrasts"][1]["uncorrected"] is None
    assert (document["contexts"], document["family"]) == ("fixed", "all 2 contrasts asked for")
    assert [one["arm"] for one in document["arms"]] == ["A", "B", "D", "E"]


def test_tasks_are_listed_where_asked_for(caveat: Caveat) -> None:
    """The first fifty in the text, all in the document."""
    table = write(make_rows(3, arms="AB", tasks=60, samples=1))

    text = caveat("analyze", "contrast", table, "--contrast", "B", "A", "--pointwise").out
    document = caveat("analyze", "contrast", table, "--contrast", "B", "A", "--pointwise", "--json").document

    assert "… and 10 tasks more; --json gives all" in text
    assert len(document["contrasts"][0]["pointwise"]) == 60


def test_other_scores_are_written_in_their_own_points(caveat: Caveat) -> None:
    """A scale of 1 to 5: differences in points of the score, no per cent."""
    table = write([(*row[:4], 1 + 4 * (row[4] or 0)) for row in make_rows(3, arms="AB")])

    answer = caveat("analyze", "contrast", table, "--contrast", "B", "A", "--range", "1", "5", "--margin", "2.5", "--level", "0.9")

    assert "differences in points\n" in answer.out
    assert "the whole interval lies within the margin" in answer.out
    assert "intervals at 90 %, margin ±2.5 points" in answer.out
    assert " % " not in answer.out.split("\n", 1)[1]


def test_all_faults_of_the_arms_come_at_once(caveat: Caveat) -> None:
    """Unknown arms with the nearest name, and every contrast of something with itself."""
    table = write([(task, f"arm-{arm}", context, sample, score) for task, arm, context, sample, score in make_rows(3)])

    answer = caveat(
        "analyze", "contrast", table, "--contrast", "arm-X", "arm-A", "--contrast", "arm-B", "arm-B", "--ratio", "zz", "arm-A",
        "--did", "arm-B", "arm-A", "arm-B", "arm-A", "--mitigation", "arm-D", "arm-D", "arm-A", "--matching-baseline", "arm-D",
    )  # fmt: skip

    assert answer.code == 2
    assert read_codes(answer.err) == ["unknown-name", "unknown-name", "same-arm", "same-arm", "same-arm"]
    assert "no row is of arm 'arm-X'; the arms are: arm-A, arm-B, arm-D, arm-E" in answer.err
    assert "fix: did you mean arm-" in answer.err
    assert "fix: name arms of the table" in answer.err
    assert "'arm-B' is compared with itself" in answer.err


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ((), 2, "no-contrast"),
        (("--contrast", "B", "A", "--matching-baseline", "E"), 2, "--matching-baseline belongs to a mitigation"),
        (("--contrast", "B"), 2, "requires 2 arguments"),
        (("--contrast", "B", "A", "--level", "1.5"), 2, "not-valid"),
        (("--contrast", "B", "A", "--contexts", "nested"), 2, "  --> arms.csv, arm B"),
        (("--contrast", "B", "A", "--range", "0.3", "1"), 2, "score-out-of-range"),
    ],
)
def test_wrong_options_are_told(caveat: Caveat, options: tuple[str, ...], code: int, said: str) -> None:
    """What was expected, and where."""
    table = write(make_rows(3))

    answer = caveat("analyze", "contrast", table, *options)

    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err


def test_arms_without_scores_or_common_tasks_are_refused(caveat: Caveat) -> None:
    """One fault for each arm, or for each contrast."""
    rows = make_rows(3, arms="AB")
    silent = write([(*row[:4], None if row[1] == "B" else row[4]) for row in rows])
    apart = write([(f"{row[0]}{row[1]}", *row[1:]) for row in rows], name="apart.csv")

    first, second = (caveat("analyze", "contrast", table, "--contrast", "B", "A", "--ratio", "B", "A") for table in (silent, apart))

    assert read_codes(first.err) == ["no-scores"]
    assert read_codes(second.err) == ["no-common-task", "no-common-task"]
    assert "no task is scored in all of the arms B, A" in second.err


def test_an_arm_of_several_specifications_is_refused(caveat: Caveat) -> None:
    """And answered for the one that is kept."""
    rows = [(*row, ("chat" if row[2].endswith(("0", "1", "2")) else "agent") if row[1] == "B" else "") for row in make_rows(3, arms="AB")]
    table = write(rows, "spec")

    refused = caveat("analyze", "contrast", table, "--contrast", "B", "A")
    kept = caveat("analyze", "contrast", table, "--contrast", "B", "A", "--where", "spec=,chat")

    assert "error[arm-of-several-specs]" in refused.err
    assert "  --> arms.csv, arm B" in refused.err
    assert "rows of this arm belong to 2 specifications (agent, chat)" in refused.err
    assert kept.code == 0, kept.err


def test_what_is_excluded_and_lost_is_said(caveat: Caveat) -> None:
    """Ablated rows, other arms, unequal exclusions, few contexts, unequal cells with their pooled value and bounds."""
    rows = [(*row, "badge" if row[2] == "A4" else "") for row in make_rows(3, contexts=5)]
    lossy = [(*row[:4], None if row[1] == "B" and row[0] < "t04" and row[3] == "0" else row[4], *row[5:]) for row in rows]
    table = write(lossy, "cue_removed")

    answer = caveat("analyze", "contrast", table, "--contrast", "B", "A")

    codes = [line.split(": ")[1] for line in answer.out.splitlines() if line.startswith("warning: ")]
    assert codes == ["ablation-rows", "other-arms", "few-contexts", "unequal-exclusions"]
    assert "pooled over responses (cells are unequal)" in answer.out
    assert "under the worst and best scores of what was excluded" in answer.out


@pytest.mark.parametrize(("contexts", "code"), [(1, "one-context"), (2, "few-contexts")])
def test_too_few_contexts_are_told_arm_by_arm(caveat: Caveat, contexts: int, code: str) -> None:
    """And the interval that cannot be given has its reason."""
    table = write(make_rows(3, arms="AB", contexts=contexts, tasks=21))

    answer = caveat("analyze", "contrast", table, "--contrast", "B", "A")

    assert answer.out.count(f"warning: {code}: Arm ") == 2
    assert ("one context in arm B, A: nothing says how contexts vary" in answer.out) == (contexts == 1)


def test_a_design_that_looks_nested_is_told(caveat: Caveat) -> None:
    """Each task has contexts of its own, and random ones are declared; declared nested, nothing is said."""
    table = write([(row[0], row[1], f"{row[0]}{row[2]}", *row[3:]) for row in make_rows(3, arms="AB")])

    said, nested = (caveat("analyze", "contrast", table, "--contrast", "B", "A", "--contexts", design) for design in ("random", "nested"))

    assert said.out.count("looks-nested") == 2
    assert "contexts nested in tasks, t, MOVER interval" in nested.out
    assert "warning" not in nested.out


def test_each_judge_answers_by_itself(caveat: Caveat) -> None:
    """Two judges, one of whom scores twice: contrasts judge by judge, Holm within each, the first of one task thinner."""
    rows = make_rows(3, arms="AB", tasks=8)
    scored = [(*row, judge, str(k)) for row in rows for judge, times in (("ann", 1), ("bo", 2)) for k in range(times)]
    table = write(scored, "judge", "judge_repeat")

    answer = caveat("analyze", "contrast", table, "--contrast", "B", "A", "--ratio", "B", "A")
    document = caveat("analyze", "contrast", table, "--contrast", "B", "A", "--ratio", "B", "A", "--json").document

    assert [(one["judge"], one["kind"]) for one in document["contrasts"]] == [
        ("ann", "difference"), ("ann", "ratio"), ("bo", "difference"), ("bo", "ratio"),
    ]  # fmt: skip
    assert document["contrasts"][0]["measure"] == document["contrasts"][2]["measure"]
    assert document["family"] == "all 2 contrasts asked for, for each judge by itself"
    assert "B − A (bo)" in answer.out
    assert "means of the judge ann" in answer.out
    assert "warning: few-tasks (judge ann): B − A: only 8 tasks are scored in all arms" in answer.out


def test_a_judge_who_never_saw_an_arm_is_named(caveat: Caveat) -> None:
    """The faults of all judges come at once, each with its judge."""
    rows = [
        (*row, judge) for row in make_rows(3, arms="AB") for judge, unseen in (("ann", "-"), ("bo", "B"), ("cy", "A")) if row[1] != unseen
    ]
    table = write(rows, "judge")

    answer = caveat("analyze", "contrast", table, "--contrast", "B", "A")

    assert read_codes(answer.err) == ["no-scores", "no-scores"]
    assert "error[no-scores]" in answer.err
    assert "  --> arms.csv, arm B, judge bo" in answer.err
    assert "error[no-scores]" in answer.err
    assert "  --> arms.csv, arm A, judge cy" in answer.err


def test_flat_scores_print_why_there_is_no_p(caveat: Caveat) -> None:
    """A dash in the table, and each reason once below it."""
    table = write([(*row[:4], 0) for row in make_rows(3, arms="AB")])

    answer = caveat("analyze", "contrast", table, "--contrast", "B", "A", "--ratio", "B", "A")

    assert "B − A: no variance: a p-value from it does not exist" in answer.out
    assert "B − A, Wilcoxon: every difference is zero" in answer.out
    assert "B / A: not identified: the denominator's interval contains 0" in answer.out
    assert "nan" not in answer.out


def test_hostile_names_cannot_drive_the_terminal(caveat: Caveat) -> None:
    """Control characters in an arm's name are shown, not obeyed."""
    table = write([(row[0], f"{row[1]}\x1b[2J", *row[2:]) for row in make_rows(3, arms="AB", tasks=5)])

    answer = caveat("analyze", "contrast", table, "--contrast", "B\x1b[2J", "A\x1b[2J", "--pointwise")

    assert answer.code == 0
    assert "\x1b" not in answer.out
    assert "[U+001B]" in answer.out
