"""An extractor, run in a process of its own.

Extractors are large programs that meet hostile files; each runs in a child with limits on time and memory, so a crash or a
hang is an error about the card and not the end of the command.
"""

import json
import os
import subprocess
import sys
from typing import Any

from registry.errors import Fault, InputError, UnavailableError

_REPAIR = "open it in a reader or browser and print it to a new PDF"


def ask_extractor(extractor: str, limits: dict[str, Any], data: bytes, *, where: str, seconds: int) -> dict[str, Any]:
    """Return what the extractor of `registry.intake.extractors` called *extractor* answers about *data*.

    Raises:
        InputError: card-too-slow, card-damaged, or what the extractor refuses the file for.
        UnavailableError: extractor-missing.
    """
    # -P: not from the current folder, where the user may have a folder `registry` too
    command = [sys.executable, "-P", "-m", "registry.intake.extractors", extractor, json.dumps(limits)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.curdir for path in sys.path), "PYTHONUTF8": "1"}
    try:
        child = subprocess.run(command, input=data, capture_output=True, timeout=seconds, env=environment, check=False)  # noqa: S603 - our own module
    except subprocess.TimeoutExpired as error:
        found = f"{extractor} did not finish within {seconds} s"
        raise InputError(Fault(code="card-too-slow", where=where, found=found, advice=_REPAIR)) from error
    except OSError as error:
        fault = Fault(code="extractor-missing", where=where, found=f"{extractor} could not be started: {error}")
        raise UnavailableError(fault) from error
    if child.returncode != 0:
        raise InputError(Fault(code="card-damaged", where=where, found=f"{extractor} failed on it ({_last_words(child)})", advice=_REPAIR))
    answer: dict[str, Any] = json.loads(child.stdout)
    if "code" in answer:
        raise InputError(Fault(code=answer["code"], where=where, found=answer["found"], advice=answer["advice"]))
    return answer


def _last_words(child: subprocess.CompletedProcess[bytes]) -> str:
    if child.returncode < 0:
        return f"ended by signal {-child.returncode}"
    lines = child.stderr.decode("utf-8", errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else f"exit {child.returncode}"
