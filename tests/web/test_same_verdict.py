"""Every surface states the verdict that counts: none a stronger one than another, and none without the note that weakens it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from interchange.formats.outcome_facts import read_outcome
from registry.intake.card_reader import read_card
from registry.records.audit_case import AuditWithdrawal
from registry.records.claim import Form
from registry.records.claim_status import FamilyOutcome
from registry.records.estimates import BoundedEstimate
from registry.records.verdict import Basis, ClaimClass, Condition, Mode, RestrictedClaim, Standing, Verdict, VerdictStanding
from registry.report.claim_change import build_state
from registry.report.claim_review import build_claim_review
from registry.report.supplement_assembly import assemble_claim
from registry.report.supplement_wording import format_verdict, get_words
from registry.store.ledger import Ledger
from registry.store.log_writer import Writer
from registry.store.registry_view import View
from registry.verify.record_checks import list_contradictions
from tests.cli.given_out import ask, inside, run
from tests.store import builders as make
from tests.store.test_families import THRESHOLD
from tests.web.conftest import open_ledger
from web.pages.addresses import PageSettings
from web.site.site_export import build_book

PAST = datetime.now(UTC).date() - timedelta(days=1)
FAR = (0.9, 0.88, 0.95)


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The outcomes of one claim."""

    outcomes: tuple[dict[str, Any], ...]
    notes: tuple[str, ...] = ()
    """What weakens the verdict, in words that page, terminal and feed have."""


HOLDS: dict[str, Any] = {"class_": ClaimClass.STABLE, "standing": Standing.ESTABLISHED}
FAILS: dict[str, Any] = {"class_": ClaimClass.INVERTED, "standing": Standing.ESTABLISHED}
CONDITIONAL = HOLDS | {"verdict_standing": VerdictStanding.CONDITIONAL, "standing": Standing.CONDITIONAL}
CANDIDATE: dict[str, Any] = {
    "class_": ClaimClass.INVERTED,
    "standing": Standing.CANDIDATE,
    "verdict": Verdict.CONTRADICTED,
    "verdict_standing": VerdictStanding.PROVISIONAL,
    "missing_condition": Condition.INVARIANCE,
}
WEAK: dict[str, Any] = {"class_": ClaimClass.STABLE, "verdict_standing": VerdictStanding.PROVISIONAL, "missing_condition": Condition.RUNS}
SCENES = {
    "holds": Scene(outcomes=(HOLDS,)),
    "holds-conditional": Scene(outcomes=(CONDITIONAL,)),
    "holds-provisional": Scene(outcomes=({**WEAK, "standing": Standing.PROVISIONAL},)),
    "holds-expired": Scene(outcomes=({**HOLDS, "valid_until": PAST},), notes=("expired",)),
    "contradicted": Scene(outcomes=(FAILS,)),
    "contradicted-provisional": Scene(outcomes=(CANDIDATE,)),
    "contradicted-expired": Scene(outcomes=({**FAILS, "valid_until": PAST},), notes=("expired",)),
    "not-reproduced": Scene(
        outcomes=(
            {
                "class_": ClaimClass.UNDETERMINED,
                "mode": Mode.TECHNICAL,
                "verdict": Verdict.NOT_REPRODUCED,
                "verdict_standing": VerdictStanding.ESTABLISHED,
                "resolves": "A replay.",
            },
        )
    ),
    "inconclusive": Scene(outcomes=({"class_": ClaimClass.UNDETERMINED, "mode": Mode.NOISY, "resolves": "More tasks."},)),
    "in-doubt": Scene(outcomes=({"class_": ClaimClass.INVERTED, "standing": Standing.STRUCTURAL_RISK, "basis": Basis.REPORTED},)),
    "disagree": Scene(outcomes=(FAILS, HOLDS), notes=("audits disagree",)),
    "disagree-conditional": Scene(outcomes=(CONDITIONAL, FAILS), notes=("audits disagree",)),
    "excluded-intervals": Scene(outcomes=(HOLDS, {**HOLDS, "deployment": FAR}), notes=("audits disagree",)),
    "withdrawn": Scene(outcomes=({**FAILS, "withdrawn": True},), notes=("an audit was withdrawn",)),
    "holds-after-withdrawal": Scene(outcomes=({**FAILS, "withdrawn": True}, HOLDS), notes=("an audit was withdrawn",)),
    "interval-withdrawn": Scene(outcomes=(HOLDS, {**HOLDS, "deployment": FAR, "withdrawn": True}), notes=("an audit was withdrawn",)),
    "inconclusive-after-withdrawal": Scene(
        outcomes=({**FAILS, "withdrawn": True}, {"class_": ClaimClass.UNDETERMINED, "mode": Mode.NOISY, "resolves": "More tasks."}),
        notes=("an audit was withdrawn",),
    ),
}


def _conclude(writer: Writer, claim: str, outcome: dict[str, Any]) -> None:
    known = {"basis": Basis.REPLAY, "rule": "made"} | outcome
    deployment, valid_until = known.pop("deployment", (0.8, 0.7, 0.85)), known.pop("valid_until", None)
    is_withdrawn = known.pop("withdrawn", False)
    reading = make.verdict(Form.THRESHOLD, known.pop("class_"), **known)
    audit = make.add_audit(writer, claim)
    result = None
    if reading.basis is Basis.REPLAY:
        locked = writer.append(make.lock(audit, claim))
        row = writer.append(make.run(audit, locked.at + timedelta(seconds=1)))
        value, low, high = deployment
        (spec,) = make.estimate().specs
        measured = replace(spec, phi_deploy=BoundedEstimate(value=value, low=low, high=high))
        result = writer.append(make.result(audit, row.seq, specs=(measured,))).seq
    # The sentence of a record says of an established verdict no more than its words.
    standing = "" if reading.verdict_standing is VerdictStanding.ESTABLISHED else reading.verdict_standing
    head = ", ".join(filter(None, (get_words(reading.verdict), standing and get_words(standing)))).capitalize()
    text = RestrictedClaim(
        original="a",
        restricted="It may be said.",
        surviving=("It may be said.",),
        withdrawn=(),
        resolves=(),
        verdict=f"{head}. A sentence.",
    )
    writer.append(make.restriction(audit, claim, reading, result=result, text=text, valid_until=valid_until))
    if is_withdrawn:
        writer.append(AuditWithdrawal(audit=audit, reason="The scores were of a debug build."))


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A registry with one claim for each scene."""
    folder = tmp_path_factory.mktemp("verdicts")
    with inside(folder):
        run("init", "--code", "LAB", "--role", "lab")
        ledger = Ledger.open("sqlite:///caveat.db", clock=make.ticking(datetime.now(UTC)), salt=make.salting())
        with ledger.write(actor="LAB") as writer:
            phi = make.add_property(writer)
            for name, scene in SCENES.items():
                quote = f"Of {name} it is said by {name} that {name} refuses at least {name} often."
                claim = make.add_claim(writer, phi, quote=quote, note=name, **THRESHOLD)
                for outcome in scene.outcomes:
                    _conclude(writer, f"{claim}@1", outcome)
        ledger.close()
    return folder


_ALLOWED = re.compile(r"neither verdict is established|establishes nothing|\"lowered_from\": \"established\"", re.IGNORECASE)
"""Where the word says of no verdict that it is established."""
_BADGE = re.compile(r'<p class="badge">.*?</p>', re.DOTALL)
_VERDICT = re.compile(
    r'<section class="verdict.*?</section>|<span class="class .*?</span>(?:<br><span class="quiet small">.*?</span>)?', re.DOTALL
)


def _read(text: str) -> str:
    """Return *text* as a reader sees it, in lower case and on one line."""
    plain = re.sub(r"<[^>]+>", " ", text).replace("&nbsp;", " ").replace("\xa0", " ")
    return " ".join(plain.split()).casefold()


def _read_verdicts(page: str) -> str:
    """Return page one's verdict, and every label of a verdict on the page."""
    return " ".join(_VERDICT.findall(page))


def _draw(names: dict[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield what is shown of each scene, by the name of the surface; *names* are the claims of the scenes."""
    rows = {row["claim"]: row for row in ask("claim", "list")["claims"]}
    keys = ("class", "standing", "status")
    yield "claim list --json", {scene: json.dumps({key: rows[name][key] for key in keys}) for scene, name in names.items()}
    lines = {line.split()[0].partition("@")[0]: line for line in run("claim", "list", "--columns", "claim,verdict").splitlines() if line}
    yield "claim list", {scene: lines[name] for scene, name in names.items()}
    yield "claim show", {scene: run("claim", "show", name).partition("stated of the figure")[0] for scene, name in names.items()}
    audits = ask("audit", "list")["audits"]
    audits = sorted(audits, key=lambda row: (row["withdrawn"] is None, row["verdict"] == "contradicted"))
    last = {row["claim"].partition("@")[0]: row for row in audits}
    yield "audit list --json", {scene: json.dumps(last[name]) for scene, name in names.items()}
    run("report", "--all", "--html", "--json", "-o", "out")
    run("report", *names.values(), "--pdf", "-o", "paper")
    yield "pdf", {scene: _read_paper(next(Path("paper").glob(f"{name}@1*.pdf"))) for scene, name in names.items()}
    for form in ("html", "json"):
        files = {scene: next(Path("out").glob(f"{name}@1*.{form}")).read_text(encoding="utf-8") for scene, name in names.items()}
        yield form, {scene: _read_verdicts(text) if form == "html" else _pick(json.loads(text)) for scene, text in files.items()}
        if form == "html":
            yield "badge", {scene: _read_badge(text) for scene, text in files.items()}
    index = Path("out/index.html").read_text(encoding="utf-8").split("<tr ")
    yield "folder", {scene: next(row for row in index if row.startswith(f'id="{name}"')) for scene, name in names.items()}


def _read_badge(page: str) -> str:
    """Return the line above the sentence of the verdict, by itself: it is what a reader sees first, and in colour."""
    (badge,) = _BADGE.findall(page)
    return str(badge)


def _read_paper(path: Path) -> str:
    """Return page one of a supplement in PDF as text, up to what may be said."""
    page = read_card(path).text
    return " ".join(page.split()).partition("You may say")[0]


def _pick(document: dict[str, Any]) -> str:
    """Return the verdict of a record, with the outcome that leads."""
    return json.dumps([document["verdict"], document["status"]["gravest"]], ensure_ascii=False)


def _draw_pages(view: View, names: dict[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the same of the pages of a server or site, and of what leaves the registry in other formats."""
    book = build_book(view, PageSettings(base="https://claims.example.org"))
    supplements = {scene: assemble_claim(view.dossier(name), made_at=datetime.now(UTC)) for scene, name in names.items()}
    yield "page", {scene: _read_verdicts(book.find(f"/{name}/").body.decode()) for scene, name in names.items()}
    yield "page of audits", {scene: _read_verdicts(book.find(f"/{name}/audits/").body.decode()) for scene, name in names.items()}
    counted = {scene: view.dossier(name).status.gravest for scene, name in names.items()}
    yield (
        "badge of the audit",
        {scene: _read_badge(book.find(f"/{outcome.audit}/").body.decode()) for scene, outcome in counted.items() if outcome},
    )
    front = book.find("/").body.decode().split("<tr")
    yield "front", {scene: next(row for row in front if name in row) for scene, name in names.items()}
    facts = {scene: read_outcome(supplement) for scene, supplement in supplements.items()}
    yield "export", {scene: f"{outcome.words} {outcome.sentence}" for scene, outcome in facts.items()}
    reviews = {scene: build_claim_review(supplement, "00") for scene, supplement in supplements.items()}
    yield "claim review", {scene: json.dumps((review or {})["reviewRating"], ensure_ascii=False) for scene, review in reviews.items()}
    dossiers = {scene: view.dossier(name) for scene, name in names.items()}
    states = {scene: build_state(dossier) for scene, dossier in dossiers.items()}
    changes = {
        scene: f"{format_verdict(state.outcome, state.outcome_standing)} {state.verdict}"
        for scene, state in states.items()
        if state.outcome
    }
    yield "change report", changes


@dataclass(frozen=True, kw_only=True)
class Surfaces:
    """What the registry shows of all claims."""

    counted: dict[str, FamilyOutcome]
    """What counts, by scene."""
    texts: dict[str, dict[str, str]]
    """By surface, then by scene."""


@pytest.fixture(scope="module")
def surfaces(registry: Path) -> Iterator[Surfaces]:
    """Everything that is shown, drawn once."""
    ledger = open_ledger(registry)
    with inside(registry), ledger.view() as view:
        dossiers = [view.dossier(summary.claim) for summary in view.list_claims()]
        names = {str(dossier.current.payload.note): dossier.claim for dossier in dossiers}
        counted = {str(dossier.current.payload.note): dossier.status.gravest for dossier in dossiers if dossier.status.gravest}
        yield Surfaces(counted=counted, texts=dict([*_draw(names), *_draw_pages(view, names)]))
    ledger.close()


_MACHINE = ("claim list --json", "audit list --json")
_WITH_NOTES = ("claim show", "pdf", "html", "json", "page", "export", "claim review", "change report")
"""Surfaces with room for what weakens a verdict."""


@pytest.mark.parametrize("scene", SCENES)
def test_every_surface_states_the_verdict_that_counts(surfaces: Surfaces, scene: str) -> None:
    """Its words, no stronger standing than the one that counts, and what weakens it wherever there is a sentence."""
    counted = surfaces.counted[scene]
    words, standing = get_words(counted.verdict), counted.standing
    assert len(surfaces.texts) == 16
    for surface, texts in surfaces.texts.items():
        text = _ALLOWED.sub("", _read(texts[scene]))
        wanted = counted.verdict.value if surface in _MACHINE else words
        assert wanted in text or counted.verdict.value in text, (surface, text)
        if standing is not VerdictStanding.ESTABLISHED:
            assert re.search(r"\bestablished\b", text) is None, (surface, text)
        if standing is not None:
            assert standing.value in text, (surface, text)
        if surface in _WITH_NOTES:
            assert all(note in text for note in SCENES[scene].notes), (surface, text)


def test_the_feed_of_a_claim_names_the_audit_that_disagrees(registry: Path) -> None:
    """A reader of a feed may see nothing else of the claim."""
    ledger = open_ledger(registry)
    with ledger.view() as view:
        book = build_book(view, PageSettings(base="https://claims.example.org"))
        (name,) = (summary.claim for summary in view.list_claims() if (summary.quote or "").startswith("Of disagree it"))
        items = [item["content_text"] for item in json.loads(book.find(f"/{name}/feed.json").body)["items"]]
    ledger.close()
    outcomes = [item for item in items if "A sentence." in item]
    assert len(outcomes) == 2
    assert all("Audits disagree: AUD-" in item for item in outcomes)


@pytest.mark.parametrize("scene", SCENES)
def test_restricted_claims_that_count_less_are_quoted_with_the_condition(registry: Path, scene: str) -> None:
    """The words of the record are those of its day."""
    ledger = open_ledger(registry)
    with inside(registry), ledger.view() as view:
        (name,) = (summary.claim for summary in view.list_claims() if (summary.quote or "").startswith(f"Of {scene} it"))
        dossier = view.dossier(name)
        review = build_claim_review(assemble_claim(dossier, made_at=datetime.now(UTC)), "00")
        texts = [_read(run("claim", "show", name)), build_state(dossier).restricted or "", (review or {})["reviewBody"]]
    ledger.close()

    condition = "only together with the statement that "
    for text in texts:
        assert "it may be said." in text.casefold()
        is_alone = re.search(r"(?<!disagree: )(?<!expired: )(?<!withdrawn: )it may be said\.", text.casefold()) is not None
        assert is_alone is not bool(SCENES[scene].notes), (scene, text)
        assert (condition in text.casefold()) is bool(SCENES[scene].notes), (scene, text)


@pytest.mark.parametrize("scene", ["holds", "holds-expired", "disagree", "excluded-intervals"])
def test_a_record_with_what_weakens_its_verdict_agrees_with_itself(registry: Path, scene: str) -> None:
    """`verify` composes the sentence of page one from the parts of the record, and does not expect the words of the outcome alone."""
    ledger = open_ledger(registry)
    with ledger.view() as view:
        (name,) = (summary.claim for summary in view.list_claims() if (summary.quote or "").startswith(f"Of {scene} it"))
        supplement = assemble_claim(view.dossier(name), made_at=datetime.now(UTC))
    ledger.close()

    assert list_contradictions(supplement) == ()
    assert any("verdict" in problem for problem in list_contradictions(replace(supplement, verdict="Holds. Established.")))


def test_a_list_has_no_class_of_a_provisional_outcome(registry: Path) -> None:
    """The class alone, without its standing, would say more than the verdict."""
    ledger = open_ledger(registry)
    with ledger.view() as view:
        rows = build_book(view, PageSettings(base="https://claims.example.org")).find("/claims/").body.decode().split("<tr>")
    ledger.close()

    labelled = {scene: "TRACE:" in row for scene in SCENES for row in rows if f"Of {scene} it is" in row}
    assert set(labelled) == set(SCENES)
    provisional = {"holds-provisional", "holds-expired", "contradicted-provisional", "contradicted-expired", "disagree"}
    assert not any(labelled[scene] for scene in provisional)
    assert labelled["holds"]
    assert labelled["contradicted"]


def test_a_list_tells_claims_with_the_same_words_apart(tmp_path: Path) -> None:
    """Rows of one table of a card have one quotation: property and limit stand below it, and not below words that no other claim has."""
    with inside(tmp_path):
        run("init", "--code", "LAB", "--role", "lab")
        ledger = Ledger.open("sqlite:///caveat.db", clock=make.ticking(datetime.now(UTC)), salt=make.salting())
        with ledger.write(actor="LAB") as writer:
            phi = make.add_property(writer)
            for theta, quote in ((0.9, "It often refuses."), (0.7, "It often refuses."), (0.6, "It rarely refuses.")):
                make.add_claim(writer, phi, quote=quote, **(THRESHOLD | {"theta": theta}))
        with ledger.view() as view:
            rows = build_book(view, PageSettings(base="https://claims.example.org")).find("/claims/").body.decode().split("<tr>")
        ledger.close()
    name = "refusal rate"
    told = [re.findall(rf"{name}, at least \d+ %", _read(row)) for row in rows if "refuses." in row]
    assert sorted(told) == [[], [f"{name}, at least 70 %"], [f"{name}, at least 90 %"]]
