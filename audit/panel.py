"""Several judges in one table: each gives an estimate of its own, and all are shown (statistics.md section 3)."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Concatenate, ParamSpec

import numpy as np

from audit.errors import DesignError
from audit.statistics.responses import ScoreTable, average_repeats
from registry.errors import CaveatError, Fault
from registry.records.estimates import Estimate

P = ParamSpec("P")


def for_each_judge(estimate: Callable[Concatenate[ScoreTable, P], Estimate]) -> Callable[Concatenate[ScoreTable, P], Estimate]:
    """Return *estimate* for tables of one or several judges; repeats by one judge of one response are averaged first.

    With several judges, specifications come judge by judge in the order of their names, each saying whose it is. Faults of all
    judges are raised at once.
    """

    @functools.wraps(estimate)
    def estimate_each(table: ScoreTable, /, *args: P.args, **kwargs: P.kwargs) -> Estimate:
        found: list[tuple[str | None, Estimate]] = []
        faults: list[Fault] = []
        for judge, scores in split_judges(table):
            try:
                found.append((judge, estimate(average_repeats(scores), *args, **kwargs)))
            except CaveatError as error:
                faults.extend(fault if judge is None else replace(fault, where=f"{fault.where}, judge {judge}") for fault in error.faults)
        if faults:
            raise DesignError(faults)
        return found[0][1] if len(found) == 1 else _join(found)

    return estimate_each


def split_judges(table: ScoreTable) -> Iterator[tuple[str | None, ScoreTable]]:
    """Yield the scores of each judge with its name, in the order of names; one judge, or none named, is yielded without a name.

    Raises:
        DesignError: some rows name their judge and others do not.
    """
    if table.judge is None:
        yield None, table
        return
    unnamed = int(np.count_nonzero(table.judge.codes < 0))
    if unnamed:
        found = f"{unnamed} of {table.rows} rows name no judge, the others do"
        where = f"{table.files[0].name}, column judge"
        raise DesignError(Fault(code="judge-missing", where=where, found=found, advice="name the judge in every row, or in none"))
    if len(table.judge.labels) == 1:
        yield None, table
        return
    for code, name in enumerate(table.judge.labels):
        yield name, table.keep(table.judge.codes == code)


def _join(found: list[tuple[str | None, Estimate]]) -> Estimate:
    specs = tuple(replace(spec, judge=judge) for judge, one in found for spec in one.specs)
    warnings = tuple(replace(warning, judge=judge) for judge, one in found for warning in one.warnings)
    return replace(found[0][1], specs=specs, warnings=warnings)
