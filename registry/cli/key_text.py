"""Keys as people read them."""

from collections.abc import Mapping, Sequence
from datetime import time
from typing import Any

from rich.console import Console

from registry.cli.output import build_table
from registry.registration.key_registration import KeyState
from registry.seal.keys import format_fingerprint
from registry.seal.pem import format_certificate


def describe_state(state: KeyState) -> dict[str, Any]:
    """Return a key and what became of it, for `--json`."""
    said, revoked = state.added.payload, state.revoked
    since = revoked.payload.untrusted_from if revoked else None
    return {
        "fingerprint": state.fingerprint,
        "purpose": said.purpose.value,
        "algorithm": said.algorithm.value,
        "authority": state.added.entry.actor,
        "in_force": state.in_force,
        "added": state.added.entry.seq,
        "replaced": state.replaced.entry.seq if state.replaced else None,
        "revoked": revoked.entry.seq if revoked else None,
        "untrusted_from": since.isoformat() if since else None,
        "vkey": said.vkey,
        "certificate": said.certificate,
        "public": said.public,
    }


def print_keys(console: Console, origin: str, states: Sequence[KeyState], here: Mapping[str, str]) -> None:
    """Print a table of keys, with the file of each secret that is here."""
    if not states:
        console.print(f"The log {origin or '(without a name yet)'} names no key: caveat key add makes one.")
        return
    rows = [
        (
            state.fingerprint[:16],
            state.added.payload.purpose.value,
            state.added.payload.algorithm.value,
            str(state.added.entry.seq),
            _describe_standing(state),
            here.get(state.fingerprint, "–"),
        )
        for state in states
    ]
    console.print(f"Keys of {origin}")
    console.print(build_table(("key", "signs", "algorithm", "entry", "standing", "secret"), rows))


def print_shown(console: Console, states: Sequence[KeyState], *, is_public_only: bool) -> None:
    """Print each key with its fingerprint in groups and what others verify with, or the last alone."""
    for state in states:
        if not is_public_only:
            _print_head(console, state)
        _print_public(console, state)


def _print_head(console: Console, state: KeyState) -> None:
    said, entry = state.added.payload, state.added.entry
    console.print(
        f"{said.purpose.value.capitalize()} key of {entry.actor}, {said.algorithm.value}, by entry {entry.seq}: {_describe_standing(state)}"
    )
    console.print("  fingerprint (SHA-256 of the public key)")
    for line in format_fingerprint(state.fingerprint).splitlines():
        console.print(f"    {line}")
    console.print("  certificate" if said.certificate else "  verifier key")


def _print_public(console: Console, state: KeyState) -> None:
    said = state.added.payload
    text = said.vkey or said.public or format_certificate(said.certificate or "").rstrip("\n")
    console.print(text, soft_wrap=True, no_wrap=True, overflow="ignore", crop=False)


def _describe_standing(state: KeyState) -> str:
    if state.revoked is not None:
        since = state.revoked.payload.untrusted_from
        day = "" if since is None else f" from {since:%Y-%m-%d}" + ("" if since.time() == time() else f" {since:%H:%M}")
        return f"revoked{day} (entry {state.revoked.entry.seq})"
    return f"replaced by entry {state.replaced.entry.seq}" if state.replaced else "in force"
