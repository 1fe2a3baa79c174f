"""Model versions, their lineage, and the names under which endpoints return them."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from registry.records.record import Payload, Record

if TYPE_CHECKING:
    from registry.records.dossier import Recorded

# Model versions: one exact version, and its lineage.


# Version strings of model providers carry dates in these two forms. The compact form must begin
# with 20, or any eight digits would match.
_DATES = (re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)"), re.compile(r"(?<!\d)(20\d{2})(\d{2})(\d{2})(?!\d)"))


UNSTATED = re.compile(
    r"(?:[-–—?.]*|n/?a|none|null|nil|unknown|unspecified|undisclosed|unpublished|unclear|tb[ad]|"
    r"(?:it is |is )?(?:not|never) (?:stated|given|specified|known|disclosed|published|reported|named|available|applicable|clear)|"
    r"no (?:version|information|details?)(?: (?:stated|given|known))?)\.?",
    re.IGNORECASE,
)
"""Words in a field that states nothing; spaces are single."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRef(Record):
    """The exact model version a claim or a piece of evidence is about."""

    developer: str
    name: str
    version: str

    @property
    def states_version(self) -> bool:
        """Whether the version says anything: two models without a stated version need not be one model."""
        return UNSTATED.fullmatch(" ".join(self.version.split())) is None

    def __str__(self) -> str:
        # "Model 4 not stated" would make sentences say that something else is not stated.
        version = self.version if self.states_version else "(version not stated)"
        return f"{self.developer} {self.name} {version}"


class Descent(StrEnum):
    """How a model version comes from another one."""

    SUCCESSOR = "successor"
    """It takes the other's place: claims about that no longer speak of what is offered."""
    SNAPSHOT = "snapshot"
    """A later state of the same version, under a name of its own; it takes the other's place too."""
    FINE_TUNE = "fine_tune"
    """Trained further from the other, which stays what it is: its claims neither become stale nor speak of this one."""


# A fine-tuned model leaves its base on offer, so claims about the base stay current.
REPLACING = frozenset({Descent.SUCCESSOR, Descent.SNAPSHOT})
"""Descent that puts claims about the earlier version up for review."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVersion(Payload):
    """A model version as registered, with the one it follows."""

    KIND = "model_version"
    model: ModelRef

    predecessor: ModelRef | None = None
    """The version this one succeeds, where that was said when it was registered; what is said later are events (`ModelEvent`)."""

    note: str | None = None

    released: date | None = None
    """The day it was first offered; None if it is not stated."""


class ModelEventKind(StrEnum):
    """What may be said of a registered model version."""

    FOLLOW = "follow"
    """It comes from `predecessor`, as `descent` says."""
    UNFOLLOW = "unfollow"
    """It does not come from `predecessor`: what was said before was an error."""
    DEPRECATE = "deprecate"
    """It is no longer offered, or will not be from `on` on."""
    REINSTATE = "reinstate"
    """It is offered again, or after all."""


# Letters of other scripts that a reader takes for Latin ones, after case folding: В and в are both here, although only В looks like B.
# Unicode lists thousands (UTS #39); these are the Cyrillic and Greek ones that names of models can be written with.
_LOOKALIKES = str.maketrans("аівекмнорстухјѕԁԛԝαβεζηικμνορτυχ", "aibekmhopctyxjsdqwabezhikmnoptyx")


def fold_model(model: ModelRef) -> str:
    """Return what model versions have in common that differ in case, Unicode form, white space, in letters and dashes that look alike, or
    in where name and version part.
    """
    # NFKC twice, since case folding can produce characters that are not in normal form. Control and
    # format characters (Cc, Cf) are invisible and would make two names look the same.
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", f"{model.developer} {model.name} {model.version}").casefold())
    seen = "".join(
        " " if unicodedata.category(name) in ("Zl", "Zp", "Zs", "Cc") else name for name in text if unicodedata.category(name) != "Cf"
    )
    plain = "".join("-" if unicodedata.category(name) == "Pd" else name for name in seen.translate(_LOOKALIKES))
    return " ".join(plain.split())


def fold_version(model: ModelRef) -> str:
    """Return what `fold_model` does, and 1, 1.0 and v1 are alike: they may be one version, and may be two."""
    bare = re.sub(r"^(?:version|v)[\s._-]*(?=\d)", "", model.version.strip(), flags=re.IGNORECASE)
    return fold_model(replace(model, version=re.sub(r"(?<=\d)(?:\.0+)+$", "", bare)))


def find_date(version: ModelVersion) -> tuple[date, str] | None:
    """Return when *version* was first offered and how that is known, in words; None where neither record nor name shows it it.

    A date inside the version string is one written `2025-05-14` or `20250514`; of several, none is taken.
    """
    if version.released is not None:
        return version.released, "released"
    # Two different dates in one version string are ambiguous, so none is used.
    days = {day for pattern in _DATES for match in pattern.finditer(version.model.version) if (day := _parse_date(match))}
    return (days.pop(), "by the date in its version") if len(days) == 1 else None


def _parse_date(match: re.Match[str]) -> date | None:
    try:
        return datetime(*(int(part) for part in match.groups())).date()  # type: ignore[arg-type]  # noqa: DTZ001  (a day has no zone)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEvent(Payload):
    """A step in the lineage of model versions."""

    KIND = "model_event"
    model: ModelRef
    event: ModelEventKind
    predecessor: ModelRef | None = None
    """Given exactly for follow and unfollow."""
    descent: Descent | None = None
    """Given exactly for follow."""
    on: date | None = None
    """The last day on which a deprecated version is offered; None if it is not stated, and for other events."""
    reason: str | None = None
    """Required but for follow."""
    branch: bool = False
    """Whether whoever says follow knows that something else took the predecessor's place already; without it that is refused."""

    def __post_init__(self) -> None:
        # A field that does not belong to the event would be stored and never read.
        links = self.event in (ModelEventKind.FOLLOW, ModelEventKind.UNFOLLOW)
        if links != (self.predecessor is not None):
            raise ValueError("a predecessor belongs to follow and unfollow, and only to them")
        if (self.event is ModelEventKind.FOLLOW) != (self.descent is not None):
            raise ValueError("a descent belongs to follow, and only to it")
        if self.on is not None and self.event is not ModelEventKind.DEPRECATE:
            raise ValueError("a last day belongs to deprecate, and only to it")
        if self.branch and self.event is not ModelEventKind.FOLLOW:
            raise ValueError("a branch belongs to follow, and only to it")
        if self.event is not ModelEventKind.FOLLOW and not (self.reason and self.reason.strip()):
            raise ValueError(f"{self.event.value} needs a reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLink(Record):
    """That one version comes from another, as it is on record: derived from versions and events, never itself recorded."""

    model: ModelRef
    predecessor: ModelRef
    descent: Descent
    entry: int
    """The entry that says so last."""


# Endpoint names: names that authorities state, and which of them are in force.


class EndpointEventKind(StrEnum):
    """What may be said of an endpoint name."""

    STATE = "state"
    """Endpoints return this name for responses of the version."""
    RETRACT = "retract"
    """The same authority no longer says so: it was an error, or it came to be untrue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEndpoint(Payload):
    """A statement of an authority on the name under which endpoints return a model version."""

    KIND = "model_endpoint"
    model: ModelRef
    event: EndpointEventKind
    name: str
    """As the endpoint returns it, compared letter by letter."""
    reason: str
    """Why the authority says so."""
    source: str | None = None
    """Where it can be looked up, such as the address of a page; None where the authority names nothing."""

    def __post_init__(self) -> None:
        if not self.name.strip() or self.name != self.name.strip():
            raise ValueError("an endpoint name is not blank and has no white space at its ends")
        # Names are compared letter by letter, so an invisible character would make two
        # equal-looking names different.
        if any(unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp") for letter in self.name):
            raise ValueError("an endpoint name has no line breaks and no characters that cannot be seen")
        if not self.reason.strip():
            raise ValueError("an endpoint name needs a reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointName(Record):
    """An endpoint name in force: derived from statements, never itself recorded as one."""

    model: ModelRef
    name: str
    by: tuple[str, ...]
    """Codes of the authorities that state it, in the order in which they did."""
    entries: tuple[int, ...]
    """Their statements, in the same order."""


def list_endpoint_names(statements: Iterable["Recorded[ModelEndpoint]"]) -> tuple[EndpointName, ...]:
    """Return the endpoint names in force after *statements*, in the order in which they were first stated.

    Each authority states its own names: one that retracts a name takes back its own statement and no other.
    """
    stated: dict[tuple[ModelRef, str], dict[str, int]] = {}
    for endpoint in sorted(statements, key=lambda statement: statement.entry.seq):
        authorities = stated.setdefault((endpoint.payload.model, endpoint.payload.name), {})
        # A repeated statement moves to its newest entry. A retraction removes only the authority's
        # own statement.
        authorities.pop(endpoint.entry.actor, None)
        if endpoint.payload.event is EndpointEventKind.STATE:
            authorities[endpoint.entry.actor] = endpoint.entry.seq
    return tuple(
        EndpointName(model=model, name=name, by=tuple(authorities), entries=tuple(authorities.values()))
        for (model, name), authorities in stated.items()
        if authorities
    )


def find_endpoint_conflicts(names: Iterable[EndpointName], model: ModelRef) -> tuple[EndpointName, ...]:
    """Return the names of *model* as they are stated for other versions: such a name does not show which of them was asked."""
    known = tuple(names)
    # Conflicts are shown instead of refused: several authorities may state names, and the log takes
    # no side.
    own = {name.name for name in known if name.model == model}
    return tuple(name for name in known if name.name in own and name.model != model)
