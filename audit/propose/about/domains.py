"""Domains of dangerous capability, each a property of its own: a figure on biology says nothing of cybersecurity."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from audit.propose.about.naming import LONGEST_NAME, shorten
from audit.propose.about.property import slugify
from registry.records.proposal import Proposal

_DOMAINS = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("biology", r"\bbiolog\w*|\bbio(?:security|weapons?|risks?|terror\w*)?\b|\bpathogens?\b|\bvirolog\w*"),
        ("chemistry", r"\bchemi(?:cal|stry)\w*"),
        ("nuclear and radiological", r"\bnuclear\b|\bradiolog\w*"),
        ("cybersecurity", r"\bcyber\w*|\bCTFs?\b|\bcapture[- ]the[- ]flag\b"),
        ("AI self-improvement", r"\bAI self-improvement\b|\bAI R&(?:amp;)?D\b"),
    )
)


def find_domains(words: str) -> tuple[str, ...]:
    """Return the domains that *words* name, in a fixed order."""
    return tuple(name for name, pattern in _DOMAINS if pattern.search(words))


def part_domains(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return the proposals with the domain in the property's name wherever one name stands for figures of different domains.

    A proposal whose words name no domain keeps the name.
    """
    domains: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for one in proposals:
        domains[one.property.name].add(find_domains(one.quote))
    shared = {name for name, found in domains.items() if len(found - {()}) > 1}
    return [_name_domain(one) if one.property.name in shared else one for one in proposals]


def _name_domain(one: Proposal) -> Proposal:
    missing = [domain for domain in find_domains(one.quote) if domain not in find_domains(one.property.name)]
    if not missing:
        return one
    domain = " and ".join(missing)
    name = f"{shorten(one.property.name, LONGEST_NAME - len(domain) - 2)}, {domain}"
    note = f"the card gives figures of several domains under one heading; this one is named by its own: {domain}"
    return replace(one, property=replace(one.property, name=name), slug=slugify(name), notes=(*one.notes, note))
