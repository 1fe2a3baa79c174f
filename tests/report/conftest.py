"""Supplements of every kind, and their PDFs, drawn once for all tests."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from registry.folder.supplement_changes import collect_changes
from registry.records.log_seal import KeyAlgorithm
from registry.records.supplement import CardSupplement, ChangeReport, Supplement
from registry.report.pdf_rendering import render_pdf_in_process
from registry.report.published_file import sign_pdf
from registry.report.supplement_assembly import assemble_card, assemble_claim
from registry.seal.signing_keys import SigningKey, make_key
from tests.report.builders import MADE_AT, ORIGIN, Log, card
from tests.report.changing import Story, tell
from tests.report.covered import full
from tests.report.dossiers import EVERY, degraded, inverted, unaudited
from tests.report.signing import AT
from tests.report.updated import list_updated


@pytest.fixture(scope="session")
def supplements() -> Mapping[str, Supplement]:
    return {name: assemble_claim(build(), made_at=MADE_AT) for name, build in EVERY.items()}


@pytest.fixture(scope="session")
def card_supplement() -> CardSupplement:
    dossiers = [inverted(), degraded(), unaudited()]
    return assemble_card(dossiers, card(Log()), coverage=full(), log_origin=ORIGIN, log_size=40, made_at=MADE_AT)


@pytest.fixture(scope="session")
def updated() -> Mapping[str, Supplement | CardSupplement]:
    return list_updated()


@pytest.fixture(scope="session")
def superseded_pdf(updated: Mapping[str, Supplement | CardSupplement]) -> bytes:
    return render_pdf_in_process(updated["superseded"])


@pytest.fixture(scope="session")
def carried_pdf(updated: Mapping[str, Supplement | CardSupplement]) -> bytes:
    return render_pdf_in_process(updated["carried"])


@pytest.fixture(scope="session")
def inverted_pdf(supplements: Mapping[str, Supplement]) -> bytes:
    return render_pdf_in_process(supplements["inverted"])


@pytest.fixture(scope="session")
def found_pdf(supplements: Mapping[str, Supplement]) -> bytes:
    return render_pdf_in_process(supplements["found-against"])


@pytest.fixture(scope="session")
def escaping_pdf(supplements: Mapping[str, Supplement]) -> bytes:
    return render_pdf_in_process(supplements["escaping"])


@pytest.fixture(scope="session")
def hostile_pdf(supplements: Mapping[str, Supplement]) -> bytes:
    return render_pdf_in_process(supplements["hostile"])


@pytest.fixture(scope="session")
def card_pdf(card_supplement: CardSupplement) -> bytes:
    return render_pdf_in_process(card_supplement)


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    told = tell(tmp_path_factory.mktemp("changing"))
    yield told
    told.ledger.close()


@pytest.fixture(scope="session")
def change_report(story: Story) -> ChangeReport:
    with story.ledger.view(story.first) as before, story.ledger.view(story.last) as after:
        return replace(collect_changes(before, after), made_at=MADE_AT)


@pytest.fixture(scope="session")
def change_pdf(change_report: ChangeReport) -> bytes:
    return render_pdf_in_process(change_report)


@pytest.fixture(scope="session")
def unaudited_pdf(supplements: Mapping[str, Supplement]) -> bytes:
    return render_pdf_in_process(supplements["unaudited"])


@pytest.fixture(scope="session")
def document_key() -> SigningKey:
    return make_key(KeyAlgorithm.ECDSA_P256, "EXAMPLE", seed=b"document key of EXAMPLE".ljust(32), organisation="Example Institute")


@pytest.fixture(scope="session")
def signed_pdf(unaudited_pdf: bytes, document_key: SigningKey) -> bytes:
    return sign_pdf(unaudited_pdf, document_key, at=AT)
