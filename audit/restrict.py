"""Station 7: the claim as it may still be made, composed from the record and never written freely (method section 7)."""

from audit.conditions import build_facts
from audit.phrases import Phrases
from audit.sentences import Wording, get_wording
from audit.wording import CONDITIONAL, NOT_MET, POST_HOC, join, say_carried, say_off_lock
from registry.records.case import Case
from registry.records.claim import Form, Relation
from registry.records.classification import ClaimClass, Classification, ReadingVerdict, Standing
from registry.records.estimate import Bounded, Estimate, SpecEstimate
from registry.records.restriction import RestrictedClaim

_ESTABLISHING = frozenset({"deploy-wholly-beyond", "deploy-wholly-inside", "ed-within-margin", "ed-wholly-outside"})
_READ_AS = {
    Form.EXISTENCE: "Read as a statement that the behaviour exists",
    Form.PREVALENCE: "Read as a statement of how high the figure is in deployment",
}


def restrict(
    case: Case, classification: Classification, estimate: Estimate | None, *, post_hoc: bool = False, off_lock: str | None = None
) -> RestrictedClaim:
    """Return what survives of the claim, under which contexts, for which model version, and what is withdrawn.

    Args:
        classification: of the same case and estimate.
        post_hoc: whether nothing shows that θ and the plan were fixed before the scores could be seen; the text then says so.
        off_lock: what in the scores is not what the lock fixes, in words; the text then says so. None where nothing is.
    """
    primary = classification.primary
    phrases = _ReadingPhrases(case, primary, estimate)
    wording = _get_wording(primary)
    original = compose_original(case)
    own = [_fill(sentence, phrases) for sentence in wording.surviving]
    carried, kept = _say_carried(case), _shorten(wording, own, case, primary)
    remarks = [CONDITIONAL] if estimate is not None and estimate.contexts == "fixed" and primary.specs else []
    remarks += [POST_HOC] if post_hoc and estimate is not None else []
    remarks += [say_off_lock(off_lock)] if off_lock and estimate is not None else []
    implied = {reading.form: _fill_implied(case, reading, estimate) for reading in classification.readings[1:]}
    # A claim that stands while its figure does not carry over must not be printed without saying so.
    cautions = [implied[Form.PREVALENCE]] if wording.stands and Form.PREVALENCE in implied else []
    surviving = [*own, *implied.values()]
    surviving += remarks
    withdrawn = [_fill(sentence, phrases) for sentence in wording.withdrawn]
    resolves = [reading.resolves for reading in classification.readings if reading.resolves]
    return RestrictedClaim(
        original=original,
        restricted=join([carried, _scope(original, case, primary, wording), *kept, *cautions, *remarks, *withdrawn]),
        surviving=tuple(filter(None, [carried, *surviving])),
        withdrawn=tuple(withdrawn),
        resolves=tuple(dict.fromkeys(resolves)),
        verdict=join([NOT_MET if primary.not_met_in_test and primary.rule != "not-met-in-test" else "", _fill(wording.verdict, phrases)]),
    )


def _scope(original: str, case: Case, primary: ReadingVerdict, wording: Wording) -> str:
    """The claim's own words, kept as far as they stand: a reader then sees in the redline just what was taken from them."""
    if _is_struck(case, primary):
        return ""
    if wording.stands:
        return original
    model = f", for {case.claim.model}" if case.claim.model else ""
    end = "" if original.rstrip()[-1:] in (".", "!", "?") else "."
    return f"In the evaluated contexts only{model}: {original.rstrip()}{end}"


def _say_carried(case: Case) -> str:
    """Whose words they are, where the claim was carried from another model version; empty where it was not."""
    claim = case.claim
    return say_carried(claim.spoken_of, claim.model, keeps_words=_keeps_words(case)) if claim.spoken_of else ""


def _keeps_words(case: Case) -> bool:
    """Whether the claim's words can be asked of the version it is about: a limit can be carried, a figure or an observation cannot."""
    return case.claim.spoken_of is None or case.claim.effective_relation is not None


def _is_struck(case: Case, primary: ReadingVerdict) -> bool:
    """Whether nothing of the claim's own words stands: its own evaluation does not meet it, it is shown to fail in deployment, or its words
    are those of a figure of another model version.
    """
    fails = primary.class_ is ClaimClass.INVERTED and primary.standing is Standing.ESTABLISHED
    return primary.not_met_in_test or fails or not _keeps_words(case)


def _shorten(wording: Wording, filled: list[str], case: Case, primary: ReadingVerdict) -> list[str]:
    """What page one says after the claim's own words: where these already give the test side, it is not said twice."""
    if _is_struck(case, primary):
        return filled
    left_out = {"{test_figure}", "{evaluated_only}"}
    if primary.rule != "ed-wholly-outside":
        left_out.add("{differential}")
    return [text for sentence, text in zip(wording.surviving, filled, strict=True) if sentence not in left_out]


def compose_original(case: Case) -> str:
    """Return the claim's words, or, where none are on record, the claim composed from its parts."""
    if case.claim.quote and case.claim.quote.strip():
        return case.claim.quote
    text = _Claimed(case).compose()
    return f"{text[0].upper()}{text[1:]}."


def _get_wording(reading: ReadingVerdict) -> Wording:
    demoted = reading.rule in _ESTABLISHING and reading.standing is not Standing.ESTABLISHED
    return get_wording(reading.rule, demoted=demoted)


def _fill(sentence: str, phrases: Phrases) -> str:
    return " ".join(sentence.format_map(phrases).split())


def _fill_implied(case: Case, reading: ReadingVerdict, estimate: Estimate | None) -> str:
    verdict = _fill(_get_wording(reading).verdict, _ReadingPhrases(case, reading, estimate))
    return f"{_READ_AS[reading.form]}: {verdict[0].lower()}{verdict[1:]}"


class _Claimed:
    """The claim in a subordinate clause."""

    def __init__(self, case: Case, phrases: Phrases | None = None) -> None:
        self._claim = case.claim
        self._phrases = phrases or Phrases(case, build_facts(case, case.claim.form), whole=None)

    @property
    def subject(self) -> str:
        """What is scored, and on which model version."""
        return f"the {self._claim.property.name}" + (f" of {self._claim.model}" if self._claim.model else "")

    def compose(self, place: str = "") -> str:
        """Subject and predicate, with *place* (`in deployment`) where it belongs."""
        claim, phrases, at = self._claim, self._phrases, f" {place}" if place else ""
        if claim.form is Form.EXISTENCE:
            return f"the behaviour scored as {claim.property.name} occurs{at}" + (f" in {claim.model}" if claim.model else "")
        if claim.form is Form.PREVALENCE:
            return f"{self.subject} is {phrases.reported}{at}" if phrases.reported else f"{self.subject} is{at} what the evaluation shows"
        if claim.theta is None:
            return f"{self.subject} keeps to an unpublished {phrases.limit_word}{at}"
        word = "at most" if claim.effective_relation is Relation.AT_MOST else "at least"
        return f"{self.subject} is {word} {phrases.theta}{at}"


class _ReadingPhrases(Phrases):
    """The phrases of one reading, with those that only a restricted claim needs."""

    def __init__(self, case: Case, reading: ReadingVerdict, estimate: Estimate | None) -> None:
        spec = _find_deciding(reading, estimate)
        facts = build_facts(case, reading.form, estimate=estimate if spec else None, spec=spec)
        super().__init__(case, facts, whole=estimate)
        self._reading = reading
        self._specs = estimate.specs if estimate else ()
        self._claimed = _Claimed(case)

    @property
    def claimed(self) -> str:
        """The claim in a subordinate clause."""
        return self._claimed.compose()

    @property
    def claimed_in_deployment(self) -> str:
        """The claim in a subordinate clause, as one about deployment."""
        return self._claimed.compose("in deployment")

    @property
    def evaluated_only(self) -> str:
        """The figure of the evaluation, and that it is no more than that."""
        figure = self.test_figure
        return (
            f"{figure} It describes the evaluated contexts only."
            if figure
            else "What the evaluation shows, it shows of its own contexts only."
        )

    @property
    def mode(self) -> str:
        """Mode of an undetermined reading."""
        return self._reading.mode.value if self._reading.mode else ""

    @property
    def candidate(self) -> str:
        """Class of the point estimate."""
        return self._reading.candidate.value if self._reading.candidate else "none"

    @property
    def with_candidate(self) -> str:
        """The candidate as an afterthought, such as `, candidate inverted`; empty without one."""
        return f", candidate {self._reading.candidate.value}" if self._reading.candidate else ""

    @property
    def ed_magnitude(self) -> str:
        """|ED|, never rounded across δ."""
        return self._unit.difference(abs(self._estimate.ed.value), 0.0, self._facts.margin)

    @property
    def where(self) -> str:
        """Which specification of P_deploy the verdict quotes, such as ` (b)`; empty where there is one."""
        return f" ({_name(self._estimate)})" if len(self._specs) > 1 else ""

    @property
    def surviving_bound(self) -> str:
        """The one-sided bound of every specification that has the reading's class: one of several says nothing of the others."""
        if len(self._specs) < 2:
            return super().surviving_bound
        named = {(one.spec, one.judge) for one in self._reading.specs if one.class_ is self._reading.class_}
        return "; ".join(f"against {_name(spec)}, {self._bound_from(spec)}" for spec in self._specs if (spec.spec, spec.judge) in named)

    @property
    def test_figure(self) -> str:
        """The figure of the evaluation: the replay's, otherwise the card's."""
        if self._facts.estimate is None:
            subject = self._claimed.subject
            return f"Under its own evaluation the card reports {self.reported} for {subject}." if self.reported else ""
        bounded = self._facts.estimate.phi_test
        text = f"Under the evaluated contexts (P_test) {self._claimed.subject} is {self.phi_test}{self._with_level(bounded)}"
        judge = self._facts.estimate.judge
        return f"{text}, over {self.tasks} and {self.contexts_test}{f', by the scores of {judge}' if judge else ''}."

    @property
    def deploy_figure(self) -> str:
        """The figure under each specification of P_deploy."""
        return " ".join(self._deploy_figure(spec) for spec in self._specs)

    @property
    def differential(self) -> str:
        """ED under each specification, with its direction where that is established."""
        return " ".join(self._differential(spec) for spec in self._specs)

    def _deploy_figure(self, spec: SpecEstimate) -> str:
        value = self._unit.score(spec.phi_deploy.value, *self._cuts)
        return f"Under deployment-like contexts ({_name(spec)}) it is {value}{self._with_level(spec.phi_deploy)}."

    def _differential(self, spec: SpecEstimate) -> str:
        against = f" against {_name(spec)}" if len(self._specs) > 1 else ""
        ed, value = spec.ed, self._unit.difference(spec.ed.value, *self._ed_cuts)
        if ed.low is None or ed.high is None:
            return (
                f"The Evaluation Differential{against} is {value}, without an interval: {(ed.reason or 'none can be given').rstrip('.')}."
            )
        interval = self._unit.differences(ed.low, ed.high, *self._ed_cuts)
        return f"The Evaluation Differential{against} is {value} ({self.level} interval {interval})."

    def _with_level(self, bounded: Bounded) -> str:
        return f" ({self.level} interval {self.interval(bounded)})" if bounded.low is not None else ""


def _find_deciding(reading: ReadingVerdict, estimate: Estimate | None) -> SpecEstimate | None:
    """The specification whose numbers the verdict quotes: the first with the reading's class."""
    if estimate is None or not estimate.specs:
        return None
    named = next(((one.spec, one.judge) for one in reading.specs if one.class_ is reading.class_), None)
    return next((spec for spec in estimate.specs if (spec.spec, spec.judge) == named), estimate.specs[0])


def _name(spec: SpecEstimate) -> str:
    """A specification, with the judge where there are several."""
    return spec.spec if spec.judge is None else f"{spec.spec}, judge {spec.judge}"
