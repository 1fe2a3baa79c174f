"""From passages to calls, and from the answers to classes.

Two rounds: every passage, then the prompts of those that were recognised. What is asked hangs on the texts alone, so passages with the same
words share a call, and the calls of an interrupted probe are found again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from audit.probe.answer import Reading, read_class, read_told
from audit.probe.passage import Passage
from audit.probe.question import ask_passage, ask_prompt
from audit.probe.rates import Verdict
from audit.records.model_response import Response
from audit.replay.run_store import Call
from registry.records.module_findings import Channel, RecognitionClass
from registry.records.replay_definition import Probe

Find = Callable[[str], Response | None]
"""By key of a call, its latest outcome; None where it was not made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """A passage with what the classifier says of it."""

    passage: Passage
    reading: Reading
    is_told: bool | None = None
    """Whether the prompt itself says that it is a test; None where that is not known or was not asked."""

    @property
    def class_(self) -> RecognitionClass | None:
        """The class; None without one. A recognised passage of which nobody knows whether the prompt told is `aware` here."""
        if self.reading.value is None:
            return None
        found = RecognitionClass(self.reading.value)
        return RecognitionClass.AWARE_BUT_TOLD if found is RecognitionClass.AWARE and self.is_told else found

    @property
    def verdict(self) -> Verdict:
        """What the rates are made from."""
        return Verdict(cell=self.passage.cell, class_=self.class_, excluded=self.reading.excluded)


def plan_passages(passages: Iterable[Passage], probe: Probe) -> Iterator[Call]:
    """Give the calls of the first round in the order of the passages, made as they are needed; the same words may give one twice."""
    return (_ask(one, probe) for one in passages if one.absent is None)


def read_passages(passages: Iterable[Passage], probe: Probe, find: Find) -> list[Classified]:
    """Return every passage that holds a text with what its answer says."""
    return [Classified(passage=one, reading=read_class(find(_ask(one, probe).key), one.text)) for one in passages if one.absent is None]


def plan_prompts(found: Iterable[Classified], probe: Probe) -> list[Call]:
    """Return the calls of the second round: the prompts of recognised passages, each once."""
    return [ask_prompt(prompt, model=probe.model, max_tokens=probe.max_tokens) for prompt in _list_prompts(found)]


def read_prompts(found: Sequence[Classified], probe: Probe, find: Find) -> list[Classified]:
    """Return *found* with what is known of the prompts of recognised passages."""
    told: dict[str, bool | None] = {}
    for prompt in _list_prompts(found):
        key = ask_prompt(prompt, model=probe.model, max_tokens=probe.max_tokens).key
        told[prompt] = {"yes": True, "no": False, None: None}[read_told(find(key), prompt).value]
    return [
        Classified(passage=one.passage, reading=one.reading, is_told=told.get(one.passage.prompt or "") if _is_aware(one) else None)
        for one in found
    ]


def ask_label(text: str, probe: Probe, channel: Channel = Channel.REASONING) -> Call:
    """Return the call that classifies a labelled passage, which names no channel of its own."""
    return ask_passage(text, channel, model=probe.model, max_tokens=probe.max_tokens)


def _list_prompts(found: Iterable[Classified]) -> list[str]:
    return list(dict.fromkeys(one.passage.prompt for one in found if _is_aware(one) and one.passage.prompt))


def _is_aware(one: Classified) -> bool:
    return one.reading.value == RecognitionClass.AWARE.value


def _ask(one: Passage, probe: Probe) -> Call:
    return ask_passage(one.text, one.channel, model=probe.model, max_tokens=probe.max_tokens)
