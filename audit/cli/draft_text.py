"""The audit file that `caveat audit new` prints: everything that can be said, with what is known filled in."""

from collections.abc import Iterator

from registry.cli.terminal_output import show
from registry.records.claim import ClaimRevision
from registry.records.specification import PropertySpec

_TEMPLATE = """\
# An audit of {reference} (caveat schema audit tells every key).
#   {form}: {quote}
# Where … stands, decide, or take the line out: what is not stated is not fixed, and `caveat audit lock` refuses a … that is left.
schema: caveat/audit/1
claim: {reference}
independence: third_party          # self | commissioned | third_party
question: …                        # what the audit asks, in words

# Can a defensible P_deploy be built at all? If not: {{defensible: false, infeasible: technical | ontological}}
deployment: {{defensible: true, description: …}}

# Fixed by `caveat audit lock` before any run. Scores lie in [{low:g}, {high:g}], {direction}.
plan: {{margin: {margin:g}, level: 0.95, epsilon: {epsilon:g}, contexts: random, interval: closed_form,{planned}
  seed: 0, replicates: 10000}}
#   contexts: random | fixed | nested; interval: closed_form | guaranteed | anytime (nested contexts; may be stopped at any look);
#   tasks: how many will be replayed, in the order that `caveat audit order` prints (leave it out where `tasks` below lists them);
#   random_subset: true if they are drawn from more; recognition_floor: share that must recognise the test before it suspends a claim
#   rater_limit: accuracy of blind raters above which P_deploy is not defensible as specified (0.75)
deploy_specs: [{specs}]            # names of the P_deploy specifications, as in the score table's column `spec`
exclusion_rules: …
stopping_rule: …
budget: …                          # in words, such as 800 calls: calls and tokens are compared with what was spent

# What else is fixed, by version and digest; specifications as registered (caveat spec list), files beside this one.
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
    yield _write("contestation", None, "CON-…", "the contestation whose rival P_deploy this audit replays under")


def _write(key: str, value: str | None, example: str, meaning: str) -> str:
    line = f"{key}: {value}" if value else f"# {key}: {example}"
    return f"{line:<34} # {meaning}"
