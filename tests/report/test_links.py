"""Links between the files of one folder: bare names, in print and on screen, and nothing else that leaves a file."""

import re
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pikepdf import Array, Dictionary, Name, Pdf, String

from registry.records.supplement import CardSupplement, Supplement
from registry.report.html_rendering import render_html
from registry.report.published_file import find_file, is_file_link
from registry.report.supplement_reading import list_threats
from tests.report.builders import CARD, CLAIM
from tests.report.forging import rewrite

Edit = Callable[[Any], None]


def list_targets(data: bytes) -> Iterator[tuple[str, str]]:
    """The URI of each link that leaves the file, with the words in its place."""
    with Pdf.open(BytesIO(data)) as pdf:
        for page in pdf.pages:
            for one in page.obj.get(Name.Annots, Array()):
                if Name.A in one:
                    assert set(one.A.keys()) == {"/Type", "/S", "/URI"}
                    assert (one.A.S, one.A.is_indirect) == (Name.URI, False)
                    yield str(one.A.URI), str(one.Contents)


def list_hrefs(supplement: Supplement | CardSupplement) -> set[str]:
    """The links of the document itself: those of the contents list lead to its other forms, and to its card."""
    main = render_html(supplement).decode().partition("<main")[2]
    return set(re.findall(r'href="([^"#][^"]*)"', main))


@pytest.mark.parametrize(
    ("name", "file"),
    [
        (f"{CLAIM}@2", f"{CLAIM}@2.html"),
        (f"{CLAIM}@2#9f2c41d07ab3e518", f"{CLAIM}@2.html"),
        (CLAIM, f"{CLAIM}@1.html"),
        (CARD, f"{CARD}@1.html"),
        ("changes-40-97", "changes-40-97.html"),
        ("AUD-EXAMPLE-2026-0003-X", None),
        (f"../{CLAIM}@2", None),
        (f"{CLAIM}@2.html", None),
        (f"{CLAIM}@0", None),
        (f"{CLAIM}@2\n", None),
        ("javascript:alert(1)", None),
        ("http://evil.example/CLM-EXAMPLE-2026-0042-B@1", None),
        ("", None),
    ],
)
def test_a_claim_a_card_and_a_change_report_have_a_file(name: str, file: str | None) -> None:
    """What names anything else, or comes from a forged record, leads nowhere."""
    assert find_file(name, "screen") == file


@given(st.text(max_size=60) | st.from_regex(r"(CLM|CRD)-[A-Z]{2,4}-2026-[0-9]{4}-[0-9A-Z](@[0-9]{1,2})?", fullmatch=True))
def test_whatever_is_named_the_link_is_a_bare_file_name(name: str) -> None:
    """A link of a PDF that was drawn is one that is accepted again; none has a scheme, a path, a query or a fragment."""
    file = find_file(name, "print")

    assert file is None or is_file_link(file.encode())
    assert file is None or not set("/\\:?#% \n") & set(file)


def test_a_applied_claim_leads_to_its_card_and_its_earlier_revision(updated: Mapping[str, Supplement | CardSupplement]) -> None:
    """Each is printed as well, for whoever has the one file alone."""
    html = render_html(updated["carried"]).decode()

    assert list_hrefs(updated["carried"]) == {f"{CARD}@1.html", f"{CLAIM}@1.html"}
    assert f">{CARD}@1</a>" in html
    assert f">{CLAIM}@1</a>" in html


def test_a_card_leads_to_each_of_its_claims_and_to_its_earlier_revisions(updated: Mapping[str, Supplement | CardSupplement]) -> None:
    """Also where a claim has no row of its own in the last table."""
    supplement = updated["card-stale"]
    assert isinstance(supplement, CardSupplement)
    names = {row.identifier.partition("#")[0] for row in supplement.claims}

    assert list_hrefs(supplement) == {f"{CARD}@1.html", f"{CARD}@2.html", *(f"{name}.html" for name in names)}


def test_print_leads_to_print_as_the_screen_to_the_screen(
    superseded_pdf: bytes, updated: Mapping[str, Supplement | CardSupplement]
) -> None:
    """The same links, each a plain URI action with words in its place, to PDF files."""
    targets = dict(list_targets(superseded_pdf))

    assert {one.removesuffix(".pdf") for one in targets} == {one.removesuffix(".html") for one in list_hrefs(updated["superseded"])}
    assert f"{CLAIM}@2.pdf" in targets
    assert all(one.endswith(".pdf") and is_file_link(one.encode()) for one in targets)
    assert all(words == f"The file {one} in the same folder: the supplement of {one[:-4]}" for one, words in targets.items())


def test_a_file_with_such_links_is_not_suspicious(superseded_pdf: bytes) -> None:
    """There are some, and nothing is found."""
    assert list(list_targets(superseded_pdf))
    assert list_threats(superseded_pdf) == ()


def lead_to(target: bytes) -> Edit:
    return lambda link: setattr(link.A, "URI", String(target))


def act_twice(link: Any) -> None:
    link.A.Next = Dictionary(S=Name.URI, URI=String("http://evil.example/"))


def lead_elsewhere(link: Any) -> None:
    link.PA = Dictionary(S=Name.URI, URI=String("http://evil.example/"))


def map_it(link: Any) -> None:
    link.A.IsMap = True


def start_it(link: Any) -> None:
    link.A.S = Name.Launch


def say_it_elsewhere(link: Any) -> None:
    link.BS.URI = String("http://evil.example/")


ATTACKS: Mapping[str, Edit] = {
    "address": lead_to(b"http://evil.example/"),
    "scheme": lead_to(b"file:CLM-EXAMPLE-2026-0042-B@2.pdf"),
    "path": lead_to(b"../CLM-EXAMPLE-2026-0042-B@2.pdf"),
    "page": lead_to(b"CLM-EXAMPLE-2026-0042-B@2.pdf#page=2"),
    "query": lead_to(b"CLM-EXAMPLE-2026-0042-B@2.pdf?x"),
    "kind": lead_to(b"CLM-EXAMPLE-2026-0042-B@2.pdf.exe"),
    "screen": lead_to(b"CLM-EXAMPLE-2026-0042-B@2.html"),
    "line": lead_to(b"CLM-EXAMPLE-2026-0042-B@2.pdf\n"),
    "wide": lead_to("CLM-EXAMPLE-2026-0042-B@2.pdf".encode("utf-16")),
    "second": act_twice,
    "other": lead_elsewhere,
    "map": map_it,
    "launch": start_it,
    "border": say_it_elsewhere,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_link_that_is_anything_more_is_named(name: str, superseded_pdf: bytes) -> None:
    """An address, a path, a second action or another key makes it a link that no supplement has."""

    def edit(pdf: Pdf) -> None:
        link = next(one for page in pdf.pages for one in page.obj.get(Name.Annots, Array()) if Name.A in one)
        ATTACKS[name](link)

    assert "pdf-active" in {one.code for one in list_threats(rewrite(superseded_pdf, edit))}


def test_a_base_for_links_is_named(superseded_pdf: bytes) -> None:
    """It would make every link lead to another place."""

    def edit(pdf: Pdf) -> None:
        pdf.Root.URI = Dictionary(Base=String("http://evil.example/"))

    assert "pdf-active" in {one.code for one in list_threats(rewrite(superseded_pdf, edit))}


def test_an_action_that_is_shared_is_named(superseded_pdf: bytes) -> None:
    """It could be swapped in one place for another."""

    def edit(pdf: Pdf) -> None:
        link = next(one for page in pdf.pages for one in page.obj.get(Name.Annots, Array()) if Name.A in one)
        link.A = pdf.make_indirect(link.A)

    assert "pdf-active" in {one.code for one in list_threats(rewrite(superseded_pdf, edit))}
