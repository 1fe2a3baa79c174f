"""What does not belong into a supplement is named, and a hostile PDF ends in a message."""

import hashlib
from collections.abc import Mapping

import pytest
from pikepdf import Array, AttachedFileSpec, Dictionary, Name, Pdf, String

from registry.errors import InputError
from registry.records.supplement import Supplement
from registry.report.supplement_reading import find_record, list_threats, open_pdf, read_supplement
from tests.report.forging import (
    Edit,
    add_nothing,
    add_script,
    append,
    compress_zeros,
    rewrite,
    swap_page,
    write_by_hand,
    write_in_stream,
)


def codes(data: bytes) -> set[str]:
    return {one.code for one in list_threats(data)}


def act(pdf: Pdf, **entries: object) -> None:
    pdf.Root.OpenAction = Dictionary(**entries)


def link(pdf: Pdf, **entries: object) -> None:
    annotation = Dictionary(Type=Name.Annot, Subtype=Name.Link, Rect=Array([0, 0, 100, 100]), A=pdf.make_indirect(Dictionary(**entries)))
    pdf.pages[0].obj.Annots = Array([pdf.make_indirect(annotation)])


def attach(pdf: Pdf, name: str) -> None:
    pdf.attachments[name] = AttachedFileSpec(pdf, b"{}", filename=name)


def swap(pdf: Pdf) -> None:
    pdf.Root.AF[0].EF.F.write(b"{}")


def hide_second(pdf: Pdf) -> None:
    """Two files under one name: readers that ask by the second are shown another."""
    pdf.Root.AF[0].EF.UF = pdf.make_stream(b"{}")


def list_twice(pdf: Pdf) -> None:
    names = pdf.Root.Names.EmbeddedFiles.Names
    other = pdf.make_indirect(Dictionary(Type=Name.Filespec, F=String("supplement.json"), EF=Dictionary(F=pdf.make_stream(b"{}"))))
    pdf.Root.Names.EmbeddedFiles.Names = Array([*names, String("supplement.json"), other])


def name_other_source(pdf: Pdf) -> None:
    other = Dictionary(Type=Name.Filespec, F=String("supplement.json"), EF=Dictionary(F=pdf.make_stream(b"{}")))
    pdf.Root.AF = Array([pdf.make_indirect(other)])


def rename(pdf: Pdf) -> None:
    pdf.Root.AF[0].UF = String("supplement.json.exe")


def loop_names(pdf: Pdf) -> None:
    tree = pdf.make_indirect(Dictionary())
    tree.Kids = Array([tree, tree])
    pdf.Root.Names.EmbeddedFiles = tree


def add_field(pdf: Pdf) -> None:
    pdf.Root.AcroForm.Fields.append(pdf.make_indirect(Dictionary(FT=Name.Tx, T=String("x"), V=String("other words"))))


def show_field(pdf: Pdf) -> None:
    pdf.Root.AcroForm.Fields[0].Rect = Array([0, 0, 500, 500])


def fetch_content(pdf: Pdf) -> None:
    stream = pdf.make_stream(b"")
    stream.F = String("/etc/passwd")
    pdf.pages[0].obj.Contents = stream


ATTACKS: Mapping[str, tuple[Edit, str]] = {
    "JavaScript on opening": (lambda pdf: act(pdf, S=Name.JavaScript, JS=String("app.alert(1)")), "pdf-active"),
    "JavaScript by name": (
        lambda pdf: pdf.Root.Names.update({"/JavaScript": Dictionary(Names=Array([String("a"), Dictionary(JS=String("x"))]))}),
        "pdf-active",
    ),
    "an action on opening": (lambda pdf: act(pdf, S=Name.GoTo, D=Array([0])), "pdf-active"),
    "a program is started": (lambda pdf: link(pdf, S=Name.Launch, F=String("calc.exe")), "pdf-active"),
    "a link leads out": (lambda pdf: link(pdf, S=Name.URI, URI=String("https://evil.example/")), "pdf-active"),
    "a form is sent": (lambda pdf: link(pdf, S=Name.SubmitForm, F=String("https://evil.example/")), "pdf-active"),
    "another file is opened": (lambda pdf: link(pdf, S=Name.GoToR, F=String("other.pdf"), D=Array([0])), "pdf-active"),
    "data are taken in": (lambda pdf: link(pdf, S=Name.ImportData, F=String("x.fdf")), "pdf-active"),
    "a page acts": (lambda pdf: pdf.pages[0].obj.update({"/AA": Dictionary(O=Dictionary(S=Name.Named, N=Name.Print))}), "pdf-active"),
    "rich media": (lambda pdf: link(pdf, S=Name.RichMediaExecute, Subtype=Name.RichMedia), "pdf-active"),
    "an XML form": (lambda pdf: pdf.Root.AcroForm.update({"/XFA": pdf.make_stream(b"<xdp/>")}), "pdf-active"),
    "another field": (add_field, "pdf-active"),
    "a field that shows something": (show_field, "pdf-active"),
    "layers": (lambda pdf: pdf.Root.update({"/OCProperties": Dictionary(OCGs=Array([]))}), "pdf-active"),
    "content from a file": (fetch_content, "pdf-active"),
    "a second attachment": (lambda pdf: attach(pdf, "other.json"), "pdf-altered"),
    "two of one name": (list_twice, "pdf-altered"),
    "two in one": (hide_second, "pdf-altered"),
    "another source": (name_other_source, "pdf-altered"),
    "no source": (lambda pdf: pdf.Root.__delitem__("/AF"), "pdf-altered"),
    "a swapped attachment": (swap, "pdf-altered"),
    "a renamed attachment": (rename, "pdf-altered"),
    "files without an end": (loop_names, "file-not-readable"),
    "no attachment": (lambda pdf: pdf.Root.Names.__delitem__("/EmbeddedFiles"), "not-a-supplement"),
}


@pytest.mark.parametrize("fixture", ["inverted_pdf", "hostile_pdf", "card_pdf", "found_pdf", "escaping_pdf", "unaudited_pdf", "signed_pdf"])
def test_nothing_is_suspicious_in_what_caveat_draws(fixture: str, request: pytest.FixtureRequest) -> None:
    """Also where the words of a card talk of /JavaScript, and after signing."""
    data: bytes = request.getfixturevalue(fixture)

    assert list_threats(data) == ()


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_is_named(name: str, unaudited_pdf: bytes) -> None:
    """Each by a code, with words and what to do."""
    edit, code = ATTACKS[name]
    found = list_threats(rewrite(unaudited_pdf, edit))

    assert code in {one.code for one in found}
    assert all(one.found and one.where for one in found)


@pytest.mark.parametrize("name", [name for name, (_, code) in ATTACKS.items() if code in ("pdf-altered", "file-not-readable")])
def test_a_record_is_read_only_where_it_is_the_only_one(name: str, unaudited_pdf: bytes) -> None:
    """Which of two files a reader takes is chance, so neither is taken."""
    with pytest.raises(InputError) as caught:
        read_supplement(rewrite(unaudited_pdf, ATTACKS[name][0]), where="forged.pdf")

    assert caught.value.code == ATTACKS[name][1]


def test_saving_anew_is_no_threat_by_itself(unaudited_pdf: bytes, supplements: Mapping[str, Supplement]) -> None:
    """So that what the attacks above are named for is the attack; that the bytes are others is found by drawing it again."""
    again = rewrite(unaudited_pdf)

    assert list_threats(again) == ()
    assert read_supplement(again, where="again.pdf") == supplements["unaudited"]


@pytest.mark.parametrize("edit", [swap_page, add_script, add_nothing])
@pytest.mark.parametrize("fixture", ["unaudited_pdf", "signed_pdf"])
def test_an_appended_revision_is_named(fixture: str, edit: object, request: pytest.FixtureRequest) -> None:
    """Whatever it changes, also nothing; signed or not."""
    data: bytes = request.getfixturevalue(fixture)

    assert "pdf-altered" in codes(append(data, edit))  # type: ignore[arg-type]


def test_a_revision_without_its_end_is_named(unaudited_pdf: bytes) -> None:
    """Cross-references that continue in earlier ones are a revision, also where the earlier end was taken out."""
    changed = append(unaudited_pdf, swap_page)
    first = changed.index(b"startxref")
    hidden = changed[:first] + b"%        " + changed[first + 9 :]

    assert hidden.count(b"startxref") == 1
    assert "pdf-altered" in codes(hidden)


def test_an_object_written_twice_is_named(unaudited_pdf: bytes) -> None:
    """One of the two is hidden, and another reader may show it."""
    place = unaudited_pdf.rindex(b"startxref")

    assert "pdf-altered" in codes(unaudited_pdf[:place] + b"5 0 obj\n<< >>\nendobj\n5 0 obj\n<< >>\nendobj\n" + unaudited_pdf[place:])


@pytest.mark.parametrize("fixture", ["unaudited_pdf", "signed_pdf"])
def test_bytes_before_and_after_are_named(fixture: str, request: pytest.FixtureRequest) -> None:
    """Ten million before it, one after it, a second PDF, a page of HTML."""
    data: bytes = request.getfixturevalue(fixture)

    for forged in (b"x" * 10_000_000 + data, b"<html></html>\n" + data, data + b"\n", data + b" ", data + data, data + b"%%EOF\n"):
        assert "pdf-altered" in codes(forged)


@pytest.mark.parametrize("fixture", ["unaudited_pdf", "signed_pdf"])
def test_a_truncated_file_is_named_wherever_it_ends(fixture: str, request: pytest.FixtureRequest, unaudited_pdf: bytes) -> None:
    """Or what is left is the whole unsigned file."""
    data: bytes = request.getfixturevalue(fixture)
    places = {*range(0, len(data), 1_009), *range(len(data) - 40, len(data)), *range(len(unaudited_pdf), len(data), 97)} - {
        len(unaudited_pdf)
    }

    assert [place for place in sorted(places) if not list_threats(data[:place])] == []


def test_an_encrypted_file_is_named(unaudited_pdf: bytes) -> None:
    """With a password or without one."""
    from io import BytesIO

    from pikepdf import Encryption

    for user in ("", "secret"):
        output = BytesIO()
        with Pdf.open(BytesIO(unaudited_pdf)) as pdf:
            pdf.save(output, encryption=Encryption(owner="owner", user=user))

        assert "pdf-damaged" in codes(output.getvalue())
        with pytest.raises(InputError) as caught:
            read_supplement(output.getvalue(), where="locked.pdf")
        assert caught.value.code == "pdf-damaged"


def test_an_escaped_name_is_read_as_readers_read_it() -> None:
    """/J#61vaScript is JavaScript."""
    data = write_by_hand({1: b"<< /Type /Catalog /Pages 2 0 R /Open#41ction << /S /J#61vaScript /#4aS (x) >> >>"})

    assert "pdf-active" in codes(data)


def test_words_are_no_names() -> None:
    """What a string says acts on nothing, with escaped brackets too."""
    data = write_by_hand({1: rb"<< /Type /Catalog /Pages 2 0 R /X (\) /Launch \( /JS \\) /Y <2f4a53> >>"})

    assert codes(data) == {"not-a-supplement"}


def bombs() -> Mapping[str, tuple[bytes, str]]:
    big = compress_zeros(60)
    attachment = b"<< /Type /Filespec /F (supplement.json) /UF (supplement.json) /EF << /F 4 0 R >> >>"
    catalog = b"<< /Type /Catalog /Pages 2 0 R /AF [3 0 R] /Names << /EmbeddedFiles << /Names [(supplement.json) 3 0 R] >> >> >>"
    flate, chain = b"/FlateDecode", b"[" + b"/FlateDecode " * 20 + b"]"

    def carrying(filters: bytes, data: bytes) -> bytes:
        stream = b"<< /Filter %s /Length %d >>\nstream\n%s\nendstream" % (filters, len(data), data)
        return write_by_hand({1: catalog, 3: attachment, 4: stream})

    return {
        "an attachment that inflates": (carrying(flate, big), "file-too-large"),
        "one inflated twenty times": (carrying(chain, big), "file-not-readable"),
        "run lengths": (carrying(b"/RunLengthDecode", b"\x810" * 500_000 + b"\x80"), "file-not-readable"),
        "objects that inflate": (write_in_stream(b" " * 60_000_000), "file-too-large"),
        "nested without end": (write_by_hand({1: b"<< /Pages 2 0 R /X " + b"[" * 100_000 + b" >>"}), "file-not-readable"),
        "a million items": (write_by_hand({1: b"<< /Pages 2 0 R /X 3 0 R >>", 3: b"[" + b"0 " * 1_000_000 + b"]"}), "pdf-damaged"),
        "pages in a circle": (write_by_hand({1: b"<< /Pages 2 0 R >>", 2: b"<< /Kids [2 0 R 2 0 R] /Count 9 >>"}), "file-not-readable"),
        "a million objects, by its word": (write_by_hand({1: b"<< /Pages 2 0 R >>"}, extra="/Size 99999999 "), "pdf-damaged"),
        "no catalog": (write_by_hand({1: b"null"}), "file-not-readable"),
        "only its beginning": (b"%PDF-1.7\n", "file-not-readable"),
    }


@pytest.mark.parametrize("name", bombs())
def test_a_file_that_is_made_to_hurt_ends_in_a_message(name: str) -> None:
    """It is not inflated, not waited for, and told."""
    data, code = bombs()[name]

    assert code in codes(data)
    with pytest.raises(InputError):
        read_supplement(data, where="bomb.pdf")


def test_reading_ends_when_its_time_is_up(unaudited_pdf: bytes) -> None:
    """However many objects there are."""
    with pytest.raises(InputError) as caught, open_pdf(unaudited_pdf, where="slow.pdf", seconds=-1) as opened:
        list(opened.walk())

    assert caught.value.code == "pdf-damaged"


def test_a_signed_file_carries_the_same_record(signed_pdf: bytes, unaudited_pdf: bytes) -> None:
    """Byte for byte."""
    assert hashlib.sha256(find_record(signed_pdf, where="s")).digest() == hashlib.sha256(find_record(unaudited_pdf, where="u")).digest()
