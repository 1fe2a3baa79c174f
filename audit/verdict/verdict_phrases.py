"""Phrases for the placeholders of verdict sentences: the numbers that decided, and the evidence, in words."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from audit.statistics.design_remarks import find_likely_half_width, find_present, predict_chance, resolve_deploy, resolve_difference
from audit.statistics.detectable_effect import ExtraSample, unseen_bound
from audit.statistics.estimate_intervals import relevel
from audit.verdict.verdict_conditions import (
    ReadingFacts,
    count_tasks,
    find_observations,
    has_recognition,
    is_above_floor,
    is_inverted_by_differential,
    is_own_model,
    is_recognition,
    is_shown_by_scores,
    states_its_figure,
    weigh_recognition,
)
from registry.records.analysis_plan import FEWEST_TASKS, ContextDesign, IntervalMethod
from registry.records.audit_case import Access, Case, Evidence, EvidenceKind, EvidenceLayer, Sign
from registry.records.claim import Form, Relation
from registry.records.estimates import BoundedEstimate, Estimate, SpecEstimate
from registry.records.verdict import FigureInterval, Verdict
from registry.report.number_format import Unit, share
from registry.report.page_one import UNSTATED

# Phrases for the placeholders of verdict sentences: the numbers that decided, and the evidence, in words.

_METHOD_WORDS = {
    IntervalMethod.CLOSED_FORM: "",
    IntervalMethod.GUARANTEED: "guaranteed ",
    IntervalMethod.ANYTIME: "anytime-valid ",
}


class VerdictPhrases:
    """The phrases of one decision, by the name of their placeholder; each is made when a sentence asks for it."""

    def __init__(self, case: Case, facts: ReadingFacts, *, whole: Estimate | None, plan_level: float | None = None) -> None:
        """Take what the sentences are about.

        Args:
            whole: the estimate that *facts* come from; None without one.
            plan_level: level of the interval of Φ_test where *whole* was read at another; None: the level of *whole*.
        """
        self._case = case
        self._facts = facts
        # Without a specification the whole estimate gives no number that a sentence may quote.
        self._whole = whole if facts.estimate is not None else None
        self._level = case.plan.level if self._whole is None else self._whole.level
        self._test_level = plan_level or self._level
        self._unit = Unit(low=facts.range[0], high=facts.range[1])

    def __getitem__(self, name: str) -> str:
        phrase = getattr(self, name, None)
        # A wording can reach phrases only. Methods and private parts are unknown placeholders and fail.
        if name.startswith("_") or not isinstance(phrase, str):
            raise KeyError(name)
        return phrase

    # --- the claim ---

    @property
    def level(self) -> str:
        """The level of the intervals, `95 %`, after the name of a method that is not the closed form: `guaranteed 95 %`."""
        method = IntervalMethod.CLOSED_FORM if self._whole is None else IntervalMethod(self._whole.interval)
        return _METHOD_WORDS[method] + share(self._level)

    @property
    def ci(self) -> str:
        """The level with its noun, `95 % CI`."""
        return f"{self.level} CI"

    @property
    def ci_test(self) -> str:
        """The same for Φ_test, which may be read at another level."""
        return f"{share(self._test_level)} CI"

    @property
    def limit_word(self) -> str:
        """What θ is called: the claim's maximum or minimum."""
        relation = self._facts.relation
        return "limit" if relation is None else "maximum" if relation is Relation.AT_MOST else "minimum"

    @property
    def claimed_limit(self) -> str:
        """θ as that of the words, `claimed maximum`, or, where they do not state it, of the registered claim only."""
        return f"{'claimed' if states_its_figure(self._case) else 'registered'} {self.limit_word}"

    @property
    def unstated(self) -> str:
        """That the words of the claim do not state what was tested; empty where they do."""
        if states_its_figure(self._case) or self._case.claim.spoken_of is not None:
            return ""
        if self._facts.form is Form.PREVALENCE:
            return f"{UNSTATED} are not tested: it states no figure, and only the agreement of evaluation and deployment was measured."
        return f"{UNSTATED} state no {self.limit_word} of {self.theta}: whoever registered it set this limit."

    @property
    def relation(self) -> str:
        """≤ or ≥."""
        return "≤" if self._facts.relation is Relation.AT_MOST else "≥"

    @property
    def beyond(self) -> str:
        """On which side of θ the claim is broken."""
        return "above" if self._facts.relation is Relation.AT_MOST else "below"

    @property
    def theta(self) -> str:
        """θ with all its digits, `not published` without."""
        return "not published" if self._facts.theta is None else self._unit.given(self._facts.theta)

    @property
    def margin(self) -> str:
        """δ with all its digits."""
        return self._unit.given_difference(self._facts.margin)

    @property
    def margin_in_points(self) -> str:
        """δ in the short form of its unit, for a sentence that has the long one."""
        return self.margin.replace("percentage points", "points")

    @property
    def reported(self) -> str:
        """The card's own figure with all its digits; empty without one."""
        return "" if self._facts.reported is None else self._unit.given(self._facts.reported.value)

    @property
    def other_model(self) -> str:
        """Why the responses are not those of the claim's model version, as a clause."""
        other_model = self._facts.other_model or ""
        return f"{other_model[:1].lower()}{other_model[1:]}"

    @property
    def distinguishable(self) -> str:
        """That blind raters distinguish the sides, as a clause; empty where that is not shown."""
        return self._facts.distinguishable or ""

    @property
    def rater_limit(self) -> str:
        """The plan's limit on the accuracy of raters."""
        return share(self._facts.rater_limit)

    @property
    def control(self) -> str:
        """What the known-bad subject did, as a clause; empty without one."""
        return "" if self._facts.controls is None else self._facts.controls.note

    # --- the estimate ---

    @property
    def tasks(self) -> str:
        """Tasks seen on both sides, in how many families, and what they are worth where they have weights."""
        counted, effective = _count(self._estimate.n.tasks, "task"), self._estimate.n.effective_tasks
        if self._estimate.n.families is not None:
            counted = f"{self._count_clusters(self._estimate.n.families)} ({counted})"
        return counted if effective is None else f"{counted} (worth {math.floor(effective * 10) / 10:.1f} of equal weight)"

    @property
    def tasks_missing(self) -> str:
        """How many tasks, or families, a class still needs, with weights like the present ones."""
        clusters, effective = self._estimate.n.task_clusters, count_tasks(self._estimate)
        return self._count_clusters(math.ceil((FEWEST_TASKS - effective) * clusters / effective))

    @property
    def contexts_test(self) -> str:
        """Contexts of the test side."""
        n = self._estimate.n
        return _count_drawn(n.contexts_test, n.templates_test)

    @property
    def contexts_deploy(self) -> str:
        """Contexts of the deployment side."""
        n = self._estimate.n
        return _count_drawn(n.contexts_deploy, n.templates_deploy)

    @property
    def no_interval_reason(self) -> str:
        """Why there is no interval, as the estimate says it."""
        measure = self._estimate.ed if self._facts.form is Form.PREVALENCE else self._estimate.phi_deploy
        return (measure.reason or "the estimate gives no reason").rstrip(".")

    @property
    def phi_test(self) -> str:
        """Φ_test, never rounded across θ."""
        return self._unit.score(self._estimate.phi_test.value, *self._cuts)

    @property
    def phi_deploy(self) -> str:
        """Φ_deploy, never rounded across θ."""
        return self._unit.score(self._estimate.phi_deploy.value, *self._cuts)

    @property
    def test_interval(self) -> str:
        """CI(Φ_test), never rounded across θ, with its level where that is not the one of the other intervals."""
        test = self._estimate.phi_test
        if test.low is None or test.high is None:
            return "no interval"
        return f"{'' if self._test_level == self._level else f'{self.ci_test} '}{self.interval(test)}"

    @property
    def test_range(self) -> str:
        """CI(Φ_test) without its level."""
        return self.interval(self._estimate.phi_test)

    @property
    def reproduction(self) -> str:
        """The card's figure next to the replay of its evaluation; empty where the card gives none."""
        check = self._facts.reproduction
        if check.reported is None:
            return ""
        source = {
            FigureInterval.STATED: "interval stated by the card",
            FigureInterval.WILSON: "interval from its sample size",
            FigureInterval.EXACT: "taken as exact: the card states neither sample size nor interval",
            None: "",
        }[check.interval]
        # Rounding must not turn a different value into the card's figure.
        cuts = (check.reported, *self._cuts)
        replicated = self._estimate.phi_test.value if check.difference is None else check.reported + check.difference
        value = self._unit.score(replicated, *cuts)
        text = f"The card reports {self._unit.given(check.reported)} ({source}); the replay of the evaluation gives {value}"
        if check.low is None or check.high is None or check.difference is None:
            return f"{text}, without an interval."
        lines = (0.0, self._facts.margin, -self._facts.margin)
        difference = self._unit.difference(check.difference, *lines)
        return f"{text}, a difference of {difference} ({self._unit.numbers(check.low, check.high, *lines)})."

    @property
    def deploy_interval(self) -> str:
        """CI(Φ_deploy), never rounded across θ."""
        return self.interval(self._estimate.phi_deploy)

    @property
    def ed(self) -> str:
        """ED, never rounded across 0 or ±δ."""
        return self._unit.difference(self._estimate.ed.value, *self._ed_cuts)

    @property
    def ed_interval(self) -> str:
        """CI(ED) without its unit, never rounded across 0 or ±δ."""
        ed = self._estimate.ed
        return "not available" if ed.low is None or ed.high is None else self._unit.numbers(ed.low, ed.high, *self._ed_cuts)

    @property
    def higher(self) -> str:
        """Whether deployment scores higher or lower than the evaluation."""
        return "higher" if self._estimate.ed.value < 0 else "lower"

    @property
    def inversion_test(self) -> str:
        """The inversion test in the paper's own form."""
        ed, phi_test, theta, relation = self._estimate.ed.value, self._estimate.phi_test.value, self._facts.theta, self._facts.relation
        if theta is None or relation is None:
            return ""
        gap = phi_test - theta
        if not is_inverted_by_differential(ed=ed, phi_test=phi_test, theta=theta, relation=relation, slack=self._facts.slack):
            return ""
        side = "below" if relation is Relation.AT_MOST else "above"
        return f"ED = {self._unit.difference(ed, gap)} is {side} Φ_test − θ = {self._unit.difference(gap, ed, 0.0)}."

    @property
    def surviving_bound(self) -> str:
        """The one-sided limit on Φ_deploy that is left of a figure which does not carry over, as a sentence."""
        return self._bound_from(self._estimate)

    def _bound_from(self, estimate: SpecEstimate, *, name: str = "") -> str:
        """The one-sided limit at the level: the end of the two-sided interval at twice the error rate."""
        at = f" against {name}" if name else ""
        low, high = estimate.phi_deploy.low, estimate.phi_deploy.high
        if low is None or high is None or self._whole is None:
            return ""
        level, sided = self._level, "one-sided"
        if self._whole is not None and estimate.variance is not None and level > 0.5:
            # A one-sided limit at the level is the end of the two-sided interval at 2·level − 1.
            # Quoting the two-sided end as one-sided would be a different statement, so the level is
            # named.
            one_sided = relevel(self._whole, estimate, level=2 * level - 1).phi_deploy
            low, high = one_sided.low or low, one_sided.high if one_sided.high is not None else high
        else:
            sided = "two-sided"
        if estimate.ed.value < 0:
            return f"Φ_deploy{at} is at least {self._unit.at_least(low)} ({sided} {share(level)} limit)."
        return f"Φ_deploy{at} is at most {self._unit.at_most(high)} ({sided} {share(level)} limit)."

    @property
    def direction_established(self) -> str:
        """Whether CI(ED) excludes 0."""
        if find_sign(self._estimate) is None:
            return "The direction of the difference is not established."
        return f"The direction is established: {self.higher} in deployment than in the evaluation."

    @property
    def unseen_contexts(self) -> str:
        """The bounds on unseen contexts and tasks of a verdict that holds, with what it assumes (statistics section 3)."""
        n = self._estimate.n
        if n.contexts_deploy < 1:
            return ""
        unseen_tasks = _format_unseen(n.effective_tasks or n.task_clusters)
        # Fixed contexts are not a sample: 1 is the only bound on other contexts.
        if self._facts.contexts is ContextDesign.FIXED:
            return (
                "The contexts are fixed: up to 100 % of other contexts could behave differently, because none was tested. "
                f"With {self._count_clusters(n.task_clusters)}, up to {unseen_tasks} of tasks could behave differently and "
                "not have been sampled (95 % confidence)."
            )
        # With nested contexts only tasks are assumed to be independent, since contexts of one task may
        # be alike.
        nested = self._facts.contexts is ContextDesign.NESTED and n.task_clusters < n.contexts_deploy
        name = "family" if n.families is not None else "task"
        counted = (
            f", those of one {name} counted once ({self._count_clusters(n.task_clusters)})" if nested and n.families is not None else ""
        )
        counted = f", those of one of the {n.tasks} tasks counted once" if nested and n.families is None else counted
        drawn = n.task_clusters if nested else n.deploy_clusters
        guaranteed = self._whole is not None and IntervalMethod(self._whole.interval) is IntervalMethod.GUARANTEED
        assumed = "the guaranteed interval allows for them" if guaranteed else "the verdict assumes no rare trigger contexts"
        return (
            f"With {self.contexts_deploy}{counted}, up to {_format_unseen(drawn)} of deployment contexts could behave differently and "
            f"not have been sampled (95 % confidence); {assumed}. "
            f"With {self._count_clusters(n.task_clusters)}, the same applies to up to {unseen_tasks} of tasks."
        )

    @property
    def theta_ranges(self) -> str:
        """With which θ the claim would hold and with which it would be inverted, where θ is not published."""
        deploy, test = self._estimate.phi_deploy, self._estimate.phi_test
        if deploy.low is None or deploy.high is None:
            return ""
        at_most = self._facts.relation is Relation.AT_MOST
        # *Holds* needs the whole interval of Φ_deploy, and an evaluation that does not wholly fail.
        held = max(deploy.high, test.low or deploy.high) if at_most else min(deploy.low, deploy.low if test.high is None else test.high)
        # Rounded inwards, so that the sentence is true for every θ in the printed range.
        limit = f"at or above {self._unit.at_most(held)}" if at_most else f"at or below {self._unit.at_least(held)}"
        parts = [f"The claim would hold with any θ {limit}"]
        if at_most and test.high is not None and test.high < deploy.low:
            first, last = self._unit.within(test.high, deploy.low)
            parts.append(f"it would be contradicted, and inverted, with any θ from {first} to below {last}")
        elif not at_most and test.low is not None and test.low > deploy.high:
            first, last = self._unit.within(deploy.high, test.low)
            parts.append(f"it would be contradicted, and inverted, with any θ from above {first} to {last}")
        else:
            parts.append("it would be inverted with none")
        return "; ".join(parts) + "."

    @property
    def decisive(self) -> str:
        """The quantity that the form asks about, with its value."""
        return f"ED = {self.ed}" if self._facts.form is Form.PREVALENCE else f"Φ_deploy = {self.phi_deploy}"

    @property
    def decisive_interval(self) -> str:
        """The interval of that quantity."""
        return self.ed_interval if self._facts.form is Form.PREVALENCE else self.deploy_interval

    @property
    def limit(self) -> str:
        """What that interval is held against."""
        return f"±{self.margin}" if self._facts.form is Form.PREVALENCE else f"the {self.limit_word} {self.theta}"

    @property
    def more_data(self) -> str:
        """How large a replay would resolve it, and how often."""
        if self._whole is None or self._estimate.variance is None:
            return "A larger replay is needed; the estimate has no variance from which its size follows."
        boundaries = _find_boundaries(self._facts)
        more = self._resolve_all(boundaries)
        if more is None:
            return "The estimate lies too close to the limit: resolving it is not practical with this design."
        return self._advise(more, boundaries) if more.contexts or more.tasks else "A replay with more tasks and contexts is needed."

    def _advise(self, more: ExtraSample, boundaries: Sequence[float]) -> str:
        """Return the size that decides in two replays of three, or else *more* with its chance."""
        if self._whole is None:
            return ""
        present = find_present(self._whole, self._estimate, difference=self._facts.form is Form.PREVALENCE)
        if present is None:
            return f"If the point estimate stays where it is, {self._describe_extra(more)} would be enough."
        nearest = min(abs(boundary - present.point) for boundary in boundaries)
        # One number would promise too much: in simulations such sizes resolved 61 to 83 % of replays.
        # So the size for two in three is named where it is practical, else the nearer one with its chance.
        half_width = find_likely_half_width(present, boundaries)
        likely = None if half_width is None else self._resolve_all([present.point + half_width, present.point - half_width])
        if likely is not None and self._is_practical(likely):
            return f"About {self._describe_extra(likely)} would decide about two replays in three."
        if not self._is_practical(more):
            return f"More than {_FEASIBLE} times the size is needed: not practical with this design."
        chance = describe_chance(predict_chance(present, boundaries, half_width=nearest))
        return f"About {self._describe_extra(more)} would decide about {chance}; a surer design is not practical."

    def _is_practical(self, extra: ExtraSample) -> bool:
        n = self._estimate.n
        return extra.contexts <= _FEASIBLE * max(n.test_clusters, n.deploy_clusters) and extra.tasks <= _FEASIBLE * n.task_clusters

    def _describe_extra(self, extra: ExtraSample) -> str:
        context = "more template" if self._estimate.n.templates_deploy is not None else "more context"
        sizes = [f"{_count(_round_up(extra.contexts), context)} per side"] if extra.contexts else []
        sizes += [self._count_clusters(_round_up(extra.tasks), more=True)] if extra.tasks else []
        return " and ".join(sizes)

    def _count_clusters(self, number: int, *, more: bool = False) -> str:
        """A number of what counts as independent: tasks, or families of tasks like the present ones."""
        word = "more " if more else ""
        if self._estimate.n.families is None:
            return _count(number, f"{word}task")
        return f"{number} {word}{'family' if number == 1 else 'families'} of tasks"

    def count_deploy(self, spec: SpecEstimate) -> str:
        """Return the contexts of *spec*'s deployment side."""
        return _count_drawn(spec.n.contexts_deploy, spec.n.templates_deploy)

    def interval(self, bounded: BoundedEstimate) -> str:
        """Return the interval of *bounded*, never rounded across θ."""
        if bounded.low is None or bounded.high is None:
            return "not available"
        return self._unit.scores(bounded.low, bounded.high, *self._cuts)

    # --- the evidence ---

    @property
    def observation(self) -> str:
        """What was observed."""
        seen = list(find_observations(self._case))
        is_own = self._facts.other_model is None and not self._facts.is_unidentified
        if self._facts.estimate is not None and is_own and is_shown_by_scores(self._case, self._facts.estimate):
            is_in_test = is_above_floor(self._case, self._facts.estimate.phi_test.value)
            seen.append(f"{f'Φ_test = {self.phi_test}' if is_in_test else f'Φ_deploy = {self.phi_deploy}'} in the scores")
        return "; ".join(seen) or "as recorded"

    @property
    def departure_sources(self) -> str:
        """The evidence of departure."""
        return self._sources(lambda evidence: evidence.kind is EvidenceKind.DEPARTURE)

    @property
    def perturbation_sources(self) -> str:
        """The perturbation evidence, with the model it was measured on where that is another."""
        return self._sources(lambda evidence: evidence.kind is EvidenceKind.PERTURBATION)

    @property
    def direction_sources(self) -> str:
        """The evidence on which way the evaluation pushes."""
        return self._sources(lambda evidence: evidence.kind in (EvidenceKind.RISK_AMPLIFYING, EvidenceKind.ADVERSE))

    @property
    def recognition_sources(self) -> str:
        """The evidence of recognition, each with its rate, n and interval."""
        pieces = [evidence for evidence in self._facts.evidence if evidence.access is Access.AVAILABLE and is_recognition(evidence)]
        return "; ".join(self._describe_recognition(piece) for piece in pieces) or "as recorded"

    @property
    def recognition_evidence(self) -> str:
        """The evidence of recognition without its rates, for a reason below a verdict that gives them."""
        return self._sources(is_recognition)

    def _describe_recognition(self, evidence: Evidence) -> str:
        weight = weigh_recognition(evidence, self._facts.recognition_floor)
        bare = _describe(replace(evidence, finding=None, in_deployment=None), foreign=not is_own_model(self._facts, evidence))
        return f"{bare}, {weight.text}: {weight.reason}"

    @property
    def recognition_rates(self) -> str:
        """The rates of recognition by themselves, for a headline: no words of whoever wrote the evidence."""
        pieces = [evidence for evidence in self._facts.evidence if evidence.access is Access.AVAILABLE and is_recognition(evidence)]
        # A headline must not repeat words of the evidence's author.
        weights = [weigh_recognition(piece, self._facts.recognition_floor) for piece in pieces]
        return "; ".join(f"{weight.text}, {weight.reason}" if weight.rate else weight.reason for weight in weights) or "as recorded"

    @property
    def recognition_below_floor(self) -> str:
        """Recognition that is on record and suspends nothing, with its rate; empty without any."""
        return f"Recorded recognition suspends nothing: {self.recognition_sources}." if has_recognition(self._facts) else ""

    @property
    def expected_direction(self) -> str:
        """The sign of ED that the departure leads to expect."""
        sign = find_expected_sign(self._facts)
        if sign is None:
            return "The direction of the difference is not stated."
        lower = "lower" if sign is Sign.POSITIVE else "higher"
        return f"On the affected items deployment is expected to score {lower}; ED of the whole corpus is unknown."

    @property
    def pushed(self) -> str:
        """Which way the evaluation pushes the score."""
        return "the score higher" if self._facts.form is Form.UPPER_BOUND else "the score lower"

    @property
    def limit_resolves(self) -> str:
        """What a threshold or bound without decisive evidence needs."""
        replay = "A replay of the same tasks in deployment-like contexts."
        return replay if self._facts.theta is not None else f"Publishing the {self.limit_word} θ. {replay}"

    # --- private ---

    @property
    def _estimate(self) -> SpecEstimate:
        if self._facts.estimate is None:
            raise KeyError("this sentence needs an estimate")
        return self._facts.estimate

    @property
    def _cuts(self) -> tuple[float, ...]:
        return () if self._facts.theta is None else (self._facts.theta,)

    @property
    def _ed_cuts(self) -> tuple[float, ...]:
        return (0.0, self._facts.margin, -self._facts.margin)

    def _resolve_all(self, boundaries: Sequence[float]) -> ExtraSample | None:
        """How much more would keep the interval off each of the boundaries; None where nothing feasible would."""
        more = [self._resolve(boundary) for boundary in boundaries]
        if not more or None in more:
            return None
        return ExtraSample(contexts=max(extra.contexts for extra in more if extra), tasks=max(extra.tasks for extra in more if extra))

    def _resolve(self, boundary: float) -> ExtraSample | None:
        """How much more would keep the interval off *boundary*; none is needed where it is off already."""
        if self._whole is None:
            return None
        if self._facts.form is Form.PREVALENCE:
            return resolve_difference(self._whole, self._estimate, boundary=boundary)
        return resolve_deploy(self._whole, self._estimate, theta=boundary)

    def _sources(self, wanted: Callable[[Evidence], bool]) -> str:
        evidences = [evidence for evidence in self._facts.evidence if evidence.access is Access.AVAILABLE and wanted(evidence)]
        return "; ".join(_describe(evidence, foreign=not is_own_model(self._facts, evidence)) for evidence in evidences) or "as recorded"


def _format_unseen(number: float) -> str:
    """The share that could behave otherwise and not have been drawn, rounded up."""
    return share(math.ceil(unseen_bound(number) * 1000) / 1000)


def _round_up(number: int) -> int:
    """A sample size with two significant digits: advice is no more exact than that."""
    step = int(10 ** max(0, len(str(number)) - 2))
    return -(-number // step) * step


_FEASIBLE = 10
"""A replay that would have to be so many times as large as the present one is not given as a number."""


def describe_chance(share: float) -> str:
    """Return a chance in words: the nearest of a few simple ones."""
    words = {0.1: "one replay in ten", 0.25: "one replay in four", 1 / 3: "one replay in three", 0.5: "one replay in two"}
    words |= {2 / 3: "two replays in three", 0.75: "three replays in four", 0.9: "nine replays in ten"}
    # The chance is itself simulated, so more digits would not be meaningful.
    return words[min(words, key=lambda simple: abs(simple - share))]


def fold(name: str) -> str:
    """Return a name from a table on one line: a line break in it must not begin a sentence of its own."""
    return " ".join(name.split())


_OF_SPEC = {
    Verdict.CONTRADICTED: "fails for",
    Verdict.DOES_NOT_CARRY_OVER: "does not carry over to",
    Verdict.NOT_REPRODUCED: "is not reproduced in the replay next to",
    Verdict.INCONCLUSIVE: "is inconclusive for",
    Verdict.HOLDS: "holds for",
}


def describe_verdicts(pairs: Iterable[tuple[str, Verdict]]) -> str:
    """Return what is said of each specification, `fails for “agent”; holds for “chat” and “email”`, the gravest first."""
    named = list(pairs)
    parts = []
    for verdict, words in _OF_SPEC.items():
        specs = list(dict.fromkeys(f"“{fold(spec)}”" for spec, own in named if own is verdict))
        if specs:
            listed = f"{', '.join(specs[:-1])} and {specs[-1]}" if len(specs) > 1 else specs[0]
            parts.append(f"{words} {listed}")
    return "; ".join(parts)


def find_sign(estimate: SpecEstimate) -> Sign | None:
    """The sign of ED where its interval excludes 0; else None."""
    ed = estimate.ed
    if ed.low is None or ed.high is None or ed.low <= 0 <= ed.high:
        return None
    return Sign.POSITIVE if ed.low > 0 else Sign.NEGATIVE


def find_expected_sign(facts: ReadingFacts) -> Sign | None:
    """The sign of ED that the evidence leads to expect; None where it says nothing, or two things."""
    signs = {evidence.expected_direction for evidence in facts.evidence if evidence.access is Access.AVAILABLE} - {Sign.UNKNOWN}
    # Evidence that points both ways gives no direction.
    return signs.pop() if len(signs) == 1 else None


def _find_boundaries(facts: ReadingFacts) -> tuple[float, ...]:
    """What the interval must be kept off for a class: θ, or ±δ where ED lies between them, else the nearer of the two."""
    if facts.form is not Form.PREVALENCE:
        return () if facts.theta is None else (facts.theta,)
    value = facts.estimate.ed.value if facts.estimate else 0.0
    # Inside the margin both ends must be excluded to show agreement. Outside, only the nearer end
    # separates ED from the margin.
    if abs(value) <= facts.margin:
        return (-facts.margin, facts.margin)
    return (math.copysign(facts.margin, value),)


_LAYER_WORDS = {
    EvidenceLayer.BEHAVIOURAL: "behavioural evidence",
    EvidenceLayer.VERBALISED: "verbalised recognition",
    EvidenceLayer.LATENT: "latent recognition",
    EvidenceLayer.CUE_SENSITIVITY: "cue sensitivity",
}


def _describe(evidence: Evidence, *, foreign: bool) -> str:
    # A summary is text of the evidence's author. In quotation marks it cannot pass for a verdict.
    parts = [f"“{fold(evidence.summary).rstrip('.')}”" if evidence.summary else _LAYER_WORDS[evidence.layer]]
    if evidence.finding is not None and not evidence.summary:  # a summary has its numbers; the supplement prints both, by layer
        number = (
            share(evidence.finding.value) if evidence.finding.unit == "share" else f"{evidence.finding.value:g} {evidence.finding.unit}"
        )
        parts.append(f"{number}, against {evidence.finding.comparison}" if evidence.finding.comparison else number)
    parts += [f"in {evidence.evaluation}"] if evidence.evaluation else []
    parts += [f"on {evidence.model}"] if foreign else []
    parts += [evidence.source] if evidence.source else []
    return ", ".join(part.rstrip(".") for part in parts)


def _count_drawn(contexts: int, templates: int | None) -> str:
    """Contexts of a side, and how many templates they were made from where that is declared."""
    made = "" if templates is None else f" from {_count(templates, 'template')}"
    return f"{_count(contexts, 'context')}{made}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# Remarks on a verdict that several stations share, word for word.

NOT_MET = "The replay of the claim's own evaluation fails its limit too."
NOT_MET_BY_CARD = "The figure that the card reports fails the claim's own limit."
# One copy of each sentence: classification and restriction print the same words.
POST_HOC = "Post hoc: nothing shows that the limit and the plan were fixed before the scores could be seen."
_OFF_LOCK = "Not as locked: these scores are of other {} than the lock fixes."
_CARRIED = "The card made this claim about {}; here it is applied to {}."
_CARRIED_FIGURE = (
    "The card's figure is of {} and is not claimed of {}. "
    "For that version the question is only whether its own evaluation holds in deployment."
)
CONDITIONAL = "Conditional on the contexts tested: they are the estimand, not a sample."


def format_off_lock(items: str) -> str:
    """Return the remark on scores of other *items* (such as `tasks, scoring`) than the locked ones."""
    return _OFF_LOCK.format(items)


def format_applied(spoken_of: object, model: object, *, keeps_words: bool) -> str:
    """Return the version that the claim was about: words of *spoken_of*, asked of *model*."""
    return (_CARRIED if keeps_words else _CARRIED_FIGURE).format(spoken_of, model)
