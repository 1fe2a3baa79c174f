"""Backups: whole, checked, held against their checkpoint, made while others write, and never half."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from threading import Event, Thread

import pytest

from registry.errors import AnswerNoError, CaveatError, ConflictError
from registry.exchange.bundle_transfer import take_over
from registry.exchange.registry_backup import BackupResult, RestoreResult, back_up, find_note, read_note, restore
from registry.store.ledger import Ledger
from registry.store.log_integrity import check_log
from registry.store.registry_rebuild import verify
from tests.store import builders
from tests.transfer.registries import Institute, found


def keep(institute: Institute, path: Path) -> BackupResult:
    """Back the institute's registry up to *path*."""
    return back_up(institute.ledger, path, keys=(institute.key,), actor=institute.code)


def bring_back(path: Path, url: str, **options: object) -> RestoreResult:
    """Restore *path*, held against the checkpoint beside it."""
    note = find_note(path)
    assert note is not None
    return restore(path, url, **({"note": read_note(note)} | options))  # type: ignore[arg-type]


def read_all(url: str) -> list[tuple[str, list[bytes], list[bytes | None]]]:
    """Return every log of the registry at *url*: name, leaves, texts."""
    ledger = Ledger.open(url, clock=builders.ticking(), salt=builders.salting())
    try:
        logs = []
        for one in ledger.list_logs():
            with ledger.view(log=one.origin) as view:
                logs.append((one.origin, list(view.leaves()), [text for _, text in view.log_entries()]))
        return logs
    finally:
        ledger.close()


def alter(path: Path, *statements: str) -> None:
    """Change a database by hand, as somebody would who knows SQL."""
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()


def test_a_backup_comes_back_on_either_engine(new_url: Callable[[], str], aisi: Institute, tmp_path: Path) -> None:
    """Everything is there again: the log, erased texts as erased, cards, rows, and the logs of others."""
    url = new_url()
    source = found(new_url(), "LAB", seed=2)
    source.add_quoted()
    with source.ledger.write(actor="LAB") as writer:
        writer.erase(5, why="it names a person")
    aisi.export(tmp_path / "a.caveat")
    take_over(source.ledger, tmp_path / "a.caveat", actor="LAB", keys=(aisi.vkey,))
    done = keep(source, tmp_path / "b.db")
    restored = bring_back(tmp_path / "b.db", url, keys=[source.vkey])
    expected = read_all(source.ledger.url)
    source.ledger.close()

    assert read_all(url) == expected
    assert (restored.entries, restored.signer, restored.is_own_word) == (done.entries, str(source.vkey), False)
    assert ([one.size for one in done.logs], done.erased, done.is_signed) == ([7], 1, True)
    again = Ledger.open(url, clock=builders.ticking(), salt=builders.salting())
    assert verify(again).foreign == 7
    with again.view() as view:
        assert len(view.list_cards()) == 1
    again.close()


def test_nobody_else_reads_a_backup(aisi: Institute, tmp_path: Path) -> None:
    """The file and its checkpoint are the owner's alone, and a folder of what is not whole is gone."""
    keep(aisi, tmp_path / "b.db")

    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("b.db", "b.db.checkpoint")] == [0o600, 0o600]
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


@pytest.mark.parametrize("name", ["b.db", "b.db.checkpoint"])
def test_a_backup_writes_over_nothing(name: str, aisi: Institute, tmp_path: Path) -> None:
    """A file of one of the two names stays as it is, and the other does not appear."""
    (tmp_path / name).write_text("precious", encoding="utf-8")

    with pytest.raises(ConflictError, match="file-exists"):
        keep(aisi, tmp_path / "b.db")
    assert (tmp_path / name).read_text(encoding="utf-8") == "precious"
    assert len([path for path in tmp_path.iterdir() if path.name.startswith("b.db")]) == 1


def test_what_was_erased_is_not_in_the_bytes_of_a_backup(aisi: Institute, tmp_path: Path) -> None:
    """Pages that SQLite freed keep what was on them; a backup leaves them out."""
    aisi.add_claims(1, quote="Unmistakable words of a person.")
    with aisi.ledger.write(actor=aisi.code) as writer:
        writer.erase(8, why="it names a person")
    keep(aisi, tmp_path / "b.db")

    assert b"Unmistakable" not in (tmp_path / "b.db").read_bytes()


def test_without_a_key_the_checkpoint_is_not_signed_and_says_so(aisi: Institute, tmp_path: Path) -> None:
    """Three lines without a signature show accidents, and are told to be no more."""
    done = back_up(aisi.ledger, tmp_path / "b.db", keys=(), actor="AISI")
    restored = bring_back(tmp_path / "b.db", f"sqlite:///{tmp_path / 'back.db'}")

    assert (done.is_signed, restored.signer) == (False, None)
    assert (tmp_path / "b.db.checkpoint").read_text(encoding="utf-8").count("\n") == 3


def test_a_shorter_backup_is_refused(aisi: Institute, tmp_path: Path) -> None:
    """An older backup under a newer checkpoint lacks entries; which, and since when, is told."""
    keep(aisi, tmp_path / "old.db")
    aisi.add_claims(3)
    keep(aisi, tmp_path / "new.db")
    note = read_note(tmp_path / "new.db.checkpoint")

    with pytest.raises(AnswerNoError) as refused:
        restore(tmp_path / "old.db", f"sqlite:///{tmp_path / 'back.db'}", note=note)
    assert refused.value.code == "backup-shorter"
    assert "8 to 10 are missing; the last that is there is of 2026-03-01" in refused.value.faults[0].found
    assert not (tmp_path / "back.db").exists()


def test_a_longer_backup_is_told_from_what_vouches_for_it(aisi: Institute, tmp_path: Path) -> None:
    """Entries after the checkpoint come back; that nothing vouches for them can be seen."""
    keep(aisi, tmp_path / "old.db")
    aisi.add_claims(3)
    keep(aisi, tmp_path / "new.db")

    done = restore(tmp_path / "new.db", f"sqlite:///{tmp_path / 'back.db'}", note=read_note(tmp_path / "old.db.checkpoint"))

    assert done.checkpoint is not None
    assert (done.entries, done.checkpoint.size) == (10, 7)


def test_an_entry_changed_by_hand_is_named(aisi: Institute, tmp_path: Path) -> None:
    """A text that does not fit its leaf is refused by the number of its entry, and nothing is restored."""
    keep(aisi, tmp_path / "b.db")
    alter(
        tmp_path / "b.db",
        "DROP TRIGGER body__update",
        "UPDATE body SET json = replace(json, 'no. 0', 'no. 9') WHERE seq = 6",
    )

    with pytest.raises(AnswerNoError) as refused:
        bring_back(tmp_path / "b.db", f"sqlite:///{tmp_path / 'back.db'}")
    assert "entry 6" in {fault.where for fault in refused.value.faults}
    assert not (tmp_path / "back.db").exists()


def test_a_history_rewritten_with_its_leaves_is_refused_and_says_since_when(
    aisi: Institute, institutes: Callable[..., Institute], tmp_path: Path
) -> None:
    """Somebody made leaves and rows fit; the checkpoint does not, and the last one that does says where it begins."""
    other = institutes("AISI", 1, "other")
    other.add_quoted()
    other.add_claims(2, quote="It never schemes.")
    for one in (aisi, other):
        one.seal(5)
    keep(aisi, tmp_path / "b.db")
    keep(other, tmp_path / "rewritten.db")

    with pytest.raises(AnswerNoError) as refused:
        restore(tmp_path / "rewritten.db", f"sqlite:///{tmp_path / 'back.db'}", note=read_note(tmp_path / "b.db.checkpoint"))
    assert refused.value.code == "backup-altered"
    assert "the checkpoint at 5" in refused.value.faults[0].found
    assert "among entries 6 to 7" in refused.value.faults[0].found


def test_a_checkpoint_of_somebody_else_is_refused(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """Another log's checkpoint, another key's, and a broken signature hold nothing."""
    keep(aisi, tmp_path / "b.db")
    keep(lab, tmp_path / "theirs.db")
    url = f"sqlite:///{tmp_path / 'back.db'}"
    note = read_note(tmp_path / "b.db.checkpoint")
    codes = []
    for options in (
        {"note": read_note(tmp_path / "theirs.db.checkpoint")},
        {"note": note, "keys": [lab.vkey]},
        {"note": note[:-10] + ("A" if note[-10] != "A" else "B") + note[-9:]},
        {"note": "hello"},
    ):
        with pytest.raises(CaveatError) as refused:
            bring_back(tmp_path / "b.db", url, **options)
        codes.append(refused.value.code)

    assert codes == ["wrong-log", "wrong-key", "bundle-forged", "bad-note"]


def test_only_an_empty_registry_takes_a_backup(aisi: Institute, lab: Institute, tmp_path: Path, template: Path) -> None:
    """What is recorded is never replaced; an empty registry is filled."""
    keep(aisi, tmp_path / "b.db")
    with pytest.raises(ConflictError, match="not-empty"):
        bring_back(tmp_path / "b.db", lab.ledger.url)
    empty = tmp_path / "empty.db"
    empty.write_bytes(template.read_bytes())

    assert bring_back(tmp_path / "b.db", f"sqlite:///{empty}").entries == 7
    assert check_log(lab.ledger).is_sound


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7", b"SQLite format 3\x00" + bytes(5_000)])
def test_what_is_no_backup_is_refused(content: bytes, tmp_path: Path) -> None:
    """An empty file, another format and a broken database are named, and nothing is made."""
    (tmp_path / "b.db").write_bytes(content)

    with pytest.raises(CaveatError):
        restore(tmp_path / "b.db", f"sqlite:///{tmp_path / 'back.db'}", note=None)
    assert not (tmp_path / "back.db").exists()


def test_a_backup_made_while_two_write_is_a_prefix_of_the_log(new_url: Callable[[], str], tmp_path: Path) -> None:
    """Whenever it is made, it is whole, gapless, and what the log began with."""
    one = found(new_url(), "AISI", seed=1, salt=lambda: os.urandom(16).hex())
    one.add_claims(1)
    two = Institute(ledger=Ledger.open(one.ledger.url, clock=one.ledger._clock, salt=one.ledger._salt), code="AISI", key=one.key)
    stop, failed = Event(), []

    def write(institute: Institute) -> None:
        try:
            while not stop.wait(0.005):  # so that the backup gets a turn
                institute.add_claims(1)
        except Exception as error:  # noqa: BLE001  (told in the main thread)
            failed.append(error)

    writers = [Thread(target=write, args=(institute,)) for institute in (one, two)]
    for writer in writers:
        writer.start()
    backups = [keep(one, tmp_path / f"{number}.db") for number in range(2)]
    stop.set()
    for writer in writers:
        writer.join()
    with one.ledger.view() as view:
        leaves = list(view.leaves())
    for ledger in (one.ledger, two.ledger):
        ledger.close()

    assert failed == []
    assert [backup.entries for backup in backups] == sorted(backup.entries for backup in backups)
    for number, backup in enumerate(backups):
        ((_, kept, _),) = read_all(f"sqlite:///{tmp_path / f'{number}.db'}")
        assert kept == leaves[: backup.entries]
    assert len(leaves) > backups[-1].entries > 2


_BACK_UP = """
import sys
from pathlib import Path
from registry.store.ledger import Ledger
from registry.exchange.registry_backup import back_up
from registry.exchange.registry_backup import restore
work, source, target = sys.argv[1:]
print("ready", flush=True)
if work == "backup":
    back_up(Ledger.open(source, clock=None, salt=None), Path(target), keys=(), actor="AISI")
else:
    restore(Path(source), "sqlite:///" + target, note=None)
"""


@pytest.mark.parametrize("work", ["backup", "restore"])
def test_killing_it_leaves_no_half_file(work: str, aisi: Institute, tmp_path: Path) -> None:
    """After SIGKILL at some moment there is the whole file under its name, or none."""
    aisi.add_claims(300)
    keep(aisi, tmp_path / "source.db")
    source = aisi.ledger.url if work == "backup" else str(tmp_path / "source.db")
    whole = []
    for attempt, wait in zip(count(), (0.01, 0.05, 0.2), strict=False):
        target = tmp_path / f"target{attempt}.db"
        process = subprocess.Popen([sys.executable, "-c", _BACK_UP, work, source, str(target)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        if target.exists():
            ((_, leaves, _),) = read_all(f"sqlite:///{target}")
            whole.append(len(leaves))

    assert set(whole) <= {307}
