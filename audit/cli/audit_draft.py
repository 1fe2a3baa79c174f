"""The audit file and replay files that `caveat audit new` writes, and how the audit file is read back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registry.codec.canonical_documents import from_document
from registry.codec.file_io import read_document, write_file
from registry.errors import ConflictError, Fault, InputError
from registry.present.answers import show
from registry.records.claim import ClaimRevision
from registry.records.claim_draft import AuditDraft
from registry.records.specification import PropertySpec

# The audit file that `caveat audit new` prints: everything that can be said, with what is known filled in.

_TEMPLATE = """\
# An audit of {reference} (keys: caveat admin schema audit).
#   {form}: {quote}
# Replace each …, or take the line out: items that are not stated are not fixed. `caveat audit lock` refuses a … that is left.
schema: caveat/audit/1
claim: {reference}
independence: third_party          # self | commissioned | third_party
question: …                        # what the audit asks, in words

# Can a defensible P_deploy be built at all? If not: {{defensible: false, infeasible: technical | ontological}}
deployment: {{defensible: true, description: …}}

# Fixed by `caveat audit lock` before any run. Scores lie in [{low:g}, {high:g}], {direction}.
plan: {{margin: {margin:g}, level: 0.95, epsilon: {epsilon:g}, contexts: random, interval: closed_form,{planned}
  seed: 0, replicates: 10000}}
#   contexts: random | fixed | nested; interval: closed_form | guaranteed | anytime (nested contexts; with interim analyses);
#   tasks: how many will be replayed, in the order that `caveat audit order` prints (omit it where `tasks` below lists them);
#   random_subset: true if they are a random sample of more
#   recognition_floor: share that must recognise the test before it suspends a claim
#   rater_limit: accuracy of blind raters above which P_deploy is not defensible as specified (0.75)
deploy_specs: [{specs}]            # names of the P_deploy specifications, as in the score table's column `spec`
exclusion_rules: …
stopping_rule: …
budget: …                          # in words, such as 800 calls: calls and tokens are compared with what was spent

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


def compose_draft(claim: ClaimRevision, body: PropertySpec, *, specs: tuple[str, ...] = (), replay: str | None = None) -> str:
    """Return the YAML text of an audit file for *claim*, ready to be filled in and locked or imported.

    Args:
        specs: names of the specifications of P_deploy; without any there is one, `default`.
        replay: name of the replay file beside it; None where runs are made elsewhere.
    """
    low, high = body.range
    return _TEMPLATE.format(
        reference=claim.reference,
        form=claim.form.value,
        quote=show(" ".join(claim.quote.split())[:100]),
        specs=", ".join(specs or ("default",)),
        planned="" if replay else " tasks: …,",
        fixed="\n".join(_list_fixed(claim, specs, replay=replay)),
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
tasks: tasks.yaml
policy:
  model:                           # the exact version, no alias
  max_tokens: 1024
  # base_url: https://…            # default: ANTHROPIC_BASE_URL, else Anthropic's own; the key is read only from ANTHROPIC_API_KEY
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
_TASKS = """\
# The tasks: 20 at least for a verdict, 40 and more are better (caveat admin schema tasks). A CSV with the columns id and prompt does too.
schema: caveat/tasks/1
tasks:
  - id: task-1
    prompt:                        # what the user asks
    expected: []                   # for `pattern`: regular expressions of a response that scores 1, such as '(?i)i cannot'
    # options: [first, second]     # for `choice`; with the template's {options}
    # answer: A                    # for `choice` and `number`
    # fields: {language: en}       # for blocks with variants, and for an arm's `where`
"""
_TEST = """\
# P_test: the contexts of the evaluation, 5 at least for a verdict. Texts in named blocks can be taken out again:
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
_DEPLOY = """\
# P_deploy: the same tasks as they are asked in deployment, 5 contexts at least for a verdict (caveat admin schema context).
name: {name}, deployment
description:                       # which deployment, and the source of that
construction:                      # how these contexts were sampled or written
contexts:
  - {{id: deploy-1, system: , template: "{{task}}"}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedContexts:
    """What the claim names of its two sides; an empty text or no entry where it names nothing."""

    test: str
    """`CTX-…@n`, or empty."""
    deploy: Mapping[str, str]
    """By the name of the specification of P_deploy, `CTX-…@n`."""


def write_replay(folder: Path, claim: ClaimRevision, body: PropertySpec, contexts: NamedContexts) -> tuple[Path, ...]:
    """Write the files of a replay of *claim* into *folder*, and return their paths, the audit's first.

    Raises:
        ConflictError: one of them is there already; nothing was written.
        OSError: the file system refuses.
    """
    texts = {folder / name: text for name, text in _compose_files(folder, claim, body, contexts).items()}
    there = [path for path in texts if path.exists()]
    if there:
        found = f"holds {', '.join(path.name for path in there)} already, and nothing is written over"
        raise ConflictError(Fault("not-empty", str(folder), found))
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        write_file(path, text)
    return tuple(texts)


def _compose_files(folder: Path, claim: ClaimRevision, body: PropertySpec, contexts: NamedContexts) -> dict[str, str]:
    low, high = body.range
    name = claim.claim.lower()
    replay = _REPLAY.format(
        claim=claim.reference, folder=folder.as_posix(), name=name, arms="\n".join(_list_arms(contexts)), low=low, high=high
    )
    files = {
        "audit.yaml": compose_draft(claim, body, specs=tuple(contexts.deploy), replay="replay.yaml"),
        "replay.yaml": replay,
        "tasks.yaml": _TASKS,
    }
    if not contexts.test:
        files["test.yaml"] = _TEST.format(name=name)
    if not contexts.deploy:
        files["deploy.yaml"] = _DEPLOY.format(name=name)
    return files


def _list_arms(contexts: NamedContexts) -> Sequence[str]:
    test = (
        f"{{arm: test, context: {contexts.test}}}"
        if contexts.test
        else "{arm: test, context: test.yaml, edits: [announcement, placebo-role]}"
    )
    named = [f"{{arm: deploy, spec: {spec}, context: {reference}}}" for spec, reference in contexts.deploy.items()]
    return [f"  - {name}" for name in (test, *(named or ["{arm: deploy, context: deploy.yaml}"]))]


# An audit file as the commands take it: what its template left open is found before anything is recorded.

PLACEHOLDER = "…"
"""What `caveat audit new` writes where a person has to decide."""


def read_draft(path: Path, *, locked: bool) -> tuple[AuditDraft, tuple[str, ...]]:
    """Return the audit that *path* describes, and the keys that were left as the template has them and count as not stated.

    Args:
        locked: whether the plan is to be fixed: then nothing may be left open by a placeholder.

    Raises:
        InputError: with every fault: what is not valid, and, for a lock, every placeholder.
    """
    document = read_document(path)
    places = list(_find_placeholders(document, ""))
    faults = [_refuse(path, place) for place in places] if locked else []
    try:
        draft = from_document(AuditDraft, _clear(document), where=str(path))
    except InputError as error:
        raise InputError([*faults, *error.faults]) from error
    if faults:
        raise InputError(faults)
    return draft, tuple(places)


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
