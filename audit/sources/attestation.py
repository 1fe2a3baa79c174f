"""in-toto attestations of others about an evaluation, as reported evidence: their signature is checked, their content is their word."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.errors import Fault, InputError
from registry.records.audit_case import Evidence, EvidenceLayer
from registry.records.record import Record
from registry.seal.dsse_envelopes import EnvelopeKey, open_envelope, parse_payload

STATEMENT = "https://in-toto.io/Statement/v1"
EVAL_RESULT = "https://b7n0de.com/attestation/eval-result/v0.2"
"""Provisional type of the draft in-toto/attestation#575, by its author."""
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
_PAYLOAD = "application/vnd.in-toto+json"
_MOST_CLAIMS = 50
_EVAL_FIELDS = frozenset(
    ("evaluator", "evaluatedAt", "subjectProfile", "suite", "sampleSize", "assuranceLevel", "claims", "model", "dataset", "preRegistration",
     "harness", "evidence")
)  # fmt: skip
_TEST_FIELDS = frozenset(("result", "configuration", "url", "passedTests", "warnedTests", "failedTests"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Attestation(Record):
    """One attestation, with the evidence that it comes to."""

    evidence: Evidence
    subjects: tuple[str, ...]
    """SHA-256 of what it is about, hexadecimal."""
    unread: tuple[str, ...]
    """Fields of the predicate that are not read."""


def read_attestation(text: str, keys: Sequence[EnvelopeKey], *, where: str, subject: str | None = None) -> Attestation:
    """Return the attestation in the envelope *text*.

    Args:
        keys: of signers that a person confirmed.
        subject: SHA-256 of the file that it must be about, hexadecimal; None takes any.

    Raises:
        InputError: `bad-envelope`; `signature-not-valid`; `attestation-unknown`: another type or version of statement or predicate, or
            one without its required fields; `subject-differs`.
    """
    payload = open_envelope(text, keys, where=where)
    statement = parse_payload(payload, where=where)
    kind, predicate = statement.get("predicateType"), statement.get("predicate")
    if payload.kind != _PAYLOAD or statement.get("_type") != STATEMENT or not isinstance(predicate, dict):
        raise _unknown(where, f"it is no in-toto Statement v1 ({statement.get('_type')!r}, {payload.kind!r})")
    subjects = tuple(digest for item in _list(statement.get("subject")) if isinstance(digest := _get(item, "digest", "sha256"), str))
    if subject is not None and subject not in subjects:
        problem = f"it is about {', '.join(subjects) or 'nothing with a SHA-256'}, and not about {subject}"
        raise InputError(Fault("subject-differs", where, problem))
    if kind == EVAL_RESULT:
        summary, suite = _describe_eval(predicate, where)
    elif kind == TEST_RESULT:
        summary, suite = _describe_test(predicate, where)
    else:
        raise _unknown(where, f"its predicate is {kind!r}; read are {EVAL_RESULT} and {TEST_RESULT}")
    known = _EVAL_FIELDS if kind == EVAL_RESULT else _TEST_FIELDS
    digest = hashlib.sha256(text.encode()).hexdigest()
    evidence = Evidence(
        # Without a kind it says nothing on behaviour: a statement that a limit was kept is no observation of ours.
        layer=EvidenceLayer.BEHAVIOURAL, summary=summary, evaluation=suite,
        source=f"{kind}, sha256 {digest}, signed with the key {payload.key}",
    )  # fmt: skip
    return Attestation(evidence=evidence, subjects=subjects, unread=tuple(sorted(predicate.keys() - known)))


def _describe_eval(predicate: Mapping[str, Any], where: str) -> tuple[str, str | None]:
    claims = [claim for claim in _list(predicate.get("claims")) if isinstance(claim, Mapping)]
    evaluator, suite = _get(predicate, "evaluator", "id"), _get(predicate, "suite", "name")
    if not claims or not isinstance(evaluator, str) or not isinstance(suite, str):
        raise _unknown(where, "its predicate has no evaluator, suite or claims")
    parts = []
    for claim in claims[:_MOST_CLAIMS]:
        passed = claim.get("passed")
        words = "passed" if passed is True else "not passed" if passed is False else "no result"
        parts.append(" ".join(str(claim.get(name, "?")) for name in ("metric", "comparator", "threshold")) + f": {words}")
    left = f"; and {len(claims) - _MOST_CLAIMS} more" if len(claims) > _MOST_CLAIMS else ""
    facts = [f"{evaluator} states for {_get(predicate, 'model', 'name') or 'a model that is not named'}: {'; '.join(parts)}{left}"]
    for words, name in (("sample size", "sampleSize"), ("assurance", "assuranceLevel"), ("evaluated at", "evaluatedAt")):
        if (value := predicate.get(name)) is not None:
            facts.append(f"{words} {value}")
    lock = predicate.get("preRegistration")
    if isinstance(lock, Mapping):
        # Shown with its own source: it is no lock of this log, and its time is the signer's.
        facts.append(f"pre-registration of the signer {lock.get('alg')}:{lock.get('value')}, which this log did not see")
    version = _get(predicate, "suite", "version")
    return ". ".join(facts), " ".join(filter(None, (suite, version if isinstance(version, str) else None)))


def _describe_test(predicate: Mapping[str, Any], where: str) -> tuple[str, str | None]:
    if predicate.get("result") not in ("PASSED", "WARNED", "FAILED"):
        raise _unknown(where, "its predicate has no result")
    counts = [
        f"{len(tests)} {words}: {', '.join(map(str, tests[:20]))}"
        for words, name in (("passed", "passedTests"), ("with a warning", "warnedTests"), ("failed", "failedTests"))
        if (tests := _list(predicate.get(name)))
    ]
    names = [str(name) for item in _list(predicate.get("configuration")) if (name := _get(item, "name")) is not None]
    return ". ".join([f"The signer states the result {predicate['result']}", *counts]), ", ".join(names) or None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _get(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _unknown(where: str, found: str) -> InputError:
    return InputError(Fault("attestation-unknown", where, found))
