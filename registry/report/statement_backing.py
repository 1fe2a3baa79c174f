"""The authors or the operator behind each statement of a supplement, checked by signatures that it contains."""

from collections.abc import Iterator
from dataclasses import dataclass

from registry.codec.statement_encoding import list_entries
from registry.errors import Fault
from registry.records.record import Record
from registry.records.statement import Entry
from registry.records.supplement import AnySupplement, Supplement
from registry.seal.signing_keys import Backing, StatementKeys

# An author signs log name, number and leaf of each entry with a statement key. The signature is
# kept outside the log, because a leaf cannot contain what is computed from it (decision of
# 2026-11-22). The cost: whoever passes on a log can remove signatures. Such a statement then reads
# as the operator's, never as another author's.
_WORDS = {
    Backing.AUTHOR: "signed by its author",
    Backing.OPERATOR: "asserted by the registry’s operator",
    Backing.WITHDRAWN: "signed with a key that was revoked since: asserted by the registry’s operator",
}
_WRONG = "its signature is WRONG: do not rely on it"
_MOST_NUMBERED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedStatement(Record):
    """One statement that matters to a claim, with who stands behind it."""

    what: str
    entry: Entry
    words: str
    is_signed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedGroup(Record):
    """The statements of one authority behind which the same stands."""

    authority: str
    words: str
    is_signed: bool
    count: int
    entries: str
    """Their numbers, as far as they are few."""
    keys: tuple[str, ...]
    """Fingerprints of the keys that signed them."""


class Backings:
    """The signatures of a supplement, each held against the keys that it names."""

    def __init__(self, supplement: AnySupplement) -> None:
        inclusion = supplement.inclusion
        # Without proofs nothing ties a statement to its entry, so no signature is checked either.
        self._signed = {signature.entry: signature for signature in inclusion.signatures} if inclusion else {}
        self._keys = StatementKeys(supplement.log_origin, inclusion.keys if inclusion else (), self._signed)
        self._entries = list_entries(supplement) if inclusion else {}

    def find_faults(self) -> Iterator[Fault]:
        """Yield what is wrong with the signatures and the keys."""
        yield from self._keys.faults
        for seq, signature in self._signed.items():
            entry = self._entries.get(seq)
            # A signature of an entry that the document does not quote vouches for nothing in it.
            if entry is None:
                yield Fault("signature-not-valid", f"entry {seq}", "there is a signature of an entry that is not named")
            elif (fault := self._keys.find_fault(entry, signature)) is not None:
                yield fault

    def find(self, entry: Entry) -> Backing | None:
        """Return who is behind *entry*; None where its signature is wrong."""
        signature = self._signed.get(entry.seq)
        # A wrong signature is worse than none: the statement then has no backing at all, and the
        # page says so.
        if signature is not None and self._keys.find_fault(entry, signature) is not None:
            return None
        return self._keys.find_backing(entry, signature)

    def list_groups(self) -> tuple[BackedGroup, ...]:
        """Return all statements that are named, by authority and by who is behind them, in log order."""
        groups: dict[tuple[str, Backing | None], list[Entry]] = {}
        for entry in self._entries.values():
            # Statements of one authority can differ, for example after a key was revoked.
            groups.setdefault((entry.actor, self.find(entry)), []).append(entry)
        return tuple(self._build_group(authority, backing, entries) for (authority, backing), entries in groups.items())

    def describe(self, what: str, entry: Entry) -> BackedStatement:
        """Return *entry*, which is *what*, with who is behind it."""
        backing = self.find(entry)
        return BackedStatement(what=what, entry=entry, words=_describe(backing), is_signed=backing is Backing.AUTHOR)

    def _build_group(self, authority: str, backing: Backing | None, entries: list[Entry]) -> BackedGroup:
        numbers = [str(entry.seq) for entry in entries]
        # Long lists give first and last number; the record has them all.
        listed = ", ".join(numbers) if len(numbers) <= _MOST_NUMBERED else f"{numbers[0]} to {numbers[-1]}"
        return BackedGroup(
            authority=authority,
            words=_describe(backing),
            is_signed=backing is Backing.AUTHOR,
            count=len(entries),
            entries=listed,
            keys=tuple(dict.fromkeys(self._signed[signed_entry.seq].key for signed_entry in entries if signed_entry.seq in self._signed)),
        )


def list_backed(supplement: Supplement, backings: Backings) -> tuple[BackedStatement, ...]:
    """Return the statements on which a claim's supplement rests, in the order a reader asks for them."""
    return tuple(backings.describe(what, entry) for what, entry in _list_leading(supplement))


# What a reader asks for first: the claim, then the audit and what fixed it, then objections.
def _list_leading(supplement: Supplement) -> Iterator[tuple[str, Entry]]:
    yield "Claim", supplement.claim.entry
    if (part := supplement.audit) is not None:
        yield "Audit", part.opening.entry
        if part.lock is not None:
            yield "Lock", part.lock.entry
        if part.outcome is not None:
            yield "Outcome", part.outcome.entry
    for endpoint in supplement.model_endpoints:
        yield "Endpoint name", endpoint.entry
    for objection in supplement.objections:
        yield "Objection", objection.objection.entry


def _describe(backing: Backing | None) -> str:
    return _WRONG if backing is None else _WORDS[backing]
