"""Endpoint names in the store: who may say what, as of which entry, and which claims a statement concerns."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from registry.errors import CaveatError
from registry.records.claim import Form
from registry.records.model_version import EndpointEventKind, ModelVersion
from registry.records.replay_run import assess_model_identity
from registry.records.verdict import ClaimClass
from registry.store.ledger import Ledger
from registry.store.registry_rebuild import verify
from registry.store.supplement_states import find_states
from tests.store import builders as make

RIVAL = replace(make.MODEL, name="rival")
RETRACT = EndpointEventKind.RETRACT


@pytest.fixture
def named(new_ledger: Callable[[], Ledger]) -> Ledger:
    """A registry with a claim whose model version has an endpoint name, and another version without one."""
    ledger = new_ledger()
    with ledger.write(actor="LAB") as writer:
        make.add_claim(writer, make.settle(writer))
        writer.append(make.authority("INST"))
        writer.append_many([ModelVersion(model=make.MODEL), ModelVersion(model=RIVAL), make.endpoint(make.MODEL, "m-1")])
    return ledger


def test_names_are_read_as_of_an_entry(named: Ledger) -> None:
    """What was stated later, or retracted, changes nothing for whoever looks from before."""
    with named.view() as view:
        size = view.log_size
    with named.write(actor="INST") as writer:
        writer.append_many([make.endpoint(make.MODEL, "m-1"), make.endpoint(RIVAL, "m-1")])
    with named.write(actor="LAB") as writer:
        writer.append(make.endpoint(make.MODEL, "m-1", RETRACT))

    with named.view(size) as before, named.view() as after:
        assert [endpoint_name.by for endpoint_name in before.list_endpoint_names()] == [("LAB",)]
        assert [(endpoint_name.model, endpoint_name.by) for endpoint_name in after.list_endpoint_names()] == [
            (make.MODEL, ("INST",)),
            (RIVAL, ("INST",)),
        ]
    assert verify(named).entries == size + 3


@pytest.mark.parametrize(
    ("actor", "payload", "code"),
    [
        ("LAB", make.endpoint(make.MODEL, "m-1"), "already-recorded"),
        ("INST", make.endpoint(make.MODEL, "m-1", RETRACT), "nothing-to-retract"),
        ("LAB", make.endpoint(make.MODEL, "m-2", RETRACT), "nothing-to-retract"),
        ("LAB", make.endpoint(replace(make.MODEL, version="9"), "m-9"), "model-not-registered"),
    ],
)
def test_what_contradicts_the_record_is_refused(named: Ledger, actor: str, payload: object, code: str) -> None:
    """Twice the same, taking back what one did not state, and a version that no one registered; nothing is recorded."""
    with pytest.raises(CaveatError, match=code), named.write(actor=actor) as writer:
        writer.append(payload)  # type: ignore[arg-type]
    with named.view() as view:
        assert [endpoint_name.name for endpoint_name in view.list_endpoint_names()] == ["m-1"]


def test_a_statement_cannot_be_erased(named: Ledger) -> None:
    """Whose evidence scores are would hang on a text that is gone."""
    with named.view() as view:
        seq = view.list_endpoint_statements()[0].entry.seq
    with pytest.raises(CaveatError, match="not-erasable"), named.write(actor="LAB") as writer:
        writer.erase(seq, why="no")


def test_a_statement_concerns_the_claims_whose_names_it_is_about(named: Ledger) -> None:
    """A name of another version concerns a claim once a response carried it; before, and for other names, its state stays."""
    with named.write(actor="LAB") as writer:
        claim = next(iter(writer.list_claims())).claim
        audit = make.add_audit(writer, f"{claim}@1")
        model_identity = assess_model_identity(writer.list_endpoint_names(), make.MODEL, ["r-7"], locked=None)
        writer.append(make.restriction(audit, f"{claim}@1", make.verdict(Form.PREVALENCE, ClaimClass.DEGRADED), asked=model_identity))

    def state_of_claim() -> str:
        with named.view() as view:
            return find_states(view)[f"{claim}@1"]

    before = state_of_claim()
    with named.write(actor="LAB") as writer:
        writer.append(make.endpoint(RIVAL, "unheard-of"))
    unrelated = state_of_claim()
    with named.write(actor="LAB") as writer:
        writer.append(make.endpoint(RIVAL, "r-7"))

    assert before == unrelated != state_of_claim()
    with named.view() as view:
        assert [model_endpoint.payload.name for model_endpoint in view.dossier(claim).model_endpoints] == ["m-1", "r-7"]
