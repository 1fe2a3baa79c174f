"""Which model is spoken of: one exact version, and its lineage."""

from dataclasses import dataclass

from registry.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRef(Record):
    """The exact model version a claim or a piece of evidence is about."""

    developer: str
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.developer} {self.name} {self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVersion(Record):
    """A model version as registered, with the one it follows."""

    model: ModelRef

    predecessor: ModelRef | None = None
    """The version this one replaces; None for the first."""

    note: str | None = None
