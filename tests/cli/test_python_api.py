"""The package `caveat`: what programs rely on, its page, its notebook, and what an import costs."""

import ast
import contextlib
import inspect
import io
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import caveat as api
from tests.cli.conftest import Answer, Caveat
from tests.cli.given_out import NAME, take_copy
from tests.docs.test_site import load_tool

ROOT = Path(__file__).parents[2]
SCORES = ROOT / "examples" / "recording" / "correct.csv"
_BLOCK = re.compile(
    r"```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)


@pytest.fixture
def folder(given_out: Path, tmp_path: Path) -> Path:
    """A copy of the registry whose supplements were published, with one of them and the log's key at hand."""
    take_copy(given_out, tmp_path)
    shutil.copy(tmp_path / "out" / f"{NAME}.pdf", tmp_path / "supplement.pdf")
    lines = (tmp_path / "caveat-keys" / "log.pem").read_text(encoding="utf-8").splitlines()
    key = next(line for line in lines if line and not line.startswith(("#", "-")))
    (tmp_path / "institute.keys").write_text(key + "\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def registry(folder: Path) -> Any:
    """That registry, open."""
    with api.open_registry(folder / "caveat.db") as registry:
        yield registry


def run_python(code: str, cwd: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run *code* in a new process in *cwd*."""
    return subprocess.run([sys.executable, *options, "-c", code], cwd=cwd, capture_output=True, text=True, check=False)


def execute(code: str, names: dict[str, Any]) -> Any:
    """Run *code* as a notebook does; return the value of its last line, None where that is no expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)  # noqa: S102  (our own pages)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)  # noqa: S307


def test_every_public_name_is_listed_loaded_and_on_the_page() -> None:
    """`__all__`, what can be imported, and the reference of docs/python.md are one list."""
    written, reference = load_tool("python_page").read_page()
    headings = set(re.findall(r"^### `(\w+)`$", reference, re.MULTILINE)) | {"Registry"}

    assert headings == set(api.__all__) - {"__version__"}
    assert set(api.__dir__()) == set(api.__all__)
    assert [name for name in api.__all__ if getattr(api, name) is None] == []
    assert "## Stability" in written


def test_the_reference_is_what_the_docstrings_say() -> None:
    """Run `python tools/python_page.py` after a docstring of the package `caveat` was changed."""
    tool = load_tool("python_page")

    assert tool.read_page()[1].strip() == tool.write_reference().strip()


def test_an_unknown_name_is_an_attribute_error() -> None:
    """As of any module, with the page that lists the names."""
    with pytest.raises(AttributeError, match=r"no attribute 'estimat'.*docs/python\.md"):
        _ = api.estimat  # type: ignore[attr-defined]


def test_the_package_says_its_types_and_its_version() -> None:
    """Type checkers read `py.typed`; every function of the API has annotations."""
    from importlib.metadata import version

    functions = [getattr(api, name) for name in api.__all__ if inspect.isfunction(getattr(api, name))]

    assert (ROOT / "caveat" / "py.typed").exists()
    assert api.__version__ == version("caveat")
    assert [each.__name__ for each in functions if inspect.signature(each).return_annotation is inspect.Signature.empty] == []


def test_importing_costs_little(tmp_path: Path) -> None:
    """`import caveat` loads no module of `registry` or `audit` and nothing from elsewhere."""
    code = "import sys; before = set(sys.modules); import caveat; print(sorted(set(sys.modules) - before))"
    loaded = ast.literal_eval(run_python(code, tmp_path).stdout)

    assert "caveat" in loaded
    assert [name for name in loaded if name.partition(".")[0] not in {"caveat", *sys.stdlib_module_names}] == []


def test_verifying_loads_no_numpy_and_no_database(folder: Path) -> None:
    """A reader of a supplement needs keys, and no statistics."""
    code = (
        "import sys, caveat; print(caveat.verify('supplement.pdf', keys='institute.keys').verdict);"
        "print([name for name in ('numpy', 'scipy', 'pyarrow', 'weasyprint', 'sqlalchemy') if name in sys.modules])"
    )

    assert run_python(code, folder).stdout.splitlines() == ["PASS", "[]"]


def test_a_file_that_was_changed_fails(folder: Path) -> None:
    """One byte of the record is another: the verdict is FAIL, and the checks name what is wrong."""
    path = folder / "out" / f"{NAME}.html"
    path.write_bytes(path.read_bytes().replace(b"scheming rate", b"scheming bait"))

    verification = api.verify(path, keys=[folder / "institute.keys"])

    assert verification.verdict == "FAIL"
    assert not verification.passed
    assert verification.find_check("published") is not None


def test_without_a_key_the_verdict_is_incomplete(folder: Path) -> None:
    """Nothing shows who made the file, and that is no failure."""
    verification = api.verify(folder / "supplement.pdf")

    assert verification.verdict == "INCOMPLETE"
    assert "checkpoint" in verification.list_open()


def test_the_verification_is_that_of_the_command(folder: Path, caveat: Caveat) -> None:
    """Verdict, summary and checks are the same."""
    (shown,) = caveat("verify", "supplement.pdf", "--key", "institute.keys", "--json").document["files"]

    verification = api.verify(folder / "supplement.pdf", keys=folder / "institute.keys")

    assert (verification.verdict, verification.summary) == (shown["verdict"], shown["summary"])
    assert [check.name.value for check in verification.checks] == [check["name"] for check in shown["checks"]]


def test_a_registry_is_read_as_the_commands_show_it(registry: api.Registry, caveat: Caveat) -> None:
    """Claims, status, audits and cards are those of `claim list` and `claim show`."""
    listed: Answer = caveat("claim", "list", "--json")
    claims = list(registry.claims())

    assert [claim.claim for claim in claims] == [row["claim"] for row in listed.document["claims"]]
    assert registry.claim(claims[0].claim).quote == claims[0].quote
    assert registry.status(claims[0].claim) == claims[0].status
    assert [audit.audit.payload.claim.partition("@")[0] for audit in registry.audits()] == [claims[0].claim]
    assert len(registry.cards()) == 1
    assert [claim.claim for claim in registry.claims(text="covert action")] == [claims[2].claim]
    assert list(registry.claims(model="LAB/M/2")) == []


def test_the_outcome_is_what_leads_the_supplement(registry: api.Registry, folder: Path) -> None:
    """The conclusion with its estimate, as the published record has them; None for a claim without one."""
    first, second, _ = (claim.claim for claim in registry.claims())
    outcome = registry.outcome(first)
    record = json.loads((folder / "out" / f"{NAME}.json").read_bytes())

    assert outcome is not None
    assert outcome.estimate is not None
    assert outcome.basis == "reported"
    assert outcome.restricted.restricted in json.dumps(record, ensure_ascii=False)
    assert outcome.estimate.specs[0].ed.value == pytest.approx(-0.35, abs=0.1)
    assert registry.outcome(second) is None


def test_a_registry_is_read_as_of_an_entry_and_as_of_a_day(folder: Path) -> None:
    """Of an empty log nothing is seen; a day that has passed shows what was there then."""
    place = f"sqlite:///{folder / 'caveat.db'}"
    with api.open_registry(place, as_of=0) as before, api.open_registry(place) as now:
        assert (before.entry, list(before.claims())) == (0, [])
        assert now.entry > 10
    yesterday = datetime.now(UTC).date() - timedelta(days=2)
    for moment in (yesterday, datetime(2020, 1, 1, tzinfo=UTC)):
        with api.open_registry(place, as_of=moment) as early:
            assert early.entry == 0
    with api.open_registry(place, as_of=date(2999, 1, 1)) as later:
        assert later.entry == now.entry


def test_rendering_gives_the_bytes_that_the_command_writes(registry: api.Registry, folder: Path, caveat: Caveat) -> None:
    """HTML and JSON of the same entry are the same, each rendered alone; nothing is written into the registry."""
    claim = next(registry.claims()).claim
    size = registry.entry
    for format_ in ("html", "json"):
        caveat("report", claim, f"--{format_}", "-o", format_)

        assert registry.render(claim, format_) == (folder / format_ / f"{claim}@1.{format_}").read_bytes()
    with api.open_registry(folder / "caveat.db") as again:
        assert again.entry == size


@pytest.mark.parametrize(
    ("call", "kind", "code"),
    [
        (lambda registry: registry.render("CLM-NO"), api.InputError, "bad-identifier"),
        (lambda registry: registry.render(NAME, "docx"), api.InputError, "bad-option"),
        (lambda registry: registry.claim("CLM-AISI-2026-0009-C"), api.NotFoundError, "not-registered"),
        (lambda registry: registry.status("nothing"), api.InputError, "bad-identifier"),
        (lambda registry: registry.claims(model="M"), api.InputError, "bad-model"),
        (lambda _: api.open_registry("nowhere.db"), api.UnavailableError, "registry-not-found"),
        (lambda _: api.open_registry("caveat.db", as_of=10_000), api.InputError, "entry-not-found"),
        (lambda _: api.estimate(api.read_scores(SCORES), level=1.5), api.InputError, "not-valid"),
        (lambda _: api.classify({"claim": {}}), api.InputError, "not-valid"),
        (lambda _: api.classify({"claim": {}, "scores": "scores.csv"}), api.InputError, "not-valid"),
        (lambda _: api.read_scores(SCORES, low=1, high=0), api.InputError, "bad-range"),
    ],
)
def test_bad_input_is_one_error_of_the_family(
    registry: api.Registry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, call: Any, kind: type[api.CaveatError], code: str
) -> None:
    """Every error is a CaveatError with a code, a place and what to do."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(kind) as raised:
        call(registry)

    assert isinstance(raised.value, api.CaveatError)
    assert code in {fault.code for fault in raised.value.faults}
    assert all(fault.where for fault in raised.value.faults)


def test_the_estimate_is_that_of_the_command(caveat: Caveat) -> None:
    """The same scores and options give the same document."""
    shown = caveat("analyze", "estimate", SCORES, "--level", "0.9", "--seed", "3", "--json").document

    del shown["design"]  # what a verdict needs, which the command adds
    assert api.to_dict(api.estimate(api.read_scores(SCORES), level=0.9, seed=3)) == shown


def test_the_classification_is_that_of_the_command(caveat: Caveat, tmp_path: Path) -> None:
    """A case file, and its content as a dictionary, give what `caveat analyze classify` gives."""
    case = {"claim": {"form": "threshold", "relation": ">=", "theta": 0.4,
                      "property": {"class": "capability", "range": [0, 1], "direction": "higher_is_safer"}}}  # fmt: skip
    (tmp_path / "case.json").write_text(json.dumps({**case, "scores": str(SCORES)}), encoding="utf-8")
    shown = caveat("analyze", "classify", "case.json", "--json").document["readings"][0]["verdict"]

    verdicts = [
        api.classify(tmp_path / "case.json").classification.primary.verdict,
        api.classify(case, api.read_scores(SCORES)).classification.primary.verdict,
    ]

    assert verdicts == [shown, shown]


def test_the_code_of_the_page_prints_what_it_shows(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of Python on docs/python.md runs, in order, as a reader would run it."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    page, blocks = (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), 0
    for block in _BLOCK.finditer(page):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            execute(block["code"], names)
        blocks += 1
        if block["shown"] is not None:
            if os.environ.get("CAVEAT_UPDATE_DOCS"):
                page = page.replace(f"{block['code']}```\n\n```text\n{block['shown']}", f"{block['code']}```\n\n```text\n{out.getvalue()}")
                (ROOT / "docs" / "python.md").write_text(page, encoding="utf-8")
                continue
            assert out.getvalue() == block["shown"]
        else:
            assert out.getvalue()
    assert blocks == 6


def test_the_notebook_runs_cell_by_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells run in order in its folder; the first number is ED with its interval, five lines after the import."""
    path = ROOT / "examples" / "notebook" / "first-number.ipynb"
    monkeypatch.chdir(path.parent)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    codes = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        values = [execute(code, names) for code in codes]

    assert len([line for line in codes[0].splitlines() if line]) == 5
    assert values[0][1] < values[0][0] < values[0][2]
    assert values[3] == "inconclusive"
    assert all(cell["outputs"] == [] for cell in notebook["cells"] if cell["cell_type"] == "code")


def test_python_m_caveat_is_the_command(tmp_path: Path) -> None:
    """`python -m caveat` has the groups of `caveat`, also beside a folder `caveat/` that is no package."""
    (tmp_path / "caveat").mkdir()
    (tmp_path / "caveat" / "notes.txt").write_text("mine\n", encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "caveat", "--help"], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "Publish and check:" in done.stdout
