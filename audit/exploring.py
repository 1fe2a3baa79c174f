"""An analysis that was not fixed before: recorded as such, and no verdict rests on it."""

from dataclasses import fields, replace
from typing import Any

from audit.basis import Scored
from audit.docket import get_audit, get_claim, get_property
from audit.estimate import estimate
from audit.statistics.responses import ScoreTable
from registry.errors import Fault, InputError
from registry.records.analysis_plan import Exploration, Plan
from registry.records.dossier import AuditFile, Recorded
from registry.store.view import View
from registry.store.writer import Writer


def explore(
    writer: Writer, audit: str, scored: Scored, *, question: str, options: dict[str, Any], whole: ScoreTable | None = None
) -> tuple[Recorded[Exploration], bool]:
    """Record what *scored* comes to under the audit's plan with *options* in its place; return it and whether it is new.

    The scores count as known from then on: a lock that is made later is not before them.

    Args:
        question: what is looked for.
        options: by field of `registry.records.analysis_plan.Plan`, what is to differ.
        whole: the table before rows were chosen from it; None where all were taken.

    Raises:
        NotFoundError: no such audit.
        InputError: no question; a setting out of its range.
        DesignError: the table has no two sides.
    """
    file = get_audit(writer, audit)
    if not question.strip():
        raise InputError(Fault(code="question-missing", where=audit, found="the question is empty", advice="say what was looked for"))
    plan = find_plan(file)
    used = change_plan(plan, options)
    claim = get_claim(writer, file.audit.payload.claim)
    found = estimate(scored.table, used, range_=get_property(writer, claim).range, test=scored.test_arm, deploy=scored.deploy_arm)
    said = Exploration(
        audit=file.audit.payload.audit,
        claim=file.audit.payload.claim,
        question=question.strip(),
        differs=(*_list_differences(plan, used), *_list_other(scored, whole)),
        estimate=found,
        source=scored.source,
        scores=(whole or scored.table).content,
    )
    known = next((one for one in file.explorations if one.payload == said), None)
    return (known, False) if known else (Recorded(entry=writer.append(said), payload=said), True)


def find_plan(file: AuditFile) -> Plan:
    """Return how the audit's own estimate is made."""
    return file.lock.payload.plan if file.lock else file.audit.payload.plan


def get_range(view: View, audit: str) -> tuple[float, float]:
    """Return the lowest and highest score of the property that *audit* is about; raises NotFoundError."""
    return get_property(view, get_claim(view, get_audit(view, audit).audit.payload.claim)).range


def change_plan(plan: Plan, options: dict[str, Any]) -> Plan:
    """Return *plan* with what *options* gives in its place; None leaves the plan's own. Raises InputError for what is out of range."""
    given = {name: value for name, value in options.items() if value is not None}
    try:
        return replace(plan, **given)
    except ValueError as error:
        raise InputError(Fault(code="not-valid", where="options", found=str(error))) from error


def _list_differences(plan: Plan, used: Plan) -> list[str]:
    pairs = ((one.name, getattr(plan, one.name), getattr(used, one.name)) for one in fields(Plan))
    return [f"{name} {_write(now)}, where the plan says {_write(planned)}" for name, planned, now in pairs if now != planned]


def _list_other(scored: Scored, whole: ScoreTable | None) -> list[str]:
    arms = (scored.test_arm, scored.deploy_arm)
    said = [] if arms == ("test", "deploy") else [f"arms {arms[0]} and {arms[1]} in the place of test and deploy"]
    return said if whole is None else [*said, f"{scored.table.rows} of {whole.rows} rows"]


def _write(value: object) -> str:
    return "nothing" if value is None else f"{value:g}" if isinstance(value, float) else str(getattr(value, "value", value))
