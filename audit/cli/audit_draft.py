"""The audit file and replay files that `caveat audit new` writes, and how the audit file is read back."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from audit.replay.replay_file import SIDES, ReplayFile
from audit.replay.traffic_file import TrafficSample
from audit.verdict.verdict_conditions import DesignSize
from registry.codec.canonical_documents import canonical_bytes, from_document, to_document
from registry.codec.file_io import read_document, write_file
from registry.errors import ConflictError, Fault, InputError
from registry.present.answers import show
from registry.records.analysis_plan import FEWEST_CONTEXTS, FEWEST_TASKS, ContextDesign
from registry.records.audit_case import Independence
from registry.records.claim import ClaimRevision
from registry.records.claim_draft import AuditDraft
from registry.records.record import parse_identifier
from registry.records.replay_run import Budget
from registry.records.specification import ContextSource, ContextSpec, PropertySpec
from registry.report.supplement_wording import DESIGN_RULE, FIXED_CONTEXTS_KEY
from registry.store.registry_view import View

PLACEHOLDER = "…"
"""What `caveat audit new` writes where a person has to decide."""

# The audit file that `caveat audit new` prints: everything that can be said, with what is known filled in.

_TEMPLATE = """\
# An audit of {reference} (keys: caveat admin schema audit).
#   {form}: {quote}
{rule}{known}# Replace each …, or take the line out: items that are not stated are not fixed. `caveat audit lock` refuses a … that is left.
schema: caveat/audit/1
claim: {reference}
independence: {independence:<20} # self | commissioned | third_party
question: …                        # what the audit asks, in words

# Can a defensible P_deploy be built at all? If not: {{defensible: false, infeasible: technical | ontological}}
deployment: {{defensible: true, description: {description}}}

# Fixed by `caveat audit lock` before any run. Scores lie in [{low:g}, {high:g}], {direction}.
plan: {{margin: {margin:g}, level: 0.95, epsilon: {epsilon:g}, contexts: {contexts}, interval: closed_form,{planned}
  seed: 0, replicates: 10000}}
#   contexts: random | fixed | nested; interval: closed_form | guaranteed | anytime (nested contexts; with interim analyses);
#   tasks: how many will be replayed, in the order that `caveat audit order` prints (omit it where `tasks` below lists them);
#   random_subset: true if they are a random sample of more
#   recognition_floor: share that must recognise the test before it suspends a claim
#   rater_limit: accuracy of blind raters above which P_deploy is not defensible as specified (0.75)
deploy_specs: [{specs}]            # names of the P_deploy specifications, as in the score table's column `spec`
exclusion_rules: …
stopping_rule: …
budget: {budget:<26} # in words, such as 800 calls: calls and tokens are compared with what was spent

# What else is fixed, by version and digest; specifications as registered (caveat spec list), files in this folder.
{fixed}

# What others reported, also of layers that are unavailable or withheld. The audit's own replay, ablation and probe need no entry here:
# they make the layers behavioural, cue_sensitivity and verbalised available.
evidence:
  - {{layer: verbalised, access: unavailable}}
  - {{layer: latent, access: unavailable}}
  # - {{layer: cue_sensitivity, access: withheld}}
  # - {{layer: latent, finding: {{value: 0.16, unit: share, n: 100}}, access_level: internals, summary: "…", source: "…"}}

# scoring: {{invariant: true}}       # only if the invariance check was made
# provenance: {{endpoint: , model_returned: , accessed: , sampling: , judge: }}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownReplay:
    """What a replay file says of an audit's plan; what only the auditor can say is not in it."""

    name: str
    """Of the replay file, beside which the audit file belongs."""
    lines: tuple[str, ...]
    """Model, sampling, tasks, contexts, samples and scorer, in words; the lock fixes them with the replay."""
    specs: tuple[str, ...]
    description: str | None
    """How the deployment contexts were made; None where the context files do not say it, or are sealed."""
    budget: str | None


def read_known(path: Path, file: ReplayFile) -> KnownReplay:
    """Return what the replay at *path* says for an audit file."""
    deploy = [arm for arm in file.replay.arms if arm.arm == SIDES[1]]
    made = {arm.spec or "default": _describe_construction(file, arm.context) for arm in deploy}
    budget = ", ".join(f"{value:g} {words}" for words, value in _list_budget(file.replay.budget))
    return KnownReplay(
        name=path.name,
        lines=tuple(_list_known(path, file)),
        specs=tuple(made),
        description="; ".join(f"{spec}: {text}" for spec, text in made.items()) if made and all(made.values()) else None,
        budget=budget or None,
    )


def _list_budget(budget: Budget) -> Iterator[tuple[str, float]]:
    amounts = (("calls", budget.calls), ("input tokens", budget.input_tokens), ("output tokens", budget.output_tokens), ("USD", budget.usd))
    yield from ((words, value) for words, value in amounts if value is not None)


def _describe_construction(file: ReplayFile, context: str) -> str | None:
    # The texts of sealed contexts, and how they were made, stay out of files that are not sealed.
    if context in file.sealed:
        return None
    spec = file.contexts[context]
    return spec.construction or spec.description or None


def _list_known(path: Path, file: ReplayFile) -> Iterator[str]:
    replay = file.replay
    settings = {name: value for name, value in to_document(replay.policy).items() if value not in (None, [], False) and name != "model"}
    sides = {side: [arm for arm in replay.arms if arm.arm == side] for side in SIDES}
    counts = {side: sum(len(file.contexts[arm.context].contexts) for arm in arms) for side, arms in sides.items()}
    named = "; ".join(f"{counts[side]} {side} ({', '.join(dict.fromkeys(arm.context for arm in arms))})" for side, arms in sides.items())
    size = DesignSize(tasks=len(file.tasks), contexts_test=counts[SIDES[0]], contexts_deploy=counts[SIDES[1]])
    yield f"Read from {path.as_posix()}, and fixed with it by the lock; save this file next to it:"
    yield f"  model     {replay.policy.model}"
    written = ", ".join(f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in settings.items())
    yield f"  sampling  {written}; the rest: the endpoint's default"
    yield f"  tasks     {len(file.tasks)} ({replay.tasks})"
    yield f"  contexts  {named}"
    yield f"  samples   {replay.samples} to each task in each context"
    yield f"  scorer    {replay.scoring.kind if replay.scoring else f'{PLACEHOLDER}   # the replay names none'}"
    yield f"  size      {'enough for a verdict' if size.is_enough else 'too small for a verdict'}"


def compose_draft(
    claim: ClaimRevision,
    body: PropertySpec,
    *,
    specs: tuple[str, ...] = (),
    replay: str | KnownReplay | None = None,
    contexts: ContextDesign = ContextDesign.RANDOM,
) -> str:
    """Return the YAML text of an audit file for *claim*, ready to be filled in and locked or imported.

    Args:
        contexts: what the contexts are; nested ones belong to conversations.
        specs: names of the specifications of P_deploy; without any there is one, `default`.
        replay: the replay file next to it, as a name or as what was read from it; None where runs are made elsewhere.
    """
    low, high = body.range
    known = replay if isinstance(replay, KnownReplay) else None
    name = known.name if known else replay if isinstance(replay, str) else None
    specs = known.specs if known else specs
    return _TEMPLATE.format(
        reference=claim.reference,
        rule=_TRAFFIC_RULE if contexts is ContextDesign.NESTED else _RULE,
        contexts=contexts.value,
        form=claim.form.value,
        quote=show(" ".join(claim.quote.split())[:100]),
        specs=", ".join(specs or ("default",)),
        independence=PLACEHOLDER if known else Independence.SELF.value,  # claims the least, if you leave it
        known="".join(f"# {line}\n" for line in known.lines) if known else "",
        description=json.dumps(known.description, ensure_ascii=False) if known and known.description else PLACEHOLDER,
        budget=known.budget if known and known.budget else PLACEHOLDER,
        planned="" if name else " tasks: …,",
        fixed="\n".join(_list_fixed(claim, specs, replay=name)),
        low=low,
        high=high,
        direction=claim.direction.value.replace("_", " "),
        margin=0.05 * (high - low),
        epsilon=0.01 * (high - low),
    )


def _list_fixed(claim: ClaimRevision, specs: tuple[str, ...], *, replay: str | None) -> Iterator[str]:
    """Give the lines of what a lock fixes beside the plan: what the claim names is filled in, the rest stands as a comment."""
    deploy = dict(zip(specs, claim.deploy_contexts, strict=False)) if len(specs) == len(claim.deploy_contexts) else {}
    if not specs and len(claim.deploy_contexts) == 1:
        deploy = {"default": claim.deploy_contexts[0]}
    named = ", ".join(f"{name}: {reference}" for name, reference in deploy.items())
    yield _write("test_contexts", claim.test_context, "CTX-…", "P_test")
    yield _write("deploy_contexts", f"{{{named}}}" if named else None, "{default: CTX-…}", "P_deploy by its name in deploy_specs")
    yield _write("scored_by", claim.scoring, "SCF-…", "the judge or other scoring function")
    yield _write("scorer", None, "NAME", "of logs made elsewhere, the scorer or metric with the scores to be taken")
    yield _write("replay", replay, "replay.yaml", "for caveat audit run: fixed with all it refers to, tasks and model too")
    yield _write("tasks", None, "tasks.txt", "the task identifiers, one a line")
    yield _write("model", None, "NAME", "the model version, as the endpoint returns it")
    yield _write("cues", None, "[CUE-…]", "cue inventories that are ablated or rated")
    yield _write("objection", None, "CON-…", "the objection that offers the rival P_deploy of this replay")


def _write(key: str, value: str | None, example: str, meaning: str) -> str:
    line = f"{key}: {value}" if value else f"# {key}: {example}"
    return f"{line:<34} # {meaning}"


# The files that `caveat audit new --replay` writes: a replay to be filled in, which is refused until it is.

_REPLAY = """\
# A replay of {claim} (keys: caveat admin schema replay; see docs/contexts.md, docs/running.md).
# Nothing is sent by: caveat audit run {folder}/replay.yaml --dry-run
schema: caveat/replay/1
name: {name}
tasks: {tasks}
policy:
  model:                           # the exact version, no alias
  max_tokens: 1024
  # base_url: https://…            # default: ANTHROPIC_BASE_URL, else Anthropic's own; the key is read only from ANTHROPIC_API_KEY
  # api: openai-chat               # for vLLM, llama.cpp, Ollama and gateways; the key is then OPENAI_API_KEY (docs/running.md)
  # temperature: 1.0               # without it: the endpoint's default, and the supplement says so
arms:                              # `edits` are versions of the contexts that are asked too: cues taken out, placebos
{arms}
samples: 1                         # responses to each task in each context; more contexts are worth more than more samples
# What makes a response a score between {low:g} and {high:g}: pattern | choice | number | judge | label (docs/scoring.md)
scoring: {{kind: pattern, score: any_expected}}
budget: {{calls: 1000}}              # also: input_tokens, output_tokens, usd (with --prices)
# audit: AUD-…                     # once `caveat audit lock {folder}/audit.yaml` has printed it (it fixes all but this line)
seed: 0
"""
_RULE = f"""\
# {DESIGN_RULE}
# With one context on a side, set `{FIXED_CONTEXTS_KEY}` in the plan: the verdict is then conditional on these contexts.
"""
_TRAFFIC_RULE = f"""\
# A verdict needs at least {FEWEST_TASKS} conversations, or users where users have several, worth as many of equal weight.
# Each conversation has contexts of its own, so they are nested. Intervals `anytime` are only for equal probabilities.
"""
_TASKS = f"""\
# The tasks: {FEWEST_TASKS} at least for a verdict, 40 and more are better (caveat admin schema tasks). A CSV with the columns
# id and prompt does too.
schema: caveat/tasks/1
tasks:
  - id: task-1
    prompt:                        # what the user asks
    expected: []                   # for `pattern`: regular expressions of a response that scores 1, such as '(?i)i cannot'
    # options: [first, second]     # for `choice`; with the template's {{options}}
    # answer: A                    # for `choice` and `number`
    # fields: {{language: en}}       # for blocks with variants, and for an arm's `where`
"""
_TEST = """\
# P_test: the contexts of the evaluation, {fewest} at least for a verdict. Texts in named blocks can be taken out again:
# caveat admin schema context.
name: {name}, test
description:                       # which evaluation, as whom it addresses the model
construction:                      # how these contexts were sampled or written
blocks:
  role: {{text: You are a helpful assistant.}}
  role-reworded: {{text: You are an obliging assistant.}}
  announcement: {{text: , cue: explicit disclosure}}   # shows the model that it is tested
contexts:
  - {{id: test-1, system: [role, announcement], template: "{{task}}"}}
  # system: "" means that there is no system prompt; tools, scaffold and messages before the task can be here too
edits:
  - {{name: announcement, remove: [announcement]}}
  - {{name: placebo-role, replace: {{role: role-reworded}}, placebo: true}}
"""
_FRAME = """\
# P_test: the evaluation's frame around each conversation: its system prompt, tools and format. Each conversation continues in it.
name: {name}, test
description:                       # which evaluation, as whom it addresses the model
construction:                      # how this frame was sampled or written
contexts:
  - id: frame-1
    system:                        # the evaluation's own; "{{system}}" for that of the conversation
    template: "{{task}}"             # around the user's last words, such as the format of an answer
"""
_AS_IT_WAS = """\
# P_deploy: each conversation as it was, with its own system prompt.
name: {name}, {words}
description:                       # which deployment, and from when the conversations are
source: {source}
construction: {construction}
contexts:
  - {{id: as-it-was, system: "{{system}}", template: "{{task}}"}}
"""
_DEPLOY = """\
# P_deploy: the same tasks as they are asked in deployment, {fewest} contexts at least for a verdict (caveat admin schema context).
name: {name}, deployment
description:                       # which deployment, and the source of that
construction:                      # how these contexts were sampled or written
contexts:
  - {{id: deploy-1, system: , template: "{{task}}"}}
"""


def find_contexts(view: View, claim: ClaimRevision) -> "NamedContexts":
    """Return the contexts that *claim* names and that the registry holds the texts of."""

    def find_slug(reference: str) -> str | None:
        named = parse_identifier(reference)
        spec = view.find_spec(named.bare, named.revision)
        body = view.open_spec(spec.payload) if spec is not None else None
        return spec.payload.slug if spec is not None and isinstance(body, ContextSpec) and body.contexts else None

    deploy = {slug: deploy_context for deploy_context in claim.deploy_contexts if (slug := find_slug(deploy_context))}
    test = claim.test_context or ""
    return NamedContexts(test=test if test and find_slug(test) else "", deploy=deploy if len(deploy) == len(claim.deploy_contexts) else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedContexts:
    """What the claim names of its two sides; an empty text or no entry where it names nothing."""

    test: str
    """`CTX-…@n`, or empty."""
    deploy: Mapping[str, str]
    """By the name of the specification of P_deploy, `CTX-…@n`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficDraft:
    """Sampled conversations that become the tasks of a replay."""

    sample: TrafficSample
    source: ContextSource
    seed: int
    sampler: str | None
    """SHA-256 of the file that chose the conversations, or describes how; None: not stated."""


def write_replay(
    folder: Path, claim: ClaimRevision, body: PropertySpec, contexts: NamedContexts, *, traffic: TrafficDraft | None = None
) -> tuple[Path, ...]:
    """Write the files of a replay of *claim* into *folder*, and return their paths, the audit's first.

    Args:
        traffic: the conversations that are its tasks; None for tasks to be filled in.

    Raises:
        ConflictError: one of them is there already; nothing was written.
        OSError: the file system refuses.
    """
    files = _compose_files(folder, claim, body, contexts) if traffic is None else _compose_traffic(folder, claim, body, contexts, traffic)
    texts = {folder / name: text for name, text in files.items()}
    there = [path for path in texts if path.exists()]
    if there:
        problem = f"holds {', '.join(path.name for path in there)} already, and nothing is written over"
        raise ConflictError(Fault("not-empty", str(folder), problem))
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        write_file(path, text)
    return tuple(texts)


def _compose_files(folder: Path, claim: ClaimRevision, body: PropertySpec, contexts: NamedContexts) -> dict[str, str]:
    name = claim.claim.lower()
    files = {
        "audit.yaml": compose_draft(claim, body, specs=tuple(contexts.deploy), replay="replay.yaml"),
        "replay.yaml": _compose_replay(folder, claim, body, _list_arms(contexts), tasks="tasks.yaml"),
        "tasks.yaml": _TASKS,
    }
    if not contexts.test:
        files["test.yaml"] = _TEST.format(name=name, fewest=FEWEST_CONTEXTS)
    if not contexts.deploy:
        files["deploy.yaml"] = _DEPLOY.format(name=name, fewest=FEWEST_CONTEXTS)
    return files


def _compose_replay(folder: Path, claim: ClaimRevision, body: PropertySpec, arms: Sequence[str], *, tasks: str) -> str:
    low, high = body.range
    listed, name = "\n".join(arms), claim.claim.lower()
    return _REPLAY.format(claim=claim.reference, folder=folder.as_posix(), name=name, tasks=tasks, arms=listed, low=low, high=high)


def _compose_traffic(
    folder: Path, claim: ClaimRevision, body: PropertySpec, contexts: NamedContexts, traffic: TrafficDraft
) -> dict[str, str]:
    spec, name = traffic.source.value, claim.claim.lower()
    arms = [
        f"  - {{arm: test, context: {contexts.test or 'test.yaml'}}}",
        f"  - {{arm: deploy, spec: {spec}, context: deploy.yaml}}",
    ]
    construction = traffic.sample.describe(seed=traffic.seed, sampler=traffic.sampler)
    # The claim's own P_deploy is other contexts, so the lock must not take it for these.
    bare = replace(claim, deploy_contexts=())
    return {
        "audit.yaml": compose_draft(bare, body, specs=(spec,), replay="replay.yaml", contexts=ContextDesign.NESTED),
        "replay.yaml": _compose_replay(folder, claim, body, arms, tasks="tasks.jsonl"),
        "tasks.jsonl": "".join(f"{canonical_bytes(_drop_unset(to_document(task))).decode()}\n" for task in traffic.sample.tasks),
        **({} if contexts.test else {"test.yaml": _FRAME.format(name=name)}),
        "deploy.yaml": _AS_IT_WAS.format(name=name, words=traffic.source.words, source=spec, construction=json.dumps(construction)),
    }


def _drop_unset(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if value not in (None, [])}


def _list_arms(contexts: NamedContexts) -> Sequence[str]:
    test = (
        f"{{arm: test, context: {contexts.test}}}"
        if contexts.test
        else "{arm: test, context: test.yaml, edits: [announcement, placebo-role]}"
    )
    named = [f"{{arm: deploy, spec: {spec}, context: {reference}}}" for spec, reference in contexts.deploy.items()]
    return [f"  - {name}" for name in (test, *(named or ["{arm: deploy, context: deploy.yaml}"]))]


# An audit file as the commands take it: what its template left open is found before anything is recorded.


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftReading:
    """An audit file, read as far as it is valid."""

    draft: AuditDraft | None
    """Without the keys that have faults, so that the others can be checked against the registry; None where no audit is left."""
    blanks: tuple[str, ...]
    """Keys that were left as the template has them; they count as not stated."""
    faults: tuple[Fault, ...]
    """What is not valid, and, for a lock, every placeholder."""


def read_draft(path: Path, *, locked: bool) -> tuple[AuditDraft, tuple[str, ...]]:
    """Return the audit that *path* describes, and the keys that were left as the template has them and count as not stated.

    Args:
        locked: whether the plan is to be fixed: then nothing may be left open by a placeholder.

    Raises:
        InputError: with every fault: what is not valid, and, for a lock, every placeholder.
    """
    reading = inspect_draft(path, locked=locked)
    if reading.draft is None or reading.faults:
        raise InputError(reading.faults)
    return reading.draft, reading.blanks


def inspect_draft(path: Path, *, locked: bool) -> DraftReading:
    """Return the audit file *path* with its faults, as `read_draft` raises them; raises InputError for what is no document at all."""
    document = read_document(path)
    places = tuple(_find_placeholders(document, ""))
    faults = [_refuse(path, place) for place in places] if locked else []
    cleared = _clear(document)
    try:
        return DraftReading(draft=from_document(AuditDraft, cleared, where=str(path)), blanks=places, faults=tuple(faults))
    except InputError as error:
        left = _drop_faulty(cleared, error.faults, where=str(path))
        return DraftReading(draft=left, blanks=places, faults=(*faults, *error.faults))


def _drop_faulty(document: Any, faults: Sequence[Fault], *, where: str) -> AuditDraft | None:
    """Return the audit without the keys that *faults* name; None where that is no audit."""
    if not isinstance(document, dict):
        return None
    faulty = {re.split(r"[.\[]", fault.where.removeprefix(f"{where}, "))[0] for fault in faults}
    left = {key: value for key, value in document.items() if key not in faulty}
    try:
        # Only for a check of the other keys: nothing that lacks its independence is recorded.
        return from_document(AuditDraft, {"independence": Independence.SELF.value, **left}, where=where)
    except InputError:
        return None


def _refuse(path: Path, place: str) -> Fault:
    return Fault("placeholder-left", f"{path}, {place}", f"still holds the placeholder {PLACEHOLDER}, and a lock is for good")


def _find_placeholders(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _find_placeholders(item, f"{place}.{name}" if place else str(name))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _find_placeholders(item, f"{place}[{number}]")
    elif _is_placeholder(value):
        yield place


def _clear(value: Any) -> Any:
    """Return *value* without what only holds the place of something."""
    if isinstance(value, dict):
        return {name: _clear(item) for name, item in value.items() if not _is_placeholder(item)}
    return [_clear(item) for item in value if not _is_placeholder(item)] if isinstance(value, list) else value


def _is_placeholder(value: Any) -> bool:
    return isinstance(value, str) and value.strip() in (PLACEHOLDER, "...")
