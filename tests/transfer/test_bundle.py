"""The bundle: one valid form, and everything else refused by name."""

import hashlib
import json
import random
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import zstandard

from registry.codec.canonical_documents import canonical_bytes
from registry.errors import AlteredError, CaveatError, InputError
from registry.exchange import bundle_format as limits
from registry.exchange.bundle_check import check_bundle, read_whole
from registry.exchange.bundle_format import read_bundle
from registry.seal.signed_notes import VerifierKey
from tests.transfer.registries import Institute

Edit = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]


def rewrite(path: Path, edit: Edit) -> None:
    """Change the lines of a bundle as somebody would who knows the format: the last line fits again."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    write(path, edit(lines[:-1]))


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    """Write *lines* with an end that fits them."""
    body = b"".join(canonical_bytes(line) + b"\n" for line in lines)
    path.write_bytes(body + canonical_bytes({"lines": len(lines), "sha256": hashlib.sha256(body).hexdigest()}) + b"\n")


def find_code(path: Path, *keys: VerifierKey) -> str | None:
    """Return the code that the bundle is refused with; None where it is accepted."""
    try:
        check_bundle(path, keys)
    except CaveatError as error:
        return error.code
    return None


@pytest.fixture
def plain(aisi: Institute, tmp_path: Path) -> Path:
    """A bundle that is not compressed."""
    aisi.export(tmp_path / "aisi.jsonl")
    return tmp_path / "aisi.jsonl"


@pytest.fixture
def packed(aisi: Institute, tmp_path: Path) -> Path:
    """The same, compressed."""
    aisi.export(tmp_path / "aisi.caveat")
    return tmp_path / "aisi.caveat"


def test_an_untouched_bundle_is_accepted(aisi: Institute, plain: Path, packed: Path) -> None:
    """Plain or compressed, a bundle says all of the log and is signed by its key."""
    for path in (plain, packed):
        bundle, signer = check_bundle(path, (aisi.vkey,))

        assert (bundle.header.size, bundle.contents, bundle.erased, signer) == (7, 1, 0, aisi.vkey)


def test_the_same_log_gives_the_same_bytes(aisi: Institute, plain: Path, tmp_path: Path) -> None:
    """A bundle depends on nothing but the log, its checkpoint and what was asked for."""
    aisi.export(tmp_path / "again.jsonl")

    assert (tmp_path / "again.jsonl").read_bytes() == plain.read_bytes()


def test_a_compressed_bundle_holds_the_plain_one(plain: Path, packed: Path) -> None:
    """Any program that knows Zstandard gets the plain bundle out; the digest behind it is passed over."""
    with zstandard.ZstdDecompressor().stream_reader(packed.read_bytes(), read_across_frames=True) as stream:
        assert stream.read() == plain.read_bytes()


@pytest.mark.parametrize("name", ["small.jsonl", "small.caveat"])
def test_every_single_bit_flip_is_refused(name: str, aisi: Institute, tmp_path: Path) -> None:
    """Whichever bit of a small bundle is another one, it is refused, by an error of ours."""
    aisi.export(tmp_path / name, since=6, cards=False)
    data = bytearray((tmp_path / name).read_bytes())
    accepted = []
    for bit in range(8 * len(data)):
        data[bit // 8] ^= 1 << bit % 8
        try:
            list(read_bundle(BytesIO(data), where=name))
            accepted.append(bit)
        except InputError:
            pass
        data[bit // 8] ^= 1 << bit % 8

    assert accepted == []


def test_random_edits_are_refused_whether_or_not_the_end_fits_again(aisi: Institute, plain: Path, tmp_path: Path) -> None:
    """Who changes, drops, doubles or swaps lines is refused, also when the last line is made to fit."""
    chance = random.Random(7)
    path = tmp_path / "edited.jsonl"
    lines = [json.loads(line) for line in plain.read_bytes().splitlines()][:-1]
    for _ in range(200):
        edited = [dict(line) for line in lines]
        at, other = chance.randrange(len(edited)), chance.randrange(len(edited))
        match chance.randrange(4):
            case 0 if "content" not in edited[at]:  # that looks like a card text which was erased
                del edited[at]
            case 1:
                edited.insert(other, dict(edited[at]))
            case 2 if at != other:
                edited[at], edited[other] = edited[other], edited[at]
            case _:
                key = chance.choice(sorted(edited[at]))
                text = json.dumps(edited[at][key])
                place = chance.randrange(len(text))
                edited[at][key] = text[:place] + chance.choice("0123456789abcdef") + text[place:]
        if edited == lines:
            continue
        write(path, edited)

        assert find_code(path, aisi.vkey) is not None


def _say_otherwise(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    at = next(at for at, line in enumerate(lines) if "It does not scheme" in line.get("text", ""))
    lines[at]["text"] = lines[at]["text"].replace("It does not scheme", "It never schemes ok")
    return lines


def _drop(seq: int) -> Edit:
    return lambda lines: [line for line in lines if line.get("seq") != seq]


def _swap(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    lines[2], lines[3] = lines[3], lines[2]
    return lines


def _unknown_kind(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    lines[3]["text"] = lines[3]["text"].replace('"kind":"spec_version"', '"kind":"prophecy"', 1)
    return lines


def _other_note(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    lines[-1]["checkpoint"] = lines[-1]["checkpoint"].replace("caveat.log/AISI", "caveat.log/LAB", 1)
    return lines


def _broken_signature(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    note = lines[-1]["checkpoint"]
    lines[-1]["checkpoint"] = note[:-10] + ("A" if note[-10] != "A" else "B") + note[-9:]
    return lines


@pytest.mark.parametrize(
    ("code", "edit"),
    [
        ("bundle-forged", _say_otherwise),
        ("bundle-forged", _broken_signature),
        ("bundle-damaged", _drop(4)),
        ("bundle-damaged", _drop(7)),
        ("bundle-damaged", _swap),
        ("bundle-damaged", lambda lines: [*lines[:-2], lines[-1], lines[-2]]),
        ("bundle-damaged", lambda lines: [*lines[:3], lines[2], *lines[3:]]),
        ("bundle-damaged", lambda lines: [lines[0], *lines]),
        ("bundle-damaged", lambda lines: lines[:-1]),
        ("not-a-bundle", lambda lines: lines[1:]),
        ("unknown-statement", _unknown_kind),
        ("wrong-log", _other_note),
        ("bundle-damaged", lambda lines: [lines[0] | {"cards": False}, *lines[1:]]),
        ("bundle-damaged", lambda lines: [*lines[:1], lines[1] | {"more": 1}, *lines[2:]]),
        ("bundle-too-large", lambda lines: [lines[0] | {"size": 20_000_000}, *lines[1:]]),
    ],
)
def test_an_edited_bundle_is_refused_by_name(code: str, edit: Edit, aisi: Institute, plain: Path) -> None:
    """Each kind of edit has its own name, although the last line fits."""
    rewrite(plain, edit)

    assert find_code(plain, aisi.vkey) == code


@pytest.mark.parametrize(
    ("code", "edit"),
    [
        ("bundle-damaged", lambda data: data[: len(data) // 2]),
        ("bundle-damaged", lambda data: data[:-1]),
        ("bundle-damaged", lambda data: b"\n".join(data.split(b"\n")[:-2]) + b"\n"),
        ("bundle-damaged", lambda data: data + b"x"),
        ("bundle-damaged", lambda data: data + b"\n"),
        ("bundle-damaged", lambda data: data.replace(b'"seq":2', b'"seq": 2', 1)),
        ("bundle-damaged", lambda data: data[:0]),
        ("not-a-bundle", lambda data: b"%PDF-1.7\n" + data),
        ("not-a-bundle", lambda data: b'{"schema":"caveat/bundle/2"}\n' + data),
        ("bundle-damaged", lambda data: data.replace(b'{"seq":2,', b'{"seq":' + b"[" * 5_000 + b",", 1)),
    ],
)
def test_a_damaged_file_is_refused_by_name(code: str, edit: Callable[[bytes], bytes], aisi: Institute, plain: Path) -> None:
    """What is cut off, added behind or written otherwise is named; nothing is guessed."""
    plain.write_bytes(edit(plain.read_bytes()))

    assert find_code(plain, aisi.vkey) == code


@pytest.mark.parametrize(
    ("code", "edit"),
    [
        ("bundle-damaged", lambda data: data[:100]),
        ("bundle-damaged", lambda data: data[:-40]),
        ("bundle-damaged", lambda data: data[:-1]),
        ("bundle-damaged", lambda data: data + b"x"),
        ("bundle-damaged", lambda data: data[:-40] + data),
        ("bundle-damaged", lambda data: data[:60] + bytes([data[60] ^ 1]) + data[61:]),
    ],
)
def test_a_damaged_compressed_file_is_refused_by_name(code: str, edit: Callable[[bytes], bytes], aisi: Institute, packed: Path) -> None:
    """The digest behind the compressed bundle shows what decompressing might not."""
    packed.write_bytes(edit(packed.read_bytes()))

    assert find_code(packed, aisi.vkey) == code


def test_a_zip_bomb_is_refused_before_it_unfolds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file that decompresses without end is read up to the limit, and no further."""
    monkeypatch.setattr(limits, "FREE_BYTES", 2**20)
    path = tmp_path / "bomb.caveat"
    with path.open("wb") as stream, limits.compressing(stream) as packed:
        packed.write(b'{"cards"')
        for _ in range(600):
            packed.write(bytes(2**20))

    with pytest.raises(InputError) as refused:
        read_whole(path)

    assert refused.value.code == "bundle-too-large"


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line may be only so long, whatever comes."""
    monkeypatch.setattr(limits, "LONGEST_LINE_BYTES", 2**20)
    path = tmp_path / "line.jsonl"
    path.write_bytes(b'{"cards":"' + b"x" * 2**22)

    assert find_code(path) == "bundle-too-large"


def test_an_incremental_bundle_is_verified_by_itself(aisi: Institute, tmp_path: Path) -> None:
    """The peaks and the leaves after them give the signed root, so no one needs what came before to verify it."""
    for since in range(1, 7):
        path = tmp_path / f"since{since}.jsonl"
        aisi.export(path, since=since)

        bundle, _ = check_bundle(path, (aisi.vkey,))

        assert (bundle.header.since, len(bundle.stretch.leaves)) == (since, 7 - since)


def test_an_incremental_bundle_with_other_peaks_is_forged(aisi: Institute, tmp_path: Path) -> None:
    """What came before cannot be anything else: the root would not come out."""
    path = tmp_path / "since.jsonl"
    aisi.export(path, since=5)
    rewrite(path, lambda lines: [lines[0] | {"peaks": ["ab" * 32, lines[0]["peaks"][1]]}, *lines[1:]])

    assert find_code(path, aisi.vkey) == "bundle-forged"


def test_an_altered_text_does_not_go_out(aisi: Institute, tmp_path: Path) -> None:
    """Where the database was edited by hand, the sender finds out, not only who gets the bundle."""
    with aisi.ledger.connect() as connection:
        connection.exec_driver_sql("DROP TRIGGER body__update")
        connection.exec_driver_sql("UPDATE body SET json = replace(json, 'scheme', 'cheat') WHERE seq = 5")
        connection.commit()

    with pytest.raises(AlteredError, match="entry 5"):
        aisi.export(tmp_path / "altered.jsonl")
    assert not list(tmp_path.glob("*altered*"))


def test_a_key_that_did_not_sign_is_refused(aisi: Institute, lab: Institute, plain: Path) -> None:
    """Another log's key, and none, verify nothing."""
    assert find_code(plain, lab.vkey) == find_code(plain) == "wrong-key"
