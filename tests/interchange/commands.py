"""The command, run in this process with its exit code and both streams."""

import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from registry.cli.main import main


@dataclass(frozen=True)
class Outcome:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The answer with --json."""
        return json.loads(self.out)

    @property
    def faults(self) -> list[str]:
        """The codes of the faults with --json."""
        return [fault["code"] for fault in json.loads(self.err)["faults"]]


def run(*arguments: str | Path) -> Outcome:
    """Run `caveat` in this process and folder."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr("sys.argv", ["caveat", *map(str, arguments)])
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
    return Outcome(code=code, out=out.getvalue(), err=err.getvalue())
