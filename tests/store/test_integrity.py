"""A log that was altered by hand is found out: what, and since when, on every engine."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import Connection, text

from registry.codec.statement_encoding import leaf_hash
from registry.errors import AlteredError, InputError
from registry.records.log_seal import Checkpoint
from registry.records.statement import OutputFormat, Publication
from registry.registration.key_registration import seal_log
from registry.seal.signed_notes import cosign, sign_checkpoint
from registry.store import log_seals as seals
from registry.store.database_tables import create_guards, drop_statements
from registry.store.ledger import Ledger
from registry.store.log_integrity import LogReport, check_log, describe_published
from registry.store.log_reader import pack
from registry.store.registry_rebuild import rebuild, verify
from tests.store import builders as make
from tests.store import sealing

ENTRIES = 40


@pytest.fixture
def sealed(ledger: Ledger) -> Ledger:
    """Forty entries, an erased one among them, with checkpoints of 10, 20 and all; the second is cosigned."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        for number in range(8):
            make.add_claim(writer, phi, quote=f"Claim {number}.")
        sealing.seal(writer)
        for number in range(10):
            make.add_claim(writer, phi, quote=f"Later claim {number}.")
        sealing.seal(writer, witnessed_at=make.START + timedelta(minutes=1))
        for number in range(19):
            make.add_claim(writer, phi, quote=f"Last claim {number}.")
        writer.erase(7, why="It named a person.")
        sealing.seal(writer)
    return ledger


def _check(ledger: Ledger, *, is_signed: bool = True) -> LogReport:
    with ledger.view() as view:
        origin = view.log_origin
    return check_log(ledger, vkeys=sealing.vkeys_of(origin) if is_signed else ())


def _tamper(ledger: Ledger, *statements: str | Callable[[Connection], None]) -> None:
    """As the owner of the database can: without the triggers, which are put back."""
    with ledger.connect() as connection:
        engine = connection.dialect.name
        if engine == "sqlite":
            connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
        else:
            connection.exec_driver_sql("SET session_replication_role = replica")
        for statement in (*drop_statements(engine), *statements):
            statement(connection) if callable(statement) else connection.exec_driver_sql(statement)
        create_guards(connection)
        connection.commit()
        if engine == "sqlite":
            connection.exec_driver_sql("PRAGMA foreign_keys = ON")
        else:
            connection.exec_driver_sql("SET session_replication_role = DEFAULT")
            connection.commit()


def _rewrite(seq: int, old: str, new: str) -> Callable[[Connection], None]:
    """Change a text and its leaf with it, as somebody does who knows how leaves are made."""

    def change(connection: Connection) -> None:
        words = connection.execute(text("SELECT json FROM body WHERE log = 1 AND seq = :seq"), {"seq": seq}).scalar_one()
        assert old in words
        altered = words.replace(old, new)
        leaf = bytes.fromhex(leaf_hash(altered.encode()))
        connection.execute(text("UPDATE body SET json = :words WHERE log = 1 AND seq = :seq"), {"words": altered, "seq": seq})
        connection.execute(text("UPDATE entry SET leaf = :leaf WHERE log = 1 AND seq = :seq"), {"leaf": leaf, "seq": seq})

    return change


def test_a_sound_log_is_called_sound(sealed: Ledger) -> None:
    """With its root, the checkpoints that fit it, and whose signatures they carry."""
    counts: list[int] = []
    with sealed.view() as view:
        origin, root = view.log_origin, seals.find_root(view)

    report = check_log(sealed, vkeys=sealing.vkeys_of(origin), progress=counts.append)

    assert (report.findings, report.is_sound) == ((), True)
    assert (report.entries, report.erased, report.root, counts[-1]) == (ENTRIES, 1, root, ENTRIES)
    assert [(checkpoint.checkpoint.size, checkpoint.fits, checkpoint.is_signed) for checkpoint in report.checkpoints] == [
        (10, True, True),
        (20, True, True),
        (40, True, True),
    ]
    assert [line.name for line in report.checkpoints[1].lines] == [origin, sealing.WITNESS]
    assert (report.last_fitting, report.first_unfitting) == (None, None)


def test_a_text_that_was_altered_after_it_was_read_is_not_taken_for_the_one_before(sealed: Ledger) -> None:
    """Readers of one state share what they decoded."""
    with sealed.view() as view:
        (claim,) = view.recorded((6,))
        assert view.recorded((6,))[0] is claim

    def change(connection: Connection) -> None:
        connection.execute(text("UPDATE body SET json = replace(json, 'Claim', 'Crime') WHERE log = 1 AND seq = 6"))

    _tamper(sealed, change)

    with sealed.view() as view, pytest.raises(AlteredError, match="entry 6"):
        view.recorded((6,))


def test_an_empty_log_is_sound(ledger: Ledger) -> None:
    """Nothing is there that could have been altered."""
    report = check_log(ledger)

    assert (report.entries, report.is_sound, report.root) == (0, True, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")


def test_without_keys_signatures_are_left_open(sealed: Ledger) -> None:
    """No one looked at them, so nothing is claimed."""
    report = _check(sealed, is_signed=False)

    assert [checkpoint.is_signed for checkpoint in report.checkpoints] == [None] * 3
    assert report.is_sound


TAMPERINGS: list[tuple[str | Callable[[Connection], None], list[tuple[str, str]]]] = [
    ("UPDATE body SET json = replace(json, 'Claim 3', 'Claim 9') WHERE seq = 6", [("entry-altered", "entry 6")]),
    ("UPDATE body SET json = '{}' WHERE seq IN (3, 30)", [("entry-altered", "entry 3"), ("entry-altered", "entry 30")]),
    ("UPDATE entry SET actor = 'OTHER' WHERE seq = 6", [("entry-altered", "entry 6")]),
    ("UPDATE entry SET kind = 'card' WHERE seq = 6", [("entry-altered", "entry 6")]),
    ("UPDATE entry SET at = at + 1 WHERE seq = 40", [("entry-altered", "entry 40")]),
    ("UPDATE entry SET at = 0 WHERE seq = 6", [("entry-altered", "entry 6")] * 2),
    ("UPDATE entry SET at = 4000000000000000000 WHERE seq = 40", [("entry-altered", "entry 40")]),
    ("DELETE FROM body WHERE seq = 6", [("text-missing", "entry 6")]),
    ("INSERT INTO body SELECT log, 7, json FROM body WHERE seq = 8", [("entry-altered", "entry 7"), ("text-present", "entry 7")]),
    ("INSERT INTO body VALUES (1, 41, '{}')", []),
    (
        "DELETE FROM entry WHERE seq = 6",
        [("entry-altered", "entry 6"), ("entry-altered", "entry 6"), ("history-differs", "checkpoint at 10")],
    ),
    ("UPDATE node SET hash = (SELECT leaf FROM entry WHERE seq = 1) WHERE seq = 16", [("tree-node-differs", "node")]),
    ("UPDATE checkpoint SET root = (SELECT leaf FROM entry WHERE seq = 1) WHERE seq = 20", [("checkpoint-altered", "checkpoint at 20")]),
    ("UPDATE checkpoint SET note = 'mine' WHERE seq = 20", [("checkpoint-altered", "checkpoint at 20")]),
    (_rewrite(6, "Claim 3", "Claim 9"), [("history-differs", "checkpoint at 10")]),
    (_rewrite(30, "Last claim 9", "Last claim 8"), [("history-differs", "checkpoint at 40")]),
]


@pytest.mark.parametrize(("tampering", "expected"), TAMPERINGS, ids=range(len(TAMPERINGS)))
def test_what_was_altered_is_named(sealed: Ledger, tampering: str | Callable[[Connection], None], expected: list[tuple[str, str]]) -> None:
    """Each by its code and place, and nothing else with it; what stands beyond the last entry is no part of the log yet."""
    _tamper(sealed, tampering)

    report = _check(sealed)

    assert [(fault.code, fault.where) for fault in report.findings] == expected


def test_since_when_is_said_by_the_checkpoints_around_it(sealed: Ledger) -> None:
    """The last that fits, the first that does not, and the entries that are in question between them."""
    _tamper(sealed, _rewrite(15, "Later claim 4", "Later claim 5"))

    report = _check(sealed)

    assert report.last_fitting is not None and report.first_unfitting is not None  # noqa: PT018  (one thought)
    assert (report.last_fitting.checkpoint.size, report.first_unfitting.checkpoint.size) == (10, 20)
    (fault,) = report.findings
    assert "an entry among 11 to 20 is not the one that was sealed; among entries 1 to 16 by what is kept of the tree" in fault.found
    assert "the checkpoint of 10 entries still fits, the one of 20 does not" in fault.found
    last = report.checkpoints[2].at
    assert last is not None
    assert f"changed after {last.isoformat()}" in fault.found


def test_a_change_before_a_later_checkpoint_is_dated_from_both_sides(sealed: Ledger) -> None:
    """Whoever signed the last checkpoint signed the altered log."""
    _tamper(sealed, _rewrite(15, "Later claim 4", "Later claim 5"), "DELETE FROM node")
    with sealed.write(actor="LAB") as writer:
        writer.append(make.authority("OTHER"))
        sealing.seal(writer)

    (fault,) = _check(sealed).findings

    assert "changed after" in fault.found
    assert ", before " in fault.found


def test_a_log_that_was_cut_off_is_found_by_a_note_kept_elsewhere(sealed: Ledger) -> None:
    """Nothing inside a shorter log says that it was longer: a signed note that somebody else keeps does."""
    with sealed.view() as view:
        note = next(kept.note for kept in seals.list_checkpoints(view) if kept.checkpoint.size == ENTRIES)
        origin = view.log_origin
    tables = ("cosignature", "checkpoint", "node", "erasure", "claim_text", "claim_revision", "identifier", "body", "entry")
    _tamper(sealed, *(f"DELETE FROM {table} WHERE seq > 20" for table in tables), "DELETE FROM body WHERE seq = 7")

    alone = check_log(sealed, vkeys=sealing.vkeys_of(origin))
    held = check_log(sealed, vkeys=sealing.vkeys_of(origin), notes=[note])

    assert [fault.code for fault in alone.findings] == ["text-missing"]
    assert [fault.code for fault in held.findings] == ["text-missing", "history-differs"]
    assert "the log had 40 entries then, now it ends with 20" in held.findings[-1].found


def _cut_off(sealed: Ledger, size: int) -> None:
    """Take the last entries away, and leave the checkpoints as they are."""
    tables = ("node", "erasure", "claim_text", "claim_revision", "identifier", "body", "entry")
    _tamper(sealed, *(f"DELETE FROM {table} WHERE seq > {size}" for table in tables), "DELETE FROM body WHERE seq = 7")


def test_a_log_that_was_cut_off_is_found_by_a_checkpoint_left_in_it(sealed: Ledger) -> None:
    """A checkpoint of more entries than there are says that there were more, to every check and to a replay."""
    _cut_off(sealed, 37)

    report = _check(sealed)

    assert [(fault.code, fault.where) for fault in report.findings] == [
        ("text-missing", "entry 7"),
        ("history-differs", "checkpoint at 40"),
    ]
    assert "the log had 40 entries then, now it ends with 37: it was cut off" in report.findings[-1].found
    with pytest.raises(InputError, match="the log had 40 entries then, now it ends with 37"):
        verify(sealed)


@pytest.mark.parametrize("alter", [_cut_off, lambda sealed, _size: _tamper(sealed, _rewrite(30, "Last claim 9", "Last claim 8"))])
@pytest.mark.parametrize("size", [20, None])
def test_a_log_that_is_not_what_was_sealed_is_not_sealed_again(
    sealed: Ledger, alter: Callable[[Ledger, int], None], size: int | None
) -> None:
    """Its keeper would sign a second history himself; a size whose checkpoint is kept is no way around."""
    alter(sealed, 37)

    with sealed.write(actor="LAB") as writer:
        for _ in range(5 if size is None else 0):
            make.add_claim(writer, writer.list_specs()[0].payload.spec + "@1")
        with pytest.raises(AlteredError, match=r"history-differs\][^\n]*\n  --> checkpoint at 40"):
            seal_log(writer, [sealing.log_key(writer.log_origin)], size=size)


@pytest.mark.parametrize("data", [pack(b"Another text."), b"no zstd", b"", pack(b"\xff"), bytes.fromhex("28b52ffde0ffffffffffffff7f")])
def test_a_card_whose_text_was_swapped_is_named_and_not_read(sealed: Ledger, new_registry: Callable[[], str], data: bytes) -> None:
    """The digest under which a text is kept is what it must have; what is no text, or says that it is huge, is no crash."""
    with sealed.write(actor="LAB") as writer:
        digest = writer.put_content(make.TEXT)

    def swap(connection: Connection) -> None:
        connection.execute(text("UPDATE content SET data = :data"), {"data": data})

    _tamper(sealed, swap)

    assert [(fault.code, fault.where) for fault in _check(sealed).findings] == [("content-altered", f"text {digest}")]
    with sealed.view() as view, pytest.raises(AlteredError, match=rf"content-altered\][^\n]*\n  --> text {digest}") as refused:
        view.get_content(digest)
    assert refused.value.exit_code == 3
    with pytest.raises(InputError, match="content-altered"):
        rebuild(sealed.url, new_registry(), lambda _done: None)


def test_missing_subtrees_are_told(sealed: Ledger) -> None:
    """Some that are missing were deleted by hand; none at all is also what an upgraded registry has, and is no fault."""
    _tamper(sealed, "DELETE FROM node WHERE seq = 16")
    some = _check(sealed)
    _tamper(sealed, "DELETE FROM node")

    none = _check(sealed)

    assert [(fault.code, fault.where) for fault in some.findings] == [("tree-node-differs", "node")]
    assert "level 4 over entries 1 to 16" in some.findings[0].found
    assert (some.lacks_nodes, none.lacks_nodes, none.findings) == (False, True, ())


def test_files_given_out_after_the_last_checkpoint_are_told(sealed: Ledger) -> None:
    """Giving out seals the log; where no checkpoint of that time is kept, somebody may have deleted it."""
    digests = {"sha256": "ab" * 32, "record": "cd" * 32, "template": "ef" * 32}
    with sealed.write(actor="LAB") as writer:
        claim = next(iter(writer.list_claims())).claim
        writer.append(Publication(subject=f"{claim}@1", format=OutputFormat.PDF, log_size=writer.log_size, size_bytes=1, **digests))
        sealing.seal(writer)
    before = _check(sealed)
    _tamper(sealed, "DELETE FROM cosignature", "DELETE FROM checkpoint WHERE seq > 40")
    after = _check(sealed)
    _tamper(sealed, "DELETE FROM checkpoint")

    none = _check(sealed)

    assert (before.given_out_since, after.given_out_since, none.given_out_since) == (0, 1, 1)
    faults = [[finding.code for finding in report.findings if finding.where == "checkpoints"] for report in (before, after, none)]
    assert faults == [[], [], []]  # a log that names no key cannot have been sealed by publishing; one that does: test_verify_registry
    assert "the last checkpoint is of 40 entries, although 1 file was published since" in describe_published(after)
    assert "no checkpoint is kept, although 1 file was published, which seals the log" in describe_published(none)


def test_a_note_of_another_log_is_refused(sealed: Ledger) -> None:
    """By name; and what is no note at all is bad input."""
    report = check_log(sealed, notes=[sealing.note_of(sealing.OTHER_LOG, 5, "ab" * 32)])

    assert [fault.code for fault in report.findings] == ["wrong-log"]
    with pytest.raises(InputError, match="bad-note"):
        check_log(sealed, notes=["hello"])


def test_a_forged_checkpoint_is_found(sealed: Ledger) -> None:
    """Signed by a key of the forger under the log's name, it has no signature that counts."""
    with sealed.view() as view:
        checkpoint = Checkpoint(origin=view.log_origin, size=20, root=seals.find_root(view, 20))
        forged = sign_checkpoint(checkpoint, [sealing.make_key(sealing.KeyAlgorithm.ED25519, view.log_origin, seed=b"\x07" * 32)])

    def replace_note(connection: Connection) -> None:
        connection.execute(text("UPDATE checkpoint SET note = :note WHERE seq = 20"), {"note": forged})

    _tamper(sealed, replace_note)

    assert [(fault.code, fault.where) for fault in _check(sealed).findings] == [("checkpoint-unsigned", "checkpoint at 20")]


def test_entries_that_changed_places_are_found(sealed: Ledger) -> None:
    """Each is the hash of its own text, in the place of the other."""
    swap = [
        "UPDATE {0} SET seq = 1000 WHERE seq = 31",
        "UPDATE {0} SET seq = 31 WHERE seq = 32",
        "UPDATE {0} SET seq = 32 WHERE seq = 1000",
    ]
    times = "UPDATE entry SET at = (SELECT max(at) FROM entry WHERE seq < 31) WHERE seq IN (31, 32)"
    statements = [template.format(table) for table in ("entry", "body") for template in swap]
    _tamper(sealed, *statements)

    codes = [(fault.code, fault.where) for fault in _check(sealed).findings]

    assert ("history-differs", "checkpoint at 40") in codes
    assert times not in codes


def test_a_missing_trigger_is_found(sealed: Ledger) -> None:
    """Somebody who wants to change a row drops it first."""
    with sealed.connect() as connection:
        engine = connection.dialect.name
        name = "body__update" if engine == "sqlite" else "body__change"
        connection.exec_driver_sql(f"DROP TRIGGER {name}" + ("" if engine == "sqlite" else " ON body"))
        connection.commit()

    assert [(fault.code, fault.where) for fault in _check(sealed).findings] == [("guard-missing", name)]


def test_a_clock_that_was_ahead_is_found_by_a_cosignature(ledger: Ledger) -> None:
    """A witness cannot have cosigned tomorrow's entry today; ten minutes are forgiven."""
    with ledger.write(actor="LAB") as writer:
        first = writer.append(make.authority())
        second = writer.append(make.authority("OTHER"))
        sealing.seal(writer, witnessed_at=second.at - timedelta(minutes=10, seconds=1))
        note = seals.list_checkpoints(writer)[0].note
        origin = writer.log_origin
    report = check_log(ledger, vkeys=sealing.vkeys_of(origin))
    assert [(fault.code, fault.where) for fault in report.findings] == [("clock-jumped", "entry 2")]

    with ledger.write(actor="LAB") as writer:
        at = first.at - timedelta(hours=1)
        seals.add_cosignature(writer, 2, cosign(note, sealing.log_key("late.example"), at=at), at)
    keys = [*sealing.vkeys_of(origin), *(key.as_cosigner() for key in sealing.vkeys_of("late.example")[:1])]

    findings = check_log(ledger, vkeys=keys).findings

    assert [(fault.code, fault.where) for fault in findings] == [("clock-jumped", "entries 1 to 2"), ("clock-jumped", "entry 2")]


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE body SET json = replace(json, 'Claim 3', 'Claim 9') WHERE seq = 6",
        "UPDATE entry SET actor = 'OTHER' WHERE seq = 6",
        "UPDATE entry SET at = at + 1 WHERE seq = 6",
        "UPDATE entry SET at = 4000000000000000000 WHERE seq = 6",
        "UPDATE entry SET kind = 'card' WHERE seq = 6",
        "DELETE FROM entry WHERE seq = 6",
    ],
)
def test_what_was_altered_is_not_read(sealed: Ledger, tampering: str) -> None:
    """Whoever asks for the claim gets an error that names the entry, and never the altered words."""
    with sealed.view() as view:
        (name,) = [claim.claim for claim in view.list_claims() if claim.quote == "Claim 3."]
    _tamper(sealed, tampering)

    with sealed.view() as view, pytest.raises(AlteredError, match=r"entry-altered\][^\n]*\n  --> entry 6") as refused:
        view.dossier(name)
    assert refused.value.exit_code == 3
