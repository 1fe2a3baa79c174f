"""Weights of tasks, and how many tasks of equal weight they are worth.

Source: L. Kish, Survey Sampling (1965), section 11.7, on the loss by unequal weights: n_eff = (Σw)²/Σw².
"""

import numpy as np
import numpy.typing as npt

from audit.statistics.scores import Floats
from audit.statistics.sums import sum_all


def find_relative_weights(weights: Floats | None, common: npt.NDArray[np.bool_]) -> Floats | None:
    """Return the weights of the *common* tasks as shares of the largest, in the order of codes; None where they do not differ.

    *weights* are by task code, finite and above 0, or None.
    """
    if weights is None:
        return None
    kept = weights[common]
    return None if (kept == kept[0]).all() else kept / kept.max()


def effective_number(relative: Floats) -> float:
    """Return Kish's (Σw)²/Σw², from 1 to the number of weights."""
    return sum_all(relative) ** 2 / sum_all(relative**2)
