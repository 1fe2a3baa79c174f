"""How an exploration looks in a terminal: labelled before anything else."""

from rich.console import Console

from audit.cli.estimate_text import print_estimate
from registry.cli.terminal_output import show
from registry.records.analysis_plan import Exploration
from registry.records.dossier import Recorded

LABEL = "EXPLORATORY: not fixed before, and no verdict rests on it"


def print_exploration(console: Console, said: Recorded[Exploration], *, is_new: bool) -> None:
    """Print the label, the question and the settings, then the estimate."""
    one = said.payload
    console.print(LABEL, style="bold")
    console.print(show(f"{one.audit} of {one.claim}, entry {said.entry.seq}{'' if is_new else ' (recorded already)'}: {one.question}"))
    console.print(show(f"differs from the plan: {'; '.join(one.differs) or 'in nothing but that it was not fixed for these scores'}"))
    print_estimate(console, one.estimate)
