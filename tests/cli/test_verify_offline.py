"""`verify` reads the files that it is given, and nothing else; a configuration of another user is not obeyed by any command."""

import os
import shutil
import socket
import threading
from pathlib import Path

import pytest

from registry.cli.main import cli, find_commands
from registry.configuration import read_config
from registry.errors import InputError
from tests.cli.conftest import HERE, Caveat
from tests.cli.given_out import NAME
from tests.cli.test_verify_published import list_answers, read_vkey

STRANGER = 12_345
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")


@pytest.fixture
def desk(given_out: Path, tmp_path: Path) -> Path:
    """A supplement with its proof, in the folder where `caveat` runs."""
    for suffix in ("", ".tlog-proof"):
        shutil.copy(given_out / "out" / f"{NAME}.json{suffix}", tmp_path)
    return tmp_path


def test_a_configuration_in_the_folder_sends_verify_nowhere(caveat: Caveat, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry.cfg that names a database server gets no connection, and no password, whether a file or the environment names it."""
    calls = 0
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def count() -> None:
            nonlocal calls
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                calls += 1
                connection.close()

        thread = threading.Thread(target=count, daemon=True)
        thread.start()
        url = f"postgresql://caveat@127.0.0.1:{port}/registry"
        (desk / "registry.cfg").write_text(f"[registry]\nurl = {url}\n", encoding="utf-8")
        monkeypatch.setenv("PGPASSWORD", "secret")
        by_file = caveat("verify", f"{NAME}.json", "--json")
        monkeypatch.setenv("CAVEAT_REGISTRY", url)
        by_environment = caveat("verify", f"{NAME}.json", "--json")
        seen = calls
        asked = caveat("verify", f"{NAME}.json", "--registry", url)
        server.shutdown(socket.SHUT_RDWR)
    thread.join(timeout=10)

    assert (by_file.code, by_environment.code, seen) == (3, 3, 0)  # nothing wrong, and no key or registry to compare with
    assert by_file.document["registry"] is None
    assert list_answers(by_file)["registry"] == "not_checked"
    assert (asked.code, calls > 0) == (3, True)  # the server was there to be asked


def test_a_registry_in_the_folder_is_not_read(caveat: Caveat, desk: Path, given_out: Path) -> None:
    """A database that came with the files vouches for nothing, unless it is named."""
    shutil.copy(given_out / "caveat.db", desk)

    alone, named = caveat("verify", f"{NAME}.json", "--json"), caveat("verify", *HERE, f"{NAME}.json", "--json")

    assert (list_answers(alone)["checkpoint"], list_answers(alone)["registry"]) == ("not_checked", "not_checked")
    assert (list_answers(named)["checkpoint"], list_answers(named)["registry"]) == ("yes", "yes")


def test_a_broken_configuration_stops_no_verification(caveat: Caveat, desk: Path, given_out: Path) -> None:
    """What is not read cannot be wrong."""
    (desk / "registry.cfg").write_text("no configuration", encoding="utf-8")

    assert caveat("verify", f"{NAME}.json", "--key", read_vkey(given_out)).code == 0


def test_without_files_a_registry_has_to_be_named(caveat: Caveat, given_out: Path, desk: Path) -> None:
    """Nothing to check is a usage error; the registry in the folder is not meant by silence."""
    shutil.copy(given_out / "caveat.db", desk)

    refused = caveat("verify")

    assert refused.code == 2
    assert "Give FILES to check, or --registry URL" in refused.err


@needs_root
def test_a_configuration_of_another_user_is_refused(tmp_path: Path) -> None:
    """In a shared folder another user could name a server; the message says whose file it is and what to do."""
    path = tmp_path / "registry.cfg"
    path.write_text("[registry]\nauthority = AISI\n", encoding="utf-8")
    assert read_config(tmp_path, {}).authority == "AISI"
    os.chown(path, STRANGER, STRANGER)

    with pytest.raises(InputError, match="belongs to another user") as refused:
        read_config(tmp_path, {})

    assert refused.value.code == "foreign-configuration"
    assert str(STRANGER) in refused.value.faults[0].found


@needs_root
@pytest.mark.parametrize(
    "command", [("init", "--code", "AISI"), ("card", "list"), ("admin", "log", "check"), ("admin", "db", "check"), ("report", "--all")]
)
def test_every_command_refuses_it(caveat: Caveat, tmp_path: Path, command: tuple[str, ...]) -> None:
    """Also for one that names its registry itself: the rest of the file would be obeyed."""
    path = tmp_path / "registry.cfg"
    path.write_text("[registry]\nurl = sqlite:///other.db\n", encoding="utf-8")
    os.chown(path, STRANGER, STRANGER)

    for options in ((), ("--registry", "sqlite:///mine.db")):
        refused = caveat(*command, *options)

        assert (refused.code, refused.error) == (2, "foreign-configuration")
    assert [one.name for one in tmp_path.iterdir()] == ["registry.cfg"]
    assert command[0] in {*find_commands(), *cli.commands}
