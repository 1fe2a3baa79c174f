"""The documents of `caveat site`, and those of the web, from which the JSON Schemas are made."""

from registry.present.answer_formats import AnswerFormat, answer
from web.api import formats


def list_formats() -> tuple[AnswerFormat, ...]:
    """Return the formats of the web: the first two are printed by commands, the others are answers of the server and files of a site."""
    written = {"folder": str, "log_size": int}
    return (
        answer("site-written", "site", **written, written=int, unchanged=int, removed=int, warnings=list[str]),
        answer("site-check", "site check", **written, newer_entries=int, files=int, links=int, faults=list[formats.FAULT]),
        answer("tiles-written", "admin log tiles", folder=str, written=int, unchanged=int, removed=int, logs=list[str]),
        *formats.list_formats(),
    )
