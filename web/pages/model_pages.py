"""Pages of cards, model versions and authorities."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from registry.cli.claim_presenter import present_drift
from registry.cli.model_presenter import collect_version, present_forests, present_version
from registry.errors import Fault, NotFoundError
from registry.present.blocks import Block, Title
from registry.present.html_fragment import render_fragment
from registry.records.claim_status import Lifecycle, Staleness
from registry.records.model_version import ModelRef
from registry.registration.key_registration import KeyState, list_keys
from registry.registration.log_survey import list_versions
from registry.registration.model_lineage import ENDED
from registry.report.html_rendering import render_drift
from registry.report.supplement_wording import get_words
from registry.report.version_drift import build_drift, build_drift_figures
from registry.store.registry_view import View
from web.facets import ClaimFilter, ClaimSource
from web.pages.addresses import Linker, find_authority_page, find_model_page
from web.pages.audit_pages import AuditRow, build_audit_row
from web.pages.layout import PageLink, PageText, describe_state, render
from web.pages.list_pages import build_rows

_MOST_CLAIMS = 500
_MOST_DRIFTS = 6
_MOST_NAMED = 20
_MOST_AUDITS = 50


def list_models(view: View) -> tuple[ModelRef, ...]:
    """Return every model version that is registered or that a claim names."""
    # The page of each version asks for them.
    return view.once("listed_models", lambda: tuple(dict.fromkeys([*_list_registered(view), *view.list_claimed_models()])))


def _list_registered(view: View) -> Iterator[ModelRef]:
    return (version.payload.model for version in view.list_models())


def list_codes(view: View) -> tuple[str, ...]:
    """Return the code of every authority that is registered."""
    return tuple(one.payload.code for one in view.list_authorities())


def _render_blocks(view: View, title: str, blocks: Sequence[Block], groups: Sequence[dict[str, object]], link: Linker) -> bytes:
    text = PageText(title=title, origin=view.log_origin, state=describe_state(view, link))
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


def count_current(claims: ClaimSource, model: ModelRef) -> dict[str, int]:
    """Return how many claims about *model* have each verdict, without those at their end."""
    current = tuple(lifecycle.value for lifecycle in Lifecycle if lifecycle not in ENDED)
    selection = claims.select(ClaimFilter(chosen={**choose_model(model), "lifecycle": current}), limit=0)
    return {value.value: value.count for value in selection.facets["verdict"]}


def render_models(view: View, claims: ClaimSource, link: Linker) -> bytes:
    """Return the list of model versions with their lineage."""
    versions = list_versions(view, log="", count_claims=partial(count_current, claims))
    links = [PageLink(text=str(model), href=link(find_model_page(model))) for model in list_models(view)]
    blocks = list(present_forests(versions)) if versions else ["No model version is registered."]
    return _render_blocks(view, "Model versions", blocks, [_group("versions", "Versions", links=tuple(links))], link)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDrift:
    """How the figures of one claim moved from version to version."""

    claim: PageLink
    quote: str
    figures: tuple[str, ...]
    """Drawings, SVG."""
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleCauseRow:
    """One change that claims may not have survived, with these claims."""

    text: str
    entry: int
    claims: tuple[PageLink, ...]
    rest: int
    """How many claims more."""


def choose_model(model: ModelRef) -> dict[str, tuple[str, ...]]:
    """Return the values of facets that claims about *model* have."""
    return {"developer": (model.developer,), "model": (model.name,), "version": (model.version,)}


def render_model(view: View, claims: ClaimSource, model: ModelRef, link: Linker) -> bytes:
    """Return the page of one model version: registration, lineage, endpoint names, drift, what needs review, and claims."""
    page = collect_version(view, model)
    # The last line of a terminal's answer is a command for the owner of the registry.
    blocks = [block for block in present_version(page).blocks or () if not (isinstance(block, str) and block.startswith("\nNext:"))]
    relatives = dict.fromkeys(
        [*(one.predecessor for one in page.comes_from), *page.ancestors, *(one.model for one in page.followed_by), *page.newest]
    )
    listed = list_models(view)
    chosen = choose_model(model)
    facts = {
        "body": render_fragment((block for block in blocks if not isinstance(block, Title)), level=1),
        "lineage": tuple(PageLink(text=str(one), href=link(find_model_page(one))) for one in relatives if one in listed),
        "drifts": tuple(_list_drifts(view, claims, chosen, link)),
        "causes": tuple(_list_causes(view, claims, chosen, link)),
        "group": _group_claims(view, claims, link, {facet: values[0] for facet, values in chosen.items()}),
    }
    text = PageText(title=str(model), origin=view.log_origin, state=describe_state(view, link), feed=find_model_page(model))
    return render("model.html.j2", text, facts, link)


def _list_drifts(view: View, claims: ClaimSource, chosen: Mapping[str, tuple[str, ...]], link: Linker) -> Iterator[ShownDrift]:
    """Yield the claims that were applied to this version and that have an estimate of it or of an earlier one."""
    selected = claims.select(ClaimFilter(chosen=chosen), limit=_MOST_CLAIMS).claims
    revised = [claim.claim for claim in selected if claim.revision > 1]
    shown = 0
    for name in revised:
        try:
            dossier = view.dossier(name, skips_erased=True)
        except NotFoundError:
            # Its page says that a text was erased.
            continue
        drift = build_drift(dossier)
        figures = build_drift_figures(drift, most=1) if drift is not None else ()
        if drift is None or not figures:
            continue
        shown += 1
        if shown > _MOST_DRIFTS:
            return
        reference = dossier.current.payload.reference
        yield ShownDrift(
            claim=PageLink(text=reference, href=link(f"/{reference}/"), is_code=True),
            quote=dossier.current.payload.quote,
            figures=tuple(render_drift(figure) for figure in figures),
            body=render_fragment(present_drift(drift), level=3),
        )


def _list_causes(view: View, claims: ClaimSource, chosen: Mapping[str, tuple[str, ...]], link: Linker) -> Iterator[StaleCauseRow]:
    """Yield each cause by which claims about this version need review or are stale, the one of most claims first."""
    stale = (Staleness.NEEDS_REVIEW.value, Staleness.STALE.value)
    selected = claims.select(ClaimFilter(chosen={**chosen, "staleness": stale}), limit=_MOST_CLAIMS).claims
    names = {claim.claim: f"{claim.claim}@{claim.revision}" for claim in selected}
    groups: dict[tuple[int, str], list[str]] = {}
    for name, status in view.find_statuses(list(names)).items():
        for cause in status.causes:
            groups.setdefault((cause.entry or 0, cause.text), []).append(names[name])
    for (entry, text), concerned in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        links = tuple(PageLink(text=name, href=link(f"/{name}/"), is_code=True) for name in concerned[:_MOST_NAMED])
        yield StaleCauseRow(text=text, entry=entry, claims=links, rest=len(concerned) - len(links))


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
    """Return the page of one authority: role, keys, claims, its audits of others' claims, and audits by others of its claims."""
    recorded = view.find_authority(code)
    if recorded is None:
        raise NotFoundError(Fault("address-not-found", link.here, f"no authority {code} is registered"))
    own, by_others = view.list_audits_by(code), view.list_audits_of(code)
    audited = view.find_audited(own)
    of_others = tuple(name for name in own if audited[name].split("-")[1] != code)
    facts: dict[str, Any] = {
        "rows": [
            ("code", code),
            ("role", get_words(recorded.payload.role)),
            ("registered", f"entry {recorded.entry.seq:,}, {recorded.entry.at:%Y-%m-%d}"),
            ("audits", f"{len(own):,}, of which {len(of_others):,} of claims of others"),
            ("audits by others of its claims", f"{len(by_others):,}"),
        ],
        "keys": [_describe_key(state) for state in list_keys(view) if state.added.entry.actor == code],
        "audit_groups": (
            ("of-others", "Audits of claims of others", len(of_others), tuple(_build_audit_rows(view, of_others, link))),
            ("by-others", "Audits by others of its claims", len(by_others), tuple(_build_audit_rows(view, by_others, link))),
        ),
        "group": _group_claims(view, claims, link, {"authority": code}),
    }
    text = PageText(title=recorded.payload.name, origin=view.log_origin, state=describe_state(view, link), feed=find_authority_page(code))
    return render("authority.html.j2", text, facts, link)


def _build_audit_rows(view: View, names: Sequence[str], link: Linker) -> Iterator[AuditRow]:
    """Yield the latest of the audits *names*; those with an erased text are left to their own page."""
    for name in names[::-1][:_MOST_AUDITS]:
        try:
            file = view.find_audit(name)
        except NotFoundError:
            continue
        if file is not None:
            yield build_audit_row(file, view, link)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRow:
    """A key of an authority in a table of a page."""

    purpose: str
    fingerprint: str
    since: str
    standing: str
    text: str
    """Its verifier key, or the public key; `–` where the log has neither."""


def _describe_key(state: KeyState) -> KeyRow:
    added = state.added
    return KeyRow(
        purpose=added.payload.purpose.value.replace("_", " "),
        fingerprint=state.fingerprint[:16],
        since=f"entry {added.entry.seq:,}, {added.entry.at:%Y-%m-%d}",
        standing="in force" if state.in_force else "revoked" if state.revoked else "replaced",
        text=added.payload.vkey or added.payload.public or "–",
    )
