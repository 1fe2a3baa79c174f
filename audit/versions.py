"""A score table with ablations becomes versions of its sides: the contexts as they are, and those with one cue taken out or put in.

The column `cue_removed` names the cue; where it is empty the context is as it is. What cannot be compared is refused here.
"""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from audit.errors import DesignError
from audit.sides import DEFAULT_SPEC, Rows, find_arm, name_files
from audit.statistics.responses import SCORED, ScoreTable, TextColumn
from registry.errors import Fault

PLACEBO = "placebo"
"""A cue whose name begins so is a placebo, as one that is named to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a table with ablations is asked."""

    test: str = "test"
    """The test-like arm."""
    deploy: str = "deploy"
    """The deployment-continuous arm."""
    spec: str | None = None
    """The specification of P_deploy; None where the table has one."""
    placebos: frozenset[str] = frozenset()
    """Cues that are placebos, whatever they are called."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Version:
    """The responses of one arm under one edit of its contexts."""

    cue: str
    arm: str
    placebo: bool
    rows: Rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Versions:
    """The contexts as they are, against one specification of P_deploy, and every edit of them."""

    spec: str
    as_is: dict[str, Rows]
    """By arm."""
    edited: tuple[Version, ...]
    """In the order of cues, then arms."""
    left_out: tuple[str, ...]
    """Arms with edits that are neither of the two sides."""


def find_versions(table: ScoreTable, setting: Setting) -> Versions:
    """Return the versions of both sides in *table*.

    Raises:
        DesignError: no cue is named, a placebo or specification is unknown, several specifications leave open which is meant, an arm is
            missing or has no rows as it is.
    """
    cues = table.cue_removed
    if cues is None or not cues.labels:
        found, advice = "no row names a cue in the column cue_removed", "name in it what was taken out of the row's context, or put into it"
        raise DesignError(Fault(code="no-cues", where=name_files(table), found=found, advice=advice))
    faults = list(_check_placebos(table, cues, setting))
    spec, chosen = _choose_spec(table, cues, setting, faults)
    if faults:
        raise DesignError(faults)
    plain = np.flatnonzero((cues.codes == SCORED) & chosen)
    find_arm(table.keep(plain), setting.test, setting.deploy)
    arms = (setting.test, setting.deploy)
    codes = {arm: table.arm.find(arm) for arm in arms}
    as_is = {arm: plain[table.arm.codes[plain] == code] for arm, code in codes.items()}
    edited = []
    for code, cue in enumerate(cues.labels):
        for arm in arms:
            rows = np.flatnonzero((cues.codes == code) & (table.arm.codes == codes[arm]) & chosen)
            if len(rows):
                edited.append(Version(cue=cue, arm=arm, placebo=_is_placebo(cue, setting), rows=rows))
    if not edited:
        found = f"cues are named in rows of other arms than {setting.test} and {setting.deploy} alone, or of other specifications"
        raise DesignError(Fault(code="no-cues", where=name_files(table), found=found, advice="name the two sides with --test and --deploy"))
    others = np.unique(table.arm.codes[cues.codes != SCORED]).tolist()
    left_out = tuple(label for code, label in enumerate(table.arm.labels) if code in others and label not in arms)
    return Versions(spec=spec, as_is=as_is, edited=tuple(edited), left_out=left_out)


def build_version(table: ScoreTable, versions: Versions, version: Version | None) -> ScoreTable:
    """Return the score table of both sides with the rows of *version* in place of its arm's; None gives the contexts as they are."""
    rows = {**versions.as_is, **({} if version is None else {version.arm: version.rows})}
    return replace(table.keep(np.concatenate(list(rows.values()))), cue_removed=None)


def _is_placebo(cue: str, setting: Setting) -> bool:
    return cue in setting.placebos or cue.casefold().startswith(PLACEBO)


def _check_placebos(table: ScoreTable, cues: TextColumn, setting: Setting) -> Iterator[Fault]:
    for name in sorted(setting.placebos - set(cues.labels)):
        close = difflib.get_close_matches(name, cues.labels, n=1, cutoff=0.5)
        found = f"no row names the cue {name!r}; the cues are: {', '.join(cues.labels[:10])}"
        yield Fault(code="unknown-cue", where=name_files(table), found=found, advice=f"did you mean {close[0]}?" if close else None)


def _choose_spec(table: ScoreTable, cues: TextColumn, setting: Setting, faults: list[Fault]) -> tuple[str, np.ndarray]:
    """Return the specification that is asked about, and which rows belong to it; rows of the test arm belong to every one."""
    deploy = table.arm.codes == (table.arm.find(setting.deploy) if setting.deploy in table.arm.labels else len(table.arm.labels))
    every = np.ones(table.rows, dtype=bool)
    named = np.unique(table.spec.codes[deploy & (cues.codes == SCORED)])
    labels = [table.spec.labels[code] for code in named[named != SCORED].tolist()]
    where = f"{name_files(table)}, column spec"
    if setting.spec is None and len(labels) > 1:
        found = f"arm {setting.deploy} has {len(labels)} specifications of P_deploy: {', '.join(labels[:10])}"
        faults.append(Fault(code="spec-not-chosen", where=where, found=found, advice="name the one to ablate against with --spec"))
        return labels[0], every
    if setting.spec is not None and setting.spec not in (labels or [DEFAULT_SPEC]):
        found = f"no row of arm {setting.deploy} names {setting.spec!r}; the specifications are: {', '.join(labels[:10]) or DEFAULT_SPEC}"
        faults.append(Fault(code="unknown-spec", where=where, found=found))
    if not labels:
        return DEFAULT_SPEC, every
    spec = setting.spec or labels[0]
    belongs = table.spec.codes == table.spec.find(spec) if spec in table.spec.labels else every
    unnamed = int(np.count_nonzero(deploy & (table.spec.codes == SCORED)))
    if unnamed:
        found = f"{unnamed} rows of arm {setting.deploy} name no specification, others do"
        faults.append(Fault(code="spec-missing", where=where, found=found, advice="name one in every such row"))
    return spec, ~deploy | belongs
