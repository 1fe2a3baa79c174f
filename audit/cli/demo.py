"""`caveat demo`: the whole story on bundled inputs, offline, in under a minute."""

from pathlib import Path

import click

from registry.cli.app import App, pass_app


@click.command()
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), default=Path("caveat-demo"), show_default=True)
@pass_app
def demo(app: App, *, output: Path) -> None:
    """Build a registry, audit it and print its supplements, on bundled inputs, offline.

    An example card with its claims, five retrospective audits of published evaluations, three audits of a recorded replay of a real
    model, and all supplements. The clock of the demo stands still, so everybody gets the same bytes.
    """
    from audit.demo import run_demo
    from registry.cli.progress import track

    with track(app, "demo", unit="steps") as progress:
        story = run_demo(output, say=app.say, progress=progress, time_limit_s=app.config.time_limit_s)
    app.report(story.to_document(), story.print)
