"""What a request asks for: its path and its parameters, read strictly. An unknown parameter is an error: it must not widen a search."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from registry.errors import Fault, InputError, suggest
from web.facets import FACETS, ClaimFilter

LARGEST_PAGE = 500
_LONGEST_WORDS = 500
_MOST_WORDS = 32
_SUBJECT = re.compile(
    r"(?P<stem>/(?:api/1/claims/)?)(?P<name>(?:clm|crd)-[a-z0-9]+-\d{4}-\d+-[0-9a-z])(?P<rest>(?:[@/.].*)?)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRequest:
    """One page of a list of claims that is asked for."""

    wanted: ClaimFilter
    limit: int
    as_of: int | None
    """The size of the log that the walk began with; None for now."""
    before: int | None
    """The entry that the page before ended with."""


def read_list_request(pairs: Sequence[tuple[str, str]], *, default_limit: int) -> ListRequest:
    """Return what the parameters *pairs* of a list of claims ask for; raises InputError with every one that is wrong."""
    faults: list[Fault] = []
    known = (*FACETS, "q", "limit", "as_of", "after")
    single: dict[str, str] = {}
    chosen: dict[str, list[str]] = {}
    for name, value in pairs:
        if name in FACETS:
            if value not in chosen.setdefault(name, []):
                chosen[name].append(value)
        elif name not in known:
            faults.append(
                Fault("bad-query", name, "is no parameter of this list", advice=suggest(name, known) or f"known are {', '.join(known)}")
            )
        elif name in single:
            faults.append(Fault("bad-query", name, "is given twice, and has one value"))
        else:
            single[name] = value
    words = single.get("q", "")
    if len(words) > _LONGEST_WORDS or len(words.split()) > _MOST_WORDS:
        faults.append(Fault("bad-query", "q", f"at most {_LONGEST_WORDS} characters and {_MOST_WORDS} words are searched for"))
    numbers = {name: _read_number(name, single[name], faults) for name in ("limit", "as_of", "after") if name in single}
    if (limit := numbers.get("limit", default_limit)) is not None and not 1 <= limit <= LARGEST_PAGE:
        faults.append(Fault("bad-query", "limit", f"{limit} is not between 1 and {LARGEST_PAGE}"))
    if ("after" in single) != ("as_of" in single):
        faults.append(Fault("bad-query", "after", "the next page has both `as_of` and `after`", advice="follow the link `next` as it is"))
    if faults:
        raise InputError(faults)
    return ListRequest(
        wanted=ClaimFilter(chosen={facet: tuple(values) for facet, values in chosen.items()}, words=words),
        limit=limit or default_limit,
        as_of=numbers.get("as_of"),
        before=numbers.get("after"),
    )


def read_numbers(pairs: Sequence[tuple[str, str]], known: Iterable[str]) -> dict[str, int]:
    """Return the whole numbers of *pairs*, each parameter once and one of *known*; raises InputError with every one that is wrong."""
    faults: list[Fault] = []
    numbers: dict[str, int] = {}
    names = tuple(known)
    for name, value in pairs:
        if name not in names:
            faults.append(Fault("bad-query", name, "is no parameter here", advice=suggest(name, names) or f"known are {', '.join(names)}"))
        elif name in numbers:
            faults.append(Fault("bad-query", name, "is given twice, and has one value"))
        elif (number := _read_number(name, value, faults)) is not None:
            numbers[name] = number
    if faults:
        raise InputError(faults)
    return numbers


def _read_number(name: str, value: str, faults: list[Fault]) -> int | None:
    if value.isascii() and value.isdecimal() and len(value) <= 15:
        return int(value)
    faults.append(Fault("bad-query", name, f"{value[:40]!r} is no whole number"))
    return None


def split_moment(path: str) -> tuple[str, int | None]:
    """Return *path* without the part that names an entry, `/as-of/117`, and the entry; None where it names none."""
    match = re.fullmatch(r"/as-of/(\d{1,15})(/.*)", path, re.DOTALL | re.ASCII)
    return (path, None) if match is None else (match[2], int(match[1]))


def find_redirect(path: str) -> str | None:
    """Return the path that *path* is written as: an identifier in capitals, and a page with a slash at its end; None where it is so."""
    match = _SUBJECT.fullmatch(path)
    written = path if match is None else f"{match['stem']}{match['name'].upper()}{match['rest']}"
    last = written.rpartition("/")[2]
    is_file = re.search(r"\.(?:bib|json|atom|html|pdf|tlog-proof|css|csv|woff2|txt)$", last)
    is_page = not written.startswith("/api/") and last and not is_file
    target = f"{written}/" if is_page else written
    return None if target == path else target
