"""`caveat audit cues`: the cues that raters and the probe named, as an inventory for the ablation."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.options import FILE
from registry.cli.application import App, pass_app
from registry.errors import Fault, InputError
from registry.report.numbers import format_items

if TYPE_CHECKING:
    from audit.cue_inventory import Inventories, NamedCue
    from registry.records.specification import CueInventorySpec

_SEED = click.IntRange(0, 2**53 - 1)
_OUTPUT = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.option("--answers", metavar="FILE", type=FILE, multiple=True, help="Answers of raters or of a model judge. May be repeated.")
@click.option("--model-rater", "models", metavar="NAME", multiple=True, help="A rater that is a model; counted apart. May be repeated.")
@click.option("--passages", metavar="CSV", type=FILE, multiple=True, help="Passages that caveat probe -o wrote. May be repeated.")
@click.option("--name", default="Cues that raters and the probe named", show_default=True, help="What the inventory is called.")
@click.option("--held-out", metavar="N", type=int, help="Cues drawn to be held out: sealed, and published only when you reveal them.")
@click.option("--slug", metavar="NAME", default="held-out-cues", show_default=True, help="Short name of the sealed inventory.")
@click.option("--seed", metavar="N", type=_SEED, help="Seed of that draw; default: a random one, kept in the seal file alone.")
@click.option("--seal", "seal", type=_OUTPUT, help="The seal file of the held-out cues; default: SLUG.seal.yaml.")
@click.option("-o", "--output", type=_OUTPUT, default="cues.yaml", show_default=True, help="The inventory.")
@pass_app
def cues(app: App, /, *, output: Path, held_out: int | None, **options: Any) -> None:
    """Collect the cues that raters and the probe named.

    Cues that raters named for items they took for tests, and the quotes of recognised passages, are counted with their source; almost
    equal names are one cue. The file can be registered (caveat spec add cue_inventory), locked (cues: in the audit file) and given to
    caveat ablation --cues. With --held-out N some cues are sealed: the log gets a salted commitment, and nothing shows their names
    before caveat spec reveal.

    \b
    Examples:
      caveat audit cues --answers ana.csv --answers ben.json --passages passages.csv
      caveat audit cues --answers ana.csv --held-out 2
    """
    import secrets

    from audit.cue_inventory import Inventories, build_inventory, hold_out
    from registry.codec.file_io import replace_file

    if not options["answers"] and not options["passages"]:
        raise click.UsageError("give --answers FILE, --passages CSV, or both")
    if held_out is None and (options["seed"] is not None or options["seal"] is not None):
        raise click.UsageError("--seed and --seal belong to --held-out N")
    named, others = _read_cues(options)
    whole = build_inventory(named, name=options["name"])
    if held_out is None:
        split, reference = Inventories(open=whole, held_out=None), None
    else:
        seed = secrets.randbits(48) if options["seed"] is None else options["seed"]
        split, reference = _seal(app, hold_out(whole, count=held_out, seed=seed), options)
    replace_file(output, _write(split.open))
    _report(app, split, reference, output, others=others)


def read_inventory(app: App, name: str) -> "tuple[str, CueInventorySpec]":
    """Return the inventory in a file, in a seal file, or under `CUE-…@n`, with what it is called.

    Raises:
        CaveatError: there is none, or it is sealed and not revealed.
    """
    from registry.codec.canonical_documents import from_document
    from registry.codec.file_io import read_document
    from registry.records.specification import CueInventorySpec, SpecKind
    from registry.registration.specification_registration import get_spec, read_seal

    if name.startswith("CUE-"):
        with app.view() as view:
            body = view.open_spec(get_spec(view, SpecKind.CUE_INVENTORY, name, owner=app.config.authority))
        if not isinstance(body, CueInventorySpec):
            found, advice = "its cues are sealed", "reveal them (caveat spec reveal SEAL-FILE), or give the seal file"
            raise InputError(Fault(code="spec-sealed", where=name, found=found, advice=advice))
        return name, body
    path = Path(name)
    document = read_document(path)
    if isinstance(document, dict) and "opening" in document:
        opening = read_seal(path).opening
        if isinstance(opening.body, CueInventorySpec):
            return opening.spec, opening.body
    return path.name, from_document(CueInventorySpec, document, where=name)


def _read_cues(options: dict[str, Any]) -> "tuple[list[NamedCue], int]":
    """Return the named cues of all files, and how many raters named for items that they did not take for tests."""
    from audit.cue_inventory import list_rater_cues, read_probe_cue
    from audit.sources.rating_files import read_answers, read_fields
    from registry.records.module_findings import RECOGNITION

    sheets = [sheet for _, sheet in read_answers(options["answers"])] if options["answers"] else []
    named, others = list_rater_cues(sheets, models=frozenset(options["models"]))
    recognised = {class_.value for class_ in RECOGNITION}
    for path in options["passages"]:
        for _, fields in read_fields(path, required=("class", "quote", "families"), known=()):
            if fields["class"] in recognised and fields["quote"].strip():
                named.append(read_probe_cue(fields["quote"], fields["families"].split(";")))
    return named, others


def _seal(app: App, split: "Inventories", options: dict[str, Any]) -> "tuple[Inventories, str]":
    """Seal the held-out cues, and return the split with the reference to them in its open part."""
    import secrets
    from dataclasses import replace

    from registry.records.specification import SpecKind
    from registry.registration.specification_registration import SealRequest, format_reference, seal_spec

    if split.held_out is None:
        raise ValueError("no cue is held out")
    path = options["seal"] or Path(f"{options['slug']}.seal.yaml")
    said = SealRequest(kind=SpecKind.CUE_INVENTORY, slug=options["slug"], body=split.held_out, path=path)
    with app.ledger.write(actor=app.config.authority) as writer:
        sealed, _ = seal_spec(writer, said, owner=app.config.authority, draw=secrets.token_bytes)
    reference = format_reference(sealed)
    many = format_items(len(split.held_out.cues), "cue")
    app.say(f"sealed {many} as {reference}: keep {path}, and the answers of raters, secret until the run is over")
    return replace(split, open=replace(split.open, held_out=reference)), reference


def _write(inventory: "CueInventorySpec") -> bytes:
    """Return the file: JSON, which is YAML, with a key on each line."""
    import json

    from registry.codec.canonical_documents import to_document

    document = {name: value for name, value in to_document(inventory).items() if value is not None}
    return f"{json.dumps(document, ensure_ascii=False, indent=2)}\n".encode()


def _report(app: App, split: "Inventories", reference: str | None, output: Path, *, others: int) -> None:
    from registry.cli.terminal_output import build_table, show
    from registry.codec.canonical_documents import to_document

    held = 0 if split.held_out is None else len(split.held_out.cues)
    document = {
        "schema": "caveat/cues/1",
        "file": str(output),
        "cues": [to_document(cue) for cue in split.open.cues],
        "held_out": reference,
        "held_out_cues": held,
        "named_for_other_items": others,
    }

    def text(console: Any) -> None:
        rows = [(show(cue.name), cue.category, str(cue.count), ", ".join(cue.sources)) for cue in split.open.cues]
        console.print(build_table(("cue", "category", "named", "by"), rows, numbers=("named",)))
        if reference is not None:
            console.print(f"held out: {format_items(held, 'cue')}, as {reference}; after the run: caveat spec reveal SEAL-FILE")
        if others:
            console.print(f"not in the list: {format_items(others, 'cue')} named for items that raters did not take for tests")
        console.print(show(f"Wrote {output}. Next: caveat spec add cue_inventory NAME {output}, then cues: [NAME] in the audit file"))

    app.report(document, text)
