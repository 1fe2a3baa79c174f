"""Which claims the entries since an earlier reading can have changed, found from these entries and not from all claims."""

from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import ColumnElement, Table, select

from registry.records.claim_status import list_phrases, read_words
from registry.records.model_version import ModelRef
from registry.records.record import Kind
from registry.records.specification import SpecKind
from registry.store.claim_families import find_linkable
from registry.store.claim_listing import list_heads
from registry.store.database_tables import entry
from registry.store.kinds.audit_kinds import audit, audit_rival, outcome_validity, restriction
from registry.store.kinds.claim_kinds import card_revision, claim_revision, claim_text
from registry.store.kinds.definition_kinds import model_event, model_version, objection, spec_version
from registry.store.kinds.monitor_kinds import monitor, monitor_window
from registry.store.log_reader import LogReader, seen
from registry.store.registry_view import View
from registry.store.statement_kind import KINDS, Role
from registry.store.supplement_states import find_states
from registry.store.version_lineage import name_models, read_lineage

# Decision of 2026-11-26: what changed since an entry is asked of the entries since. They name claims,
# or what claims rest on; the states of these candidates alone are compared. The candidates may be
# more than what changed, never fewer: tests compare with the states of all claims. Three kinds of
# entry can concern claims that no index leads to, and a new version of a definition can be fixed in
# any lock; after these, all claims are compared.

_ANY_CLAIM = ("erasure", "log_import", "model_endpoint")
_ROLES = tuple(role for kind in KINDS.values() for role in kind.names if role.is_basis)
_OUTCOME_TABLES = ("restriction", "audit_withdrawal", "claim_revision", "passage_match", "objection_event")
_OUTCOME_ROLES = tuple(role for role in _ROLES if role.table in _OUTCOME_TABLES)
"""What changes an outcome, its words or their places, or whether it counts."""


def find_newest_states(view: LogReader, claims: Collection[str] | None) -> dict[str, tuple[int, str]]:
    """Return the newest revision of each of *claims* (of all when None) that has one, with the state of its supplement."""
    newest = {head.claim: head.revision for head in list_heads(view, claims)}
    names = None if claims is None else [f"{claim}@{revision}" for claim, revision in newest.items()]
    states = find_states(view, names)
    return {claim: (revision, states[f"{claim}@{revision}"]) for claim, revision in newest.items()}


def find_changed(before: View, after: View, claims: Collection[str] | None) -> tuple[list[str], int]:
    """Return the claims of which the newest revision, or its state, is another in *after*, ascending; and how many are the same.

    Args:
        before: an earlier reading of the log that *after* reads.
        claims: `CLM-…`, the only ones that count; None for all.
    """
    candidates: Collection[str] | None = find_candidates(before, after)
    if candidates is None or claims is None:
        candidates = claims if candidates is None else candidates
    else:
        candidates = set(claims).intersection(candidates)
    then, now = find_newest_states(before, candidates), find_newest_states(after, candidates)
    changed = sorted(claim for claim, state in now.items() if then.get(claim) != state)
    count = after.count_claims() if claims is None else len({head.claim for head in list_heads(after, claims)})
    return changed, count - len(changed)


def find_candidates(before: LogReader, after: LogReader) -> set[str] | None:
    """Return every claim, `CLM-…`, with a state may that differ between two readings of one log; None where any may."""
    since = before.log_size
    if since == after.log_size and before.today == after.today:
        return set()
    kinds = {row.kind for row in after.rows(select(entry.c.kind).where(seen(entry), entry.c.seq > since).distinct())}
    if since == 0 or not kinds.isdisjoint(_ANY_CLAIM):
        return None
    named = _find_named(after, since, _ROLES)
    specs = {name for name in named if name.startswith(_SPECIFICATIONS)} | _find_disputed(after, named)
    if _has_new_method(after, since) or not specs <= _find_new_specs(after, since):
        return None
    # The words and outcomes of a claim count for its family, so a claim that an entry names leads to
    # all that can be linked with it.
    expired = _find_expired(before, after) | _find_monitored(before, after) | _find_judged(after, since)
    direct = _find_claims_of(after, named) | expired
    outcomes = _find_claims_of(after, _find_named(after, since, _OUTCOME_ROLES)) | expired
    families = _find_linkable(after, direct) | _find_worded_alike(after, outcomes)
    return direct | families | _find_about_models(before, after) | _find_quoting(after, since)


_SPECIFICATIONS = tuple(f"{kind.value}-" for kind in Kind if kind not in (Kind.CLAIM, Kind.CARD, Kind.AUDIT, Kind.OBJECTION, Kind.MONITOR))


def _find_named(after: LogReader, since: int, roles: Sequence[Role]) -> set[str]:
    """Return every identifier that the entries after *since* name in one of *roles*."""
    names: set[str] = set()
    for role in roles:
        statement = f'SELECT {role.column}, {role.own} FROM "{role.table}" WHERE log = ? AND seq <= ? AND seq > ?'  # noqa: S608
        rows = after.driver_rows(statement, after.log_id, after.log_size, since)
        names |= {name for row in rows for name in row if name is not None}
    return names


def _has_new_method(after: LogReader, since: int) -> bool:
    """Whether a version of a method was registered: an estimate names its method by its slug, not by its identifier."""
    methods = select(spec_version.c.seq).where(_is_new(spec_version, since), spec_version.c.kind == SpecKind.METHOD.value)
    return bool(after.rows(methods.limit(1)))


def _find_new_specs(after: LogReader, since: int) -> set[str]:
    """Return the specifications first registered after *since*: only claims, audits and locks since then can name them."""
    return {row.spec for row in after.rows(select(spec_version.c.spec).where(_is_new(spec_version, since), spec_version.c.version == 1))}


def _find_disputed(after: LogReader, named: Iterable[str]) -> set[str]:
    rows = after.rows_in(select(objection.c.spec).where(seen(objection)), objection.c.objection, _only(named, Kind.OBJECTION))
    return {row.spec for row in rows if row.spec is not None}


def _find_claims_of(after: LogReader, named: Collection[str]) -> set[str]:
    """Return the claims in *named*, and those that its audits and objections, and audits under a rival in these, are about."""
    objections = _only(named, Kind.OBJECTION)
    rivals = after.rows_in(select(audit_rival.c.audit).where(seen(audit_rival)), audit_rival.c.objection, objections)
    audits = [*_only(named, Kind.AUDIT), *(row.audit for row in rivals)]
    rows = after.rows_in(select(audit.c.claim).where(seen(audit)), audit.c.audit, audits)
    rows += after.rows_in(select(objection.c.claim).where(seen(objection)), objection.c.objection, objections)
    return {*_only(named, Kind.CLAIM), *(row.claim for row in rows if row.claim is not None)}


def _only(names: Iterable[str], kind: Kind) -> list[str]:
    return [name for name in names if name.startswith(f"{kind.value}-")]


def _find_expired(before: LogReader, after: LogReader) -> set[str]:
    """Return the claims of which an outcome counts in full on the day of *before* and not on that of *after*."""
    if before.today is None or after.today is None or before.today >= after.today:
        return set()
    days = outcome_validity.c.valid_until
    expired = select(outcome_validity.c.audit).where(
        seen(outcome_validity), days >= before.today.isoformat(), days < after.today.isoformat()
    )
    return _find_claims_of(after, [row.audit for row in after.rows(expired)])


def _find_monitored(before: LogReader, after: LogReader) -> set[str]:
    """Return the claims with a monitor, if *after* is of a later day: a monitor without new data becomes silent."""
    if before.today == after.today:
        return set()
    return {row.claim for row in after.rows(select(monitor.c.claim).where(seen(monitor)))}


def _find_judged(after: LogReader, since: int) -> set[str]:
    """Return all claims with a monitor, if anchors saw a judge change in a window after *since*: it may score others too."""
    changed = select(monitor_window.c.seq).where(_is_new(monitor_window, since), monitor_window.c.judge_alarm.is_not(None))
    if not after.rows(changed.limit(1)):
        return set()
    return {row.claim for row in after.rows(select(monitor.c.claim).where(seen(monitor)))}


def _find_linkable(after: LogReader, claims: Collection[str]) -> set[str]:
    """Return all claims that identifier, origin or place, or words about one model version and property, can link with *claims*."""
    linkable = find_linkable(after, [head.seq for head in list_heads(after, claims)])
    rows = after.rows_in(select(claim_revision.c.claim).where(seen(claim_revision)), claim_revision.c.seq, linkable)
    return {row.claim for row in rows}


def _find_worded_alike(after: LogReader, claims: Collection[str]) -> set[str]:
    """Return the claims that share a phrase with one of *claims*, which have an outcome: it is shown with all of them."""
    # Only phrases of claims with an outcome are indexed, so here the texts of all claims are read. That
    # takes a few microseconds a claim; the state of a claim takes a hundred times as long.
    rows = after.rows_in(select(restriction.c.claim).where(seen(restriction)), restriction.c.claim, claims)
    audited = {row.claim for row in rows}
    if not audited:
        return set()
    every = select(claim_revision.c.claim, claim_text.c.quote).join(claim_text, _SAME_ENTRY).where(seen(claim_revision))
    own = after.rows_in(every, claim_revision.c.claim, audited)
    phrases = {phrase for row in own for phrase in list_phrases(read_words(row.quote))}
    lengths = {len(phrase) for phrase in phrases}
    alike = set()
    for claim, quote in after.plain_rows(every):
        words = read_words(quote)
        runs = (words[at : at + length] for length in lengths for at in range(len(words) - length + 1))
        if not phrases.isdisjoint(runs):
            alike.add(claim)
    return alike


def _find_about_models(before: LogReader, after: LogReader) -> set[str]:
    """Return the claims about a version that was registered or linked since, or that such a version took the place of."""
    since = before.log_size
    models: set[ModelRef] = set()
    for row in after.rows(select(model_version).where(_is_new(model_version, since))):
        models.add(ModelRef(developer=row.developer, name=row.name, version=row.version))
    for row in after.rows(select(model_event).where(_is_new(model_event, since))):
        models |= {ref for ref in name_models(row) if ref is not None}
    if not models:
        return set()
    # A link that was taken back since is in force in the earlier reading alone.
    lineages, size = (read_lineage(before), read_lineage(after)), 0
    while size < len(models):
        size = len(models)
        models |= {ref for lineage in lineages for model in tuple(models) for ref in lineage.ancestors(model)}
    claims: set[str] = set()
    for model in models:
        about = (claim_revision.c.developer == model.developer, claim_revision.c.model_version == model.version)
        wanted = select(claim_revision.c.claim).where(seen(claim_revision), claim_revision.c.model == model.name, *about)
        claims |= {claim for (claim,) in after.plain_rows(wanted)}
    return claims


def _find_quoting(after: LogReader, since: int) -> set[str]:
    """Return the claims that quote a card of which a newer revision was registered after *since*."""
    newer = select(card_revision.c.card).where(_is_new(card_revision, since), card_revision.c.revision > 1)
    cards = {row.card for row in after.rows(newer)}
    rows = after.rows_in(select(claim_revision.c.claim).where(seen(claim_revision)), claim_revision.c.card, cards)
    return {row.claim for row in rows}


def _is_new(table: Table, since: int) -> ColumnElement[bool]:
    return seen(table) & (table.c.seq > since)


_SAME_ENTRY = (claim_text.c.log == claim_revision.c.log) & (claim_text.c.seq == claim_revision.c.seq)
