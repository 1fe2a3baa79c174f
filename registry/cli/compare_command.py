"""`caveat compare`: what two registries or bundles say about the same claims."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from registry.cli.application import App, examples, key_options, pass_app
from registry.cli.list_options import ListOutput, list_options
from registry.present.blocks import Block, Subtitle, Table

if TYPE_CHECKING:
    from registry.exchange.claim_comparison import ClaimPair, MatchKind
    from registry.exchange.compared_registry import ComparedRegistry
    from registry.present.listings import Column


@examples(
    "compare caveat.db other.bundle",
    "compare . ../institute --check",
    "compare lab.bundle aisi.bundle --vkey $LAB_KEY --vkey $AISI_KEY --csv > differences.csv",
)
@click.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--check", is_flag=True, help="Exit with 1 if they disagree.")
@key_options
@pass_app
@list_options
def compare(
    app: App, /, *, output: ListOutput, first: str, second: str, check: bool, vkeys: tuple[str, ...], key_files: tuple[Path, ...]
) -> None:
    """Compare the claims of two registries or bundles.

    A and B are each a caveat.db, a folder with one, a URL, or a bundle. Claims are the same if their words and model version are.
    Disagreements come first: another verdict, an objection that only one has, another limit, form or definition. Nothing is recorded, and
    you need no registry of your own. With --vkey or --key a bundle must be signed by that key. Columns: kind, a, b, a_verdict, b_verdict,
    differs, model, words.
    """
    from registry.cli.application import read_vkeys, track
    from registry.codec.canonical_documents import to_document
    from registry.exchange.claim_comparison import compare_registries
    from registry.exchange.compared_registry import open_compared
    from registry.present.listings import Listing

    keys = read_vkeys(vkeys, key_files)
    with (
        track(app, "reading", unit="entries") as progress,
        open_compared(first, clock=app.config.now, keys=keys, progress=progress) as left,
        open_compared(second, clock=app.config.now, keys=keys, progress=progress) as right,
    ):
        pairs = compare_registries(left.view, right.view)
        counts = Counter(pair.kind for pair in pairs)
        document: dict[str, Any] = {
            "schema": "caveat/comparison/1",
            "first": _describe(left),
            "second": _describe(right),
            "counts": {kind.value: counts[kind] for kind in _list_kinds()},
        }
    output.report(
        Listing(
            document=document,
            field="claims",
            rows=pairs,
            describe=to_document,
            columns=_list_columns(),
            none="Neither has a claim.",
            present=lambda rows: _present(rows, document),
        )
    )
    if check and document["counts"]["disagreement"]:
        click.get_current_context().exit(1)


def _list_kinds() -> "tuple[MatchKind, ...]":
    from registry.exchange.claim_comparison import MatchKind

    return tuple(MatchKind)


def _describe(side: "ComparedRegistry") -> dict[str, Any]:
    return {"source": side.name, "log": side.view.log_origin, "entries": side.view.log_size, "verified": side.is_verified}


def _list_columns() -> "tuple[Column[ClaimPair], ...]":
    from registry.present.listings import Column

    def get(name: str) -> "Callable[[ClaimPair], Any]":
        return lambda pair: getattr(pair, name)

    return (
        Column(name="kind", read=get("kind")),
        Column(name="a", read=get("first")),
        Column(name="b", read=get("second")),
        Column(name="a_verdict", read=get("first_verdict")),
        Column(name="b_verdict", read=get("second_verdict")),
        Column(name="differs", read=lambda pair: "; ".join(_write(pair)) or None),
        Column(name="model", read=get("model")),
        Column(name="words", read=get("words")),
    )


def _write(pair: "ClaimPair") -> Iterator[str]:
    for difference in pair.differences:
        first, second = ("none" if value is None else f"{value}".replace("_", " ") for value in (difference.first, difference.second))
        yield f"{difference.field}: {first} / {second}"


def _present(pairs: "Sequence[ClaimPair]", document: dict[str, Any]) -> Iterator[Block]:
    from registry.cli.claim_presenter import shorten
    from registry.exchange.claim_comparison import MatchKind

    counts = Counter(pair.kind for pair in pairs)
    for letter, side in (("A", document["first"]), ("B", document["second"])):
        checked = {None: "", True: ", signed by a key you gave", False: ", its signer not checked: no key given"}[side["verified"]]
        yield f"{letter}  {side['source']}: {side['log']}, {side['entries']:,} entries{checked}"
    yield (
        f"\n{_count(counts[MatchKind.DISAGREEMENT], 'disagreement')}, {_count(counts[MatchKind.DIFFERENCE], 'other difference')}; "
        f"{_count(counts[MatchKind.ONLY_FIRST], 'claim')} only in A, {counts[MatchKind.ONLY_SECOND]:,} only in B; "
        f"{counts[MatchKind.SAME]:,} the same in both"
    )
    for pair in pairs:
        if pair.differences:
            yield Subtitle(f"{pair.kind.value}: “{shorten(pair.words)}”  {pair.model}")
            rows = [(difference.field, _show(difference.first), _show(difference.second)) for difference in pair.differences]
            yield Table(("", "A", "B"), [("claim", pair.first or "", pair.second or ""), *rows])
    for kind, title in ((MatchKind.ONLY_FIRST, "Only in A"), (MatchKind.ONLY_SECOND, "Only in B")):
        alone = [pair for pair in pairs if pair.kind is kind]
        if alone:
            yield Subtitle(title)
            verdicts = [(pair.first or pair.second or "", pair.first_verdict or pair.second_verdict, shorten(pair.words)) for pair in alone]
            yield Table(("claim", "verdict", "words"), [(name, _show(verdict), words) for name, verdict, words in verdicts])


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _show(value: object) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value).replace("_", " ")
