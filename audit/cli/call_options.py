"""The options of a command whose calls keep to limits of their own, as probe and model judge have them."""

from collections.abc import Callable
from typing import TypeVar

import click

from audit.cli.options import FILE

Command = TypeVar("Command", bound=Callable[..., object])


def call_options(answer: str, work: str) -> Callable[[Command], Command]:
    """Give a command the options of its calls, under the names that `audit.cli.limits` and `audit.cli.probe_calls` read.

    Args:
        answer: what one call gives, such as `one classification`.
        work: what the calls make up, such as `a probe`.
    """
    seconds = click.FloatRange(1, 3600)
    options = (
        click.option("--max-tokens", metavar="N", type=click.IntRange(16), help=f"Output tokens of {answer}; default: 1024."),
        click.option("--max-calls", metavar="N", type=click.IntRange(1), help="Calls to make now, at most; running again goes on."),
        click.option(
            "--max-usd", metavar="USD", type=click.FloatRange(0, min_open=True), help="Dollars to spend now, at most; needs --prices."
        ),
        click.option("--prices", metavar="FILE", type=FILE, help="Prices of models, for dollars (caveat schema prices)."),
        click.option("--batch", is_flag=True, help="By Message Batches: cheaper, and may take a day."),
        click.option("--time-out", "timeout_s", metavar="SECONDS", type=seconds, default=600, show_default=True, help="Of a request."),
        click.option(
            "--concurrency", metavar="N", type=click.IntRange(1), default=64, show_default=True, help="Calls under way at once, at most."
        ),
        click.option("--retry-failed", is_flag=True, help="Ask again where a call failed."),
        click.option("--repeat-lost", is_flag=True, help=f"Ask again what was in flight when {work} was killed; it may be billed twice."),
        click.option("--dry-run", is_flag=True, help="Say how many calls it would take, and make none."),
    )

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
