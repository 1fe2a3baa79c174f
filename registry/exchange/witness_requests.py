"""Asks other witnesses to cosign this log's checkpoint, as C2SP tlog-witness has it."""

from registry.errors import CaveatError, Fault, UnavailableError
from registry.exchange.http_requests import NoAnswerError, check_address, post
from registry.seal.signed_notes import format_consistency, parse_note
from registry.store.log_reader import LogReader
from registry.store.log_seals import StoredCheckpoint, consistency_path

_LONGEST_ANSWER = 65_536
_TRIES = 3
"""A witness that saw another size in between says so, and is asked again."""


def check_witness_address(url: str) -> str:
    """Return the address of a witness without a slash at its end; raises InputError for what is no address."""
    advice = "write the prefix that the witness publishes, such as https://witness.example.org/tlog/…"
    return check_address(url, option="--witness", what="a witness", advice=advice)


def ask_witness(reader: LogReader, checkpoint: StoredCheckpoint, url: str, *, timeout_s: float = 30) -> str:
    """Return the note of *checkpoint* with the lines that the witness at *url* added; they are not checked yet.

    Raises:
        UnavailableError: `witness-refused`: it cannot be reached, or gives another answer than lines.
    """
    size, old = checkpoint.checkpoint.size, 0
    for _ in range(_TRIES):
        body = format_consistency(old, consistency_path(reader, old, size) if 0 < old < size else (), checkpoint.note)
        status, answer = _post(url, body.encode(), timeout_s)
        if status == 200:
            return _add_lines(checkpoint.note, answer, url)
        seen = answer.strip()
        if status != 409 or not (seen.isascii() and seen.isdecimal()) or len(seen) > 18:
            raise _refused(url, f"it answers {status}{_quote(seen)}")
        if int(seen) > size:
            raise _refused(url, f"it saw {seen} entries of this log already, and this checkpoint has {size}")
        old = int(seen)
    raise _refused(url, "it names another size each time")


def _post(url: str, body: bytes, timeout_s: float) -> tuple[int, str]:
    try:
        answer = post(
            f"{url}/add-checkpoint", body, content_type="text/plain; charset=utf-8", most=_LONGEST_ANSWER, timeout_s=timeout_s
        )  # fmt: skip
    except NoAnswerError as error:
        raise _refused(url, str(error)) from error
    return answer.status, answer.content.decode("utf-8", "replace")


def _add_lines(note: str, lines: str, url: str) -> str:
    known = set(note.partition("\n\n")[2].splitlines())
    added = [line for line in lines.splitlines() if line and line not in known]
    try:
        text = note + "".join(f"{line}\n" for line in dict.fromkeys(added))
        parse_note(text, where=url)
    except CaveatError as error:
        raise _refused(url, f"its answer has no signature lines: {error.faults[0].found}") from error
    return text


def _quote(answer: str) -> str:
    """Return the reason that a witness gives; a web page is none, and comes from an address where no witness is."""
    return ": no witness answers at this address" if answer.startswith("<") else f": {answer[:200]}"


def _refused(url: str, found: str) -> UnavailableError:
    return UnavailableError(
        Fault(
            "witness-refused",
            url,
            found,
            advice="give its whole address, which ends in its log's name, and ask its keeper whether it cosigns for this log",
        )
    )
