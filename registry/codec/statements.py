"""Statements as they are hashed and stored."""

from datetime import datetime
from typing import Any

from registry.codec.canonical import canonical_bytes
from registry.codec.documents import from_document, from_json, to_document
from registry.errors import Fault, InputError
from registry.records.statement import PAYLOADS, Statement, StatementKind

SCHEMA = "caveat/statement/1"
_KINDS = frozenset(StatementKind)
_KEYS = {"schema", "kind", "actor", "at", "salt", "payload"}


def encode_statement(statement: Statement) -> bytes:
    """Return the canonical bytes whose leaf hash the log keeps."""
    return canonical_bytes(
        {
            "schema": SCHEMA,
            "kind": statement.kind.value,
            "actor": statement.actor,
            "at": statement.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "salt": statement.salt,
            "payload": to_document(statement.payload),
        }
    )


def decode_statement(text: bytes | str, *, where: str) -> Statement:
    """Return the statement stored in *text*; raises InputError if it is none."""
    envelope: dict[str, Any] = from_json(dict[str, Any], text, where=where)
    if envelope.get("schema") != SCHEMA or str(envelope.get("kind")) not in _KINDS:
        found = f"schema {envelope.get('schema')!r}, kind {envelope.get('kind')!r}; expected {SCHEMA} and a known kind"
        raise InputError(Fault(code="unknown-statement", where=where, found=found, advice="upgrade caveat"))
    if envelope.keys() != _KEYS or not all(isinstance(envelope[name], str) for name in _KEYS - {"payload"}):
        found = f"it has {', '.join(sorted(envelope))}; expected {', '.join(sorted(_KEYS))}, all texts but the payload"
        raise InputError(Fault(code="unknown-statement", where=where, found=found, advice="upgrade caveat"))
    noun = PAYLOADS[StatementKind(envelope["kind"])]
    payload = from_document(noun, envelope["payload"], where=f"{where}, payload")
    at = from_document(datetime, envelope["at"], where=f"{where}, at")
    return Statement(actor=envelope["actor"], at=at, salt=envelope["salt"], payload=payload)
