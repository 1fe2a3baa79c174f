"""Pages of audits: one audit with everything that it found, and all audits of a claim, each with the reason why it leads or does not."""

from dataclasses import dataclass, replace
from typing import Any

from registry.codec.statement_encoding import list_entries
from registry.records.claim_status import Family, ObjectionState
from registry.records.dossier import AuditFile, Dossier
from registry.records.record import parse_identifier
from registry.records.statement import Entry
from registry.records.supplement import Section, Supplement
from registry.records.verdict import ClaimClass, weaken
from registry.report.claim_outcome import find_absent, find_leading_of, find_party, number_sections
from registry.report.status_account import name_causes
from registry.report.supplement_assembly import assemble_claim
from registry.report.supplement_wording import TITLES, format_verdict, get_words
from registry.store.registry_view import View
from web.pages.addresses import Linker
from web.pages.layout import PageLink, PageText, render
from web.pages.list_pages import find_tone
from web.pages.log_pages import build_entry_rows

_OF_THE_CLAIM = (Section.VERSIONS, Section.HISTORY)
"""Sections of a supplement that are about the claim and not about one audit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """An audit in a table of a page."""

    name: PageLink
    claim: PageLink
    auditor: str
    independence: str
    opened: Entry
    locked: Entry | None
    verdict: str | None
    """None without an outcome."""
    class_: ClaimClass | None
    tone: str
    objection: str | None
    """`CON-…` under whose rival it was made."""
    withdrawn: str | None
    """Why it was withdrawn; None where it was not."""
    leads: bool | None
    """Whether its outcome counts for the claim; None where the table does not say so."""
    place: str
    """Why it leads or does not, in a sentence; empty where the table does not say so."""


def build_audit_row(file: AuditFile, view: View, link: Linker, *, dossier: Dossier | None = None) -> AuditRow:
    """Return what a table shows of one audit, as it counts in *view*; with *dossier*, that of its claim, also whether it leads."""
    opening = file.audit.payload
    last = file.restrictions[-1] if file.restrictions else None
    primary = last.payload.classification.primary if last else None
    counted = view.find_counted([opening.claim]).get(last.entry.seq) if last else None
    # The record has the standing of the day it was made; since then it may have expired, or another audit may disagree.
    valid_until = last.payload.valid_until if last else None
    standing = counted.standing if counted else weaken(primary.verdict_standing, valid_until, view.today) if primary else None
    words = format_verdict(primary.verdict, standing) if primary else None
    leads, place = (None, "") if dossier is None else explain_place(dossier, file)
    party = None if dossier is None else find_party(dossier, opening.auditor)
    return AuditRow(
        name=PageLink(text=opening.audit, href=link(f"/{opening.audit}/"), is_code=True),
        claim=PageLink(text=opening.claim, href=link(f"/{opening.claim}/"), is_code=True),
        auditor=party.name if party is not None and party.name else opening.auditor,
        independence=get_words(opening.independence),
        opened=file.audit.entry,
        locked=file.lock.entry if file.lock else None,
        verdict=words,
        class_=primary.class_ if primary else None,
        tone=find_tone(words, primary.class_ if primary else None),
        objection=opening.objection,
        withdrawn=file.withdrawn.payload.reason if file.withdrawn else None,
        leads=leads,
        place=place,
    )


def explain_place(dossier: Dossier, file: AuditFile) -> tuple[bool, str]:
    """Return whether the outcome of *file* counts for the claim revision that it audited, and why, in a sentence."""
    opening = file.audit.payload
    withdrawn = f"Withdrawn: {file.withdrawn.payload.reason}" if file.withdrawn else ""
    if not file.restrictions:
        return False, withdrawn or "Open: it has no outcome yet."
    leading, _ = find_leading_of(dossier, opening.claim)
    if leading is not None and leading.audit.payload.audit == opening.audit:
        under = f" The rival of {opening.objection} was upheld." if opening.objection else ""
        until = f" {withdrawn} It is shown, as provisional, until another audit has an outcome." if withdrawn else ""
        return True, f"Its outcome counts for {opening.claim}.{under}{until}"
    if withdrawn:
        return False, withdrawn
    upheld = {one.objection.payload.objection for one in dossier.objections if one.state is ObjectionState.UPHELD}
    if opening.objection is not None and opening.objection not in upheld:
        return False, f"Made under the rival of {opening.objection}, which is not upheld: it does not count."
    leader = leading.audit.payload.audit if leading is not None else "another audit"
    return False, f"{leader} counts: of several outcomes the gravest, of equals the latest."


def render_audit(view: View, name: str, link: Linker) -> bytes:
    """Return the page of the audit *name*; raises NotFoundError where a text that it rests on was erased."""
    file = view.find_audit(name)
    if file is None:
        raise ValueError(f"{name} is no audit")
    dossier = view.dossier(file.audit.payload.claim, skips_erased=True)
    supplement = _assemble(view, dossier, file)
    absent = {**dict.fromkeys(_OF_THE_CLAIM), **find_absent(supplement)}
    numbers = number_sections(absent)
    outcome = file.restrictions[-1].payload if file.restrictions else None
    trail = view.trail(parse_identifier(name))
    facts: dict[str, Any] = {
        "absent": absent,
        "numbers": numbers,
        "row": build_audit_row(file, view, link, dossier=dossier),
        "expected": outcome.text.verdict if outcome else None,
        "entries": build_entry_rows(trail, link, leave_out=name),
        "claim_link": PageLink(text=file.audit.payload.claim, href=link(f"/{file.audit.payload.claim}/"), is_code=True),
        "all_audits": PageLink(text="all audits of this claim", href=link(f"/{dossier.claim}/audits/")),
    }
    sections = [(section.value, TITLES[section]) for section in numbers if section is not Section.VERIFICATION]
    text = PageText(
        title=f"Audit {name}",
        description=f"{name}, an audit of {file.audit.payload.claim}",
        origin=view.log_origin,
        state="",
        sections=[*sections, ("entries", "Entries")],
        feed=f"/{dossier.claim}/",
        names=collect_names(supplement),
    )
    return render("audit.html.j2", text, facts, link, supplement=supplement)


def _assemble(view: View, dossier: Dossier, file: AuditFile) -> Supplement:
    """Return the supplement of the claim as if *file* was its only audit: its sections are then about that audit.

    Its outcome counts as it does for the claim: another audit that disagrees lowers it here too.
    """
    outcomes = tuple(outcome for outcome in dossier.family.outcomes if outcome.audit == file.audit.payload.audit and outcome.log is None)
    own = replace(dossier, audits=(file,), family=Family(outcomes=outcomes))
    moment = file.audit.entry.at
    supplement = name_causes(assemble_claim(own, made_at=moment, audit_file=file), view.find_entry)
    if not isinstance(supplement, Supplement):
        raise TypeError("a claim has the supplement of a claim")
    # As on the page of the claim, the last of its own entries takes the place of the size of the log.
    last = max(list_entries(supplement).values(), key=lambda entry: entry.seq)
    return replace(supplement, log_size=last.seq, made_at=last.at)


def render_audits(view: View, supplement: Supplement, link: Linker) -> bytes:
    """Return the list of all audits of the claim of *supplement*, in any of its revisions."""
    current = supplement.claim.payload
    rows: list[AuditRow] = []
    # Most claims of a registry have no audit: then nothing more is read.
    if supplement.audit is not None or supplement.other_audits:
        dossier = view.dossier(current.claim, skips_erased=True)
        rows = [build_audit_row(file, view, link, dossier=dossier) for file in dossier.audits]
    facts = {
        "rows": tuple(sorted(rows, key=lambda row: (not row.leads, -row.opened.seq))),
        "quote": current.quote,
        "claim": PageLink(text=current.reference, href=link(f"/{current.reference}/"), is_code=True),
    }
    text = PageText(title=f"Audits of {current.claim}", origin=view.log_origin, state="", feed=f"/{current.claim}/")
    return render("audits.html.j2", text, facts, link)


def collect_names(supplement: Supplement) -> frozenset[str]:
    """Return the audits, objections and definitions that *supplement* names, each with a page of its own in this registry."""
    names = {other.audit for other in supplement.other_audits}
    files = [*supplement.objections, *(file for part in supplement.specs for file in part.objections)]
    for file in files:
        names |= {file.objection.payload.objection, *(replay.payload.audit for replay in file.replays)}
        names |= {name for name in (file.objection.payload.rival,) if name is not None}
    if supplement.audit is not None:
        names.add(supplement.audit.opening.payload.audit)
        if supplement.audit.opening.payload.renews is not None:
            names.add(supplement.audit.opening.payload.renews)
    names |= {part.reference for part in supplement.specs if part.version is not None}
    return frozenset(names)
