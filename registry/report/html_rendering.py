"""A supplement as one self-contained HTML document. The one door to Jinja2 and to segno."""

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cache, partial
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import segno
from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined, Template, Undefined, pass_context
from jinja2.bccache import Bucket
from jinja2.environment import TemplateModule
from jinja2.runtime import Context
from markupsafe import Markup, escape

from registry.codec.canonical_documents import canonical_bytes, to_document
from registry.codec.statement_encoding import list_entries, public_record
from registry.configuration import find_cache_folder, find_resource
from registry.records.analysis_plan import IntervalMethod
from registry.records.audit_case import EvidenceLayer
from registry.records.claim import ClaimRevision
from registry.records.dossier import Recorded
from registry.records.estimates import DEVIATIONS
from registry.records.module_findings import (
    Ablation,
    ControlReport,
    Finding,
    JudgeReport,
    Naturalness,
    RealismJudge,
    Recognition,
    RecognitionLinks,
    Shift,
)
from registry.records.statement import OutputFormat
from registry.records.supplement import AnySupplement, CardSupplement, ChangeReport, ClaimRow, Section, Supplement
from registry.records.system_card import MatchResult, PassageMatch
from registry.records.verdict import ItemStatus, find_restriction
from registry.report import number_format as numbers
from registry.report.band_figure import BandFigure, build_band
from registry.report.card_coverage import build_coverage_figure, describe_audits, describe_results
from registry.report.change_report_page import collect_change_facts
from registry.report.claim_outcome import (
    describe_outcome,
    describe_subject,
    describe_verdict,
    find_absent,
    find_carry,
    find_standing_now,
    find_trace_now,
    is_immaterial,
    name_condition,
    number_sections,
    read_now,
)
from registry.report.claim_review import build_claim_review
from registry.report.control_wording import describe_reach
from registry.report.finding_figures import (
    build_ablation_figure,
    build_judge_figure,
    build_naturalness_figure,
    build_recognition_figure,
    build_shift_figure,
)
from registry.report.font_subset import build_font_faces
from registry.report.forecast_wording import describe_direction, describe_error, describe_ratio, describe_track
from registry.report.interval_figures import IntervalChart, build_claim_figure
from registry.report.minimum_reporting import count_items, describe_levels
from registry.report.number_format import format_day, format_moment, format_second
from registry.report.page_one import strip_status
from registry.report.preregistration import (
    build_deviation_rows,
    build_fixed_rows,
    describe_lock_runs,
    describe_locks,
    is_in_one_second,
    list_late,
)
from registry.report.published_file import find_file
from registry.report.quoted_text import Covers, RedlineRun, RunChange, build_redline, find_replaced, show_text, strip_markup
from registry.report.reporting_forms import fill_forms
from registry.report.statement_backing import Backings, list_backed
from registry.report.status_account import collect_disclosed, collect_disputes, list_causes
from registry.report.supplement_wording import (
    CHECKS,
    CORRECTIONS,
    LAYER_MEANING,
    SHAPES,
    SHORT_ITEMS,
    TITLES,
    describe_joint_error,
    describe_production,
    describe_review,
    format_verdict,
    get_item,
    get_words,
    name_model,
)
from registry.report.version_drift import DriftFigure, build_drift_figures, count_keys, name_versions

# The one door to segno.


def render_qr(text: str) -> Markup:
    """Return a QR code of *text* as SVG with a title; level M, so that it survives a bad copy."""
    buffer = BytesIO()
    segno.make(text, error="m", micro=False).save(
        buffer,
        kind="svg",
        xmldecl=False,
        svgns=True,
        border=2,
        scale=3,
        title="QR code: " + text.replace("\n", ", "),
        nl=False,
        omitsize=False,
        light="#ffffff",
    )
    return Markup(buffer.getvalue().decode())  # noqa: S704  (segno escapes the title)


# The one door to Jinja2.
#
# Everything that a template prints passes through one filter, which makes control and bidirectional
# characters visible, and a float without a format is an error (decision of 2026-11-21). The cost is
# that templates always name a format.

# As many specifications as one page holds.
_MOST_DRAWN = 24
_FOLDER = "report_templates"
_SITE_FOLDER = "web"
"""Below it: templates and style of a site alone, which no supplement depends on."""
_DIGEST = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")
_RECORD_NAME = re.compile(r"(?:AUD|CON|CTX|PRP|SCF|CUE|MTH)-[A-Z0-9]+-\d{4}-\d+-[0-9A-Z](?:@[1-9]\d*)?")
_LONGEST_SHOWN = 5_000
"""Characters of one text on a page of a site: a megabyte without a space would be all that there is to see."""
# A number and its per-cent sign stay on one line.
_UNIT = re.compile(r"(?<=\d) (?=%)")
# So do both ends of an interval.
_INTERVAL = re.compile(r"(?<![\w.])\d[\d.]*–\d[\d.]*(?:\u00a0%)?")


SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'"
"""What a browser may do with a page: show it with its own style and fonts. Nothing is loaded, and no script runs."""


class Medium(StrEnum):
    """Where a document is read."""

    SCREEN = "screen"
    PRINT = "print"


def render_json(supplement: AnySupplement) -> bytes:
    """Return *supplement* as RFC 8785 canonical JSON; every form prints the SHA-256 of its public part (`digest_record`)."""
    return canonical_bytes(to_document(supplement))


def digest_record(supplement: AnySupplement) -> str:
    """Return the SHA-256 of the canonical JSON of the public record, hexadecimal: all renderings print it."""
    return hashlib.sha256(render_json(public_record(supplement))).hexdigest()


def render_html(supplement: AnySupplement, neighbours: Collection[OutputFormat] = ()) -> bytes:
    """Return *supplement* as one HTML file in UTF-8 that needs no script, no network and no font.

    The canonical JSON is embedded, so that `read_supplement` gets the record back from it.

    Args:
        neighbours: other formats that are rendered with it, and so lie in the same folder: it links to these only.
    """
    return build_html(supplement, medium=Medium.SCREEN, covers=None, neighbours=neighbours).encode()


def build_html(supplement: AnySupplement, *, medium: Medium, covers: Covers | None, neighbours: Collection[OutputFormat] = ()) -> str:
    """Return the HTML for *medium*; for print without style sheet and script, which `pdf` brings itself.

    Args:
        covers: says whether the fonts at hand have a character; None for a reader with fonts that we do not know.
    """
    # The digest is that of the public record. Openings of sealed specifications lie outside it, so
    # that a confidential rendering and the public one print the same digest.
    record, digest = render_json(supplement), digest_record(supplement)
    environment = _environment(covers)
    backings = Backings(supplement)
    name, more = _collect_page_facts(supplement, environment, medium)
    facts: dict[str, Any] = {
        **more,
        "is_linked": False,
        "neighbours": [output_format.value for output_format in OutputFormat if output_format in neighbours],
        "templates": Markup(template_digest()),  # noqa: S704  (hexadecimal; paper shortens other digests)
        "security_policy": SECURITY_POLICY,
        "record_digest": digest,
        "qr": render_qr(describe_position(supplement, digest)),
        # Nothing is claimed to be proven without proofs in the record.
        "proven": len(list_entries(supplement)) if supplement.inclusion else 0,
        "backed_groups": backings.list_groups() if supplement.inclusion else (),
        # Only the PDF lacks characters: a browser falls back on the reader's own fonts.
        "replaced": find_replaced(json.loads(record), covers=covers) if covers else {},
        "style": _STYLE if medium is Medium.SCREEN else "",
        # The PDF carries its record as an attachment.
        "record": _embed(record) if medium is Medium.SCREEN else "",
        "review": _embed_review(supplement, digest) if medium is Medium.SCREEN else "",
    }
    if isinstance(supplement, Supplement):
        facts["backed"] = list_backed(supplement, backings)
    html = environment.get_template(name).render(facts)
    return html if medium is Medium.PRINT else _put_in_style(_label_cells(html))


def _embed(content: bytes) -> Markup:
    # Without a `<`, JSON in a script element can neither close it nor open a comment.
    return Markup(content.decode().replace("<", "\\u003c"))  # noqa: S704


def _embed_review(supplement: AnySupplement, digest: str) -> Markup | str:
    review = build_claim_review(supplement, digest) if isinstance(supplement, Supplement) else None
    return "" if review is None else _embed(canonical_bytes(review))


def _collect_page_facts(supplement: AnySupplement, environment: Environment, medium: Medium) -> tuple[str, dict[str, Any]]:
    """Return the template of *supplement*, and what it needs wherever it is shown: in a file by itself, or as a page of a site."""
    name, more = _collect_facts(supplement, environment, medium)
    own = {"supplement": supplement, "medium": medium.value, "foot": _build_foot(supplement)}
    return name, own | collect_disputes(supplement) | collect_disclosed(supplement) | more


_STYLE = Markup("/* style */")
"""Where the style sheet goes once the page is written: its fonts are cut to the characters of the page."""


def _put_in_style(html: str) -> str:
    head, _, rest = html.partition(_STYLE)
    return "".join((head, build_font_faces(rest), "\n", _screen_style(), rest))


_TABLE = re.compile(r'<table class="grid.*?</table>', re.DOTALL)
_HEAD = re.compile(r"<th scope=\"col\"[^>]*>(.*?)</th>", re.DOTALL)
_CELL = re.compile(r'<(tr|td|th scope="row")(?=[ >])([^>]*)>')
_MARK = re.compile(r"<[^>]+>")


def _label_cells(html: str) -> str:
    """Name the column at each cell of our tables, so that a narrow screen can show a row as a card."""

    def label(table: re.Match[str]) -> str:
        heads = [_MARK.sub("", head).replace("&shy;", "").strip() for head in _HEAD.findall(table[0])]
        place = 0

        def name(cell: re.Match[str]) -> str:
            nonlocal place
            if cell[1] == "tr":
                place = 0
                return cell[0]
            head = heads[place] if place < len(heads) else ""
            place += 1
            return f'<{cell[1]} data-label="{head}"{cell[2]}>' if head else cell[0]

        return _CELL.sub(name, table[0])

    # Only our own markup has tags: foreign text is escaped before it gets here.
    return _TABLE.sub(label, html)


def render_page(name: str, facts: Mapping[str, Any]) -> bytes:
    """Return the page for a screen that the template *name* makes of *facts*: escaped, made visible, with its style sheet inside."""
    templates = Markup(template_digest())  # noqa: S704  (hexadecimal)
    known = {"medium": Medium.SCREEN.value, "templates": templates, "security_policy": SECURITY_POLICY, "style": _STYLE}
    text = _environment(None).get_template(name).render({**known, **facts})
    return _put_in_style(_label_cells(text)).encode()


def render_linked_page(
    name: str, facts: Mapping[str, Any], *, find_link: Callable[[str], str | None], supplement: Supplement | CardSupplement | None = None
) -> bytes:
    """Return a page of a site: its style and fonts are files of the site, and it has neither record nor proof inside.

    Args:
        name: the template, in `report_templates/web`.
        facts: what it prints; those of *supplement* come first.
        find_link: gives the address of a claim or card, `CLM-…@n`, as seen from the page; None for what has no page.
        supplement: what the page is about, where it shows one.
    """
    environment = _linked_environment()
    known = {} if supplement is None else _collect_page_facts(supplement, environment, Medium.SCREEN)[1]
    known |= {"is_linked": True, "find_link": find_link, "medium": Medium.SCREEN.value, "modules": {}}
    return _label_cells(environment.get_template(f"{_SITE_FOLDER}/{name}").render(known | dict(facts))).encode()


def render_part(name: str, part: object) -> Markup:
    """Return what the macro `show` of the template *name*, in `report_templates/web`, makes of *part*: a row that many tables have."""
    module: Any = _linked_environment().get_template(f"{_SITE_FOLDER}/{name}").module
    shown: Markup = module.show(part)
    return shown


@cache
def site_template_digest() -> str:
    """Return the SHA-256 over everything that shapes a page of a site in addition to its records."""
    total = hashlib.sha256(template_digest().encode())
    for path in sorted(_files(find_resource(_FOLDER) / _SITE_FOLDER)):
        total.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def describe_position(supplement: AnySupplement, digest: str) -> str:
    """Return what the QR code says, a line each: identifier, record digest, log with the number of its entries, root of the log's tree.

    Plain words rather than an address: what is scanned is for a person to hold against a checkpoint, and nothing is to be fetched.
    """
    lines = [supplement.identifier, f"record sha256 {digest}", f"log {supplement.log_origin} entry {supplement.log_size}"]
    return "\n".join([*lines, f"root sha256 {supplement.inclusion.root}"] if supplement.inclusion else lines)


def _build_foot(supplement: AnySupplement) -> str:
    """Return what stands at the foot of page one: the identifier, and the first digits of the root it is proven under."""
    entries = f"{numbers.format_count(supplement.log_size)} {'entry' if supplement.log_size == 1 else 'entries'}"
    root = f"root {supplement.inclusion.root[:16]}… of {entries}" if supplement.inclusion else f"as of entry {supplement.log_size}"
    return f"{supplement.identifier} · {root}"


def read_template(name: str) -> str:
    """Return the text of the file *name* that ships in `report_templates`."""
    return (find_resource(_FOLDER) / name).read_text("utf-8")


@cache
def template_digest() -> str:
    """Return the SHA-256 over everything that shapes a supplement next to its record: templates, styles, fonts and versions."""
    folder = find_resource(_FOLDER)
    total = hashlib.sha256()
    # `verify` compares this digest where the bytes differ. Other templates or libraries
    # render other bytes, and that must read as "not checked", not as forged. A forger gains nothing: a no
    # can become "not checked", never yes.
    for name in ("caveat", "weasyprint", "jinja2", "segno", "fonttools", "brotli"):
        total.update(f"{name} {version(name)}\n".encode())
    for path in sorted(_files(folder)):
        if path.parent.name == _SITE_FOLDER:
            continue
        # Sorted relative paths give the same digest wherever the files are installed.
        total.update(path.relative_to(folder).as_posix().encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _files(folder: Path) -> list[Path]:
    # Hidden files shape nothing.
    return [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]


def _collect_facts(supplement: AnySupplement, environment: Environment, medium: Medium) -> tuple[str, dict[str, Any]]:
    match supplement:
        case Supplement():
            return "claim.html.j2", _claim_facts(supplement, environment)
        case CardSupplement():
            return "card.html.j2", _card_facts(supplement, environment)
        case ChangeReport():
            return "change.html.j2", collect_change_facts(supplement, medium=medium.value)


def _claim_facts(supplement: Supplement, environment: Environment) -> dict[str, Any]:
    chart, outcome, absent = build_claim_figure(supplement), supplement.outcome, find_absent(supplement)
    audit = supplement.audit
    estimate = audit.estimate if audit else None
    range_ = estimate.range if estimate else supplement.property.range if supplement.property else (0.0, 1.0)
    redline = build_redline(supplement.original, outcome.text.restricted) if outcome else ()
    unit = numbers.Unit(low=range_[0], high=range_[1])
    # A second, larger figure only where the first left something out.
    every = build_claim_figure(supplement, most=_MOST_DRAWN) if chart and chart.excluded else None
    return {
        "absent": absent,
        "condition": name_condition(is_expired=audit.is_expired, opposed=audit.opposed) if audit else "",
        "numbers": number_sections(absent),
        "forms": fill_forms(supplement),
        "unit": unit,
        "carry": find_carry(supplement.history),
        "causes": list_causes(supplement.status, supplement.reviews, supplement.cause_entries, claim=supplement.claim.payload.reference),
        "figure": chart and _draw(environment, "intervals", f=chart, key="figure-one"),
        "figure_excluded": chart.excluded if chart else 0,
        "figure_all": every and _draw(environment, "intervals", f=every, key="figure-all"),
        # Only where words were removed and others stay: a claim that is only narrowed, or struck as a
        # whole, needs no redline.
        "redline": redline if {run.change for run in redline if run.text.strip()} >= {RunChange.KEPT, RunChange.REMOVED} else (),
        "finding_figures": {
            finding.entry.seq: _draw_finding(environment, finding, supplement, unit)
            for finding in (supplement.audit.findings if supplement.audit else ())
        },
        **_draw_drift(supplement, environment),
        "band_figures": {
            file.monitor.payload.monitor: figure and _draw(environment, "band", f=figure, key=f"figure-{file.monitor.entry.seq}")
            for file, figure in ((file, build_band(file)) for file in supplement.monitors)
        },
        "sighted": {
            passage_match.entry.seq: _compare_passages(supplement.claim.payload, passage_match.payload)
            for passage_match in supplement.passage_matches
        },
        "fixed_rows": build_fixed_rows(supplement),
        "deviation_rows": build_deviation_rows(supplement.audit),
        "read_now": partial(read_now, supplement.audit),
        "standing_now": find_standing_now(supplement.audit, outcome.classification.primary if outcome else None),
        "trace_now": find_trace_now(supplement.audit, outcome.classification.primary if outcome else None),
        "lock_runs": describe_lock_runs(supplement.audit),
        "locks": describe_locks(supplement.audit, supplement.other_audits, supplement.claim.payload.model),
        "late": list_late(supplement.audit),
        "in_one_second": is_in_one_second(supplement.audit),
    }


def _compare_passages(claim: ClaimRevision, passage_match: PassageMatch) -> tuple[RedlineRun, ...]:
    """Return the redline from the claim's passage to the one that was found; white space, which layout decides, is folded."""
    if passage_match.match_result is not MatchResult.REWORDED or passage_match.anchor is None:
        return ()
    before = claim.anchor.exact if claim.anchor else claim.quote
    # Line breaks come from the layout of the card and are not changes of wording.
    return build_redline(" ".join(before.split()), " ".join(passage_match.anchor.exact.split()))


def _card_facts(supplement: CardSupplement, environment: Environment) -> dict[str, Any]:
    covered = build_coverage_figure(supplement.coverage) if supplement.coverage else None
    return {
        "coverage_figure": covered
        and {"svg": _draw(environment, "coverage", f=covered, key="coverage-figure"), "excluded": covered.excluded},
    }


def _draw_drift(supplement: Supplement, environment: Environment) -> dict[str, Any]:
    """Return the figures of the claim over model versions, how many more there could be, and what its versions are called."""
    if supplement.drift is None:
        return {"drift_figures": (), "drift_excluded": 0, "version_names": ()}
    figures = build_drift_figures(supplement.drift)
    rendered = tuple(_draw(environment, "drift", f=figure, key=f"figure-drift-{place}") for place, figure in enumerate(figures, start=1))
    # Of many specifications the latest are rendered; the page says how many are missing.
    excluded = count_keys(supplement.drift) - len(figures)
    return {"drift_figures": rendered, "drift_excluded": excluded, "version_names": name_versions(supplement.drift.points)}


def render_drift(figure: DriftFigure) -> str:
    """Return *figure* as one SVG file that needs no style sheet."""
    return f"{_draw(_environment(None), 'drift', f=figure, key='drift')}\n"


def render_band(figure: BandFigure) -> str:
    """Return *figure* as one SVG file that needs no style sheet."""
    return f"{_draw(_environment(None), 'band', f=figure, key='band')}\n"


def _draw_finding(
    environment: Environment, finding: Recorded[Finding], supplement: Supplement, unit: numbers.Unit
) -> Mapping[str, Any] | None:
    """Return the figure of *finding* and how many of its rows stand in the table alone; None when it has no number to draw."""
    key = f"figure-{finding.entry.seq}"
    figure: IntervalChart | None
    match finding.payload.body:
        case Naturalness() as body:
            figure = build_naturalness_figure(body)
        case RealismJudge() | RecognitionLinks() | ControlReport():
            return None  # a table shows all of it
        case Ablation() as body:
            figure = build_ablation_figure(body)
        case JudgeReport() as body:
            figure = build_judge_figure(body, supplement.claim.payload)
        case Recognition() as body:
            figure = build_recognition_figure(body)
        case Shift() as body:
            figure = build_shift_figure(body, unit)
    if figure is None:
        # The page then shows the table alone.
        return None
    return {"svg": _draw(environment, "intervals", f=figure, key=key), "excluded": figure.excluded}


def _draw(environment: Environment, name: str, **facts: Any) -> Markup:
    return Markup(environment.get_template(f"figures/{name}.svg.j2").render(facts))  # noqa: S704  (escaped by the template)


def _find_template_folder(environment: str) -> Path | None:
    """Return the folder of the compiled templates of *environment*, for this version of Python, of Jinja2 and of this module.

    Compiled code passes its context to some filters and not to others, as they were when it was compiled.
    """
    versions = f"{version('jinja2')} {sys.implementation.cache_tag} {environment}".encode()
    own = hashlib.sha256(versions + Path(__file__).read_bytes()).hexdigest()[:16]
    return find_cache_folder(f"templates-{version('caveat')}-{own}")


class TemplateCache(BytecodeCache):
    """Compiled templates in files: compiling those of one page takes half a second, reading them 10 ms.

    Each file begins with the digest of what follows, since unpacking damaged bytecode can do anything.
    """

    def __init__(self, folder: Path | None) -> None:
        """Keep the files in *folder*; None: nothing is kept."""
        self._folder = folder

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take the code from its file, where that is there and undamaged."""
        if self._folder is None:
            return
        with suppress(OSError):
            data = (self._folder / bucket.key).read_bytes()
            if hashlib.sha256(data[32:]).digest() == data[:32]:
                bucket.bytecode_from_string(data[32:])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write the code to its file; on a full disk it is compiled again next time."""
        if self._folder is None:
            return
        data = bucket.bytecode_to_string()
        with suppress(OSError):
            # Several processes may write the same file. It needs no sync, because its digest shows whether it is whole.
            part = self._folder / f".{bucket.key}-{os.getpid()}.part"
            part.write_bytes(hashlib.sha256(data).digest() + data)
            part.replace(self._folder / bucket.key)


@cache
def _environment(covers: Covers | None) -> Environment:
    """One per medium: what a template prints passes through `show_text`, whether or not the template remembers to ask."""

    @pass_context
    def finalize(context: Context, value: Any) -> Any:
        if isinstance(value, Markup):
            return value
        # A float must name its rounding; only figures print floats, as pixels.
        if isinstance(value, float):
            if context.name is None or not context.name.startswith("figures/"):
                raise TypeError(f"{context.name} prints the number {value} without a format")
            return f"{value:.2f}".rstrip("0").rstrip(".")
        if value is None or isinstance(value, (bool, int, Undefined)):
            return value
        return _shorten_digests(context, show_text(str(value), covers=covers))

    environment = Environment(
        loader=FileSystemLoader(find_resource(_FOLDER)),
        autoescape=True,
        bytecode_cache=TemplateCache(_find_template_folder("files")),
        # Results of our filters must not become part of kept bytecode: it would outlive a change of the filter.
        optimized=False,
        # A misspelt field would otherwise print nothing, and look like a missing value.
        undefined=StrictUndefined,
        # Escaping is on by default; this adds visibility of hidden characters to it.
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.filters |= _filters(covers)
    environment.globals |= _globals()
    return environment


class _PageTemplate(Template):
    """A template of a page: what its parts import is made once for the page, instead of once for each part."""

    def make_module(
        self,
        vars: dict[str, Any] | None = None,  # noqa: A002  (the name of the base class)
        shared: bool = False,  # noqa: FBT001, FBT002
        locals: Mapping[str, Any] | None = None,  # noqa: A002
    ) -> TemplateModule:
        """Return the macros of this file; they read only facts of the page, which are the same for all of its parts."""
        modules: dict[str | None, TemplateModule] = {} if vars is None else vars["modules"]
        if self.name not in modules:
            modules[self.name] = super().make_module(vars, shared, locals)
        return modules[self.name]


@cache
def _linked_environment() -> Environment:
    """The environment of pages of a site: as that of the screen, but names lead to pages and not to files, and long texts are cut."""

    @pass_context
    def find_page(context: Context, name: str, _medium: str) -> str | None:
        address: str | None = context["find_link"](name)
        return address

    plain = _environment(None)
    symbols, lines, show = plain.filters["symbols"], plain.filters["lines"], plain.finalize
    if show is None:
        raise TypeError("what templates print is made safe")

    @pass_context
    def finalize(context: Context, value: Any) -> Any:
        if isinstance(value, str) and not isinstance(value, Markup):
            if len(value) > _LONGEST_SHOWN:
                return _cut(context, value, lambda text: escape(show_text(text)))
            # Sections of supplements print names of audits, objections and definitions by themselves; pages have their own links.
            if _RECORD_NAME.fullmatch(value) and not str(context.name).startswith(_SITE_FOLDER):
                address = context["find_link"](value)
                return value if address is None else Markup('<a class="mono" href="{}">{}</a>').format(address, value)
        return show(context, value)

    @pass_context
    def find_symbols(context: Context, text: str) -> Markup:
        return _cut(context, text, lambda shown: symbols(context, shown))

    @pass_context
    def keep_lines(context: Context, text: str) -> Markup:
        return _cut(context, text, lines)

    environment = plain.overlay(auto_reload=False, finalize=finalize, bytecode_cache=TemplateCache(_find_template_folder("pages")))
    environment.template_class = _PageTemplate
    # An overlay shares its filters with what it lies over.
    environment.filters = {**plain.filters, "file_of": find_page, "symbols": find_symbols, "lines": keep_lines}
    return environment


def _cut(context: Context, text: str, write: Callable[[str], Markup]) -> Markup:
    """Return *text* as *write* makes it safe; of a long one the beginning, with a link to the whole where the page has one."""
    if len(text) <= _LONGEST_SHOWN:
        return write(text)
    whole = context.get("whole")
    rest = f"all {numbers.format_count(len(text))} characters"
    link = Markup('<a href="{}">{}</a>').format(whole, rest) if whole else escape(f"the record has {rest}")
    return Markup('{}… <span class="quiet">({})</span>').format(write(text[:_LONGEST_SHOWN]), link)


def _shorten_digests(context: Context, text: str) -> str:
    """Paper shows the first 12 digits of a digest; the attached record has them all."""
    return _DIGEST.sub(r"\1…", text) if context.get("medium") == Medium.PRINT.value else text


def _filters(covers: Covers | None) -> dict[str, Callable[..., Any]]:
    @pass_context
    def symbols(context: Context, text: str) -> Markup:
        """Set Φ_test and its like with a subscript, after making the text safe."""
        safe = str(escape(_shorten_digests(context, show_text(text, covers=covers))))
        # After escaping, because the subscript is markup.
        for name in ("Φ_test", "Φ_deploy", "P_test", "P_deploy"):
            letter, _, below = name.partition("_")
            safe = safe.replace(name, f"{letter}<sub>{below}</sub>")
        whole = _INTERVAL.sub(r'<span class="nowrap">\g<0></span>', _UNIT.sub("\u00a0", safe))
        return Markup(whole)  # noqa: S704  (escaped above)

    def lines(text: str) -> Markup:
        """Keep the lines of a prompt, after making each safe; shown where white space is kept."""
        # Each line by itself: `show_text` folds line breaks, which matter in a prompt.
        safe = (str(escape(show_text(line, covers=covers))) for line in text.replace("\r\n", "\n").split("\n"))
        return Markup("\n".join(safe))  # noqa: S704  (escaped above)

    return {
        "bare": strip_markup,
        "grouped": group_digits,
        "count": numbers.format_count,
        "count_items": count_items,
        "day": format_day,
        "outcome": describe_outcome,
        "verdict": describe_verdict,
        "subject": describe_subject,
        "exact": numbers.format_exact,
        "file_of": find_file,
        "item": get_item,
        "level": numbers.format_level,
        "levels": describe_levels,
        "lines": lines,
        "model": name_model,
        "moment": format_moment,
        "second": format_second,
        "number": numbers.format_number,
        "p_value": numbers.format_probability,
        "interval": lambda low, high, against, signed: numbers.format_range(low, high, against=against, signed=signed),
        "schema": lambda schema: json.dumps(schema, sort_keys=True),
        "percent": numbers.format_percent,
        "hundredths": numbers.format_hundredths,
        "signed": numbers.format_signed,
        "symbols": symbols,
        "words": get_words,
    }


def _globals() -> Mapping[str, Any]:
    return {
        "Layer": EvidenceLayer,
        "Section": Section,
        "ItemStatus": ItemStatus,
        "checks": CHECKS,
        "describe_audits": describe_audits,
        "describe_direction": describe_direction,
        "describe_error": describe_error,
        "describe_joint_error": describe_joint_error,
        "describe_production": describe_production,
        "describe_review": describe_review,
        "describe_ratio": describe_ratio,
        "describe_results": describe_results,
        "describe_track": describe_track,
        "control_reach": describe_reach,
        "corrections": CORRECTIONS,
        "deviations": DEVIATIONS,
        "find_restriction": find_restriction,
        "format_verdict": format_verdict,
        "group_claims": _group_claims,
        "is_immaterial": is_immaterial,
        "interval_words": lambda name: get_words(IntervalMethod(name)),
        "layer_meaning": LAYER_MEANING,
        "shapes": SHAPES,
        "shares": numbers.SHARES,
        "short_items": SHORT_ITEMS,
        "strip_status": strip_status,
        "titles": TITLES,
        "unit_of": _build_unit,
    }


def _group_claims(rows: Iterable[ClaimRow]) -> Mapping[str | None, Sequence[ClaimRow]]:
    """Return *rows* by model version, in the order of their first claims; a filter for each version would look at every claim each time."""
    groups: dict[str | None, list[ClaimRow]] = {}
    for row in rows:
        groups.setdefault(row.model, []).append(row)
    return groups


def _build_unit(range_: tuple[float, float] | None) -> numbers.Unit:
    low, high = range_ or (0.0, 1.0)
    return numbers.Unit(low=low, high=high)


def group_digits(digest: str) -> Markup:
    """Return a digest in groups of eight digits, set apart by space that is not copied with them."""
    # CSS draws the gaps, so a copied digest has none and can be compared.
    groups = (show_text(digest[at : at + 8]) for at in range(0, len(digest), 8))
    return Markup('<span class="digest">{}</span>').format(
        Markup("").join(Markup('<span class="group">{}</span>').format(group) for group in groups)
    )


@cache
def _screen_style() -> str:
    """Return the style sheet of the HTML without its fonts."""
    return "\n".join([read_template("base.css"), read_template("screen.css")])
