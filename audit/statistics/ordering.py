"""An order of tasks and contexts that comes from their scores alone, so that a table under other names is resampled alike.

Colour refinement (B. Weisfeiler & A. Leman 1968): the colour of a task is made of the colours of its contexts and the scores there, and
the other way round, a few times over. What keeps one colour is alike in everything that a replicate could show, apart from designs
with a symmetry that the rounds cannot see; there the order of the names decides.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from audit.statistics.scores import Floats
from audit.statistics.sums import sum_groups

_ROUNDS = 2
# Numbers without a simple relation to each other.
_FIRST, _SECOND, _THIRD = 12.9898 * np.sqrt(2), 78.233 * np.sqrt(3), 37.719 * np.sqrt(5)

Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Marked:
    """The cells of one side, each with a mark in [0, 1) for what was scored in it; arrays of one length."""

    task: Places
    """Codes 0 … tasks − 1."""

    context: Places
    """Codes 0 … contexts − 1."""

    contexts: int
    mark: Floats


def mix(first: Floats, second: Floats) -> Floats:
    """Return numbers in [0, 1) that differ where a pair of numbers does, by all that chance allows."""
    mixed: Floats = first * _FIRST
    mixed += second * _SECOND
    mixed -= np.floor(mixed)
    mixed *= 43758.5453
    mixed -= np.floor(mixed)
    return mixed


def place_units(sides: tuple[Marked, Marked], marks: Floats) -> tuple[Places, tuple[Places, Places]]:
    """Return the place of each task, and of each context of the two sides, in the order that their scores give.

    Args:
        sides: cells of the test and of the deployment side.
        marks: in [0, 1), one for each task: what is known of it besides its scores.
    """
    tasks, contexts = marks, [np.full(side.contexts, 0.5) for side in sides]
    for _ in range(_ROUNDS):
        sums = [
            sum_groups(mix(side.mark, colours[side.context]), side.task, size=len(marks))
            for side, colours in zip(sides, contexts, strict=True)
        ]
        tasks = _fraction(mix(_fraction(sums[0] * _THIRD), _fraction(sums[1] * _THIRD)) + tasks * _SECOND)
        contexts = [_colour(side, tasks) for side in sides]
    order = _rank(tasks)
    # Given the order of the tasks, a context is known by its column.
    spread = _fraction((order + 1) * _FIRST)
    first, second = (_rank(_colour(side, spread)) for side in sides)
    return order, (first, second)


def _colour(side: Marked, tasks: Floats) -> Floats:
    return _fraction(sum_groups(mix(side.mark, tasks[side.task]), side.context, size=side.contexts) * _THIRD)


def _rank(colours: Floats) -> Places:
    place = np.empty(len(colours), dtype=np.intp)
    place[np.argsort(colours, kind="stable")] = np.arange(len(colours))
    return place


def _fraction(numbers: Floats) -> Floats:
    return numbers - np.floor(numbers)
