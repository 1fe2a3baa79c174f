"""What docs/files.md shows is what the readers read."""

import re
from collections.abc import Callable
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

from audit.replay.replay_design import read_tasks
from audit.sources.rating_files import read_answers, read_samples
from audit.sources.score_columns import COLUMNS
from audit.sources.score_table import read_table
from audit.verdict.case_file import read_case
from registry.codec.canonical_documents import from_document, from_json
from registry.codec.file_io import read_document
from registry.configuration import read_config
from registry.records.analysis_plan import Plan
from registry.records.audit_case import Case, CaseClaim, Deployment, Evidence, PublishedFigure, Scoring
from registry.records.claim import Reported
from registry.records.claim_draft import AuditDraft, ClaimDraft, ClaimsFile, OmissionDraft, SurveyDraft
from registry.records.model_version import ModelRef
from registry.records.replay_run import Arm, Budget, Policy, Probe, Provenance, Replay, Task, TasksFile
from registry.records.specification import (
    ChoiceScorer,
    ContextBlock,
    ContextEdit,
    ContextItem,
    ContextSpec,
    CueInventorySpec,
    Dimension,
    JudgeScorer,
    LabelScorer,
    MethodSpec,
    NumberScorer,
    PatternScorer,
    PropertySpec,
    ScoringSpec,
    SealFile,
    SpecOpening,
    Tool,
    Turn,
    Variants,
)

PAGE = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"<!-- reader: (\w+) -->\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
TABLES = re.findall(r"<!-- keys: (.+?) -->\n((?:\|.*\n)+)", PAGE)
NOUNS = (
    *(
        AuditDraft,
        Case,
        CaseClaim,
        ClaimDraft,
        ClaimsFile,
        ContextItem,
        ContextSpec,
        CueInventorySpec,
        Deployment,
        Evidence,
        PublishedFigure,
    ),
    *(MethodSpec, ModelRef, OmissionDraft, Plan, PropertySpec, Provenance, Reported, Scoring, ScoringSpec, SurveyDraft),
    *(Arm, ContextBlock, Budget, ContextEdit, Policy, Probe, Replay, Task, TasksFile, Tool, Turn, Variants),
    *(ChoiceScorer, Dimension, JudgeScorer, LabelScorer, NumberScorer, PatternScorer, SealFile, SpecOpening),
)

READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "audit": ("audit.yaml", lambda path: from_document(AuditDraft, read_document(path), where="page")),
    "answers": ("answers.csv", lambda path: read_answers([path])),
    "claims": ("claims.yaml", lambda path: from_document(ClaimsFile, read_document(path), where="page")),
    "classify": ("case.yaml", read_case),
    "config": ("registry.cfg", lambda path: read_config(path.parent, {})),
    "jsonl": ("claims.jsonl", lambda path: [from_json(ClaimDraft, line, where="page") for line in path.read_text().splitlines()]),
    "labels": ("labels.csv", lambda path: read_table([path], low=0, high=1, score="label")),
    "provenance": ("provenance.yaml", lambda path: from_document(Provenance, read_document(path), where="page")),
    "replay": ("replay.yaml", lambda path: from_document(Replay, read_document(path), where="page")),
    "samples": ("samples.csv", lambda path: read_samples([path], test="test", deploy="deploy")),
    "scores": ("scores.csv", lambda path: read_table([path], low=0, high=1)),
    "seal": ("chat.seal.json", lambda path: from_document(SealFile, read_document(path), where="page")),
    "tasks": ("tasks.yaml", read_tasks),
}


@pytest.mark.parametrize(("reader", "text"), EXAMPLES, ids=[reader for reader, _ in EXAMPLES])
def test_an_example_is_read_without_a_fault(reader: str, text: str, tmp_path: Path) -> None:
    """Who copies an example from the page gets no error from the reader that the command uses."""
    name, read = READERS[reader]
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")

    assert read(path)


def test_every_format_has_its_example_and_every_block_its_reader() -> None:
    """No format is left out, and no YAML on the page is unchecked."""
    assert {reader for reader, _ in EXAMPLES} == set(READERS)
    assert PAGE.count("```yaml") == len([text for reader, text in EXAMPLES if READERS[reader][0].endswith(".yaml")])


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: noun.__name__)
def test_a_table_names_every_key_and_no_other(noun: type) -> None:
    """The keys on the page are those of the record, and the required ones are said to be."""
    (heading, table), *more = [(heading, table) for heading, table in TABLES if heading.split(" + ")[0] == noun.__name__]
    rows = {row.split("|")[1].strip().strip("`"): row for row in table.splitlines()[2:]}
    known = {field.name.rstrip("_"): field for field in fields(noun)}
    required = {name for name, field in known.items() if field.default is MISSING and field.default_factory is MISSING}

    assert more == []
    assert set(rows) == set(known) | set(heading.split(" + ")[1:])
    assert {name for name, row in rows.items() if "**required**" in row} == required


def test_the_columns_of_a_score_table_are_all_told() -> None:
    """Every column that is read has its line."""
    ((_, table),) = [one for one in TABLES if one[0] == "columns"]

    assert [row.split("|")[1].strip().strip("`") for row in table.splitlines()[2:]] == list(COLUMNS)
