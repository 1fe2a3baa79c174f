"""Statements salted, hashed, numbered and stored with their rows in one transaction; entries put in again or taken over."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import chain, islice
from typing import Any

from sqlalchemy import Connection, Table, delete, func, select
from sqlalchemy.exc import DBAPIError

from registry.codec.statement_encoding import LONGEST_ENTRY, decode_statement, encode_statement, hashed_form, leaf_hash
from registry.errors import CaveatError, ConflictError, Fault, InputError, NotFoundError
from registry.records.claim import ClaimRevision
from registry.records.log_seal import EntrySignature, Erasure, KeyEvent
from registry.records.record import Authority, Kind, Payload, format_identifier
from registry.records.statement import Entry, Statement
from registry.seal.merkle_tree import Frontier
from registry.store.database_engine import OWN_LOG, describe_connection, translate
from registry.store.database_tables import METADATA, TYPED, body, entry, identifier, log
from registry.store.kinds.log_kinds import erasure
from registry.store.log_reader import (
    FindKey,
    LogReader,
    Signing,
    complete,
    find_no_key,
    find_signature_faults,
    from_seconds,
    load_frontier,
    pack,
    to_row,
    to_seconds,
)
from registry.store.registry_view import View
from registry.store.statement_kind import KINDS, EntryPlace, NewIdentifier, Row, build_rows, kind_of, parse_new
from registry.store.statement_rules import StatementRules

# The write side. A statement is encoded, salted, hashed, numbered and stored with its rows in one
# transaction.
#
# A salt of 128 bits makes the leaf of a short statement unguessable. After an erasure the leaf
# stays in the log, and without a salt its text could be found by trying candidates.

_EVERYTHING = 2**53
_BATCH = 1_000
"""Entries that are held before they are sent."""
# Rows of one INSERT. SQLite copies each page that a statement changes, in case a guard refuses the
# statement. With one row a statement, these copies cost more than the guards themselves.
_ROWS = 100
CLOCK_TOLERANCE = timedelta(minutes=10)
"""Clocks of machines differ, and are set; a clock that is behind by more is wrong, or the last entry's was."""

# Foreign keys are checked at each INSERT, so referenced tables come first: texts and entries before
# typed rows, and typed rows in the dependency order of the metadata.
_ORDER = ("log", "content", "entry", "body", "signature", "node", *(table.name for table in TYPED), "checkpoint", "cosignature")


class Writer(View):
    """Reads what it writes. Everything it appended is recorded together when the transaction ends, or not at all."""

    def __init__(
        self,
        connection: Connection,
        *,
        actor: str,
        clock: Callable[[], datetime],
        salt: Callable[[], str],
        find_key: FindKey = find_no_key,
    ) -> None:
        # The writer reads without an upper limit. Rules must see the entries that this transaction
        # appended.
        super().__init__(connection, limit=_EVERYTHING)
        self._actor = actor
        self._clock = clock
        self._salt = salt
        self._signing = Signing(self, actor, find_key)
        self._allocated: dict[str, NewIdentifier] = {}
        self._next_numbers: dict[tuple[Kind, str, int], int] = {}
        self._rules = StatementRules(self, self._allocated, actor=actor)
        head = select(entry.c.seq, entry.c.at).where(entry.c.log == OWN_LOG).order_by(entry.c.seq.desc()).limit(1)
        rows = self.rows(head)
        self._last_seq: int = rows[0].seq if rows else 0
        self._last_at: int = rows[0].at if rows else 0
        self._inserts = Inserts(connection)
        self._staged: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self._frontier: Frontier | None = None
        self._is_broken = False
        self.has_erased = False
        """Whether a text was erased here: the database is then made to forget the pages that held it."""

    @property
    def log_size(self) -> int:
        """Number of entries, with those appended here."""
        return self._last_seq

    @property
    def today(self) -> date | None:
        """The day of the clock: by it a person decides on an expired audit."""
        return self.moment.date()

    @property
    def moment(self) -> datetime:
        """The time that a statement made now gets: the clock's, never before the last entry.

        A clock that is fixed, as for a reproducible example, does not move and is never behind; one that is fixed before the last entry
        is refused like any other.

        Raises:
            InputError: the clock is behind the last entry by more than `CLOCK_TOLERANCE`.
        """
        now = self._clock()
        last = from_seconds(self._last_at)
        # Ten minutes of tolerance absorb the drift between machines. A clock that is further behind
        # is refused, because times in the log must not decrease. A wrong but consistent clock is
        # only visible through witnesses (docs/log.md).
        if now < last - CLOCK_TOLERANCE:
            problem = f"the clock says {now.astimezone(UTC).isoformat()}, the last entry was made at {last.isoformat()}"
            raise InputError(Fault("clock-behind", "clock", problem))
        # Within the tolerance the statement gets the time of the last entry. The database guard
        # refuses entries whose times decrease.
        return max(now.astimezone(UTC).replace(microsecond=0), last)

    def put_seal(self, table: Table, values: tuple[Any, ...], *, seq: int) -> None:
        """Insert a row into *table*, of those that are no statements: *values* after log and *seq*. For the store only."""
        self._inserts.send({table.name: [(OWN_LOG, seq, *values)]})

    def name_log(self, origin: str, vkey: str | None = None) -> None:
        """Name the log, once and before its first entry; without this its first entry names it after its salt.

        Raises:
            ConflictError: it has a name.
        """
        if self.log_origin:
            raise ConflictError(Fault("log-named", origin, f"the log is called {self.log_origin}, and stays so"))
        self._inserts.send({"log": [(OWN_LOG, origin, vkey)]})

    def name_foreign_log(self, log_id: int, origin: str, vkey: str) -> None:
        """Name the log of another registry. For the store only."""
        self._inserts.send({"log": [(log_id, origin, vkey)]})

    @property
    def connection(self) -> Connection:
        """The transaction that is written in. For the store only."""
        return self._connection

    def allocate(self, kind: Kind, authority: str, count: int = 1) -> list[str]:
        """Return the next *count* identifiers of (kind, authority, the clock's year), with check character, in order and without gaps.

        They must be used in this order, in this transaction; what is not used is allocated again.
        """
        # The year comes from the clock in UTC, so the identifier does not depend on the time zone
        # of the machine.
        year = self._clock().astimezone(UTC).year
        key = (kind, authority, year)
        # The database is asked once per kind, authority and year. No other writer can take a number
        # meanwhile, because the transaction holds the write lock.
        if key not in self._next_numbers:
            same = (identifier.c.kind == kind) & (identifier.c.authority == authority) & (identifier.c.year == year)
            last = self.one_value(select(func.max(identifier.c.number)).where(self.visible(identifier), same))
            self._next_numbers[key] = (last or 0) + 1
        first = self._next_numbers[key]
        self._next_numbers[key] += count
        names = []
        for number in range(first, first + count):
            name = format_identifier(kind, authority, year, number)
            self._allocated[name] = (name, kind, authority, year, number)
            names.append(name)
        return names

    def append(self, payload: Payload) -> Entry:
        """Record *payload* and return its entry.

        Raises:
            ConflictError: it contradicts what is recorded.
            InputError: canonical JSON cannot hold it.
        """
        return self.append_many([payload])[0]

    def append_many(self, payloads: Sequence[Payload]) -> list[Entry]:
        """Record *payloads* in order, each as an entry of its own, and return the entries; as `append`, with all faults at once."""
        # One time for the whole batch: the statements of one file were made together.
        moment = self.moment
        faults: list[Fault] = []
        recorded: list[Entry] = []
        for payload in payloads:
            problems = self._find_faults(payload)
            # After the first fault nothing more is staged, but the other statements are still
            # checked, so that the user gets all faults at once.
            if problems or faults:
                faults += problems
                continue
            recorded.append(self._stage(payload, moment))
            if len(self._staged["entry"]) >= _BATCH:
                self._flush()
        if faults:
            # Statements before the fault may already be in the database. `finish` then refuses to
            # commit, even if the caller catches the error.
            self._is_broken = bool(recorded)
            # One conflict is enough for ConflictError: the user must read the registry again before
            # anything else is worth repairing.
            raise (ConflictError if any(fault.code in _CONFLICTS for fault in faults) else InputError)(faults)
        self._flush()
        return recorded

    def put_content(self, text: str) -> str:
        """Keep *text*, compressed, and return the SHA-256 of its UTF-8 (hexadecimal); what is there already is not kept twice."""
        # The digest is of the uncompressed text. A different zstd version can produce other bytes
        # for the same text.
        raw = text.encode()
        sha256 = hashlib.sha256(raw).hexdigest()
        if not self.has_content(sha256):
            self._inserts.send({"content": [(bytes.fromhex(sha256), pack(raw))]})
        return sha256

    def erase(self, seq: int, *, why: str) -> Entry:
        """Erase the text of entry *seq*, and say so: return the entry that says it. Leaf and rows stay, and prove that it was there.

        A text that is gone already without a word gets its word; one that came back after it was erased goes again.

        Raises:
            ConflictError: it was erased already.
            InputError: entries of its kind are not erased, or *why* is empty.
            NotFoundError: there is no such entry.
        """
        place = self.find_entry(seq)
        if place is None:
            raise NotFoundError(Fault("entry-not-found", f"entry {seq}", f"the log has {self._last_seq} entries"))
        # Decision of 2026-11-22: some kinds decide what other entries mean, or their words are also kept in typed rows. The cost: a
        # personal name in a card's title stays.
        if (reason := KINDS[place.kind].kept) is not None:
            raise InputError(Fault("not-erasable", f"entry {seq}", f"it is a {place.kind}: {reason}"))
        # A text can be missing without an erasure entry (deleted by hand), or present despite one
        # (restored from a backup). Both states are repaired here instead of being refused.
        there = self.one_value(select(body.c.seq).where(body.c.log == OWN_LOG, body.c.seq == seq)) is not None
        erased = self.first_recorded(select(erasure.c.seq).where(self.visible(erasure), erasure.c.erased == seq)) if there else None
        if erased is None:
            try:
                record = Erasure(erased=seq, leaf=place.leaf, why=why)
            except ValueError as error:
                raise InputError(Fault("reason-missing", f"entry {seq}", str(error), advice="say why")) from error
            recorded = self.append(record)
        else:
            recorded = erased.entry
        self._delete_text(place)
        return recorded

    def _delete_text(self, place: Entry) -> None:
        # By default SQLite only marks deleted pages as free, and their bytes stay in the file. With
        # secure_delete it overwrites them.
        if self.engine == "sqlite":
            self._connection.exec_driver_sql("PRAGMA secure_delete = ON")
        # The leaf and the typed rows stay. They prove that the statement existed, and they hold no
        # words that can be erased.
        for column in (*KINDS[place.kind].erasable, body.c.seq):
            self._connection.execute(delete(column.table).where(column.table.c.log == OWN_LOG, column == place.seq))
        self.has_erased = True

    def finish(self) -> None:
        """Refuse to end well after an `append_many` that was refused halfway.

        Raises:
            ConflictError: part of a refused list was staged; nothing is recorded.
        """
        if self._is_broken:
            problem = "part of a refused list was staged, so nothing of this transaction is recorded"
            raise ConflictError(Fault("transaction-refused", "registry", problem))

    def _find_faults(self, payload: Payload) -> list[Fault]:
        """Rules read what stands in the database; only the first revision of a claim allocated here can be judged without."""
        # Flushing before each check would cost one round trip per claim in a bulk import. A first
        # revision under a new identifier can only conflict with its references, and these are
        # recorded earlier.
        if not (isinstance(payload, ClaimRevision) and payload.revision == 1 and payload.claim in self._allocated):
            self._flush()
        faults = self._rules.find_faults(payload)
        if not isinstance(payload, Authority) and not self._rules.knows_authority(self._actor):
            problem = f"no authority is registered as {self._actor}"
            faults.append(Fault("authority-not-registered", self._actor, problem, advice=f"run: caveat init --code {self._actor} --join"))
        return faults

    def _stage(self, payload: Payload, moment: datetime) -> Entry:
        seq, at = self._last_seq + 1, to_seconds(moment)
        statement = Statement(actor=self._actor, at=moment, payload=payload, salt=self._salt())
        # The canonical bytes are hashed and stored as they are. Re-encoding at read time would make
        # every old leaf depend on the present encoder.
        canonical = encode_statement(statement)
        text = canonical.decode()
        leaf = leaf_hash(canonical)
        kind = payload.KIND
        # A log needs a unique name, because signed checkpoints identify a log by its origin. The
        # salt of the first entry is random, so it serves as a name.
        if seq == 1 and not self.log_origin:
            self.name_log(f"caveat/{statement.salt}")
        self._staged["entry"].append((OWN_LOG, seq, kind, self._actor, at, bytes.fromhex(leaf)))
        self._staged["body"].append((OWN_LOG, seq, text))
        # The signature is stored next to the log: it is computed from the leaf, so the leaf cannot
        # cover it.
        self._sign(seq, leaf, payload)
        self._staged["node"] += complete(self._get_frontier(), bytes.fromhex(leaf), log_id=OWN_LOG)
        has_nul = "\\u0000" in text  # or these six characters themselves
        for table, values in build_rows(payload, self._place(payload, seq, at)):
            if has_nul:
                refuse_nul(values, kind)
            self._staged[table].append(values)
        self._last_seq, self._last_at = seq, at
        return Entry(seq=seq, kind=kind, actor=self._actor, at=moment, leaf=leaf)

    def _sign(self, seq: int, leaf: str, payload: Payload) -> None:
        """Sign the entry, where its author's key is here; what the log says of keys decides who signs the entries after it."""
        if (signed := self._signing.sign(seq, leaf)) is not None:
            self._staged["signature"].append(to_row(signed, log_id=OWN_LOG))
        # The next entry must be signed with the key that this event puts in force.
        if isinstance(payload, KeyEvent):
            self._signing.forget()

    def _get_frontier(self) -> Frontier:
        """Loaded for the first entry of a transaction; the nodes that an upgraded registry lacks go in then."""
        # The frontier holds one hash for each complete subtree at the right edge. With it an append
        # costs O(log n) hashes instead of a pass over all leaves (RFC 6962, section 2.1).
        if self._frontier is None:
            self._frontier, missing = load_frontier(self)
            for start in range(0, len(missing), _BATCH):
                self._inserts.send({"node": missing[start : start + _BATCH]})
        return self._frontier

    def _place(self, payload: Payload, seq: int, at: int) -> EntryPlace:
        kind = kind_of(payload)
        new = self._allocated.pop(kind.name_new(payload) or "", None)
        return kind.complete_place(payload, EntryPlace(seq=seq, at=at, new=new, actor=self._actor), self)

    def _flush(self) -> None:
        if self._staged["entry"]:
            staged, self._staged = self._staged, defaultdict(list)
            self._inserts.send(staged)


def refuse_nul(values: tuple[Any, ...], kind: str) -> None:
    """PostgreSQL keeps no U+0000, and a registry must fit into either database; raises InputError `not-storable`. For the store only."""
    if any(type(value) is str and "\0" in value for value in values):
        raise InputError(Fault("not-storable", kind, "a text has U+0000, which no registry keeps"))


class Inserts:
    """Sends rows by the driver's own calls, inside SQLAlchemy's transaction; its per-row work would cost more than the insert."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._statements: dict[tuple[str, int], str] = {}

    def send(self, staged: Mapping[str, list[tuple[Any, ...]]]) -> None:
        """Insert the rows of each table, those that are referred to first.

        Raises:
            ConflictError: the database refuses a row.
        """
        try:
            for name in _ORDER:
                rows = staged.get(name, ())
                for start in range(0, len(rows), _ROWS):
                    group = rows[start : start + _ROWS]
                    self._connection.exec_driver_sql(self._statement(name, len(group)), tuple(chain.from_iterable(group)))
        except DBAPIError as error:
            raise translate(error, where=describe_connection(self._connection)) from error
        # Python integers have no limit. Both databases store 64 bits.
        except OverflowError as error:
            raise InputError(Fault("not-storable", "registry", f"a number is larger than a database holds: {error}")) from error

    def _statement(self, name: str, count: int) -> str:
        if (name, count) not in self._statements:
            table = METADATA.tables[name]
            quote = self._connection.dialect.identifier_preparer.quote
            columns = [quote(column.name) for column in table.columns]
            mark = "?" if self._connection.dialect.paramstyle == "qmark" else "%s"
            values = ", ".join([f"({', '.join(mark for _ in columns)})"] * count)
            self._statements[name, count] = f"INSERT INTO {quote(name)} ({', '.join(columns)}) VALUES {values}"  # noqa: S608  (our own names)
        return self._statements[name, count]


# These codes decide the exit code of the command, and whether "read again and repeat" can help.
_CONFLICTS = frozenset(
    {
        "already-locked",
        "already-recorded",
        "audit-concluded",
        "authority-exists",
        "changed-meanwhile",
        "claim-ended",
        "key-not-in-force",
        "lineage-cycle",
        "not-newer",
        "nothing-to-retract",
        "objection-closed",
        "run-before-lock",
        "slug-taken",
        "spec-differs",
        "successor-exists",
        "wrong-claim",
    }
)
"""Faults that contradict what is recorded; the others are faults of what came in."""


# Replay: entries are put in again with their texts, and their rows and subtrees are derived again.
# Rebuild uses it for the own log, and import uses it for the log of another registry.
#
# Decision of 2026-11-22: a foreign log must pass the database guards, and its references must be
# readable. It need not pass our rules of conduct. If an entry cannot be read, the whole log is
# refused. The cost: a foreign log may contain steps that our rules would not allow.

Staged = dict[str, list[tuple[Any, ...]]]


def _nothing(_seq: int) -> Iterator[Row]:
    return iter(())


class EntryReplay:
    """Goes on where the log ends. In another registry's log, rows that rest on an erased statement cannot be made, and are left out."""

    def __init__(self, connection: Connection, *, log_id: int = OWN_LOG, carry: Callable[[int], Iterator[Row]] = _nothing) -> None:
        """Begin.

        Args:
            log_id: number of the log; its row is there.
            carry: gives the rows of an erased statement, as they were.
        """
        self._connection = connection
        self._log_id = log_id
        self._carry = carry
        self._reader = LogReader(connection, limit=_EVERYTHING, log_id=log_id)
        self._inserts = Inserts(connection)
        self._frontier, missing = load_frontier(self._reader)
        self._staged: dict[int, Staged] = {}
        # Read once: identifiers are looked up for every replayed entry.
        columns = (identifier.c.id, identifier.c.kind, identifier.c.authority, identifier.c.year, identifier.c.number)
        ordered = select(*columns).where(self._reader.visible(identifier)).order_by(identifier.c.number)
        self._known = dict.fromkeys(row[0] for row in self._reader.plain_rows(ordered))
        self._numbers = {row[1:4]: row[4] for row in self._reader.plain_rows(ordered)}
        there = select(body.c.seq).where(body.c.log == entry.c.log, body.c.seq == entry.c.seq).exists()
        self._gone = len(self._reader.plain_rows(select(entry.c.seq).where(self._reader.visible(entry), ~there)))
        self.size = self._frontier.size
        """Number of entries in the log."""
        self.erased = 0
        """Number of entries added here whose text is gone."""
        self.without_rows = 0
        """Number of entries added here whose rows could not be made, because they rest on an erased statement."""
        self._inserts.send({"node": missing})

    def add(self, place: Entry, text: bytes | None, signed: EntrySignature | None = None) -> None:
        """Add the next entry; no *text*: it was erased. Whether *signed* is its author's signature is asked of the whole log.

        Raises:
            InputError: it is not the next, its leaf is not the hash of its text, its text says differently than its entry, or it cannot
                follow what is before it.
        """
        if place.seq != self.size + 1:
            raise InputError(broken(place.seq, f"entry {self.size + 1} is missing before it"))
        here = (self._log_id, place.seq)
        leaf, at = bytes.fromhex(place.leaf), to_seconds(place.at)
        payload = None if text is None else check_entry(place, text)
        # The rows of some statements repeat values of earlier rows (those of their lock or run).
        if (payload is not None and kind_of(payload).rests_on_rows) or len(self._staged) >= _BATCH:
            self.flush()
        staged: Staged = defaultdict(list)
        staged["entry"].append((*here, place.kind, place.actor, at, leaf))
        if signed is not None:
            staged["signature"].append(to_row(signed, log_id=self._log_id))
        staged["node"] += complete(self._frontier, leaf, log_id=self._log_id)
        # An erased statement cannot be decoded. In a rebuild its rows are copied from the source;
        # in an import they are unknown.
        if payload is None or text is None:
            self.erased += 1
            self._gone += 1
            rows: Iterable[Row] = self._carry(place.seq)
        else:
            staged["body"].append((*here, text.decode()))
            rows = self._try_rows(payload, place, at)
        for table, values in rows:
            refuse_nul(values, place.kind)
            staged[table].append(values)
            if table == "identifier":
                self._known[values[2]] = None
                self._numbers[values[3:6]] = values[6]
        self._staged[place.seq] = staged
        self.size = place.seq

    def flush(self) -> None:
        """Send what was added; raises InputError where it cannot follow the entries before it."""
        staged, self._staged = self._staged, {}
        if not staged:
            return
        try:
            self._send(list(staged.values()))
        except CaveatError as error:
            first = next(iter(staged))
            # In the own log a statement that cannot follow is a sign of alteration. In a foreign
            # log it can be the result of an erasure over there, so entries are tried one at a time.
            if self._log_id == OWN_LOG:
                text = f"from here on the statements cannot follow each other: {error.faults[0].found}"
                raise InputError(broken(first, text)) from error
            for seq, rows in staged.items():
                self._send_one(seq, rows)

    def _send(self, parts: list[Staged]) -> None:
        joined: Staged = defaultdict(list)
        for part in parts:
            for table, rows in part.items():
                joined[table] += rows
        # A savepoint: the failed group is rolled back, and its entries can be sent again one by
        # one.
        with self._connection.begin_nested():
            self._inserts.send(joined)

    def _send_one(self, seq: int, staged: Staged) -> None:
        """An entry goes in whatever its rows rest on; without erased statements before it, they must rest on what is there."""
        try:
            self._send([staged])
        except CaveatError as error:
            # Without an erased statement there is no excuse for a missing reference.
            if not self._gone:
                text = f"it cannot follow the entries before it: {error.faults[0].found}"
                raise InputError(broken(seq, text)) from error
            self.without_rows += 1
            # The entry itself must go in, since the tree needs its leaf. Identifiers are kept if
            # possible, because later entries refer to them.
            bare = {name: staged.get(name, []) for name in ("entry", "body", "signature", "node")}
            try:
                self._send([bare | {"identifier": staged.get("identifier", [])}])
            except CaveatError:
                self._send([bare])

    def _try_rows(self, payload: Payload, place: Entry, at: int) -> list[Row]:
        """A statement that another registry let in may name what reads like no identifier or reference of ours."""
        try:
            return list(self._build_rows(payload, place, at))
        except (ValueError, OverflowError) as error:
            raise InputError(broken(place.seq, f"what its {place.kind} refers to cannot be read: {error}")) from error

    def _build_rows(self, payload: Payload, place: Entry, at: int) -> Iterator[Row]:
        wanted = EntryPlace(seq=place.seq, at=at, new=self._find_new(payload), actor=place.actor, log=self._log_id)
        if wanted.new is not None and self._log_id != OWN_LOG:
            yield from self._fill_numbers(wanted.new, (self._log_id, place.seq))
        yield from build_rows(payload, kind_of(payload).complete_place(payload, wanted, self._reader))

    def _fill_numbers(self, new: NewIdentifier, here: tuple[int, int]) -> Iterator[Row]:
        """Numbers are gapless, so one that is left out was given to a statement that is erased now: it is known from here on."""
        _, kind, authority, year, number = new
        last = self._numbers.get((kind, authority, year), 0)
        # At most as many numbers can be skipped as statements were erased. A larger gap is left to
        # the database guard, which refuses it.
        if number - last - 1 <= self._gone:
            for skipped in range(last + 1, number):
                yield "identifier", (*here, format_identifier(Kind(kind), authority, year, skipped), kind, authority, year, skipped)

    def _find_new(self, payload: Payload) -> NewIdentifier | None:
        name = kind_of(payload).name_new(payload)
        return None if name is None or name in self._known else parse_new(name)


def check_entry(place: Entry, text: bytes) -> Payload:
    """Return what the statement says; raises InputError where leaf, kind, actor or time of its entry are not its own."""
    if leaf_hash(text) != place.leaf:
        raise InputError(broken(place.seq, "its leaf is not the hash of its text"))
    # No statement of ours is too long: what is not its payload is short. Other software may write others.
    if (count := len(hashed_form(text))) > LONGEST_ENTRY:
        problem = f"its statement has {count:,} bytes without its payload; a log has at most {LONGEST_ENTRY:,}"
        raise InputError(Fault("statement-too-long", f"entry {place.seq}", problem))
    statement = decode_statement(text, where=f"entry {place.seq}")
    facts = (statement.kind, statement.actor, statement.at)
    if facts != (place.kind, place.actor, place.at):
        raise InputError(broken(place.seq, f"its text says {facts[0]} by {facts[1]} at {facts[2].isoformat()}, its entry something else"))
    return statement.payload


def broken(seq: int, text: str) -> Fault:
    """Return the fault of a log that cannot be replayed."""
    return Fault("log-broken", f"entry {seq}", text, advice="restore the registry from a backup")


# Import of another registry's log under its own origin, next to the own log and never mixed with
# it.
#
# The caller has verified the entries against a signed checkpoint. Here they are compared with the
# entries that are already present and with their own texts. The rows of statements that were erased
# at the source do not come along; only the leaf proves that they existed.

_MOST_FAULTS = 20
ForeignEntry = tuple[Entry, bytes | None, EntrySignature | None]
"""An entry with its text and its author's signature, where it has them."""


def import_entries(writer: Writer, origin: str, vkey: str, entries: Iterable[ForeignEntry]) -> int:
    """Take over *entries* of the log *origin* in the transaction of *writer*, and return how many were new.

    Args:
        vkey: the key that its checkpoint was verified with; kept when the log is new here.
        entries: in order, each with its canonical text, None where that was erased, and its author's signature, None where it has none.
            Those that are here already are compared.

    Raises:
        ConflictError: `own-log`: it is this registry's own; `history-differs`: an entry that is here has another leaf.
        InputError: `log-broken`: an entry is missing, or does not fit its leaf or what is before it; `signature-not-valid` and the
            like: a signature is not its author's.
    """
    # Importing the own log would let an outside file write into it.
    if origin == writer.log_origin:
        raise ConflictError(Fault("own-log", origin, "it is this registry's own log"))
    log_id = _find_or_name(writer, origin, vkey)
    replay = EntryReplay(writer.connection, log_id=log_id)
    known = dict(_read_leaves(LogReader(writer.connection, limit=replay.size, log_id=log_id)))
    before, expected = replay.size, None
    for place, text, signed in entries:
        if expected is not None and place.seq != expected:
            raise InputError(broken(place.seq, f"entry {expected} is missing before it"))
        expected = place.seq + 1
        if place.seq not in known:
            replay.add(place, text, signed)
        # Two leaves for one entry of one log are evidence that its operator published two
        # histories.
        elif known[place.seq] != place.leaf:
            raise ConflictError(_differs(origin, place.seq, here=known[place.seq], there=place.leaf))
    replay.flush()
    # Signatures are checked after all entries are in, because the keys that verify them are entries
    # of the same log.
    if faults := list(islice(find_signature_faults(LogReader(writer.connection, limit=replay.size, log_id=log_id)), _MOST_FAULTS)):
        raise InputError(faults)
    return replay.size - before


def _find_or_name(writer: Writer, origin: str, vkey: str) -> int:
    log_id = writer.one_value(select(log.c.id).where(log.c.origin == origin))
    if log_id is not None:
        return int(log_id)
    last = writer.one_value(select(func.max(log.c.id)))
    # Number 1 is reserved for the own log, even if that log has no entry yet.
    number = max(int(last or 0), OWN_LOG) + 1
    writer.name_foreign_log(number, origin, vkey)
    return number


def _read_leaves(reader: LogReader) -> Iterable[tuple[int, str]]:
    return ((seq, leaf.hex()) for seq, leaf in enumerate(reader.leaves(), 1))


def _differs(origin: str, seq: int, *, here: str, there: str) -> Fault:
    problem = f"here its leaf is {here}, there {there}: {origin} published two histories"
    return Fault("history-differs", f"{origin}, entry {seq}", problem, advice="keep both signed notes: they are evidence")
