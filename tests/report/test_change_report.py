"""The change report: two states of a registry, told claim by claim."""

import json
import re
from dataclasses import replace
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pikepdf import Pdf

from registry.codec.canonical_documents import to_document
from registry.errors import InputError, NotFoundError
from registry.folder.supplement_changes import collect_changes, list_changed
from registry.records.supplement import ChangeReport, OccasionKind, name_report
from registry.records.verdict import ClaimClass, Mode, Verdict
from registry.report.change_report_page import build_matrix, describe_change
from registry.report.claim_change import rank_change
from registry.report.html_rendering import Medium, build_html, render_html, render_json
from registry.report.pdf_rendering import render_pdf_in_process
from registry.report.supplement_reading import list_threats, read_supplement
from registry.store.log_seals import find_root
from registry.verify.record_checks import check_inclusion, list_contradictions
from tests.examples import scale
from tests.report.changing import MARKUP, NEW, OLD, Story, tell


@pytest.fixture(scope="module")
def html(change_report: ChangeReport) -> str:
    return render_html(change_report).decode()


def compare(story: Story, since: int, size: int, *claims: str) -> ChangeReport:
    with story.ledger.view(since) as before, story.ledger.view(size) as after:
        return collect_changes(before, after, claims=claims or None, scope="some of them" if claims else None)


def words(html: str) -> str:
    """What a reader sees, on one line."""
    shown = re.sub(r"<(style|script|svg)\b.*?</\1>", " ", html, flags=re.DOTALL)
    joined = re.sub(r"</?(?:span|a|strong|em|sub|del|ins)\b[^>]*>", "", shown)
    return " ".join(re.sub(r"<[^>]+>", " ", joined).split())


def test_what_changed_is_told_and_the_rest_is_counted(story: Story, change_report: ChangeReport) -> None:
    """Of seven claims one did not change; the new one has no state before."""
    states = {one.claim: one for one in change_report.changes}

    assert states.keys() == set(story.claims.values()) - {story.claims["same"]}
    assert change_report.unchanged == 1
    assert states[story.claims["new"]].before is None


def test_what_weighs_most_comes_first(story: Story, change_report: ChangeReport) -> None:
    """Newly contradicted, then other verdicts, then statuses."""
    order = [one.claim for one in change_report.changes]

    assert order[:2] == [story.claims["inverted"], story.claims["degraded"]]
    assert [rank_change(one) for one in change_report.changes] == sorted(rank_change(one) for one in change_report.changes)
    assert [one.newly_inverted for one in change_report.changes] == [True] + [False] * 5


def test_an_applied_claim_is_told_with_both_models_and_the_reason(change_report: ChangeReport) -> None:
    """The old outcome stands before, the new one after, and how far ED moved between them."""
    change = change_report.changes[0]

    assert change.before is not None
    assert (change.before.model, change.after.model) == (OLD, NEW)
    assert (change.before.class_, change.after.class_) == (ClaimClass.STABLE, ClaimClass.INVERTED)
    assert any("applies it from" in one and "The lab offers Sparrow 2.2" in one for one in change.why)
    (step,) = change.steps
    assert step.ed.value == pytest.approx(-0.27 - -0.01)


def test_every_change_has_a_reason_whose_entry_lies_in_between(story: Story, change_report: ChangeReport) -> None:
    """No sentence cites what was known before, or what came after."""
    for change in change_report.changes:
        cited = [int(seq) for one in change.why for seq in re.findall(r"\(entry (\d+)\)", one)]

        assert cited
        assert all(story.first < seq <= story.last for seq in cited)
        assert {entry.seq for entry in change.entries}.issuperset(cited)


def test_the_occasions_are_what_set_it_off(change_report: ChangeReport) -> None:
    """The link of the models, two outcomes, a revision and an objection, in log order."""
    kinds = [one.kind for one in change_report.occasions]

    assert sorted(kinds) == sorted([OccasionKind.MODEL, OccasionKind.AUDIT, OccasionKind.AUDIT, OccasionKind.CLAIM, OccasionKind.OBJECTION])
    assert [one.entry.seq for one in change_report.occasions] == sorted(one.entry.seq for one in change_report.occasions)


def test_a_new_model_alone_changes_no_class(story: Story) -> None:
    """Claims about the earlier version may be stale, and that is all that is said."""
    report = compare(story, story.first, story.second)

    assert {one.claim for one in report.changes} == {story.claims[name] for name in ("inverted", "degraded", "withdrawn", "stale")}
    assert all(one.before is not None and one.before.class_ is one.after.class_ and not one.steps for one in report.changes)
    assert describe_change(report) == "Of 6 claims none changed verdict; 4 changed in other ways; 2 are unchanged."


def test_the_verdict_counts_what_the_record_has(change_report: ChangeReport) -> None:
    """One sentence, and each number in it is one of the report's."""
    sentence = "Of 7 claims 2 changed verdict, 1 of them newly contradicted; 3 changed in other ways; 1 is new; 1 is unchanged."

    matrix = build_matrix(change_report.changes)

    assert describe_change(change_report) == sentence
    assert matrix is not None
    assert sum(cell.count for _, cells in matrix.rows for cell in cells) == len(change_report.changes)


def test_another_candidate_is_a_change_that_every_part_tells(story: Story, change_report: ChangeReport) -> None:
    """Undetermined before and after, but not as before: verdict, badge, order, both tables say so."""
    light = [one for one in change_report.changes if one.before and one.before.class_ is None and one.after.class_ is None]
    before, after = light[0].before, light[0].after
    assert before is not None
    noisy: dict[str, Any] = {"class_": ClaimClass.UNDETERMINED, "mode": Mode.NOISY, "outcome": Verdict.INCONCLUSIVE}
    before, after = (replace(one, **noisy, point_class=way) for one, way in ((before, ClaimClass.INVERTED), (after, ClaimClass.STABLE)))
    moved = replace(light[0], before=before, after=after)
    other = replace(light[1], before=replace(before, point_class=None), after=replace(before, point_class=None))
    report = replace(change_report, changes=tuple(sorted((other, moved), key=rank_change)), inclusion=None)
    shown = words(unescape(render_html(report).decode()))

    assert report.changes[0] == moved
    told = "Of 3 claims none changed verdict; 1 kept its verdict with another point estimate; 1 changed in other ways"
    assert describe_change(report).startswith(told)
    assert "○ no change of verdict Of 3 claims none changed verdict" in shown, "the badge does not repeat the sentence"
    before_label, after_label = (f"TRACE: undetermined · noisy, point estimate {way}" for way in ("inverted", "stable"))
    plain = shown.replace("\u00a0", " ")
    assert re.search(rf"inconclusive\s*{before_label}\s*→\s*\S inconclusive\s*{after_label}", plain)
    assert plain.count(before_label) == 2, "in the table of changes and in the section"
    assert shown.count("as before") == 2, "the other one, in the table and over its section"


def test_what_did_not_differ_stands_in_no_table_of_what_differs(story: Story) -> None:
    """A successor alone changes the staleness of a claim: one line, and none that says `same`."""
    shown = render_html(compare(story, story.first, story.second, story.claims["stale"])).decode()
    table = shown[shown.index("Differences only") :].partition("</table>")[0]

    assert re.findall(r'<tr><th scope="row"[^>]*>([^<]+)', table) == ["Staleness"]
    assert f'href="{story.claims["stale"]}@1.html"' in shown


def test_a_claim_that_changed_only_in_status_has_a_row_and_no_section(story: Story) -> None:
    """The row has its status before and after, and the one reason: a section would repeat it."""
    report = compare(story, story.first, story.second, story.claims["stale"])
    (change,) = report.changes
    several = replace(report, changes=(change, replace(change, claim="CLM-EXAMPLE-2026-0099-X")), inclusion=None)
    shown = words(unescape(render_html(several).decode()))

    assert "2 claims changed only in status, as the table above says." in shown
    assert "staleness: current → needs review" in shown
    assert "Reasons for the change" not in shown


def test_nothing_changed_is_said_plainly(story: Story) -> None:
    """From an entry to itself there is nothing, and a page that says so."""
    report = compare(story, story.last, story.last)
    shown = words(render_html(report).decode())

    assert (report.changes, report.occasions, report.unchanged) == ((), (), 7)
    assert "Nothing changed in all 7 claims." in shown
    assert "What did not change" in shown
    assert render_pdf_in_process(report).startswith(b"%PDF-")
    assert check_inclusion(report).entries == ()


def test_from_an_empty_log_everything_is_new(story: Story) -> None:
    """Entry 0 is before the first."""
    report = compare(story, 0, story.last)

    assert report.since_at is None
    assert all(one.before is None for one in report.changes)
    assert "an empty log" in words(render_html(report).decode())


def test_one_claim_alone_has_a_report_of_its_own_name(story: Story, change_report: ChangeReport) -> None:
    """It does not take the place of the whole one's files."""
    one = compare(story, story.first, story.last, story.claims["degraded"])

    assert [change.claim for change in one.changes] == [story.claims["degraded"]]
    assert one.unchanged == 0
    assert one.identifier != change_report.identifier
    assert one.identifier == name_report(story.first, story.last, (story.claims["degraded"],))
    assert one.changes[0] in change_report.changes


def test_a_claim_that_is_not_there_is_refused(story: Story) -> None:
    """By its name, with all the others that are not there."""
    with pytest.raises(NotFoundError) as caught:
        compare(story, story.first, story.last, "CLM-LAB-2026-0099-X", "CLM-LAB-2026-0098-X")

    assert [one.where for one in caught.value.faults] == ["CLM-LAB-2026-0099-X", "CLM-LAB-2026-0098-X"]


def test_backwards_is_refused(story: Story) -> None:
    """What changed from a later entry to an earlier one is no question."""
    with pytest.raises(InputError) as caught:
        compare(story, story.last, story.first)

    assert caught.value.code == "bad-option"


@settings(max_examples=scale(12), deadline=None)
@given(cuts=st.tuples(st.integers(10, 39), st.integers(10, 39), st.integers(10, 39)).map(sorted))
def test_two_reports_name_every_claim_that_one_over_both_names(story: Story, cuts: list[int]) -> None:
    """From S to T and T to U, together, tell of all that S to U tells of; from S to S there is nothing."""
    with story.ledger.view(cuts[0]) as first, story.ledger.view(cuts[1]) as middle, story.ledger.view(cuts[2]) as last:
        once = set(list_changed(first, last))
        twice = {*list_changed(first, middle), *list_changed(middle, last)}
        none = list_changed(last, last)

    assert once <= twice
    assert none == ()


def test_what_is_told_of_a_claim_is_what_its_state_says(story: Story) -> None:
    """The claims of the report are those that the quick look names."""
    with story.ledger.view(story.first) as before, story.ledger.view() as after:
        changed = list_changed(before, after)

    assert changed == tuple(sorted(one.claim for one in compare(story, story.first, story.last).changes))


def test_every_entry_is_proven_under_the_root_of_the_end(story: Story, change_report: ChangeReport) -> None:
    """Also those of the state before."""
    proven = check_inclusion(change_report)
    with story.ledger.view(story.last) as view:
        root = find_root(view)

    assert change_report.inclusion is not None
    assert change_report.inclusion.root == root
    assert min(proven.entries) <= story.first < max(proven.entries)
    assert proven.recomputed == ()


def test_every_form_reads_back_as_the_same_record(change_report: ChangeReport, html: str, change_pdf: bytes) -> None:
    """JSON, HTML and PDF carry one record, and the same bytes come of it again."""
    forms = (render_json(change_report), html.encode(), change_pdf)

    for data in forms:
        assert read_supplement(data, where="file") == change_report
    assert (render_json(change_report), render_html(change_report), render_pdf_in_process(change_report)) == forms


def test_the_pages_leave_no_word_of_it_out(change_report: ChangeReport, html: str) -> None:
    """Verdict, reasons, both restricted claims, numbers with intervals."""
    shown = words(html)

    assert describe_change(change_report) in shown
    assert "▼ Newly contradicted: not for reliance" in shown
    assert "The card, CRD-LAB-2026-0001-J@1, is about Sparrow, 2.1-2026-09-30. LAB applied the claim to Sparrow, 2.2" in shown
    for said in ("Restricted claim before", "Restricted claim after", "31.0 %", "−26.0", "(−39.0 to −12.0)", "6.0 %"):
        assert said in shown


def test_what_changed_in_the_text_is_told_in_words(html: str) -> None:
    """A reader who hears it, and one without colour, knows what went and what came."""
    shown = words(html)

    assert "[removed: 6 %] [added: 31 %]" in shown.replace("\u00a0", " ")
    assert html.count("<del") == html.count("[removed:")
    assert html.count("<ins") == html.count("[added:")


def test_markup_in_quotes_and_reasons_stays_text(html: str) -> None:
    """Nothing of a card or a person becomes an element or a template."""
    body = html.partition('<script type="application/json"')[0]

    assert "&lt;script&gt;alert" in body
    assert "<script" not in body
    assert "&lt;b&gt;ours&lt;/b&gt;" in body
    assert "{{ instructions }}" in body
    assert MARKUP in json.dumps(json.loads(html.partition('id="record">')[2].partition("</script>")[0]), ensure_ascii=False).replace(
        '\\"', '"'
    )


def test_links_lead_to_files_of_the_folder(story: Story, html: str, change_pdf: bytes) -> None:
    """The supplement after, and that of the revision before where it is another; nothing outside."""
    claim = story.claims["inverted"]
    targets = set(re.findall(r'href="([^"]+)"', html))

    assert {f"{claim}@1.html", f"{claim}@2.html"} <= targets
    assert all(one.startswith("#") or re.fullmatch(r"(?:CLM-[\w-]+@\d+|changes-\d+-\d+)\.(?:html|pdf|json)", one) for one in targets)
    assert list(list_threats(change_pdf)) == []


def test_every_anchor_that_is_linked_is_there(html: str) -> None:
    """In the page itself."""
    targets = set(re.findall(r'href="#([^"]+)"', html))
    anchors = set(re.findall(r'id="([^"]+)"', html))

    assert targets <= anchors


def test_the_pdf_is_named_and_has_its_sections(change_report: ChangeReport, change_pdf: bytes) -> None:
    """Title, bookmarks, and links described in words."""
    with Pdf.open(BytesIO(change_pdf)) as opened:
        title = str(opened.docinfo["/Title"])
        with opened.open_outline() as outline:
            names = [" ".join(child.title.split()) for child in outline.root[0].children]
        links = {str(one.Contents) for page in opened.pages for one in page.obj.get("/Annots", []) if one.Subtype == "/Link"}

    assert title == f"Caveat change report {change_report.identifier}"
    assert [one for one in names if one[0].isdigit()] == ["1 What changed", "2 Claim by claim", "3 What did not change"]
    assert any(one.startswith("What changed of CLM-") for one in links)


def test_a_forged_name_is_refused(change_report: ChangeReport) -> None:
    """The name of a report becomes a file name: it is what its numbers make it, or it is none."""
    document = to_document(change_report)
    assert isinstance(document, dict)
    forged = json.dumps(document | {"identifier": "../../etc/passwd"}).encode()

    with pytest.raises(InputError):
        read_supplement(forged, where="file")


def test_what_contradicts_itself_is_told(change_report: ChangeReport) -> None:
    """A claim that occurs twice, an inversion that the classes do not say, an entry that could not be known."""
    first = change_report.changes[0]
    assert first.before is not None
    later = replace(first, before=replace(first.before, claim_entry=first.after.claim_entry))
    quiet = replace(first, newly_inverted=False)

    assert list_contradictions(change_report) == ()
    for changes in ((first, first), (later,), (quiet,)):
        assert list_contradictions(replace(change_report, changes=changes))


def test_a_report_of_hundreds_says_what_it_leaves_out(change_report: ChangeReport) -> None:
    """On paper forty claims have a section, and a class that changed is told as one in all of them; the record has every claim."""
    applied, measured = change_report.changes[:2]
    inverted = tuple(replace(applied, claim=f"CLM-LAB-2026-{1000 + at}-X") for at in range(200))
    others = tuple(replace(measured, claim=f"CLM-LAB-2026-{2000 + at}-X") for at in range(200))
    many = replace(change_report, changes=(*inverted, *others))

    printed = build_html(many, medium=Medium.PRINT, covers=None)
    shown = words(printed)

    assert "The 40 largest changes of 400 are shown here." in shown
    assert "100 more claims changed, and are not in this table." in shown
    assert printed.count('<section class="change"') == 40
    assert "as before" not in shown
    assert shown.count("And 196 more, first in the table below.") == 1


def test_a_claim_of_which_a_statement_was_erased_is_named_and_nothing_else_is_said_of_it(tmp_path: Path) -> None:
    """The others are told as before; one whose state is the same is not read at all."""
    told = tell(tmp_path)
    with told.ledger.view() as view:
        (outcome,) = (one.entry.seq for file in view.list_audits(f"{told.claims['degraded']}@1")[1:] for one in file.restrictions)
    with told.ledger.write(actor="LAB") as writer:
        writer.erase(outcome, why="it named a person")

    found = compare(told, told.first, told.last + 1)
    told.ledger.close()

    assert found.erased == (told.claims["degraded"],)
    assert told.claims["degraded"] not in {one.claim for one in found.changes}
    assert len(found.changes) == 5
    assert "; 1 cannot be compared, because statements were erased;" in describe_change(found)
    assert f"so its changes are unknown: {told.claims['degraded']}." in words(render_html(found).decode())


def test_a_claim_that_was_carried_and_not_audited_has_lost_its_class(story: Story) -> None:
    """The old outcome does not speak for the new model, and the report says so by number and in words."""
    report = compare(story, story.first, story.second + 1)
    (change,) = (one for one in report.changes if one.claim == story.claims["inverted"])

    assert describe_change(report) == "Of 6 claims 1 changed verdict, 1 of them not audited now; 3 changed in other ways; 2 are unchanged."
    assert (change.after.class_, change.after.estimate, change.steps, change.newly_inverted) == (None, None, (), False)
    assert change.why[0].endswith("does not apply to it.")
    assert "No ΔED: there is no estimate after." in words(render_html(report).decode())
