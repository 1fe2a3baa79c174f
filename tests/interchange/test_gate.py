"""`caveat gate`: rules keyed on verdict and standing, waivers, baseline, SARIF and JUnit, exit codes."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from lxml import etree

from interchange.gate.gate_files import write_junit, write_sarif
from interchange.gate.gate_finding import RULES, DraftPlace, GateReport, Level, QuotedClaim, Rule
from interchange.gate.gate_policy import apply_policy, read_policy
from interchange.gate.gate_rules import judge_claim
from registry.errors import InputError
from registry.records.claim_status import Dispute, FamilyOutcome, Lifecycle, Staleness, Status
from registry.records.model_version import ModelRef
from registry.records.verdict import RestrictionStatus, Verdict, VerdictStanding, find_restriction
from tests.interchange.commands import run
from tests.interchange.schemas import FOLDER, list_faults
from tests.report.builders import AUDIT, CLAIM, MODEL, revision

FIRST = "CLM-AISI-2026-0001-S"
QUOTE = "Sparrow took covert action in 5 % of runs."


def describe(verdict: Verdict | None = None, standing: VerdictStanding | None = None, **changes: object) -> QuotedClaim:
    """Return a claim with one outcome, in a draft."""
    outcome = None
    if verdict is not None:
        outcome = FamilyOutcome(
            claim=f"{CLAIM}@1", property="PRP-EXAMPLE-2026-0001-1@1", model=MODEL, audit=AUDIT, verdict=verdict, standing=standing, seq=9,
            at=datetime(2026, 11, 1, tzinfo=UTC),
        )  # fmt: skip
    status = Status(
        lifecycle=Lifecycle.PUBLISHED, dispute=Dispute.UNDISPUTED, staleness=Staleness.CURRENT, gravest=outcome,
        restriction=RestrictionStatus.UNAUDITED if verdict is None else find_restriction(verdict, standing),
    )  # fmt: skip
    return QuotedClaim(claim=revision(QUOTE), status=replace(status, **changes), place=DraftPlace(path="cards/card.md", line=3, page=None))


def judge(quoted: QuotedClaim, model: ModelRef | None = None) -> dict[Rule, Level]:
    return {finding.rule: finding.level for finding in judge_claim(quoted, model)}


ESTABLISHED, CONDITIONAL, PROVISIONAL = VerdictStanding.ESTABLISHED, VerdictStanding.CONDITIONAL, VerdictStanding.PROVISIONAL


@pytest.mark.parametrize(
    ("verdict", "standing", "expected"),
    [
        (Verdict.CONTRADICTED, ESTABLISHED, (Rule.CLAIM_CONTRADICTED, Level.ERROR)),
        (Verdict.CONTRADICTED, CONDITIONAL, (Rule.CLAIM_CONTRADICTED, Level.ERROR)),
        (Verdict.CONTRADICTED, PROVISIONAL, (Rule.CLAIM_CONTRADICTED, Level.WARNING)),
        (Verdict.IN_DOUBT, None, (Rule.CLAIM_CONTRADICTED, Level.WARNING)),
        (Verdict.CONTRADICTED_IN_PRODUCTION, None, (Rule.MONITOR_ALARM, Level.ERROR)),
        (Verdict.DOES_NOT_CARRY_OVER, ESTABLISHED, (Rule.CLAIM_EXCEEDS_RESTRICTION, Level.ERROR)),
        (Verdict.DOES_NOT_CARRY_OVER, PROVISIONAL, (Rule.CLAIM_EXCEEDS_RESTRICTION, Level.WARNING)),
        (Verdict.NOT_REPRODUCED, ESTABLISHED, (Rule.CLAIM_NOT_REPRODUCED, Level.ERROR)),
        (Verdict.NOT_REPRODUCED, PROVISIONAL, (Rule.CLAIM_NOT_REPRODUCED, Level.WARNING)),
        (Verdict.INCONCLUSIVE, None, (Rule.CLAIM_INCONCLUSIVE, Level.WARNING)),
        (Verdict.NOT_TESTABLE, None, (Rule.CLAIM_INCONCLUSIVE, Level.WARNING)),
        (Verdict.HOLDS, PROVISIONAL, (Rule.CLAIM_EXCEEDS_RESTRICTION, Level.WARNING)),
        (Verdict.HOLDS, CONDITIONAL, (Rule.CLAIM_EXCEEDS_RESTRICTION, Level.WARNING)),
        (Verdict.HOLDS, ESTABLISHED, None),
        (Verdict.OBSERVED, None, None),
        (None, None, (Rule.CLAIM_UNAUDITED, Level.WARNING)),
    ],
)
def test_a_verdict_decides_the_rule_and_its_standing_the_level(
    verdict: Verdict | None, standing: VerdictStanding | None, expected: tuple[Rule, Level] | None
) -> None:
    assert judge(describe(verdict, standing)) == ({} if expected is None else {expected[0]: expected[1]})


def test_every_verdict_has_a_row_above() -> None:
    rows = test_a_verdict_decides_the_rule_and_its_standing_the_level.pytestmark[0].args[1]  # type: ignore[attr-defined]

    assert {row[0] for row in rows} == {*Verdict, None}


def test_lifecycle_staleness_and_dispute_have_rules_of_their_own() -> None:
    holds = (Verdict.HOLDS, ESTABLISHED)
    assert judge(describe(*holds, lifecycle=Lifecycle.WITHDRAWN)) == {Rule.CLAIM_WITHDRAWN: Level.ERROR}
    assert judge(describe(*holds, lifecycle=Lifecycle.SUPERSEDED, superseded_by=CLAIM)) == {Rule.CLAIM_WITHDRAWN: Level.ERROR}
    for staleness in (Staleness.STALE, Staleness.NEEDS_REVIEW):
        assert judge(describe(*holds, staleness=staleness)) == {Rule.CLAIM_STALE: Level.ERROR}
    assert judge(describe(*holds), MODEL) == {}
    assert judge(describe(*holds), replace(MODEL, version="3")) == {Rule.CLAIM_STALE: Level.ERROR}
    for dispute in (Dispute.CONTESTED, Dispute.UPHELD):
        assert judge(describe(*holds, dispute=dispute)) == {Rule.CLAIM_CONTESTED: Level.WARNING}


def write_policy(folder: Path, text: str) -> Path:
    path = folder / "gate.yaml"
    path.write_text(f"schema: caveat/gate/1\n{text}", encoding="utf-8")
    return path


def test_a_waiver_counts_until_its_day_is_over_and_for_its_claim_and_rule_alone(tmp_path: Path) -> None:
    waiver = f"allow:\n  - {{rule: claim-contradicted, claim: {CLAIM}, why: replay under way, until: 2026-12-01}}\n"
    policy = read_policy(write_policy(tmp_path, waiver))
    findings = list(judge_claim(describe(Verdict.CONTRADICTED, ESTABLISHED, dispute=Dispute.CONTESTED), None))

    on_the_day = apply_policy(findings, policy, today=date(2026, 12, 1))
    after = apply_policy(findings, policy, today=date(2026, 12, 2))
    assert [finding.waiver is not None for finding in on_the_day] == [True, False]
    assert [finding.waiver for finding in after] == [None, None]


def test_a_policy_may_be_stricter_and_not_weaker(tmp_path: Path) -> None:
    policy = read_policy(write_policy(tmp_path, "levels: {claim-unaudited: error}\n"))
    (finding,) = apply_policy(judge_claim(describe(), None), policy, today=date(2026, 12, 1))
    assert finding.level is Level.ERROR

    for text, codes in (
        ("levels: {claim-stale: note}\n", {"gate-policy"}),
        (f"allow: [{{rule: claim-stale, claim: {CLAIM}, why: '', until: 2026-12-01}}]\n", {"gate-policy"}),
        ("allow: [{rule: claim-stale, claim: CLM-X, why: x, until: 2026-12-01}]\n", {"bad-identifier"}),
    ):
        with pytest.raises(InputError) as caught:
            read_policy(write_policy(tmp_path, text))
        assert {fault.code for fault in caught.value.faults} == codes


def test_the_schema_of_sarif_accepts_findings_and_failures_and_no_changed_field() -> None:
    findings = tuple(judge_claim(describe(Verdict.CONTRADICTED, ESTABLISHED, dispute=Dispute.CONTESTED), None))
    report = GateReport(findings=findings, checked=(f"{CLAIM}@1",), fail_on=Level.ERROR)
    document = json.loads(write_sarif(report, version="1.0", exit_code=1, has_baseline=True))
    failed = json.loads(write_sarif(None, version="1.0", exit_code=3, fault="no registry"))

    assert list_faults("sarif-2.1.0", document) == []
    assert list_faults("sarif-2.1.0", failed) == []
    assert not failed["runs"][0]["invocations"][0]["executionSuccessful"]
    assert [rule["id"] for rule in document["runs"][0]["tool"]["driver"]["rules"]] == [rule.value for rule in RULES]
    result = document["runs"][0]["results"][0]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 3}
    assert result["partialFingerprints"] == {"caveatClaim/v1": f"{CLAIM}:claim-contradicted"}
    result["verdict"] = "holds"
    assert list_faults("sarif-2.1.0", document)


def test_the_schema_of_junit_accepts_findings_with_hostile_words(tmp_path: Path) -> None:
    """Control characters are illegal in XML, even escaped."""
    schema = etree.XMLSchema(etree.parse(str(FOLDER / "junit-10.xsd")))
    finding = next(judge_claim(describe(Verdict.CONTRADICTED, ESTABLISHED), None))
    hostile = replace(finding, message="<b>\x00\x1b \ufffe “quoted” & ]]>", fingerprint="other")
    policy = read_policy(
        write_policy(tmp_path, f"allow: [{{rule: claim-contradicted, claim: {CLAIM}, why: a reason, until: 2026-12-01}}]\n")
    )
    waived = apply_policy([finding], policy, today=date(2026, 12, 1))[0]
    known = replace(finding, is_known=True)
    report = GateReport(findings=(hostile, waived, known), checked=(f"{CLAIM}@1", "CLM-EXAMPLE-2026-0043-9@1"), fail_on=Level.ERROR)
    tree = etree.fromstring(write_junit(report))

    schema.assertValid(tree)
    schema.assertValid(etree.fromstring(write_junit(None, fault="no registry")))
    suite = tree[0].attrib
    assert (suite["tests"], suite["failures"], suite["skipped"], suite["errors"]) == ("4", "1", "1", "0")
    assert "\ufffd" in tree[0][0][0].get("message", "")
    tree.append(etree.Element("verdict"))
    assert not schema.validate(tree)


def test_the_command_finds_a_quoted_claim_by_its_words_and_fails_where_it_is_contradicted(folder: Path) -> None:
    """The audit of the first claim is a locked replay with a deployment rate of 40 % against a limit of 10 %."""
    draft = Path("draft.md")
    words = "In our evaluation the model **schemes** in 5 % of\n> cases, below our threshold of 10 %."
    draft.write_text(f"# Draft\n\nOther words.\n\n{words.replace('**', '').replace('> ', '')}\n", encoding="utf-8")
    before = run("claim", "list", "--json").document["log_size"]

    outcome = run("gate", draft, "--json", "--format", "sarif", "-o", "gate.sarif", "--fail-on", "warning")
    findings = outcome.document["findings"]
    assert outcome.code == 1
    assert outcome.document["checked"] == [f"{FIRST}@1"]
    assert ("claim-contradicted", 5) in [(finding["rule"], finding["line"]) for finding in findings]
    assert list_faults("sarif-2.1.0", json.loads(Path("gate.sarif").read_bytes())) == []
    # The same findings again are known, and nothing was recorded.
    known = run("gate", draft, "--fail-on", "warning", "--baseline", "gate.sarif", "--json")
    assert (known.code, known.document["passed"]) == (0, True)
    assert run("claim", "list", "--json").document["log_size"] == before
    # A number that another number ends with is no quotation.
    draft.write_text("In our evaluation the model schemes in 15 % of cases, below our threshold of 10 %.\n", encoding="utf-8")
    assert run("gate", draft, "--json").document["checked"] == []


def test_a_change_of_model_makes_claims_of_other_versions_stale(folder: Path) -> None:
    outcome = run("gate", "--model", "LAB/M/2", "--format", "junit", "-o", "gate.xml", "--json")
    other = run("gate", "--model", "OTHER/M/2", "--json")

    assert outcome.code == 1
    assert {finding["rule"] for finding in outcome.document["findings"] if finding["level"] == "error"} >= {"claim-stale"}
    assert len(outcome.document["checked"]) == 3
    etree.XMLSchema(etree.parse(str(FOLDER / "junit-10.xsd"))).assertValid(etree.parse("gate.xml"))
    assert (other.code, other.document["checked"]) == (0, [])


def test_bad_input_ends_with_2_and_a_missing_registry_with_3_and_a_file_that_says_so(folder: Path) -> None:
    Path("draft.md").write_text("# Draft\n\nWords.\n", encoding="utf-8")
    Path("other.sarif").write_text('{"runs": [{}]}', encoding="utf-8")
    for words, faults in (
        (("draft.md", "--baseline", "other.sarif"), ["gate-baseline"]),
        (("draft.md", "--model", "LAB"), ["bad-model"]),
    ):
        outcome = run("gate", *words, "--json")
        assert (outcome.code, outcome.faults) == (2, faults)
    assert run("gate").code == 2
    assert run("gate", "draft.md", "--format", "sarif").code == 2

    missing = run("gate", "draft.md", "--registry", "sqlite:///nowhere.db", "--format", "sarif", "-o", "gate.sarif")
    document = json.loads(Path("gate.sarif").read_bytes())
    assert missing.code == 3
    assert document["runs"][0]["invocations"][0] == {**document["runs"][0]["invocations"][0], "executionSuccessful": False, "exitCode": 3}


def test_an_edited_row_is_no_pass(folder: Path) -> None:
    """Whoever edits the verdict in the table cannot get a contradicted claim through the gate."""
    Path("draft.md").write_text("In our evaluation the model schemes in 5 % of cases, below our threshold of 10 %.\n", encoding="utf-8")
    assert run("gate", "draft.md", "--json", "--fail-on", "warning").code == 1
    with closing(sqlite3.connect("caveat.db")) as database:
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f'DROP TRIGGER "{name}"')
        assert database.execute("UPDATE restriction SET class = 'stable', mode = NULL").rowcount >= 1
        database.commit()

    outcome = run("gate", "draft.md", "--json", "--format", "junit", "-o", "gate.xml")
    assert (outcome.code, outcome.faults[0]) == (3, "row-differs")
    assert etree.parse("gate.xml").getroot()[0].get("errors") == "1"


def test_words_that_a_later_revision_gave_up_are_found_in_a_draft(folder: Path) -> None:
    """Rewording a claim in the registry does not let the old words through."""
    claims = Path("claims.yaml").read_text(encoding="utf-8")
    head, _, _ = claims.partition("  - quote: In our")
    reworded = "  - {quote: We observed one case of covert action., form: existence, property: scheming}\n"
    Path("reworded.yaml").write_text(head + reworded, encoding="utf-8")
    revised = run("claim", "revise", FIRST, "reworded.yaml", "--reason", "The limit is another claim")
    assert revised.code == 0, revised.err
    Path("draft.md").write_text("In our evaluation the model schemes in 5 % of cases, below our threshold of 10 %.\n", encoding="utf-8")

    outcome = run("gate", "draft.md", "--json")
    assert outcome.document["checked"] == [f"{FIRST}@1"]
    assert "claim-contradicted" in {finding["rule"] for finding in outcome.document["findings"]}
