"""Tasks are read from YAML, JSON, JSONL and CSV; what does not fit is told with file and line."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.replay.replay_design import find_task_faults, place_tasks, read_tasks
from registry.errors import InputError
from registry.records.replay_run import Task

REVERSE = Task(id="reverse", prompt="Reverse a list,\nplease.", fields={"language": "go", "level": "2"}, note="ours")
CHOICE = Task(id="007", prompt="Which?", options=("red", "blue", "green"), answer="B", expected=(r"\bblue\b",), anti=("red|green",))
TASKS = (REVERSE, CHOICE)

FILES = {
    "tasks.yaml": r"""
tasks:
  - {id: reverse, prompt: "Reverse a list,\nplease.", fields: {language: go, level: "2"}, note: ours}
  - {id: "007", prompt: Which?, options: [red, blue, green], answer: B, expected: ['\bblue\b'], anti: [red|green]}
""",
    "tasks.json": json.dumps(
        {
            "schema": "caveat/tasks/1",
            "tasks": [
                {"id": "reverse", "prompt": "Reverse a list,\nplease.", "fields": {"language": "go", "level": "2"}, "note": "ours"},
                {
                    "id": "007",
                    "prompt": "Which?",
                    "options": ["red", "blue", "green"],
                    "answer": "B",
                    "expected": [r"\bblue\b"],
                    "anti": ["red|green"],
                },
            ],
        }
    ),
    "tasks.jsonl": r"""{"id": "reverse", "prompt": "Reverse a list,\nplease.", "fields": {"language": "go", "level": "2"}, "note": "ours"}

{"id": "007", "prompt": "Which?", "options": ["red", "blue", "green"], "answer": "B", "expected": ["\\bblue\\b"], "anti": ["red|green"]}
""",
    "tasks.csv": """id,prompt,language,level,note,option_a,option_b,option_c,option_d,answer,expected,anti
reverse,"Reverse a list,
please.",go,2,ours,,,,,,,
007,Which?,,,,red,blue,green,,B,\\bblue\\b,red|green
""",
}


def read(folder: Path, name: str, text: str) -> tuple[Task, ...]:
    """Read *text* as the file *name*."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_tasks(path)


@pytest.mark.parametrize("name", FILES)
def test_every_format_says_the_same(name: str, tmp_path: Path) -> None:
    """The same tasks, in the same order, whatever they are written in."""
    assert read(tmp_path, name, FILES[name]) == TASKS


def test_a_byte_order_mark_and_windows_lines_change_nothing(tmp_path: Path) -> None:
    """What a spreadsheet saves is read; a line break inside a prompt stays as it is."""
    assert read(tmp_path, "tasks.csv", '\ufeffid,prompt\r\na,one\r\nb,"two\r\nlines"\r\n') == (
        Task(id="a", prompt="one"),
        Task(id="b", prompt="two\r\nlines"),
    )


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("t.csv", "id,prompt\na,x\na,y\n", [("duplicate", "line 3")]),
        ("t.csv", "id,prompt\na,x,y\nb\n", [("row-broken", "line 2"), ("row-broken", "line 3")]),
        ("t.csv", "id,promt,id\n", [("column-missing", "column prompt"), ("duplicate-column", "column id")]),
        ("t.csv", "", [("column-missing", "column id"), ("column-missing", "column prompt")]),
        ("t.csv", "id,prompt,\na,x,y\n", [("column-missing", "line 1")]),
        ("t.csv", "id,prompt,option_a,option_c\n", [("column-missing", "line 1")]),
        ("t.csv", "id,prompt\n", [("table-empty", "t.csv")]),
        ("t.csv", 'id,prompt\na,"x\n', [("row-broken", "line 2")]),
        ("t.csv", "id,prompt\na,x\0\n", [("not-valid", "t.csv")]),
        ("t.csv", "id,prompt,option_a,option_b\na,x,,blue\n", [("not-valid", "line 2")]),
        ("t.jsonl", '{"id": "a", "prompt": "x"}\n{"id": "b"}\nnot json\n', [("not-valid", "line 2, prompt"), ("not-valid", "line 3")]),
        ("t.jsonl", '{"id": "a", "prompt": "x", "id": "b"}\n', [("duplicate", "line 1")]),
        ("t.jsonl", '{"id": "a", "prompt": "x"}\n\n{"id": "a", "prompt": "x"}\n', [("duplicate", "line 3")]),
        ("t.jsonl", "\n", [("table-empty", "t.jsonl")]),
        ("t.yaml", "tasks: []\n", [("table-empty", "t.yaml")]),
        ("t.yaml", "tasks:\n  - {id: 7, prompt: x}\n", [("not-valid", "tasks[0].id")]),
        ("t.yaml", "tasks:\n  - {id: a, prompt: x}\n  - {id: a, prompt: y}\n", [("duplicate", "tasks[1]")]),
    ],
)
def test_a_broken_file_is_told_with_its_place(name: str, text: str, expected: list[tuple[str, str]], tmp_path: Path) -> None:
    """All faults at once, each where it stands; nothing is skipped."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, name, text)

    assert [fault.code for fault in caught.value.faults] == [code for code, _ in expected]
    for fault, (_, place) in zip(caught.value.faults, expected, strict=True):
        assert fault.where.endswith(place)


@pytest.mark.parametrize(
    ("task", "codes"),
    [
        (Task(id="", prompt="x"), ["id-empty"]),
        (Task(id=" a", prompt="x"), ["bad-name"]),
        (Task(id="a", prompt=" \n"), ["not-valid"]),
        (Task(id="a", prompt="x", fields={"id": "b"}), ["not-valid"]),
        (Task(id="a", prompt="x", options=("one",)), ["not-valid"]),
        (Task(id="a", prompt="x", options=tuple(map(str, range(27)))), ["not-valid"]),
        (Task(id="a", prompt="x", options=("one", "one")), ["not-valid"]),
        (Task(id="a", prompt="x", options=("one", " ")), ["not-valid"]),
        (Task(id="a", prompt="x", options=("one", "two"), answer="C"), ["not-valid"]),
        (Task(id="a", prompt="x", options=("one", "two"), answer="AB"), ["not-valid"]),
        (Task(id="a", prompt="x", options=("one", "two"), answer="b"), []),
        (Task(id="a", prompt="x", answer="42"), []),
    ],
)
def test_a_task_that_could_not_be_asked_or_scored_is_refused(task: Task, codes: list[str]) -> None:
    """Without an id, a prompt or a right option among its options, a task is no task."""
    assert [fault.code for fault in find_task_faults(place_tasks([task], where="t"))] == codes


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=20),
            st.text("ab,\"'; {}é", max_size=9),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_what_a_line_of_jsonl_says_is_what_is_read(pairs: list[tuple[str, str]]) -> None:
    """Whatever a text holds, also other line separators of Unicode, a line is one task."""
    tasks = [Task(id=f"task-{number}", prompt=f"p{prompt}", note=note) for number, (prompt, note) in enumerate(pairs)]
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        lines = [json.dumps({"id": one.id, "prompt": one.prompt, "note": one.note}, ensure_ascii=False) for one in tasks]

        assert list(read(Path(folder), "tasks.jsonl", "\n".join(lines))) == tasks
