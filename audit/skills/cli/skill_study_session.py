"""A skill study, or a part of it, as a session of calls."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from audit.cli.run_session import RunSession, look_ahead
from audit.model_endpoint import choose_version
from audit.replay.replay_file import ReplayFile
from audit.replay.run_budget import check_prices, read_prices
from audit.skills.study_file import read_study
from audit.skills.study_plan import build_replay, keep_study, plan_calls, select_part


def open_study_session(
    path: Path, folder: Path, options: Mapping[str, Any], *, verb: str = "generate", more: Sequence[str] = ()
) -> RunSession:
    """Return what is to be done for the study in *path*; nothing is sent or written.

    Args:
        verb: the command of `caveat skills` that this is a call of; its limits on the run folder, where it takes any, replace the study's.
        more: further options that resuming needs.

    Raises:
        InputError: the study, its files, its prices or the part that is asked for do not hold together.
    """
    study = read_study(path)
    selection = select_part(study, skills=options["skills_"], tasks=options["tasks"], conditions=options["conditions"])
    file = limit(build_replay(study, samples=options["samples"]), options)
    planned = plan_calls(study, file, selection)
    policy = file.replay.policy
    choose_version(policy)
    prices = read_prices(options["prices"]) if options["prices"] else {}
    check_prices(file.replay.budget, prices, {policy.model})
    return RunSession(
        path=path,
        folder=folder,
        file=file,
        planned=planned,
        prices=prices,
        forecast=look_ahead(planned, prices, folder, options),
        options=options,
        words=("skills", verb),
        more=(*_list_part(options), *more),
        following=shlex.join(["caveat", "skills", "score", str(path), "--run", str(folder)]),
        keep=lambda store: keep_study(store, study),
    )


def limit(file: ReplayFile, options: Mapping[str, Any]) -> ReplayFile:
    """Return the replay with the limits that the command line sets for its run folder, instead of the study's."""
    limits = {name: options[f"max_{name}"] for name in ("calls", "usd") if options.get(f"max_{name}") is not None}
    return replace(file, replay=replace(file.replay, budget=replace(file.replay.budget, **limits))) if limits else file


def _list_part(options: Mapping[str, Any]) -> list[str]:
    words = [word for name in options["skills_"] for word in ("--skill", name)]
    words += [word for name in options["tasks"] for word in ("--task", name)]
    words += [word for name in options["conditions"] for word in ("--condition", name)]
    return [*words, "--samples", str(options["samples"])] if options["samples"] else words
