"""The audit file that `caveat audit new` prints: everything that can be said, with what is known filled in."""

from registry.cli.output import show
from registry.records.claim import ClaimRevision
from registry.records.spec import PropertySpec

_TEMPLATE = """\
# An audit of {reference} (caveat schema audit tells every key).
#   {form}: {quote}
schema: caveat/audit/1
claim: {reference}
independence: third_party          # self | commissioned | third_party
question:                          # what the audit asks, in words

# Can a defensible P_deploy be built at all? If not: {{defensible: false, infeasible: technical | ontological}}
deployment: {{defensible: true, description: }}

# Fixed by `caveat audit lock` before any run. Scores lie in [{low:g}, {high:g}], {direction}.
plan: {{margin: {margin:g}, level: 0.95, epsilon: {epsilon:g}, contexts: random, interval: closed_form, tasks: ,
  seed: 0, replicates: 10000}}
#   contexts: random | fixed | nested; interval: closed_form | guaranteed | anytime (nested contexts; may be stopped at any look);
#   tasks: how many will be replayed, in the order that `caveat audit order` prints; random_subset: true if they are drawn from more
deploy_specs: [{specs}]            # names of the P_deploy specifications, as in the score table's column `spec`
exclusion_rules:
stopping_rule:
budget:                            # in words, such as 800 calls; a replay keeps limits of its own

# What is known without a replay; one entry for each layer, also for those that are unavailable or withheld.
evidence:
  - {{layer: behavioural, access: unavailable}}
  - {{layer: verbalised, access: unavailable}}
  - {{layer: latent, access: unavailable}}
  - {{layer: cue_sensitivity, access: unavailable}}
  # - {{layer: latent, finding: {{value: 0.16, unit: share, n: 100}}, summary: "…", source: "…", location: "p. 12"}}

# scoring: {{invariant: true}}       # only if the invariance check was made
# provenance: {{endpoint: , model_returned: , accessed: , sampling: , judge: }}
"""


def compose_draft(claim: ClaimRevision, body: PropertySpec, *, specs: tuple[str, ...] = ()) -> str:
    """Return the YAML text of an audit file for *claim*, ready to be filled in and locked or imported.

    Args:
        specs: names of the specifications of P_deploy; without any there is one, `default`.
    """
    low, high = body.range
    return _TEMPLATE.format(
        reference=claim.reference,
        form=claim.form.value,
        quote=show(" ".join(claim.quote.split())[:100]),
        specs=", ".join(specs or ("default",)),
        low=low,
        high=high,
        direction=claim.direction.value.replace("_", " "),
        margin=0.05 * (high - low),
        epsilon=0.01 * (high - low),
    )
