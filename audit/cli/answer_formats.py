"""The documents that commands of audits print with `--json`: one declaration each, from which the JSON Schemas are made."""

from typing import Any, Literal, NotRequired

from audit.modules.recognition_passages import CandidateCount
from audit.records.contrast_result import Contrasts
from audit.records.model_response import ImportedLog
from audit.sources.reported_figures import FigureFile
from audit.sources.skill_study_records import ContaminationStudy, RiskLevel
from audit.verdict.verdict_conditions import DesignSize
from registry.present.answer_formats import AnswerFormat, answer, group
from registry.records.analysis_plan import Deviation, Exploration, Lock
from registry.records.claim_draft import Proposals
from registry.records.claim_status import Opposition
from registry.records.dossier import AuditFile
from registry.records.estimates import Estimate
from registry.records.model_version import ModelRef
from registry.records.module_findings import (
    Ablation,
    ControlReport,
    JudgeReport,
    Naturalness,
    RealismJudge,
    Recognition,
    RecognitionLinks,
    Shift,
)
from registry.records.monitor import MonitorVerdict
from registry.records.replay_run import ModelIdentity, RunHistory
from registry.records.specification import Cue, Scorer
from registry.records.supplement import ClaimChange
from registry.records.verdict import (
    Basis,
    ChecklistItem,
    ClaimClass,
    Condition,
    Mode,
    ReadingVerdict,
    Restriction,
    Standing,
    Verdict,
    VerdictStanding,
)

_WARNING = group(code=str, message=str)
_AMOUNT = group(calls=int, input_tokens=int, output_tokens=int, usd=float | None)
_DESIGN = group(DesignSize, is_enough=bool, shortfall=str | None)
_FAULT = group(code=str, where=str, found=str, advice=str | None)
_MOST: dict[str, Any] = {"calls": int, "model": str, "input_tokens": int, "most_output_tokens": int, "most_usd": float | None}
"""What calls would come to at most."""
_ESTIMATED: dict[str, Any] = {"input_tokens_are": str, "output_tokens_are": str}


def list_formats() -> tuple[AnswerFormat, ...]:
    """Return the formats of the commands of audits."""
    return (*_list_analyses(), *_list_audits(), *_list_runs(), *_list_scores(), *_list_recognition(), *_list_studies(), *_list_others())


def _list_analyses() -> tuple[AnswerFormat, ...]:
    return (
        answer("estimate", "analyze estimate", Estimate, design=_DESIGN),
        answer("estimates", "analyze estimate", estimates=list[group(source=str, estimate=Estimate | None, error=_FAULT | None)]),
        answer(
            "classification", "analyze classify",
            verdict=str, readings=list[ReadingVerdict], inversion_margin=float | None, original_claim=str,
            restricted_claim=str, estimate=Estimate | None, conditions_not_checked=list[Condition], checklist=list[ChecklistItem],
        ),
        answer("contrasts", "analyze contrast", Contrasts),
        answer("ablation", "analyze ablation", Ablation),
        answer("judges", "analyze judge", reports=list[JudgeReport]),
        answer("shift", "audit shift", Shift),
        answer("recognition-link", "audit link", RecognitionLinks),
        answer("control-report", "audit control", ControlReport),
        answer(
            "cues", "audit cues", file=str, cues=list[Cue], held_out=str | None, held_out_cues=int, named_for_other_items=int
        ),
    )  # fmt: skip


def _list_audits() -> tuple[AnswerFormat, ...]:
    listed = group(
        log=str,
        audit=str, claim=str, auditor=str, locked_at=str | None, verdict=Verdict | None, verdict_standing=VerdictStanding | None,
        valid_until=str | None, expired=bool, withdrawn=str | None,
        class_=ClaimClass | None, standing=Standing | None, mode=Mode | None, basis=Basis | None,
    )  # fmt: skip
    return (
        answer("audit-new", "audit new", claim=str, files=list[str]),
        answer(
            "audit-lock", "audit lock", dry_run=bool, audit=str | None, claim=str, new=bool, locked_at=str | None, entry=int | None,
            lock=Lock | None, not_fixed=list[str],
        ),
        answer("audit-open", "audit open", dry_run=bool, audit=str | None, claim=str, new=bool),
        answer("audit-evidence", "audit evidence", audit=str, entries=list[int], unread=list[str]),
        answer(
            "audit-conclude", "audit conclude", audit=str, new=bool, restriction=Restriction, checklist=list[ChecklistItem],
            opposed=Opposition | None, imported=NotRequired[ImportedLog],
        ),
        answer("audits", "audit list", audits=list[listed]),
        answer(
            "audit-show", "audit show", AuditFile, runs_under_lock=list[RunHistory], checklist=list[ChecklistItem],
            asked_now=ModelIdentity | None,
        ),
        answer("task-order", "audit order", seed=int, tasks=list[str]),
        answer("audit-deviate", "audit deviate", new=bool, entry=int, deviation=Deviation),
        answer("audit-withdraw", "audit withdraw", audit=str, entry=int),
        answer("audit-explore", "audit explore", new=bool, entry=int, exploration=Exploration),
        answer(
            "audit-logs", "audit logs", dry_run=bool, new=bool, registry=str, model=ModelRef, claim=str | None, audit=str | None,
            assumptions=list[group(name=str, value=str, option=str | None)], design=_DESIGN, verdict=str | None,
            opposed=Opposition | None, restriction=Restriction | None, files=list[str], supplement=list[str],
        ),
        answer("audit-table", "audit table", table=str, rows=int, imported=ImportedLog),
    )  # fmt: skip


_RUN: dict[str, Any] = {
    "replay": str, "folder": str, "audits": list[str], "complete": bool, "stopped": str | None, "interrupted": bool, "answered": int,
    "failures": dict[str, int], "settled_before": int, "lost": int, "maybe_billed_twice": int, "requests": int, "input_tokens": int,
    "output_tokens": int, "spent": _AMOUNT, "models": dict[str, list[str]], "fingerprints": list[str], "elapsed_s": float,
    "arms": list[
        group(
            arm=str, spec=str | None, cue_removed=str | None, cells=int, answered=int, refused=int, truncated=int, empty=int, open=int,
            failures=dict[str, int],
        )
    ],
}  # fmt: skip


def _list_runs() -> tuple[AnswerFormat, ...]:
    budget = group(calls=int | None, input_tokens=int | None, output_tokens=int | None, usd=float | None)
    judging = group(model=str, most_verdicts=int, input_tokens=int | None, most_output_tokens=int, usd=float | None, reason=str)
    job = group(
        replay=str | None,
        run=str | None,
        recording=str | None,
        renews=list[str],
        audits=list[str],
        planned=int | None,
        settled=int | None,
        failed=int | None,
        lost=int | None,
        to_make=_AMOUNT | None,
        judge=str | None,
        answered=int | None,
        faults=list[_FAULT],
    )
    renewal = group(
        claim=str,
        revision=str,
        renews=str,
        audit=str | None,
        before=ModelRef,
        after=ModelRef,
        state=Literal["concluded", "planned", "locked", "elsewhere", "failed"],
        notes=list[str],
        not_measured=list[str],
        change=ClaimChange | None,
    )
    left = group(claim=str, audit=str | None, to_be_done=bool, code=str, where=str, found=str, advice=str | None)
    return (
        answer(
            "run-forecast", ("audit run", "analyze skills generate", "analyze skills run"),
            replay=str, folder=str, audits=list[str], planned=int,
            shared=int, settled=int, failed=int, lost=int, calls=int, models=list[group(_AMOUNT, model=str)], budget=budget, **_ESTIMATED,
            judging=NotRequired[judging | None],
        ),
        answer("run", ("audit run", "analyze skills generate"), **_RUN),
        answer(
            "renewal", "stale renew", log_size=int, model_asked=str | None, folder=str, dry_run=bool, complete=bool, interrupted=bool,
            replays=list[job], calls=_AMOUNT, **_ESTIMATED, renewals=list[renewal], newly_inverted=list[str],
            transitions=list[group(before=str, after=str, claims=int)], left=list[left],
        ),
    )  # fmt: skip


def _list_scores() -> tuple[AnswerFormat, ...]:
    side = group(
        arm=str,
        spec=str | None,
        cue_removed=str | None,
        rows=int,
        scored=int,
        mean=float | None,
        excluded=dict[str, int],
        unanswered=int,
        cut=int,
        refused=int,
        empty=int,
    )
    arm = group(arm=str, responses=int, judged=int, excluded=dict[str, int], cut=int, mentions_scoring=int)
    judging = group(judge=str, judge_uncertainty=str | None, arms=list[arm], structured=int, plain=int, retried=int)
    return (
        answer(
            "score", "audit score", scorer=Scorer, scorer_sha256=str, changed=int, files=dict[str, str], sides=list[side],
            warnings=list[_WARNING], audits=list[str], judging=NotRequired[judging],
        ),
        answer("judging-plan", ("audit score", "analyze skills score"), **_MOST, judgments=int, settled=int),
        answer("label-sheet", "audit score", sheet=str, file=str, items=int),
    )  # fmt: skip


def _list_recognition() -> tuple[AnswerFormat, ...]:
    return (
        answer(
            "probe-candidates", "analyze probe", evaluation=str, patterns=str, is_rate_of_recognition=bool, groups=list[CandidateCount]
        ),
        answer("probe-plan", "analyze probe", **_MOST),
        answer("probe", "analyze probe", Recognition),
        answer(
            "rating-sheets", "audit rate sheet", folder=str, key=str, seed=int, raters=list[str], items_test=int, items_deploy=int,
            warnings=list[_WARNING],
        ),
        answer("rating-plan", "audit rate judge", **_MOST),
        answer("naturalness", "audit rate answers", Naturalness),
        answer("realism-judge", "audit rate judge", RealismJudge),
    )  # fmt: skip


def _list_studies() -> tuple[AnswerFormat, ...]:
    counts: dict[str, Any] = dict.fromkeys(("planned", "answered", "failed", "matched", "judged"), int)
    skill = group(
        name=str,
        risk_level=RiskLevel,
        test_category=str,
        structural_score=float,
        excluded=str | None,
        chars=int,
        references=int,
        tasks=int,
        conditions=list[group(arm=str, calls=int, **counts)],
    )
    study: dict[str, Any] = {"study": str, "path": str, "folder": str, "judge": str | None}
    scores: dict[str, Any] = {"patterns_changed": int, "verdicts_new": int, "judging": list[str]}
    return (
        answer("skill-list", "analyze skills list", **study, model=str, samples=int, skills=list[skill]),
        answer(
            "skill-scores", "analyze skills score",
            **study, **scores, skills=list[group(name=str, conditions=list[group(arm=str, **counts)])]
        ),
        answer(
            "skill-run", "analyze skills run", study=str, folder=str, complete=bool, stages=dict[str, str | None],
            generation=group(**_RUN, schema=Literal["caveat/run/1"]), scores=group(**scores) | None, written=list[str],
            analysis=ContaminationStudy | None,
        ),
        answer("contamination", ("analyze contamination", "analyze skills analyze"), ContaminationStudy),
    )  # fmt: skip


def _list_others() -> tuple[AnswerFormat, ...]:
    audit = group(audit=str, claim=str, class_=ClaimClass, standing=Standing | None, basis=Basis)
    rating = group(run=str, audits=list[str], judgments=list[RealismJudge], recorded=bool, reason=str)
    recognition = group(classifier=str, responses=int, mentioned=int, unknown=int, links=list[group(audit=str, link=RecognitionLinks)])
    update = group(audits=list[str], changes=list[ClaimChange], rendered=int, files=list[str])
    return (
        answer(
            "demo", "demo", registry=str, cards=list[str], audits=list[audit], files=list[group(path=str, sha256=str)], rating=rating,
            monitor=group(monitor=str, claim=str, verdict=MonitorVerdict, alarm=int | None) | None, recognition=recognition,
            update=NotRequired[update],
        ),
        answer("proposals", "claim propose", Proposals),
        answer("figure-proposals", "claim propose", card=str | None, files=list[FigureFile]),
        answer("proposal-plan", "claim propose", **_MOST, windows=int, answered=int),
    )  # fmt: skip
