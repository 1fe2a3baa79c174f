"""The demo after its audits: a recorded model judge of the replay's prompts, and the update to another model."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from audit.demo_story import AUTHORITY, MODEL, REPLAY, DemoStory, name_endpoint, open_story, publish_supplements
from audit.modules.arm_contrasts import ResponseMentions, link
from audit.modules.rater_study import BlindedSheets, digest_key, draw_sheets
from audit.modules.rating_judge import JudgeTask, judge_sheet
from audit.modules.recognition_passages import list_passages
from audit.modules.recognition_probe import probe_passages, read_run, write_mentions
from audit.modules.recognition_rates import list_mentions
from audit.protocol.audit_record import AuditConclusion, get_audit, get_claim
from audit.records.model_response import Purpose
from audit.records.rating_sheet import RatingKey
from audit.renew.renewal_choice import RenewalRequest, choose_renewals, find_change, sort_changes
from audit.renew.renewal_outcome import measure, record_group, record_outcome
from audit.renew.renewal_replays import RenewalGroup, RenewalGroups, group, list_runs
from audit.replay.run_rows import list_samples
from audit.replay.run_store import DATABASE, RunStore, get_replay, open_store
from audit.score.run_evidence import read_run as read_scores
from audit.sources.score_table import read_labels
from registry.codec.canonical_documents import from_document
from registry.codec.file_io import read_document
from registry.configuration import find_resource
from registry.folder.folder_update import FolderUpdate
from registry.records.analysis_plan import Plan
from registry.records.dossier import AuditFile
from registry.records.model_version import ModelRef
from registry.records.module_findings import RealismJudge, RecognitionLinks
from registry.records.replay_run import Probe
from registry.records.supplement import ClaimChange
from registry.registration.model_lineage import update_model
from registry.registration.specification_registration import find_procedure
from registry.report.number_format import format_day
from registry.store.ledger import Ledger
from registry.store.registry_view import View

# What the demo shows of recognition beside its audits: a recorded model judge of the replay's prompts, and what a link to ED still
# needs.
#
# The sheet is drawn anew from the run in the demo's folder, and the recorded answers are found by the requests that this sheet makes.
# So only prompts of that run are rated. Nothing is recorded: the judge was asked after the audits had their outcomes.

RATING = "rating"
"""The folder of sheets, key and recorded answers, in the demo's folder and in `examples`."""
MENTIONS = "mentions.csv"
"""What `caveat probe --mentions` writes of the recorded classification, in the demo's folder."""
CLASSIFIER = Probe(model="claude-local-qwen2.5-coder-1.5b-instruct-q4_k_m", max_tokens=300)
"""As the recording was made; the recorded answers are found by it."""
JUDGE = Probe(model="qwen2.5-coder-1.5b-instruct", max_tokens=80)
"""As the recording was made; the recorded answers are found by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedReplay:
    """What a model judge made of the prompts of the run that the locked audits rest on."""

    run: str
    """Name of the run folder."""
    audits: tuple[str, ...]
    """The audits that the run answers to; the plan of the first gives level and limit."""
    judgments: tuple[RealismJudge, ...]
    """Single prompts, then pairs."""
    rated_at: datetime
    """When the judge was asked first."""
    concluded_at: datetime
    """When the first of the audits had its outcome, as the log has it."""

    @property
    def reason(self) -> str:
        """Why the log does not have the rating."""
        return (
            f"The judge was asked on {format_day(self.rated_at.date())}. The audits of this run have had their outcomes since "
            f"{format_day(self.concluded_at.date())}, and a finding must come before the outcome."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLink:
    """Recognition and the differential of one audit's property."""

    audit: str
    links: RecognitionLinks


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedLinks:
    """What a model classifier made of the recorded responses, and the link to ED that this gives."""

    classifier: str
    """As the endpoint returned it."""
    mentions: Path
    """The table that `caveat probe --mentions` writes, in the demo's folder."""
    responses: int
    """Test-side responses."""
    mentioned: int
    """Those that mention a test."""
    unknown: int
    """Those of which this is not known."""
    classified_at: datetime
    links: tuple[AuditLink, ...]
    """One for each locked audit of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognitionStory:
    """The rating of the prompts, and the links between recognition and ED."""

    rated: RatedReplay
    recorded: RecordedLinks


def run_recognition(story: DemoStory, folder: Path) -> RecognitionStory:
    """Put the recorded rating into *folder* where it is not there yet, and return what it comes to; nothing is recorded."""
    if not (folder / RATING / "judge" / DATABASE).is_file():
        sheets = find_resource("examples") / RATING / "sheets"
        shutil.copytree(sheets, folder / RATING, copy_function=shutil.copyfile, dirs_exist_ok=True)
    run = open_store(folder / REPLAY.run)
    try:
        named = get_replay(run).audit or ()
        ledger = open_story(story, story.concluded)
        try:
            with ledger.view() as view:
                audits = tuple(get_audit(view, name) for name in ((named,) if isinstance(named, str) else named))
                recorded = _link(run, folder / REPLAY.run, audits, view)
        finally:
            ledger.close()
        return RecognitionStory(rated=_rate(run, folder / RATING, audits), recorded=recorded)
    finally:
        run.close()


def _rate(run: RunStore, folder: Path, audits: tuple[AuditFile, ...]) -> RatedReplay:
    drawn = rebuild_sheets(run, from_document(RatingKey, read_document(folder / "key.json"), where=str(folder / "key.json")))
    plan = _get_plan(audits[0])
    single = JudgeTask(key=drawn.key, digest=digest_key(drawn.key), sheet=drawn.sheets[0], judge=JUDGE, seed=drawn.key.seed)
    tasks = (single, replace(single, is_pairwise=True))
    store = open_store(folder / "judge")
    try:
        judgments = [judge_sheet(task, store.find_response, level=plan.level, rater_limit=plan.rater_limit) for task in tasks]
        rated_at = min(response.sent_at for response in store.list_responses(Purpose.RATING) if response.sent_at is not None)
    finally:
        store.close()
    return RatedReplay(
        run=REPLAY.run,
        audits=tuple(audit.audit.payload.audit for audit in audits),
        judgments=tuple(judgments),
        rated_at=rated_at,
        concluded_at=min(outcome.entry.at for audit in audits for outcome in audit.restrictions),
    )


def rebuild_sheets(run: RunStore, key: RatingKey) -> BlindedSheets:
    """Return the sheets that *run* gives when chosen as *key* says: those of *key* where its items are prompts of this run."""
    samples = list_samples(run, test="test", deploy="deploy")
    return draw_sheets(samples, key.raters, items=len(key.items), seed=key.seed)


def _get_plan(file: AuditFile) -> Plan:
    return file.lock.payload.plan if file.lock else file.audit.payload.plan


def _link(run: RunStore, folder: Path, audits: tuple[AuditFile, ...], view: View) -> RecordedLinks:
    """Return the links of *audits* from the recorded answers in *run*, which ask for no call, and write the mentions beside *folder*."""
    passages = list(list_passages(read_run(run)[0]))
    probed = probe_passages(run, passages, CLASSIFIER, lambda _calls, _count: None, level=_get_plan(audits[0]).level)
    mentions = list_mentions(passages, probed.found)
    path = folder.with_name(MENTIONS)
    write_mentions(path, mentions)
    answers = [mention.mentioned for mention in mentions if mention.cell.arm == "test"]
    return RecordedLinks(
        classifier=" and ".join(probed.classifiers),
        mentions=path,
        responses=len(answers),
        mentioned=answers.count(True),
        unknown=answers.count(None),
        classified_at=min(response.sent_at for response in run.list_responses(Purpose.PROBE) if response.sent_at is not None),
        links=tuple(_link_audit(audit, folder, path, view) for audit in audits),
    )


def _link_audit(file: AuditFile, folder: Path, mentions: Path, view: View) -> AuditLink:
    claim = get_claim(view, file.audit.payload.claim)
    table = read_scores(folder, low=0, high=1, scorer=find_procedure(view, claim)).table
    marks = ResponseMentions(values=read_labels([mentions], table, column="mentioned", range_=(0.0, 1.0)), source=mentions.name)
    return AuditLink(audit=file.audit.payload.audit, links=link(table, marks, _get_plan(file), range_=(0.0, 1.0)))


# The second act of the demo: a smaller model takes the place of the first, and what was found of that no longer speaks of what is
# offered.
#
# The smaller model really was asked, under plans that were locked before its first response; the clock stands at those moments.

OLD = MODEL
NEW = ModelRef(developer="Example Lab", name="Example Assistant 135M", version="1.0")
ASKED = "claude-local-smollm2-135m-instruct-q4_1"
"""What the endpoint called the smaller model."""
UPDATED = datetime(2026, 11, 22, 5, 43, 32, tzinfo=UTC)
"""When the plans were locked again, 19 seconds before the first response."""
CONCLUDED_AGAIN = datetime(2026, 11, 22, 5, 56, tzinfo=UTC)
"""When its scores were imported."""
RENEWED = "renewed"
"""The folder of the replays that were carried out again, in the demo's folder."""
FOLDER = "supplements"
"""The folder of supplements that is brought up to date, in the demo's folder."""
NOTE = "The smaller model takes its place where answers must come fast"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateStory:
    """What the update came to."""

    audits: tuple[AuditConclusion, ...]
    changes: tuple[ClaimChange, ...]
    """Of the claims that were audited again, newly inverted first."""
    updated: FolderUpdate | None
    """What the folder was brought up to date with; None where nothing was due."""


def run_update(story: DemoStory, folder: Path, *, time_limit_s: float, progress: Callable[[int], None]) -> UpdateStory:
    """Record the update, carry the locked plans out again on the recorded responses, and publish what is due; twice changes nothing.

    Args:
        story: the first act, concluded and published.
        folder: the demo's.
        time_limit_s: for each PDF.
        progress: called with how many more supplements are rendered.
    """
    ledger = open_story(story, UPDATED)
    try:
        with ledger.write(actor=AUTHORITY.code) as writer:
            update_model(writer, OLD, NEW, note=NOTE)
        name_endpoint(ledger, NEW, ASKED, source="examples/update/README.md")
        grouped = _prepare_renewal(ledger, folder)
    finally:
        ledger.close()
    ledger = open_story(story, CONCLUDED_AGAIN)
    try:
        concluded = [_conclude(ledger, renewal_group, grouped) for renewal_group in grouped.groups]
        changes = [find_change(ledger, renewal) for renewal_group, _ in concluded for renewal in renewal_group.chosen]
    finally:
        ledger.close()
    updated = publish_supplements(story, folder / FOLDER, moment=CONCLUDED_AGAIN, time_limit_s=time_limit_s, progress=progress)
    return UpdateStory(
        audits=tuple(conclusion for _, conclusions in concluded for conclusion in conclusions),
        changes=tuple(sort_changes(change for change in changes if change is not None)),
        updated=updated,
    )


def _prepare_renewal(ledger: Ledger, folder: Path) -> RenewalGroups:
    """Carry the claims, lock their plans again, and put the recorded responses where the replay keeps its own."""
    wish = RenewalRequest(ask=ASKED, claims=tuple(_list_claims(ledger)), to=NEW)
    with ledger.view() as view:
        chosen = choose_renewals(view, wish, auditor=AUTHORITY.code).chosen
        groups = group(chosen, (folder,), view, folder / RENEWED, owner=AUTHORITY.code, advance=lambda _more: None)
    recorded = [
        record_group(ledger, renewal_group, auditor=AUTHORITY.code, ask=ASKED, base_url=None, why=None) for renewal_group in groups.groups
    ]
    for renewal_group in recorded:
        if not (renewal_group.run / DATABASE).is_file():
            renewal_group.run.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(find_resource("examples") / "update" / "run" / DATABASE, renewal_group.run / DATABASE)
    return replace(groups, groups=tuple(recorded))


def _list_claims(ledger: Ledger) -> Iterator[str]:
    """Give the claims about the old version whose plans were locked, as they stood in the first act."""
    with ledger.view() as view:
        for audit in view.list_audits():
            payload = audit.audit.payload
            if audit.lock is not None and payload.renews is None and get_claim(view, payload.claim).model == OLD:
                yield payload.claim.partition("@")[0]


def _conclude(ledger: Ledger, renewal_group: RenewalGroup, grouped: RenewalGroups) -> tuple[RenewalGroup, list[AuditConclusion]]:
    """Record the outcomes of the audits of *renewal_group*, as `caveat stale renew` does when its run is over."""
    chosen, concluded = [], []
    for renewal in renewal_group.chosen:
        with ledger.view() as view:
            measured = measure(view, renewal, renewal_group.run, list_runs(grouped.search, renewal, but=renewal_group.run))
        with ledger.write(actor=AUTHORITY.code) as writer:
            concluded.append(record_outcome(writer, renewal, measured))
            chosen.append(replace(renewal, renewed=get_audit(writer, concluded[-1].audit)))
    return replace(renewal_group, chosen=tuple(chosen)), concluded
