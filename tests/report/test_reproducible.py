"""The same record gives the same bytes: read back from any form, in another process, time zone and hash seed."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from registry.errors import InputError
from registry.records.supplement import CardSupplement, Supplement
from registry.report.html_rendering import render_html, render_json, template_digest
from registry.report.pdf_rendering import render_pdf_in_process
from registry.report.supplement_reading import read_supplement
from tests.report.dossiers import EVERY

ROOT = Path(__file__).parents[2]
SCRIPT = """
import hashlib, sys
from registry.report.html_rendering import render_html, template_digest
from registry.report.pdf_rendering import render_pdf_in_process
from registry.report.supplement_reading import read_supplement
supplement = read_supplement(sys.stdin.buffer.read(), where="stdin")
print(hashlib.sha256(render_pdf_in_process(supplement)).hexdigest(), hashlib.sha256(render_html(supplement)).hexdigest(), template_digest())
"""


@pytest.mark.parametrize("name", EVERY)
def test_html_and_json_read_back_give_the_same_bytes(name: str, supplements: Mapping[str, Supplement]) -> None:
    """What is read from the HTML draws the HTML and the JSON again."""
    html = render_html(supplements[name])
    again = read_supplement(html, where="file.html")

    assert again == supplements[name]
    assert render_html(again) == html
    assert render_json(again) == render_json(supplements[name])


@pytest.mark.parametrize("fixture", ["inverted_pdf", "hostile_pdf", "card_pdf"])
def test_a_pdf_read_back_draws_itself(fixture: str, request: pytest.FixtureRequest) -> None:
    """An auditor with only the PDF can draw it again and compare."""
    data: bytes = request.getfixturevalue(fixture)

    assert render_pdf_in_process(read_supplement(data, where="file.pdf")) == data


def test_another_process_time_zone_and_hash_seed_give_the_same_bytes(supplements: Mapping[str, Supplement], inverted_pdf: bytes) -> None:
    """Nothing of the surroundings gets into the file."""
    environment = os.environ | {
        "TZ": "Pacific/Chatham",
        "PYTHONHASHSEED": "4711",
        "LC_ALL": "C",
        "PYTHONPATH": str(ROOT),
        "HOME": "/nonexistent",
    }
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=render_json(supplements["inverted"]),
        capture_output=True,
        check=True,
        env=environment,
        cwd="/",
    )
    pdf, html, templates = run.stdout.decode().split()

    assert pdf == hashlib.sha256(inverted_pdf).hexdigest()
    assert html == hashlib.sha256(render_html(supplements["inverted"])).hexdigest()
    assert templates == template_digest()


def test_a_card_supplement_reads_back(card_supplement: CardSupplement) -> None:
    """The second kind of supplement is told apart by its schema."""
    assert read_supplement(render_json(card_supplement), where="card.json") == card_supplement


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "not-a-supplement"),
        (b"<html></html>", "not-a-supplement"),
        (b"{", "not-json"),
        (b'{"schema": "caveat/estimate/1"}', "not-a-supplement"),
        (b'{"schema": {"a": 1}}', "not-a-supplement"),
        (b'{"schema": "caveat/supplement/1"}', "not-valid"),
        (b"%PDF-1.7 and nothing else", "file-not-readable"),
        (b"\xff\xfe{", "not-a-supplement"),
        (b"[" * 100_000, "not-a-supplement"),
        (b'{"a":' + b"[" * 100_000, "not-json"),
    ],
)
def test_what_is_no_supplement_is_refused_with_a_code(data: bytes, code: str) -> None:
    """Files from strangers end in a message, not in a traceback."""
    with pytest.raises(InputError) as caught:
        read_supplement(data, where="strange")

    assert caught.value.code == code


def test_a_supplement_made_before_coverage_and_completeness_were_told_is_read_and_drawn(
    supplements: Mapping[str, Supplement], card_supplement: CardSupplement
) -> None:
    """Files that were published earlier lack the newer fields; nothing is printed in their place."""
    for one in (supplements["inverted"], card_supplement):
        document = json.loads(render_json(one))
        for name in ("coverage", "completeness", "passage_matches"):
            document.pop(name, None)
        for row in document.get("claims", ()):
            for name in ("completeness", "property", "model", "relation", "reported"):
                del row[name]
        old = read_supplement(json.dumps(document).encode(), where="old.json")
        html = render_html(old).decode()

        assert "STREAM" not in html
        assert "How much of the card is covered" not in html
        assert old.identifier == one.identifier
