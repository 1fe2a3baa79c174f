"""Small registries of several authorities, with keys, to be carried from one to another."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registry.exchange.bundle_transfer import ExportResult, export_bundle
from registry.records.claim import ClaimRevision
from registry.records.log_seal import KeyAlgorithm
from registry.records.record import Authority, AuthorityRole, Kind
from registry.registration.key_registration import add_key, seal_log
from registry.seal.signed_notes import VerifierKey, parse_vkey
from registry.seal.signing_keys import SigningKey, make_key
from registry.store import database_schema as schema
from registry.store.ledger import Ledger
from registry.store.log_writer import Writer
from tests.store import builders

Salt = Callable[[], str]


@dataclass
class Institute:
    """A registry with its authority's key."""

    ledger: Ledger
    code: str
    key: SigningKey

    @property
    def origin(self) -> str:
        """Name of the log."""
        return self.key.name

    @property
    def vkey(self) -> VerifierKey:
        """What its checkpoints are verified with."""
        return parse_vkey(self.key.vkey or "", where="test")

    def add_claims(self, count: int = 1, **changes: Any) -> list[str]:
        """Register *count* claims about the institute's property, and return their identifiers."""
        with self.ledger.write(actor=self.code) as writer:
            phi = self._find_property(writer)
            names = writer.allocate(Kind.CLAIM, self.code, count)
            known = {"quote": "It does not scheme."} | changes
            writer.append_many([builders.claim(name, phi, **(known | {"note": f"no. {at}"})) for at, name in enumerate(names)])
        return names

    def add_quoted(self, document: str = "ab" * 32) -> str:
        """Register a claim quoted word for word from a card that other institutes may have too."""
        with self.ledger.write(actor=self.code) as writer:
            phi = self._find_property(writer)
            card = writer.allocate(Kind.CARD, self.code)[0]
            writer.append(builders.card(card, writer.put_content(builders.TEXT), document))
            name = writer.allocate(Kind.CLAIM, self.code)[0]
            quoted = {"card": f"{card}@1", "quote_status": builders.QuoteStatus.VERBATIM, "anchor": builders.anchor(document=document)}
            writer.append(builders.claim(name, phi, **quoted))
        return name

    def find_claim(self, name: str) -> ClaimRevision:
        """Return the claim *name* as it is recorded."""
        with self.ledger.view() as view:
            found = view.find_claim(name)
        assert found is not None
        return found.payload

    def seal(self, size: int | None = None, *keys: SigningKey) -> str:
        """Return a signed checkpoint of the log at *size*, or as it is."""
        with self.ledger.view() as view:
            wanted = size or view.log_size
        with self.ledger.write(actor=self.code) as writer:
            return seal_log(writer, keys or (self.key,), size=wanted).note

    def export(self, path: Path, *, size: int | None = None, **options: Any) -> ExportResult:
        """Write a bundle to *path*."""
        note = self.seal(size)
        with self.ledger.view() as view:
            return export_bundle(view, note, path, **options)

    def _find_property(self, writer: Writer) -> str:
        """The property that all claims are about; recorded when it is first needed."""
        if not writer.list_specs():
            writer.append(builders.property_spec(writer.allocate(Kind.PROPERTY, self.code)[0], owner=self.code))
        return f"{writer.list_specs()[0].payload.spec}@1"


def found(url: str, code: str = "AISI", *, seed: int = 1, salt: Salt | None = None, is_migrated: bool = False) -> Institute:
    """Return a new registry at *url*, migrated if it must be, whose log is called after *code* and *seed*."""
    if not is_migrated:
        schema.upgrade(url)
    ledger = Ledger.open(url, clock=builders.ticking(), salt=salt or builders.salting())
    origin = f"caveat.log/{code}/{seed:016x}"
    key = make_key(KeyAlgorithm.ED25519, origin, seed=bytes([seed]) * 32)
    with ledger.write(actor=code) as writer:
        writer.name_log(origin, key.vkey)
        writer.append(Authority(code=code, name=f"Institute {code}", role=AuthorityRole.INSTITUTE))
        add_key(writer, key)
    return Institute(ledger=ledger, code=code, key=key)
