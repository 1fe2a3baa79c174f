"""What the demo shows of recognition beside its audits: a recorded model judge of the replay's prompts, and what a link to ED still needs.

The sheet is drawn anew from the run in the demo's folder, and the recorded answers are found by the requests that this sheet makes. So
only prompts of that run are rated. Nothing is recorded: the judge was asked after the audits had their outcomes.
"""

import shutil
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from audit.blinding import Drawn, digest_key, draw_sheets
from audit.demo import REPLAY, Story, open_story
from audit.docket import get_audit
from audit.probe.candidates import count_candidates
from audit.probe.passage import list_passages
from audit.probe.read import read_run
from audit.rating.station import JudgeTask, judge_sheet
from audit.replay.documents import get_replay
from audit.replay.samples import list_samples
from audit.replay.store import DATABASE, RunStore, open_store
from registry.codec.documents import from_document
from registry.codec.files import read_document
from registry.records.dossier import AuditFile
from registry.records.plan import Plan
from registry.records.probe import Channel
from registry.records.rating import RatingKey
from registry.records.realism import RealismJudge
from registry.records.replay import Probe
from registry.records.response import Purpose
from registry.report.moments import format_day
from registry.resources import find_resource

RATING = "rating"
"""The folder of sheets, key and recorded answers, in the demo's folder and in `examples`."""
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
class Unlinked:
    """What is there of the inputs of a link between recognition and ED: texts, and no class of any of them."""

    responses: int
    """Test-side outputs with a text."""
    candidates: int
    """Those that patterns mark, which is no recognition."""

    @property
    def reason(self) -> str:
        """Why there is no link."""
        return (
            "No model has classified the recorded responses, so it is not known which of them mention a test. "
            f"Patterns mark {self.candidates} of {self.responses} test-side responses as candidates, which is no recognition."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognitionStory:
    """Both."""

    rated: RatedReplay
    link: Unlinked


def tell_recognition(story: Story, folder: Path) -> RecognitionStory:
    """Put the recorded rating into *folder* where it is not there yet, and return what it comes to; nothing is recorded."""
    if not (folder / RATING / "judge" / DATABASE).is_file():
        sheets = find_resource("examples") / RATING / "sheets"
        shutil.copytree(sheets, folder / RATING, copy_function=shutil.copyfile, dirs_exist_ok=True)
    run = open_store(folder / REPLAY.run)
    try:
        audits = _get_audits(story, run)
        return RecognitionStory(rated=_rate(run, folder / RATING, audits), link=_count(run))
    finally:
        run.close()


def _get_audits(story: Story, run: RunStore) -> tuple[AuditFile, ...]:
    """Return the audits that the replay in *run* names."""
    named = get_replay(run).audit or ()
    ledger = open_story(story, story.concluded)
    try:
        with ledger.view() as view:
            return tuple(get_audit(view, name) for name in ((named,) if isinstance(named, str) else named))
    finally:
        ledger.close()


def _rate(run: RunStore, folder: Path, audits: tuple[AuditFile, ...]) -> RatedReplay:
    drawn = draw_again(run, from_document(RatingKey, read_document(folder / "key.json"), where=str(folder / "key.json")))
    plan = _get_plan(audits[0])
    single = JudgeTask(key=drawn.key, digest=digest_key(drawn.key), sheet=drawn.sheets[0], judge=JUDGE, seed=drawn.key.seed)
    tasks = (single, replace(single, is_pairwise=True))
    store = open_store(folder / "judge")
    try:
        judgments = [judge_sheet(task, store.find_response, level=plan.level, rater_limit=plan.rater_limit) for task in tasks]
        rated_at = min(one.sent_at for one in store.list_responses(Purpose.RATING) if one.sent_at is not None)
    finally:
        store.close()
    return RatedReplay(
        run=REPLAY.run,
        audits=tuple(one.audit.payload.audit for one in audits),
        judgments=tuple(judgments),
        rated_at=rated_at,
        concluded_at=min(outcome.entry.at for one in audits for outcome in one.restrictions),
    )


def draw_again(run: RunStore, key: RatingKey) -> Drawn:
    """Return the sheets that *run* gives when drawn as *key* says: those of *key* where its items are prompts of this run."""
    samples = list_samples(run, test="test", deploy="deploy")
    return draw_sheets(samples, key.raters, items=len(key.items), seed=key.seed)


def _get_plan(file: AuditFile) -> Plan:
    return file.lock.payload.plan if file.lock else file.audit.payload.plan


def _count(run: RunStore) -> Unlinked:
    responses, _ = read_run(run)
    outputs = list_passages(response for response in responses if response.cell.arm == "test")
    count = next(count for count in count_candidates(outputs) if count.channel is Channel.OUTPUT)
    return Unlinked(responses=count.present, candidates=count.candidates)
