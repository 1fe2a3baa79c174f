"""What a request asks for: path, parameters, preferences. An unknown parameter is an error: it must not widen a search."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from registry.errors import Fault, InputError, suggest
from web.api.documents import ListRequest
from web.api.operations import MOST_WORDS, Operation, Parameter
from web.facets import FACETS, ClaimFilter, split_words

_SUBJECT = re.compile(
    r"(?P<stem>/(?:api/1/\w+/)?)(?P<name>(?:clm|crd|aud|con|prp|ctx|scf|cue|mth)-[a-z0-9]+-\d{4}-\d+-[0-9a-z])(?P<rest>(?:[@/.].*)?)",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The parameters of a request, as its operation declares them."""

    numbers: dict[str, int]
    """Those that have a default are there."""
    texts: dict[str, str]
    chosen: dict[str, tuple[str, ...]]
    """Parameters that may be repeated."""


def read_query(pairs: Sequence[tuple[str, str]], parameters: Sequence[Parameter]) -> Query:
    """Return the values of *parameters*; raises InputError with every pair that is wrong."""
    known = {parameter.name: parameter for parameter in parameters}
    faults: list[Fault] = []
    numbers = {parameter.name: parameter.default for parameter in parameters if parameter.default is not None}
    texts: dict[str, str] = {}
    chosen: dict[str, list[str]] = {}
    seen: set[str] = set()
    for name, value in pairs:
        parameter = known.get(name)
        if parameter is None:
            listed = f"known are {', '.join(known)}" if known else "leave it out"
            faults.append(Fault("bad-query", name[:40] or "?", "is no parameter here", advice=suggest(name[:40], known) or listed))
        elif parameter.is_repeated:
            faults += _check_text(parameter, value)
            if value not in chosen.setdefault(name, []):
                chosen[name].append(value)
        elif name in seen:
            faults.append(Fault("bad-query", name, "is given twice, and has one value"))
        elif parameter.is_number:
            number = _read_number(parameter, value, faults)
            numbers |= {} if number is None else {name: number}
        else:
            faults += _check_text(parameter, value)
            texts[name] = value
        seen.add(name)
    if faults:
        raise InputError(faults)
    return Query(numbers=numbers, texts=texts, chosen={name: tuple(values) for name, values in chosen.items()})


def _check_text(parameter: Parameter, value: str) -> list[Fault]:
    if "\ufffd" in value:
        return [Fault("bad-query", parameter.name, "it has bytes that are no UTF-8")]
    if not 1 <= len(value) <= parameter.longest:
        return [Fault("bad-query", parameter.name, f"a value has 1 to {parameter.longest} characters, and this one {len(value)}")]
    return []


def _read_number(parameter: Parameter, value: str, faults: list[Fault]) -> int | None:
    # No sign, no zeros in front, no other digits than ours: one number is written in one way.
    if re.fullmatch(r"0|[1-9]\d{0,14}", value, re.ASCII) is None:
        faults.append(Fault("bad-query", parameter.name, f"{value[:40]!r} is no whole number"))
        return None
    number = int(value)
    if not parameter.minimum <= number <= (parameter.maximum or 0):
        faults.append(Fault("bad-query", parameter.name, f"{number} is not between {parameter.minimum} and {parameter.maximum}"))
        return None
    return number


def read_list_request(pairs: Sequence[tuple[str, str]], operation: Operation) -> ListRequest:
    """Return what the parameters *pairs* of a list of claims ask for; raises InputError with every one that is wrong."""
    query = read_query(pairs, operation.parameters)
    words = query.texts.get("q", "")
    if len(words.split()) > MOST_WORDS:
        raise InputError(Fault("bad-query", "q", f"at most {MOST_WORDS} words are searched for"))
    if words and not split_words(words):
        raise InputError(Fault("bad-query", "q", "it has no letters or digits to search for"))
    if ("after" in query.numbers) != ("as_of" in query.numbers):
        found = "the next page has both `as_of` and `after`"
        raise InputError(Fault("bad-query", "after", found, advice="follow the link `next` as it is"))
    return ListRequest(
        wanted=ClaimFilter(chosen={facet: query.chosen[facet] for facet in FACETS if facet in query.chosen}, words=words),
        limit=query.numbers.get("limit", 0),
        as_of=query.numbers.get("as_of"),
        before=query.numbers.get("after"),
    )


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


def prefers_json(accept: str) -> bool:
    """Whether the header `Accept` asks for JSON rather than for a page (RFC 9110, section 12.5.1)."""
    weights = {"application/json": 0.0, "text/html": 0.0}
    best = dict.fromkeys(weights, -1)
    for part in accept.split(","):
        media, *options = (piece.strip() for piece in part.lower().split(";"))
        weight = _read_weight(options)
        for name in weights:
            # The most exact range decides.
            rank = 2 if media == name else 1 if media == f"{name.partition('/')[0]}/*" else 0 if media == "*/*" else -1
            if rank > best[name]:
                best[name], weights[name] = rank, weight
    return weights["application/json"] > weights["text/html"]


def _read_weight(options: Sequence[str]) -> float:
    for option in options:
        if (match := re.fullmatch(r"q=([01](?:\.\d{0,3})?)", option, re.ASCII)) is not None:
            return float(match[1])
    return 1.0
