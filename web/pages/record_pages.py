"""Pages of audits, objections and definitions, by their names."""

from registry.errors import NotFoundError
from registry.records.record import Kind, parse_identifier
from registry.store.registry_view import View
from web.pages.addresses import Linker
from web.pages.audit_pages import render_audit
from web.pages.definition_pages import render_definition, write_record
from web.pages.layout import PageText, render
from web.pages.log_pages import build_entry_rows
from web.pages.objection_pages import render_objection

__all__ = ["render_record", "write_record"]


def render_record(view: View, name: str, link: Linker, *, is_used: bool) -> tuple[bytes, bool]:
    """Return the page of the record *name*, `AUD-…`, `CON-…` or `CTX-…@n`, and whether a text that it rests on was erased.

    Args:
        is_used: of a property, whether a list of the claims about it has a page.
    """
    try:
        match parse_identifier(name).kind:
            case Kind.AUDIT:
                return render_audit(view, name, link), False
            case Kind.OBJECTION:
                return render_objection(view, name, link), False
            case _:
                return render_definition(view, name, link, is_used=is_used), False
    except NotFoundError as error:
        if error.code != "body-erased":
            raise
        return _render_rest(view, name, link), True


def _render_rest(view: View, name: str, link: Linker) -> bytes:
    """Return the page of a record of which a text was erased: its entries, with what is left of each."""
    bare = name.partition("@")[0]
    entries = build_entry_rows(view.trail(parse_identifier(bare)), link, leave_out=bare)
    group = {
        "key": "entries", "title": "Entries", "note": "Only the erased texts are missing.", "claims": (), "entries": entries, "links": (),
        "caption": "In the order of the log",
    }  # fmt: skip
    text = PageText(title=f"{name}: text erased", origin=view.log_origin, state="")
    return render("blocks.html.j2", text, {"body": "", "redline": (), "groups": (group,)}, link)
