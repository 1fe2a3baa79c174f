"""Pages of objections: one objection with its steps, rival and replays, and how to object to a claim."""

from collections.abc import Sequence
from itertools import takewhile

from registry.cli.claim_presenter import REPLAYS, collect_objection, present_objection
from registry.present.blocks import Block, Subtitle, Title
from registry.records.supplement import SpecRole, Supplement
from registry.report.status_account import describe_state
from registry.store.registry_view import View
from web.pages.addresses import Linker
from web.pages.audit_pages import build_audit_row
from web.pages.layout import PageLink, PageText, render, show_blocks

_STEPS = (
    ("To the claim: record what is wrong with it.", 'caveat contest open {claim} --reason "…"'),
    ("To a definition: record the objection, and offer a rival. Anyone may then audit under it.",
     'caveat contest open {definition} --rival CTX-… --reason "…"'),
    ("The owner answers. If you disagree, pass it to an authority that is neither owner nor objector.",
     'caveat contest escalate CON-… --to CODE --reason "…"'),
)  # fmt: skip


def render_objection(view: View, name: str, link: Linker) -> bytes:
    """Return the page of the objection *name*; raises NotFoundError where a text that it rests on was erased."""
    page = collect_objection(view, name)
    objection = page.file.objection.payload
    presented = (block for block in present_objection(page).blocks or () if not isinstance(block, Title))
    # Replays have a table of their own.
    blocks: list[Block] = list(takewhile(lambda block: not (isinstance(block, Subtitle) and block.text == REPLAYS), presented))
    replays = [file.audit.payload for file in page.replays]
    known = {objection.target, *(audit.audit for audit in replays), *(audit.claim for audit in replays)}
    known |= {objection.rival} if objection.rival else set()
    quote = None
    if objection.target.startswith("CLM-"):
        recorded = view.find_claim(objection.target)
        quote = recorded.payload.quote if recorded else None
    facts = {
        "state_words": describe_state(page.file),
        "is_settled": page.file.is_settled,
        "quote": quote,
        "target": PageLink(text=objection.target, href=link(f"/{objection.target}/"), is_code=True),
        "body": show_blocks(
            blocks,
            find=lambda found: link(f"/{found}/") if found in known else None,
            whole=link(f"/{objection.rival}.json") if objection.rival else None,
        ),
        "has_rival": objection.rival is not None,
        "rows": tuple(build_audit_row(file, view, link) for file in page.replays),
    }
    text = PageText(title=f"Objection {name}", description=f"{name} contests {objection.target}", origin=view.log_origin, state="")
    return render("objection.html.j2", text, facts, link)


def render_contest(supplement: Supplement, erased: Sequence[str], link: Linker) -> bytes:
    """Return the page on how to object to the claim of *supplement*, with the objections that there are.

    Args:
        erased: the objections, `CON-…`, of which a text was erased.
    """
    claim = supplement.claim.payload
    definitions = [part for part in supplement.specs if part.role is not SpecRole.OTHER]
    contested = [claim.reference, *dict.fromkeys(part.reference for part in definitions if part.version is not None)]
    files = {file.objection.payload.objection: file for file in supplement.objections}
    files |= {file.objection.payload.objection: file for part in definitions for file in part.objections}
    listed = [
        PageLink(
            text=name,
            href=link(f"/{name}/"),
            is_code=True,
            note=f"against {file.objection.payload.target}, by {file.objection.payload.by}: {describe_state(file)}",
        )
        for name, file in files.items()
    ]
    facts = {
        "claim": PageLink(text=claim.reference, href=link(f"/{claim.reference}/"), is_code=True),
        "quote": claim.quote,
        "steps": [(sentence, command.format(claim=claim.reference, definition=contested[-1])) for sentence, command in _STEPS],
        "contested": [PageLink(text=name, href=link(f"/{name}/"), is_code=True) for name in contested],
        "objections": listed
        + [PageLink(text=name, href=link(f"/{name}/"), is_code=True, note="a text of it was erased") for name in erased],
    }
    text = PageText(title=f"How to object to {claim.claim}", origin=supplement.log_origin, state="", feed=f"/{claim.claim}/")
    return render("contest.html.j2", text, facts, link)
