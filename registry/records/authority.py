"""Who speaks: labs, institutes, regulators and auditors, each with a code that is never renamed or reused."""

import re
from dataclasses import dataclass
from enum import StrEnum

from registry.records.record import Record

_CODE = re.compile(r"[A-Z][A-Z0-9]{1,11}")


class Role(StrEnum):
    """What an authority is."""

    LAB = "lab"
    INSTITUTE = "institute"
    REGULATOR = "regulator"
    AUDITOR = "auditor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority(Record):
    """Somebody who registers statements. The code `EXAMPLE` never leaves a registry."""

    code: str
    """Two to twelve capital letters and digits, a letter first."""

    name: str
    role: Role

    def __post_init__(self) -> None:
        if not _CODE.fullmatch(self.code):
            raise ValueError(f"an authority code is 2 to 12 capital letters or digits, a letter first; got {self.code!r}")
