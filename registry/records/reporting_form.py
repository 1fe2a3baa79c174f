"""Reporting forms of others: the items that one asks for, and what a supplement answers to each."""

from dataclasses import dataclass
from datetime import date
from typing import Literal

from registry.records.record import Record
from registry.records.supplement import Section
from registry.records.verdict import ItemStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class FormItem(Record):
    """One item of a form."""

    id: str
    """Its number in the official text."""
    title: str
    """In our words."""
    facts: tuple[str, ...] = ()
    """What of a record answers it, by name; empty where no record of a claim can."""
    related: tuple[str, ...] = ()
    """Facts that a reader wants to know although they do not answer it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormGroup(Record):
    """Items under one heading of the official text."""

    title: str
    items: tuple[FormItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportingForm(Record):
    """A form as its file in `report_templates/forms/` has it."""

    schema: Literal["caveat/form/1"] = "caveat/form/1"
    name: str
    """As `--form` takes it."""
    title: str
    published: date
    url: str
    """The official text."""
    scope: str
    """Which of its items are asked, and what the form does not say."""
    groups: tuple[FormGroup, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormFact(Record):
    """What a record says to an item."""

    status: ItemStatus
    text: str
    """What is stated, or why it is not stated or does not apply."""
    section: Section | None = None
    """Of the supplement, where a reader finds more; None for page one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormAnswer(Record):
    """One item with its answer."""

    item: FormItem
    status: ItemStatus
    """`reported` where at least one fact answers it."""
    facts: tuple[FormFact, ...]
    """Those that answer it; where none does, why not."""
    related: tuple[FormFact, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledGroup(Record):
    """A group with its answers."""

    title: str
    answers: tuple[FormAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledForm(Record):
    """A form as a supplement prints it."""

    form: ReportingForm
    groups: tuple[FilledGroup, ...]

    def count(self, status: ItemStatus) -> int:
        """Return how many items have *status*."""
        return sum(answer.status is status for group in self.groups for answer in group.answers)

    @property
    def total(self) -> int:
        """Number of items."""
        return sum(len(group.answers) for group in self.groups)
