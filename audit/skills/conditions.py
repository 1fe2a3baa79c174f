"""The conditions of a study: contexts with fixed names, the skill's texts filled in, and where they differ from the published study."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from audit.skills.tasks import REFERENCES, SKILL, TaskFile
from audit.skills.texts import SkillText
from registry.errors import Fault
from registry.records.block import Block, Parts, Role, Variants
from registry.records.contamination import ARMS, Note
from registry.records.spec import ContextItem, ContextSpec
from registry.registration.contexts import list_names
from registry.resources import find_resource

CONDITIONS: Mapping[str, str] = {condition: arm for arm, condition in ARMS.items()}
"""Arm by condition, which is the context's id."""

_NEEDED = ("baseline", "with_skill")
_WITHOUT = {"baseline": (SKILL, REFERENCES), "realistic_baseline": (SKILL, REFERENCES), "skill_md_only": (REFERENCES,)}
"""Blocks that a condition must not hold, or it would not be that condition."""
_WITH = {"with_skill": (SKILL, REFERENCES), "skill_md_only": (SKILL,), "realistic": (SKILL, REFERENCES)}
_PLAIN: Mapping[str, tuple[str, ...]] = {"baseline": (), "with_skill": (SKILL, REFERENCES), "skill_md_only": (SKILL,)}
"""What the system prompt of a condition consists of in the published study."""


def find_conditions() -> Path:
    """Return the file with the conditions that come with Caveat."""
    return find_resource("examples") / "skills" / "conditions.yaml"


def check_conditions(spec: ContextSpec, where: str) -> Iterator[Fault]:
    """Give every fault of *spec* as the conditions of a study: names, needed ones, and the blocks that make each what it is called."""
    for name in (SKILL, REFERENCES):
        block = (spec.blocks or {}).get(name)
        if block is None or block.by is None or block.by.field != name or block.by.texts or block.by.fallback is not None:
            found = f"the study cannot fill the block {name!r}"
            yield Fault(code="not-valid", where=f"{where}, blocks.{name}", found=found, advice=f"write by: {{field: {name}, texts: {{}}}}")
    held = {item.id: set(list_names(item)) for item in spec.contexts}
    for name in _NEEDED:
        if name not in held:
            found = f"no context is called {name!r}, and nothing can be compared without it"
            yield Fault(
                code="condition-missing", where=f"{where}, contexts", found=found, advice=f"the conditions are {', '.join(CONDITIONS)}"
            )
    for name, blocks in held.items():
        if name not in CONDITIONS:
            found = f"no condition is called {name!r}"
            yield Fault(
                code="unknown-condition", where=f"{where}, contexts", found=found, advice=f"the conditions are {', '.join(CONDITIONS)}"
            )
        wrong = [f"holds {block}" for block in _WITHOUT.get(name, ()) if block in blocks]
        wrong += [f"does not hold {block}" for block in _WITH.get(name, ()) if block not in blocks]
        if wrong:
            yield Fault(code="not-valid", where=f"{where}, contexts[{name}]", found=f"the condition {' and '.join(wrong)}")


def fill_conditions(spec: ContextSpec, texts: Mapping[str, SkillText], tasks: Mapping[str, TaskFile]) -> ContextSpec:
    """Return *spec* with the skills' texts in the blocks that are left for them: SKILL.md by skill, references as each task loads them."""
    main = {name: text.main for name, text in texts.items()}
    references = {
        task.fields[REFERENCES]: texts[name].join_references(file.references.get(task.id))
        for name, file in tasks.items()
        for task in file.tasks
        if task.fields is not None
    }
    known = spec.blocks or {}
    filled = {
        name: Block(
            by=Variants(field=name, texts=by_value),
            source=_list_sources(texts, is_main=name == SKILL),
            description=known[name].description,
            cue=known[name].cue,
        )
        for name, by_value in ((SKILL, main), (REFERENCES, references))
    }
    return replace(spec, blocks={**known, **filled})


def _list_sources(texts: Mapping[str, SkillText], *, is_main: bool) -> str | None:
    files = (
        f"{file}, sha256 {digest}"
        for text in texts.values()
        for place, (file, digest) in enumerate(text.digests.items())
        if (place == 0) is is_main
    )
    return "; ".join(files) or None


def list_departures(items: Sequence[ContextItem]) -> Iterator[Note]:
    """Give a note for each condition that is not built as in the published study; what a run says of it holds for the run's own alone."""
    for item in items:
        if item.id in _PLAIN:
            wanted = _PLAIN[item.id]
            if _name_blocks(item.system) != wanted or item.messages:
                expected = "the task's prompt alone" if not wanted else f"{' and '.join(wanted)} as system prompt, then the task's prompt"
                yield _describe_departure(item, expected)
        elif [turn.role for turn in item.messages] != [Role.USER, Role.ASSISTANT]:
            yield _describe_departure(item, "a request and a report with a file read, then the task's prompt")


def _describe_departure(item: ContextItem, expected: str) -> Note:
    message = f"the published study sends {expected}; this run's condition is another"
    return Note(kind="condition-differs", where=f"{CONDITIONS.get(item.id, '?')} {item.id}", message=message)


def _name_blocks(parts: Parts | None) -> tuple[str, ...] | None:
    """Return the names of the blocks; None where a text is written out."""
    if not parts:
        return ()
    return None if isinstance(parts, str) else tuple(parts)
