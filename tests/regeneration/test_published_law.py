"""The law of published files: no command turns a PASS of `verify` on an untouched path into anything but “superseded”."""

import functools
import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from tests.cli.given_out import ask, inside, run
from tests.cli.scenario import CARD, CLAIMS, write_audit, write_scores
from tests.soaking import choose

FOLDERS = ("out", "demo")
"""A folder that somebody works in, and one that is published as the demo publishes its own."""
CLAIM = st.integers(0, 2)


@functools.cache
def build_template() -> Path:
    """A registry with a card and three claims, one of them audited, with nothing rendered."""
    folder = Path(tempfile.mkdtemp(prefix="caveat-law-"))
    with inside(folder):
        run("init", "--code", "AISI")
        Path("card.md").write_text(CARD, encoding="utf-8")
        card = ask("card", "add", "card.md", "--publisher", "LAB")["card"]["card"]
        Path("claims.yaml").write_text(CLAIMS.format(card=card), encoding="utf-8")
        claim = ask("claim", "add", "claims.yaml")["added"][0]
        run("audit", "conclude", write_audit(folder, claim), write_scores(folder / "scores.csv", test=0.05, deploy=0.4))
    return folder


class PublishedFiles(RuleBasedStateMachine):
    """Everything a registry's keeper does to folders, in any order; after each step every file that ever passed still passes."""

    @initialize()
    def begin(self) -> None:
        """Copy the registry."""
        self.home = Path(tempfile.mkdtemp(prefix="caveat-law-"))
        shutil.copytree(build_template(), self.home, dirs_exist_ok=True)
        with inside(self.home):
            self.claims = [one["claim"] for one in ask("claim", "list")["claims"]]
            self.key = next(one["vkey"] for one in ask("admin", "key", "show")["keys"] if one["vkey"])
        self.passed: dict[tuple[Path, bool], str] = {}
        """Digest of each file that passed once, by its path and by whether the registry or the key alone was asked."""
        self.step = 0
        self.has_pdf = False

    def teardown(self) -> None:
        """Remove the copy."""
        shutil.rmtree(self.home, ignore_errors=True)

    def do(self, *arguments: str | Path) -> None:
        """Run a command; it may refuse, and then it must not harm either."""
        with inside(self.home):
            run(*arguments)

    @rule(claim=CLAIM, folder=st.sampled_from(FOLDERS), publish=st.booleans())
    def report(self, *, claim: int, folder: str, publish: bool) -> None:
        """Draw one claim."""
        self.do("report", self.claims[claim], "--html", "--json", "-o", folder, *(["--publish", "--yes"] if publish else []))

    @rule(folder=st.sampled_from(FOLDERS), publish=st.booleans())
    def stale(self, *, folder: str, publish: bool) -> None:
        """Bring a folder up to date."""
        self.do("report", "--stale", "--html", "--json", "-o", folder, *(["--publish", "--yes"] if publish else []))

    @rule()
    def publish_all(self) -> None:
        """Publish everything, as the demo does."""
        self.do("report", "--all", "--html", "--json", "--publish", "--yes", "-o", "demo")

    @precondition(lambda self: not self.has_pdf)
    @rule(claim=CLAIM, how=st.sampled_from(["--sign", "--publish", "--yes"]))
    def sign(self, *, claim: int, how: str) -> None:
        """Sign a PDF: alone, or with its publication. Once, since drawing PDF files takes longest."""
        self.has_pdf = True
        self.do("report", self.claims[claim], "--pdf", how, "-o", "out")

    @rule(folder=st.sampled_from(FOLDERS), back=st.integers(0, 9))
    def report_as_of(self, *, folder: str, back: int) -> None:
        """Publish what a claim said some entries ago."""
        with inside(self.home):
            size = ask("admin", "log", "show")["size"]
        self.do("report", self.claims[0], "--json", "--as-of", str(max(12, size - back)), "--publish", "--yes", "-o", folder)

    @rule(claim=CLAIM)
    def withdraw(self, *, claim: int) -> None:
        """Withdraw a claim."""
        self.do("claim", "withdraw", self.claims[claim], "--reason", "retracted", "--yes")

    @rule()
    def revise(self) -> None:
        """Revise the first claim."""
        self.step += 1
        path = self.home / "claims.yaml"
        text = (build_template() / "claims.yaml").read_text("utf-8")
        path.write_text(text.replace("reported: 0.05", f"reported: 0.0{self.step % 9 + 1}\n    why: erratum {self.step}"), "utf-8")
        self.do("claim", "add", "claims.yaml")

    @rule(claim=CLAIM)
    def contest(self, *, claim: int) -> None:
        """Object to a claim."""
        self.do("contest", "open", self.claims[claim], "--reason", "too narrow")

    @rule()
    def update(self) -> None:
        """Let a newer version take the place of the model."""
        self.step += 1
        self.do("model", "update", "LAB/M/1", f"LAB/M/{self.step + 1}", "--branch")

    @invariant()
    def every_file_that_passed_still_passes(self) -> None:
        """Beside the registry, and with nothing but the key line: PASS or “PASS (superseded by …)”; and no file was changed."""
        for has_registry in (True, False):
            for path, verdict in self.verify_all(has_registry=has_registry).items():
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                if (before := self.passed.get((path, has_registry))) is not None:
                    assert verdict == "PASS", f"{path.name}: {verdict}"
                    assert has_registry or digest == before, f"{path.name}: its bytes changed"
                if verdict == "PASS":
                    self.passed[path, has_registry] = digest
            gone = [path for path, asked in self.passed if asked is has_registry and not path.is_file()]
            assert gone == []

    def verify_all(self, *, has_registry: bool) -> dict[Path, str]:
        """Return the verdict on every supplement in the folders, as a reader has it."""
        kinds = (".html", ".json", ".pdf")
        found = [path for folder in FOLDERS for path in sorted((self.home / folder).glob("C*-*")) if path.suffix in kinds]
        if not found:
            return {}
        elsewhere = self.home / "elsewhere"
        elsewhere.mkdir(exist_ok=True)
        with inside(elsewhere):
            means: list[str] = ["--registry", f"sqlite:///{self.home}/caveat.db"] if has_registry else ["--key", self.key]
            told: Any = ask("verify", *found, *means)
        return {Path(one["file"]): one["verdict"] for one in told["files"]}


@pytest.mark.slow
def test_no_command_takes_a_pass_away() -> None:
    """Random sequences of commands over two folders; `make soak` tries more and longer ones."""
    run_state_machine_as_test(
        PublishedFiles,
        settings=settings(
            max_examples=choose(2, 12),
            stateful_step_count=choose(6, 15),
            deadline=None,
            derandomize=choose(1, 0) == 1,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.slow
@pytest.mark.parametrize("how", ["--publish", "--yes", "--sign"][: choose(1, 2)])
def test_the_law_with_a_pdf(how: str) -> None:
    """One sequence with a PDF, which random ones seldom reach: signed or published, then the claim is revised and all is published."""
    machine = PublishedFiles()
    machine.begin()
    try:
        machine.sign(claim=0, how=how)
        machine.every_file_that_passed_still_passes()
        machine.revise()
        machine.do("report", "--stale", "--pdf", "--publish", "--yes", "-o", "out")
        machine.every_file_that_passed_still_passes()
        assert any(path.suffix == ".pdf" for path, _ in machine.passed)
    finally:
        machine.teardown()
