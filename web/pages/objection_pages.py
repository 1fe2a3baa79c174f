"""Pages of objections: one objection with its steps, rival and replays, and how to object to a claim."""

from registry.cli.claim_presenter import collect_objection, present_objection
from registry.present.blocks import Block, Title
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
    blocks: list[Block] = [block for block in present_objection(page).blocks or () if not isinstance(block, Title)]
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
        "rows": tuple(build_audit_row(file, link) for file in page.replays),
    }
    text = PageText(title=f"Objection {name}", description=f"{name} contests {objection.target}", origin=view.log_origin, state="")
    return render("objection.html.j2", text, facts, link)


def render_contest(view: View, claim: str, link: Linker) -> bytes:
    """Return the page on how to object to the claim *claim*, `CLM-…`, with the objections that there are."""
    current = view.find_claim(claim)
    if current is None:
        raise ValueError(f"{claim} has no revision")
    reference = current.payload.reference
    definitions = [name for name in (current.payload.property, current.payload.scoring, current.payload.test_context) if name]
    contested = [reference, *dict.fromkeys([*definitions, *current.payload.deploy_contexts])]
    known = {reference, *view.list_spec_versions({name.partition("@")[0] for name in contested[1:]})}
    # Those against earlier revisions concern the claim too.
    targets = [claim, *contested[1:]]
    files = [file for name in targets for file in view.list_objections(name)]
    erased = [name for target in targets for name in view.list_erased_objections(target)]
    facts = {
        "claim": PageLink(text=reference, href=link(f"/{reference}/"), is_code=True),
        "quote": current.payload.quote,
        "steps": [(sentence, command.format(claim=reference, definition=contested[-1])) for sentence, command in _STEPS],
        "contested": [PageLink(text=name, href=link(f"/{name}/"), is_code=True) for name in contested if name in known],
        "objections": [
            PageLink(
                text=file.objection.payload.objection,
                href=link(f"/{file.objection.payload.objection}/"),
                is_code=True,
                note=f"against {file.objection.payload.target}, by {file.objection.payload.by}: {describe_state(file)}",
            )
            for file in files
        ]
        + [PageLink(text=name, href=link(f"/{name}/"), is_code=True, note="a text of it was erased") for name in erased],
    }
    text = PageText(title=f"How to object to {claim}", origin=view.log_origin, state="", feed=f"/{claim}/")
    return render("contest.html.j2", text, facts, link)
