"""Logs of Inspect (`.eval`, `.json`) become rows with their accounts. The one door to `inspect_ai`, which only remote logs need."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from audit.errors import TableError
from audit.sources.accounts import Tally, merge_accounts
from audit.sources.inspect_accounts import Counts, count_declared, find_lacking, list_notes, list_warnings, note_sampling
from audit.sources.inspect_header import Header, Object, as_line, as_list, as_object, parse_header
from audit.sources.inspect_provenance import build_provenance, digest_parts, find_start
from audit.sources.inspect_rows import Frame, build_rows
from audit.sources.inspect_sample import Fields, Sample, build_sample, parse_json
from audit.sources.inspect_score import Numbers, choose_scorer
from audit.sources.inspect_sent import build_sampling
from audit.sources.inspect_zip import LARGEST_MEMBER, Archive
from audit.sources.port import Reading, Row
from audit.sources.raw import FaultList
from registry.errors import Fault, UnavailableError
from registry.records.imported import Imported, ImportedFile

_HEADER, _START, _SUMMARIES = "header.json", "_journal/start.json", "summaries.json"
_SAMPLES = "samples/"
_LARGEST_SUMMARIES = 1 << 24
_ZIP = b"PK"
_REMOTE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Log:
    """One log, taken apart."""

    name: str
    sha256: str
    kind: str
    header: Header
    samples: Sequence[Sample]
    counts: Counts
    superseded: Sequence[str]
    notes: tuple[str, ...] = ()


def read_inspect(paths: Sequence[Path], reading: Reading) -> tuple[list[Row], Imported]:
    """Return a row for each sample and epoch of the logs at *paths*, and the accounts of each log.

    Samples are read one after the other; of each only scores and provenance are kept. A path with a scheme (`s3://…`) is read by
    `inspect_ai`, which must be installed.

    Raises:
        TableError: a log that is damaged, not safe to read, of a later format or not finished, a scorer, entry or field that was not
            chosen or is not there, values that are no numbers: every fault of every log.
        UnavailableError: a remote log, and `inspect_ai` is not installed.
    """
    arms = {str(Path(path)): arm for path, arm in reading.arms.items()}
    rows: list[Row] = []
    parts: list[Imported] = []
    faults = FaultList()
    for path in paths:
        try:
            of_file, part = _read_one(path, reading, arms.get(str(path)))
        except TableError as error:
            for fault in error.faults:
                faults.add(fault)
            continue
        rows += of_file
        parts.append(part)
    if faults.faults:
        raise TableError(faults.all(where=", ".join(str(path) for path in paths[:3])))
    return rows, merge_accounts(parts)


def find_remote(path: Path) -> str | None:
    """Return the address that *path* is, with both slashes that `Path` makes one of; None where it is a path on this computer."""
    found = _REMOTE.fullmatch(str(path))
    return f"{found[1]}://{found[2]}" if found else None


def _read_one(path: Path, reading: Reading, arm: str | None) -> tuple[list[Row], Imported]:
    fields = Fields(
        arm=None if arm else reading.arm_field, context=reading.context_field, task=reading.task_field, family=reading.family_field
    )
    log = _open_log(path, fields, unfinished=reading.unfinished)
    lacking = find_lacking(log.header, log.samples, log.counts, where=log.name)
    if lacking is not None and not reading.unfinished:
        raise TableError(lacking)
    faults, tally = FaultList(), Tally()
    scorer = choose_scorer(log.samples, reading, where=log.name)
    numbers = Numbers(reading=reading, where=f"{log.name}, scorer {scorer}")
    frame = Frame(
        name=log.name, scorer=scorer, arm=arm, arm_field=fields.arm, context=path.stem.strip() or path.name, context_field=fields.context
    )
    rows = build_rows(log.samples, frame, numbers, tally, faults)
    numbers.report(faults)
    if faults.faults:
        raise TableError(faults.all(where=log.name))
    for member in log.superseded:
        tally.add(member, "superseded", is_row=False)
    sampling = build_sampling(sample.asked for sample in log.samples if sample.asked is not None)
    warnings = list_warnings(log.header, log.samples, rows, log.counts, scorer)
    notes = list_notes(log.header, log.samples, log.counts, scorer)
    file = ImportedFile(
        name=log.name,
        sha256=log.sha256,
        format=f"{log.kind}/{log.header.version}",
        arm=arm,
        declared=count_declared(log.header),
        found=tally.found,
        scored=tally.scored,
        left_out=tally.list_left_out(),
        warnings=tuple(map(as_line, warnings)),
        notes=tuple(map(as_line, (*log.notes, *note_sampling(sampling), *notes))),
    )
    provenance = build_provenance(log.header, log.samples, sampling, sha256=log.sha256, scorer=scorer)
    return rows, Imported(files=(file,), provenance=provenance, started_at=find_start(log.header, log.samples))


def _open_log(path: Path, fields: Fields, *, unfinished: bool) -> _Log:
    address = find_remote(path)
    if address is not None:
        return _read_remote(address, fields, unfinished=unfinished)
    name = str(path)
    try:
        with path.open("rb") as file:
            start = file.read(len(_ZIP))
            file.seek(0)
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        found = f"the file cannot be opened: {error.strerror or error}"
        raise TableError(Fault(code="log-not-readable", where=name, found=found)) from error
    if start == _ZIP or path.suffix.casefold() == ".eval":
        return _read_archive(path, fields, sha256, unfinished=unfinished)
    return _read_document(path, fields, sha256, unfinished=unfinished)


def _read_archive(path: Path, fields: Fields, sha256: str, *, unfinished: bool) -> _Log:
    name = str(path)
    with Archive(path, name) as archive:
        names = archive.names
        first = next((member for member in (_HEADER, _START) if member in names), None)
        if first is None:
            found = f"the archive has neither {_HEADER} nor {_START}, as a log of Inspect has"
            raise TableError(Fault(code="log-not-readable", where=name, found=found, advice="give a log of Inspect (.eval or .json)"))
        header = parse_header(parse_json(archive.read(first), f"{name}, member {first}"), name=name)
        _check_finished(header, name, unfinished=unfinished)
        members = [member for member in names if member.startswith(_SAMPLES) and member.endswith(".json")]
        documents = ((member, parse_json(archive.read(member), f"{name}, member {member}")) for member in members)
        samples = _build_samples(documents, header, fields, name)
        superseded = [member for member in archive.superseded if member.startswith(_SAMPLES)]
        summarised = _count_summaries(archive, name)
    counts = Counts(listed=len(members), superseded=len(superseded), summarised=summarised)
    return _Log(name=name, sha256=sha256, kind="inspect-eval", header=header, samples=samples, counts=counts, superseded=superseded)


def _count_summaries(archive: Archive, name: str) -> int | None:
    """Return how many samples the summaries list; None where there are none, or so many that counting them is not worth their memory."""
    size = archive.find_size(_SUMMARIES)
    if size is None or size > _LARGEST_SUMMARIES:
        return None
    wrapped = parse_json(b'{"summaries":' + archive.read(_SUMMARIES) + b"}", f"{name}, member {_SUMMARIES}")
    return len({(str(one.get("id")), one.get("epoch")) for one in map(as_object, as_list(wrapped["summaries"]))})


def _read_document(path: Path, fields: Fields, sha256: str, *, unfinished: bool) -> _Log:
    name = str(path)
    if path.stat().st_size > LARGEST_MEMBER:
        found = f"a JSON log is read as a whole, and this one has more than {LARGEST_MEMBER:,} bytes"
        raise TableError(Fault(code="log-not-safe", where=name, found=found, advice="write it as .eval: inspect log convert --to eval"))
    document = dict(parse_json(path.read_bytes(), name))
    header = parse_header(document, name=name)
    _check_finished(header, name, unfinished=unfinished)
    listed = as_list(document.pop("samples", None))
    samples = _build_samples(_drain(listed), header, fields, name)
    counts = Counts(listed=len(samples), superseded=0, summarised=None)
    return _Log(name=name, sha256=sha256, kind="inspect-json", header=header, samples=samples, counts=counts, superseded=())


def _drain(samples: list[Object]) -> Iterator[tuple[str, Object]]:
    """Give the samples from the first to the last, each let go when the next is taken."""
    samples.reverse()
    place = 0
    while samples:
        yield f"samples[{place}]", as_object(samples.pop())
        place += 1


def _build_samples(documents: Iterator[tuple[str, Object]], header: Header, fields: Fields, name: str) -> list[Sample]:
    """Return the samples in the order of their names, which is that of no archive: rows do not depend on when a sample ended."""
    found, faults = list[Sample](), FaultList()
    places: dict[tuple[str, str], str] = {}
    for place, document in documents:
        try:
            sample = build_sample(document, header, fields, where=f"{name}, {place}")
        except TableError as error:
            faults.add(error.faults[0])
            continue
        if fields.task is None and sample.key in places:
            both = f"{places[sample.key]} and {place} are both sample {sample.task_id}, epoch {sample.epoch}"
            faults.add(Fault(code="row-repeated", where=name, found=both, advice="Inspect writes each sample and epoch once"))
        places[sample.key] = place
        found.append(sample)
    if faults.faults:
        raise TableError(faults.all(where=name))
    if not found:
        raise TableError(Fault(code="table-empty", where=name, found="the log holds no samples", advice="give a log with samples"))
    return sorted(found, key=lambda sample: (sample.task_id, sample.epoch.zfill(6)))


def _check_finished(header: Header, name: str, *, unfinished: bool) -> None:
    if header.status == "success" or unfinished:
        return
    why = f": {as_line(header.error[:200])}" if header.error else ""
    found = f"the log's status is {header.status}{why}; samples may be missing for a reason that has to do with the scores"
    advice = "finish the run (inspect eval-retry), or take what is there with --unfinished"
    raise TableError(Fault(code="log-not-finished", where=name, found=found, advice=advice))


def _read_remote(address: str, fields: Fields, *, unfinished: bool) -> _Log:
    """Read by `inspect_ai` what lies elsewhere; its log goes through the same steps as a file."""
    try:
        from inspect_ai.log import read_eval_log  # noqa: PLC0415  # heavy, optional, and for remote logs alone
    except ImportError as error:
        advice = "pip install 'caveat[inspect]', or fetch the log and give the file"
        found = "a log that is not on this computer is read by inspect_ai, which is not installed"
        raise UnavailableError(Fault(code="reader-missing", where=address, found=found, advice=advice)) from error
    try:
        log = read_eval_log(address)
    except Exception as error:
        # Whatever a remote file system raises: there are as many kinds as there are file systems.
        found = f"inspect_ai cannot read it: {type(error).__name__}: {str(error)[:300]}"
        raise TableError(Fault(code="log-not-readable", where=address, found=found, advice="fetch the log and give the file")) from error
    whole = log.model_copy(update={"samples": None, "reductions": None}).model_dump_json()
    header = parse_header(parse_json(whole, address), name=address)
    _check_finished(header, address, unfinished=unfinished)
    texts = [sample.model_dump_json().encode() for sample in log.samples or []]
    documents = ((f"samples[{place}]", parse_json(text, address)) for place, text in enumerate(texts))
    samples = _build_samples(documents, header, fields, address)
    counts = Counts(listed=len(samples), superseded=0, summarised=None)
    return _Log(
        name=address,
        sha256=digest_parts([whole.encode(), *texts]),
        kind="inspect-api",
        header=header,
        samples=samples,
        counts=counts,
        superseded=(),
        notes=("read by inspect_ai: the digest is of the log as it gives it, not of the file",),
    )
