"""Exports of every kind of ending: golden files, the schemas of others, what is lost, and what may never be said."""

import base64
import hashlib
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from ruamel.yaml import YAML

from audit.sources.reported_figures import ReportedFigure, read_figures
from interchange.export.format_catalogue import FORMATS, Seal, get_format
from interchange.formats.export_record import ExportedFile
from interchange.formats.outcome_facts import find_estimate, find_reading, is_passed, list_arms, read_outcome
from registry.errors import ConflictError, Fault, InputError
from registry.records.audit_case import Independence
from registry.records.claim import QuoteStatus
from registry.records.claim_status import Dispute, Staleness
from registry.records.estimates import BoundedEstimate
from registry.records.verdict import Mode, VerdictStanding
from registry.report.html_rendering import render_html
from registry.report.supplement_assembly import assemble_claim
from tests.interchange.records import KEY, SCENES, build_record, change, export, export_all, holds, publish
from tests.interchange.schemas import list_faults
from tests.report.builders import MADE_AT
from tests.report.hostile import HOSTILE

GOLDEN = Path(__file__).parent / "golden"
WHOLE = ("inverted", "holds")
"""Scenes with whole golden files; of the others the digests are kept."""
UPDATES = bool(os.environ.get("CAVEAT_UPDATE_GOLDEN"))
SCHEMAS = {"cyclonedx": "bom-1.7", "datacite": "datacite-4.5", "eee": "eee-0.3.0"}


def read(file: ExportedFile) -> Any:
    document = json.loads(file.content)
    return json.loads(base64.b64decode(document["payload"])) if file.path.endswith(".dsse.json") else document


def find(scene: str, format_: str) -> Any:
    files = export_all(scene)[format_]
    assert not isinstance(files, str), files
    return read(files[0])


@pytest.mark.parametrize("scene", WHOLE)
def test_the_same_record_gives_the_bytes_of_the_golden_files(scene: str) -> None:
    """Renew them with CAVEAT_UPDATE_GOLDEN=1, and say in the change why the bytes are others."""
    for name, files in export_all(scene).items():
        assert not isinstance(files, str), name
        for file in files:
            path = GOLDEN / scene / name.replace(" --", "-") / Path(file.path).name.replace("@", "_")
            if UPDATES:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file.content)
            assert path.read_bytes() == file.content, path


def test_every_scene_gives_the_digests_or_the_refusals_that_are_kept() -> None:
    made = {
        scene: {
            name: files if isinstance(files, str) else {file.path: hashlib.sha256(file.content).hexdigest() for file in files}
            for name, files in export_all(scene).items()
        }
        for scene in SCENES
    }
    path = GOLDEN / "digests.json"
    if UPDATES:
        path.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n", encoding="utf-8")

    assert json.loads(path.read_text(encoding="utf-8")) == made


@pytest.mark.parametrize("format_", SCHEMAS)
def test_the_schema_of_the_format_accepts_every_scene_and_no_changed_field(format_: str) -> None:
    checked = 0
    for scene in SCENES:
        files = export_all(scene)[format_]
        if isinstance(files, str):
            continue
        for file in files[:3]:
            document = read(file)
            checked += 1
            assert list_faults(SCHEMAS[format_], document) == [], f"{scene} {file.path}"
    document = find("inverted", format_)
    assert list_faults(SCHEMAS[format_], {**document, "verdict": "holds"})
    assert list_faults(SCHEMAS[format_], dict(list(document.items())[1:]) | {"version": [1]}) or format_ == "eee"
    assert checked >= 10


def test_the_schema_of_cff_accepts_every_scene() -> None:
    for scene in SCENES:
        files = export_all(scene)["cff"]
        assert not isinstance(files, str)
        document = YAML(typ="safe").load(files[0].content)
        assert list_faults("cff-1.2.0", document) == [], scene
        assert list_faults("cff-1.2.0", {**document, "type": "report"})


def test_every_file_carries_the_digest_of_the_canonical_record() -> None:
    for scene in SCENES:
        record = build_record(scene)
        for name, files in export_all(scene).items():
            for file in () if isinstance(files, str) else files:
                text = json.dumps(read(file)) if file.path.endswith(("json", "jsonld")) else file.content.decode()
                # A crate has the record itself, whose digest its other files carry.
                assert record.sha256 in text or file.content == record.content, f"{scene} {name}"


def test_no_export_names_the_method_without_its_paper() -> None:
    """TRACE is also the name of a project on runtime attestation."""
    for scene in SCENES:
        for files in export_all(scene).values():
            for file in () if isinstance(files, str) else files:
                if file.content == build_record(scene).content:
                    continue
                text = json.dumps(read(file)) if file.path.endswith(("json", "jsonld")) else file.content.decode()
                assert not re.search(r"\bTRACE\b(?! \(arXiv:2605\.11496\))", text), file.path


def test_the_signature_of_an_envelope_is_over_type_and_payload() -> None:
    """One changed byte, or another type, and it does not verify."""
    for name in ("in-toto", "in-toto --draft"):
        files = export_all("inverted")[name]
        assert not isinstance(files, str)
        envelope = json.loads(files[0].content)
        body, signature = base64.b64decode(envelope["payload"]), base64.b64decode(envelope["signatures"][0]["sig"])
        key = Ed25519PublicKey.from_public_bytes(KEY.public)

        def encode(kind: str, payload: bytes) -> bytes:
            return f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload

        key.verify(signature, encode("application/vnd.in-toto+json", body))
        for changed in (encode("application/vnd.in-toto+json", body[:-1] + b"]"), encode("application/json", body)):
            with pytest.raises(InvalidSignature):
                key.verify(signature, changed)


@pytest.mark.parametrize(
    ("low", "high", "passed"), [(0.0, 0.08, True), (0.0, 0.1, True), (0.0, 0.11, False), (0.05, 0.2, False), (None, None, False)]
)
def test_a_side_passes_only_where_its_whole_interval_keeps_to_the_limit(low: float | None, high: float | None, *, passed: bool) -> None:
    """θ is at most 0.1. Without an interval nothing is shown."""
    supplement = assemble_claim(holds(), made_at=MADE_AT)
    arm = next(arm for arm in list_arms(supplement) if arm.part == "deploy")
    reason = None if low is not None else "one context"
    figure = BoundedEstimate(value=0.04 if high is None or high < 0.2 else 0.1, low=low, high=high, reason=reason)

    assert is_passed(supplement, replace(arm, figure=figure)) is passed


@pytest.mark.parametrize("change_", [{"staleness": Staleness.NEEDS_REVIEW}, {"staleness": Staleness.STALE}, {"dispute": Dispute.CONTESTED}])
def test_a_claim_in_question_is_no_pass(change_: dict[str, Any]) -> None:
    """It holds, established, and something came up that no audit or review has settled."""
    supplement = assemble_claim(holds(), made_at=MADE_AT)
    assert read_outcome(supplement).holds
    assert not read_outcome(replace(supplement, status=replace(supplement.status, **change_))).holds


def test_no_format_turns_anything_but_an_established_holds_into_a_pass() -> None:
    for scene in SCENES:
        exports = export_all(scene)
        is_firm = scene == "holds"
        if not isinstance(exports["oscal"], str):
            state = read(exports["oscal"][0])["assessment-results"]["results"][0]["findings"][0]["target"]["status"]["state"]
            assert state == ("satisfied" if is_firm else "not-satisfied"), scene
        if not isinstance(exports["in-toto --draft"], str):
            claims = read(exports["in-toto --draft"][0])["predicate"]["claims"]
            deployed = [claim["passed"] for claim in claims if claim["metric"].startswith("phi_deploy")]
            assert set(deployed) == {is_firm}, scene
        bom = find(scene, "cyclonedx")
        name = build_record(scene).name
        for attestation in bom["declarations"].get("attestations", []):
            assert (name in attestation["map"][0].get("claims", [])) is is_firm, scene
            assert "conformance" not in attestation["map"][0]
            assert "confidence" not in attestation["map"][0]
        case = exports["case"]
        assert not isinstance(case, str)
        line = next(line for line in case[0].content.decode().splitlines() if line.startswith("- Claim"))
        assert line.endswith(("{defeated}", "{needsSupport}")) is not is_firm, scene
        svr = find(scene, "in-toto")["predicate"]["properties"]
        assert svr == ["CAVEAT_BYTES", "CAVEAT_RECORD", "CAVEAT_ENTRIES"]


def test_counter_evidence_is_named_only_where_evidence_speaks_against_the_claim() -> None:
    against = {scene for scene in SCENES if "counterEvidence" in find(scene, "cyclonedx")["declarations"]["claims"][0]}

    assert "inverted" in against
    assert "degraded" in against
    assert not against & {"holds", "holds-provisional", "undetermined", "unaudited"}


def test_the_words_for_independence_are_those_of_the_formats() -> None:
    expected = {Independence.SELF: "first_party", Independence.COMMISSIONED: "collaborative", Independence.THIRD_PARTY: "third_party"}
    for independence, words in expected.items():
        record = change(build_record("inverted"), independence)
        assert read(export(record, FORMATS["eee"])[0])["source_metadata"]["evaluator_relationship"] == words
        predicate = read(export(record, FORMATS["in-toto --draft"])[0])["predicate"]
        is_third = independence is Independence.THIRD_PARTY
        assert predicate["assuranceLevel"] == ("third_party" if is_third else "self_attested")
        # `commissioned` has no word of its own in the draft.
        assert predicate["evidence"][0]["annotations"]["independence"] == independence.value
        assert read(export(record, FORMATS["cyclonedx"])[0])["declarations"]["assessors"][0]["thirdParty"] is is_third


def test_figures_read_back_from_an_export_are_those_of_the_record() -> None:
    for scene in ("inverted", "holds", "several-judges", "multi-spec"):
        arms = {arm.name: arm.figure for arm in list_arms(build_record(scene).claim)}
        files = export_all(scene)["eee"]
        assert not isinstance(files, str)
        scores = [read(file)["evaluation_results"][0]["score_details"] for file in files]
        assert {score["details"]["arm"]: score["score"] for score in scores} == {name: figure.value for name, figure in arms.items()}
        intervals = [score["uncertainty"].get("confidence_interval", {}) for score in scores]
        # Without an interval the field is left out.
        assert [(interval.get("lower"), interval.get("upper")) for interval in intervals] == [(arm.low, arm.high) for arm in arms.values()]
        metrics = find(scene, "cyclonedx")["metadata"]["component"]["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]
        written = {metric["type"]: float(metric["value"]) for metric in metrics if metric["type"] in arms}
        assert written == {name: figure.value for name, figure in arms.items()}


@pytest.mark.parametrize("scene", ["inverted", "holds", "several-judges", "multi-spec"])
def test_our_own_reader_reads_the_exported_figures_back(scene: str, tmp_path: Path) -> None:
    """Every Eval Ever and CycloneDX: value, interval, number, model and range are those of the record."""
    supplement = build_record(scene).claim
    model, arms, estimate = supplement.claim.payload.model, list_arms(supplement), find_estimate(supplement)
    assert estimate is not None
    read_back: dict[str, list[ReportedFigure]] = {}
    for name in ("eee", "cyclonedx"):
        for number, file in enumerate(export_all(scene)[name]):
            assert isinstance(file, ExportedFile)
            path = tmp_path / f"{name}-{number}.json"
            path.write_bytes(file.content)
            figures = read_figures(path)
            assert figures.unread == ()
            read_back.setdefault(name, []).extend(figures.figures)
    expected = [(arm.figure.value, arm.figure.low, arm.figure.high) for arm in arms]
    assert [(figure.value, figure.low, figure.high) for figure in read_back["eee"]] == expected
    assert [figure.n for figure in read_back["eee"]] == [arm.responses for arm in arms]
    assert {figure.range for figure in read_back["eee"]} == {estimate.range}
    sides = [(figure.value, figure.low, figure.high) for figure in read_back["cyclonedx"] if figure.metric != "Evaluation Differential"]
    assert sides == [(value, low, high) if low is not None else (value, None, None) for value, low, high in expected]
    for figures in read_back.values():
        assert {(figure.model, figure.version) for figure in figures} == {(model.name, model.version)}


def test_hostile_texts_survive_whole_where_a_format_has_room_for_them() -> None:
    """Line breaks, markup, quotation marks, right-to-left text; and 10,000 characters."""
    assert find("hostile", "cyclonedx")["declarations"]["claims"][0]["predicate"] == build_record("hostile").claim.original
    assert HOSTILE.split()[0] in find("hostile", "cyclonedx")["declarations"]["claims"][0]["predicate"]
    title = find("hostile", "oscal")["assessment-results"]["results"][0]["findings"][0]["target"]["title"]
    assert title == " ".join(build_record("hostile").claim.original.split())
    long = find("long-quote", "cyclonedx")["declarations"]["claims"][0]["predicate"]
    assert long == build_record("long-quote").claim.original
    # Citations and the case show what does not print, so that no text drives a terminal or ends a line.
    for name in ("cff", "bibtex", "case"):
        files = export_all("hostile")[name]
        assert not isinstance(files, str)
        text = files[0].content.decode()
        assert "\u202e" not in text
        assert "\x1b" not in text


def test_missing_fields_are_refused_together_and_say_where_to_state_them() -> None:
    with pytest.raises(InputError) as caught:
        export(build_record("inverted"), FORMATS["eee"], {"deployment_type": "somewhere"})

    faults: tuple[Fault, ...] = caught.value.faults
    assert {fault.code for fault in faults} == {"export-field-missing"}
    assert [fault.where.rpartition(" ")[2] for fault in faults][:3] == ["developer", "deployment_type", "model_availability"]
    assert all("--field" in (fault.advice or "") for fault in faults)


def test_a_sealed_property_is_not_opened_by_an_export() -> None:
    """Every Eval Ever names what is measured."""
    supplement = build_record("inverted").claim
    sealed = tuple(
        replace(part, version=replace(part.version, payload=replace(part.version.payload, body=None, commitment="ab" * 32)))
        if part.version is not None and part.reference == supplement.claim.payload.property
        else part
        for part in supplement.specs
    )
    record = publish(replace(supplement, property=None, specs=sealed))

    with pytest.raises(ConflictError) as caught:
        export(record, FORMATS["eee"])
    assert caught.value.code == "export-would-unseal"
    assert list_faults("bom-1.7", read(export(record, FORMATS["cyclonedx"])[0])) == []


def _read_crate(scene: str) -> dict[str, ExportedFile]:
    files = export_all(scene)["crate"]
    assert not isinstance(files, str)
    return {Path(file.path).name: file for file in files}


def test_a_crate_describes_its_files_by_digest_and_its_run_only_where_one_is_recorded() -> None:
    for scene in SCENES:
        files, record = _read_crate(scene), build_record(scene)
        graph = {entity["@id"]: entity for entity in json.loads(files["ro-crate-metadata.json"].content)["@graph"]}
        described = {name: entity for name, entity in graph.items() if entity["@type"] == "File"}
        assert described.keys() == files.keys() - {"ro-crate-metadata.json"}
        for name, entity in described.items():
            assert entity["sha256"] == hashlib.sha256(files[name].content).hexdigest()
            assert entity["contentSize"] == str(len(files[name].content))
        runs = () if record.claim.audit is None else record.claim.audit.runs
        assert sum(entity["@type"] == "CreateAction" for entity in graph.values()) == len(runs)
        assert ("conformsTo" in graph["./"]) is bool(runs)
        # Every reference to something in the crate names something that it describes.
        named = set(re.findall(r'"@id":\s*"(#[^"]+)"', json.dumps(list(graph.values()))))
        assert named <= graph.keys(), scene
        assert read_outcome(record.claim).words in graph["./"]["description"]


def test_the_provenance_of_a_paraphrase_is_no_quotation() -> None:
    record = build_record("inverted")
    claim = replace(record.claim.claim, payload=replace(record.claim.claim.payload, quote_status=QuoteStatus.PARAPHRASE))
    files = export(publish(replace(record.claim, claim=claim)), FORMATS["crate"])

    kinds = []
    for made in (read(files[1]), json.loads(_read_crate("inverted")[f"{record.name}.prov.json"].content)):
        source = f"caveat:{record.claim.card.card}@{record.claim.card.revision}" if record.claim.card else ""
        kinds.append([step.get("prov:type") for step in made["wasDerivedFrom"].values() if step["prov:usedEntity"] == source])
    assert kinds == [[None], [{"$": "prov:Quotation", "type": "prov:QUALIFIED_NAME"}]]


@pytest.mark.parametrize("format_", ["cyclonedx", "oscal", "case", "jsonld", "cff", "bibtex", "csl", "datacite"])
def test_an_export_of_a_paraphrase_says_that_it_is_one(format_: str) -> None:
    """Words of whoever registered the claim are never those of the card in quotation marks."""
    record = build_record("inverted")
    claim = replace(record.claim.claim, payload=replace(record.claim.claim.payload, quote_status=QuoteStatus.PARAPHRASE))

    (file, *_) = export(publish(replace(record.claim, claim=claim)), FORMATS[format_])

    assert b"Paraphrase: In our evaluation" in file.content


def test_a_score_for_the_hub_needs_benchmark_task_and_one_usable_figure() -> None:
    with pytest.raises(InputError) as caught:
        export(build_record("inverted"), FORMATS["hf"], {})
    assert [fault.where.rpartition(" ")[2] for fault in caught.value.faults] == ["dataset_id", "task_id"]
    with pytest.raises(InputError) as caught:
        export(build_record("inverted"), FORMATS["crate"], {})
    assert [fault.where.rpartition(" ")[2] for fault in caught.value.faults] == ["license"]
    files = export_all("hostile")["hf"]
    if not isinstance(files, str):
        assert "\u202e" not in files[0].content.decode()
    for scene in SCENES:
        made = export_all(scene)["hf"]
        if isinstance(made, str):
            assert made in {"export-without-result", "export-field-missing"}
            continue
        (entry,) = YAML(typ="safe").load(made[0].content)
        (value,) = (arm.figure.value for arm in list_arms(build_record(scene).claim) if arm.part == "test")
        assert entry["value"] == value
        assert entry["notes"].startswith(read_outcome(build_record(scene).claim).words)


def test_a_score_for_the_hub_that_no_field_can_replace_names_another_way() -> None:
    """Of a record without one usable figure; only what the user can state is asked for with `--field`."""
    refused = []
    for scene in SCENES:
        try:
            export(build_record(scene), FORMATS["hf"], {"dataset_id": "cais/hle", "task_id": "hle"})
        except InputError as error:
            refused += [fault.advice or "" for fault in error.faults if fault.where.endswith(": value")]
    assert refused
    assert all("no --field takes its place" in advice for advice in refused)


def test_a_leaderboard_gets_no_figure_of_a_provisional_or_inconclusive_outcome() -> None:
    """The file's value is shown without its note, so the figure is left out, with the reason."""
    for scene in SCENES:
        record = build_record(scene)
        reading = find_reading(record.claim)
        if reading is None:
            continue
        standing = VerdictStanding.PROVISIONAL in (reading.verdict_standing, read_outcome(record.claim).standing)
        if standing or reading.mode is Mode.NOISY:
            assert isinstance(export_all(scene)["hf"], str), scene
    assert not isinstance(export_all("holds")["hf"], str)
    with pytest.raises(InputError, match="the outcome is provisional"):
        export(build_record("holds-provisional"), FORMATS["hf"])


def test_a_review_says_the_verdict_in_words_and_is_that_of_the_html_supplement() -> None:
    for scene in SCENES:
        record, made = build_record(scene), export_all(scene)["jsonld"]
        html = render_html(record.claim).decode()
        embedded = re.findall(r'<script type="application/ld\+json">(.*?)</script>', html, re.DOTALL)
        if isinstance(made, str):
            assert (made, embedded) == ("export-without-result", [])
            continue
        review, (text,) = read_review(made[0].content), embedded
        assert "<" not in text
        assert review | {"isBasedOn": None} == json.loads(text) | {"isBasedOn": None}
        assert json.loads(text)["isBasedOn"]["sha256"] == review["isBasedOn"]["sha256"] == record.sha256
        assert review["reviewRating"]["alternateName"].startswith(read_outcome(record.claim).words)
        assert "ratingValue" not in review["reviewRating"]


def read_review(content: bytes) -> dict[str, Any]:
    review = json.loads(content)
    assert (review["@context"], review["@type"]) == ("https://schema.org", "ClaimReview")
    return dict(review)


def test_unknown_formats_and_drafts_are_refused_by_name() -> None:
    for name, is_draft, code in (("cyclondx", False, "export-format-unknown"), ("oscal", True, "export-is-draft")):
        with pytest.raises(InputError) as caught:
            get_format(name, is_draft=is_draft)
        assert caught.value.code == code


def test_the_documentation_lists_what_each_format_loses() -> None:
    page = (Path(__file__).parents[2] / "docs" / "exporting.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([^`]+)` \| lost: (.+?) \|$", page, re.MULTILINE))

    assert rows == {name: "; ".join(format_.lost) for name, format_ in FORMATS.items()}


QUOTING = ("case", "crate", "cyclonedx", "eee", "jsonld", "oscal")
"""Formats that quote the restricted claim."""


@pytest.mark.parametrize("format_", sorted(name for name, known in FORMATS.items() if known.seal is not Seal.LOG))
def test_the_words_of_an_expired_audit_are_not_exported_alone(format_: str) -> None:
    """Read without the condition they would say that the claim holds now."""
    base = build_record("holds").claim
    assert base.audit is not None
    assert base.outcome is not None
    words = base.outcome.text.restricted
    condition = "Only together with the statement that the audit expired: "
    texts = []
    for is_expired in (False, True):
        record = publish(replace(base, audit=replace(base.audit, is_expired=is_expired)))
        # A crate contains the record itself, with the words as they were recorded.
        files = [file for file in export(record, FORMATS[format_]) if file.content != record.content]
        is_json = [file.path.endswith(("json", "jsonld")) for file in files]
        whole = [
            json.dumps(read(file), ensure_ascii=False) if js else file.content.decode() for file, js in zip(files, is_json, strict=True)
        ]
        texts.append("\n".join(whole))
    now, later = texts

    assert condition not in now
    assert (words in now) is (format_ in QUOTING)
    assert later.count(words) == later.count(condition + words) == now.count(words)
