"""Dossiers whose texts try to get out of their place."""

from registry.records.claim import (
    Form,
)
from registry.records.dossier import Dossier
from registry.records.estimates import EstimateWarning
from registry.records.verdict import Basis, ClaimClass, Mode, RestrictedClaim, RestrictionStatus, Standing
from tests.report.builders import (
    Log,
    audit_file,
    build,
    classification,
    estimate,
    reading,
    replace_parts,
    revision,
    spec_estimate,
)

HOSTILE = (
    '<script>alert(1)</script><img src="http://evil.example/x.png" onerror="x()"> <style>body{display:none}</style> file:///etc/passwd '
    "{{ 7 * 7 }} {% raw %} ]]> --> </textarea></p></table> &lt;b&gt; \u202ereversed\u202c zero\u200bwidth \x1b[31mred\x1b[0m "
    "שלום עולם مرحبا 模型从不说谎 🙂 a\u0301 \ufeff"
)


def hostile() -> Dossier:
    """Markup, scripts, addresses, controls and direction overrides wherever a text can stand."""
    log = Log()
    base = build(log, revision(HOSTILE, evaluation=HOSTILE, deployment=HOSTILE, note=HOSTILE), RestrictionStatus.NOT_RESOLVED)
    outcome = classification(
        reading(
            Form.THRESHOLD, ClaimClass.UNDETERMINED, mode=Mode.NOISY, why=HOSTILE, resolves=HOSTILE, rule="x", possible=(ClaimClass.STABLE,)
        ),
    )
    text = RestrictedClaim(
        original=HOSTILE, restricted=HOSTILE + " More.", surviving=(HOSTILE,), withdrawn=(HOSTILE,), resolves=(HOSTILE,), verdict=HOSTILE
    )
    measured = estimate(
        spec_estimate(HOSTILE[:40], (0.05, 0.0, 0.2), (0.08, 0.0, 0.3), (-0.03, -0.2, 0.2)),
        warnings=(EstimateWarning(code="x", message=HOSTILE),),
    )
    return replace_parts(base, log, audits=(audit_file(log, outcome, text, estimate=measured),))


def long_quote() -> Dossier:
    """A quote of 2,000 characters with a word that no line can hold."""
    sentence = "Across every agentic evaluation that we ran, the model asked for confirmation before destructive actions. "
    quote = (sentence * 20)[:1900] + "x" * 100
    log = Log()
    base = build(log, revision(quote), RestrictionStatus.NOT_SUPPORTED)
    outcome = classification(reading(Form.THRESHOLD, ClaimClass.INVERTED, standing=Standing.CANDIDATE, basis=Basis.REPORTED))
    restricted = quote.replace("every", "one", 3).replace("agentic", "agentic coding", 5)
    text = RestrictedClaim(
        original=quote, restricted=restricted, surviving=(), withdrawn=(), resolves=(), verdict="Inverted as a candidate."
    )
    return replace_parts(base, log, audits=(audit_file(log, outcome, text),))
