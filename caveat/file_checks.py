"""Files that a registry published, checked with keys that the caller trusts: no registry, no network, no NumPy."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from registry.errors import Fault
from registry.verify.file_verification import (
    Demand,
    FileVerification,
    describe_verification,
    find_newer,
    find_verdict,
    read_all,
    verify_files,
)
from registry.verify.proof_checks import Check, CheckAnswer
from registry.verify.verification_keys import collect_means, read_given

_TIME_LIMIT_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What the checks of one file come to."""

    file: str
    kind: str
    """`supplement`, `proof`, `checkpoint`, `consistency`, `bundle`, `registry` or `unreadable`."""
    verdict: str
    """`PASS`, `FAIL` or `INCOMPLETE`; `INCOMPLETE` is no failure, and no proof either."""
    summary: str
    """One or two sentences, as the command prints them."""
    superseded_by: str | None
    """What was recorded since; None where nothing is known."""
    checks: tuple[Check, ...]
    """Each with `name`, `answer` (`yes`, `no`, `not_checked`) and `note`."""
    faults: tuple[Fault, ...]
    """Why nothing could be checked; empty where something was."""

    @property
    def passed(self) -> bool:
        """Whether the verdict is `PASS`."""
        return self.verdict == "PASS"

    def find_check(self, name: str) -> Check | None:
        """Return the check *name*, such as `published`; None where a file of this kind has none."""
        return next((check for check in self.checks if check.name == name), None)

    def list_open(self) -> tuple[str, ...]:
        """Return the names of the checks that could not be made here."""
        return tuple(check.name.value for check in self.checks if check.answer is CheckAnswer.NOT_CHECKED)


def verify(
    path: str | Path,
    *,
    keys: str | Path | Iterable[str | Path] = (),
    proof: str | Path | None = None,
    origin: str | None = None,
    rerender: bool = False,
) -> Verification:
    """Return what the checks of one file come to: a supplement (PDF, HTML, JSON), a proof, a checkpoint or a bundle.

    Several files can contradict each other; `caveat verify FILE FILE…` compares them.

    Args:
        path: the file.
        keys: verifier keys as text, or files of verifier keys or certificates. Without a key that you trust, nothing shows who made a file.
        proof: the proof of the file; None for the one inside it or next to it.
        origin: the log that checkpoints must be of; None for any.
        rerender: render a proven file again as well, and compare. Takes seconds, and NumPy if the file is a PDF.

    Raises:
        InputError: a key, a proof or the file cannot be read.
    """
    key_sources = [keys] if isinstance(keys, (str, Path)) else list(keys)
    # No registry and no configuration: what is in the current folder may be of any origin.
    means = collect_means(None, read_given([str(key) for key in key_sources]), origin=origin)
    files = read_all([Path(path)], None if proof is None else Path(proof))
    (result,) = verify_files(files, means, rerender=rerender, time_limit_s=_TIME_LIMIT_S, workers=os.cpu_count() or 1)
    return _build_verification(result, Demand(has_keys=bool(key_sources)))


def _build_verification(result: FileVerification, demand: Demand) -> Verification:
    return Verification(
        file=result.name,
        kind=result.kind.value,
        verdict=find_verdict(result, demand).value,
        summary=describe_verification(result, demand),
        superseded_by=find_newer(result.checks),
        checks=result.checks,
        faults=result.faults,
    )
