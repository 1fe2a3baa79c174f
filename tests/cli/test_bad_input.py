"""Whatever is handed in wrong is refused with where, what and what next; nothing of it is recorded and nothing breaks."""

import json
from pathlib import Path

import pikepdf
import pytest

from tests.cli.conftest import HERE, Answer, Caveat
from tests.cli.refusals import check_refusal, run_limited, size_of
from tests.cli.scenario import AUDIT, CARD, CLAIMS, register, write_audit


def read_claims(caveat: Caveat) -> str:
    """Return the claims file of the scenario."""
    return CLAIMS.format(card=caveat("card", "list", "--json").document["cards"][0]["card"])


BROKEN_FILES = {
    "empty.yaml": (b"", "not-valid"),
    "nul.yaml": (b"\x00", "not-yaml"),
    "utf16.yaml": (b"\xff\xfea\x00", "not-utf-8"),
    "alias.yaml": (b"a: &x [1]\nb: *x\n", "yaml-not-supported"),
    "bomb.yaml": (b"a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n", "yaml-not-supported"),
    "tag.yaml": (b"a: !!python/object/apply:os.system [ls]\n", "yaml-not-supported"),
    "twice.yaml": (b"a: 1\na: 2\n", "duplicate"),
    "twice.json": (b'{"claims": [], "claims": []}', "duplicate"),
    "nan.json": (b'{"claims": NaN}', "not-finite"),
    "huge.json": (b'{"claims": 1e999}', "not-finite"),
    "digits.json": (b'{"claims": ' + b"1" * 5000 + b"}", "not-json"),
    "digits.yaml": (b"claims: " + b"1" * 5000, "not-yaml"),
    "deep.json": (b"[" * 100_000, "too-deep"),
    "deep.yaml": (b"- " * 5_000, "too-deep"),
    "surrogate.json": (b'{"claims": [], "card": "\\ud800"}', "not-valid"),
    "surrogate-key.json": (b'{"\\ud800": 1}', "not-valid"),
    "surrogate.yaml": (b'claims: []\ncard: "\\ud800"\n', "not-valid"),
    "two.yaml": (b"--- a\n--- b\n", "not-yaml"),
    "key.yaml": (b"? [a]\n: b\n", "not-valid"),
    "number-key.yaml": (b"1: 2\n", "not-valid"),
    "tab.yaml": (b"\t- a\n", "not-yaml"),
    "date.yaml": (b"a: 2026-13-45\n", "not-yaml"),
    "unknown.yaml": (b"claims: []\nclaim: 1\n", "not-valid"),
    "nan.jsonl": (b'{"theta": NaN}', "not-valid"),
    "line.jsonl": (b'{"quote": "' + b"x" * 1_100_000 + b'"}', "file-too-large"),
    "surrogate.jsonl": (b'{"quote": "\\ud800"}', "not-valid"),
    "twice.jsonl": (b'{"quote": "a", "quote": "b"}', "duplicate"),
    "array.jsonl": (b"[1]\nnull\n", "not-valid"),
    "deep.jsonl": (b"[" * 10_000, "not-valid"),
    "utf16.jsonl": (b"\xff\xfe", "not-valid"),
}


@pytest.mark.parametrize("name", BROKEN_FILES)
def test_a_broken_claims_file_is_refused(caveat: Caveat, tmp_path: Path, name: str) -> None:
    """Not YAML, not JSON, not text, bombs, duplicate keys, numbers that are none: one clear fault, nothing recorded."""
    register(caveat, tmp_path)
    content, code = BROKEN_FILES[name]
    (tmp_path / name).write_bytes(content)
    size = size_of(caveat)

    check_refusal(caveat("claim", "add", name), f"{code}: {name}")
    assert size_of(caveat) == size


BROKEN_CLAIMS = {
    "blank quote": ("quote: ' ', quote_status: paraphrase, form: existence, property: scheming", "is blank"),
    "blank model": ("quote: q, quote_status: paraphrase, form: existence, property: scheming, model: {developer: '', name: n, version: v}",
                    "model.developer"),
    "text for a number": ("quote: q, quote_status: paraphrase, form: threshold, relation: '<=', theta: high, property: scheming", "theta"),
    "negative n": ("quote: q, quote_status: paraphrase, form: prevalence, reported: {value: 0.5, n: -5}, property: scheming", "reported.n"),
    "huge n": ("quote: q, quote_status: paraphrase, form: prevalence, reported: {value: 0.5, n: 99999999999999999999}, property: scheming",
               "not-storable"),
    "beyond the range": ("quote: q, quote_status: paraphrase, form: prevalence, reported: 9, property: scheming", "out-of-range"),
    "page": ("quote: In our evaluation the model, form: existence, property: scheming, page: -1", "page -1"),
    "path for an id": ("quote: q, quote_status: paraphrase, form: existence, property: scheming, id: ../../x", "bad-identifier"),
    "nul": ('quote: "a\\0b", quote_status: paraphrase, form: existence, property: scheming', "U+0000"),
    "nothing called so": ("quote: q, quote_status: paraphrase, form: existence, property: ../../x", "spec-not-found"),
    "card of nothing": ("quote: In our evaluation, form: existence, property: scheming, card: CRD-AISI-2026-0001-X", "does not match"),
    "revision of nothing": ("quote: q1, quote_status: paraphrase, form: existence, property: PRP-AISI-2026-0001-I@99999999999999999999",
                            "not-registered"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN_CLAIMS)
def test_one_broken_claim_keeps_the_whole_file_out(caveat: Caveat, tmp_path: Path, name: str) -> None:
    """A good claim beside it is not recorded either."""
    register(caveat, tmp_path)
    claim, words = BROKEN_CLAIMS[name]
    good = "  - {quote: a good one, quote_status: paraphrase, form: existence, property: scheming}\n"
    (tmp_path / "broken.yaml").write_text(f"{read_claims(caveat)}{good}  - {{{claim}}}\n", encoding="utf-8")
    size = size_of(caveat)

    check_refusal(caveat("claim", "add", "broken.yaml"), words)
    assert size_of(caveat) == size


def test_ten_thousand_faults_are_told_and_counted(caveat: Caveat, tmp_path: Path) -> None:
    """The first are listed with their paths, the rest are a number."""
    register(caveat, tmp_path)
    (tmp_path / "many.json").write_text(json.dumps({"claims": [{"quote": number} for number in range(10_000)]}), encoding="utf-8")

    refused = caveat("claim", "add", "many.json", "--json")

    check_refusal(refused, "more-faults")
    faults = json.loads(refused.err)["faults"]
    assert len(faults) == 201
    assert faults[0]["where"] == "many.json, claims[0].quote"
    assert faults[-1]["found"] == "and 29,800 more faults like these"


def test_line_ends_marks_and_capitals_of_other_systems_are_read(caveat: Caveat, tmp_path: Path) -> None:
    """A byte order mark, CRLF and .JSONL are no faults."""
    register(caveat, tmp_path)
    one = {"quote_status": "paraphrase", "form": "existence", "property": "scheming"}
    model = {"developer": "LAB", "name": "M", "version": "1"}
    lines = [json.dumps({**one, "quote": f"case {number}", "model": model}) for number in range(2)]
    (tmp_path / "WINDOWS.JSONL").write_bytes(b"\xef\xbb\xbf" + "\r\n\r\n".join(lines).encode())

    assert len(caveat("claim", "add", "WINDOWS.JSONL", "--json").document["added"]) == 2


def make_sparse(path: Path, size: int) -> Path:
    """Make a file that is large and takes no space."""
    with path.open("wb") as stream:
        stream.truncate(size)
    return path


def test_a_card_that_is_none_is_refused(caveat: Caveat, tmp_path: Path) -> None:
    """Nothing, too much, cut off, locked, without text, or something else under its name."""
    register(caveat, tmp_path)
    (tmp_path / "zero.pdf").touch()
    make_sparse(tmp_path / "large.pdf", 500_000_000)
    (tmp_path / "text.pdf").write_text(CARD)
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7\n1 0 obj <<")
    (tmp_path / "image.md").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (tmp_path / "archive.txt").write_bytes(b"PK\x03\x04" + bytes(100))
    pdf = pikepdf.new()
    pdf.add_blank_page()
    pdf.save(tmp_path / "blank.pdf")
    pdf.save(tmp_path / "locked.pdf", encryption=pikepdf.Encryption(owner="a", user="b"))
    size = size_of(caveat)

    codes = {
        "zero.pdf": "card-empty",
        "large.pdf": "file-too-large",
        "text.pdf": "card-type-mismatch",
        "broken.pdf": "card-unreadable",
        "image.md": "card-type-mismatch",
        "archive.txt": "card-type-mismatch",
        "blank.pdf": "card-without-text",
        "locked.pdf": "card-encrypted",
        "/dev/null": "file-not-readable",
    }
    for name, code in codes.items():
        check_refusal(caveat("card", "add", name, "--publisher", "LAB"), f"{code}: {name}")
    assert size_of(caveat) == size


def test_files_larger_than_any_are_not_read(caveat: Caveat, tmp_path: Path) -> None:
    """Half a gigabyte of nothing stops no command."""
    register(caveat, tmp_path)
    make_sparse(tmp_path / "large.yaml", 500_000_000)

    for command in (
        ("claim", "add"),
        (
            "analyze",
            "classify",
        ),
        ("audit", "lock", "--yes"),
        ("audit", "conclude"),
        ("verify",),
        ("report", "--from"),
    ):
        check_refusal(caveat(*command, "large.yaml"), "file-too-large")


BROKEN_SCORES = {
    "nothing.csv": (b"", "table-empty"),
    "header.csv": (b"task_id,arm,context_id,sample,score\n", "table-empty"),
    "one-side.csv": (b"task_id,arm,context_id,sample,score\nt,test,c,0,1\n", "one-sided"),
    "text.csv": (b"task_id,arm,context_id,sample,score\nt,test,c,0,high\nt,deploy,d,0,1\n", "score-not-number"),
    "beyond.csv": (b"task_id,arm,context_id,sample,score\nt,test,c,0,1.5\nt,deploy,d,0,1\n", "score-out-of-range"),
    "infinite.csv": (b"task_id,arm,context_id,sample,score\nt,test,c,0,1e999\nt,deploy,d,0,1\n", "score-out-of-range"),
    "nan.csv": (b"task_id,arm,context_id,sample,score\nt,test,c,0,nan\nt,deploy,d,0,1\n", "score-nan"),
    "twice.csv": (b"task_id,arm,context_id,sample,score\nt,test,c,0,1\nt,test,c,0,1\nt,deploy,d,0,1\n", "duplicate-row"),
    "column.csv": (b"task_id,arm,context_id,sample,scor\nt,test,c,0,1\n", "did you mean 'scor'"),
    "short.csv": (b"task_id,arm,context_id,sample,score\nt,test,c,0\n", "row-broken"),
    "image.csv": (b"\x89PNG\r\n" + bytes(range(256)), "file-not-readable"),
    "latin.csv": (b"task_id,arm,context_id,sample,score\n\xe9,test\n", "file-not-readable"),
    "junk.parquet": (b"PAR1junk", "file-not-readable"),
    "csv.jsonl": (b"task_id,arm\n", "not-json"),
    "deep.jsonl": (b"[" * 10_000, "not-json"),
    "surrogate.jsonl": (b'{"task_id": "\\ud800"}\n', "not-json"),
    "nan.jsonl": (b'{"task_id": "a", "arm": "test", "context_id": "c", "sample": 0, "score": NaN}\n', "not-json"),
    "list.jsonl": (b'{"task_id": ["a"], "arm": "test", "context_id": "c", "sample": 0, "score": 1}\n', "bad-name"),
    "scores.xlsx": (b"PK\x03\x04", "file-not-readable"),
}


@pytest.mark.parametrize("name", BROKEN_SCORES)
def test_a_broken_score_table_leaves_no_half_an_audit(caveat: Caveat, tmp_path: Path, name: str) -> None:
    """Neither the audit, nor its evidence, nor a run is recorded; `estimate` says the same."""
    claim, *_ = register(caveat, tmp_path)
    content, code = BROKEN_SCORES[name]
    (tmp_path / name).write_bytes(content)
    size = size_of(caveat)

    check_refusal(caveat("analyze", "estimate", name), code)
    check_refusal(caveat("audit", "conclude", write_audit(tmp_path, claim), name), code)
    assert size_of(caveat) == size


@pytest.mark.parametrize(
    "extra",
    ["plan: {level: 2}", "plan: {margin: -1}", "plan: {margin: 7}", "plan: {replicates: -1}", "plan: {seed: 99999999999999999999}",
     "deploy_specs: []", "deploy_specs: [a, a]", "deploy_specs: ['']", 'note: "\\0"', "plan: {margin: .inf}", "claim: again"],
)  # fmt: skip
def test_a_plan_that_nothing_could_answer_is_not_locked(caveat: Caveat, tmp_path: Path, extra: str) -> None:
    """A lock cannot be mended, so what makes no sense is refused before."""
    claim, *_ = register(caveat, tmp_path)
    size = size_of(caveat)

    check_refusal(caveat("audit", "lock", "--yes", write_audit(tmp_path, claim, extra=f"{extra}\n")))
    assert size_of(caveat) == size


@pytest.fixture
def supplement(caveat: Caveat, tmp_path: Path) -> Path:
    """A supplement as JSON and HTML, in the folder `o`."""
    claim, *_ = register(caveat, tmp_path)
    assert caveat("report", claim, "--json", "--html", "-o", "o").code == 0
    return tmp_path / "o" / f"{claim}.json"


@pytest.mark.parametrize("identifier", ["../../evil@1", "/nonexistent/evil", "", "x\x00y", "AUD-AISI-2026-0001-9", "CLM-AISI-2026-0001-A"])
def test_a_forged_name_becomes_no_path(caveat: Caveat, tmp_path: Path, supplement: Path, identifier: str) -> None:
    """The name of a supplement's file comes from its record, and a record may be forged."""
    document = json.loads(supplement.read_text(encoding="utf-8"))
    (tmp_path / "forged.json").write_text(json.dumps({**document, "identifier": identifier}), encoding="utf-8")
    there = set(tmp_path.rglob("*"))

    check_refusal(caveat("report", "--from", "forged.json", "-o", "forged", "--json"))
    check_refusal(caveat("verify", "forged.json"))
    assert set(tmp_path.rglob("*")) == there


@pytest.mark.parametrize("change", [{"identifier": "CLM-AISI-2026-0777-6@1"}, {"log_size": 10**6}, {"log_size": -1}, {"log_size": 0}])
def test_a_forged_record_is_denied_by_the_registry(caveat: Caveat, tmp_path: Path, supplement: Path, change: dict[str, object]) -> None:
    """Exit code 1 with a note, also where the registry has nothing of that name."""
    document = json.loads(supplement.read_text(encoding="utf-8"))
    (tmp_path / "forged.json").write_text(json.dumps({**document, **change}), encoding="utf-8")

    denied = caveat("verify", "forged.json", *HERE, "--json")

    assert denied.code == 1
    assert {one["name"]: one["answer"] for one in denied.document["files"][0]["checks"]}["registry"] == "no"


def test_what_is_no_supplement_is_neither_drawn_nor_verified(caveat: Caveat, tmp_path: Path, supplement: Path) -> None:
    """Junk, cut-off files, deep nesting, numbers of five thousand digits."""
    data = supplement.read_bytes()
    html = supplement.with_suffix(".html").read_bytes()
    junk = {
        "empty": b"", "brace.json": b"{", "object.json": b"{}", "deep.json": b'{"a":' * 100_000, "cut.json": data[:-10],
        "digits.json": b'{"schema": ' + b"1" * 5000 + b"}", "surrogate.json": b'{"schema": "\\ud800"}', "cut.html": html[: len(html) // 2],
        "script.html": b'<script type="application/json" id="record">\xff</script>', "head.pdf": b"%PDF-1.7\n", "bytes": bytes(1000),
    }  # fmt: skip
    for name, content in junk.items():
        (tmp_path / name).write_bytes(content)

        check_refusal(caveat("report", "--from", name, "-o", "junk", "--json"))
        verified = caveat("verify", name)
        if verified.code == 1:  # it looks like a supplement, and its record is none
            assert "no           record" in verified.out
            assert name.endswith((".html", ".pdf"))
        else:
            check_refusal(verified)
    assert not (tmp_path / "junk").exists()


def test_a_registry_that_was_asked_for_is_not_silently_excluded(caveat: Caveat, supplement: Path) -> None:
    """Verifying without comparing would look like a yes."""
    check_refusal(caveat("verify", supplement, "--registry", "sqlite:///nothing.db"), "registry-not-found")
    check_refusal(caveat("verify", supplement, "--registry", "sqlite:///card.md"), "registry-unavailable")


def test_a_full_disk_loses_nothing(caveat: Caveat, tmp_path: Path) -> None:
    """Neither a half recorded file nor a half written supplement, and the log is whole."""
    claim, *_ = register(caveat, tmp_path)
    size = size_of(caveat)
    line = {"quote_status": "paraphrase", "form": "existence", "property": "scheming"}
    model = {"developer": "LAB", "name": "M", "version": "1"}
    lines = (json.dumps({**line, "quote": f"case {number}", "model": model}) for number in range(2_000))
    (tmp_path / "many.jsonl").write_text("\n".join(lines), encoding="utf-8")
    room = (tmp_path / "caveat.db").stat().st_size + 20_000

    added = run_limited(tmp_path, room, "claim", "add", "many.jsonl")
    drawn = run_limited(tmp_path, 50_000, "report", claim, "--html", "-o", "full")

    for refused in (added, drawn):
        check_refusal(Answer(refused.returncode, refused.stdout, refused.stderr), "registry-unavailable", "file-not-accessible")
        assert "Traceback" not in refused.stderr
    assert size_of(caveat) == size
    assert caveat("admin", "log", "check").code == 0
    assert list((tmp_path / "full").glob("*")) == []


def test_an_audit_of_nothing_is_refused(caveat: Caveat, tmp_path: Path) -> None:
    """The claim in an audit file is looked up before anything is recorded."""
    register(caveat, tmp_path)
    size = size_of(caveat)

    for claim in ("garbage", "CRD-AISI-2026-0001-1", "CLM-AISI-2026-0777-6", "CLM-AISI-2026-0001-A"):
        (tmp_path / "audit.yaml").write_text(AUDIT.format(claim=claim))
        check_refusal(caveat("audit", "lock", "--yes", "audit.yaml"))
        check_refusal(caveat("audit", "conclude", "audit.yaml"))
    assert size_of(caveat) == size
