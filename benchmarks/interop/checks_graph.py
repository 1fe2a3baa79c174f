"""LTAC, RO-Crate, PROV-JSON and evaluation results of the Hub: run in the environment `graph`. Argument: the folder of exports."""

import io
import json
import shutil
import subprocess
import sys
import tempfile
import warnings
from importlib.resources import files
from pathlib import Path

import requests
import yaml
from huggingface_hub import eval_result_entries_to_yaml, parse_eval_result_entries
from prov.model import ProvDocument, ProvWarning
from rdflib import RDF, Graph, URIRef
from requests.adapters import HTTPAdapter
from requests_cache import CachedSession
from rocrate_validator import services
from rocrate_validator.models import Severity, ValidationSettings
from urllib3 import HTTPResponse

FOLDER = Path(sys.argv[1])
CONTEXT = "https://w3id.org/ro/crate/1.1/context"


def validate_case(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.ltac"
        path.write_text(text, encoding="utf-8")
        # Run as a module: the console script ends with 1 where all is well.
        command = [sys.executable, "-m", "verocase", "--ltac", str(path), "--validate", "--error"]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else (run.stdout + run.stderr)[:300]


def warm_cache(path):
    """Put the context of RO-Crate 1.1 into the validator's cache, as the package rocrate 0.13.0 brings it: it then needs no network."""
    session = CachedSession(
        cache_name=str(path), expire_after=-1, backend="sqlite", allowable_methods=("GET",), allowable_codes=(200, 302, 404)
    )
    request = session.prepare_request(requests.Request("GET", CONTEXT, headers={"Accept": "application/ld+json, application/json"}))
    body = io.BytesIO((files("rocrate") / "data" / "ro-crate.jsonld").read_bytes())
    answer = HTTPResponse(body=body, status=200, headers={"Content-Type": "application/ld+json"}, preload_content=False)
    response = HTTPAdapter().build_response(request, answer)
    _ = response.content
    session.cache.save_response(response)
    session.close()


def validate_crate(folder, cache):
    """Return what the validator says against the crate: all required checks of the profile that it conforms to, offline."""
    text = (folder / "ro-crate-metadata.json").read_text(encoding="utf-8")
    profile = "process-run-crate-0.5" if "wfrun/process" in text else "ro-crate-1.1"
    settings = ValidationSettings(
        rocrate_uri=str(folder), profile_identifier=profile, requirement_severity=Severity.REQUIRED, offline=True, cache_path=cache
    )
    result = services.validate(settings)
    return "; ".join(f"{issue.check.identifier}: {issue.message}" for issue in result.get_issues())[:300]


def change_crate(folder, cache, change):
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "crate"
        shutil.copytree(folder, copy)
        path = copy / "ro-crate-metadata.json"
        document = json.loads(path.read_bytes())
        change(document["@graph"])
        path.write_text(json.dumps(document), encoding="utf-8")
        return bool(validate_crate(copy, cache))


def find(graph, identifier):
    return next(entity for entity in graph if entity["@id"] == identifier)


def check_crate(folder, cache, changed):
    """Return the faults of a crate, and whether changed copies are refused; the latter once a profile, since each takes seconds."""
    fault = validate_crate(folder, cache)
    graph = json.loads((folder / "ro-crate-metadata.json").read_bytes())["@graph"]
    lists = {entity["@id"] for entity in graph if entity["@type"] == "File"}
    there = {path.name for path in folder.iterdir()} - {"ro-crate-metadata.json"}
    missing = "" if lists == there else f"the crate lists {sorted(lists)}, and holds {sorted(there)}"
    runs = [entity["@id"] for entity in graph if entity["@type"] == "CreateAction"]
    rejected = {}
    if bool(runs) not in changed:
        changed.add(bool(runs))
        rejected["missing field"] = change_crate(folder, cache, lambda graph: find(graph, "./").pop("license"))
        rejected["unknown term"] = change_crate(folder, cache, lambda graph: find(graph, "./").update({"verdictWord": "holds"}))
        if runs:
            rejected["run without instrument"] = change_crate(folder, cache, lambda graph: find(graph, runs[0]).pop("instrument"))
    return [text for text in (fault, missing) if text], rejected


def check_provenance(path):
    """Read the document, write it, and read it again: nothing is lost, and each element and relation is one record."""
    content = path.read_text(encoding="utf-8")
    document = json.loads(content)
    try:
        model = ProvDocument.deserialize(content=content, format="json")
        again = ProvDocument.deserialize(content=model.serialize(format="json"), format="json")
    except Exception as error:
        return [f"{type(error).__name__}: {error}"[:300]], {}
    faults = [] if model == again else ["the round trip gives another document"]
    count = sum(len(part) for name, part in document.items() if name != "prefix")
    if len(model.get_records()) != count:
        faults.append(f"{count} elements and relations, {len(model.get_records())} records")
    wrong = {**document, "activity": {"caveat:x": {"prov:startTime": "soon"}}}
    try:
        ProvDocument.deserialize(content=json.dumps(wrong), format="json")
        is_rejected = False
    except Exception:
        is_rejected = True
    return faults, {"wrong field": is_rejected}


def check_result(path):
    """Read the file as the Hub's library does: nothing is left out, and the value is the record's number."""
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    try:
        (entry,) = parse_eval_result_entries(data)
    except Exception as error:
        return [f"{type(error).__name__}: {error}"[:300]], {}
    faults = [] if eval_result_entries_to_yaml([entry]) == data else ["the library writes another document"]
    rejected = {}
    for name, change in (("missing field", lambda item: item["dataset"].pop("task_id")), ("source without address", drop_address)):
        changed = json.loads(json.dumps(data))
        change(changed[0])
        try:
            parse_eval_result_entries(changed)
            rejected[name] = False
        except Exception:
            rejected[name] = True
    return faults, rejected


def check_review(path):
    """Read the file as JSON-LD. No validator of reviews is claimed: this shows that it parses, and that its terms are schema.org's."""
    document = json.loads(path.read_bytes())
    # The context is a redirect on the web; its terms are those of this vocabulary.
    local = {**document, "@context": {"@vocab": "https://schema.org/"}}
    faults = [] if document["@context"] == "https://schema.org" else ["another context"]
    graph = Graph().parse(data=json.dumps(local), format="json-ld")
    schema = "https://schema.org/"
    reviews = list(graph.subjects(RDF.type, URIRef(f"{schema}ClaimReview")))
    ratings = list(graph.objects(None, URIRef(f"{schema}reviewRating")))
    if len(reviews) != 1 or len(ratings) != 1:
        faults.append(f"{len(reviews)} reviews with {len(ratings)} ratings")
    if list(graph.objects(None, URIRef(f"{schema}ratingValue"))):
        faults.append("a verdict became a number")
    # rdflib skips what it does not know: only a file that is no JSON is refused.
    try:
        Graph().parse(data=json.dumps(local)[:-1], format="json-ld")
        is_rejected = False
    except Exception:
        is_rejected = True
    return faults, {"a file that was cut off": is_rejected}


def drop_address(item):
    item["source"].pop("url")


def main():
    warnings.simplefilter("error", ProvWarning)
    rows = []

    def add(format_, path, faults, rejected):
        rows.append({"format": format_, "file": path.name, "faults": faults, "rejected": rejected})

    for path in sorted(FOLDER.rglob("*.ltac")):
        text = path.read_text(encoding="utf-8")
        fault = validate_case(text)
        rejected = {
            "unknown field": bool(validate_case(text + "  - Verdict V: holds\n")),
            "a second claim of one name": bool(validate_case(text + text)),
        }
        add("case", path, [fault] if fault else [], rejected)
    with tempfile.TemporaryDirectory() as place:
        cache = Path(place) / "cache"
        warm_cache(cache)
        changed = set()
        for path in sorted(FOLDER.rglob("*.crate")):
            add("crate", path, *check_crate(path, cache, changed))
    for path in sorted(FOLDER.rglob("*.prov.json")):
        add("crate: PROV-JSON", path, *check_provenance(path))
    for path in sorted(FOLDER.rglob("hf/*.yaml")):
        add("hf", path, *check_result(path))
    for path in sorted(FOLDER.rglob("*.jsonld")):
        add("jsonld", path, *check_review(path))
    print(json.dumps(rows))


main()
