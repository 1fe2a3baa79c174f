"""What docs/web.md says of a server is what it does: unit file, proxy, limits and addresses."""

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path

from web.api.operations import list_operations
from web.cli.serve_command import serve
from web.server.connections import LONGEST_REQUEST_S
from web.server.limits import _LONGEST_LINE, CONNECTIONS, LONGEST_HEADERS, READS

PAGE = Path(__file__).parents[2].joinpath("docs", "web.md").read_text(encoding="utf-8")


def find_block(name: str) -> str:
    return PAGE.partition(f"<!-- {name} -->\n```")[2].partition("\n")[2].partition("```")[0]


def test_the_unit_file_is_one_that_systemd_reads(tmp_path: Path) -> None:
    text = find_block("unit")
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(text)

    assert unit.sections() == ["Unit", "Service", "Install"]
    command = unit["Service"]["ExecStart"].split()
    assert command[:3] == ["/usr/bin/env", "caveat", "serve"]
    # Its options are options of the command.
    known = {option for parameter in serve.params for option in parameter.opts}
    assert {part for part in command if part.startswith("--")} <= known
    if (verifier := shutil.which("systemd-analyze")) is not None:
        file = tmp_path / "caveat.service"
        file.write_text(text, encoding="utf-8")
        checked = subprocess.run([verifier, "verify", str(file)], capture_output=True, text=True, check=False)
        assert "Unknown" not in checked.stderr


def test_the_proxy_passes_on_what_the_server_needs() -> None:
    """Host, the address of the reader, and time enough to wait for entries."""
    text = find_block("proxy")
    default = next(parameter.default for parameter in serve.params if parameter.name == "port")

    assert text.count("{") == text.count("}")
    assert all(line.rstrip().endswith((";", "{", "}", "")) for line in text.splitlines())
    assert f"proxy_pass http://127.0.0.1:{default};" in text
    assert "proxy_set_header Host $host;" in text
    assert "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;" in text


def test_the_limits_of_the_page_are_those_of_the_server() -> None:
    part = PAGE.partition("### Limits of the server")[2].partition("###")[0]
    default = next(parameter.default for parameter in serve.params if parameter.name == "reads")

    assert default == READS
    for words in (
        f"{READS} requests a second",
        f"{CONNECTIONS} connections",
        f"{_LONGEST_LINE:,} bytes of path",
        f"{LONGEST_HEADERS:,} bytes of headers",
        f"{LONGEST_REQUEST_S:.0f} seconds for the head",
    ):
        assert words in part


def test_each_address_for_programs_is_one_of_an_operation() -> None:
    part = PAGE.partition("## Read with a program")[2].partition("## Limits of a site")[0]
    named = {re.sub(r"\?.*", "", address) for address in re.findall(r"`(/api/1/[^`]+)`", part)}
    stems = {operation.path.partition("{")[0].rstrip("/") for operation in list_operations()}

    assert len(named) > 10
    for address in named:
        stem = re.sub(r"/[A-Z][^/]*(?:/.*)?$|/\d+$", "", address)
        assert stem in stems, address


def test_the_server_says_which_library_is_missing(folder: Path) -> None:
    """The extra `caveat[web]` has both."""
    without = "import sys; sys.modules['uvicorn'] = None; from caveat_command import main; main()"
    answer = subprocess.run([sys.executable, "-c", without, "serve"], cwd=folder, capture_output=True, text=True, check=False)

    assert answer.returncode not in (0, 1)
    assert "pip install 'caveat[web]'" in answer.stderr
