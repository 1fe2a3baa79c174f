"""`caveat contamination`: a skill-contamination study read again."""

from pathlib import Path

import click

from registry.cli.application import App, pass_app

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("-o", "--output", metavar="DIR", type=_FOLDER, help="Write results.json, two tables and a page here.")
@click.option("--skill", "names", metavar="NAME", multiple=True, help="Only this skill. May be repeated.")
@click.option("--level", metavar="SHARE", type=float, default=0.95, help="Nominal coverage of the intervals; default: 0.95.")
@click.option("--margin", metavar="NUMBER", type=float, default=0.2, help="Materiality margin δ in points, of 1 to 5; default: 0.2.")
@pass_app
def contamination(app: App, /, *, folder: Path, output: Path | None, names: tuple[str, ...], level: float, margin: float) -> None:
    """Read a skill-contamination run again: contrasts with intervals by task, beside what was published.

    DIR holds scores/, and generations/, tasks/, skills.json, behavioral-eval.json and history/ where they exist. Arms: A baseline,
    B with the skill, C the skill without its references, D the skill in a realistic context. Published figures are recomputed as
    they were made where the files allow it, and each is set beside what the data can say: by task, after Holm, with intervals.
    """
    from audit.cli.contamination_files import write_results
    from audit.cli.contamination_text import print_study
    from audit.contamination.contamination_analysis import build_study
    from audit.contamination.skill_contrasts import build_settings
    from audit.sources.skill_run_folder import read_recording
    from registry.cli.application import track
    from registry.codec.canonical_documents import to_document

    settings = build_settings(level=level, margin=margin)
    with track(app, "reading", total=1) as progress:
        recording = read_recording(folder)
        progress(1)
    study = build_study(recording, settings, names=names)
    if output is not None:
        for path in write_results(study, recording, output):
            app.say(f"written: {path}")
    app.report(to_document(study), lambda console: print_study(console, study))
