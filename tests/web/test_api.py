"""The interface for programs: every operation answers as it is declared, and long files are whole."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from registry.exchange.bundle_format import read_bundle
from registry.store.ledger import Ledger
from tests.cli.given_out import run
from tests.web.conftest import open_ledger
from tests.web.test_server import FIRST, SECOND, build_client
from web.api.formats import build_schemas
from web.api.openapi import render_openapi
from web.api.operations import PATH_PARAMETERS, list_operations
from web.pages.addresses import PageSettings
from web.server.requests import prefers_json

JSON_OPERATIONS = [operation for operation in list_operations() if operation.answer is not None]


SETTINGS = PageSettings(has_search=True, contact="mailto:registry@example.org")


@pytest.fixture
def client(ledger: Ledger, tmp_path: Path) -> Iterator[TestClient]:
    with build_client(ledger, tmp_path, SETTINGS) as client:
        yield client


@pytest.fixture(scope="module")
def reading(_built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The same for all tests that record nothing."""
    ledger = open_ledger(_built)
    with build_client(ledger, tmp_path_factory.mktemp("shelf"), SETTINGS) as client:
        yield client
    ledger.close()


def validate(document: Any) -> None:
    schema = build_schemas()[document["schema"].removeprefix("caveat/").removesuffix("/1")]
    Draft202012Validator(schema).validate(document)


def find_names(client: TestClient) -> dict[str, str]:
    """Return a value for each part of a path, from the lists of the registry itself."""
    names = {"claim": FIRST, "span": "1..2", "entry": "3"}
    for resource, place in (("cards", "card"), ("audits", "audit"), ("objections", "objection"), ("specs", "spec")):
        names[place] = client.get(f"/api/1/{resource}").json()["items"][0]["id"].partition("@")[0]
    names["sha256"] = client.get("/api/1/publications").json()["items"][0]["id"]
    names["developer"], names["model"], names["version"] = client.get("/api/1/models").json()["items"][0]["id"].split("/")
    _, names["authority"], names["log"] = client.get("/api/1/logs").json()["items"][0]["origin"].split("/")
    assert set(names) == set(PATH_PARAMETERS)
    return names


def test_every_operation_answers_with_its_declared_format(reading: TestClient) -> None:
    """Of a card and a specification there is one revision, so nothing can be compared. No entry is about a model that only claims name."""
    absent = {
        "read_card_difference": "revision-not-found",
        "read_spec_difference": "revision-not-found",
        "read_model_proof": "not-registered",
    }
    names = find_names(reading)
    for operation in JSON_OPERATIONS:
        path = operation.path.format(**names)
        answer = reading.get(path)
        if operation.name in absent:
            assert (answer.status_code, answer.json()["title"]) == (404, absent[operation.name])
            continue
        assert answer.status_code == 200, (path, answer.text)
        document = answer.json()
        assert document["schema"] == f"caveat/{operation.answer}/1"
        validate(document)


def test_the_static_form_of_an_address_has_the_same_document(reading: TestClient) -> None:
    names = find_names(reading)
    for operation in JSON_OPERATIONS:
        if operation.name.startswith("read_") and operation.name.count("_") == 1 and operation.places:
            path = operation.path.format(**names)
            assert reading.get(f"{path}.json").content == reading.get(path).content


def test_the_description_names_every_operation_once_and_nothing_else(reading: TestClient) -> None:
    """It is made of the declarations that the router reads, and each reference in it leads somewhere."""
    answer = reading.get("/openapi.json")
    document = answer.json()
    described = {part["get"]["operationId"]: path for path, part in document["paths"].items()}

    assert described == {operation.name: operation.path for operation in list_operations()}
    references = {part for part in answer.text.split('"') if part.startswith("#/components/schemas/")}
    assert {reference.rpartition("/")[2] for reference in references} <= set(document["components"]["schemas"])
    for operation in list_operations():
        names = [parameter["name"] for parameter in document["paths"][operation.path]["get"]["parameters"]]
        assert names == [*operation.places, *(parameter.name for parameter in operation.parameters)]


def test_a_site_of_files_describes_the_documents_that_it_has(reading: TestClient) -> None:
    document = json.loads(render_openapi(is_live=False, base="https://claims.example.org"))

    assert document["servers"] == [{"url": "https://claims.example.org"}]
    assert set(document["paths"]) == {"/api/1/index.json", "/api/1/claims/{claim}.json", "/api/1/cards/{card}.json"}


def test_each_declared_parameter_is_read_and_no_other(reading: TestClient) -> None:
    names = find_names(reading)
    for operation in list_operations():
        path = operation.path.format(**names)
        assert reading.get(path, params={"nonsense": "1"}).status_code == 400, path
        for parameter in operation.parameters:
            if parameter.is_number:
                for value in ("x", "-1", "+1", "01", "1.0", "٣", str(10**16), *([str(parameter.maximum + 1)] if parameter.maximum else [])):
                    refused = reading.get(path, params={parameter.name: value})
                    assert (refused.status_code, parameter.name) == (400, refused.json()["where"] if "/api/" in path else parameter.name)
            if not parameter.is_repeated:
                assert reading.get(path, params=[(parameter.name, "1"), (parameter.name, "1")]).status_code == 400


def test_lists_are_walked_by_the_entry_that_they_end_with(reading: TestClient) -> None:
    for resource in ("specs", "publications", "authorities"):
        whole = reading.get(f"/api/1/{resource}").json()["items"]
        page = reading.get(f"/api/1/{resource}?limit=1").json()
        items = page["items"]
        while page["next"]:
            page = reading.get(page["next"]).json()
            items += page["items"]
        assert items == whole
        assert len(items) > 0


def test_a_history_is_walked_too_and_keeps_the_entry_that_was_chosen(folder: Path, client: TestClient) -> None:
    size = client.get("/api/1/status").json()["log"]["size"]
    run("claim", "withdraw", FIRST, "--reason", "retracted", "--yes")
    page = client.get(f"/as-of/{size}/api/1/claims/{FIRST}/history?limit=2").json()
    numbers = [entry["entry"]["seq"] for entry in page["entries"]]
    while page["next"]:
        assert page["next"].startswith(f"/as-of/{size}/")
        page = client.get(page["next"]).json()
        numbers += [entry["entry"]["seq"] for entry in page["entries"]]

    assert max(numbers) <= size
    assert numbers == sorted(set(numbers))
    assert len(client.get(f"/api/1/claims/{FIRST}/history").json()["entries"]) == len(numbers) + 1


def test_a_proof_leads_from_the_entries_to_the_root(reading: TestClient) -> None:
    """Checked with the code that checks files."""
    from registry.codec.canonical_documents import from_document
    from registry.records.dossier import Inclusion
    from registry.seal.merkle_tree import root_from_nodes

    document = reading.get(f"/api/1/claims/{FIRST}/proof").json()
    inclusion = from_document(Inclusion, document["inclusion"], where="proof")
    leaves = {entry["seq"] - 1: bytes.fromhex(entry["leaf"]) for entry in document["entries"]}
    # The keys of those who signed are proven too.
    leaves |= {key.entry.seq - 1: bytes.fromhex(key.entry.leaf) for key in inclusion.keys}

    assert root_from_nodes(leaves, inclusion.nodes, inclusion.size).hex() == document["log"]["root"]


ABSENT = [
    ("/api/1/audits/AUD-AISI-2026-0001-0", 404, "address-not-found"),
    ("/api/1/audits/CLM-AISI-2026-0001-S", 404, "address-not-found"),
    ("/api/1/specs/PRP-AISI-2026-0001-P@99", 404, "address-not-found"),
    (f"/api/1/claims/{FIRST}@9", 404, "revision-not-found"),
    (f"/api/1/claims/{FIRST}/diff/2..9", 404, "revision-not-found"),
    (f"/api/1/claims/{FIRST}@1/diff/1..2", 404, "address-not-found"),
    (f"/api/1/claims/{FIRST}/diff/1-2", 404, "address-not-found"),
    ("/api/1/models/LAB/M/99", 404, "not-registered"),
    ("/api/1/models/LAB/M", 404, "address-not-found"),
    ("/api/1/models/%2F/M/1", 404, "not-registered"),
    ("/api/1/authorities/NOBODY", 404, "not-registered"),
    ("/api/1/entries/0", 404, "entry-not-found"),
    ("/api/1/entries/9999", 404, "entry-not-found"),
    ("/api/1/entries/٣", 404, "entry-not-found"),
    ("/api/1/publications/" + "0" * 64, 404, "not-registered"),
    ("/api/1/publications/x", 404, "not-registered"),
    ("/api/1/logs/AISI/0", 404, "not-registered"),
    ("/api/1/nothing", 404, "address-not-found"),
    ("/api/2/claims", 404, "address-not-found"),
    ("/api/1/cards?after=9999", 400, "bad-query"),
    ("/api/1/entries?after=3&wait=26", 400, "bad-query"),
    ("/api/1/bundle?since=9999", 400, "nothing-to-export"),
    ("/as-of/3/api/1/bundle", 404, "checkpoint-not-found"),
    ("/as-of/9999/api/1/claims", 400, "entry-not-found"),
]


def test_what_is_not_there_is_named(reading: TestClient) -> None:
    for path, status, code in ABSENT:
        answer = reading.get(path)
        assert (answer.status_code, answer.json()["title"]) == (status, code), path
        assert answer.headers["content-type"] == "application/problem+json"
        validate(answer.json())


def test_an_identifier_in_small_letters_leads_on(reading: TestClient) -> None:
    audit = find_names(reading)["audit"]

    assert reading.get(f"/api/1/audits/{audit.lower()}/history?limit=5").headers["location"] == f"/api/1/audits/{audit}/history?limit=5"


# Complete files.


def test_all_claims_come_as_lines_each_with_its_format(reading: TestClient) -> None:
    answer = reading.get("/api/1/claims.jsonl")
    lines = [json.loads(line) for line in answer.content.splitlines()]

    assert answer.headers["content-type"] == "application/jsonl"
    assert [line["claim"] for line in lines] == [item["claim"].partition("@")[0] for item in reading.get("/api/1/claims").json()["items"]][
        ::-1
    ]
    for line in lines:
        validate(line)


def test_all_claims_come_as_a_table_that_names_its_log(reading: TestClient) -> None:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(io.BytesIO(reading.get("/api/1/claims.parquet").content))
    log = reading.get("/api/1/status").json()["log"]

    assert len(table) == 4
    assert f"{FIRST}@2" in table["claim"].to_pylist()
    assert {name.decode(): value.decode() for name, value in table.schema.metadata.items() if name.startswith(b"caveat.")} == {
        "caveat.log": log["origin"], "caveat.size": str(log["size"]), "caveat.root": log["root"],
    }  # fmt: skip


def test_complete_files_are_those_of_the_entry_that_is_asked_for(folder: Path, client: TestClient) -> None:
    size = client.get("/api/1/status").json()["log"]["size"]
    before = client.get(f"/as-of/{size}/api/1/claims.jsonl").content
    run("claim", "withdraw", SECOND, "--reason", "retracted", "--yes")

    assert client.get(f"/as-of/{size}/api/1/claims.jsonl").content == before
    assert client.get("/api/1/claims.jsonl").content != before


def test_the_bundle_is_one_that_another_registry_takes(folder: Path, client: TestClient, tmp_path: Path) -> None:
    """It ends with the last checkpoint, as no one vouches for what comes after it."""
    run("admin", "log", "checkpoint")
    answer = client.get("/api/1/bundle")
    lines = list(read_bundle(io.BytesIO(answer.content), where="bundle"))

    assert answer.headers["content-disposition"].endswith('-bundle.jsonl"')
    assert lines[0].size == client.get("/api/1/status").json()["log"]["size"]
    rest = list(read_bundle(io.BytesIO(client.get("/api/1/bundle?since=5").content), where="bundle"))
    assert len(lines) - len(rest) == 5


def test_a_file_asked_for_its_head_alone_is_not_made(reading: TestClient) -> None:
    answer = reading.head("/api/1/claims.jsonl")

    assert (answer.status_code, answer.content, answer.headers["content-type"]) == (200, b"", "application/jsonl")


def test_an_erased_text_is_in_no_answer(folder: Path, client: TestClient) -> None:
    """Its entry stays, with the hash, and says which entry erased it."""
    import pyarrow.parquet

    name = "CLM-AISI-2026-0003-O"
    names = find_names(client) | {"claim": name}
    quote = client.get(f"/api/1/claims/{name}").json()["claim"]["payload"]["quote"]
    (entry,) = [
        one["entry"]["seq"]
        for one in client.get(f"/api/1/claims/{name}/history").json()["entries"]
        if one["entry"]["kind"] == "claim_revision"
    ]
    assert quote in client.get("/api/1/claims.jsonl").text
    run("admin", "log", "erase", str(entry), "--reason", "a name", "--yes")
    run("admin", "log", "checkpoint")

    for operation in list_operations():
        # The card itself still has these words.
        if operation.answer != "card-supplement" and not operation.name.endswith("_difference"):
            answer = client.get(operation.path.format(**names))
            assert answer.status_code in (200, 404, 410), operation.path
            assert quote not in answer.text, operation.path
    assert client.get(f"/api/1/claims/{name}").status_code == 410
    assert quote not in pyarrow.parquet.read_table(io.BytesIO(client.get("/api/1/claims.parquet").content))["quote"].to_pylist()
    (shown,) = client.get(f"/api/1/entries?after={entry - 1}&limit=1").json()["entries"]
    assert shown["statement"] is None
    assert client.get(f"/api/1/entries/{entry}").json()["erased_by"] > entry


# Descriptions of the site.


def test_the_registry_describes_itself_to_programs(reading: TestClient) -> None:
    document = reading.get("/.well-known/caveat.json").json()
    validate(document)

    for address in document["documents"].values():
        # The log for programs begins with its checkpoint, and this one was never signed.
        if not address.startswith("/tlog/"):
            assert reading.get(address).status_code == 200
    assert document["contact"] == "mailto:registry@example.org"
    assert "Contact: mailto:registry@example.org\nExpires: 20" in reading.get("/.well-known/security.txt").text
    assert reading.get("/robots.txt").text.startswith("# Takedown requests: mailto:registry@example.org\nUser-agent: *\n")


def test_without_a_contact_there_is_no_security_file(ledger: Ledger, tmp_path: Path) -> None:
    with build_client(ledger, tmp_path, PageSettings(has_search=True)) as reading:
        assert reading.get("/.well-known/security.txt").status_code == 404


@pytest.mark.parametrize(
    ("accept", "is_json"),
    [
        ("application/json", True),
        ("text/html,application/xhtml+xml,*/*;q=0.8", False),
        ("text/html;q=0.5, application/json", True),
        ("application/json;q=0", False),
        ("application/*", True),
        ("*/*", False),
        ("", False),
        ("application/json;q=banana", True),
    ],
)
def test_the_preferred_form_is_that_with_the_greater_weight(accept: str, is_json: bool) -> None:  # noqa: FBT001
    assert prefers_json(accept) is is_json


def test_a_program_gets_the_record_of_a_claim_or_card_at_its_page(reading: TestClient) -> None:
    for path in (f"/{FIRST}/", f"/{find_names(reading)['card']}/"):
        page, record = reading.get(path), reading.get(path, headers={"Accept": "application/json"})
        assert page.headers["vary"] == record.headers["vary"] == "Accept"
        assert page.headers["content-type"].startswith("text/html")
        validate(record.json())
