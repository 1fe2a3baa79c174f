"""The documents that commands of the registry print with `--json`: one declaration each, from which the JSON Schemas are made."""

from datetime import datetime
from typing import Any, Literal, NotRequired, Union

from registry.cli.model_presenter import Deprecation, VersionPage
from registry.cli.registry_commands import OpenMatter
from registry.errors import CatalogueEntry
from registry.exchange.bundle_transfer import ExportResult, ImportResult
from registry.exchange.claim_comparison import ClaimPair, MatchKind
from registry.exchange.foreign_claims import AdoptionResult, ForeignClaim
from registry.exchange.registry_backup import BackupResult, RestoreResult
from registry.intake.revision.passage_changes import ChangedFigure, PassageEdit, RevisionChanges, SenseChange
from registry.present.answer_formats import AnswerFormat, answer, group
from registry.records.claim import ClaimEventKind, ClaimRelationKind, PropertyClass, Relation
from registry.records.claim_status import (
    CauseKind,
    Dispute,
    Objection,
    ObjectionEvent,
    ObjectionState,
    ObjectionStep,
    StalenessVerdict,
    Status,
)
from registry.records.dossier import Dossier, ObjectionFile
from registry.records.estimates import Differential
from registry.records.log_seal import KeyAlgorithm, KeyPurpose
from registry.records.model_version import EndpointName, ModelLink, ModelRef, ModelVersion
from registry.records.record import AuthorityRole
from registry.records.specification import SpecOpening, SpecVersion
from registry.records.statement import PAYLOADS, Entry
from registry.records.supplement import Coverage, Drift
from registry.records.system_card import Anchor, Card, MatchResult
from registry.records.verdict import ClaimClass, Completeness, Mode, ReadingVerdict, Standing, Verdict
from registry.registration.stale_claims import Remedy
from registry.report.quoted_text import RunChange
from registry.seal.signing_keys import Backing
from registry.store.claim_listing import ClaimSummary
from registry.store.registry_rebuild import RebuildReport
from registry.verify.file_verification import FileKind, FileVerdict
from registry.verify.proof_checks import CheckAnswer, CheckName

_FAULT = group(code=str, where=str, found=str, advice=str | None)
_PAYLOAD = Union[tuple(PAYLOADS[kind] for kind in sorted(PAYLOADS))]  # noqa: UP007  (made when it runs)
_BACKED = Backing | Literal["wrong"]
_TRACE = group(entry=Entry, payload=_PAYLOAD | None, erased=group(entry=int, why=str) | None, backed_by=_BACKED)
_CHECKPOINT = {"origin": str, "size": int, "root": str}
_CHANGE = group(field=str, before=Any, after=Any)


_LISTS = (
    "admin authority list", "admin key list", "admin log list", "admin log show", "analyze skills list", "audit list", "card coverage",
    "card list", "claim history", "claim list", "claim restated", "compare", "contest list", "model list", "monitor show", "forecast list",
    "spec list",
    "stale list",
)  # fmt: skip
"""The commands that take `--columns`; a test compares them with the commands."""


def list_formats() -> tuple[AnswerFormat, ...]:
    """Return the formats of the registry's commands."""
    return (
        answer("rows", _LISTS, columns=list[str], rows=list[dict[str, str | int | float | bool | None]]),
        *_list_start(),
        *_list_cards(),
        *_list_claims(),
        *_list_objections(),
        *_list_models(),
        *_list_specs(),
        *_list_logs(),
        *_list_keys(),
    )


def _list_start() -> tuple[AnswerFormat, ...]:
    keys = group(folder=str, encrypted=bool, log=str, vkey=str, entries=list[int])
    counted = group(cards=int, claims=int, audits=int, models=int, specifications=int)
    work = group(matter=OpenMatter, count=int, first=str, next=str)
    check = group(name=CheckName, answer=CheckAnswer, note=str)
    file = group(
        file=str, kind=FileKind, verdict=FileVerdict, superseded_by=str | None, checks=list[check], wrong=list[CheckName],
        required_and_not_made=list[CheckName], summary=str, faults=list[_FAULT],
    )  # fmt: skip
    return (
        answer("init", "init", registry=str, authority=str, speaks_as=str, new=bool, config=str | None, keys=keys | None),
        answer("status", "status", log=str, log_size=int, registered=counted, todo=list[work]),
        answer("db", ("admin db upgrade", "admin db downgrade"), registry=str, revision=str | None),
        answer("db-check", "admin db check", current=str | None, head=str, is_current=bool, differences=list[str]),
        answer("rebuild", "admin rebuild", RebuildReport),
        answer("backup", "admin backup", BackupResult),
        answer("restore", "admin restore", RestoreResult, registry=str),
        answer("bundle-write", "admin bundle write", ExportResult),
        answer("bundle-read", "admin bundle read", ImportResult),
        answer("schemas", "admin schema", names=list[str]),
        answer("explanations", "explain", titles=dict[str, str]),
        answer("explanation", "explain", CatalogueEntry),
        answer("verify", "verify", registry=str | None, files=list[file]),
        answer("verify-page", "verify", file=str, bytes=int, sha256=str),
    )


def _list_cards() -> tuple[AnswerFormat, ...]:
    card = group(Card, without=("pages", "headings"), pages=int)
    match = group(claim=str, match=MatchResult, alarm=bool, differs=list[str])
    side = group(card=str | None, revision=int | None, file=str | None, document=str)
    passage = group(
        claim=str, quoted=str, match=MatchResult, alarm=bool, differs=list[str], heads=list[str], numbers=str | None, recorded=bool,
        old=Anchor, new=Anchor | None, redline=list[group(change=RunChange, text=str)],
    )  # fmt: skip
    return (
        answer("card-add", "card add", new=bool, card=card, warnings=list[str], passage_matches=list[match]),
        answer("card", "card show", card=card, claims=list[ClaimSummary]),
        answer("cards", "card list", cards=list[group(card, log=str)]),
        answer("page", "card show", card=str, revision=int, page=int, text=str),
        answer(
            "card-diff", "card diff", recorded=int | None, old=side, new=side, backwards=bool, counts=dict[MatchResult, int],
            in_spelling_alone=int, claims=list[passage], quoting_newer=list[str], paraphrased=list[str], ended=list[str],
            changes=RevisionChanges, figures_without_claim=list[ChangedFigure], passages_without_claim=list[PassageEdit],
        ),
        answer(
            "coverage", "card coverage", Coverage, log_size=int, card=str, title=str, not_counted=list[str],
            disputed=list[group(claim=str, dispute=Dispute)],
        ),
    )  # fmt: skip


def _list_claims() -> tuple[AnswerFormat, ...]:
    unchanged = group(added=int, unchanged=int)
    step = group(kind=CauseKind, what=str, remedy=Remedy, commands=list[str])
    cause = group(
        kind=CauseKind, what=str, text=str, entry=int, remedy=Remedy, claims=list[str], commands=list[str],
    )  # fmt: skip
    review = group(claim=str, causes=list[str], entry=int | None, status=Status)
    applied = group(from_=str, to=str, model=ModelRef, entry=int | None, new=bool, audits_left_behind=int, fine_tune=bool, turns=list[str])
    source = group(source=str, log=str, entries=int, verified=bool | None)
    figure = group(claim=str | None, card=str | None, value=float, relation=Relation | None, quote=str)
    listed = group(
        ClaimSummary, log=str, registered=str, property_class=PropertyClass | None, class_=ClaimClass | None, standing=Standing | None,
        mode=Mode | None, ed=Differential | None, ed_spec=str | None,
    )  # fmt: skip
    pair = group(claim=figure, restates=figure, range=list[float], why=str, recorded=bool, command=str)
    return (
        answer(
            "claim-add", "claim add", dry_run=bool, added=list[str], revised=list[str], unchanged=int,
            restates=list[group(claim=str, other=str)], excluded=unchanged, proposed=unchanged | None,
        ),
        answer("claims-list", "claim list", log_size=int, claims=list[listed]),
        answer(
            "dossier", "claim show", Dossier, completeness=list[Completeness], elsewhere=list[ForeignClaim], backed_by=dict[str, _BACKED]
        ),
        answer("history", "claim history", id=str, entries=list[_TRACE]),
        answer("claim-diff", "claim diff", claim=str, from_=int, to=int, why=str | None, changes=list[_CHANGE]),
        answer("claim-revise", "claim revise", revised=str | None),
        answer(
            "claim-event", ("claim publish", "claim withdraw", "claim supersede"),
            claim=str, event=ClaimEventKind, entry=int,
        ),
        answer("reserved", "claim reserve", claims=list[str]),
        answer("adopted", "claim adopt", AdoptionResult),
        answer("claim-relation", "claim relate", claim=str, relation=ClaimRelationKind, other=str, entry=int),
        answer(
            "stale", "stale list", log_size=int, count=int, confirmed=int, by_cause=dict[CauseKind, int],
            by_remedy=dict[Remedy, int], causes=list[cause], claims=list[group(ClaimSummary, steps=list[step])], has_more=bool,
        ),
        answer("stale-review", ("stale confirm", "stale dismiss"), verdict=StalenessVerdict, why=str, claims=list[review]),
        answer("stale-apply", "stale apply", why=str, dry_run=bool, claims=list[applied]),
        answer(
            "claim-reword", "claim reword", claim=str, match=MatchResult, card=str, revised=str | None, turns=list[SenseChange]
        ),
        answer(
            "comparison", "compare", first=source, second=source, counts=dict[MatchKind, int], claims=list[ClaimPair],
        ),
        answer("restated", "claim restated", log_size=int, card=str | None, figures=int, pairs=list[pair], has_more=bool),
        answer("drift", "claim drift", Drift, log_size=int, figure=str | None),
    )  # fmt: skip


def _list_objections() -> tuple[AnswerFormat, ...]:
    opened = {"opened": str, "owner": str, "state": ObjectionState}
    replay = group(audit=str, claim=str, auditor=str, outcome=ReadingVerdict | None, counts=ReadingVerdict | None)
    return (
        answer("objection", "contest open", objection=str, target=str),
        answer("objections", "contest list", objections=list[group(Objection, log=str, **opened)], erased=list[str]),
        answer(
            "objection-file", "contest show", Objection, **opened, changes=list[_CHANGE] | None, not_compared=str | None,
            steps=list[group(ObjectionEvent, by=str, at=str, entry=int)], replays=list[replay],
        ),
        answer(
            "objection-step", ("contest answer", "contest uphold", "contest reject", "contest escalate"),
            objection=str, step=ObjectionStep, entry=int, by=str, to=str | None, state=ObjectionState,
        ),
    )  # fmt: skip


def _list_models() -> tuple[AnswerFormat, ...]:
    outcome = group(
        claim=str, quote=str | None, status=Status, class_=ClaimClass | None, standing=str | None, mode=str | None,
        ed=list[group(Differential, spec=str)],
    )  # fmt: skip
    listed = group(
        log=str, model=ModelRef, registered=ModelVersion | None, comes_from=list[ModelLink], deprecation=Deprecation | None, claims=int,
        audited=int, outcomes=dict[Verdict, int],
    )  # fmt: skip
    stale = group(claims=list[str], newly=int, confirmed=int, by_class=dict[str, int], by_card=dict[str, int], first=list[outcome])
    return (
        answer("model-add", "model add", model=str, new=bool),
        answer("models", "model list", models=list[listed]),
        answer("model", "model show", VersionPage),
        answer("model-deprecate", "model deprecate", model=str, entry=int, new=bool, on=str | None, stale=int),
        answer("model-reinstate", "model reinstate", model=str, entry=int, stale=int),
        answer("model-unlink", "model unlink", model=str, predecessor=str, entry=int, stale=int),
        answer(
            "model-endpoint", "model endpoint", model=str, name=str, retracted=bool, entry=int, new=bool, names=list[str],
            conflicts=list[EndpointName],
        ),
        answer(
            "model-update", "model update", ModelLink, new=bool, dry_run=bool, registered=list[ModelRef], other_successors=list[ModelRef],
            claims_about_predecessor=int, stale_about_earlier=int, stale=stale, next=list[str],
        ),
    )  # fmt: skip


def _list_specs() -> tuple[AnswerFormat, ...]:
    return (
        answer("spec-add", "spec add", spec=str, new=bool),
        answer("specs", "spec list", specs=list[group(SpecVersion, log=str)]),
        answer("spec-seal", "spec seal", spec=str, commitment=str, file=str, new=bool),
        answer("spec-reveal", "spec reveal", spec=str, entry=int),
        answer(
            "spec", "spec show", SpecVersion, revealed=NotRequired[Entry], opening=NotRequired[SpecOpening],
            objections_erased=NotRequired[list[str]], objections=NotRequired[list[ObjectionFile]],
        ),
        answer(
            "spec-diff", "spec diff", spec=str, from_=int, to=int, why=str | None, changes=list[_CHANGE] | None,
            not_compared=NotRequired[str],
        ),
    )  # fmt: skip


def _list_logs() -> tuple[AnswerFormat, ...]:
    checkpoint = group(size=int, root=str, fits=bool, signed=bool | None, cosigned_by=list[str], here=bool)
    log = group(name=str, origin=str, own=bool, entries=int, checkpoint=int | None, cosigned_by=list[str], vkeys=list[str])
    return (
        answer("log", "admin log show", origin=str, size=int, entries=list[_TRACE]),
        answer(
            "log-check", "admin log check", origin=str, entries=int, erased=int, root=str, checkpoints=list[checkpoint],
            published_since=int | None, lacks_nodes=bool, rows=int | None, time_anchor=group(name=str, answer=CheckAnswer, note=str) | None,
        ),
        answer(
            "time-anchor", "admin log anchor", **_CHECKPOINT, entry=int, sha256=str, stamped_at=datetime, policy=str, serial=str,
            verified=bool, file=str, stamp_file=str,
        ),
        answer("logs", "admin log list", logs=list[log]),
        answer("erasure", "admin log erase", erased=int, leaf=str, entry=int, why=str),
        answer("checkpoint", "admin log checkpoint", **_CHECKPOINT, note=str, excluded=list[str], file=str | None),
        answer(
            "cosigned", "admin log cosign", **_CHECKPOINT, seen=int | None, entry=int | None, new=bool, vkeys=list[str], note=str,
            file=str | None,
        ),
        answer("log-proof", "admin log prove", **_CHECKPOINT, entry=int, leaf=str, proof=str, file=str | None),
        answer("consistency-proof", "admin log prove", **_CHECKPOINT, since=int, proof=str, file=str | None),
    )  # fmt: skip


def _list_keys() -> tuple[AnswerFormat, ...]:
    key = group(
        fingerprint=str, purpose=KeyPurpose, algorithm=KeyAlgorithm, authority=str, in_force=bool, added=int, replaced=int | None,
        revoked=int | None, untrusted_from=str | None, vkey=str | None, certificate=str | None, public=str | None,
    )  # fmt: skip
    held = group(key=str, purpose=KeyPurpose)
    authority = group(
        log=str, code=str, name=str, role=AuthorityRole, entry=int, keys=list[held], claims=int, audits=int, concluded=int,
    )  # fmt: skip
    return (
        answer("authorities", "admin authority list", authorities=list[authority]),
        answer("keys", "admin key list", keys=list[group(key, log=str, secret=str | None)]),
        answer("key", "admin key show", log=str, keys=list[key]),
        answer("key-added", ("admin key add", "admin key rotate"), key=str, entry=int, encrypted=bool, replaces=str | None),
        answer("key-revoked", "admin key revoke", key=str, entry=int, untrusted_from=str | None, retired=list[str]),
    )
