"""The documents of single things: an audit, an objection, a specification and so on, with history, differences and proof."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from registry.cli.log_presenter import compare_revisions, describe_state, summarise_log
from registry.cli.model_presenter import collect_version
from registry.cli.spec_presenter import compare_specs
from registry.codec.canonical_documents import to_document
from registry.codec.statement_encoding import leaf_hash
from registry.errors import AlteredError, Fault, InputError, NotFoundError
from registry.records.dossier import Recorded
from registry.records.model_version import ModelRef
from registry.records.record import Identifier, Kind, parse_identifier
from registry.records.specification import SpecVersion
from registry.records.statement import Entry, Publication
from registry.records.system_card import Card
from registry.registration.key_registration import list_keys
from registry.store.dossiers import TrailEntry, TrailQuery, list_trail
from registry.store.ledger import Ledger
from registry.store.log_seals import find_checkpoint, find_root, prove
from registry.store.registry_view import View
from web.api.operations import Resource

Document = dict[str, Any]
_SPECS = (Kind.CONTEXT, Kind.PROPERTY, Kind.SCORING, Kind.CUES, Kind.METHOD)
_KINDS: Mapping[str, tuple[Kind, ...]] = {
    "claim": (Kind.CLAIM,), "card": (Kind.CARD,), "audit": (Kind.AUDIT,), "objection": (Kind.OBJECTION,), "spec": _SPECS,
}  # fmt: skip
"""What an identifier in a path must name."""
_MOST_PROVEN = 2_000
"""Entries of one proof: each adds some nodes."""


def describe_log(view: View) -> Document:
    """Return the state of the log that a document shows."""
    return {"origin": view.log_origin, "size": view.log_size, "root": find_root(view, view.log_size)}


def _begin(view: View, name: str, id_: str) -> Document:
    return {"schema": f"caveat/{name}/1", "log": describe_log(view), "id": id_}


def parse_name(view: View, noun: str, text: str) -> Identifier:
    """Return the identifier *text* of a *noun*; raises NotFoundError with what may have been meant."""
    kinds = _KINDS[noun]
    try:
        identifier = parse_identifier(text, *kinds)
    except ValueError as error:
        raise NotFoundError(Fault("address-not-found", text, str(error), advice=view.suggest(text))) from error
    if str(identifier) != text or (identifier.revision is not None and noun in ("audit", "objection")):
        raise NotFoundError(Fault("address-not-found", text, f"the identifier is written {identifier.bare}"))
    return identifier


def _refuse_absent(view: View, noun: str, text: str) -> NotFoundError:
    return NotFoundError(Fault("not-registered", text, f"no {noun} has this name here", advice=view.suggest(text)))


def _describe_recorded(recorded: Recorded[Any]) -> Document:
    return {"entry": to_document(recorded.entry), "payload": to_document(recorded.payload)}


# One thing.


def build_audit(view: View, audit: str) -> Document:
    """Return an audit with lock, runs, results and what else belongs to it."""
    name = parse_name(view, "audit", audit).bare
    file = view.find_audit(name)
    if file is None:
        raise _refuse_absent(view, "audit", name)
    return {**_begin(view, "web-audit", name), "audit": to_document(file)}


def build_objection(view: View, objection: str) -> Document:
    """Return an objection with its steps and state."""
    name = parse_name(view, "objection", objection).bare
    file = view.find_objection(name)
    if file is None:
        raise _refuse_absent(view, "objection", name)
    return {
        **_begin(view, "web-objection", name),
        "owner": file.owner,
        "state": file.state.value,
        "objection": to_document(file),
    }


def build_spec(view: View, spec: str) -> Document:
    """Return one version of a specification, the newest where none is named; its text where it is not sealed, or was revealed."""
    version, newest = _find_spec(view, spec)
    payload = version.payload
    body, reveal = view.open_spec(payload), view.find_reveal(payload.spec, payload.version)
    return {
        **_begin(view, "web-spec", f"{payload.spec}@{payload.version}"),
        "versions": newest,
        "version": _describe_recorded(version),
        "sealed": body is None,
        "body": None if body is None else to_document(body),
        "reveal": None if reveal is None else _describe_recorded(reveal),
    }


def _find_spec(view: View, text: str) -> tuple[Recorded[SpecVersion], int]:
    """Return a version, and the number of the newest."""
    name = parse_name(view, "spec", text)
    newest = view.find_spec(name.bare)
    if newest is None:
        raise _refuse_absent(view, "specification", name.bare)
    version = newest if name.revision is None else view.find_spec(name.bare, name.revision)
    if version is None:
        raise _refuse_revision(name.bare, name.revision, newest.payload.version)
    return version, newest.payload.version


def _refuse_revision(name: str, number: int | None, newest: int) -> NotFoundError:
    return NotFoundError(Fault("revision-not-found", f"{name}@{number}", f"{name} has {newest} revision(s)"))


def find_model(view: View, developer: str, model: str, version: str) -> ModelRef:
    """Return a model version that is registered or that claims name; raises NotFoundError."""
    try:
        named = ModelRef(developer=developer, name=model, version=version)
    except ValueError as error:
        raise NotFoundError(Fault("address-not-found", f"{developer}/{model}/{version}", str(error))) from error
    if view.find_model(named) is None and named not in view.list_claimed_models():
        raise _refuse_absent(view, "model version", str(named))
    return named


def build_model(view: View, developer: str, model: str, version: str) -> Document:
    """Return a model version with its lineage and the claims about it."""
    named = find_model(view, developer, model, version)
    return {**_begin(view, "web-model", f"{developer}/{model}/{version}"), "model": to_document(collect_version(view, named))}


def build_authority(view: View, authority: str) -> Document:
    """Return an authority with its keys."""
    recorded = view.find_authority(authority)
    if recorded is None:
        raise _refuse_absent(view, "authority", authority)
    keys = [describe_state(state) for state in list_keys(view) if state.added.entry.actor == authority]
    return {**_begin(view, "web-authority", authority), "authority": _describe_recorded(recorded), "keys": keys}


def build_publication(view: View, sha256: str) -> Document:
    """Return when a file with this digest was published, and of which record it was made."""
    publications = _find_publications(view, sha256)
    if not publications:
        raise _refuse_absent(view, "published file", sha256)
    return {**_begin(view, "web-publication", sha256), "publications": [_describe_recorded(publication) for publication in publications]}


def _find_publications(view: View, sha256: str) -> Sequence[Recorded[Publication]]:
    return view.find_publications(sha256) if re.fullmatch(r"[0-9a-f]{64}", sha256) else ()


def build_entry(view: View, entry: str) -> Document:
    """Return one entry of the log with its statement; null where its text was erased."""
    number = _parse_entry(view, entry)
    ((place, text),) = view.log_entries(number, number + 1)
    (trail,) = list_trail(view, TrailQuery(start=number, stop=number))
    return {
        **_begin(view, "web-entry", str(number)),
        "entry": to_document(place),
        "statement": read_statement(place, text),
        "erased_by": trail.erased_by.entry.seq if trail.erased_by else None,
    }


def read_statement(entry: Entry, text: bytes | None) -> Any:
    """Return the statement of *entry* as the log has it; None where it was erased. Raises AlteredError for another than was recorded."""
    if text is None:
        return None
    if (hashed := leaf_hash(text)) != entry.leaf:
        raise AlteredError(Fault("entry-altered", f"entry {entry.seq}", f"its leaf is {entry.leaf}, the hash of its text {hashed}"))
    return json.loads(text)


def _parse_entry(view: View, text: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= 15 else 0
    if not 1 <= number <= view.log_size or str(number) != text:
        raise NotFoundError(Fault("entry-not-found", text[:40], f"the log has {view.log_size} entries"))
    return number


# Logs.


def build_logs(view: View, ledger: Ledger) -> Document:
    """Return the logs that are kept here: the own one, and those taken over from other registries."""
    items = [summarise_log(ledger, summary) for summary in ledger.list_logs()]
    return {"schema": "caveat/web-logs/1", "log": describe_log(view), "items": items}


def build_log(view: View, ledger: Ledger, authority: str, log: str) -> Document:
    """Return one log: its last checkpoint and the keys that verify it."""
    origin = f"caveat.log/{authority}/{log}"
    for summary in ledger.list_logs():
        if summary.origin == origin:
            return {**_begin(view, "web-log", origin), "item": summarise_log(ledger, summary)}
    raise _refuse_absent(view, "log", origin)


# Lists, histories, differences and proofs.

_NAMES: Mapping[str, Callable[[Any], str]] = {
    "cards": lambda card: f"{card.card}@{card.revision}",
    "audits": lambda audit: str(audit.audit),
    "objections": lambda objection: str(objection.objection),
    "specs": lambda spec: f"{spec.spec}@{spec.version}",
    "authorities": lambda authority: str(authority.code),
    "publications": lambda publication: str(publication.sha256),
}
"""What a path calls the thing that a statement registers."""


def build_list(view: View, resource: Resource, stem: str, *, after: int, limit: int) -> Document:
    """Return the statements that register things of one kind, after the entry *after*, at most *limit*.

    Args:
        stem: the path of the list.
    """
    traces = list_trail(view, TrailQuery(kinds=resource.kinds, start=after + 1, first=limit + 1))
    items = []
    for trace in traces[:limit]:
        # What was erased has its entry left, and no name.
        name = None if trace.payload is None else _NAMES[resource.name](trace.payload)
        address = f"/api/1/entries/{trace.entry.seq}" if name is None else f"{stem}/{name}"
        items.append({"id": name or f"entry {trace.entry.seq}", "address": address, **_describe(trace)})
    return {
        "schema": "caveat/web-records/1",
        "log": describe_log(view),
        "resource": resource.name,
        "items": items,
        "next": _find_next(traces, stem, limit),
    }


def build_models(view: View, stem: str) -> Document:
    """Return every model version, registered or named by a claim; *stem* is the path of the list."""
    registered = {recorded.payload.model: recorded for recorded in view.list_models()}
    items = []
    for model in dict.fromkeys([*registered, *view.list_claimed_models()]):
        recorded, parts = registered.get(model), (model.developer, model.name, model.version)
        described = {"entry": None, "record": None, "erased_by": None} if recorded is None else _describe(_trace(recorded))
        items.append({"id": "/".join(parts), "address": "/".join([stem, *(quote(part, safe="") for part in parts)]), **described})
    return {"schema": "caveat/web-records/1", "log": describe_log(view), "resource": "models", "items": items, "next": None}


def _describe(trace: TrailEntry) -> Document:
    return {
        "entry": to_document(trace.entry),
        "record": None if trace.payload is None else to_document(trace.payload),
        "erased_by": trace.erased_by.entry.seq if trace.erased_by else None,
    }


def _find_next(traces: Sequence[TrailEntry], path: str, limit: int) -> str | None:
    return f"{path}?after={traces[limit - 1].entry.seq}&limit={limit}" if len(traces) > limit else None


def read_traces(view: View, noun: str, names: Mapping[str, str]) -> tuple[str, Sequence[TrailEntry]]:
    """Return the name of one thing, and the entries of the log about it, in order.

    Args:
        names: what the path names.

    Raises:
        NotFoundError: there is no such thing.
    """
    traces: Sequence[TrailEntry]
    match noun:
        case "model":
            model = find_model(view, names["developer"], names["model"], names["version"])
            name, traces = "/".join(names.values()), _read_model_traces(view, model)
        case "authority":
            name = names["authority"]
            traces = list_trail(view, TrailQuery(kinds=("authority", "key_event"), actors=(name,)))
        case "publication":
            name = names["sha256"]
            traces = [_trace(publication) for publication in _find_publications(view, name)]
        case "entry":
            number = _parse_entry(view, names["entry"])
            name, traces = str(number), list_trail(view, TrailQuery(start=number, stop=number))
        case _:
            identifier = parse_name(view, noun, names[noun])
            name, traces = identifier.bare, view.trail(identifier)
    # A model version that only claims name has no entry of its own.
    if not traces and noun != "model":
        raise _refuse_absent(view, noun, name)
    return name, traces


def _trace(recorded: Recorded[Any]) -> TrailEntry:
    return TrailEntry(entry=recorded.entry, payload=recorded.payload)


def _read_model_traces(view: View, model: ModelRef) -> list[TrailEntry]:
    registered = view.find_model(model)
    statements: list[Recorded[Any]] = [
        *view.list_model_events(model),
        *(one for one in view.list_endpoint_statements() if one.payload.model == model),
    ]
    numbered = {one.entry.seq: one for one in [*([registered] if registered else []), *statements]}
    return [_trace(numbered[seq]) for seq in sorted(numbered)]


def build_history(view: View, noun: str, names: Mapping[str, str], path: str, *, after: int, limit: int) -> Document:
    """Return the entries about one thing, after the entry *after*, at most *limit*; *path* is that of the history."""
    name, traces = read_traces(view, noun, names)
    later = [trace for trace in traces if trace.entry.seq > after]
    entries = [_describe(trace) for trace in later[:limit]]
    return {**_begin(view, "web-history", name), "entries": entries, "next": _find_next(later, path, limit)}


def build_proof(view: View, noun: str, names: Mapping[str, str]) -> Document:
    """Return the proof that the entries about one thing are in the log, and the checkpoint of its size where it was signed."""
    name, traces = read_traces(view, noun, names)
    if not traces:
        raise _refuse_absent(view, "entry about this model version", name)
    if len(traces) > _MOST_PROVEN:
        found = f"{len(traces):,} entries are about it, and one proof covers at most {_MOST_PROVEN:,}"
        raise InputError(Fault("bad-query", name, found, advice="ask for the proof of each entry: /api/1/entries/N/proof"))
    entries = [trace.entry for trace in traces]
    signed = find_checkpoint(view, view.log_size)
    return {
        **_begin(view, "web-proof", name),
        "entries": [to_document(entry) for entry in entries],
        "inclusion": to_document(prove(view, [entry.seq for entry in entries])),
        "checkpoint": signed.note if signed else None,
    }


def build_difference(view: View, noun: str, name: str, span: str) -> Document:
    """Return the fields in which two revisions of a claim, a card or a specification differ; *span* is such as `1..2`."""
    old, dots, new = span.partition("..")
    if not dots or not all(part.isascii() and part.isdecimal() and len(part) <= 9 and not part.startswith("0") for part in (old, new)):
        raise NotFoundError(Fault("address-not-found", span[:40], "two revisions are written 1..2"))
    identifier = parse_name(view, noun, name)
    if identifier.revision is not None:
        raise NotFoundError(Fault("address-not-found", name, f"the revisions are named after it: {identifier.bare}/diff/1..2"))
    compare = {"claim": _compare_claims, "card": _compare_cards, "spec": _compare_spec_versions}[noun]
    return {
        **_begin(view, "web-difference", identifier.bare),
        "from": int(old),
        "to": int(new),
        **compare(view, identifier.bare, int(old), int(new)),
    }


def _compare_claims(view: View, name: str, old: int, new: int) -> Document:
    _, after, rows = compare_revisions(view.dossier(name), old, new)
    changes = [{"field": field, "before": before, "after": later} for field, before, later in rows]
    return {"reason": after.why, "changes": changes, "not_compared": None}


def _compare_cards(view: View, name: str, old: int, new: int) -> Document:
    before, after = (_find_card(view, name, number) for number in (old, new))
    left, right = to_document(before), to_document(after)
    fields = [field for field in right if field not in ("revision", "pages", "headings") and left[field] != right[field]]
    changes = [{"field": field, "before": left[field], "after": right[field]} for field in fields]
    return {"reason": None, "changes": changes, "not_compared": None}


def _find_card(view: View, name: str, number: int) -> Card:
    newest = view.find_card(name)
    if newest is None:
        raise _refuse_absent(view, "card", name)
    card = view.find_card(name, number)
    if card is None:
        raise _refuse_revision(name, number, newest.payload.revision)
    return card.payload


def _compare_spec_versions(view: View, name: str, old: int, new: int) -> Document:
    _, later = (_find_spec(view, f"{name}@{number}")[0] for number in (old, new))
    changes, not_compared = compare_specs(view, f"{name}@{old}", f"{name}@{new}")
    return {"reason": later.payload.why, "changes": changes, "not_compared": not_compared}


# One thing by its noun.

_BUILDERS: Mapping[str, Callable[..., Document]] = {
    "audit": build_audit,
    "objection": build_objection,
    "spec": build_spec,
    "model": build_model,
    "authority": build_authority,
    "publication": build_publication,
    "entry": build_entry,
}


def build_record(view: View, ledger: Ledger, noun: str, names: Mapping[str, str]) -> Document:
    """Return the document of the thing that *names* of a path name; raises NotFoundError."""
    return build_log(view, ledger, **names) if noun == "log" else _BUILDERS[noun](view, **names)
