"""From identifiers to published files: supplements assembled, rendered, written, signed and proved."""

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from registry.codec.file_io import name_part, put_in_place, replace_files, sync, sync_folders, write_part
from registry.codec.statement_encoding import (
    Consistency,
    PublicationExtra,
    SignerProof,
    encode_nodes,
    encode_published,
    list_entries,
    list_recorded,
)
from registry.errors import AlteredError, CaveatError, ConflictError, Fault, InputError, NotFoundError
from registry.folder.supplement_changes import Supersession
from registry.intake.outline.card_passages import build_passage_reader, build_row_reader, may_be_row
from registry.records.dossier import Dossier, Recorded
from registry.records.record import Identifier, Kind
from registry.records.statement import OutputFormat, Publication
from registry.records.supplement import AnySupplement, CardSupplement, ChangeReport, Coverage, Supplement
from registry.records.system_card import Card, CardText
from registry.registration.card_registration import get_card_text
from registry.registration.key_registration import get_log_keys, list_keys, seal_log
from registry.report.card_coverage import PassageHistory, ReadWords, build_coverage
from registry.report.html_rendering import digest_record, template_digest
from registry.report.published_file import drop_neighbours, enclose_proof, is_finished, sign_pdf, split_file
from registry.report.render_workers import RenderedFile, RenderJob, RenderJobs, render_many
from registry.report.status_account import name_causes
from registry.report.supplement_assembly import assemble_card, assemble_claim
from registry.report.supplement_reading import parse_subject, read_supplement
from registry.seal.signed_notes import format_proof
from registry.seal.signing_keys import KeyRing
from registry.store.log_integrity import RowCheck
from registry.store.log_seals import StoredCheckpoint, consistency_path, find_root, inclusion_path, prove
from registry.store.log_writer import Writer
from registry.store.registry_view import View

if TYPE_CHECKING:
    from registry.seal.signing_keys import SigningKey
    from registry.store.ledger import Ledger

# From identifiers to rendered files.

LARGEST_FILE_BYTES = 200_000_000
"""A file larger than this is not read as a supplement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementSubject:
    """What a supplement is about, and the supplement."""

    name: str
    """`CLM-…@n`, `CRD-…@n`, or `changes-…` of a change report; also the name of its files."""
    supplement: AnySupplement
    is_of_entry: bool = False
    """Whether it was asked for as of an entry, so that its files are named by that."""

    @property
    def is_confidential(self) -> bool:
        """Whether it shows what is sealed; its files are then named so."""
        return isinstance(self.supplement, Supplement) and bool(self.supplement.openings)

    @property
    def stem(self) -> str:
        """What its files are called before the last dot: `NAME`, and as of an earlier entry `NAME.entry-N`, with a form `NAME.FORM`."""
        superseded = None if isinstance(self.supplement, ChangeReport) else self.supplement.superseded
        # Only the newest rendering has the plain name; links lead to it.
        left = self.is_of_entry or (superseded is not None and superseded.log_size != self.supplement.log_size)
        forms = self.supplement.forms if isinstance(self.supplement, Supplement) else ()
        entry = [f"entry-{self.supplement.log_size}"] if left else []
        return ".".join((self.name, *entry, *(["confidential"] if self.is_confidential else []), *forms))


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementFacts:
    """What of a supplement is said again when its files are published; the supplement itself need not be kept for that."""

    name: str
    """`CLM-…@n` or `CRD-…@n`."""
    record: str
    """Record digest, hexadecimal."""
    log_size: int
    audit: str | None
    """`AUD-…` that leads; None for a card, and for a claim that has not been audited."""
    is_recordable: bool = True
    """Whether the log can say that it was published: a publication names a claim or a card, and a change report is about neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """Outcome of one file."""

    name: str
    """`CLM-…@n` or `CRD-…@n`."""
    format: OutputFormat
    path: Path
    sha256: str | None
    """Of the rendered bytes, hexadecimal, without proof and signature; None when it could not be rendered, and `error` says why."""
    error: CaveatError | None
    facts: SupplementFacts | None
    """Of what was rendered; None when it could not be."""
    size_bytes: int = 0
    """How many bytes were rendered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedSupplement:
    """Outcome of one supplement, in all formats that were asked for."""

    place: int
    """Its number among the supplements, from 0."""
    subject: SupplementSubject
    made: tuple[RenderedFile, ...]
    """In the order of the formats."""


class SupplementCollector:
    """Supplements of one reading of a registry, as it stands in its view.

    The date that is printed is that of the last log entry which is seen: the same records give the same bytes at any time.

    What is printed is decoded, and what is current, contested or stale is read off rows: so they are compared with their statements.
    """

    def __init__(
        self,
        view: View,
        *,
        now: View | None = None,
        subjects: Collection[str] | None = None,
        is_proven: bool = True,
        skips_erased: bool = False,
        searches_texts: bool = True,
    ) -> None:
        """Read *view*; by *now*, the same log with later entries, it is told what superseded a supplement; *subjects* as `Supersession`.

        Without *is_proven*, supplements have no proof that their entries are in the log. With *skips_erased*, objections with an
        erased text are left out instead of refusing the supplement: whoever shows it names them. Without *searches_texts*, the rows
        of their own entries are compared, and rows that were taken out are not looked for: that takes one pass over all texts.
        """
        self._view = view
        self._skips_erased = skips_erased
        self._is_proven = is_proven
        self._searches_texts = searches_texts
        self._moment = _find_last_moment(view)
        # A supplement may use rows, but the rows of its entries, and of every entry that names its
        # subject, are compared with their statements first (decision of 2026-11-22). Lineage and
        # methods are always compared. The cost: one pass over the texts for each report.
        self._rows = RowCheck(view)
        self._later = Supersession(view, view if now is None else now, subjects)
        self._gathered: dict[str, Dossier] = {}

    def gather(self, subjects: Iterable[Identifier]) -> None:
        """Read together what `collect` will be asked for next, a few dozen: one query asks for all of them what it would for each.

        What cannot be read so, because a statement was erased or a row altered, is left to `collect`, which reports it.
        """
        wanted = {identifier.bare: identifier for identifier in subjects if identifier.kind is Kind.CLAIM}
        # A claim that is not registered is left out here; `collect` names it with what is near.
        dossiers = {
            dossier.claim: dossier
            for dossier in _read_dossiers(
                self._view, [name for name in wanted if self._view.claim_exists(name)], skips_erased=self._skips_erased
            )
        }
        named = ((wanted[name], dossier) for name, dossier in dossiers.items() if dossier.revisions)
        # An older revision, or one asked for by its digest, is read by itself.
        self._gathered = {
            str(subject): dossier for subject, dossier in named if subject.revision in (None, len(dossier.revisions)) and not subject.digest
        }
        entries = {seq for dossier in self._gathered.values() for seq in list_entries(dossier)}
        # `collect` meets the same error and reports it with the subject's name.
        with suppress(AlteredError, InputError):
            self._rows.check(entries, {dossier.claim for dossier in self._gathered.values()} if self._searches_texts else ())

    def collect(self, subject: Identifier) -> SupplementSubject:
        """Return the supplement of the claim or card *subject*.

        Raises:
            NotFoundError: not registered, with what is near; only reserved; or a statement was erased (`body-erased`).
            AlteredError: a row was edited by hand.
        """
        # Causes are named before the proof is made, so that their entries are proven, too.
        assembled = name_causes(self._assemble(subject), self._view.find_entry)
        # The status follows from outcomes of the whole family, so the rows of all of its claims are
        # compared.
        self._rows.check(list_entries(assembled), {subject.bare, *_list_kin(assembled)} if self._searches_texts else ())
        if not self._is_proven:
            return name_subject(self._add_superseded(assembled))
        # The statements that the record quotes are opened, so that their leaves can be computed from
        # it.
        opened = [recorded.entry.seq for recorded in list_recorded(assembled)]
        proven = replace(assembled, inclusion=prove(self._view, list_entries(assembled), openings=opened))
        return name_subject(self._add_superseded(proven))

    def _add_superseded(self, supplement: Supplement | CardSupplement) -> Supplement | CardSupplement:
        return replace(supplement, superseded=self._later.find(supplement.identifier.partition("#")[0]))

    def _assemble(self, subject: Identifier) -> Supplement | CardSupplement:
        if subject.kind is Kind.CARD:
            return _assemble_card(self._view, subject, self._moment, skips_erased=self._skips_erased)
        # Taken out, so that the memory is freed.
        gathered = self._gathered.pop(str(subject), None)
        dossier = gathered or self._view.dossier(str(subject), skips_erased=self._skips_erased)
        return _assemble_claim(self._view, dossier, subject, self._moment)


def collect_supplements(view: View, subjects: Iterable[Identifier]) -> Iterator[SupplementSubject]:
    """Give the supplement of each claim or card in *subjects*; raises as `Collector.collect`."""
    collector = SupplementCollector(view)
    for subject in subjects:
        yield collector.collect(subject)


def read_supplements(paths: Sequence[Path]) -> list[SupplementSubject]:
    """Return the supplements that files (PDF, HTML, JSON) carry; raises InputError with every file that carries none."""
    subjects: list[SupplementSubject] = []
    faults: list[Fault] = []
    for path in paths:
        try:
            subjects.append(name_subject(read_file(path)))
        except CaveatError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return subjects


def read_file(path: Path) -> AnySupplement:
    """Return the supplement that the file at *path* carries; raises InputError as `registry.report.supplement_reading`, also when it is
    too large.
    """
    supplement = read_supplement(read_bytes(path), where=str(path))
    parse_subject(supplement, where=str(path))
    return supplement


def read_bytes(path: Path) -> bytes:
    """Return the bytes of *path*; raises InputError when there are more than any supplement has."""
    # One byte more than allowed shows that there are more.
    with path.open("rb") as stream:
        data = stream.read(LARGEST_FILE_BYTES + 1)
    if len(data) > LARGEST_FILE_BYTES:
        raise InputError(Fault("file-too-large", str(path), f"it has more than {LARGEST_FILE_BYTES:,} bytes, which no supplement has"))
    return data


def list_claims_of(view: View, card: Identifier) -> Sequence[str]:
    """Return the claims of which any revision quotes *card*, in any of its revisions, `CLM-…`, in the order of their registration."""
    return view.list_quoting(card.bare)


def collect_coverage(view: View, card: Identifier) -> tuple[Recorded[Card], Coverage, tuple[str, ...]]:
    """Return the card revision that *card* names (the latest without `@n`), how far its claims are known, and which are not in it.

    The last are claims that are not counted, because the text of a statement that they rest on was erased.

    Raises:
        NotFoundError: not registered, with what is near.
    """
    recorded, dossiers = _read_card(view, card)
    text = _find_text(view, recorded.payload)
    coverage = _build_coverage(view, recorded, dossiers, text=text, read=build_passage_reader(text) if text else None)
    return recorded, coverage, _list_uncounted(view, card, dossiers)


def render_supplements(
    subjects: Iterable[SupplementSubject],
    formats: Callable[[SupplementSubject], Sequence[OutputFormat]],
    *,
    neighbours: Callable[[SupplementSubject], Collection[OutputFormat]] | None = None,
    time_limit_s: float,
    workers: int,
    render: RenderJobs | None = None,
) -> Iterator[RenderedSupplement]:
    """Draw each of *subjects* on *workers* processes, or by *render*, and yield each when all its formats are done.

    In memory are a few at a time.

    Args:
        subjects: taken one by one, as the drawing gets on.
        formats: what of a supplement is rendered, at least one.
        neighbours: all formats that it has in its folder, which its HTML links to; None for those that are rendered.
        time_limit_s: for each file.
        workers: how many processes draw at once.
        render: draws in their place, elsewhere.
    """
    open_: dict[str, tuple[SupplementSubject, Sequence[OutputFormat], dict[OutputFormat, RenderedFile]]] = {}

    def list_jobs() -> Iterator[RenderJob]:
        for place, subject in enumerate(subjects):
            wanted = formats(subject)
            # A file rendered again because it was gone links to the formats that are still there.
            linked = wanted if neighbours is None else neighbours(subject)
            open_[str(place)] = (subject, wanted, {})
            for output_format in wanted:
                # The worker is started for the PDF anyway, so the HTML is rendered there, too.
                yield RenderJob(
                    key=str(place),
                    supplement=subject.supplement,
                    format=output_format,
                    neighbours=tuple(other for other in OutputFormat if other in linked and other is not OutputFormat.HTML),
                    is_apart=OutputFormat.PDF in wanted,
                )

    jobs = list_jobs()
    # A sequence is in memory already; all its jobs can wait.
    wanted_jobs = list(jobs) if isinstance(subjects, Sequence) else jobs
    for made in render(wanted_jobs) if render else render_many(wanted_jobs, workers=workers, time_limit_s=time_limit_s):
        subject, wanted, done = open_[made.key]
        done[made.format] = made
        # A supplement is handed on when all its formats are done, since they are put in place
        # together.
        if len(done) == len(wanted):
            del open_[made.key]
            yield RenderedSupplement(place=int(made.key), subject=subject, made=tuple(done[output_format] for output_format in wanted))


def write_supplements(
    subjects: Iterable[SupplementSubject],
    formats: Sequence[OutputFormat],
    folder: Path,
    *,
    time_limit_s: float,
    workers: int,
    progress: Callable[[int], None],
) -> list[WrittenFile]:
    """Draw every subject in every format on *workers* processes and write the files into *folder*, in their order.

    These are files asked for one by one: of an earlier entry, of another file, confidential ones, change reports. None takes the place of
    a file that is there: the same drawing, published or signed or not, stays as it is; anything else is refused, and nothing is written.
    What cannot be rendered is reported in its `Written.error` and stops nothing else.

    Raises:
        ConflictError: `file-in-the-way`, every file that another one of its name is in the way of.
    """
    written: dict[int, list[WrittenFile]] = {}
    new: list[Path] = []
    faults: list[Fault] = []
    try:
        for supplement in render_supplements(subjects, lambda _subject: formats, time_limit_s=time_limit_s, workers=workers):
            folder.mkdir(parents=True, exist_ok=True)  # not before: a registry that is refused leaves no folder behind
            facts = collect_facts(supplement.subject) if any(made.data is not None for made in supplement.made) else None
            written[supplement.place] = [
                _stage(made, supplement.subject, facts, folder, new=new, faults=faults) for made in supplement.made
            ]
            progress(len(supplement.made))
        # Every file in the way is named at once, and none is written.
        if faults:
            raise ConflictError(faults)
        put_in_place(new)
    finally:
        # Also after an error or Ctrl-C: no part is left behind.
        for path in new:
            name_part(path).unlink(missing_ok=True)
    return [file for place in sorted(written) for file in written[place]]


def collect_facts(subject: SupplementSubject) -> SupplementFacts:
    """Return what of *subject* is said again when its files are published."""
    supplement = subject.supplement
    audit = supplement.audit.opening.payload.audit if isinstance(supplement, Supplement) and supplement.audit else None
    # A publication names a claim or a card, and a change report is about neither.
    is_recordable = not isinstance(supplement, ChangeReport)
    return SupplementFacts(
        name=subject.name, record=digest_record(supplement), log_size=supplement.log_size, audit=audit, is_recordable=is_recordable
    )


def sign_written(written_files: Iterable[WrittenFile], key: "SigningKey", *, at: datetime) -> None:
    """Sign every PDF that was written and has no proof and no signature yet: all of them, or none.

    Args:
        key: a document key.
        at: when it is signed.
    """
    pdfs = (
        written_file.path for written_file in written_files if written_file.format is OutputFormat.PDF and written_file.sha256 is not None
    )
    read = ((path, path.read_bytes()) for path in pdfs)
    # A file with a proof takes no signature: the proof lies inside what is signed.
    replace_files((path, sign_pdf(data, key, at=at)) for path, data in read if not is_finished(data, OutputFormat.PDF))


def build_publication(written_file: WrittenFile) -> Publication:
    """Return the statement that a file was published; raises ValueError for one that was not written, or is a change report's."""
    if written_file.sha256 is None or written_file.facts is None:
        raise ValueError("a file that was not written cannot be published")
    if not written_file.facts.is_recordable:
        raise ValueError(f"a publication names a claim or a card, and {written_file.name} is about neither")
    facts = written_file.facts
    return Publication(
        subject=facts.name,
        format=written_file.format,
        sha256=written_file.sha256,
        record=facts.record,
        log_size=facts.log_size,
        template=template_digest(),
        audit=facts.audit,
        size_bytes=written_file.size_bytes,
    )


def _list_kin(supplement: Supplement | CardSupplement) -> set[str]:
    """Return the other claims, `CLM-…`, that the status of what is told follows from: an outcome of theirs must not have gone."""
    if isinstance(supplement, CardSupplement):
        return set()
    # Outcomes in other logs have no rows of their own here.
    outcomes = [family_outcome for family_outcome in (*supplement.family.outcomes, *supplement.family.others) if family_outcome.log is None]
    return {name.partition("@")[0] for name in (*supplement.family.members, *(outcome.claim for outcome in outcomes))}


def name_subject(supplement: AnySupplement) -> SupplementSubject:
    """Return *supplement* with the name of its files."""
    return SupplementSubject(name=supplement.identifier.partition("#")[0], supplement=supplement)


def _stage(
    made: RenderedFile, subject: SupplementSubject, facts: SupplementFacts | None, folder: Path, *, new: list[Path], faults: list[Fault]
) -> WrittenFile:
    """Write a file beside its place, unless the same drawing is there already; what stands in its way is added to *faults*."""
    path = folder / f"{subject.stem}.{made.format.value}"
    written_file = WrittenFile(name=subject.name, format=made.format, path=path, sha256=None, error=made.error, facts=None)
    if made.data is None:
        return written_file
    # Also a broken link stands in the way.
    if not os.path.lexists(path):
        new.append(path)
        write_part(path, made.data)
        return replace(written_file, sha256=hashlib.sha256(made.data).hexdigest(), facts=facts, size_bytes=len(made.data))
    # The same rendering may have gained a proof or a signature; it stays.
    if not holds_drawing(path, made.format, made.data):
        faults.append(refuse_place(path))
        return written_file
    rendered = split_file(path.read_bytes(), made.format).rendered
    return replace(written_file, sha256=hashlib.sha256(rendered).hexdigest(), facts=facts, size_bytes=len(rendered))


def holds_drawing(path: Path, format_: OutputFormat, content: bytes) -> bool:
    """Whether the file at *path* is *content*, with or without proof and signature."""
    if not path.is_file():
        return False
    rendered = split_file(path.read_bytes(), format_).rendered
    # A page rendered alone links to no PDF; one rendered later with a PDF does, and shows the same.
    return rendered == content or (format_ is OutputFormat.HTML and drop_neighbours(rendered) == drop_neighbours(content))


def refuse_place(path: Path) -> Fault:
    """Return the fault that another file than Caveat would write is at *path*."""
    problem = (
        "another file of this name is there, which Caveat did not write in this folder, or which was changed since; nothing was written"
    )
    return Fault("file-in-the-way", str(path), problem)


def _assemble_claim(view: View, dossier: Dossier, subject: Identifier, moment: datetime) -> Supplement:
    if not dossier.revisions:
        raise NotFoundError(Fault("identifier-reserved", subject.bare, "is reserved and has no text yet, so there is nothing to print"))
    # The text of the card is needed only for a row of a table, whose cells are to be kept apart.
    card = dossier.card.payload if dossier.card and may_be_row(dossier.current.payload.quote) else None
    text = _find_text(view, card) if card else None
    return assemble_claim(dossier, made_at=moment, read=build_row_reader(text) if text else None)


def _assemble_card(view: View, subject: Identifier, moment: datetime, *, skips_erased: bool) -> CardSupplement:
    card, dossiers = _read_card(view, subject, skips_erased=skips_erased)
    text = _find_text(view, card.payload)
    read = None if text is None else build_passage_reader(text)
    coverage = _build_coverage(view, card, dossiers, text=text, read=read)
    made = assemble_card(dossiers, card, coverage=coverage, read=read, log_origin=view.log_origin, log_size=view.log_size, made_at=moment)
    return replace(made, erased=_list_uncounted(view, subject, dossiers))


def _list_uncounted(view: View, card: Identifier, dossiers: Iterable[Dossier]) -> tuple[str, ...]:
    claims = {dossier.claim for dossier in dossiers}
    return tuple(sorted(claim for claim in list_claims_of(view, card) if claim not in claims))


def _read_card(view: View, subject: Identifier, *, skips_erased: bool = False) -> tuple[Recorded[Card], list[Dossier]]:
    card: Recorded[Card] | None = view.find_card(subject.bare, subject.revision)
    if card is None:
        near = view.suggest(subject.bare) or "caveat card list shows them all"
        raise NotFoundError(Fault("not-registered", str(subject), "no such card is registered", advice=near))
    return card, list(_read_dossiers(view, list_claims_of(view, subject), skips_erased=skips_erased))


def _read_dossiers(view: View, claims: Sequence[str], *, skips_erased: bool = False) -> Iterator[Dossier]:
    """Yield what is known of each of *claims*, but for those of which a statement was erased: halves are asked until they are found."""
    try:
        # The error does not say which claim it is about, so the list is halved until it stands
        # alone.
        yield from list(view.dossiers(claims, skips_erased=skips_erased))
    except NotFoundError as error:
        if error.code != "body-erased":
            raise
        middle = len(claims) // 2
        if middle:
            yield from _read_dossiers(view, claims[:middle], skips_erased=skips_erased)
            yield from _read_dossiers(view, claims[middle:], skips_erased=skips_erased)


def _find_text(view: View, card: Card) -> CardText | None:
    """Return the text of *card*; None where it was erased."""
    # Without its text a card still has claims; they are shown without passages.
    return get_card_text(view, card) if view.has_content(card.text) else None


def _build_coverage(
    view: View, card: Recorded[Card], dossiers: Sequence[Dossier], *, text: CardText | None, read: ReadWords | None
) -> Coverage:
    name = card.payload.card
    passage_history = PassageHistory(surveys=view.list_surveys(name), omissions=view.list_omissions(name), erased=view.list_erased_of(name))
    return build_coverage(card, dossiers, passage_history, text=text.text if text else None, read=read)


def _find_last_moment(view: View) -> datetime:
    last = view.find_entry(view.log_size)
    if last is None:
        raise NotFoundError(Fault("empty-registry", "registry", "nothing is recorded yet"))
    # The date of the last entry, not of today: the same records give the same bytes.
    return last.at


# Publication.
#
# Each publication names digest and length of the rendered file and the digest of its record, so one
# entry binds both. The record prints root and size of the log that it was made from, and a log
# cannot hold what prints its own root. So the publication comes later, and its proof shows that the
# printed log is the beginning of the log that holds it. A record that is never published has no
# entry (decision of 2026-11-22).
#
# The order (decision of 2026-11-23): rendered files on the disk; log entries committed; proofs on
# the disk; finished files renamed. An entry cannot be taken back, so it must not name bytes that a
# power cut can still take. A finished file must not be seen before its entry. Killed at any moment,
# the same command continues, and records nothing twice. The cost: two more syncs for each file.

PROOF_SUFFIX = ".tlog-proof"


@dataclass(frozen=True, slots=True, kw_only=True)
class Publisher:
    """Who publishes files, in which log, and with which keys."""

    ledger: "Callable[[], Ledger]"
    """Opens the registry, only when something is published."""
    actor: str
    """Code of the authority."""
    ring: KeyRing
    """Whose log keys sign the checkpoint; without one, files are recorded and get no proof."""
    key: "SigningKey | None"
    """A document key that signs PDF files; None to leave them unsigned."""
    at: datetime
    """When PDF files are signed."""


def publish_files(publisher: Publisher, written_files: Sequence[WrittenFile]) -> bool:
    """Record that files are published, and add proof and signature to each; return False where there is no key for proofs.

    Change reports are passed over: a publication names a claim or a card. A file that has its proof already stays as it is.

    Raises:
        ConflictError: the registry does not know what a file is of, or has fewer entries than it was made of; or a key is not in force.
        OSError: the disk is full, with the name of the file: no file was changed then, and the log entries are there for the next time.
    """
    # A file that has its proof is finished.
    drafts = [
        written_file
        for written_file in written_files
        if written_file.sha256
        and written_file.facts
        and written_file.facts.is_recordable
        and not has_proof(written_file.path, written_file.format)
    ]
    if not drafts:
        return True
    # On the disk before the log names them.
    for file in drafts:
        sync(file.path)
    sync_folders(draft.path for draft in drafts)
    with publisher.ledger().write(actor=publisher.actor) as writer:
        record_publications(writer, drafts)
        # In the same transaction: the checkpoint covers these entries and no later ones.
        checkpoint = sign_log(writer, publisher.ring) if publisher.ring.log else None
    if checkpoint is None:
        return False
    # A new view, which sees the committed entries.
    with publisher.ledger().view() as view:
        replace_files(_finish(view, drafts, checkpoint, publisher))
    return True


def has_proof(path: Path, format_: OutputFormat) -> bool:
    """Whether the file at *path* has its proof, inside it or, JSON, next to it. A signed PDF takes none: it counts as having one."""
    if format_ is OutputFormat.JSON:
        return name_proof(path).is_file()
    return is_finished(path.read_bytes(), format_)


def name_proof(path: Path) -> Path:
    """Return where the proof of a JSON file lies."""
    return path.with_name(path.name + PROOF_SUFFIX)


def record_publications(writer: Writer, written_files: Iterable[WrittenFile]) -> int:
    """Record that files are published; one with a digest that is recorded already is not recorded again. Return how many were new.

    Raises:
        ConflictError: the registry does not know what a file is of, or has fewer entries than it was made of.
    """
    # Equal bytes are published once.
    files = {
        written_file.sha256: written_file
        for written_file in written_files
        if written_file.sha256 and written_file.facts and written_file.facts.is_recordable
    }
    new = [file for sha256, file in files.items() if not writer.find_publications(sha256)]
    writer.append_many([build_publication(file) for file in new])
    return len(new)


def sign_log(writer: Writer, ring: KeyRing) -> StoredCheckpoint:
    """Return the checkpoint of the log as it is now, signed with the log keys of *ring* and kept; one that is kept is taken.

    Raises:
        UnavailableError: `no-signing-key`, there is no key here.
        ConflictError: a key is not the log's, or not in force.
    """
    return seal_log(writer, get_log_keys(writer, ring))


def build_proof(view: View, published: Recorded[Publication], checkpoint: StoredCheckpoint, *, signer: str | None) -> str:
    """Return the proof that a file was published: that its publication is in the log under *checkpoint*.

    Args:
        signer: fingerprint of the key that will sign the file; None for a file that will carry no signature.

    Raises:
        NotFoundError: the checkpoint is of fewer entries, or the text of the publication was erased.
    """
    seq, size, before = published.entry.seq, checkpoint.checkpoint.size, published.payload.log_size
    publication_extra = PublicationExtra(
        statement=_get_text(view, seq),
        # From the size that the supplement prints to that of the checkpoint.
        consistency=Consistency(size=before, root=find_root(view, before), path=encode_nodes(consistency_path(view, before, size))),
        signer=None if signer is None else _find_signer(view, signer, size),
    )
    return format_proof(seq - 1, inclusion_path(view, seq, size), checkpoint.note, encode_published(publication_extra))


def _finish(view: View, drafts: Iterable[WrittenFile], checkpoint: StoredCheckpoint, publisher: Publisher) -> Iterator[tuple[Path, bytes]]:
    """Give every file with its proof and signature; of a JSON file the proof that lies beside it."""
    for draft in drafts:
        published = view.find_publications(draft.sha256) if draft.sha256 else ()
        # Only PDFs carry a signature.
        key = publisher.key if draft.format is OutputFormat.PDF else None
        proof = build_proof(view, published[0], checkpoint, signer=key.fingerprint if key else None).encode()
        # JSON has no place for a proof, so it lies beside the file.
        if draft.format is OutputFormat.JSON:
            yield name_proof(draft.path), proof
            continue
        data = enclose_proof(draft.path.read_bytes(), draft.format, proof)
        yield draft.path, sign_pdf(data, key, at=publisher.at) if key else data


def _find_signer(view: View, fingerprint: str, size: int) -> SignerProof | None:
    """Return the proof that the log recorded the key *fingerprint*; None where it did not, or later than *size*."""
    states = [key for key in list_keys(view) if key.fingerprint == fingerprint]
    # The checkpoint cannot prove a key that was recorded after it.
    if not states or states[0].added.entry.seq > size:
        return None
    seq = states[0].added.entry.seq
    return SignerProof(entry=seq, statement=_get_text(view, seq), path=encode_nodes(inclusion_path(view, seq, size)))


def _get_text(view: View, seq: int) -> str:
    view.recorded((seq,))  # raises where it was erased or altered
    ((_, text),) = view.log_entries(seq, seq + 1)
    return (text or b"").decode()
