"""`caveat demo`: the whole story on bundled inputs, offline, in under a minute."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from registry.cli.application import App, examples, pass_app
from registry.present.blocks import Block, Facts, Subtitle, Table, Title

if TYPE_CHECKING:
    from audit.demo_sequel import RecognitionStory, RecordedLinks, UpdateStory
    from audit.demo_story import DemoStory
    from registry.folder.supplement_publishing import WrittenFile
    from registry.records.dossier import MonitorFile
    from registry.records.module_findings import RealismJudge


@examples("demo", "demo --update -o updated", "demo --no-pdf -o quick")
@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("caveat-demo"),
    show_default=True,
    help="The folder of the demo.",
)
@click.option("--update", is_flag=True, help="Continue with a smaller model in place of the first, and two audits run again.")
@click.option("--no-pdf", is_flag=True, help="HTML and JSON only: half the time.")
@pass_app
def demo(app: App, /, *, output: Path, update: bool, no_pdf: bool) -> None:
    """Build a registry and its supplements from bundled inputs.

    The demo registers two example cards with their claims. It audits them from published evaluations and from recorded replays of real
    models under locked plans. After release, a monitor of one claim raises an alarm. All supplements are rendered, signed and proven.
    Clock and keys are fixed, so every run gives the same bytes. A second run changes nothing.

    With --update the demo continues with a model update instead of the second card. Claims become stale, two locked plans are run again
    on a smaller model (recorded too), and the due supplements are published with a change report. Use a folder of its own.
    """
    from audit.demo_sequel import run_recognition
    from audit.demo_story import STEPS, STEPS_BEFORE_UPDATE, list_supplements, publish_supplements, run_story
    from registry.cli.application import track
    from registry.records.statement import OutputFormat

    formats = tuple(format_ for format_ in OutputFormat if not (no_pdf and format_ is OutputFormat.PDF))
    with track(app, "registering and auditing", total=STEPS_BEFORE_UPDATE if update else STEPS, unit="steps") as progress:
        story = run_story(output, update=update, formats=formats, progress=progress)
    recognition = run_recognition(story, output)
    with track(app, "drawing supplements", unit="files") as progress:
        published = publish_supplements(story, output / "supplements", time_limit_s=app.config.time_limit_s, progress=progress)
    supplements = list_supplements(story, output / "supplements")
    act = _update(app, story, output) if update else None
    document = _summarise(story, supplements) | _summarise_recognition(recognition) | ({"update": _summarise_update(act)} if act else {})
    app.answer(document, _present_all(story, recognition, written=supplements, output=output, act=act))
    errors = [
        str(error)
        for folder_update in (published, act.updated if act else None)
        if folder_update is not None
        for error in folder_update.errors
    ]
    for error in sorted(set(errors)):
        app.say(error)
    if errors:
        app.say(f"{len(errors)} supplements could not be rendered; the others were")
        click.get_current_context().exit(3)


def _update(app: App, story: "DemoStory", output: Path) -> "UpdateStory":
    from audit.demo_sequel import run_update
    from registry.cli.application import track

    with track(app, "after the update", unit="supplements") as progress:
        return run_update(story, output, time_limit_s=app.config.time_limit_s, progress=progress)


def _summarise_update(act: "UpdateStory") -> dict[str, Any]:
    from registry.codec.canonical_documents import to_document

    return {
        "audits": [audit.audit for audit in act.audits],
        "changes": [to_document(change) for change in act.changes],
        "rendered": _count_rendered(act),
        "files": [str(path) for path in act.updated.completed.paths] if act.updated else [],
    }


def _count_rendered(act: "UpdateStory") -> int:
    return len({file.name for file in act.updated.rendered}) if act.updated else 0


def _summarise(story: "DemoStory", written_files: "list[WrittenFile]") -> dict[str, Any]:
    return {
        "schema": "caveat/demo/1",
        "registry": story.url,
        "cards": [f"{card.card}@{card.revision}" for card in story.cards],
        "audits": [
            {
                "audit": audit.audit,
                "claim": audit.restriction.claim,
                "class": audit.restriction.classification.primary.class_.value,
                "standing": audit.restriction.classification.primary.standing,
                "basis": audit.restriction.basis.value,
            }
            for audit in story.audits
        ],
        "monitor": None if story.monitor is None else _summarise_monitor(story.monitor),
        "files": [{"path": str(written_file.path), "sha256": written_file.sha256} for written_file in written_files],
    }


def _summarise_monitor(file: "MonitorFile") -> dict[str, Any]:
    return {
        "monitor": file.monitor.payload.monitor,
        "claim": file.monitor.payload.claim,
        "verdict": file.find_verdict(None).value,
        "alarm": file.reading.alarm if file.reading else None,
    }


def _present_monitor(file: "MonitorFile") -> Iterator[Block]:
    from registry.report.number_format import format_hundredths
    from registry.report.supplement_wording import describe_production

    reading, name = file.reading, file.monitor.payload.monitor
    yield Subtitle(f"After release: monitor {name} of {file.monitor.payload.claim}")
    if reading is not None and reading.alarm is not None:
        rate = f"at some time above {format_hundredths(reading.lower)}, against a limit of {format_hundredths(file.plan.theta)}"
        yield f"Alarm in window {reading.alarm} of {len(file.current)}: by its scores the rate was {rate}."
    yield f"Verdict: {describe_production(file, None)}. See: caveat monitor show {name}"


def _present_all(
    story: "DemoStory", recognition: "RecognitionStory", *, written: "list[WrittenFile]", output: Path, act: "UpdateStory | None"
) -> Iterator[Block]:

    yield from _present_audits(story)
    if story.monitor is not None:
        yield from _present_monitor(story.monitor)
    yield from present_recognition(recognition)
    yield from _present_files(story, written, output, is_last=act is None)
    if act is not None:
        yield from _present_update(act, output)


def _present_update(act: "UpdateStory", output: Path) -> Iterator[Block]:
    from audit.cli.replay_presenter import present_movement
    from audit.demo_sequel import FOLDER, NEW, OLD

    yield Subtitle(f"Then {NEW} took the place of {OLD}, and two plans were run again")
    yield from present_movement(act.changes)
    sentence = f"{_count_rendered(act)} supplements were due, rendered again and published next to the first ones in {output / FOLDER}"
    yield Subtitle(f"{sentence}; begin with the list:")
    for path in act.updated.completed.paths if act.updated else ():
        yield f"  {path}"


def _present_audits(story: "DemoStory") -> Iterator[Block]:
    from registry.present.answers import show
    from registry.records.verdict import Basis

    locked = sum(audit.restriction.basis is Basis.REPLAY for audit in story.audits)
    yield Title(f"{len(story.audits)} audits, {locked} of them under a locked plan")
    rows = [(conclusion.restriction.claim, show(conclusion.restriction.text.verdict)) for conclusion in story.audits]
    yield Table(("claim", "verdict"), rows)


def _present_files(story: "DemoStory", written_files: "list[WrittenFile]", output: Path, *, is_last: bool) -> Iterator[Block]:
    if not written_files:
        yield Subtitle("No supplement could be rendered:")
        return
    yield Subtitle(f"{len(written_files)} files in {output / 'supplements'}. Begin with a card, then a claim with a recorded replay:")
    first = [file.path for file in written_files if file.path.suffix == ".pdf"] or [file.path for file in written_files]
    for path in (*first[: len(story.cards)], *(path for path in first if story.audits[-1].restriction.claim in path.name)):
        yield f"  {path}"
    yield Subtitle("What to run next, in that folder:")
    commands = (
        (f"cd {output}", ""),
        ("caveat claim list", "every claim with its status"),
        (f"caveat claim show {story.audits[-1].restriction.claim}", "one claim, its passage and its outcome"),
        ("caveat admin log show", "who said what, in order"),
        (
            f"caveat verify --registry sqlite:///caveat.db supplements/{first[0].name}",
            "signature, bytes, every entry in the log, lock before run",
        ),
        ("caveat audit score everyday-questions.run", "the recorded responses, scored again without a call"),
        (f"caveat audit new {story.audits[0].restriction.claim} > audit.yaml", "an audit of your own"),
        *([("caveat demo --update -o ../updated-demo", "what happens when a new version comes")] if is_last else []),
    )
    yield Facts([(f"  {command}", what) for command, what in commands])


# The model judge of the demo, and the link between recognition and ED.


def _summarise_recognition(recognition: "RecognitionStory") -> dict[str, Any]:
    """Return both for the document of the demo."""
    from registry.codec.canonical_documents import to_document

    rated, recorded = recognition.rated, recognition.recorded
    return {
        "rating": {
            "run": rated.run,
            "audits": list(rated.audits),
            "judgments": [to_document(judgment) for judgment in rated.judgments],
            "recorded": False,
            "reason": rated.reason,
        },
        "recognition": {
            "classifier": recorded.classifier,
            "responses": recorded.responses,
            "mentioned": recorded.mentioned,
            "unknown": recorded.unknown,
            "links": [{"audit": audit_link.audit, "link": to_document(audit_link.links)} for audit_link in recorded.links],
        },
    }


def present_recognition(recognition: "RecognitionStory") -> Iterator[Block]:
    """Present what the judge made of single prompts and of pairs, why it is not recorded, and the link between recognition and ED."""
    from audit.cli.rating_session import describe_limit
    from audit.demo_sequel import JUDGE, RATING
    from registry.report.number_format import share

    rated = recognition.rated
    gravest = max(rated.judgments, key=lambda judgment: judgment.worst)
    items = gravest.items_test + gravest.items_deploy
    yield Subtitle(f"{items} prompts of {rated.run}, rated by a model judge ({gravest.judge}, recorded)")
    columns = ("question", "answered", f"share ({share(gravest.level)} CI), chance 50 %", "at worst")
    yield Table(columns, [_describe_judgment(judgment) for judgment in rated.judgments])
    yield describe_limit(gravest)
    yield f"Not recorded as a finding. {rated.reason}"
    yield "The recorded answers, read again in that folder without a call:"
    yield f"  caveat audit rate judge {RATING} --judge {JUDGE.model} --max-tokens {JUDGE.max_tokens}"
    yield from _present_links(recognition.recorded, run=rated.run)


def _present_links(recorded: "RecordedLinks", *, run: str) -> Iterator[Block]:
    from audit.cli.analysis_presenter import present_links
    from audit.demo_sequel import CLASSIFIER

    yield Subtitle(f"Recognition in {recorded.responses} test-side responses, classified by a model ({recorded.classifier}, recorded)")
    yield (
        f"{recorded.mentioned} mention a test; of {recorded.unknown} this is not known. "
        "A small model takes task content for recognition, as its quotes show, and its errors were not measured: "
        "the link shows the method and supports no finding."
    )
    for audit_link in recorded.links:
        yield Subtitle(f"Recognition and ED: {audit_link.audit}")
        yield from present_links(audit_link.links)
    yield "The recorded answers, read again in that folder without a call:"
    mentions, classifier = f"--mentions {recorded.mentions.name}", f"--judge {CLASSIFIER.model} --max-tokens {CLASSIFIER.max_tokens}"
    yield f"  caveat analyze probe {run} {classifier} {mentions}"
    yield f"  caveat audit link {run} {mentions}"


def _describe_judgment(judgment: "RealismJudge") -> tuple[str, ...]:
    from audit.cli.rating_session import describe_share
    from registry.records.module_findings import ItemJudgment, PairJudgment
    from registry.report.number_format import Unit

    worst = Unit(low=0.0, high=1.0).score(judgment.worst, judgment.rater_limit)
    match judgment.single or judgment.pairwise:
        case ItemJudgment() as single:
            return "test or deployment?", f"{single.answered} of {single.items}", f"right: {describe_share(single.accuracy)}", worst
        case PairJudgment() as pairs:
            won = f"named deployment: {describe_share(pairs.win_rate)}"
            return "which one is real?", f"{pairs.answered} of {pairs.questions}", won, worst
        case None:
            raise ValueError("no judgment")
