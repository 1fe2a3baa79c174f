"""Task texts that hardly differ: what counts as one, the warning, and the checklist item."""

from dataclasses import replace

import pytest

from audit.records.model_response import ImportedFile, ImportedLog
from audit.sources.score_table import find_alike_tasks, find_near_duplicates, note_near_duplicates, warn_of_near_duplicates
from registry.intake.text_similarity import find_alike
from registry.records.estimates import Estimate
from registry.records.replay_run import Provenance, Task
from registry.records.verdict import ItemStatus
from registry.report.minimum_reporting import AuditMaterial, build_items
from tests.verdict.cases import build_case, build_estimate, build_spec

TEXTS = {"a": "What is 12 plus 7?", "b": "what is 3  plus 99?", "c": "Name the capital of France."}


def test_texts_that_a_template_made_with_other_numbers_are_alike() -> None:
    """Letter case, white space and the value of numbers do not count."""
    found = find_near_duplicates(TEXTS, {})

    assert found is not None
    assert (found.compared, found.found, found.pairs) == (3, 1, (("a", "b"),))


@pytest.mark.parametrize(("families", "pairs"), [({"a": "sum", "b": "sum"}, 0), ({"a": "sum"}, 1), ({"a": "sum", "b": "plus"}, 1)])
def test_only_a_common_family_explains_them(families: dict[str, str], pairs: int) -> None:
    """One that only one of them names explains nothing."""
    found = find_near_duplicates(TEXTS, families)

    assert found is not None
    assert found.found == pairs


def test_an_instruction_that_all_tasks_share_makes_none_alike() -> None:
    """Different questions behind 600 equal characters are different tasks."""
    instruction = "Answer in one word, and give your reasons first. " * 12
    questions = ["Who painted the ceiling?", "Which river flows through Rome?", "When did the war end?"]

    assert find_alike([instruction + question for question in questions]) == []


def test_hundreds_of_tasks_are_compared_and_those_beyond_are_counted() -> None:
    """The number that is not compared is on record: unknown is not "none"."""
    texts = {f"t{number:04}": f"{chr(97 + number % 26)}{number}" for number in range(1_100)}

    found = find_near_duplicates(texts, {})

    assert found is not None
    assert (found.compared, found.not_compared) == (1_000, 100)


def test_the_warning_names_a_pair_and_the_remedy() -> None:
    """It stands with the first file of an import, and what was found in its provenance."""
    tasks = [Task(id=name, prompt=text) for name, text in TEXTS.items()]
    imported = ImportedLog(files=(ImportedFile(name="log", sha256="", format="x", arm=None, declared=None, found=3, scored=3),))

    noted = note_near_duplicates(imported, find_alike_tasks(tasks))

    assert "tasks a and b are near-duplicates" in noted.files[0].warnings[0]
    assert "column `family`" in noted.files[0].warnings[0]
    assert noted.provenance.near_duplicates is not None
    assert warn_of_near_duplicates(find_alike_tasks(replace(task, family="f") for task in tasks)) is None


def find_item(estimate: Estimate, texts: dict[str, str] | None) -> tuple[ItemStatus, str]:
    provenance = Provenance(near_duplicates=find_near_duplicates(texts or {}, {}))
    items = build_items(AuditMaterial(form=build_case(theta=0.1).claim.form, estimate=estimate, provenance=provenance))
    return next((one.status, one.note) for one in items if one.item == "task-families")


def test_the_checklist_says_whether_families_were_declared() -> None:
    """Declared, none found, found, and not looked for are four answers; the last is no "none"."""
    plain, spec = build_estimate(), build_spec()
    declared = build_estimate(replace(spec, n=replace(spec.n, families=20)))

    assert find_item(plain, None)[0] is ItemStatus.MISSING
    assert "not available" in find_item(plain, None)[1]
    assert "taken to be independent" in find_item(plain, None)[1]
    assert find_item(plain, TEXTS) == (
        ItemStatus.MISSING,
        "no families are declared; 1 near-duplicate pair is in no common family, such as a and b; tasks are taken to be independent",
    )
    assert find_item(plain, {"a": TEXTS["a"], "c": TEXTS["c"]})[0] is ItemStatus.REPORTED
    assert find_item(declared, None)[1].startswith("20 tasks in 20 declared families")


@pytest.mark.parametrize(
    ("text", "is_repeat"),
    [
        ("  compute 1.5 - 3,  then STOP ", True),
        ("“Compute 1.5 - 3” then stop!", True),
        ("Compute 15 - 3, then stop.", False),
        ("Compute 1.5 + 3, then stop.", False),
        ("Compute 1.5 - 3, then stop. Now.", False),
    ],
)
def test_a_task_repeats_another_one_in_the_same_words(text: str, *, is_repeat: bool) -> None:
    """Case, white space and punctuation make no other task; signs and numbers do. A common family makes both one cluster."""
    texts = {"a": "Compute 1.5 - 3, then stop.", "b": text}
    apart, together = find_near_duplicates(texts, {}), find_near_duplicates(texts, {"a": "f", "b": "f"})

    assert apart is not None
    assert together is not None
    assert apart.repeats == ((("a", "b"),) if is_repeat else ())
    assert (apart.repeated, together.repeated) == (int(is_repeat), 0)
