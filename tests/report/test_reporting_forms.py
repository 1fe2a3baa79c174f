"""Reporting forms of others in a supplement: each item with its source or *not stated*, and the same record digest."""

import subprocess
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from registry.errors import InputError
from registry.records.audit_case import Independence
from registry.records.supplement import CardSupplement, Supplement
from registry.records.verdict import ItemStatus
from registry.report.html_rendering import digest_record, render_html, render_json
from registry.report.minimum_reporting import ITEMS
from registry.report.pdf_rendering import render_pdf_in_process
from registry.report.reporting_forms import FACTS, add_forms, fill_form, find_fact, list_forms, read_form
from registry.report.supplement_reading import read_supplement

FORM = "eu-gpai-code"
Supplements = Mapping[str, Supplement]


def _answer(supplement: Supplement, item: str) -> tuple[ItemStatus, list[str]]:
    filled = fill_form(supplement, read_form(FORM))
    answer = next(answer for group in filled.groups for answer in group.answers if answer.item.id == item)
    return answer.status, [fact.text for fact in answer.facts]


@pytest.mark.parametrize("name", list_forms())
def test_a_form_names_each_item_once_and_only_facts_that_there_are(name: str) -> None:
    form = read_form(name)
    items = [item for group in form.groups for item in group.items]
    named = {fact for item in items for fact in (*item.facts, *item.related)}

    assert [item for item, count in Counter(item.id for item in items).items() if count > 1] == []
    assert {fact for fact in named if not fact.startswith("item:")} <= FACTS.keys()
    assert {fact.removeprefix("item:") for fact in named if fact.startswith("item:")} <= ITEMS.keys()
    assert form.url.startswith("https://")


def test_every_fact_is_used_by_a_form() -> None:
    named = {
        fact for name in list_forms() for group in read_form(name).groups for item in group.items for fact in item.facts + item.related
    }

    assert FACTS.keys() <= named


def test_every_answer_says_where_it_comes_from_or_why_there_is_none(supplements: Supplements) -> None:
    for name, supplement in supplements.items():
        filled = fill_form(supplement, read_form(FORM))
        assert filled.total == sum(filled.count(status) for status in ItemStatus), name
        for answer in (answer for group in filled.groups for answer in group.answers):
            assert all(fact.status is answer.status and fact.text for fact in answer.facts), f"{name} {answer.item.id}"
            assert bool(answer.facts) is bool(answer.item.facts), f"{name} {answer.item.id}"


def test_a_claim_without_an_audit_states_nothing_of_an_evaluation(supplements: Supplements) -> None:
    """No verdict, no access and no external audit appear for a claim that was only registered."""
    supplement = supplements["unaudited"]

    for item in ("7.3(1)(e)(i)", "7.4(1)(a)", "3.1(1) evasion", "3.1(1) integrity", "3.4(1)"):
        status, texts = _answer(supplement, item)
        assert status is ItemStatus.MISSING, item
        assert texts
    assert find_fact(supplement, "verdict").status is ItemStatus.MISSING
    # The card's own figure is a result, and named as the card's.
    assert all(text.startswith("card ") for text in _answer(supplement, "7.3(1)(e)")[1])


def test_an_audit_by_the_publisher_is_no_independent_external_evaluation(supplements: Supplements) -> None:
    supplement = supplements["inverted"]
    assert supplement.audit is not None
    opening = supplement.audit.opening
    for independence, report, reason, choice in (
        (Independence.THIRD_PARTY, ItemStatus.REPORTED, ItemStatus.NOT_APPLICABLE, ItemStatus.MISSING),
        (Independence.COMMISSIONED, ItemStatus.MISSING, ItemStatus.MISSING, ItemStatus.NOT_APPLICABLE),
        (Independence.SELF, ItemStatus.MISSING, ItemStatus.MISSING, ItemStatus.NOT_APPLICABLE),
    ):
        changed = replace(opening, payload=replace(opening.payload, independence=independence))
        audited = replace(supplement, audit=replace(supplement.audit, opening=changed))
        found = tuple(_answer(audited, item)[0] for item in ("7.4(1)(a)", "7.4(2)", "7.4(3)"))
        assert found == (report, reason, choice)


def test_items_that_no_record_can_answer_are_never_stated(supplements: Supplements) -> None:
    """A digest of the stored responses is no sample of them: it is printed next to the item, and the item stays open."""
    for supplement in supplements.values():
        for item in ("7.3(1)(f)", "7.3(1)(e)(v), baselines", "3.1(1) test data", "3.3"):
            assert _answer(supplement, item) == (ItemStatus.MISSING, [])


def test_a_form_changes_no_record_digest_and_comes_back_from_the_file(supplements: Supplements) -> None:
    supplement = supplements["inverted"]
    with_form = add_forms(supplement, [FORM, FORM])
    assert isinstance(with_form, Supplement)
    assert with_form.forms == (FORM,)
    assert digest_record(with_form) == digest_record(supplement)

    html = render_html(with_form)
    assert b"Reporting forms" in html
    assert b"Reporting forms" not in render_html(supplement)
    for content in (html, render_json(with_form)):
        assert read_supplement(content, where="file") == with_form
    assert render_html(with_form) == html


def test_a_pdf_with_a_form_has_every_item_and_links_to_nothing_outside(supplements: Supplements, tmp_path: Path) -> None:
    with_form = add_forms(supplements["inverted"], [FORM])
    (tmp_path / "form.pdf").write_bytes(render_pdf_in_process(with_form))

    command = ["pdftotext", "-layout", "form.pdf", "-"]
    text = " ".join(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split())
    for item in (item for group in read_form(FORM).groups for item in group.items):
        assert item.id.split(" ")[0] in text, item.id
    assert "not stated" in text
    assert b"/URI" not in (tmp_path / "form.pdf").read_bytes()


def test_an_unknown_form_is_refused_and_a_card_has_none(card_supplement: CardSupplement, supplements: Supplements) -> None:
    assert add_forms(card_supplement, [FORM]) == card_supplement
    with pytest.raises(InputError) as caught:
        add_forms(supplements["inverted"], ["eu-gpai-cod"])
    assert caught.value.code == "form-unknown"
    assert "eu-gpai-code" in str(caught.value)
