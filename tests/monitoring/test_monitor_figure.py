"""The band of a monitor as a figure in a file; `test_forecasts.py` looks at that in a supplement."""

from pathlib import Path

from tests.cli.conftest import Caveat
from tests.monitoring.conftest import MONITOR, window
from tests.monitoring.test_monitor_commands import Write


def test_the_figure_shows_what_was_recorded(watched: Path, caveat: Caveat, write: Write) -> None:
    """Limit, alarm, gap, correction and anchors are marked, and the same windows give the same bytes."""
    empty = caveat("monitor", "show", MONITOR, "--figure", "band.svg")
    silent = window(3)
    del silent["anchors"]
    missing = window(2, cells=[], missing="the pipeline was down")
    del missing["anchors"]
    caveat("monitor", "add", MONITOR, write(window(1), missing, silent))
    caveat("monitor", "add", MONITOR, write(window(1, bad=0.03)), "-m", "labels were late")
    caveat("monitor", "add", MONITOR, write(*(window(number, bad=0.2) for number in range(4, 8))))

    shown = caveat("monitor", "show", MONITOR, "--figure", "band.svg")
    first = Path("band.svg").read_text(encoding="utf-8")
    caveat("monitor", "show", MONITOR, "--figure", "band.svg")

    assert empty.error == "figure-without-data"
    assert shown.code == 1
    assert first == Path("band.svg").read_text(encoding="utf-8")
    assert "limit: at most 10.00 %" in first
    assert "alarm in window 6" in first
    assert (first.count(">no data<"), first.count(">corrected<")) == (1, 1)
