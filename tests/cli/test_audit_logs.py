"""`caveat audit logs`: two logs of one model become a registered claim, an audit and a supplement, in one command."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from registry.records.analysis_plan import FEWEST_CONTEXTS, FEWEST_TASKS
from tests.cli.conftest import Answer, Caveat
from tests.sources.eval_archive import build_header, build_sample, write_log
from tests.sources.log_fixtures import EVERY_EVAL_INSPECT, INSPECT, copy_every_eval

PAIR = ("test=pair_T1_test.eval", "deploy=pair_D2_deploy.eval")
CLAIM = ("--claim", "answers 60 % correctly", "--form", "lower_bound", "--theta", "0.6")
QUICK = ("--no-pdf", "--replicates", "0", "-o", "out")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with two Inspect logs of the same twelve questions under two contexts, and nothing else."""
    for source in PAIR:
        name = source.partition("=")[2]
        shutil.copy(INSPECT / name, tmp_path / name)
    return tmp_path


def count_entries(caveat: Caveat, folder: Path) -> int:
    listed = caveat("status", "--json", "--registry", f"sqlite:///{folder}/caveat.db").document
    return int(listed["log_size"])


def write_side(folder: Path, name: str, *, tasks: int, score: str = "C", model: str = "m-20260101", prefix: str = "s") -> str:
    """Write an Inspect log of *tasks* samples with equal scores, and return its name."""
    names = [f"{prefix}{number}" for number in range(tasks)]
    samples = [build_sample(one, score, output={"model": model, "choices": [{"stop_reason": "stop"}]}) for one in names]
    header = build_header(tasks)
    header["eval"]["model"] = f"lab/{model}"
    header["eval"]["dataset"]["sample_ids"] = names
    header["eval"]["task"] = name.partition(".")[0]  # no two logs have the same bytes
    write_log(folder, *samples, header=header, name=name)
    return name


def test_two_logs_become_a_supplement_in_an_empty_folder(caveat: Caveat, logs: Path) -> None:
    """Registry, claims file, audit file, outcome and supplement; the evidence is reported, and twelve tasks decide nothing."""
    done = caveat("audit", "logs", *PAIR, *CLAIM, *QUICK, "--json")

    assert done.code == 0, done.err
    document = done.document
    assert (document["restriction"]["basis"], document["restriction"]["post_hoc"]) == ("reported", True)
    assert document["verdict"].startswith("Inconclusive. Only 12 tasks")
    assert document["model"]["name"].startswith("claude-local-qwen2.5-coder")
    assert document["restriction"]["asked"]["text"]
    assert sorted(path.name for path in (logs / "out").iterdir()) == [
        "audit.yaml", "caveat-keys", "caveat.db", "claims.yaml", "registry.cfg", "supplements",
    ]  # fmt: skip
    page = Path(document["supplement"][0])
    assert page.suffix == ".html"
    assert "answers 60 % correctly" in (logs / page).read_text(encoding="utf-8")


def test_the_same_command_again_records_nothing_twice(caveat: Caveat, logs: Path) -> None:
    first = caveat("audit", "logs", *PAIR, *CLAIM, *QUICK, "--json").document
    entries, page = count_entries(caveat, logs / "out"), logs / first["supplement"][0]
    before = page.read_bytes()

    again = caveat("audit", "logs", *PAIR, *CLAIM, *QUICK, "--json").document

    assert (first["new"], again["new"]) == (True, False)
    assert (again["claim"], again["audit"], again["supplement"]) == (first["claim"], first["audit"], first["supplement"])
    assert count_entries(caveat, logs / "out") == entries
    assert page.read_bytes() == before


def test_a_call_that_was_interrupted_before_its_verdict_is_continued(caveat: Caveat, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The claim is registered, and the process ends before the audit; the next call goes on from there."""

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("audit.cli.log_audit_session.conclude", interrupt)
        assert caveat("audit", "logs", *PAIR, *CLAIM, *QUICK).code == 130
    registered = count_entries(caveat, logs / "out")

    done = caveat("audit", "logs", *PAIR, *CLAIM, *QUICK, "--json")

    assert done.code == 0, done.err
    assert done.document["new"]
    assert done.document["claim"].endswith("@1")
    listed = caveat("claim", "list", "--json", "--registry", f"sqlite:///{logs}/out/caveat.db").document["claims"]
    assert len(listed) == 1
    assert count_entries(caveat, logs / "out") > registered


def test_another_plan_in_the_same_folder_is_a_second_audit_of_the_same_claim(caveat: Caveat, logs: Path) -> None:
    """The first outcome stays in the registry, so that choosing a plan by its verdict is visible."""
    first = caveat("audit", "logs", *PAIR, *CLAIM, *QUICK, "--json").document

    second = caveat("audit", "logs", *PAIR, *CLAIM, *QUICK, "--contexts", "fixed", "--json").document

    assert (second["claim"], second["files"]) == (first["claim"], ["out/claims.yaml", "out/audit-2.yaml"])
    audits = caveat("audit", "list", "--json", "--registry", f"sqlite:///{logs}/out/caveat.db").document["audits"]
    assert {one["audit"] for one in audits} == {first["audit"], second["audit"]}


def test_every_assumption_names_the_option_that_changes_it(caveat: Caveat, logs: Path) -> None:
    assert (logs / "pair_T1_test.eval").is_file()
    plain = caveat("audit", "logs", *PAIR, *CLAIM, "--dry-run", "--json").document
    changed = caveat(
        "audit", "logs", *PAIR, *CLAIM, "--dry-run", "--json", "--property", "share of correct answers", "--range", "0", "2",
        "--direction", "not_safety", "--model", "LAB/coder/7", "--margin", "0.2", "--level", "0.9", "--contexts", "fixed",
        "--deployment", "a chat", "--independence", "third_party", "--class", "agency_meta_task", "--source", "a talk",
    ).document  # fmt: skip

    values = [{entry["name"]: entry["value"] for entry in document["assumptions"]} for document in (plain, changed)]
    same = {name for name in values[0] if values[0][name] == values[1][name]}
    assert same == {"interpretation", "endpoint name", "scorer", "contexts", "evidence basis"}
    assert all(entry["option"] for entry in plain["assumptions"] if entry["name"] != "evidence basis")


def test_contexts_of_a_table_are_counted_by_its_column_or_by_its_arms(caveat: Caveat, tmp_path: Path) -> None:
    """The assumption says where the contexts came from, and each row has an option that changes it."""
    rows = [f"{task},{arm},{arm} {setting},1" for task in range(3) for arm in ("test", "deploy") for setting in range(2)]
    (tmp_path / "table.csv").write_text("\n".join(("question,side,setting,passed", *rows)), encoding="utf-8")
    fixed = ("--model", "LAB/coder/7", "--contexts", "fixed", "--dry-run", "--json")

    def find(columns: str, name: str) -> tuple[str, str]:
        done = caveat("audit", "logs", "table.csv", "--map", f"task=question,arm=side,score=passed{columns}", *CLAIM, *fixed)
        assert done.code == 0, done.err
        return next((entry["value"], entry["option"]) for entry in done.document["assumptions"] if entry["name"] == name)

    assert find(",context=setting", "contexts") == ("by setting: 2 test, 2 deploy", "--map context=COLUMN")
    assert find(",sample=setting", "contexts") == ("one per arm: 1 test, 1 deploy", "--map context=COLUMN")
    assert find(",context=setting", "contexts represent")[1] == "--contexts random"


def test_a_dry_run_shows_the_files_and_leaves_the_folder_empty(caveat: Caveat, logs: Path) -> None:
    done = caveat("audit", "logs", *PAIR, *CLAIM, "-o", "out", "--dry-run")

    assert done.code == 0, done.err
    assert "schema: caveat/claims/1" in done.out
    assert "schema: caveat/audit/1" in done.out
    assert sorted(path.suffix for path in logs.iterdir()) == [".eval", ".eval"]


def test_the_design_rule_is_the_first_line(caveat: Caveat, logs: Path) -> None:
    assert (logs / "pair_T1_test.eval").is_file()
    done = caveat("audit", "logs", *PAIR, *CLAIM, "--dry-run")

    assert done.out.startswith(f"A verdict needs at least {FEWEST_TASKS} tasks and {FEWEST_CONTEXTS} contexts on each side.")
    assert "--contexts fixed" in done.out.partition("Assumed")[0]


def test_enough_tasks_with_fixed_contexts_give_a_provisional_verdict_and_no_more(caveat: Caveat, tmp_path: Path) -> None:
    """The plan is later than the logs, so nothing that they show is established."""
    sources = [f"{arm}={write_side(tmp_path, f'{arm}.eval', tasks=60)}" for arm in ("test", "deploy")]

    done = caveat("audit", "logs", *sources, *CLAIM, *QUICK, "--contexts", "fixed", "--json")

    assert done.code == 0, done.err
    document = done.document

    reading = document["restriction"]["classification"]["readings"][0]
    assert (document["design"]["is_enough"], document["design"]["shortfall"]) == (True, None)
    assert reading["verdict"] == "holds"
    assert reading["verdict_standing"] == "provisional"
    assert (document["model"]["developer"], document["model"]["name"], document["model"]["version"]) == ("lab", "m", "20260101")


def test_a_configured_registry_is_used(caveat: Caveat, logs: Path) -> None:
    assert caveat("init", "--code", "LAB").code == 0

    done = caveat("audit", "logs", *PAIR, *CLAIM, *QUICK, "--json")

    assert done.code == 0, done.err
    assert done.document["claim"].startswith("CLM-LAB-")
    assert not (logs / "out" / "caveat.db").exists()


def test_instances_of_every_eval_ever_are_read_too(caveat: Caveat, tmp_path: Path) -> None:
    sources = [f"{arm}={copy_every_eval(tmp_path, run).name}" for arm, run in EVERY_EVAL_INSPECT.items()]

    done = caveat("audit", "logs", *sources, *CLAIM, *QUICK, "--dry-run", "--json")

    assert done.code == 0, done.err
    assert done.document["design"]["tasks"] == 12
    assert done.document["model"]["name"].startswith("claude-local-qwen2.5-coder")


def refuse(caveat: Caveat, folder: Path, *arguments: str) -> Answer:
    """Run the command, which must refuse with one message and leave nothing behind."""
    before = sorted(folder.iterdir())
    done = caveat("audit", "logs", *arguments, "-o", "out")
    assert done.code == 2, done.out
    assert done.err.count("error[") == 1
    assert "fix: " in done.err
    assert sorted(folder.iterdir()) == before
    return done


WRONG: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("test=a.eval",), "one-sided", "deploy=LOG"),
    (("a.eval", "deploy=b.eval"), "arm-missing", "test=a.eval"),
    (("test=a.eval", "deploy=other-model.eval"), "models-differ", "one model version"),
    (("test=a.eval", "deploy=other-tasks.eval"), "no-common-task", "--task-field"),
    (("test=a.eval", "deploy=no-scores.eval"), "no-scores", "inspect score"),
    (("test=a.eval", "prod=b.eval"), "unknown-name", "--deploy"),
)


@pytest.mark.parametrize(("sources", "code", "fix"), WRONG, ids=[wrong[1] for wrong in WRONG])
def test_logs_that_cannot_be_compared_get_one_message_with_the_fix(
    caveat: Caveat, tmp_path: Path, sources: tuple[str, ...], code: str, fix: str
) -> None:
    write_side(tmp_path, "a.eval", tasks=3)
    write_side(tmp_path, "b.eval", tasks=3)
    write_side(tmp_path, "other-model.eval", tasks=3, model="n-20260101")
    write_side(tmp_path, "other-tasks.eval", tasks=3, prefix="x")
    unscored: list[dict[str, Any]] = [build_sample(f"s{number}", scores={}, output={"model": "m-20260101"}) for number in range(3)]
    write_log(tmp_path, *unscored, name="no-scores.eval")

    done = refuse(caveat, tmp_path, *sources, *CLAIM)

    assert done.error == code
    assert fix in done.err.partition("fix: ")[2]


FORMS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("existence", "--theta", "0.6"), "leave --theta and --relation out"),
    (("lower_bound",), "--theta 0.6"),
    (("lower_bound", "--theta", "60"), "write 9 % as 0.09"),
    (("upper_bound", "--theta", "0.6", "--relation", ">="), "leave --relation out"),
    (("threshold", "--theta", "0.6"), '--relation ">="'),
)


@pytest.mark.parametrize(("form", "fix"), FORMS, ids=[" ".join(form) for form, _ in FORMS])
def test_a_form_that_does_not_go_with_its_limit_gets_one_message_with_the_fix(
    caveat: Caveat, logs: Path, form: tuple[str, ...], fix: str
) -> None:
    done = refuse(caveat, logs, *PAIR, "--claim", "answers correctly", "--form", *form)

    assert fix in done.err.partition("fix: ")[2]


def test_a_limit_that_contradicts_the_words_needs_its_reason(caveat: Caveat, logs: Path) -> None:
    words = ("--claim", "answers at least 60 % correctly", "--form", "lower_bound", "--theta", "0.7")

    assert refuse(caveat, logs, *PAIR, *words).error == "quotation-mismatch"
    assert caveat("audit", "logs", *PAIR, *words, "--dry-run", "-m", "a stricter reading").code == 0


@pytest.fixture
def registered(caveat: Caveat, logs: Path) -> str:
    """A claim that is registered from a claims file, of a model version that no endpoint name is stated for."""
    (logs / "claims.yaml").write_text(REGISTERED, encoding="utf-8")
    assert caveat("init", "--code", "LAB").code == 0
    assert caveat("claim", "add", "claims.yaml").code == 0
    return str(caveat("claim", "list", "--json").document["claims"][0]["claim"])


REGISTERED = """\
schema: caveat/claims/1
model: {developer: LAB, name: coder, version: "1"}
properties:
  accuracy: {name: share of correct answers, class: capability, range: [0, 1], direction: higher_is_safer}
claims:
  - quote: answers at least 60 % correctly
    quote_status: paraphrase
    source: a talk
    form: lower_bound
    theta: 0.6
    property: accuracy
"""


def test_a_registered_claim_is_audited_from_logs_in_one_command(caveat: Caveat, logs: Path, registered: str) -> None:
    """The verdict is that of `audit new` and `audit conclude` with the same logs; no claim and no endpoint name is recorded."""
    before = count_entries(caveat, logs)
    done = caveat("audit", "logs", *PAIR, "--claim", registered, *QUICK, "--json")

    assert done.code == 0, done.err
    document = done.document
    assert document["claim"] == f"{registered}@1"
    assert document["files"] == ["out/audit.yaml"]
    assert (document["restriction"]["basis"], document["restriction"]["post_hoc"]) == ("reported", True)
    assert "No endpoint name is stated for LAB coder 1" in document["restriction"]["asked"]["text"]
    assert count_entries(caveat, logs) - before == 2  # the audit and its outcome
    assert not caveat("audit", "logs", *PAIR, "--claim", registered, *QUICK, "--json").document["new"]

    (logs / "audit.yaml").write_text((logs / "out" / "audit.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    longer = caveat("audit", "conclude", "audit.yaml", *PAIR, "--json")
    assert longer.code == 0, longer.err
    assert longer.document["restriction"] == document["restriction"]


def test_a_verdict_that_other_audits_weaken_is_not_shown_alone(caveat: Caveat, tmp_path: Path) -> None:
    """A withdrawn audit that found the opposite is named before the verdict of the next one."""
    fails = [f"{arm}={write_side(tmp_path, f'{arm}-i.eval', tasks=60, score='I')}" for arm in ("test", "deploy")]
    holds = [f"{arm}={write_side(tmp_path, f'{arm}-c.eval', tasks=60)}" for arm in ("test", "deploy")]
    first = caveat("audit", "logs", *fails, *CLAIM, *QUICK, "--contexts", "fixed", "--json").document
    registry = ("--registry", "sqlite:///out/caveat.db")
    assert caveat("audit", "withdraw", first["audit"], "-m", "the scorer was broken", "--yes", *registry).code == 0

    claim = first["claim"].partition("@")[0]
    second = caveat("audit", "logs", *holds, "--claim", claim, *QUICK, "--contexts", "fixed")

    assert second.code == 0, second.err
    before, _, _ = " ".join(second.out.split()).partition("Holds in the contexts tested")
    assert f"An audit was withdrawn: {first['audit']}, which found" in before


def test_assumptions_of_a_registered_claim_say_that_another_name_answered(caveat: Caveat, logs: Path, registered: str) -> None:
    assert (logs / PAIR[0].partition("=")[2]).is_file()

    def find_name() -> str:
        document = caveat("audit", "logs", *PAIR, "--claim", registered, "--dry-run", "--json").document
        assert document["claim"] == f"{registered}@1"
        return next(entry["value"] for entry in document["assumptions"] if entry["name"] == "endpoint name")

    returned, _, rest = find_name().partition(", ")
    assert rest == "not registered for this version"
    assert caveat("model", "endpoint", "LAB/coder/1", returned, "-m", "its release notes").code == 0
    assert find_name() == returned


def test_logs_go_to_the_lock_that_waits_for_them(caveat: Caveat, logs: Path, registered: str) -> None:
    """Without it their outcome could never be established; once the audit is withdrawn, nothing waits."""
    plan = f"schema: caveat/audit/1\nclaim: {registered}\nindependence: self\nplan: {{contexts: fixed}}\n"
    (logs / "plan.yaml").write_text(plan, encoding="utf-8")
    locked = caveat("audit", "lock", "plan.yaml", "--yes", "--json").document["audit"]

    refused = caveat("audit", "logs", *PAIR, "--claim", registered, *QUICK)
    assert caveat("audit", "withdraw", locked, "-m", "another plan", "--yes").code == 0
    done = caveat("audit", "logs", *PAIR, "--claim", registered, *QUICK)

    assert (refused.error, done.code) == ("audit-is-locked", 0)
    assert f"caveat audit conclude {locked} test=LOG deploy=LOG" in refused.err


def test_what_a_registered_claim_states_is_no_option(caveat: Caveat, logs: Path, registered: str) -> None:
    wrong = caveat("audit", "logs", *PAIR, "--claim", registered, "--theta", "0.5", "--range", "0", "2", "-o", "out")
    unknown = caveat("audit", "logs", *PAIR, "--claim", "CLM-LAB-2026-0009-9", "-o", "out")
    formless = caveat("audit", "logs", *PAIR, "--claim", "answers well", "-o", "out")

    assert (wrong.code, wrong.error, (logs / "out").exists()) == (2, "bad-option", False)
    assert "--theta, --range" in wrong.err
    assert f"caveat claim revise {registered}" in wrong.err
    assert (unknown.code, formless.code) == (2, 2)
    assert "--claim CLM-…" in formless.err


def test_the_identifier_of_a_claim_in_the_place_of_an_audit_file_leads_to_its_audit(caveat: Caveat, registered: str) -> None:
    named = [caveat("audit", command, registered) for command in ("lock", "open")]
    missing = caveat("audit", "conclude", registered, *PAIR)

    assert f"fix: caveat audit logs test=LOG deploy=LOG --claim {registered}" in missing.err
    assert all(f"is a claim and no file; write its audit file first: caveat audit new {registered}" in one.err for one in named)
