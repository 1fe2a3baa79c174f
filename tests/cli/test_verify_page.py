"""The page that checks supplements in a browser: what it confirms, refuses and leaves open, in a real browser and without a network."""

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from registry.verify.verification_page import read_page
from tests.browser import open_browser
from tests.cli.conftest import Caveat
from tests.cli.given_out import NAME
from tests.cli.test_verify_published import read_vkey

# Files come as base64; the answer of each check comes back, or what the page says it found.
CHECK = """
async ([files, keys]) => {
  const read = ([name, data]) => new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name);
  try { return (await check(files.map(read), keys)).map(([answer, name]) => [name, answer]); }
  catch (error) { return [["file", error.message]]; }
}
"""
# One bit of every *step*th byte is flipped; the places where every check still says yes come back.
FLIP = """
async ([name, data, others, keys, step]) => {
  const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0)), missed = [];
  const read = ([name, data]) => new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name);
  const beside = others.map(read);
  for (let at = 0; at < bytes.length; at += step) {
    bytes[at] ^= 1 << (at % 8);
    let answers = [["no"]];
    try { answers = await check([new File([bytes], name), ...beside], keys); } catch (error) {}
    if (answers.every(([answer]) => answer === "yes")) missed.push(at);
    bytes[at] ^= 1 << (at % 8);
  }
  return missed;
}
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The page, opened from the disk in one Chromium; nothing may go over the network or to the console."""
    path = tmp_path_factory.mktemp("page") / "verify.html"
    path.write_bytes(read_page().content)
    with open_browser() as launched:
        opened, said = launched.new_context().new_page(), []
        opened.on("console", lambda message: said.append(message.text))
        opened.on("pageerror", lambda error: said.append(str(error)))
        opened.on("request", lambda request: said.append(request.url) if not request.url.startswith("file:") else None)
        opened.goto(path.as_uri())
        yield opened
        assert said == []


@pytest.fixture
def out(given_out: Path) -> Path:
    return given_out / "out"


def _encode(*paths: Path) -> list[list[str]]:
    return [[path.name, base64.b64encode(path.read_bytes()).decode()] for path in paths]


def _list(out: Path, form: str) -> tuple[Path, ...]:
    file = out / f"{NAME}.{form}"
    return (file, file.with_name(f"{file.name}.tlog-proof")) if form == "json" else (file,)


def test_the_command_writes_the_page_and_names_its_digest(caveat: Caveat, tmp_path: Path) -> None:
    """The bytes of every installation are the same; FILES beside the option are a mistake."""
    written = caveat("verify", "--page", "verify.html", "--json")
    content = Path("verify.html").read_bytes()

    assert content == read_page().content
    assert written.document["sha256"] == hashlib.sha256(content).hexdigest()
    assert len(content) <= 12_000
    assert caveat("verify", "verify.html", "--page", "other.html").code == 2


def test_its_policy_allows_its_own_script_and_style_and_nothing_else() -> None:
    """By their digests, also where a saved copy is opened."""
    text = read_page().content.decode()
    script, style = (re.findall(f"<{name}>(.*?)</{name}>", text, re.DOTALL) for name in ("script", "style"))
    digests = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (*script, *style)]

    assert len(digests) == 2
    policy = f"default-src 'none'; script-src 'sha256-{digests[0]}'; style-src 'sha256-{digests[1]}'; base-uri 'none'; form-action 'none'"
    assert f'content="{policy}"' in text


@pytest.mark.parametrize(
    ("form", "left_open"), [("html", {}), ("json", {}), ("pdf", {"added bytes": "not checked"})], ids=["html", "json", "pdf"]
)
def test_a_published_file_is_confirmed_by_the_key_of_its_log(
    page: Any, out: Path, given_out: Path, form: str, left_open: dict[str, str]
) -> None:
    """Bytes, place in the log and the signature of the checkpoint; of a PDF, what follows the published bytes stays open."""
    answers = page.evaluate(CHECK, [_encode(*_list(out, form)), [read_vkey(given_out)]])

    assert dict(answers) == {"published": "yes", "inclusion": "yes", "checkpoint": "yes", **left_open}


def test_without_a_key_the_checkpoint_stays_open(page: Any, out: Path) -> None:
    """Nobody's word counts that the reader did not give."""
    answers = page.evaluate(CHECK, [_encode(*_list(out, "html")), []])

    assert dict(answers) == {"published": "yes", "inclusion": "yes", "checkpoint": "not checked"}


def test_a_key_with_one_changed_character_is_refused(page: Any, out: Path, given_out: Path) -> None:
    """Its identifier is the digest of its name and bytes."""
    vkey = read_vkey(given_out)
    for at in range(0, len(vkey), 5):
        changed = vkey[:at] + ("B" if vkey[at] != "B" else "C") + vkey[at + 1 :]
        answers = page.evaluate(CHECK, [_encode(*_list(out, "html")), [changed]])

        assert answers[0][0] == "file"


@pytest.mark.parametrize(("name", "step"), [("html", 211), ("json", 53), ("json.tlog-proof", 1)])
def test_no_flipped_bit_passes(page: Any, out: Path, given_out: Path, name: str, step: int) -> None:
    """Of the file and of the proof: index, path, statement, checkpoint, signature. The extra line holds more, which is not read here."""
    changed = out / f"{NAME}.{name}"
    others = [path for path in _list(out, name.partition(".")[0]) if path != changed]
    missed = page.evaluate(FLIP, [changed.name, _encode(changed)[0][1], _encode(*others), [read_vkey(given_out)], step])

    content = changed.read_bytes()
    start = content.rfind(b"\nextra ")
    extra = range(start, content.find(b"\n", start + 1)) if start >= 0 else range(0)
    assert [at for at in missed if at not in extra] == []


def test_the_page_shows_the_answer_and_an_accessibility_checker_finds_no_violation(page: Any, out: Path, given_out: Path) -> None:
    """As a reader uses it: choose a file, paste the key file, press the button; at the width of a phone too."""
    from axe_playwright_python.sync_playwright import Axe

    page.set_input_files("#files", [str(path) for path in _list(out, "html")])
    page.fill("#keys", f"# the institute's key\n{read_vkey(given_out)}\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")
    page.click("button")
    page.wait_for_selector("#result h2")
    assert page.inner_text("#result h2").startswith("PASS")
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    # The checker is a script that the page's policy forbids, so it runs on a copy of what is shown.
    content = page.content().replace("http-equiv", "data-removed")
    copy = page.context.new_page()
    copy.set_content(content)
    violations = Axe().run(copy).response["violations"]
    copy.close()
    assert [(violation["id"], [node["html"][:120] for node in violation["nodes"][:3]]) for violation in violations] == []
