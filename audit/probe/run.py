"""The order of a probe: every passage, then the prompts of the recognised ones, with a labelled set first where there is one.

Calls go through the engine of the replay and are kept in a run folder's store, so a probe that was killed goes on where it stood, and
the same probe again asks nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from audit.probe.answer import read_class
from audit.probe.classify import Classified, ask_label, plan_passages, plan_prompts, read_passages, read_prompts
from audit.probe.labels import assess_classifier
from audit.probe.passage import Passage
from audit.probe.read import Labels
from audit.replay.store import Call, RunStore
from registry.records.probe import ClassifierAccuracy
from registry.records.replay import Probe

Ask = Callable[[Sequence[Call]], object]
"""Sends the calls that have no outcome yet and puts what comes back into the store: the engine with endpoint, budget and progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What came of the calls."""

    found: tuple[Classified, ...]
    accuracy: ClassifierAccuracy | None
    classifiers: tuple[str, ...]
    """What answered, as the endpoint returned it."""


def plan_first(passages: Sequence[Passage], labels: Labels | None, probe: Probe) -> list[Call]:
    """Return the calls that are known before anything is asked: labelled passages first, then the others."""
    labelled = [ask_label(one.text, probe) for one in labels.texts] if labels else []
    return list({call.key: call for call in (*labelled, *plan_passages(passages, probe))}.values())


def probe_passages(
    store: RunStore, passages: Sequence[Passage], probe: Probe, ask: Ask, *, labels: tuple[str, Labels] | None = None, level: float = 0.95
) -> Probed:
    """Ask for what is not in *store* yet, and return what all of it says.

    Args:
        labels: name of the labelled set, and its passages.
        level: of the intervals of the classifier's errors.
    """
    first = plan_first(passages, labels[1] if labels else None, probe)
    ask(first)
    found = read_passages(passages, probe, store.find_response)
    second = plan_prompts(found, probe)
    if second:
        ask(second)
        found = read_prompts(found, probe, store.find_response)
    return Probed(
        found=tuple(found),
        accuracy=None if labels is None else _assess(store, labels[0], labels[1], probe, level=level),
        classifiers=_list_models(store, (*first, *second)),
    )


def _assess(store: RunStore, name: str, labels: Labels, probe: Probe, *, level: float) -> ClassifierAccuracy:
    readings = [read_class(store.find_response(ask_label(one.text, probe).key), one.text) for one in labels.texts]
    return assess_classifier(labels.texts, readings, source=(name, labels.sha256), level=level)


def _list_models(store: RunStore, calls: Iterable[Call]) -> tuple[str, ...]:
    answers = (store.find_response(call.key) for call in calls)
    return tuple(sorted({one.model_returned for one in answers if one is not None and one.model_returned is not None}))
