"""Many faults with one cause are one message with a count; programs still get each of them."""

import json
from pathlib import Path

from registry.errors import Fault, format_faults
from tests.cli.conftest import Caveat

HEADER = "task_id,arm,context_id,sample,score\n"


def test_a_table_with_one_cause_in_many_rows_gets_one_message(caveat: Caveat, tmp_path: Path) -> None:
    """130 rows whose score is not a number are one line: the first place, how many more, and what to do once."""
    rows = "".join(f"t{row},{arm},{arm},0,n/a\n" for row in range(65) for arm in ("test", "deploy"))
    (tmp_path / "bad.csv").write_text(HEADER + rows, encoding="utf-8")

    refused = caveat("analyze", "estimate", "bad.csv")

    assert refused.code == 2
    assert refused.err.count("score-not-number") == 1
    assert "error[score-not-number]" in refused.err
    places = [f"  --> bad.csv, row {row}, column score" for row in range(2, 10)]
    assert "\n".join(places) + ", and 12 more places\n" in refused.err
    assert "and 110 more faults like these" in refused.err


def test_a_file_with_one_cause_in_every_claim_gets_one_message(caveat: Caveat, tmp_path: Path) -> None:
    """The count in the text and the list in the JSON are of the same faults."""
    caveat("init", "--example", "--no-key")
    claims = "".join("  - {quote: words, quote_status: paraphrase, form: existence, property: x, colour: red}\n" for _ in range(130))
    (tmp_path / "many.yaml").write_text(f"claims:\n{claims}", encoding="utf-8")

    text, document = caveat("claim", "add", "many.yaml"), caveat("claim", "add", "many.yaml", "--json")

    listed = [fault["where"] for fault in json.loads(document.err)["faults"] if "colour" in fault["where"]]
    assert len(listed) == 130
    assert text.err.count("error[") == 1
    assert f"{listed[7]}, and 122 more places\n" in text.err


def test_another_finding_or_another_advice_is_another_cause() -> None:
    """Only faults that say the same of another place are put together, and their order stays."""
    faults = [
        Fault("not-valid", "a", "x"),
        Fault("not-valid", "b", "y"),
        Fault("not-valid", "c", "x"),
        Fault("not-valid", "d", "x", advice="mend it"),
        Fault("not-valid", "b", "y"),
        *(Fault("not-valid", where, "z") for where in "efgh"),
    ]

    head = "error[not-valid]: Invalid value\n  --> "
    ends = ("a\n  x", "c\n  x", "b\n  y", "d\n  x\n  fix: mend it", "e\n  --> f\n  --> g\n  --> h\n  z")
    assert format_faults(faults) == "\n".join(f"{head}{end}" for end in ends)
