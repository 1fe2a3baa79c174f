"""The sections that docs/supplement.md sends a reader to are those of a supplement."""

import re
from pathlib import Path

from registry.report.supplement_wording import NUMBERS, TITLES

PAGE = (Path(__file__).parents[2] / "docs" / "supplement.md").read_text(encoding="utf-8")


def test_a_section_is_named_by_its_number_and_its_title() -> None:
    """A section that moves or is renamed does so on the page too."""
    named = re.findall(r"§ (\d+) \*([^*]+)\*", PAGE)
    printed = {(str(NUMBERS[section]), title) for section, title in TITLES.items()}

    assert len(named) >= 8
    assert [one for one in named if one not in printed] == []
