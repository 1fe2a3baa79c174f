"""The options that several commands share."""

import re

import click
import pytest

from audit.cli.analysis_commands import ablation, contrast, estimate, judge
from registry.records.analysis_plan import Plan


@pytest.mark.parametrize("command", [ablation, contrast, estimate, judge], ids=lambda one: str(one.name))
def test_the_help_names_the_defaults_of_the_plan(command: click.Command) -> None:
    """What is not given is filled in by the plan, so the help must say what the plan says."""
    said = {
        option.name: found[1]
        for option in command.params
        if isinstance(option, click.Option) and option.name in Plan.__dataclass_fields__
        if (found := re.search(r"default: (.+)\.$", option.help or ""))
    }
    of_range = {"margin": "0.05 × range", "epsilon": "0.01 × range"}

    assert {"contexts", "margin", "level"} <= said.keys()
    assert said == {name: of_range.get(name, str(getattr(Plan(), name))) for name in said if name}
