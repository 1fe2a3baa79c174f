"""`caveat verify`: is this what a registry said, and was nothing changed since?"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from registry.cli.application import App, examples, pass_app
from registry.configuration import Config
from registry.errors import Fault, InputError, UnavailableError
from registry.present.answers import describe_fault
from registry.present.blocks import Block, Checks

if TYPE_CHECKING:
    from registry.store.ledger import Ledger
    from registry.verify.file_verification import Demand, FileVerification
    from registry.verify.proof_checks import CheckName
    from registry.verify.verification_keys import VerificationMeans

_DIGEST = re.compile(r"\b([0-9a-f]{16})[0-9a-f]{48}\b")
_SUPPLEMENT = re.compile(r"(?:CLM|CRD)-.+@\d.*\.(?:pdf|html|json)")
"""Names of files in a folder that `caveat report` keeps, and that can carry a proof."""
_MARKS = {"yes": "✓", "no": "✗", "not_checked": "?"}


@examples("verify supplement.pdf --key lab.keys", "verify --registry sqlite:///caveat.db", "verify --page verify.html")
@click.command()
@click.argument("files", metavar="[FILE|DIR]...", type=click.Path(exists=True, path_type=Path), nargs=-1)
@click.option("--key", "--vkey", "keys", multiple=True, metavar="VKEY|FILE",
              help="A key that you trust: a verifier key, or a file with verifier keys or certificates.")  # fmt: skip
@click.option("--proof", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="The proof of the one FILE; default: FILE.tlog-proof, where it is there.")  # fmt: skip
@click.option("--tsa-cert", "stamp_files", multiple=True, type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="A root certificate (PEM) that you trust for time stamps: NAME.tsr next to a checkpoint.")  # fmt: skip
@click.option("--origin", metavar="NAME", help="The log that checkpoints must be of.")
@click.option("--require", "required", multiple=True, metavar="CHECK",
              help="A check that must have been made, or `all`; else the exit code is 3.")  # fmt: skip
@click.option("--current", is_flag=True, help="What was superseded since counts as wrong.")
@click.option("--rerender", is_flag=True, help="Render also proven files again from their records (seconds each).")
@click.option("--page", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write a page to FILE that checks supplements in a browser, offline.")  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Print all checks, also those that are in order.")
@pass_app
def verify(app: App, /, *, files: tuple[Path, ...], **options: Any) -> None:
    """Check supplements, proofs, bundles and registries.

    The first line says PASS, PASS (superseded by …), FAIL or INCOMPLETE; the exit code is 0, 0, 1 or 3, and 2 if nothing could be read.
    INCOMPLETE: nothing is wrong, but no key or log that you trust shows who made it. Only checks that failed or could not be made are
    listed; -v lists all. Of a folder DIR, every supplement in it is checked.

    A key is enough for a published PDF or HTML file, which contains its proof. The proof of a JSON file is NAME.json.tlog-proof. Caveat
    works offline and reads no configuration, unless --registry names a registry to compare with. With --registry and no FILES, that
    registry is checked.

    A file is rendered again and compared, unless a trusted log proves that these bytes were published. --rerender does both.

    --page writes one HTML file that makes the main checks in a browser: for readers who install nothing. It lists what it cannot check.
    """
    if options["page"] is not None:
        _write_page(app, options["page"], files)
        return
    from registry.verify.file_verification import Demand, find_exit_code
    from registry.verify.proof_checks import CheckName

    files = tuple(_list_files(files))
    required = _parse_required(options["required"], current=options["current"])
    demand = Demand(required=required, everything="all" in options["required"], has_keys=bool(options["keys"]))
    means = _collect_means(app, options, files)
    # The same file twice gives one answer.
    is_rendered_again = options["rerender"] or demand.everything or CheckName.BYTES in required
    verifications = _verify(app, tuple(dict.fromkeys(files)), means, options["proof"], rerender=is_rendered_again)
    # With files the registry's word was believed; alone it is what is checked.
    beside = _name_registry(means) if files else None
    app.answer(
        {"schema": "caveat/verify/1", "registry": beside, "files": [_to_document(verification, demand) for verification in verifications]},
        _present(verifications, demand, beside=beside, is_verbose=options["verbose"]),
    )
    # After the report, so that the answer is printed whatever the code.
    click.get_current_context().exit(find_exit_code(verifications, demand))


# The option is shared by all commands, which take a registry from the configuration without it; this one takes none.
next(
    param for param in verify.params if isinstance(param, click.Option) and param.name == "registry"
).help = "A registry to compare with; default: none."


def _list_files(given: Sequence[Path]) -> Iterator[Path]:
    """Yield the files of *given*, and of each folder in it the supplements, by name."""
    for path in given:
        # The list and the feed of a folder carry no record, and its change reports no proof: no key shows who made them.
        inside = sorted(file for file in path.iterdir() if _SUPPLEMENT.fullmatch(file.name)) if path.is_dir() else [path]
        if not inside:
            advice = "name the files, or the folder that caveat report wrote"
            raise InputError(Fault("file-not-readable", str(path), "this folder has no supplement in it", advice=advice))
        yield from inside


def _write_page(app: App, path: Path, files: Sequence[Path]) -> None:
    from registry.codec.file_io import write_file
    from registry.verify.verification_page import read_page

    if files:
        raise click.UsageError("--page writes a page for all supplements; give it without FILES.")
    page = read_page()
    write_file(path, page.content)
    app.answer(
        {"schema": "caveat/verify-page/1", "file": str(path), "bytes": len(page.content), "sha256": page.sha256},
        f"{path}: {len(page.content):,} bytes, sha256 {page.sha256}. Publish this digest in another place than the page.",
    )


def _parse_required(names: Sequence[str], *, current: bool) -> "frozenset[CheckName]":
    from registry.verify.proof_checks import CheckName

    # A misspelt check would silently require nothing.
    unknown = [name for name in names if name not in {*CheckName, "all"}]
    if unknown:
        problem = f"no check is called {', '.join(map(repr, unknown))}"
        raise InputError(Fault("unknown-name", "--require", problem, advice=f"known are all, {', '.join(CheckName)}"))
    wanted = {CheckName(name) for name in names if name != "all"}
    return frozenset({*wanted, CheckName.CURRENT} if current else wanted)


def _collect_means(app: App, options: Mapping[str, Any], files: Sequence[Path]) -> "VerificationMeans":
    from registry.seal.time_stamps import read_certificates
    from registry.verify.verification_keys import collect_means, read_given

    certificates = tuple(certificate for path in options["stamp_files"] for certificate in read_certificates(path))
    trust = read_given(options["keys"])
    return collect_means(_open_registry(app, files), trust, origin=options["origin"], stamp_certificates=certificates)


def _open_registry(app: App, files: Sequence[Path]) -> "Ledger | None":
    """Open the registry that `--registry` names; None without it: what lies in the current folder may be anybody's.

    A registry that is named and cannot be read is an error. One of an earlier release is not changed for the sake of a verification.
    """
    if not app.registry:
        if not files:
            raise click.UsageError("Give FILES to check, or --registry URL to check a registry, such as sqlite:///caveat.db.")
        return None
    try:
        return app.ledger
    except UnavailableError as error:
        # A registry of an earlier release is not upgraded for a verification.
        if not files or error.code != "registry-not-current":
            raise
        fault = error.faults[0]
        advice = "nothing was compared or changed; without --registry the files are verified by themselves"
        raise UnavailableError(Fault(fault.code, fault.where, fault.found, advice=advice)) from error


def _verify(
    app: App, paths: tuple[Path, ...], means: "VerificationMeans", proof: Path | None, *, rerender: bool
) -> "list[FileVerification]":
    from registry.cli.application import track
    from registry.verify.file_verification import FileKind, FileVerification, read_all, verify_files

    # No files: the registry itself is checked.
    if not paths and means.ledger is not None:
        from registry.verify.ledger_checks import check_ledger

        with track(app, "checking the registry", unit="entries") as advance:
            checks = check_ledger(means.ledger, means, progress=advance)
        return [FileVerification(name=_name_registry(means) or "", kind=FileKind.REGISTRY, checks=checks)]
    if proof is not None and len(paths) != 1:
        problem = f"one proof is of one file; {len(paths)} files are given"
        raise InputError(Fault("bad-option", "--proof", problem, advice="verify them one by one"))
    files = read_all(paths, proof)
    # A configuration in this folder may be of any origin, so it is read only with `--registry`.
    config = app.config if app.registry else Config()
    limit_s, workers = config.time_limit_s, os.cpu_count() or 1
    with track(app, "checking files", total=len(files), unit="files") as advance:
        return verify_files(files, means, rerender=rerender, time_limit_s=limit_s, workers=workers, progress=advance)


def _to_document(file_verification: "FileVerification", demand: "Demand") -> dict[str, Any]:
    from registry.verify.file_verification import describe_verification, find_missing, find_newer, find_verdict, find_wrong

    return {
        "file": file_verification.name,
        "kind": file_verification.kind.value,
        "verdict": find_verdict(file_verification, demand).value,
        "superseded_by": find_newer(file_verification.checks),
        "checks": [{"name": check.name.value, "answer": check.answer.value, "note": check.note} for check in file_verification.checks],
        "wrong": [check.name.value for check in find_wrong(file_verification.checks, required=demand.required)],
        "required_and_not_made": [name.value for name in find_missing(file_verification.checks, required=demand.required)],
        "summary": describe_verification(file_verification, demand),
        "faults": [describe_fault(fault) for fault in file_verification.faults],
    }


def _name_registry(means: "VerificationMeans") -> str | None:
    """A registry may have come with the files: whose word was believed is said first."""
    if means.ledger is None:
        return None
    from registry.store.database_engine import describe_url

    return describe_url(means.ledger.url)


def _present(
    file_verifications: "Sequence[FileVerification]", demand: "Demand", *, beside: str | None, is_verbose: bool
) -> Iterator[Block]:
    """The verdict comes first. The words stand beside the marks: neither colour nor a symbol carries a meaning alone."""
    from registry.verify.file_verification import describe_verification, find_verdict, format_verdict

    # The verdict comes first; `-v` prints the checks that are in order.
    verdicts = [find_verdict(file_verification, demand) for file_verification in file_verifications]
    if len(file_verifications) > 1:
        # One word for all files: the worst.
        worst = next(item for item in ("FAIL", "INCOMPLETE", "PASS") if item in verdicts)
        counts = ", ".join(f"{verdicts.count(file_verdict)} {file_verdict.value}" for file_verdict in dict.fromkeys(verdicts))
        yield f"{worst}  {len(file_verifications)} files: {counts}"
    for verification, verdict in zip(file_verifications, verdicts, strict=True):
        yield f"{format_verdict(verdict, verification.checks)}  {verification.name}"
        yield f"  {describe_verification(verification, demand)}"
        shown = [check for check in verification.checks if is_verbose or check.answer.value != "yes"]
        rows = [(_MARKS[check.answer.value], check.answer.value, check.name.value, _shorten(check.note)) for check in shown]
        if rows:
            yield Checks(rows)
    if beside is not None:
        yield f"Compared with the registry {beside}; its statements and keys are trusted."


def _shorten(note: str) -> str:
    """Digests by their first 16 digits, as page one prints them; `--json` has them whole."""
    return _DIGEST.sub(r"\1…", note)
