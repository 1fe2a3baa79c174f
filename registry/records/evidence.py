"""What is known without a replay, by layer (paper section 4)."""

from dataclasses import dataclass
from enum import StrEnum

from registry.records.model import ModelRef
from registry.records.record import Record


class Layer(StrEnum):
    """The four evidence layers."""

    BEHAVIOURAL = "behavioural"
    VERBALISED = "verbalised"
    LATENT = "latent"
    CUE_SENSITIVITY = "cue_sensitivity"


class Access(StrEnum):
    """Whether a layer could be looked at."""

    AVAILABLE = "available"
    UNAVAILABLE = "unavailable"
    WITHHELD = "withheld"


class AccessLevel(StrEnum):
    """What somebody needs to look at a layer (paper, Table 3)."""

    API = "api"
    """An endpoint: prompts in, responses out."""
    LAB_TOOLS = "lab_tools"
    """Tools of the lab that made the model, such as its own interpretability pipeline."""
    WEIGHTS = "weights"
    INTERNALS = "internals"
    """Activations, or features read from them."""

    @property
    def words(self) -> str:
        """The level as a sentence has it."""
        return _LEVEL_WORDS[self]


_LEVEL_WORDS = {
    AccessLevel.API: "API only",
    AccessLevel.LAB_TOOLS: "lab tools",
    AccessLevel.WEIGHTS: "weights",
    AccessLevel.INTERNALS: "internals",
}


class EvidenceKind(StrEnum):
    """What was observed, for layers that can bear on behaviour."""

    OBSERVATION = "observation"
    DEPARTURE = "departure"
    PERTURBATION = "perturbation"
    RISK_AMPLIFYING = "risk_amplifying"
    ADVERSE = "adverse"


class Effect(StrEnum):
    """Which way a perturbation moved the score."""

    AGAINST_CLAIM = "against_claim"
    WITH_CLAIM = "with_claim"
    UNKNOWN = "unknown"


class Sign(StrEnum):
    """Sign of an Evaluation Differential."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Record):
    """A published number with what is known of its precision."""

    value: float
    unit: str
    """`share`, `percentage points` (of shares), `points` or `score` of the property's range, `count`, or a unit of its own."""
    low: float | None = None
    high: float | None = None
    n: int | None = None
    comparison: str | None = None
    """What it is to be set beside, in words."""
    stated: str | None = None
    """Figure and unit as the source gives them, where they were converted at intake."""


_LATENT_BY_API = (
    "latent evidence (activations, SAE features) cannot be read through an API; write access_level: internals, weights or lab_tools, "
    "or layer: verbalised where it is what the model wrote"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(Record):
    """One piece of evidence, or the statement that a layer is not available."""

    layer: Layer
    access: Access = Access.AVAILABLE
    kind: EvidenceKind | None = None
    """None: recognition only, or nothing known about behaviour."""
    effect: Effect = Effect.UNKNOWN
    expected_direction: Sign = Sign.UNKNOWN
    """Sign of ED that a departure leads to expect."""
    verified: bool = False
    """Whether somebody checked it beyond the source's word."""
    finding: Finding | None = None
    """The number, with its n; for recognition, the rate in the evaluation."""
    in_deployment: Finding | None = None
    """The same rate in deployment-like samples, where it was measured."""
    access_level: AccessLevel | None = None
    """What it took to look; None: not stated."""
    summary: str | None = None
    """What was found, in our words."""
    source: str | None = None
    location: str | None = None
    """Page or section in the source."""
    evaluation: str | None = None
    """The evaluation it belongs to: an awareness rate is keyed by evaluation, never by model."""
    model: ModelRef | None = None
    """The model it was measured on; None means the claim's."""

    def __post_init__(self) -> None:
        if self.access is not Access.AVAILABLE and (self.finding, self.in_deployment, self.kind) != (None, None, None):
            raise ValueError(f"a layer that is {self.access.value} has no finding and no kind")
        if self.in_deployment is not None and self.finding is None:
            raise ValueError("in_deployment is compared with finding, the rate in the evaluation; give both or neither")
        if self.access is Access.AVAILABLE and self.layer is Layer.LATENT and self.access_level is AccessLevel.API:
            raise ValueError(_LATENT_BY_API)
