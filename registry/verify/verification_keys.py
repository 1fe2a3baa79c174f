"""Keys and registries that files are verified with; what is not known here is never believed."""

import re
import ssl
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from registry.errors import CaveatError, Fault, InputError
from registry.records.log_seal import KeyAlgorithm
from registry.seal.signed_notes import VerifierKey, parse_vkey
from registry.seal.signing_keys import fingerprint_of_certificate, fingerprint_of_vkey

if TYPE_CHECKING:
    from registry.registration.key_registration import KeyState
    from registry.store.ledger import Ledger
    from registry.store.registry_view import View

# Keys that are known here: given by the user, or recorded by a registry at hand. A key that a file
# brings along proves nothing about who made the file.

_LARGEST_KEY_FILE = 1_000_000
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----\s.*?-----END CERTIFICATE-----", re.DOTALL)
# A key file may hold the secret key and the certificate; it is skipped, not parsed.
_SECRET = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKey:
    """A public key that is known here, and its status."""

    fingerprint: str
    """SHA-256 of the public key as DER SubjectPublicKeyInfo, hexadecimal."""
    source: str
    """Who says so, in words that follow “known”."""
    vkey: VerifierKey | None = None
    """Of a log or witness; None of a key that signs documents."""
    state: "KeyState | None" = None
    """What a log says became of it; None for a key that the user alone names."""
    is_given: bool = False
    """Whether the user gave it with `--key`, whatever else knows it."""

    def find_objection(self, *, size: int | None = None, at: datetime | None = None) -> str | None:
        """Return why what it signed is not to be believed, in words; None where nothing speaks against it. As `KeyState.find_distrust`."""
        # A key that only the user names has no history here.
        fault = None if self.state is None else self.state.find_distrust(size=size, at=at)
        return None if fault is None else fault.found


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """The keys that are known here."""

    keys: tuple[KnownKey, ...] = ()
    forks: Mapping[str, str] = field(default_factory=dict)
    """Logs, by origin, that are known to have signed two histories; each with the words for it."""
    contradicted: Mapping[str, str] = field(default_factory=dict)
    """Logs, by origin, whose keys a registry here was changed in, so that none of them was taken from it; each with the words for it."""

    def list_log_keys(self, origin: str) -> tuple[VerifierKey, ...]:
        """Return the keys that may sign checkpoints of the log *origin*: those that bear its name, as C2SP tlog-checkpoint asks."""
        # A log is known by the name in its keys (C2SP tlog-checkpoint).
        return tuple(key for key in self._list_vkeys() if key.name == origin and _signs_logs(key))

    def list_witness_keys(self, origin: str) -> tuple[VerifierKey, ...]:
        """Return the keys that may cosign checkpoints of the log *origin*: those of others. A log's key cosigns for other logs too."""
        # A log's own cosignature would say nothing that its signature does not.
        others = (key for key in self._list_vkeys() if key.name != origin)
        return tuple(
            {str(verifier_key): verifier_key for verifier_key in (key if key.is_cosigner else key.as_cosigner() for key in others)}.values()
        )

    def find_document(self, fingerprint: str) -> KnownKey | None:
        """Return the key with *fingerprint* that signs documents; None where it is not known."""
        return next((key for key in self.keys if key.vkey is None and key.fingerprint == fingerprint), None)

    def find_vkey(self, vkey: str) -> KnownKey | None:
        """Return what is known of the key that is written as *vkey*, for a log or for a witness."""
        # Compared by name and public bytes: one key can be written as log key or as cosigner.
        wanted = parse_vkey(vkey, where="verifier key")
        same = (key for key in self.keys if key.vkey and (key.vkey.name, key.vkey.public) == (wanted.name, wanted.public))
        return next(same, None)

    def is_given(self, vkey: str) -> bool:
        """Whether the user gave the key that is written as *vkey*."""
        known = self.find_vkey(vkey)
        return known is not None and known.is_given

    def _list_vkeys(self) -> list[VerifierKey]:
        return [key.vkey for key in self.keys if key.vkey is not None]


def read_given(texts: Iterable[str]) -> Trust:
    """Return the keys that the user gives, each a verifier key, or a file with verifier keys or certificates in PEM.

    Raises:
        InputError: `bad-vkey`, one is none; `bad-certificate`; `file-not-readable`; all of them at once.
    """
    keys: list[KnownKey] = []
    faults: list[Fault] = []
    # All faults of all keys at once.
    for text in texts:
        try:
            keys += _read_one(text)
        except CaveatError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return Trust(keys=tuple(keys))


def collect_keys(states: "Iterable[KeyState]", *, source: str) -> Trust:
    """Return the keys of one log, each with its status.

    Args:
        source: the owner of the log, in words such as “the registry here”.
    """
    return Trust(keys=tuple(_build_known_key(state, source) for state in states))


def join(*trusts: Trust) -> Trust:
    """Return all keys; of one that is known twice, what any of them knows of its end."""
    joined: dict[str, KnownKey] = {}
    # One key can be known from several sources.
    for known_key in (key for trust in trusts for key in trust.keys):
        name = str(known_key.vkey or known_key.fingerprint)
        before = joined.get(name)
        # An end that any source knows counts: a revoked key must not stay valid because one
        # registry has not heard of it.
        if before is None or before.state is None or before.state.in_force:
            known = known_key if before is None or known_key.state is not None else before
            joined[name] = replace(known, is_given=known_key.is_given or (before is not None and before.is_given))
    return Trust(
        keys=tuple(joined.values()),
        forks={origin: fork for trust in trusts for origin, fork in trust.forks.items()},
        contradicted={origin: reason for trust in trusts for origin, reason in trust.contradicted.items()},
    )


def _build_known_key(state: "KeyState", source: str) -> KnownKey:
    vkey, entry = state.added.payload.vkey, state.added.entry
    return KnownKey(
        fingerprint=state.fingerprint,
        source=f"recorded by {source} in entry {entry.seq}",
        vkey=None if vkey is None else parse_vkey(vkey, where=f"entry {entry.seq}"),
        state=state,
    )


def _read_one(text: str) -> list[KnownKey]:
    """A verifier key has two plus signs; whatever is a file is read."""
    path = Path(text)
    # A file may be named with plus signs, so the file wins.
    if text.count("+") >= 2 and not path.is_file():
        return _list_vkeys([text.strip()], where="--key")
    try:
        with path.open("rb") as stream:
            # Undecodable bytes become characters that no key has, and are refused below.
            content = stream.read(_LARGEST_KEY_FILE).decode(errors="replace")
    except (OSError, ValueError) as error:
        problem = f"is neither a verifier key (name+hash+base64) nor a file that can be read: {getattr(error, 'strerror', None) or error}"
        raise InputError(
            Fault("file-not-readable", text[:200], problem, advice="caveat admin key show prints the keys of a registry")
        ) from error
    return _read_content(content, where=text)


def _read_content(content: str, *, where: str) -> list[KnownKey]:
    blocks = _PEM.findall(content)
    rest = _SECRET.sub("", _PEM.sub("", content))
    lines = [line.strip() for line in rest.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not blocks and not lines:
        problem = "it holds neither a verifier key nor a certificate in PEM"
        raise InputError(Fault("bad-vkey", where, problem, advice="caveat admin key show prints them"))
    return [*_list_vkeys(lines, where=where), *(_read_certificate(block, where) for block in blocks)]


def _list_vkeys(lines: Sequence[str], *, where: str) -> list[KnownKey]:
    # A user's key has no state: only a log can revoke it.
    keys = [parse_vkey(line, where=where) for line in lines]
    source = f"given with --key {where}" if where != "--key" else "given with --key"
    return [KnownKey(fingerprint=fingerprint_of_vkey(str(key)), source=source, vkey=key, is_given=True) for key in keys]


def _read_certificate(block: str, where: str) -> KnownKey:
    try:
        fingerprint = fingerprint_of_certificate(ssl.PEM_cert_to_DER_cert(block.strip()))
    except ValueError as error:
        raise InputError(Fault("bad-certificate", where, str(error))) from error
    return KnownKey(fingerprint=fingerprint, source=f"given with --key {where}", is_given=True)


def _signs_logs(key: VerifierKey) -> bool:
    """Lines with ML-DSA-44 are of one type for logs and witnesses."""
    return not key.is_cosigner or key.algorithm is KeyAlgorithm.ML_DSA_44


# What files are verified with: keys, a registry, the name of a log.


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationMeans:
    """What files are verified with; nothing is believed that is not here."""

    trust: Trust = Trust()
    """The keys that are known here: those that the user gives, and those of `ledger`."""
    given: Trust = Trust()
    """Those of them that the user gives."""
    ledger: "Ledger | None" = None
    """A registry to compare with; None to do without."""
    origin: str | None = None
    """The log that checkpoints must be of; None takes what each file names."""
    stamp_certificates: tuple[bytes, ...] = ()
    """Certificates that the user trusts to sign time stamps, DER."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPlace:
    """Where a log is kept in a registry."""

    log: str | None
    """As `Ledger.view` takes it: None for the registry's own."""


def collect_means(
    ledger: "Ledger | None", trust: Trust, *, origin: str | None, stamp_certificates: tuple[bytes, ...] = ()
) -> VerificationMeans:
    """Return *trust* with all that the registry knows of keys: its own, those of logs that it took over after verifying them, witnesses.

    Which logs are known to have signed two histories comes with them, and who had keys changed by hand; none of these is taken.
    """
    # The registry's keys count as well as the given ones; which an answer rests on is kept in
    # `is_given`.
    known = Trust() if ledger is None else join(*_collect_recorded_keys(ledger))
    return VerificationMeans(trust=join(trust, known), given=trust, ledger=ledger, origin=origin, stamp_certificates=stamp_certificates)


def find_log(ledger: "Ledger", origin: str) -> LogPlace | None:
    """Return where the log *origin* is kept in the registry; None where it is not."""
    # None stands for the registry's own log.
    summary = next((log for log in ledger.list_logs() if log.origin == origin), None)
    return None if summary is None else LogPlace(log=None if summary.is_own else origin)


def list_forks(view: "View") -> dict[str, str]:
    """Return the logs that the registry has evidence against: that they signed two histories."""
    from registry.store.log_seals import list_equivocations  # noqa: PLC0415

    sentence = "it signed two histories, of which the registry here keeps the evidence in entry"
    return {
        equivocation.payload.origin: f"{sentence} {equivocation.entry.seq}: {equivocation.payload.finding}"
        for equivocation in list_equivocations(view)
    }


def _collect_recorded_keys(ledger: "Ledger") -> Iterator[Trust]:
    from registry.registration.key_registration import list_witness_keys  # noqa: PLC0415  (SQLAlchemy: what files show needs no registry)

    with ledger.view() as view:
        yield _collect_keys(view, source="the registry here")
        witnesses, forks = list_witness_keys(view), list_forks(view)
    # Logs that were taken over were verified then; their keys count for them only.
    for log in ledger.list_logs()[1:]:
        with ledger.view(log=log.origin) as view:
            yield _collect_keys(view, source=f"the log {log.origin}, which the registry here took over,")
    source = "recorded by the registry here as another registry's"
    keys = (KnownKey(fingerprint=fingerprint_of_vkey(str(key)), source=source, vkey=key) for key in witnesses)
    yield Trust(keys=tuple(keys), forks=forks)


def _collect_keys(view: "View", *, source: str) -> Trust:
    from registry.registration.key_registration import list_keys  # noqa: PLC0415

    try:
        return collect_keys(list_keys(view), source=source)
    # Of a registry whose key entries were altered, no key is taken.
    except CaveatError as error:
        fault = error.faults[0]
        return Trust(contradicted={view.log_origin: f"{fault.where}: {fault.found}"})
