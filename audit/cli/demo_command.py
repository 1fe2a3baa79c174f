"""`caveat demo`: the whole story on bundled inputs, offline, in under a minute."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from registry.cli.application import App, pass_app

if TYPE_CHECKING:
    from audit.demo_sequel import RecognitionStory, UpdateStory
    from audit.demo_story import DemoStory
    from registry.folder.supplement_publishing import WrittenFile


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("caveat-demo"),
    show_default=True,
    help="The folder of the demo.",
)
@click.option("--update", is_flag=True, help="A smaller model takes the place of the first, and two audits are carried out again.")
@click.option("--no-pdf", is_flag=True, help="HTML and JSON only: half the time.")
@pass_app
def demo(app: App, /, *, output: Path, update: bool, no_pdf: bool) -> None:
    """Build a registry, audit it and print its supplements, on bundled inputs, offline.

    An example card with its claims, five retrospective audits of published evaluations, three audits of a recorded pilot with a real
    model, two of its larger replay under locked plans; a second card with three audits of another recorded replay under locked plans,
    large enough to establish a verdict; and all supplements, signed and proven. A model judge of the first replay's prompts, recorded
    too, is shown beside them. The clock of the demo stands still, and everybody has its keys, so everybody gets the same bytes. Doing it
    twice changes nothing.

    With `--update` the story goes on with the first card instead of the second: claims become stale, two locked plans are carried out
    again on a smaller model (recorded too), and the supplements that are due are published beside the first ones, with a change report.
    This needs a folder of its own.
    """
    from audit.cli.demo_presenter import summarise_recognition
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
    document = _summarise(story, supplements) | summarise_recognition(recognition) | ({"update": _summarise_update(act)} if act else {})
    app.report(document, lambda console: _print_all(console, story, recognition, written=supplements, output=output, act=act))
    errors = [str(error) for one in (published, act.updated if act else None) if one is not None for error in one.errors]
    for error in sorted(set(errors)):
        app.say(error)
    if errors:
        app.say(f"{len(errors)} supplements could not be drawn; the others are there")
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
        "drawn": _count_drawn(act),
        "files": [str(path) for path in act.updated.completed.paths] if act.updated else [],
    }


def _count_drawn(act: "UpdateStory") -> int:
    return len({one.name for one in act.updated.drawn}) if act.updated else 0


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
        "files": [{"path": str(written_file.path), "sha256": written_file.sha256} for written_file in written_files],
    }


def _print_all(
    console: Any,
    story: "DemoStory",
    recognition: "RecognitionStory",
    *,
    written: "list[WrittenFile]",
    output: Path,
    act: "UpdateStory | None",
) -> None:
    from audit.cli.demo_presenter import print_recognition

    _print_audits(console, story)
    print_recognition(console, recognition)
    _print_files(console, story, written, output, is_last=act is None)
    if act is not None:
        _print_update(console, act, output)


def _print_update(console: Any, act: "UpdateStory", output: Path) -> None:
    from audit.cli.replay_presenter import print_movement
    from audit.demo_sequel import FOLDER, NEW, OLD

    console.print(f"\nThen {NEW} took the place of {OLD}, and two plans were carried out again", style="bold")
    print_movement(console, act.changes)
    told = f"{_count_drawn(act)} supplements were due, drawn anew and published beside the first ones in {output / FOLDER}"
    console.print(f"\n{told}; begin with the list:", style="bold")
    for path in act.updated.completed.paths if act.updated else ():
        console.print(f"  {path}", soft_wrap=True)


def _print_audits(console: Any, story: "DemoStory") -> None:
    from registry.cli.terminal_output import build_table, show
    from registry.records.verdict import Basis

    locked = sum(audit.restriction.basis is Basis.REPLAY for audit in story.audits)
    console.print(f"{len(story.audits)} audits, {locked} of them under a locked plan", style="bold")
    rows = [(one.restriction.claim, show(one.restriction.text.verdict)) for one in story.audits]
    console.print(build_table(("claim", "verdict"), rows))


def _print_files(console: Any, story: "DemoStory", written_files: "list[WrittenFile]", output: Path, *, is_last: bool) -> None:
    from registry.cli.terminal_output import build_table

    drawn = written_files
    console.print(
        f"\n{len(drawn)} files in {output / 'supplements'}. Begin with a card, then a claim with a recorded replay:", style="bold"
    )
    first = [one.path for one in drawn if one.path.suffix == ".pdf"] or [one.path for one in drawn]
    for path in (*first[: len(story.cards)], *(path for path in first if story.audits[-1].restriction.claim in path.name)):
        console.print(f"  {path}", soft_wrap=True)
    console.print("\nWhat to run next, in that folder:", style="bold")
    commands = (
        (f"cd {output}", ""),
        ("caveat claim list", "every claim with its status"),
        (f"caveat claim show {story.audits[-1].restriction.claim}", "one claim, its passage and its outcome"),
        ("caveat log show", "who said what, in order"),
        (
            f"caveat verify --registry sqlite:///caveat.db supplements/{first[0].name}",
            "signature, bytes, every entry in the log, lock before run",
        ),
        ("caveat score everyday-questions.run", "the recorded responses, scored again without a call"),
        (f"caveat audit new {story.audits[0].restriction.claim} > audit.yaml", "an audit of your own"),
        *([("caveat demo --update -o ../updated-demo", "what happens when a new version comes")] if is_last else []),
    )
    console.print(build_table(("", ""), [(f"  {command}", what) for command, what in commands]))
