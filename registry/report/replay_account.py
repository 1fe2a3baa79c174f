"""What a replay asked and what became of it, in the words of minimum reporting."""

from collections.abc import Iterable

from registry.records.replay_run import ArmOutcomes, ReplayAccount, RequestedArm
from registry.records.specification import ContextSpec


def describe_mapping(replayed: ReplayAccount) -> str:
    """Return which tasks were asked in which contexts."""
    contexts = {one.name: one for one in replayed.contexts}
    parts = []
    for arm in replayed.arms:
        spec = contexts[arm.contexts].spec if arm.contexts in contexts else None
        number = len(spec.contexts) if spec else None
        size = "contexts" if number is None else "1 context" if number == 1 else f"{number} contexts"
        chosen = f" ({_describe_choice(arm)})" if arm.where else ""
        tasks = f"{arm.tasks} task{'s' if arm.tasks != 1 else ''}{chosen}"
        parts.append(f"{_name_arm(arm)}: {tasks}, each in the {size} of {_name_contexts(replayed, arm)}")
    samples = f"{replayed.samples} response{'s' if replayed.samples > 1 else ''} to each task in each context"
    return "; ".join([*parts, samples, "every score names its task, arm and context"])


def describe_cues(replayed: ReplayAccount) -> str | None:
    """Return the cues that the contexts of the test side are marked with; None where none is, or the contexts are not in the record."""
    found: dict[str, None] = {}
    for asked in replayed.list_asked("test"):
        found |= dict.fromkeys(_list_cues(asked.spec)) if asked.spec else {}
    return f"marked in the contexts that were replayed: {', '.join(found)}" if found else None


def describe_outcomes(replayed: ReplayAccount) -> str:
    """Return what is no plain answer on each side, contexts as they are: scored as it is, or excluded with its reason."""
    kinds = (("refused", "refused"), ("truncated", "cut"), ("empty", "empty"))
    parts = []
    for one in replayed.outcomes:
        if one.cue_removed is not None:
            continue
        counts = [f"{count:,} {word}" for name, word in kinds if (count := getattr(one, name))]
        counts += [f"{count:,} {reason}" for reason, count in one.failures.items()]
        counts += [f"{one.open:,} never asked"] if one.open else []
        parts.append(f"{_name_arm(one)}: {', '.join(counts) or 'none refused, cut, empty or failed'} of {one.planned:,}")
    return f"answers as they came: {'; '.join(parts)}"


def _list_cues(spec: ContextSpec) -> Iterable[str]:
    """Return the cues of contexts and of the blocks that stand in one."""
    blocks = spec.blocks or {}
    for item in spec.contexts:
        yield from item.cues
        yield from (cue for name in item.block_names if name in blocks and (cue := blocks[name].cue))


def _name_arm(one: RequestedArm | ArmOutcomes) -> str:
    return f"{one.arm} ({one.spec})" if one.spec else one.arm


def _name_contexts(replayed: ReplayAccount, arm: RequestedArm) -> str:
    return next((one.reference for one in replayed.contexts if one.name == arm.contexts and one.reference), arm.contexts)


def _describe_choice(arm: RequestedArm) -> str:
    return " and ".join(f"{field} {' or '.join(values)}" for field, values in (arm.where or {}).items())
