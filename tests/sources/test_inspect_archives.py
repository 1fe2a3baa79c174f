"""Archives that are damaged, dangerous or odd: each is read rightly or refused with its member, and none costs more than it may."""

import json
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.errors import TableError
from audit.sources.inspect_archive import EvalArchive
from audit.sources.inspect_log import read_inspect
from audit.sources.log_rows import LogOptions
from tests.examples import scale
from tests.sources.eval_archive import (
    DEFLATE,
    STORED,
    ZSTANDARD,
    Member,
    build_archive,
    build_header,
    build_sample,
    list_members,
    pack,
    write_log,
)


def write(folder: Path, *members: Member) -> Path:
    """An archive of a sound log and *members*."""
    path = folder / "log.eval"
    path.write_bytes(build_archive([*list_members(build_header(1), [build_sample()]), *members]))
    return path


def refuse(path: Path) -> TableError:
    with pytest.raises(TableError) as caught:
        read_inspect([path], LogOptions(arms={str(path): "test"}))
    return caught.value


@pytest.mark.parametrize("method", [STORED, DEFLATE, ZSTANDARD])
def test_every_packing_gives_the_same_rows(tmp_path: Path, method: int) -> None:
    """Members that are stored, deflated or packed by Zstandard hold the same samples."""
    path = write_log(tmp_path, build_sample("s0", "C"), build_sample("s1", "I"), method=method)

    rows, _ = read_inspect([path], LogOptions(arms={str(path): "test"}))

    assert [(row.task_id, row.score) for row in rows] == [("s0", 1.0), ("s1", 0.0)]


@pytest.mark.parametrize("frames", [2, 7])
def test_members_of_several_frames_are_read_whole(tmp_path: Path, frames: int) -> None:
    """Inspect cuts large members into frames; each is read to the end of the last."""
    path = write_log(tmp_path, build_sample("s0", "C"), frames=frames)
    packed = pack(Member(name="x", content=b"a" * 100, frames=frames))

    rows, _ = read_inspect([path], LogOptions(arms={str(path): "test"}))

    assert packed.count(b"\x28\xb5\x2f\xfd") == frames
    assert [row.score for row in rows] == [1.0]


def test_archives_of_pythons_own_writer_are_read(tmp_path: Path) -> None:
    """A log that was packed again by an ordinary zip program reads the same."""
    path = tmp_path / "again.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in list_members(build_header(1), [build_sample()]):
            archive.writestr(member.name, member.content)

    rows, _ = read_inspect([path], LogOptions(arms={str(path): "test"}))

    assert [row.score for row in rows] == [1.0]


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x03\x04 and nothing else", b"just text"])
def test_what_is_no_archive_is_told(tmp_path: Path, content: bytes) -> None:
    """A file that ends in .eval and is no zip archive is refused by name."""
    path = tmp_path / "log.eval"
    path.write_bytes(content)

    error = refuse(path)

    assert (error.code, error.faults[0].where) == ("file-not-readable", str(path))


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9, 0.99])
def test_truncated_archives_are_told(tmp_path: Path, kept: float) -> None:
    """A copy that was cut off is refused, wherever it was cut."""
    path = write_log(tmp_path, *(build_sample(f"s{number}") for number in range(20)))
    path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])

    error = refuse(path)

    assert error.code == "file-not-readable"
    assert "inspect log recover" in (error.faults[0].advice or "")


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    """A path that leads nowhere is one fault."""
    assert refuse(tmp_path / "none.eval").code == "file-not-readable"


@pytest.mark.parametrize(
    "name", ["../evil.json", "samples/../../evil.json", "/etc/evil.json", "C:\\evil.json", "\\\\host\\evil", "a\\..\\..\\b"]
)
def test_members_that_lead_out_of_the_archive_are_refused(tmp_path: Path, name: str) -> None:
    """A traversing or absolute name refuses the whole archive, although nothing would be unpacked to disk."""
    error = refuse(write(tmp_path, Member(name=name, content=b"{}")))

    assert error.code == "log-not-safe"
    assert "leads out of the archive" in error.faults[0].found


@pytest.mark.parametrize("name", ["samples/repo/issue-1_epoch_1.json", "samples/a..b_epoch_1.json", "samples/ü 1_epoch_1.json"])
def test_identifiers_with_slashes_dots_or_accents_are_read(tmp_path: Path, name: str) -> None:
    """Identifiers that are paths themselves, or hold two dots within a word, are no traversal."""
    sample = build_sample(name.removeprefix("samples/").removesuffix("_epoch_1.json"))
    path = tmp_path / "log.eval"
    member = Member(name=name, content=json.dumps(sample).encode(), flags=0x800)
    path.write_bytes(build_archive([*list_members(build_header(2), [build_sample()]), member]))

    rows, _ = read_inspect([path], LogOptions(arms={str(path): "test"}))

    assert {row.task_id for row in rows} == {"s0", sample["id"]}


def test_encrypted_members_are_told(tmp_path: Path) -> None:
    """A member that asks for a password is refused by name."""
    error = refuse(write(tmp_path, Member(name="samples/x_epoch_1.json", content=b"{}", flags=1)))

    assert (error.code, error.faults[0].found) == ("file-not-readable", "the member is encrypted")


def test_packings_that_inspect_does_not_use_are_told(tmp_path: Path) -> None:
    """Members packed by LZMA are refused rather than half understood."""
    error = refuse(write(tmp_path, Member(name="x", content=b"{}", method=14)))

    assert error.code == "file-not-readable"
    assert "method 14" in error.faults[0].found


def test_bombs_are_refused_before_they_are_unpacked(tmp_path: Path) -> None:
    """A member that states a thousandfold of its size is refused by its statement alone."""
    content = bytes(100_000_000)
    path = write(tmp_path, Member(name="samples/x_epoch_1.json", content=content, packed=zstandard.ZstdCompressor().compress(content)))
    del content
    tracemalloc.start()
    try:
        error = refuse(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert error.code == "log-not-safe"
    assert "1000 to one" in error.faults[0].found
    assert peak < 5_000_000


@pytest.mark.parametrize("method", [STORED, DEFLATE, ZSTANDARD])
def test_bombs_that_hide_their_size_are_stopped(tmp_path: Path, method: int) -> None:
    """A member that unpacks to more than it states is stopped one byte later."""
    content = bytes(50_000_000)
    packed = pack(Member(name="x", content=content, method=method)) if method != STORED else bytes(3000)
    path = write(tmp_path, Member(name="samples/x_epoch_1.json", content=content, packed=packed, size=2000, method=method))
    del content, packed
    tracemalloc.start()
    try:
        error = refuse(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert error.code == "log-not-safe"
    assert "more than the 2,000 bytes" in error.faults[0].found
    assert peak < 5_000_000


def test_members_too_large_to_read_are_refused(tmp_path: Path) -> None:
    """Two limits hold whatever the packing: for a member, and for all of them."""
    alone = refuse(write(tmp_path, Member(name="x", content=b"", packed=bytes(3_000_000), size=(1 << 30) + 1)))
    together = refuse(write(tmp_path, *(Member(name=f"x{n}", content=b"", packed=bytes(1_100_000), size=1 << 30) for n in range(65))))

    assert "the limit is 1,073,741,824" in alone.faults[0].found
    assert "the limit is 68,719,476,736" in together.faults[0].found


def test_overlapping_members_are_refused(tmp_path: Path) -> None:
    """An archive whose members share bytes (as some bombs do) is longer in its directory than on disk."""
    path = write(tmp_path, Member(name="x", content=bytes(5000), method=STORED))
    content = path.read_bytes()
    entry = content.rindex(b"PK\x01\x02", 0, content.index(b"PK\x05\x06"))
    stated = bytearray(content)
    stated[entry + 20 : entry + 24] = (100_000).to_bytes(4, "little")
    path.write_bytes(bytes(stated))

    error = refuse(path)

    assert error.code == "log-not-safe"
    assert "overlap" in error.faults[0].found


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        (Member(name="samples/x_epoch_1.json", content=b"{}", checksum=7), "with checksum 00000007"),
        (Member(name="samples/x_epoch_1.json", content=b"{}", size=3), "expected 3 bytes"),
        (Member(name="samples/x_epoch_1.json", content=b"{}", packed=b"no frame of Zstandard"), "cannot be unpacked"),
        (Member(name="samples/x_epoch_1.json", content=b"{}", packed=b"\xff\xff", method=DEFLATE), "cannot be unpacked"),
        (Member(name="samples/x_epoch_1.json", content=b"{"), "not JSON"),
        (Member(name="samples/x_epoch_1.json", content=b"\xff\xfe\xfd"), "not JSON"),
        (Member(name="samples/x_epoch_1.json", content=b"[" * 100_000), "not JSON"),
        (Member(name="samples/x_epoch_1.json", content=b"[1]"), "expected an object, found list"),
        (Member(name="samples/x_epoch_1.json", content=b'{"id": 1}'), "no identifier or no epoch"),
    ],
)
def test_damaged_members_are_told_by_name(tmp_path: Path, member: Member, expected: str) -> None:
    """A member that cannot be trusted refuses the log and is named."""
    error = refuse(write(tmp_path, member))

    assert error.code == "file-not-readable"
    assert expected in error.faults[0].found
    assert "samples/x_epoch_1.json" in error.faults[0].where


def test_a_checksum_covers_what_zstandard_does_not(tmp_path: Path) -> None:
    """A bit that flipped in a stored member is found by the archive's checksum."""
    sample = json.dumps(build_sample("x", "C")).encode()
    flipped = sample.replace(b'"C"', b'"I"')
    path = write(tmp_path, Member(name="samples/x_epoch_1.json", content=flipped, method=STORED, checksum=zlib.crc32(sample)))

    assert "checksum" in refuse(path).faults[0].found


def test_a_sample_logged_again_counts_by_its_last_record(tmp_path: Path) -> None:
    """A member that stands twice is, as for Inspect, its last; the earlier one is no row and is accounted for."""
    path = write(tmp_path, Member(name="samples/s0_epoch_1.json", content=json.dumps(build_sample("s0", "I")).encode()))

    rows, imported = read_inspect([path], LogOptions(arms={str(path): "test"}))

    assert [row.score for row in rows] == [0.0]
    assert [(one.reason, one.count, one.is_row) for one in imported.files[0].excluded] == [("superseded", 1, False)]
    assert imported.files[0].found == 2


def test_two_members_of_one_sample_are_refused(tmp_path: Path) -> None:
    """Two members under different names that hold one sample and epoch contradict each other."""
    error = refuse(write(tmp_path, Member(name="samples/other_epoch_1.json", content=json.dumps(build_sample("s0", "I")).encode())))

    assert error.code == "duplicate-row"
    assert "samples/other_epoch_1.json" in error.faults[0].found


def test_an_archive_of_something_else_is_told(tmp_path: Path) -> None:
    """A zip archive without a header is no log, and one without samples is empty."""
    path = tmp_path / "log.eval"
    path.write_bytes(build_archive([Member(name="readme.txt", content=b"hello")]))
    other = refuse(path)
    path.write_bytes(build_archive(list_members(build_header(0), [])))

    assert "neither header.json nor _journal/start.json" in other.faults[0].found
    assert refuse(path).code == "table-empty"


def test_a_journal_without_header_is_a_run_that_never_ended(tmp_path: Path) -> None:
    """A log that Inspect was still writing is refused as started, and read with its samples when asked for."""
    start = {key: value for key, value in build_header(3).items() if key in ("version", "eval")}
    members = [
        Member(name="_journal/start.json", content=json.dumps(start).encode()),
        Member(name="samples/s0_epoch_1.json", content=json.dumps(build_sample()).encode()),
    ]
    path = tmp_path / "log.eval"
    path.write_bytes(build_archive(members))

    error = refuse(path)
    rows, imported = read_inspect([path], LogOptions(arms={str(path): "test"}, unfinished=True))

    assert error.code == "log-not-finished"
    assert (len(rows), imported.files[0].declared) == (1, 3)
    assert "the header states 3 samples and the log holds 1 (not there: s1 epoch 1, s2 epoch 1)" in imported.files[0].notes


@settings(max_examples=scale(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_any_changed_byte_is_harmless_or_told(tmp_path: Path, place: float, byte: int) -> None:
    """Whatever byte of an archive is changed, reading it gives rows or an error of ours, never anything else."""
    content = bytearray(build_archive(list_members(build_header(1), [build_sample()])))
    content[int(place * len(content))] = byte
    path = tmp_path / "log.eval"
    path.write_bytes(bytes(content))

    try:
        rows, _ = read_inspect([path], LogOptions(arms={str(path): "test"}))
    except TableError as error:
        assert error.faults
    else:
        assert len(rows) == 1


@settings(max_examples=scale(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=3000), method=st.sampled_from([STORED, DEFLATE, ZSTANDARD]), frames=st.integers(1, 5))
def test_what_was_packed_comes_out(tmp_path: Path, content: bytes, method: int, frames: int) -> None:
    """Any content comes back byte for byte, whatever its packing."""
    path = tmp_path / "log.eval"
    path.write_bytes(build_archive([Member(name="a", content=content, method=method, frames=frames)]))

    with EvalArchive(path, "log.eval") as archive:
        assert archive.read("a") == content
