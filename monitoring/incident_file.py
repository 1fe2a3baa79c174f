"""Incidents of a monitor as a CSV file: identifiers and dates are read, and of descriptions only a digest with a salt."""

import csv
import hashlib
import re
import secrets
from collections.abc import Mapping
from datetime import date
from io import StringIO
from pathlib import Path

from registry.codec.file_io import read_text
from registry.errors import Fault, InputError
from registry.records.monitor import Monitor, MonitorIncident

COLUMNS = ("id", "framework", "occurred", "reported", "summary", "salt", "verified")
# Without a salt, a short description could be found by hashing candidates; so could one from the digest of the file, which the salts hide.
_SALT = re.compile(r"[0-9a-f]{64}")
_VERIFIED = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def is_incidents(path: Path) -> bool:
    """Return whether *path* is a CSV file with the column `id`, which incidents have and windows do not."""
    return path.suffix.casefold() == ".csv" and "id" in next(csv.reader(read_text(path).splitlines()[:1]), [])


def read_incidents(path: Path, monitor: Monitor) -> list[MonitorIncident]:
    """Return the incidents in *path* as statements about *monitor*.

    Raises:
        InputError: with all faults of the file; none of them has words of a description.
    """
    text = read_text(path)
    rows = csv.DictReader(StringIO(text, newline=""))
    names = tuple(rows.fieldnames or ())
    if unknown := [name for name in names if name not in COLUMNS]:
        raise InputError(Fault("text-in-batch", path.name, f"column {', '.join(map(repr, unknown))} is not part of the format"))
    if lacking := [name for name in COLUMNS if name not in names]:
        raise InputError(Fault("not-valid", path.name, f"it lacks the column {', '.join(lacking)}"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    faults: list[Fault] = []
    incidents: dict[str, MonitorIncident] = {}
    for row in rows:
        where = f"{path.name}, line {rows.line_num}"
        try:
            incident = _read_row(row, monitor, digest, where)
        except InputError as error:
            faults += error.faults
            continue
        if incident.incident in incidents:
            faults.append(Fault("duplicate", where, f"the incident {incident.incident} occurs twice"))
        incidents[incident.incident] = incident
    if not incidents and not faults:
        faults.append(Fault("table-empty", path.name, "it has no incident"))
    if faults:
        raise InputError(faults)
    return list(incidents.values())


def _read_row(row: Mapping[str | None, str | None], monitor: Monitor, source: str, where: str) -> MonitorIncident:
    if None in row or None in row.values():
        raise InputError(Fault("row-broken", where, f"it does not have {len(COLUMNS)} values"))
    cells = {name: (row[name] or "").strip() for name in COLUMNS}
    verified = _VERIFIED.get(cells["verified"].casefold())
    if verified is None:
        raise InputError(Fault("not-valid", f"{where}, verified", "expected yes or no: whether a person checked the incident"))
    if not _SALT.fullmatch(cells["salt"]):
        problem = f"expected 64 random hexadecimal digits in lower case, found {len(cells['salt'])} characters"
        raise InputError(Fault("salt-missing", f"{where}, salt", problem, advice=f"write {secrets.token_hex(32)}, and keep the file"))
    try:
        return MonitorIncident(
            monitor=monitor.monitor,
            claim=monitor.claim,
            incident=cells["id"],
            framework=cells["framework"],
            occurred=date.fromisoformat(cells["occurred"]),
            reported=date.fromisoformat(cells["reported"]),
            summary_sha256=hashlib.sha256(bytes.fromhex(cells["salt"]) + (row["summary"] or "").encode()).hexdigest(),
            verified=verified,
            source=source,
        )
    except ValueError as error:
        raise InputError(Fault("not-valid", where, str(error))) from error
