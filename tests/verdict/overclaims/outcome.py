"""What an outcome says, read from the product's JSON: the one place that knows its keys."""

import re
from dataclasses import dataclass, field
from typing import Any

Document = dict[str, Any]

STANDINGS = (None, "provisional", "conditional", "established")
"""From the weakest to the strongest."""

_OF_CLASS = {"stable": "holds", "inverted": "contradicted", "degraded": "does_not_carry_over"}
_OF_STANDING = {
    "candidate": "in_doubt",
    "structural_risk": "in_doubt",
    "observed_condition": "observed",
}
_OF_STATUS = {
    "unaudited": ("none", None),
    "unrestricted": ("holds", "established"),
    "withdrawn": ("contradicted", "established"),
    "suspended": ("in_doubt", None),
    "restricted": ("does_not_carry_over", "provisional"),
    "undetermined": ("inconclusive", None),
}
"""What the restriction status of a list says, where the list has no verdict of its own."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one outcome says, in the words of the specification."""

    verdict: str
    standing: str | None
    class_: str | None = None
    trace_standing: str | None = None
    missing_condition: str | None = None
    reproduction: str | None = None
    texts: dict[str, str] = field(default_factory=dict)
    """Sentences by where they stand: headline, restricted, why, rest; of a registry also list, page and card."""
    specs: tuple[Document, ...] = ()
    """The estimate against each specification of P_deploy."""

    @property
    def text(self) -> str:
        """All sentences together."""
        return "\n".join(self.texts.values())

    def describe(self) -> str:
        """Return verdict, standing and TRACE label in a line."""
        named = f"{self.verdict} {self.standing or ''}".strip()
        label = " · ".join(filter(None, (self.class_, self.trace_standing)))
        return f"{named} ({label})" if label else named


def read_case_outcome(document: Document) -> Outcome:
    """Return the outcome that `caveat analyze classify --json` prints."""
    texts = {"headline": document["verdict"], "restricted": document["restricted_claim"]}
    return _read(document, document.get("estimate"), texts)


def read_restriction(document: Document, estimate: Document | None) -> Outcome:
    """Return the outcome in the record that `caveat audit conclude --json` prints."""
    text = document["text"]
    texts = {
        "headline": text["verdict"],
        "restricted": text["restricted"],
        "surviving": "\n".join((*text["surviving"], *text["withdrawn"])),
    }
    return _read(document["classification"], document.get("estimate") or estimate, texts)


def read_listed(row: Document) -> Outcome:
    """Return what a row of `caveat claim list --json` says of a claim: the gravest outcome of its family."""
    status = row["status"]
    if "gravest" in status:
        leading = status["gravest"] or {"verdict": "none", "standing": None}
        return Outcome(verdict=leading["verdict"], standing=leading["standing"], texts={"list": collect_text(status)})
    verdict, standing = _OF_STATUS[status["restriction"]]
    return Outcome(verdict=verdict, standing=standing, texts={"list": collect_text(status)})


def _read(classification: Document, estimate: Document | None, texts: dict[str, str]) -> Outcome:
    first = classification["readings"][0]
    verdict, standing = _find_verdict(first)
    conditions = [str(one.get("note", "")) for one in first.get("conditions", ()) if one.get("status") != "met"]
    warnings = [one["message"] for one in (estimate or {}).get("warnings", ())]
    readings = classification["readings"]
    rest = [*conditions, *warnings, *(one["why"] for one in readings[1:]), *(one["resolves"] or "" for one in readings)]
    return Outcome(
        verdict=verdict,
        standing=standing,
        class_=first["class"],
        trace_standing=first["standing"],
        missing_condition=first.get("missing_condition"),
        reproduction=(first.get("reproduction") or {}).get("status"),
        texts={**texts, "why": first["why"], "rest": "\n".join([*rest, str(first.get("missing_condition") or "")])},
        specs=tuple((estimate or {}).get("specs", ())),
    )


def _find_verdict(reading: Document) -> tuple[str, str | None]:
    """Return verdict and standing; where the record has no verdict of its own, those that its class and standing amount to.

    A record whose verdict is inconclusive while its class decides says both, so the stronger one counts.
    """
    verdict, standing = reading.get("verdict", "inconclusive"), reading.get("verdict_standing")
    if verdict != "inconclusive" or reading["class"] == "undetermined":
        return verdict, standing
    if reading["class"] == "stable" and reading["standing"] is None:
        return verdict, standing  # the words say what it lacks
    named = _OF_STANDING.get(reading["standing"] or "", _OF_CLASS[reading["class"]])
    return named, "established" if reading["standing"] == "established" else None if named in ("in_doubt", "observed") else "provisional"


def collect_text(document: Any) -> str:
    """Return every text in *document*, a line each."""
    if isinstance(document, dict):
        return "\n".join(filter(None, map(collect_text, document.values())))
    if isinstance(document, list):
        return "\n".join(filter(None, map(collect_text, document)))
    return document if isinstance(document, str) else ""


def strip_tags(page: str) -> str:
    """Return the words of an HTML page, without its styles and scripts."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<(style|script)\b.*?</\1>", " ", page)))
