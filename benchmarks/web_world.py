"""A registry of many claims for the benchmarks of the web: many labs, models, cards and properties, quotations of random words.

Every claim is written through the ledger. One in two hundred is audited, one in a hundred withdrawn, one in a thousand revised. The words
have the frequencies of a language: the most frequent ones occur in a third of all claims, and half of the vocabulary is rare.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, islice

from benchmarks.bulk_import_store import build_claim
from benchmarks.one_claim import WORDS as SYLLABLES
from benchmarks.staleness import add_audit
from registry.records.claim import ClaimEvent, ClaimEventKind, ClaimRevision, Direction, Form, PropertyClass, Relation
from registry.records.model_version import ModelRef, ModelVersion
from registry.records.record import Authority, AuthorityRole, Kind
from registry.records.specification import PropertySpec, SpecKind, SpecVersion
from registry.records.system_card import Card, MediaType
from registry.store.ledger import Ledger
from registry.store.log_writer import Writer

WORDS = tuple(f"{first}{second}" for first in SYLLABLES for second in SYLLABLES)[:40_000]
_WEIGHTS = tuple(accumulate(1 / (rank + 20) for rank in range(1, len(WORDS) + 1)))
_FORMS = (Form.PREVALENCE, Form.EXISTENCE, Form.THRESHOLD)
_STRETCH = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _World:
    models: tuple[ModelRef, ...]
    cards: tuple[tuple[str, str], ...]
    """Each card with the digest of its document."""
    properties: tuple[str, ...]


def fill(ledger: Ledger, count: int) -> None:
    """Record *count* claims, with audits, withdrawals and revisions."""
    rng = random.Random(17)  # noqa: S311  (a benchmark, nothing secret)
    with ledger.write(actor="EXAMPLE") as writer:
        world = _settle(writer, count)
        names = writer.allocate(Kind.CLAIM, "EXAMPLE", count)
        numbered, rates = enumerate(names), []
        while stretch := list(islice(numbered, _STRETCH)):
            claims = [build(world, name, number, rng) for number, name in stretch]
            writer.append_many(claims)
            rates += [claim.claim for claim in claims if claim.form is Form.PREVALENCE]
        for name in rates[::100]:
            add_audit(writer, f"{name}@1")
        withdrawn = [ClaimEvent(claim=name, event=ClaimEventKind.WITHDRAW, reason="retracted") for name in names[7::100]]
        writer.append_many(withdrawn)
        revised = [build(world, name, number, rng) for number, name in islice(enumerate(names), 3, None, 1_000)]
        writer.append_many([replace(claim, revision=2, why="a better quotation") for claim in revised])


def _settle(writer: Writer, count: int) -> _World:
    writer.append(Authority(code="EXAMPLE", name="Example", role=AuthorityRole.LAB))
    labs = [f"Lab {number:02}" for number in range(60)]
    models = tuple(
        ModelRef(developer=lab, name=f"{lab.split()[1]}-{name}", version=f"{version}")
        for lab in labs
        for name in ("base", "large", "small")
        for version in range(1, 5)
    )
    writer.append_many([ModelVersion(model=model) for model in models])
    return _World(models=models, cards=tuple(_add_cards(writer, max(2, count // 500))), properties=tuple(_add_properties(writer)))


def _add_properties(writer: Writer) -> Iterator[str]:
    names = writer.allocate(Kind.PROPERTY, "EXAMPLE", 40)
    classes = tuple(PropertyClass)
    for number, name in enumerate(names):
        body = PropertySpec(name=f"property {number}", class_=classes[number % 5], range=(0.0, 1.0), direction=Direction.LOWER_IS_SAFER)
        writer.append(SpecVersion(spec=name, kind=SpecKind.PROPERTY, slug=f"p{number}", version=1, owner="EXAMPLE", body=body))
        yield f"{name}@1"


def _add_cards(writer: Writer, count: int) -> Iterator[tuple[str, str]]:
    for number, name in enumerate(writer.allocate(Kind.CARD, "EXAMPLE", count)):
        text, digest = writer.put_content(f"The card {number}."), f"{number:064x}"
        known = {"title": f"Card {number}", "publisher": "Example", "media_type": MediaType.MARKDOWN, "extractor": "none", "size_bytes": 9}
        writer.append(Card(card=name, revision=1, document=digest, text=text, pages=(), **known))  # type: ignore[arg-type]
        yield f"{name}@1", digest


def build(world: _World, name: str, number: int, rng: random.Random) -> ClaimRevision:
    """Return one claim with a card, a model, a property and a form of its own, and twenty words."""
    phi = world.properties[int(40 * rng.random() ** 2)]
    claim = build_claim(name, phi, number)
    quote = f"{' '.join(rng.choices(WORDS, cum_weights=_WEIGHTS, k=20))}."
    card, document = world.cards[number % len(world.cards)]
    assert claim.anchor is not None
    start = number // len(world.cards) * 250
    anchor = replace(claim.anchor, document=document, start=start, stop=start + len(quote), exact=quote)
    # Some labs publish far more than others.
    model = world.models[int(len(world.models) * rng.random() ** 2)]
    form = _FORMS[int(3 * rng.random() ** 2)]
    limit = {"relation": Relation.AT_MOST, "theta": 0.05} if form is Form.THRESHOLD else {}
    return replace(claim, quote=quote, card=card, anchor=anchor, model=model, form=form, **limit)
