"""Findings of the modules on the way of an audit: recorded before its outcome, listed, and taken into account."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from audit.protocol.audit_record import add_finding
from audit.sources.score_table import read_table
from registry.errors import ConflictError, NotFoundError
from registry.records.estimates import Measure
from registry.records.module_findings import FindingBody
from registry.store.ledger import Ledger
from tests import findings
from tests.cli.conftest import Caveat
from tests.cli.refusals import check_refusal, size_of
from tests.cli.scenario import register, write_audit, write_scores

Record = Callable[[str, FindingBody], bool]


@pytest.fixture
def record(caveat: Caveat, tmp_path: Path) -> Record:
    """Records a finding in an audit of the registry that the command uses, and says whether it is new."""

    def add(audit: str, body: FindingBody) -> bool:
        ledger = Ledger.open(f"sqlite:///{tmp_path / 'caveat.db'}", clock=lambda: datetime.now(UTC), salt=lambda: "ab" * 16)
        try:
            with ledger.write(actor="AISI") as writer:
                return add_finding(writer, audit, body, source="table.csv")[1]
        finally:
            ledger.close()

    return add


def lock(caveat: Caveat, folder: Path, claim: str, *, extra: str = "") -> str:
    return str(caveat("audit", "lock", "--yes", write_audit(folder, claim, extra=extra), "--json").document["audit"])


def digest_scores(folder: Path) -> str:
    """Write the scores that `conclude` imports, and return their digest: what a check made on them carries."""
    return read_table([write_scores(folder / "scores.csv", test=0.05, deploy=0.4)], low=0, high=1).content


def conclude(caveat: Caveat, folder: Path, audit: str) -> dict[str, object]:
    """Import scores that show that θ is exceeded in deployment, and return the restriction with minimum reporting."""
    scores = write_scores(folder / "scores.csv", test=0.05, deploy=0.4)
    done = caveat("audit", "conclude", audit, scores, "--run-date", datetime.now(UTC).isoformat(), "--json")
    assert done.code == 0, done.err
    return {**done.document["restriction"], "checklist": done.document["checklist"]}


def test_a_failed_invariance_check_leaves_the_claim_undetermined(caveat: Caveat, tmp_path: Path, record: Record) -> None:
    """The same scores that invert the claim decide nothing once a judge's report shows that the scorer looks at the context."""
    claim, *_ = register(caveat, tmp_path)
    audit = lock(caveat, tmp_path, claim)
    record(audit, findings.judge(invariant=False))

    primary = conclude(caveat, tmp_path, audit)["classification"]["readings"][0]  # type: ignore[index]

    assert (primary["class"], primary["mode"], primary["point_class"]) == ("undetermined", "technical", "inverted")


@pytest.mark.parametrize("invariant", [True, None])
def test_a_check_that_did_not_fail_blocks_nothing(caveat: Caveat, tmp_path: Path, record: Record, *, invariant: bool | None) -> None:
    """Passed or undecided, the outcome follows from the scores; naturalness and ablation change no class either."""
    claim, *_ = register(caveat, tmp_path)
    audit = lock(caveat, tmp_path, claim)
    for body in (findings.judge(invariant=invariant, scores=digest_scores(tmp_path)), findings.naturalness(), findings.ablation()):
        record(audit, body)

    restriction = conclude(caveat, tmp_path, audit)

    items = {one["item"]: one for one in restriction["checklist"]}  # type: ignore[index]
    assert restriction["classification"]["readings"][0]["class"] == "inverted"  # type: ignore[index]
    assert items["scorer-invariance-check"]["status"] == ("reported" if invariant else "missing")
    assert items["evaluator-specific-markers"]["status"] == "reported"
    assert "7 % of the variance of ED" in items["judge-scoring-uncertainty"]["note"]


def test_raters_above_the_limit_leave_the_claim_undetermined(caveat: Caveat, tmp_path: Path, record: Record) -> None:
    """The same scores that invert the claim decide nothing once blind raters tell the sides apart, and the outcome says why."""
    claim, *_ = register(caveat, tmp_path)
    audit = lock(caveat, tmp_path, claim)
    record(audit, findings.naturalness(accuracy=Measure(value=0.9, low=0.8, high=0.95)))

    primary = conclude(caveat, tmp_path, audit)["classification"]["readings"][0]  # type: ignore[index]

    assert (primary["class"], primary["rule"], primary["point_class"]) == ("undetermined", "sides-distinguished", None)
    assert "90.0 % (95 % CI 80.0–95.0 %), above the plan's limit of 75 %" in primary["why"]


@pytest.mark.parametrize("declared", [True, False])
def test_a_declaration_that_a_check_contradicts_is_refused(caveat: Caveat, tmp_path: Path, record: Record, *, declared: bool) -> None:
    """Which of the two says what, and what to do; nothing is recorded."""
    claim, *_ = register(caveat, tmp_path)
    audit = lock(caveat, tmp_path, claim, extra=f"scoring: {{invariant: {'true' if declared else 'false'}}}\n")
    record(audit, findings.judge(invariant=not declared, scores=digest_scores(tmp_path)))
    scores = tmp_path / "scores.csv"

    refused = caveat("audit", "conclude", audit, scores, "--run-date", datetime.now(UTC).isoformat())

    assert refused.code == 2
    assert "invariance-contradicted" in refused.err
    said = " ".join(refused.err.split())
    assert f"declares scoring.invariant: {'true' if declared else 'false'}" in said
    assert "Person less judge" in said
    assert caveat("audit", "show", audit, "--json").document["restrictions"] == []


def test_one_failure_outweighs_other_judges_that_passed(caveat: Caveat, tmp_path: Path, record: Record) -> None:
    """No one clears a scorer by adding a report in which it passes."""
    claim, *_ = register(caveat, tmp_path)
    audit = lock(caveat, tmp_path, claim)
    for invariant in (True, False, True):
        record(audit, findings.judge(invariant=invariant, judge=f"judge {invariant}"))

    primary = conclude(caveat, tmp_path, audit)["classification"]["readings"][0]  # type: ignore[index]

    assert primary["class"] == "undetermined"


def test_the_same_finding_is_recorded_once(caveat: Caveat, tmp_path: Path, record: Record) -> None:
    """Before the outcome and after it; another finding is refused after it, an unknown audit always."""
    claim, *_ = register(caveat, tmp_path)
    audit = lock(caveat, tmp_path, claim)

    told = [record(audit, findings.ablation()), record(audit, findings.ablation()), record(audit, findings.ablation(seed=1))]
    conclude(caveat, tmp_path, audit)

    assert told == [True, False, True]
    assert record(audit, findings.ablation()) is False
    with pytest.raises(ConflictError, match="audit-concluded"):
        record(audit, findings.naturalness())
    with pytest.raises(NotFoundError, match="not-registered"):
        record("AUD-AISI-2026-0009-X", findings.naturalness())


def test_findings_are_listed(caveat: Caveat, tmp_path: Path, record: Record) -> None:
    """In the audit, in the log and in the claim's history, each with its gist on one line."""
    claim, *_ = register(caveat, tmp_path)
    audit = lock(caveat, tmp_path, claim)
    for body in (findings.naturalness(), findings.ablation(), findings.judge(invariant=False)):
        record(audit, body)

    pages = [caveat("audit", "show", audit), caveat("admin", "log", "show"), caveat("claim", "history", claim.partition("@")[0])]

    for page in pages:
        assert page.code == 0, page.err
        text = " ".join(page.out.replace("│", " ").split())
        assert "naturalness: sides distinguished, 4 raters" in text
        assert "ablation: 1 of 3 cues relevant: explicit" in text
        assert "judge: invariance FAILED, judge-model-1" in text
    shown = caveat("audit", "show", audit, "--json").document
    assert [one["payload"]["body"]["schema"] for one in shown["findings"]] == [
        "caveat/naturalness/1",
        "caveat/ablation/1",
        "caveat/judge/1",
    ]
    assert caveat("admin", "log", "check").code == 0


def test_scores_that_a_finding_rested_on_before_the_lock_are_post_hoc(caveat: Caveat, tmp_path: Path, record: Record) -> None:
    """The registry knew them already, though no audit had imported them."""
    claim, *_ = register(caveat, tmp_path)
    first = lock(caveat, tmp_path, claim)
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    record(first, findings.ablation(scores=read_table([scores], low=0, high=1).content))
    second = lock(caveat, tmp_path, claim, extra="stopping_rule: none\n")

    outcomes = {audit: conclude(caveat, tmp_path, audit)["post_hoc"] for audit in (first, second)}

    assert outcomes == {first: False, second: True}


def test_an_audit_without_a_lock_takes_findings_too(caveat: Caveat, tmp_path: Path, record: Record) -> None:
    """It is opened first, and imported under the same name, with what was found."""
    claim, *_ = register(caveat, tmp_path)
    file = write_audit(tmp_path, claim)
    opened, again = caveat("audit", "open", file, "--json").document, caveat("audit", "open", file)
    record(opened["audit"], findings.judge(invariant=False))
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)

    done = caveat("audit", "conclude", file, scores, "--json").document

    assert opened["new"] is True
    assert "Open already" in again.out
    assert done["audit"] == opened["audit"]
    assert done["restriction"]["classification"]["readings"][0]["class"] == "undetermined"


def test_names_of_cues_and_judges_cannot_steer_a_terminal(caveat: Caveat, tmp_path: Path, record: Record) -> None:
    """Escape sequences, markup and direction overrides of a table's names are shown, not obeyed."""
    claim, *_ = register(caveat, tmp_path)
    audit = lock(caveat, tmp_path, claim)
    record(audit, findings.ablation(changes=(findings.change("\x1b[31mred[/bold]\u202e", 0.14),)))
    record(audit, findings.judge(judge="\x1b]0;title\x07[blink]"))

    for page in (caveat("audit", "show", audit), caveat("admin", "log", "show"), caveat("claim", "history", claim.partition("@")[0])):
        assert page.code == 0, page.err
        assert not {"\x1b", "\x07", "\u202e"} & set(page.out)
        assert "[31mred" in page.out
        assert "[blink]" in page.out


@pytest.mark.parametrize("extra", [(), ("--json",)], ids=["text", "json"])
def test_a_margin_chosen_afterwards_passes_no_check(caveat: Caveat, tmp_path: Path, extra: tuple[str, ...]) -> None:
    """The plan fixed a margin of five points; with one of ninety any scorer would be invariant."""
    claim, *_ = register(caveat, tmp_path)
    audit = lock(caveat, tmp_path, claim)
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    before = size_of(caveat)

    refused = caveat("analyze", "judge", scores, "--mark", "score", "--margin", "0.9", "--level", "0.6", "--audit", audit, *extra)

    check_refusal(refused, "finding-differs-from-plan")
    assert "--level 0.95 --margin 0.05" in refused.err
    assert size_of(caveat) == before


def test_findings_off_the_plan_are_refused_whatever_found_them(caveat: Caveat, tmp_path: Path, record: Record) -> None:
    """Each departure is told with what the plan says; raters have no margin, and what agrees to the last digits is the same."""
    claim, *_ = register(caveat, tmp_path)
    audit = lock(caveat, tmp_path, claim)
    off: list[tuple[FindingBody, str]] = [
        (findings.judge(range=(1.0, 5.0)), "range 1 5 where its plan says 0 1"),
        (findings.ablation(contexts="nested"), "contexts nested where its plan says random"),
        (findings.naturalness(level=0.5), "level 0.5 where its plan says 0.95"),
    ]

    for body, why in off:
        with pytest.raises(ConflictError, match=f"finding-differs-from-plan(.|\n)*{why}"):
            record(audit, body)
    assert record(audit, findings.judge(margin=0.1 / 2))
