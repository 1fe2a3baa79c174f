"""Authors' signatures travel in bundles: kept as they are, held against the keys of the log, and refused by name where they do not fit."""

import json
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from registry.codec.canonical_documents import canonical_bytes
from registry.errors import CaveatError
from registry.exchange.bundle_check import read_whole
from registry.exchange.bundle_transfer import export_bundle, find_imported_note, take_over
from registry.registration.key_registration import add_key, rotate_key
from registry.seal.signing_keys import Backing, make_statement_key
from registry.store.ledger import Ledger
from registry.store.log_integrity import check_log
from registry.store.log_reader import find_backings, list_signatures
from tests.store import builders
from tests.transfer.registries import Institute

KEY = make_statement_key("AISI", seed=b"s" * 32)
LATER = make_statement_key("AISI", seed=b"t" * 32)


def let_sign(institute: Institute) -> None:
    """Give the institute a statement key, with which its later statements are signed."""
    with institute.ledger.write(actor=institute.code) as writer:
        add_key(writer, KEY)
    url = institute.ledger.url
    with institute.ledger.view() as view:
        size = view.log_size
    salts = (f"{number:032x}" for number in range(1_000 * size, 2_000_000))
    clock = builders.ticking(builders.START.replace(month=4))
    institute.ledger = Ledger.open(url, clock=clock, salt=salts.__next__, find_key=lambda code: KEY if code == "AISI" else None)


@pytest.fixture
def signing(institutes: Callable[..., Institute]) -> Institute:
    """An institute that signs three claims."""
    made = institutes("AISI", 1)
    let_sign(made)
    made.add_claims(3)
    return made


def take(into: Institute, path: Path, source: Institute) -> None:
    take_over(into.ledger, path, actor=into.code, keys=[source.vkey])


def forge(path: Path, target: Path, change: Callable[[list[dict[str, Any]]], None]) -> Path:
    """Write the bundle *path* again with its lines changed, and its end made to fit."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    change(lines)
    texts = [canonical_bytes(line) + b"\n" for line in lines[:-1]]
    end = canonical_bytes({"lines": len(texts), "sha256": sha256(b"".join(texts)).hexdigest()}) + b"\n"
    target.write_bytes(b"".join(texts) + end)
    return target


def list_signed(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines if "signature" in line]


def test_export_and_import_keep_every_signature(signing: Institute, institutes: Callable[..., Institute], tmp_path: Path) -> None:
    """Out of one registry, into another, out of that again: the same bytes, and each statement is its author's in both."""
    other = institutes("LAB", 2)
    signing.export(tmp_path / "first.jsonl")
    take(other, tmp_path / "first.jsonl", signing)
    with other.ledger.view() as own, other.ledger.view(log=signing.origin) as foreign:
        export_bundle(foreign, find_imported_note(own, signing.origin), tmp_path / "second.jsonl")
        entries = [place for place, _ in foreign.log_entries()]
        found = find_backings(foreign, entries)

    assert (tmp_path / "second.jsonl").read_bytes() == (tmp_path / "first.jsonl").read_bytes()
    assert list(found.values()) == [Backing.OPERATOR] * 3 + [Backing.AUTHOR] * 4
    assert check_log(other.ledger, log=signing.origin).findings == ()
    assert read_whole(tmp_path / "first.jsonl").signed == 4


def test_a_later_stretch_is_held_against_keys_named_before_it(
    signing: Institute, institutes: Callable[..., Institute], tmp_path: Path
) -> None:
    """A bundle of the new entries alone cannot be checked by itself; who has the beginning checks it, and refuses what does not fit."""
    other = institutes("LAB", 2)
    first = signing.export(tmp_path / "first.jsonl")
    take(other, tmp_path / "first.jsonl", signing)
    signing.add_claims(2)
    signing.export(tmp_path / "later.jsonl", since=first.size)
    whole = read_whole(tmp_path / "later.jsonl")

    def spoil(lines: list[dict[str, Any]]) -> None:
        list_signed(lines)[0]["signature"] = b64encode(bytes(64)).decode()

    with pytest.raises(CaveatError, match="signature-not-valid"):
        take(other, forge(tmp_path / "later.jsonl", tmp_path / "forged.jsonl", spoil), signing)
    take(other, tmp_path / "later.jsonl", signing)

    assert (whole.signed, whole.signed_unknown) == (0, 2)
    with other.ledger.view(log=signing.origin) as view:
        assert len(list_signatures(view, range(1, view.log_size + 1))) == 6


def _swap(lines: list[dict[str, Any]]) -> None:
    first, second, *_ = list_signed(lines)
    first["signature"], second["signature"] = second["signature"], first["signature"]


def _name_other_key(lines: list[dict[str, Any]]) -> None:
    list_signed(lines)[0]["key"] = LATER.fingerprint


def _sign_first(lines: list[dict[str, Any]]) -> None:
    lines[1] |= {"key": KEY.fingerprint, "signature": list_signed(lines)[0]["signature"]}


def _shorten(lines: list[dict[str, Any]]) -> None:
    list_signed(lines)[0]["signature"] = b64encode(bytes(63)).decode()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (_swap, "signature-not-valid"),
        (_name_other_key, "signature-not-valid"),
        (_sign_first, "signature-not-valid"),
        (_shorten, "bundle-damaged"),
    ],
)
def test_a_signature_that_does_not_fit_is_refused_by_name(
    signing: Institute,
    institutes: Callable[..., Institute],
    tmp_path: Path,
    change: Callable[[list[dict[str, Any]]], None],
    code: str,
) -> None:
    """Whoever carries the bundle can change signatures, which no checkpoint covers; the import refuses and records nothing."""
    other = institutes("LAB", 2)
    signing.export(tmp_path / "first.jsonl")
    path = forge(tmp_path / "first.jsonl", tmp_path / "forged.jsonl", change)

    with pytest.raises(CaveatError) as refused:
        take(other, path, signing)
    assert refused.value.code == code
    assert [one.origin for one in other.ledger.list_logs()] == [other.origin]


def test_a_signature_taken_out_shows_as_the_operators_assertion(
    signing: Institute, institutes: Callable[..., Institute], tmp_path: Path
) -> None:
    """A missing signature is no failure, and never reads as the author's."""
    other = institutes("LAB", 2)
    signing.export(tmp_path / "first.jsonl")

    def strip(lines: list[dict[str, Any]]) -> None:
        for line in list_signed(lines):
            del line["signature"], line["key"]

    take(other, forge(tmp_path / "first.jsonl", tmp_path / "bare.jsonl", strip), signing)
    with other.ledger.view(log=signing.origin) as view:
        found = find_backings(view, [place for place, _ in view.log_entries()])
    assert set(found.values()) == {Backing.OPERATOR}


def test_a_successor_that_the_old_key_did_not_sign_is_refused_in_a_bundle(
    signing: Institute, institutes: Callable[..., Institute], tmp_path: Path
) -> None:
    """Without the old key's signature the entry that replaces it adds nothing, and the bundle is refused."""
    other = institutes("LAB", 2)
    with signing.ledger.write(actor="AISI") as writer:
        entry = rotate_key(writer, KEY, LATER, reason="Once a year")
    signing.export(tmp_path / "first.jsonl")

    def strip(lines: list[dict[str, Any]]) -> None:
        line = next(one for one in lines if one.get("seq") == entry.seq)
        del line["signature"], line["key"]

    with pytest.raises(CaveatError, match="key-not-authorised"):
        take(other, forge(tmp_path / "first.jsonl", tmp_path / "forged.jsonl", strip), signing)
    take(other, tmp_path / "first.jsonl", signing)
