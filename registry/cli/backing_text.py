"""Who stands behind statements, as a terminal and as JSON tell it."""

from collections.abc import Iterator, Mapping

from rich.console import Console

from registry.cli.output import show
from registry.records.dossier import Dossier
from registry.records.statement import Entry
from registry.seal.statement_signature import Backing

Backed = Mapping[int, Backing | None]
"""By number of the entry; None where its signature is wrong."""

_SHORT = {Backing.AUTHOR: "author", Backing.OPERATOR: "operator", Backing.WITHDRAWN: "operator (key revoked)", None: "WRONG"}
_LONG = {
    Backing.AUTHOR: "signed by its author",
    Backing.OPERATOR: "asserted by the registry's operator",
    Backing.WITHDRAWN: "signed with a key that was revoked since: asserted by the registry's operator",
    None: "its signature is WRONG: caveat log check",
}
_LEGEND = "author: signed with a key of the authority that it names; operator: asserted by the registry's operator"


def name_backing(backing: Backing | None) -> str:
    """Return who stands behind a statement, as one word of a document."""
    return "wrong" if backing is None else backing.value


def shorten_backing(backing: Backing | None) -> str:
    """Return who stands behind a statement, for a cell of a table."""
    return _SHORT[backing]


def print_legend(console: Console) -> None:
    """Print what the words of the column mean."""
    console.print(_LEGEND, soft_wrap=True)


def list_backed(dossier: Dossier) -> Iterator[tuple[str, Entry]]:
    """Yield the statements that a claim and its audits rest on, with what they are."""
    if dossier.revisions:
        yield "claim", dossier.current.entry
    for file in dossier.audits:
        yield f"audit {file.audit.payload.audit}", file.audit.entry
        if file.lock is not None:
            yield "its lock", file.lock.entry
        if file.restrictions:
            yield "its outcome", file.restrictions[-1].entry
    for endpoint in dossier.model_endpoints:
        yield f"endpoint name {endpoint.payload.name}", endpoint.entry
    for contestation in dossier.contestations:
        yield f"contestation {contestation.contestation.payload.contestation}", contestation.contestation.entry


def print_backed(console: Console, dossier: Dossier, backed: Backed) -> None:
    """Print who stands behind each statement that a claim and its audits rest on."""
    listed = list(list_backed(dossier))
    if listed:
        console.print("\nwho stands behind it", style="bold")
    for what, entry in listed:
        console.print(show(f"  {what} by {entry.actor}, entry {entry.seq}: {_LONG[backed[entry.seq]]}"), soft_wrap=True)
