"""Who was asked, from the names that responses carry and the names that authorities state."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.records.dossier import Recorded
from registry.records.model_version import (
    EndpointEventKind,
    EndpointName,
    ModelEndpoint,
    ModelRef,
    find_endpoint_conflicts,
    list_endpoint_names,
)
from registry.records.replay_run import ModelIdentity, ModelIdentityStatus, assess_model_identity
from registry.records.statement import Entry

MINE = ModelRef(developer="Lab", name="Model", version="1")
OTHER = ModelRef(developer="Vendor", name="Rival", version="7")


def name(text: str, model: ModelRef = MINE, by: str = "LAB") -> EndpointName:
    return EndpointName(model=model, name=text, by=(by,), entries=(1,))


def say(seq: int, text: str, *, actor: str = "LAB", model: ModelRef = MINE, retract: bool = False) -> Recorded[ModelEndpoint]:
    event = EndpointEventKind.RETRACT if retract else EndpointEventKind.STATE
    entry = Entry(seq=seq, kind=ModelEndpoint.KIND, actor=actor, at=datetime(2026, 11, 23, tzinfo=UTC), leaf="ab" * 32)
    return Recorded(entry=entry, payload=ModelEndpoint(model=model, event=event, name=text, reason="it is served so"))


def weigh(
    *returned: str, names: tuple[EndpointName, ...] = (name("m-1"),), locked: tuple[str, ...] | None = None, **more: int
) -> ModelIdentity:
    return assess_model_identity(names, MINE, returned, locked=locked, **more)


@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        (weigh("m-1"), ModelIdentityStatus.BOUND, "returned m-1"),
        (weigh("m-1", locked=("m-1",)), ModelIdentityStatus.BOUND, "Lab Model 1"),
        (weigh(), ModelIdentityStatus.UNIDENTIFIED, "carry no model name"),
        (weigh("m-1", unnamed_responses=3), ModelIdentityStatus.UNIDENTIFIED, "3 responses carry no model name"),
        (weigh("m-1", names=()), ModelIdentityStatus.UNBOUND, "No endpoint name is stated for Lab Model 1; the endpoint returned m-1."),
        (weigh("m-1", locked=()), ModelIdentityStatus.UNBOUND, "when the plan was locked"),
        (weigh("m-1", names=(), locked=("m-1",)), ModelIdentityStatus.UNBOUND, "retracted since"),
        (weigh("m-2"), ModelIdentityStatus.OTHER, "returned m-2; the claim is about Lab Model 1, and its endpoint name is m-1."),
        (weigh("m-1", "m-2"), ModelIdentityStatus.OTHER, "m-2"),
        (weigh("m-2", names=(name("m-1"), name("m-2")), locked=("m-1",)), ModelIdentityStatus.OTHER, "m-2"),
        (weigh("r-7", names=(name("m-1"), name("r-7", OTHER))), ModelIdentityStatus.OTHER, "r-7 (a name of Vendor Rival 7)"),
        (weigh("r-7", names=(name("r-7", OTHER),)), ModelIdentityStatus.OTHER, "Vendor Rival 7"),
        (
            weigh("m-1", names=(name("m-1"), name("m-1", OTHER, "INST"))),
            ModelIdentityStatus.CONFLICTING,
            "also for Vendor Rival 7 (by INST)",
        ),
    ],
)
def test_each_case_has_its_status_and_names_both(asked: ModelIdentity, status: ModelIdentityStatus, says: str) -> None:
    """The sentence names what was returned and what was expected, and only a name of the claim's own version is bound."""
    assert asked.status is status
    assert says in asked.text
    assert asked.text.endswith(".")
    assert asked.is_bound == (status is ModelIdentityStatus.BOUND)
    assert all(
        one in asked.text for one in asked.names_returned if status is not ModelIdentityStatus.OTHER or one not in asked.names_expected
    )


def test_a_version_that_is_not_stated_is_bound_by_no_name() -> None:
    """Two claims with a version that is not stated may be about two versions."""
    unstated = ModelRef(developer="Lab", name="Model", version="not stated")

    asked = assess_model_identity([name("m-1", unstated)], unstated, ["m-1"], locked=("m-1",))

    assert asked.status is ModelIdentityStatus.UNBOUND
    assert asked.text == (
        "The endpoint returned m-1, and the claim is about Lab Model (version not stated): nothing shows that its version was asked."
    )


@pytest.mark.parametrize("returned", ["m", "m-1-20261101", "M-1", "m-1 ", "ｍ-1", "m‑1"])
def test_names_are_compared_letter_by_letter(returned: str) -> None:
    """A beginning, another case, white space and look-alikes are other names."""
    assert weigh(returned).status is ModelIdentityStatus.OTHER


NAMES = st.sampled_from(["a", "b", "c", "a-1"])
STATED = st.lists(st.builds(name, NAMES, st.sampled_from([MINE, OTHER])), max_size=6).map(tuple)


@given(st.lists(NAMES, max_size=4), STATED, st.none() | st.lists(NAMES, max_size=3).map(tuple), st.integers(min_value=0, max_value=2))
def test_bound_means_that_every_response_has_a_name_of_this_version_alone(
    returned: list[str], stated: tuple[EndpointName, ...], locked: tuple[str, ...] | None, unnamed: int
) -> None:
    """Whatever is stated, locked and returned: no way to `bound` but a name for each response that is stated, locked, and of no other."""
    asked = assess_model_identity(stated, MINE, returned, locked=locked, unnamed_responses=unnamed)

    mine = {one.name for one in stated if one.model == MINE}
    others = {one.name for one in stated if one.model != MINE}
    counts = mine if locked is None else mine & set(locked)
    assert asked.is_bound == (bool(returned) and not unnamed and set(returned) <= counts and not set(returned) & others)


@given(st.lists(NAMES, min_size=1, max_size=3), STATED, st.builds(name, NAMES, st.just(OTHER)))
def test_a_name_stated_for_another_version_never_helps(returned: list[str], stated: tuple[EndpointName, ...], more: EndpointName) -> None:
    """What others say of another version can take the binding away and never give it."""
    before, after = (assess_model_identity(names, MINE, returned, locked=None) for names in (stated, (*stated, more)))

    assert before.is_bound or not after.is_bound


def test_each_authority_takes_back_its_own_statement_alone() -> None:
    """A name is in force while any authority states it; stated again after it was taken back, it counts again."""
    both = [say(1, "m-1"), say(2, "m-1", actor="INST")]

    assert [(one.name, one.by, one.entries) for one in list_endpoint_names(both)] == [("m-1", ("LAB", "INST"), (1, 2))]
    assert [one.by for one in list_endpoint_names([*both, say(3, "m-1", retract=True)])] == [("INST",)]
    assert list_endpoint_names([say(1, "m-1"), say(3, "m-1", retract=True)]) == ()
    assert [one.entries for one in list_endpoint_names([say(1, "m-1"), say(3, "m-1", retract=True), say(4, "m-1")])] == [(4,)]


def test_conflicts_are_names_of_two_versions() -> None:
    """A name of another version alone is none."""
    names = (name("m-1"), name("m-1", OTHER, "INST"), name("r-7", OTHER))

    assert find_endpoint_conflicts(names, MINE) == (names[1],)


@pytest.mark.parametrize("text", ["", "  ", " m-1", "m-1\n", "m\n1", "m\u200b1", "m\u202e1"])
def test_a_name_that_cannot_be_read_exactly_is_refused(text: str) -> None:
    """Blank, with white space at its ends, or with letters that no one sees."""
    with pytest.raises(ValueError, match="endpoint name"):
        say(1, text)


def test_a_statement_without_a_reason_is_refused() -> None:
    """Who states a name says why."""
    with pytest.raises(ValueError, match="reason"):
        ModelEndpoint(model=MINE, event=EndpointEventKind.STATE, name="m-1", reason=" ")
