"""Pages of cards, model versions and authorities."""

from collections.abc import Mapping, Sequence

from registry.cli.model_presenter import collect_version, present_forests, present_version
from registry.errors import Fault, NotFoundError
from registry.present.blocks import Block, Facts, Table, Title
from registry.present.html_fragment import render_fragment
from registry.records.model_version import ModelRef
from registry.registration.key_registration import KeyState, list_keys
from registry.registration.log_survey import list_versions
from registry.store.registry_view import View
from web.facets import ClaimFilter, ClaimSource
from web.pages.addresses import Linker, find_authority_page, find_model_page
from web.pages.layout import PageLink, PageText, render
from web.pages.list_pages import build_rows

_MOST_CLAIMS = 500


def list_models(view: View) -> tuple[ModelRef, ...]:
    """Return every model version that is registered or that a claim names."""
    return tuple(dict.fromkeys([*(version.payload.model for version in view.list_models()), *view.list_claimed_models()]))


def list_codes(view: View) -> tuple[str, ...]:
    """Return the code of every authority that is registered."""
    return tuple(one.payload.code for one in view.list_authorities())


def _state(view: View) -> str:
    return f"As of entry {view.log_size:,}."


def _render_blocks(view: View, title: str, blocks: Sequence[Block], groups: Sequence[dict[str, object]], link: Linker) -> bytes:
    text = PageText(title=title, origin=view.log_origin, state=_state(view))
    # The title is the heading of the page.
    body = render_fragment((block for block in blocks if not isinstance(block, Title)), level=1)
    return render("blocks.html.j2", text, {"body": body, "redline": (), "groups": tuple(groups)}, link)


def _group(key: str, title: str, **parts: object) -> dict[str, object]:
    return {"key": key, "title": title, "note": None, "claims": (), "entries": (), "links": (), "caption": "", **parts}


def _group_claims(view: View, claims: ClaimSource, link: Linker, chosen: Mapping[str, str]) -> dict[str, object]:
    """Return the latest claims with these values of facets."""
    wanted = ClaimFilter(chosen={facet: (value,) for facet, value in chosen.items()})
    selection = claims.select(wanted, limit=_MOST_CLAIMS)
    shown = build_rows(view, selection.claims, link)
    count = f"{selection.total:,} claim{'' if selection.total == 1 else 's'}"
    caption = count if len(shown) == selection.total else f"The latest {len(shown):,} of {count}"
    return _group("claims", "Claims", claims=shown, caption=f"{caption}, the latest first")


def render_cards(view: View, link: Linker) -> bytes:
    """Return the list of cards."""
    links = [
        PageLink(
            text=card.payload.title,
            href=link(f"/{card.payload.card}/"),
            note=f"{card.payload.publisher}, {card.payload.card}, revision {card.payload.revision}",
        )
        for card in view.list_cards()
    ]
    return _render_blocks(view, "System cards", [], [_group("cards", "Registered cards", links=tuple(links))], link)


def render_models(view: View, link: Linker) -> bytes:
    """Return the list of model versions with their lineage."""
    versions = list_versions(view, log="")
    links = [PageLink(text=str(model), href=link(find_model_page(model))) for model in list_models(view)]
    blocks = list(present_forests(versions)) if versions else ["No model version is registered."]
    return _render_blocks(view, "Model versions", blocks, [_group("versions", "Versions", links=tuple(links))], link)


def render_model(view: View, claims: ClaimSource, model: ModelRef, link: Linker) -> bytes:
    """Return the page of one model version: registration, lineage, endpoint names and claims."""
    page = collect_version(view, model)
    # The last line of a terminal's answer is a command for the owner of the registry.
    blocks = [block for block in present_version(page).blocks or () if not (isinstance(block, str) and block.startswith("\nNext:"))]
    relatives = dict.fromkeys(
        [*(one.predecessor for one in page.comes_from), *page.ancestors, *(one.model for one in page.followed_by), *page.newest]
    )
    links = [PageLink(text=str(one), href=link(find_model_page(one))) for one in relatives if one in list_models(view)]
    named = {"developer": model.developer, "model": model.name, "version": model.version}
    groups = [_group("lineage", "Lineage", links=tuple(links)), _group_claims(view, claims, link, named)]
    return _render_blocks(view, str(model), blocks, groups, link)


def render_authorities(view: View, link: Linker) -> bytes:
    """Return the list of authorities."""
    links = [
        PageLink(
            text=f"{one.payload.name} ({one.payload.code})",
            href=link(find_authority_page(one.payload.code)),
            note=one.payload.role.value,
        )
        for one in view.list_authorities()
    ]
    return _render_blocks(view, "Authorities", [], [_group("authorities", "Registered authorities", links=tuple(links))], link)


def render_authority(view: View, claims: ClaimSource, code: str, link: Linker) -> bytes:
    """Return the page of one authority: role, keys, claims, and audits of its own and of others."""
    recorded = view.find_authority(code)
    if recorded is None:
        raise NotFoundError(Fault("address-not-found", link.here, f"no authority {code} is registered"))
    keys = [_describe_key(state) for state in list_keys(view) if state.added.entry.actor == code]
    audits = view.list_audits()
    own = [file for file in audits if file.audit.payload.auditor == code]
    of_others = sum(file.audit.payload.claim.split("-")[1] != code for file in own)
    by_others = sum(file.audit.payload.claim.split("-")[1] == code and file.audit.payload.auditor != code for file in audits)
    facts = [
        ("code", code),
        ("role", recorded.payload.role.value),
        ("registered", f"entry {recorded.entry.seq:,}, {recorded.entry.at:%Y-%m-%d}"),
        ("audits", f"{len(own):,}, of which {of_others:,} of claims of others"),
        ("audits by others of its claims", f"{by_others:,}"),
    ]
    blocks: list[Block] = [Facts(facts)]
    columns = ("purpose", "fingerprint", "since", "state", "verifier key")
    blocks.append(Table(columns, keys) if keys else "No key of this authority is in the log.")
    return _render_blocks(view, recorded.payload.name, blocks, [_group_claims(view, claims, link, {"authority": code})], link)


def _describe_key(state: KeyState) -> tuple[str, ...]:
    added = state.added
    standing = "in force" if state.in_force else "revoked" if state.revoked else "replaced"
    since = f"entry {added.entry.seq:,}, {added.entry.at:%Y-%m-%d}"
    return added.payload.purpose.value, state.fingerprint[:16], since, standing, added.payload.vkey or added.payload.public or "–"
