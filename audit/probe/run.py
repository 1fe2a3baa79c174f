"""The order of a probe: every passage, then the prompts of the recognised ones, with a labelled set first where there is one.

Calls go through the engine of the replay and are kept in a run folder's store, so a probe that was killed goes on where it stood, and
the same probe again asks nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from audit.probe.answer import read_class
from audit.probe.classify import Classified, Find, ask_label, plan_passages, plan_prompts, read_passages, read_prompts
from audit.probe.labels import assess_classifier
from audit.probe.passage import Passage
from audit.probe.read import Labels
from audit.records.model_response import Response
from audit.replay.run_store import Call, RunStore
from registry.records.module_findings import ClassifierAccuracy
from registry.records.replay_definition import Probe

Ask = Callable[[Iterable[Call], int], object]
"""Sends the calls that have no outcome yet, of which there are as many as said at most, and puts what comes back into the store: the
engine with endpoint, budget and progress. Calls are made as they are read: their bodies together would be larger than all texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What came of the calls."""

    found: tuple[Classified, ...]
    accuracy: ClassifierAccuracy | None
    classifiers: tuple[str, ...]
    """What answered, as the endpoint returned it."""


def plan_first(passages: Iterable[Passage], labels: Labels | None, probe: Probe) -> Iterator[Call]:
    """Give the calls that are known before anything is asked, each once: labelled passages first, then the others."""
    labelled = (ask_label(one.text, probe) for one in labels.texts) if labels else iter(())
    seen: set[bytes] = set()
    for call in chain(labelled, plan_passages(passages, probe)):
        key = bytes.fromhex(call.key)
        if key not in seen:
            seen.add(key)
            yield call


def probe_passages(
    store: RunStore, passages: Sequence[Passage], probe: Probe, ask: Ask, *, labels: tuple[str, Labels] | None = None, level: float = 0.95
) -> Probed:
    """Ask for what is not in *store* yet, and return what all of it says.

    Args:
        labels: name of the labelled set, and its passages.
        level: of the intervals of the classifier's errors.
    """
    models: set[str] = set()

    def find(key: str) -> Response | None:
        answer = store.find_response(key)
        models.update([answer.model_returned] if answer is not None and answer.model_returned is not None else [])
        return answer

    texts = len({(one.channel, one.text) for one in passages if one.absent is None})
    ask(plan_first(passages, labels[1] if labels else None, probe), texts + (len(labels[1].texts) if labels else 0))
    found = read_passages(passages, probe, find)
    second = plan_prompts(found, probe)
    if second:
        ask(second, len(second))
        found = read_prompts(found, probe, find)
    accuracy = None if labels is None else _assess(find, labels[0], labels[1], probe, level=level)
    return Probed(found=tuple(found), accuracy=accuracy, classifiers=tuple(sorted(models)))


def _assess(find: Find, name: str, labels: Labels, probe: Probe, *, level: float) -> ClassifierAccuracy:
    readings = [read_class(find(ask_label(one.text, probe).key), one.text) for one in labels.texts]
    return assess_classifier(labels.texts, readings, source=(name, labels.sha256), level=level)
