"""The blinded draw: balanced, shuffled, the same again, and silent about what it hides."""

import csv
import hashlib
import io
import itertools
import json
import re
import stat
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

from audit.cli.rating_session import read_key, render_csv, render_html, write_sheets
from audit.errors import DesignError, TableError
from audit.modules.rater_study import BlindedSheets, digest_key, draw_sheets
from audit.records.rating_sheet import VOCABULARY, RatingSample, RatingSheet, SampleSide, SheetItem, tag_key
from audit.sources.rating_files import answers_schema, read_answers, read_samples
from registry.errors import ConflictError

SHEET = re.compile(r'<script type="application/json" id="sheet">(.*?)</script>', re.DOTALL)


def make(test: int = 30, deploy: int = 20, *, contexts: int = 5) -> list[RatingSample]:
    sizes = {SampleSide.TEST: test, SampleSide.DEPLOY: deploy}
    return [
        RatingSample(
            side=side,
            text=f"Question {n} of a {'quiz' if side is SampleSide.TEST else 'chat'}",
            context_id=f"{side.value[0]}{n % contexts}",
        )
        for side, size in sizes.items()
        for n in range(size)
    ]


def draw(samples: list[RatingSample] | None = None, *, items: int | None = None, seed: int = 5) -> BlindedSheets:
    return draw_sheets(make() if samples is None else samples, ["ben", "ana"], items=items, seed=seed)


@pytest.mark.parametrize(("items", "each"), [(None, 20), (20, 10), (21, 10), (100, 20)])
def test_both_sides_have_the_same_number_of_items(items: int | None, each: int) -> None:
    """Half of what was asked for, and never more than the smaller side has."""
    sides = Counter(item.side for item in draw(items=items).key.items)

    assert sides == {SampleSide.TEST: each, SampleSide.DEPLOY: each}


def test_items_are_spread_over_contexts() -> None:
    """One context with most of the samples does not fill the sheet."""
    samples = [*make(5, 20), *(RatingSample(side=SampleSide.TEST, text=f"more {n}", context_id="t0") for n in range(100))]

    contexts = Counter(item.context_id or "" for item in draw(samples, items=20).key.items if item.side is SampleSide.TEST)

    assert sorted(contexts) == ["t0", "t1", "t2", "t3", "t4"]
    assert contexts["t0"] == 6


def test_the_same_samples_and_seed_make_the_same_sheets() -> None:
    """In whatever order the samples and raters come; another seed makes others."""
    samples = make()

    first, again = draw(samples), draw_sheets(samples[::-1], ["ana", "ben"], items=None, seed=5)

    assert first == again
    assert draw(samples, seed=6).key.items != first.key.items


def test_every_rater_has_every_item_in_an_order_of_their_own() -> None:
    """So that fatigue falls on different items."""
    ana, ben = draw().sheets

    assert (ana.rater, ben.rater) == ("ana", "ben")
    assert sorted(one.item for one in ana.items) == sorted(one.item for one in ben.items)
    assert [one.item for one in ana.items] != [one.item for one in ben.items]


def test_neither_order_nor_names_nor_files_tell_the_side(tmp_path: Path) -> None:
    """No arm, context or task on a sheet; the sides are mixed in it."""
    samples = [RatingSample(side=one.side, text=one.text, task_id="SECRET-task", context_id=f"SECRET-{one.context_id}") for one in make()]
    drawn = draw(samples)
    write_sheets(tmp_path / "out", drawn.key, drawn.sheets)

    truth = {item.item: item.side for item in drawn.key.items}
    sides = [truth[one.item] for one in drawn.sheets[0].items]
    for path in (tmp_path / "out" / "ana").iterdir():
        text = path.read_text(encoding="utf-8")
        assert "SECRET" not in text
        assert '"deploy"' not in text.partition('id="sheet">')[2].partition("</script>")[0]
    assert 0 < sum(one is not other for one, other in itertools.pairwise(sides)) < len(sides) - 1
    assert [item.item for item in drawn.key.items] == sorted(truth)


def test_an_item_name_is_no_word_number_or_date() -> None:
    """Spreadsheets leave it as it is, and it says nothing."""
    names = [item.item for item in draw().key.items]

    assert all(re.fullmatch(r"[BCDFGHJKLMNPQRSTVWXZ]{8}", name) for name in names)
    assert len(set(names)) == len(names)


def test_the_key_is_its_owners_alone_and_what_its_digest_says(tmp_path: Path) -> None:
    """Mode 0600; sheets carry the first digits of the digest of the very bytes."""
    drawn = draw()

    written = write_sheets(tmp_path / "out", drawn.key, drawn.sheets)

    assert stat.S_IMODE(written[0].stat().st_mode) == 0o600
    assert read_key(written[0]) == drawn.key
    assert hashlib.sha256(written[0].read_bytes()).hexdigest() == digest_key(drawn.key)
    assert {sheet.key for sheet in drawn.sheets} == {tag_key(digest_key(drawn.key))}


def test_a_folder_that_holds_files_is_not_written_into(tmp_path: Path) -> None:
    """Sheets of two draws would be mixed up."""
    drawn = draw()
    write_sheets(tmp_path / "out", drawn.key, drawn.sheets)

    with pytest.raises(ConflictError) as caught:
        write_sheets(tmp_path / "out", drawn.key, drawn.sheets)

    assert caught.value.code == "not-empty"


HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!-- <img src=x onerror=alert(1)>",
    '=HYPERLINK("x")',
    "a\u202eb\x1b[31m",
    "@cmd",
    "-1",
    "@SHEET@",
]


def test_hostile_texts_stay_data_on_the_page() -> None:
    """The page's data element ends where it should, and gives the texts back, with what does not show made visible."""
    sheet = RatingSheet(rater="ana", key="key-0", items=tuple(SheetItem(item=f"I{n}", text=text) for n, text in enumerate(HOSTILE)))

    page = render_html(sheet)

    assert page.count("<script") == 2
    (data,) = SHEET.findall(page)
    texts = [one["text"] for one in json.loads(data)["items"]]
    assert texts[0] == HOSTILE[0]
    assert texts[3] == "a[U+202E]b[U+001B][31m"
    assert texts[6] == "@SHEET@"
    assert json.loads(data)["vocabulary"] == VOCABULARY


def test_the_page_may_load_and_send_nothing() -> None:
    """Its policy names its own script and style by digest, and forbids all else."""
    page = render_html(draw().sheets[0])

    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r"https?://", page)


def test_a_spreadsheet_computes_nothing() -> None:
    """A text that begins like a formula gets an apostrophe."""
    sheet = RatingSheet(rater="ana", key="key-0", items=tuple(SheetItem(item=f"I{n}", text=text) for n, text in enumerate(HOSTILE)))

    rows = list(csv.DictReader(io.StringIO(render_csv(sheet).removeprefix("\ufeff"))))

    assert [row["text"][0] for row in rows] == ["<", "<", "'", "a", "'", "'", "'"]


def test_what_could_give_an_item_away_is_remarked_on() -> None:
    """Names of arms and contexts in texts, texts of both sides, too few items."""
    samples = [
        RatingSample(side=SampleSide.TEST, text="This is a test.", context_id="exam"),
        RatingSample(side=SampleSide.DEPLOY, text="latest news", context_id="chat"),
        RatingSample(side=SampleSide.TEST, text="Hello", context_id="exam"),
        RatingSample(side=SampleSide.DEPLOY, text="Hello", context_id="chat"),
    ]

    remarks = {one.code: one.message for one in draw(samples, items=10).remarks}

    assert set(remarks) == {"fewer-items", "few-items", "same-text", "name-in-text"}
    assert remarks["name-in-text"].startswith("1 items contain 'test'")
    assert remarks["same-text"].startswith("2 items")


def test_a_text_that_stands_twice_on_a_side_counts_once() -> None:
    """No one rates the same text twice."""
    drawn = draw([*make(10, 10), *make(10, 10)])

    assert (drawn.key.drawn_from_test, drawn.key.drawn_from_deploy) == (10, 10)
    assert len({item.text for item in drawn.key.items}) == 20


@pytest.mark.parametrize(
    ("raters", "items", "samples", "codes"),
    [
        (["ana", "Ana"], None, make(), ["bad-name", "bad-name"]),
        (["../x", "", "a b"], 1, make(), ["bad-name", "bad-name", "bad-name", "bad-option"]),
        ([], None, make(), ["bad-name"]),
        (["ana"], None, make(5, 0), ["one-sided"]),
        (["ana"], 0, [], ["bad-option", "one-sided", "one-sided"]),
    ],
)
def test_what_cannot_be_drawn_is_refused_all_at_once(
    raters: list[str], items: int | None, samples: list[RatingSample], codes: list[str]
) -> None:
    """Every fault has its code."""
    with pytest.raises(DesignError) as caught:
        draw_sheets(samples, raters, items=items, seed=1)

    assert [fault.code for fault in caught.value.faults] == codes


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_samples_are_read_from_csv_and_jsonl(tmp_path: Path) -> None:
    """Other arms and columns are left out; texts may hold line ends."""
    one = write(tmp_path / "one.csv", 'arm,text,note\nexam,"a\r\nb",x\nchat,c,y\nother,d,z\n')
    two = write(tmp_path / "two.jsonl", '{"arm": "exam", "text": "e", "task_id": "t", "context_id": "c"}\n\n')

    found = read_samples([one, two], test="exam", deploy="chat")

    assert found == [
        RatingSample(side=SampleSide.TEST, text="a\nb"),
        RatingSample(side=SampleSide.DEPLOY, text="c"),
        RatingSample(side=SampleSide.TEST, text="e", task_id="t", context_id="c"),
    ]


@pytest.mark.parametrize(
    ("name", "text", "codes"),
    [
        ("s.csv", "side,txt\n", ["table-empty"]),
        ("s.csv", "arm,texts\ntest,a\n", ["column-missing"]),
        ("s.csv", "arm,text,contextid\ntest,a,c\ndeploy,b,c\n", ["column-typo"]),
        ("s.csv", "arm,text\ntest,\n,b\n", ["id-empty", "id-empty"]),
        ("s.csv", "arm,text,arm\ntest,a,b\n", ["duplicate-column"]),
        ("s.csv", "arm,text\ntest,a,b\n", ["row-broken"]),
        ("s.csv", 'arm,text\ntest,"a\n', ["file-not-readable"]),
        ("s.csv", b"arm,text\ntest,\xff\n", ["not-utf-8"]),
        ("s.csv", "arm,text\ntest,a\n", ["unknown-name"]),
        ("s.jsonl", '{"arm": "test", "text": 3}\n[1]\n{"arm":\n', ["bad-name", "not-json", "not-json"]),
        ("s.jsonl", '"a"\n{"arm": "test", "text": "a", "arm": "b"}\n', ["not-json", "duplicate"]),
        ("s.jsonl", "[1\n", ["not-json"]),
        ("s.jsonl", "\n", ["table-empty"]),
        ("s.csv", "\n\n", ["table-empty"]),
        ("s.xlsx", "x", ["unknown-format"]),
    ],
)
def test_samples_that_cannot_be_read_are_refused_with_every_fault(tmp_path: Path, name: str, text: str | bytes, codes: list[str]) -> None:
    """No traceback, whatever the file holds."""
    with pytest.raises(TableError) as caught:
        read_samples([write(tmp_path / name, text)], test="test", deploy="deploy")

    assert sorted(fault.code for fault in caught.value.faults) == sorted(codes)


def test_both_sides_under_one_name_are_refused(tmp_path: Path) -> None:
    """An item cannot be of both."""
    with pytest.raises(TableError) as caught:
        read_samples([write(tmp_path / "s.csv", "arm,text\na,b\n")], test="a", deploy="a")

    assert caught.value.code == "same-arm"


def test_answers_are_read_as_spreadsheets_of_any_country_write_them(tmp_path: Path) -> None:
    """Commas, semicolons or tabs, a byte order mark, empty rows, words in any case."""
    rows = [["rater", "key", "item", "text", "answer", "cue", "confidence"], ["ana", "k", "I1", "x", " Test ", "Task format; generic", "4"]]
    rows += [["ana", "k", "I2", "y", "?", "", ""], ["ana", "k", "I3", "z", "deployment", "", ""], ["", "", "", "left over", "", "", ""]]
    for mark in ",;\t":
        text = "\ufeff" + "\r\n".join(mark.join(f'"{field}"' for field in row) for row in rows)
        ((_, sheet),) = read_answers([write(tmp_path / "a.csv", text)])

        assert (sheet.rater, sheet.key, [one.answer for one in sheet.answers]) == ("ana", "k", [SampleSide.TEST, None, SampleSide.DEPLOY])
        assert sheet.answers[0].cues == ("task format", "generic")
        assert sheet.answers[0].confidence == 4


def test_the_answers_of_the_page_fit_their_schema(tmp_path: Path) -> None:
    """What the page saves as JSON is what the schema describes and the reader reads."""
    answers = [
        {"item": "I1", "answer": "test", "cues": ["generic"], "confidence": 5},
        {"item": "I2", "answer": None, "cues": [], "confidence": None},
    ]
    document = {"schema": "caveat/answers/1", "rater": "ana", "key": "k", "answers": answers}
    jsonschema.validate(document, answers_schema())

    ((_, sheet),) = read_answers([write(tmp_path / "a.json", json.dumps(document))])

    assert [(one.answer, one.cues, one.confidence) for one in sheet.answers] == [(SampleSide.TEST, ("generic",), 5), (None, (), None)]


def test_answers_that_cannot_be_understood_are_told_all_at_once(tmp_path: Path) -> None:
    """With row and column."""
    path = write(tmp_path / "a.csv", "rater,key,item,answer,confidence\nana,k,I1,yes,9\n,k,I2,test,\n")

    with pytest.raises(TableError) as caught:
        read_answers([path, write(tmp_path / "b.json", '{"rater": "ana"}')])

    places = [(fault.code, fault.where.rpartition("/")[2]) for fault in caught.value.faults]
    assert places[:3] == [
        ("answer-not-understood", "a.csv, row 2, column answer"),
        ("answer-not-understood", "a.csv, row 2, column confidence"),
        ("id-empty", "a.csv, row 3, column rater"),
    ]
    assert {code for code, _ in places[3:]} == {"not-valid"}
