"""What `caveat export` answers: the files with their digests, and what the format lost; the list of formats."""

import hashlib
from collections.abc import Iterator, Sequence

from interchange.export.format_catalogue import FORMATS, ExportFormat
from interchange.formats.export_record import PublishedRecord
from registry.present.answers import Answer
from registry.present.blocks import Block, Facts, Remark, Table


def describe_export(format_: ExportFormat, record: PublishedRecord, files: Sequence[tuple[str, bytes]]) -> Answer:
    """Return the answer on an export.

    Args:
        files: path and content of each, as written.
    """
    written = [{"path": path, "sha256": hashlib.sha256(content).hexdigest()} for path, content in files]
    document = {
        "schema": "caveat/export/1", "format": format_.name, "version": format_.version, "files": written, "lost": list(format_.lost),
        "record": record.name, "record_sha256": record.sha256,
    }  # fmt: skip
    return Answer(document, _describe(format_, record, written))


def _describe(format_: ExportFormat, record: PublishedRecord, written: Sequence[dict[str, str]]) -> Iterator[Block]:
    for file in written:
        yield Facts([("wrote", file["path"]), ("sha256", file["sha256"])])
    yield Facts(
        [
            ("format", f"{format_.title}, {format_.version}"),
            ("record", f"{record.file_name}, sha256 {record.sha256}"),
            ("lost", "; ".join(format_.lost)),
        ]
    )


def describe_formats() -> Answer:
    """Return the list of formats."""
    rows = [
        {"name": known.name, "title": known.title, "version": known.version, "validator": known.validator, "needs": known.need.value,
         "cards": known.takes_cards, "lost": list(known.lost)}
        for known in FORMATS.values()
    ]  # fmt: skip
    return Answer({"schema": "caveat/export-formats/1", "formats": rows}, _list(list(FORMATS.values())))


def _list(formats: Sequence[ExportFormat]) -> Iterator[Block]:
    yield Table(("format", "version", "needs", "what it is"), [(row.name, row.version, row.need.value, row.title) for row in formats])
    for row in formats:
        yield Facts([("format", row.name), ("accepted by", row.validator), ("lost", "; ".join(row.lost))])
    yield Remark("An export does not replace the supplement: publish both, and check the supplement with caveat verify.")
