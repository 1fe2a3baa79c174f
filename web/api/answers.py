"""The document that answers an operation on a resource."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from registry.errors import Fault, InputError
from registry.store.ledger import Ledger
from registry.store.registry_view import View
from web.api import documents, records
from web.api.operations import RESOURCES, Operation, Resource
from web.api.records import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """An operation with everything that its answer depends on."""

    operation: Operation
    path: str
    """As it was asked for: the next page is there too."""
    names: Mapping[str, str]
    """What the path names."""
    numbers: Mapping[str, int]
    """The parameters of the query."""
    view: View
    ledger: Ledger

    @property
    def resource(self) -> Resource:
        """What is asked for."""
        return next(resource for resource in RESOURCES if self.operation.path.split("/")[3] == resource.name)

    @property
    def page(self) -> dict[str, int]:
        """The part of a list that is asked for."""
        return {"after": self.numbers.get("after", 0), "limit": self.numbers["limit"]}


_LISTS: Mapping[str, Callable[[Question], Document]] = {
    "list_logs": lambda asked: records.build_logs(asked.view, asked.ledger),
    "list_models": lambda asked: records.build_models(asked.view, asked.path),
    "list_entries": lambda asked: documents.build_entries(asked.view, asked.path, **asked.page),
}
_PARTS: Mapping[str, Callable[[Question, str], Document]] = {
    "_history": lambda asked, noun: records.build_history(asked.view, noun, asked.names, asked.path, **asked.page),
    "_proof": lambda asked, noun: records.build_proof(asked.view, noun, asked.names),
    "_difference": lambda asked, noun: records.build_difference(asked.view, noun, asked.names[noun], asked.names["span"]),
    "": lambda asked, noun: records.build_record(asked.view, asked.ledger, noun, asked.names),
}
"""By what the name of an operation has after `read_` and the noun."""


def build_document(asked: Question) -> Document:
    """Return the document that answers *asked*.

    Raises:
        NotFoundError: there is no such thing, or its text was erased.
        InputError: it asks for what comes after the end of the log.
    """
    if (after := asked.numbers.get("after", 0)) > asked.view.log_size:
        raise InputError(Fault("bad-query", "after", f"{after} is after the last entry, {asked.view.log_size}"))
    name, resource = asked.operation.name, asked.resource
    if name in _LISTS:
        return _LISTS[name](asked)
    if name == f"list_{resource.name}":
        return records.build_list(asked.view, resource, asked.path, **asked.page)
    return _PARTS[name.removeprefix(f"read_{resource.noun}")](asked, resource.noun)
