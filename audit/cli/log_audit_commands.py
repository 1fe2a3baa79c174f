"""`caveat audit logs`: from the logs of two conditions to a supplement in one command."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from audit.cli.analysis_options import arm_options, build_plan, plan_options
from audit.cli.imported_evidence import describe_warnings, read_evidence
from audit.cli.table_reading import build_reading, reading_options
from registry.cli.application import CARD, App, examples, parse_model, pass_app, reason_option
from registry.errors import ConflictError, Fault, InputError
from registry.records.audit_case import Independence
from registry.records.claim import Direction, Form, PropertyClass, Relation

if TYPE_CHECKING:
    from audit.cli.log_audit_files import RegisteredClaim

_PLAN = ("contexts", "margin", "level", "replicates", "seed")
_CLAIM = "--claim"
_REGISTERED = re.compile(r"CLM-\S+")
_DESCRIBING = (
    "form", "theta", "relation", "reported", "reason", "card", "paraphrase", "source", "model", "property_", "class_", "range_",
    "direction",
)  # fmt: skip
"""Options that describe a new claim; a registered one states all of this itself."""


def _check_claim_options(claim: str, *, is_registered: bool) -> None:
    """Refuse words without a form, and a registered claim that options describe in another way."""
    context = click.get_current_context()
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name in _DESCRIBING and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    ]
    if is_registered and given:
        problem = f"{claim} is registered and states this itself"
        advice = f"leave it out; to correct the claim, first: caveat claim revise {claim} FILE"
        raise InputError(Fault("bad-option", ", ".join(given), problem, advice=advice))
    if not is_registered and "--form" not in given:
        problem = "a claim in words needs its logical form"
        advice = f"give --form {'|'.join(form.value for form in Form)}; of a registered claim give the identifier, {_CLAIM} CLM-…"
        raise InputError(Fault("not-valid", "--form", problem, advice=advice))


def _find_registered(app: App, name: str) -> "RegisteredClaim":
    """Return the registered claim that *name* means, with its property and the endpoint names of its model."""
    from audit.cli.log_audit_files import RegisteredClaim
    from audit.protocol.audit_record import get_claim, get_property

    with app.view() as view:
        claim = get_claim(view, name)
        names = tuple(endpoint.name for endpoint in view.list_endpoint_names(claim.model))
        own = [file for file in view.list_audits(claim.claim) if file.audit.payload.auditor == app.config.authority]
        # The outcome of a forgotten lock could be established; that of a second audit of the same logs never.
        if waiting := [file.audit.payload.audit for file in own if file.lock and not file.restrictions and not file.withdrawn]:
            problem = f"{waiting[0]} is locked and has no outcome; logs that are audited without it count as unlocked"
            raise ConflictError(Fault("audit-is-locked", name, problem, advice=f"caveat audit conclude {waiting[0]} test=LOG deploy=LOG"))
        return RegisteredClaim(claim=claim, body=get_property(view, claim), endpoint_names=names)


@examples(
    "audit logs test=a.eval deploy=b.eval --claim CLM-LAB-2026-0001-E",
    'audit logs test=a.eval deploy=b.eval --claim "answers 60 % correctly" --form lower_bound --theta 0.6 -o out',
    'audit logs test=a.eval deploy=b.eval --claim "refuses at least 95 %" --form lower_bound --theta 0.95 --dry-run',
)
@click.command("logs")
@click.argument("sources", metavar="[ARM=]LOG...", nargs=-1, required=True)
@click.option(
    _CLAIM, metavar="CLM-…|TEXT", required=True, help="A registered claim; or a new one, in words, with --form and what describes it."
)
@click.option(
    "--form",
    metavar="FORM",
    type=click.Choice(list(Form), case_sensitive=False),
    help=f"Its logical form: {', '.join(form.value for form in Form)}.",
)
@click.option("--theta", type=float, metavar="NUMBER", help="Its limit, in the unit of the score; 60 % is 0.6 on a range of 0 to 1.")
@click.option(
    "--relation", type=click.Choice([relation.value for relation in Relation]), help="Of a threshold: on which side the claim holds."
)
@click.option("--reported", type=float, metavar="NUMBER", help="The figure of the card, in the unit of the score.")
@reason_option("Why limit or figure differ from the words of the claim.", required=False)
@click.option("--card", type=CARD, help="The registered card that the claim is quoted from; default: none.")
@click.option("--paraphrase", is_flag=True, help="The words are not the card's own.")
@click.option("--source", metavar="TEXT", help="Where the claim was read, without a card.")
@click.option("--model", metavar="DEV/NAME/VERSION", help="The model version that answered; default: as the logs name it.")
@click.option("--property", "property_", metavar="NAME", help="What the score measures; default: the mean score of the scorer.")
@click.option(
    "--class",
    "class_",
    type=click.Choice([class_.value for class_ in PropertyClass]),
    default=PropertyClass.CAPABILITY.value,
    show_default=True,
    help="Class of the property.",
)
@click.option(
    "--range", "range_", nargs=2, type=float, metavar="LOW HIGH", default=(0.0, 1.0), show_default=True, help="The possible scores."
)
@click.option(
    "--direction",
    type=click.Choice([direction.value for direction in Direction]),
    help="Which way is safer; default: the side on which the claim holds.",
)
@click.option("--deployment", metavar="TEXT", help="Which deployment the contexts represent, and how you made them.")
@click.option(
    "--independence",
    type=click.Choice([independence.value for independence in Independence]),
    default=Independence.SELF.value,
    show_default=True,
    help="How far you are from the publisher of the claim.",
)
@plan_options(*_PLAN)
@arm_options
@reading_options
@click.option(
    "--authority",
    metavar="CODE",
    help="The authority that records it; default: as configured, or EXAMPLE (it never leaves a registry).",
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("audit-logs"),
    show_default=True,
    help="The folder of files and supplement.",
)
@click.option("--no-pdf", is_flag=True, help="HTML and JSON only.")
@click.option("--dry-run", is_flag=True, help="Show assumptions and files; record and write nothing.")
@pass_app
def logs(app: App, /, *, sources: tuple[str, ...], output: Path, authority: str | None, dry_run: bool, **options: Any) -> None:
    """Audit a claim from logs, up to its supplement.

    Caveat writes an audit file into DIR, concludes the audit and renders the supplement. A claim in words also gets a claims file, and
    Caveat registers it. Caveat prints what it assumed, and the option that changes it. LOGs are of Inspect, lm-evaluation-harness or
    Every Eval Ever, or score tables; docs/logs.md describes them.

    The registry is the configured one, or, for a claim in words, a new one in DIR. The plan is later than the logs, so the verdict is
    provisional at most. The same command again records nothing; repeat it after an interruption.
    """
    from audit.cli.log_audit_files import draft_log_audit
    from audit.cli.log_audit_presenter import present_forecast, present_log_audit
    from audit.cli.log_audit_session import audit_logs, is_own_registry
    from registry.configuration import DEFAULT_FILE
    from registry.records.statement import OutputFormat
    from registry.store.database_engine import describe_url

    plan = build_plan({name: options[name] for name in _PLAN})
    name = options["claim"].strip()
    is_registered = _REGISTERED.fullmatch(name) is not None
    _check_claim_options(name, is_registered=is_registered)
    app.work_in(output, authority=authority)
    registered = _find_registered(app, name) if is_registered else None
    if registered:
        options["range_"] = registered.body.range
    else:
        options["model"] = parse_model(options["model"], where="--model") if options["model"] else None
        options["form"] = Form(options["form"])
    low, high = options["range_"]
    # Everything that is wrong with logs and options is found before a registry is made.
    evidence = read_evidence(*build_reading(sources, options), low=low, high=high)
    for line in describe_warnings(evidence.imported, now=app.config.now()) if evidence.imported else ():
        app.say(line)
    draft = draft_log_audit(evidence, plan, options, registered)
    formats = tuple(format_ for format_ in OutputFormat if not (options["no_pdf"] and format_ is OutputFormat.PDF))
    home = output if is_own_registry(app, output) else None
    place = describe_url(app.config.url) if home is None else str(home / DEFAULT_FILE)
    registry = f"{place}, as {app.config.authority}"
    if dry_run:
        app.report(present_forecast(draft, registry=registry, folder=output, formats=formats, width=high - low))
        return
    done = audit_logs(app, evidence, draft, output, arms=(options["test"], options["deploy"]), formats=formats)
    for error in done.failed:
        app.say(f"warning: not rendered: {error}")
    app.report(present_log_audit(draft, done, registry=registry, home=home))
