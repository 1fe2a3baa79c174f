"""The adversary's file: constructed cases, each with the strongest statement that its evidence allows.

A case fails where the product says more than that. Each file in `cases` holds one; README.md explains the keys.
With CAVEAT_OVERCLAIMS_REPORT=1 the run writes the table in README.md.
"""

import operator
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.cli.conftest import Caveat, caveat
from tests.verdict.overclaims.outcome import STANDINGS, Outcome, read_case_outcome
from tests.verdict.overclaims.readme import Finding, write_table_of_findings
from tests.verdict.overclaims.recipe import build_rows, write_json, write_table
from tests.verdict.overclaims.story import CONSTRUCTION, MODEL, PROPERTIES, RefusedError, Story

pytestmark = pytest.mark.slow

__all__ = ["caveat"]

Case = dict[str, Any]

CASES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))
VERDICTS = {
    "holds", "does_not_carry_over", "contradicted", "not_reproduced", "observed", "in_doubt", "inconclusive", "not_testable", "none",
}  # fmt: skip
SILENT = {"inconclusive", "none"}
"""Verdicts that claim nothing; allowed everywhere but in a control."""

WEAKER = {"contradicted": {"in_doubt"}, "does_not_carry_over": {"in_doubt"}}
CLASSES = {"holds": "stable", "observed": "stable", "contradicted": "inverted", "does_not_carry_over": "degraded", "in_doubt": "inverted"}
OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
KEYS = {"id", "title", "why", "source", "case", "registry", "premise", "strongest"}
PLACES = {"page", "card", "list", "markup", "coverage", "output"}
"""Where a registry shows an outcome; read only if a case asks."""

FINDINGS: list[Finding] = []


@pytest.fixture(scope="module", autouse=True)
def _report() -> Iterator[None]:
    """Write the table of README.md after the run, on request."""
    yield
    if os.environ.get("CAVEAT_OVERCLAIMS_REPORT"):
        write_table_of_findings(Path(__file__).parent / "README.md", FINDINGS, {path.stem for path in CASES})


def read_case_file(path: Path) -> Case:
    """Return the case in *path*."""
    case: Case = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    return case


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_no_outcome_says_more_than_its_evidence(path: Path, caveat: Caveat, tmp_path: Path) -> None:
    """The outcome of each case is at most the strongest that its file allows; of a control, exactly that."""
    case = read_case_file(path)
    strongest = case["strongest"]
    today, faults = _judge(case, caveat, tmp_path)
    FINDINGS.append(Finding(case=case["id"], title=case["title"], today=today, allowed=describe_allowed(strongest), faults=tuple(faults)))
    assert not faults, "\n".join([f"{case['id']}: {case['why']}", f"says: {today}", *faults])


def test_every_case_is_complete_and_can_fail() -> None:
    """Identifiers are unique and those of the files, keys are known, and no strongest statement allows everything."""
    cases = {path.stem: read_case_file(path) for path in CASES}

    assert len(cases) >= 70
    for name, case in cases.items():
        strongest = case["strongest"]
        assert case["id"] == name
        assert set(case) <= KEYS
        assert ("case" in case) != ("registry" in case)
        assert all(case[key] for key in ("title", "why", "source"))
        assert _list(strongest.get("verdict", "none")) <= VERDICTS
        assert strongest.get("standing") in (*STANDINGS, "none")
        assert "error" in strongest or "verdict" in strongest
    assert sum("exactly" in case["strongest"] for case in cases.values()) >= 12


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_case_fails_for_some_outcome(path: Path) -> None:
    """A case that passes whatever the product says proves nothing."""
    strongest = read_case_file(path)["strongest"]
    if "error" in strongest:
        return  # fails for every outcome
    firm = [Outcome(verdict=verdict, standing="established", class_=CLASSES[verdict]) for verdict in ("holds", "contradicted", "observed")]
    faults = [[*_weigh_outcome(strongest, one), *_weigh_text(strongest, one.texts)] for one in firm]

    assert sum(map(bool, faults)) >= 2


def _judge(case: Case, caveat: Caveat, folder: Path) -> tuple[str, list[str]]:
    """Return what the product says of *case*, and every way in which that is more than the evidence allows."""
    strongest = case["strongest"]
    story = Story(caveat, folder)
    try:
        if "registry" in case:
            story.tell(case["registry"])
            outcome = (
                story.read(strongest)
                if "error" not in strongest and strongest["verdict"] != "none"
                else Outcome(verdict="none", standing=None)
            )
        else:
            outcome = _classify(case["case"], caveat, folder)
    except RefusedError as error:
        return f"refused: {', '.join(error.codes)}", _weigh_refusal(strongest, error)
    if "error" in strongest:
        return _describe(outcome), [f"must be refused ({strongest['error']}), and is not"]
    texts = dict(outcome.texts)
    for place in PLACES & _list_places(strongest):
        texts[place] = texts[place] if place in texts else story.read_page(place)
    premise = [] if "premise" not in case else list(_check_premise(case["premise"], outcome))
    faults = [*story.missing, *premise, *_weigh_outcome(strongest, outcome), *_weigh_text(strongest, texts)]
    return "not audited" if "listed" in strongest and outcome.verdict == "none" else _describe(outcome), faults


def _describe(outcome: Outcome) -> str:
    return "accepted" if outcome.verdict == "none" else outcome.describe()


def _classify(content: Case, caveat: Caveat, folder: Path) -> Outcome:
    """Write the case file with its scores, and return what `caveat analyze classify` makes of it."""
    document = {key: value for key, value in content.items() if key != "scores"}
    claim = dict(document["claim"])
    claim.setdefault("model", MODEL)
    if isinstance(claim["property"], str):
        claim["property"] = PROPERTIES[claim["property"]]
    document["claim"] = claim
    document.setdefault("deployment", {"defensible": True, "description": CONSTRUCTION})
    document.setdefault("scoring", {"invariant": True})
    document["plan"] = {"replicates": 0, **document.get("plan", {})}
    if "scores" in content:
        write_table(folder / "scores.csv", build_rows(content["scores"]))
        document["scores"] = "scores.csv"
    answer = caveat("analyze", "classify", write_json(folder / "case.json", document), "--json")
    if answer.code:
        raise RefusedError("classify", answer, is_last=True)
    return read_case_outcome(answer.document)


def _weigh_refusal(strongest: Case, error: RefusedError) -> list[str]:
    """A refusal is right where the case expects or allows one, for its own reason: an unknown command or key is none."""
    allowed = strongest.get("error") or ("any" if strongest.get("or_error") else None)
    if allowed is None:
        return [f"refused: {error}"]
    if not error.is_last or not set(error.codes) - {"usage", "internal-error"}:
        return [f"refused for another reason: {error}"]
    if allowed != "any" and not _list(allowed) & set(error.codes):
        return [f"refused with {', '.join(error.codes)}, not {allowed}"]
    return []


def _weigh_outcome(strongest: Case, outcome: Outcome) -> Iterator[str]:
    """Give each field of *outcome* that is stronger than allowed; of a control, each that differs."""
    verdicts, most = _list(strongest["verdict"]), _rank(strongest.get("standing"))
    exact = _find_exact(strongest)
    if "verdict" in exact and outcome.verdict not in verdicts:
        yield f"verdict {outcome.verdict}, the evidence gives {strongest['verdict']}"
    if "standing" in exact and STANDINGS.index(outcome.standing) != most:
        yield f"standing {outcome.standing}, the evidence gives {STANDINGS[most]}"
    allowed = verdicts | SILENT | {weaker for one in verdicts for weaker in WEAKER.get(one, ())}
    if outcome.verdict not in allowed:
        yield f"verdict {outcome.verdict}, at most {strongest['verdict']} is allowed"
    if STANDINGS.index(outcome.standing) > most:
        yield f"standing {outcome.standing}, at most {STANDINGS[most]} is allowed"
    yield from _weigh_label(strongest, outcome, verdicts, most)
    if "missing_condition" in strongest and outcome.missing_condition not in _list(strongest["missing_condition"]):
        yield f"missing condition {outcome.missing_condition}, should be {strongest['missing_condition']}"
    if "reproduction" in strongest and outcome.reproduction != strongest["reproduction"]:
        yield f"reproduction {outcome.reproduction}, should be {strongest['reproduction']}"


def _weigh_label(strongest: Case, outcome: Outcome, verdicts: set[str], most: int) -> Iterator[str]:
    """Give what the TRACE label says beyond the verdict that is allowed."""
    if outcome.class_ is None:
        return
    named = strongest.get("class", [CLASSES[one] for one in verdicts if one in CLASSES])
    classes = _list(named) | {"undetermined"}
    if outcome.class_ not in classes:
        yield f"class {outcome.class_}, at most {', '.join(sorted(classes))} is allowed"
    if "class" in _find_exact(strongest) and outcome.class_ not in _list(strongest["class"]):
        yield f"class {outcome.class_}, the evidence gives {strongest['class']}"
    if outcome.trace_standing == "established" and most < STANDINGS.index("established"):
        yield "TRACE standing established, although the verdict may not be"
    if "trace_standing" in strongest and outcome.trace_standing not in {None, *_list(strongest["trace_standing"])}:
        yield f"TRACE standing {outcome.trace_standing}, at most {strongest['trace_standing']} is allowed"


def _weigh_text(strongest: Case, texts: dict[str, str]) -> Iterator[str]:
    """Give what the sentences must say and do not, and what they say and must not."""
    for place, pattern in _list_patterns(strongest.get("must_say", ())):
        if not re.search(pattern, _get_text(texts, place)):
            yield f"{place} does not say {pattern!r}"
    for place, pattern in _list_patterns(strongest.get("must_not_say", ())):
        if found := re.search(pattern, _get_text(texts, place)):
            yield f"{place} says {found[0]!r}"


def _find_exact(strongest: Case) -> set[str]:
    """Return the fields that a control must reach, and not only keep below."""
    exact = strongest.get("exactly", ())
    return {"verdict", "standing", *(("class",) if "class" in strongest else ())} if exact is True else set(exact)


def _check_premise(premise: list[str], outcome: Outcome) -> Iterator[str]:
    """Give each statement on the estimate that is not so: the case would then test something else."""
    for statement in premise:
        left, sign, right = statement.split()
        *spec, quantity, end = left.split(".")
        found = [one for one in outcome.specs if not spec or one["spec"] == spec[0]]
        values = [one[quantity][end] for one in found]
        if not values or not all(value is not None and OPERATORS[sign](value, float(right)) for value in values):
            yield f"premise not met: {statement}; found {values}"


def _get_text(texts: dict[str, str], place: str) -> str:
    return "\n".join(texts.values()) if place == "any" else texts.get(place, "")


def _list_patterns(entries: Any) -> Iterator[tuple[str, str]]:
    for entry in entries:
        yield ("any", entry) if isinstance(entry, str) else (entry["in"], entry["match"])


def _list_places(strongest: Case) -> set[str]:
    return {place for key in ("must_say", "must_not_say") for place, _ in _list_patterns(strongest.get(key, ()))}


def _list(value: Any) -> set[str]:
    return set(value) if isinstance(value, list) else {value}


def _rank(standing: str | None) -> int:
    return STANDINGS.index(None if standing == "none" else standing)


def describe_allowed(strongest: Case) -> str:
    """Return the strongest allowed outcome in a line."""
    if "error" in strongest:
        return "refused"
    verdicts = strongest["verdict"]
    words = " or ".join(verdicts) if isinstance(verdicts, list) else verdicts
    standing = strongest.get("standing") or "none"
    limit = "" if standing == "none" else f" {standing}"
    label = strongest.get("class")
    named = f" (class {' or '.join(sorted(_list(label)))})" if label else ""
    return f"{'exactly' if strongest.get('exactly') else 'at most'} {words}{limit}{named}"
