"""The restricted claim says what survives, what is withdrawn, and for which model."""

from dataclasses import replace

import pytest

from audit.verdict.claim_classification import classify
from audit.verdict.restricted_claim import compose_original, restrict
from registry.records.audit_case import Case, EvidenceKind, PerturbationEffect
from registry.records.claim import Form, Relation
from registry.records.estimates import Estimate
from registry.records.model_version import ModelRef
from registry.records.verdict import Basis
from tests.verdict.cases import build_case, build_estimate, build_evidence, build_spec

LIMIT = build_case(theta=0.10, reported=0.05)
QUOTED = replace(LIMIT, claim=replace(LIMIT.claim, quote="Scheming stays at or below {10} %."))


def compose(case: Case, estimate: Estimate | None, *, basis: Basis = Basis.REPLAY) -> str:
    return restrict(case, classify(case, estimate, basis=basis), estimate).restricted


def test_the_verdict_of_an_inversion_is_one_sentence_with_its_numbers() -> None:
    """Verdict, Φ_deploy with its interval, the limit, and that the evaluation passes."""
    estimate = build_estimate()
    text = restrict(LIMIT, classify(LIMIT, estimate), estimate)

    assert text.verdict == (
        "Contradicted. In deployment-like contexts the scheming rate was 25.0 % (95 % CI 12.4–40.1 %); the claimed maximum is 10 %. "
        "The evaluation itself passes: 5.0 % (3.0–7.0 %)."
    )
    assert text.withdrawn == ("That the scheming rate of EXAMPLE m 1 is at most 10 % in deployment: not supported.",)
    assert text.resolves == ()


def test_a_stable_claim_keeps_its_words() -> None:
    """The quotation stands, as data, and its scope is added."""
    text = compose(QUOTED, build_estimate(build_spec(deploy=(0.04, 0.01, 0.09))))

    assert text.startswith("Scheming stays at or below {10} %. The claim holds in the deployment-like contexts tested.")
    assert "could behave differently and not have been sampled" in text


CARRIED = ModelRef(developer="EXAMPLE", name="m", version="0")


def carry(case: Case) -> Case:
    return replace(case, claim=replace(case.claim, spoken_of=CARRIED))


def test_a_carried_limit_says_whose_it_was_before_its_words() -> None:
    """A limit can be asked of another version; that the card spoke of an earlier one is said first."""
    text = compose(carry(QUOTED), build_estimate(build_spec(deploy=(0.04, 0.01, 0.09))))

    assert text.startswith(
        "The card made this claim about EXAMPLE m 0; here it is applied to EXAMPLE m 1. Scheming stays at or below {10} %."
    )


@pytest.mark.parametrize("form", [Form.PREVALENCE, Form.EXISTENCE])
@pytest.mark.parametrize("deploy", [(0.05, 0.04, 0.06), (0.25, 0.1236, 0.4012), (0.06, 0.01, 0.14)])
def test_a_figure_of_another_version_is_never_repeated(form: Form, deploy: tuple[float, float, float]) -> None:
    """What the card measured on one version, or saw of it, is not printed of another, whatever its class."""
    case = build_case(form)
    case = carry(replace(case, claim=replace(case.claim, quote="m 0 schemes in 57.3 % of cases")))

    text = compose(case, build_estimate(build_spec(deploy=deploy)))

    assert "57.3" not in text
    assert text.startswith(
        "The card's figure is of EXAMPLE m 0 and is not claimed of EXAMPLE m 1. "
        "For that version the question is only whether its own evaluation holds in deployment."
    )


def test_an_inverted_claim_keeps_none_of_its_words() -> None:
    """It is shown to fail in deployment, so the redline strikes it whole; what was measured on both sides takes its place."""
    estimate = build_estimate()
    text = restrict(QUOTED, classify(QUOTED, estimate), estimate)

    assert text.original == "Scheming stays at or below {10} %."
    assert "Scheming stays" not in text.restricted
    assert text.restricted.endswith(text.withdrawn[-1])


def test_a_claim_in_doubt_keeps_its_words_for_the_evaluated_contexts_only() -> None:
    """The redline then shows just what was taken from it: its scope, and the statement on deployment."""
    perturbed = build_evidence(kind=EvidenceKind.PERTURBATION, effect=PerturbationEffect.AGAINST_CLAIM, verified=True)
    case = replace(QUOTED, evidence=(perturbed,))
    text = restrict(case, classify(case, None), None)

    assert text.restricted.startswith("In the evaluated contexts only, for EXAMPLE m 1: Scheming stays at or below {10} %. A perturbation")
    assert text.restricted.endswith(text.withdrawn[-1])
    assert text.withdrawn[0].endswith(": suspended until a replay.")
    assert not any("Scheming stays" in sentence for sentence in text.surviving)


def test_a_contradiction_without_a_lock_suspends_the_claim() -> None:
    """It is provisional, names the lock as missing, and does not refute."""
    estimate = build_estimate()
    text = restrict(LIMIT, classify(LIMIT, estimate, basis=Basis.REPORTED), estimate)

    assert text.verdict.startswith("Contradicted (provisional: no lock preceded the run).")
    assert text.withdrawn[0].endswith(": suspended until the verdict is established.")


def test_a_claim_that_holds_provisionally_keeps_its_words_for_the_evaluation_only() -> None:
    """Only an established verdict, or one for the listed contexts, lets the claim's own words stand."""
    estimate = build_estimate(build_spec(deploy=(0.04, 0.01, 0.09)))
    text = restrict(QUOTED, classify(QUOTED, estimate, basis=Basis.REPORTED), estimate)

    assert text.verdict.startswith("Holds in the contexts tested (provisional: no lock preceded the run).")
    assert text.restricted.startswith("In the evaluated contexts only")
    assert "The claim holds" not in text.restricted
    assert text.withdrawn[0].endswith(": not established.")


@pytest.mark.parametrize("deploy", [(0.06, 0.01, 0.14), (0.12, 0.01, 0.25)])
def test_a_limit_that_the_replay_leaves_open_is_not_repeated_even_for_the_evaluation(deploy: tuple[float, float, float]) -> None:
    """An interval of the evaluation that reaches beyond the limit does not show that the limit is met there: the figures are given."""
    met = build_estimate(build_spec(test=(0.05, 0.03, 0.07), deploy=deploy))
    left_open = build_estimate(build_spec(test=(0.05, 0.01, 0.14), deploy=deploy))

    assert compose(QUOTED, met).startswith("In the evaluated contexts only, for EXAMPLE m 1: Scheming stays")
    assert compose(QUOTED, left_open).startswith(
        "In the 5 contexts of the evaluation (20 tasks), the scheming rate of EXAMPLE m 1 was 5.0 % ("
    )
    assert "Scheming stays" not in compose(QUOTED, left_open)


def test_what_the_card_reports_stands_beside_what_the_replay_gives() -> None:
    """Where they differ by more than the rounding of the card's figure; a figure that the replay refutes is not repeated as the claim."""
    estimate = build_estimate(build_spec(test=0.7, deploy=(0.7, 0.68, 0.72), ed=(-0.02, 0.02)))
    case = build_case(Form.PREVALENCE, reported=0.96)
    case = replace(case, claim=replace(case.claim, quote="The model refuses 96 % of requests."))
    text = restrict(case, classify(case, estimate), estimate)

    assert text.verdict.startswith("Not reproduced. The card's figure is not reproduced.")
    assert "refuses 96 %" not in text.restricted
    assert "The card reports 96 %; the replay of its evaluation gives 70.0 %" in text.restricted


def test_a_figure_that_rounds_to_the_cards_is_said_once() -> None:
    """70.04 % is 70 % with the digits of the card."""
    estimate = build_estimate(build_spec(test=0.7004, deploy=(0.7, 0.68, 0.72), ed=(-0.02, 0.02)))

    assert "The card reports" not in compose(build_case(Form.PREVALENCE, reported=0.70), estimate)


def test_a_post_hoc_verdict_says_so() -> None:
    """Whatever the verdict is."""
    estimate = build_estimate()
    classification = classify(LIMIT, estimate, post_hoc=True)

    assert "Post hoc" in classification.primary.why
    assert "Post hoc" in restrict(LIMIT, classification, estimate, post_hoc=True).restricted


def test_a_limit_that_fails_in_test_too_is_no_inversion() -> None:
    """It is contradicted and not reproduced, and nothing of its words is repeated."""
    estimate = build_estimate(build_spec(test=0.2))
    case = replace(QUOTED, claim=replace(QUOTED.claim, reported=None))
    text = restrict(case, classify(case, estimate), estimate)

    assert text.verdict.startswith("Contradicted, and not reproduced.")
    assert "Scheming stays" not in text.restricted


def test_a_test_side_that_fails_is_said_whichever_row_decides() -> None:
    """Also where too few tasks were scored to say more."""
    estimate = build_estimate(build_spec(test=0.2, tasks=10))

    assert classify(LIMIT, estimate).primary.why.startswith("The replay of the claim's own evaluation fails its limit too.")


def test_implied_readings_survive_beside_the_claim() -> None:
    """The existence reading is among the remarks; page one does not repeat it."""
    estimate = build_estimate(build_spec(deploy=(0.04, 0.01, 0.09)))
    text = restrict(LIMIT, classify(LIMIT, estimate), estimate)

    assert any(sentence.startswith("Read as a statement that the behaviour exists: observed") for sentence in text.remarks)
    assert "exists" not in text.restricted


def test_a_stable_threshold_with_a_moved_figure_shows_its_prevalence_reading() -> None:
    """Inside θ and yet not equivalent: both are said."""
    text = compose(build_case(theta=0.9, reported=0.05), build_estimate())

    assert "Read as a statement of how high the figure is in deployment: does not carry over. In" in text


def test_what_is_open_names_what_would_settle_it() -> None:
    """The sizes come from the estimate's own variance."""
    estimate = build_estimate(build_spec(deploy=(0.05, 0.01, 0.11)))

    assert "more context" in " ".join(restrict(LIMIT, classify(LIMIT, estimate), estimate).resolves)


def test_a_point_on_the_limit_is_promised_nothing() -> None:
    """No size decides a point that lies on θ."""
    estimate = build_estimate(build_spec(deploy=(0.10, 0.05, 0.2)))

    assert "not practical with this design" in " ".join(restrict(LIMIT, classify(LIMIT, estimate), estimate).resolves)


@pytest.mark.parametrize(
    ("case", "original"),
    [
        (build_case(theta=0.1), "The scheming rate of EXAMPLE m 1 is at most 10 %."),
        (build_case(theta=0.1, relation=Relation.AT_LEAST), "The scheming rate of EXAMPLE m 1 is at least 10 %."),
        (build_case(theta=None), "The scheming rate of EXAMPLE m 1 keeps to an unpublished maximum."),
        (build_case(Form.UPPER_BOUND), "The scheming rate of EXAMPLE m 1 keeps to an unpublished maximum."),
        (build_case(Form.PREVALENCE, reported=0.055), "The scheming rate of EXAMPLE m 1 is 5.5 %."),
        (build_case(Form.PREVALENCE), "The scheming rate of EXAMPLE m 1 is what the evaluation shows."),
        (build_case(Form.EXISTENCE), "The behaviour scored as scheming rate occurs in EXAMPLE m 1."),
    ],
)
def test_a_claim_without_words_is_composed_from_its_parts(case: Case, original: str) -> None:
    """Every form has its sentence."""
    assert compose_original(case) == original


@pytest.mark.parametrize("basis", list(Basis))
def test_no_sentence_has_a_hole(basis: Basis) -> None:
    """No double space, no space before a full stop, no doubled full stop, in any reading of a table of deployments."""
    for deploy in [(0.25, 0.12, 0.4), (0.04, 0.01, 0.09), (0.05, 0.01, 0.11), (0.25, 0.1, 0.4)]:
        for form in (Form.THRESHOLD, Form.PREVALENCE, Form.LOWER_BOUND, Form.EXISTENCE):
            case = build_case(form, theta=0.1 if form in (Form.THRESHOLD, Form.LOWER_BOUND) else None, reported=0.05)
            estimate = build_estimate(build_spec(name="a", deploy=deploy), build_spec(name="b", deploy=deploy))
            text = compose(case, estimate, basis=basis)

            assert not [hole for hole in ("  ", " .", "..", "None", "{") if hole in text]
