"""Records to documents and back, with every fault and its path."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis.strategies import builds, floats, none, sampled_from, text

from registry.codec.canonical_documents import from_document, json_schema, to_document
from registry.codec.statement_encoding import decode_statement, encode_statement
from registry.errors import InputError
from registry.records.audit_case import Case, Evidence, EvidenceKind, EvidenceLayer, PerturbationEffect, PublishedFigure, Sign
from registry.records.claim import Reported
from registry.records.claim_draft import AuditDraft, ClaimsFile
from registry.records.record import Authority, AuthorityRole
from registry.records.replay_run import Replay
from registry.records.specification import ScoringSpec
from registry.records.statement import PAYLOADS, Statement

NUMBERS = floats(allow_nan=False, allow_infinity=False)
EVIDENCE = builds(
    Evidence,
    layer=sampled_from(EvidenceLayer),
    kind=none() | sampled_from(EvidenceKind),
    effect=sampled_from(PerturbationEffect),
    expected_direction=sampled_from(Sign),
    finding=none() | builds(PublishedFigure, value=NUMBERS, unit=text(), low=none() | NUMBERS, high=none() | NUMBERS),
    summary=none() | text(),
    source=none() | text(),
)


@given(EVIDENCE)
def test_a_record_survives_its_document(evidence: Evidence) -> None:
    """Reading what was written gives the same record."""
    assert from_document(Evidence, to_document(evidence), where="x") == evidence


@given(text(min_size=1), sampled_from(AuthorityRole))
def test_a_statement_survives_its_canonical_bytes(name: str, role: AuthorityRole) -> None:
    """Decoding what was hashed gives the same statement."""
    payload = Authority(code="EXAMPLE", name=name, role=role)
    statement = Statement(actor="EXAMPLE", at=datetime(2026, 11, 21, tzinfo=UTC), payload=payload, salt="0" * 32)

    assert decode_statement(encode_statement(statement), where="x") == statement


def test_all_faults_come_at_once_with_their_paths() -> None:
    """Five faults in one document are five faults, each with its path."""
    document = {
        "claim": {
            "form": "threshold",
            "relation": "<",
            "theta": "0.1",
            "property": {"name": "x", "class": "no", "range": [0, 1], "direction": "lower_is_safer", "surplus": 1},
        },
        "evidence": [{"layer": "latent", "access": "withheld", "finding": {"value": 1, "unit": "share"}}],
    }

    with pytest.raises(InputError) as caught:
        from_document(Case, document, where="claim.yaml")

    places = {fault.where for fault in caught.value.faults}
    assert places == {
        "claim.yaml, claim.relation",
        "claim.yaml, claim.theta",
        "claim.yaml, claim.property.class",
        "claim.yaml, claim.property.surplus",
        "claim.yaml, evidence[0]",
    }


def test_rules_of_a_record_are_faults_of_its_document() -> None:
    """What `__post_init__` refuses is told with its path, in its words."""
    with pytest.raises(InputError, match="low must not exceed high, got 2.0 and 1.0"):
        from_document(Reported, {"value": 1.5, "low": 2, "high": 1}, where="x")


@pytest.mark.parametrize("noun", [*PAYLOADS.values(), ClaimsFile, AuditDraft, Case])
def test_every_noun_has_a_json_schema(noun: type) -> None:
    """What people and programs write is published as JSON Schema, closed to unknown keys."""
    schema = json_schema(noun)

    assert schema["$schema"].endswith("2020-12/schema")
    assert schema["additionalProperties"] is False


def test_true_is_not_a_number() -> None:
    """A boolean where a number is expected is refused, not read as 1."""
    with pytest.raises(InputError, match="valid number"):
        from_document(Reported, {"value": True}, where="x")


def test_what_yaml_reads_otherwise_than_it_was_meant_says_how_to_write_it() -> None:
    """A version that reads as a number, a yes that reads as text, and a number with its unit each get their next step."""
    document = {
        "model": {"developer": "Lab", "name": "M", "version": 4.5},
        "properties": {
            "p": {"name": "p", "class": "capability", "range": [0, 1], "direction": "not_safety", "suppressible": "yes"},
        },
        "claims": [{"quote": "q", "form": "threshold", "property": "p", "theta": "5%"}],
    }

    with pytest.raises(InputError) as caught:
        from_document(ClaimsFile, document, where="claims.yaml")

    assert {fault.where.rpartition(".")[2]: fault.advice for fault in caught.value.faults} == {
        "version": 'put it in quotes: "4.5"',
        "suppressible": "write true or false, without quotes",
        "theta": "write a number, without quotes and units",
    }


def build_replay(scoring: object) -> dict[str, object]:
    policy = {"model": "m", "max_tokens": 1}
    return {"name": "x", "tasks": "tasks.csv", "policy": policy, "arms": [{"arm": "test", "context": "c"}], "scoring": scoring}


@pytest.mark.parametrize(
    ("scoring", "expected"),
    [
        ({"kind": "patern", "score": 1}, {"scoring.kind": "expected pattern, choice, number, judge or label; found 'patern'"}),
        ({"rubric": "r"}, {"scoring.kind": "is required and missing: pattern, choice, number, judge or label"}),
        ("pattern", {"scoring": "expected an object; found 'pattern'"}),
        ({"kind": "number", "tolerance": 1}, {"scoring.tolerance": "is not a known key"}),
        (
            {"kind": "judge", "model": "m", "rubric": 4},
            {"scoring.rubric": "expected a valid string; found 4", "scoring.dimensions": "is required and missing"},
        ),
        ({"kind": "judge", "model": "m", "rubric": "r", "dimensions": []}, {"scoring": "a rubric has at least one dimension"}),
    ],
)
def test_faults_of_a_union_are_those_of_the_member_that_was_meant(scoring: object, expected: dict[str, str]) -> None:
    """A scorer is told by its kind: what the other kinds would lack is not listed, and an unknown kind names the known ones."""
    with pytest.raises(InputError) as caught:
        from_document(Replay, build_replay(scoring), where="replay.yaml")

    assert {fault.where.removeprefix("replay.yaml, "): fault.found for fault in caught.value.faults} == expected


def test_a_union_inside_a_union_says_what_its_own_member_lacks() -> None:
    """A scoring specification holds a scorer: the fault's path leads into it."""
    document = {"name": "s", "method": "pattern", "description": "d", "procedure": {"kind": "pattern", "score": "best"}}

    with pytest.raises(InputError) as caught:
        from_document(ScoringSpec, document, where="s.yaml")

    assert [fault.where for fault in caught.value.faults] == ["s.yaml, procedure.score"]
