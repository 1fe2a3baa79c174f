"""What is known of a card beside its text."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A card, as far as its text does not tell."""

    title: str
    """As registered; the name of the file for one that is not."""
    publisher: str | None
    """None for a file that is not registered."""
    card: str | None
    """`CRD-…@n`; None for a file that is not registered."""
    models: tuple[str, ...] = ()
    """Names of model versions that the registry knows of this developer; they help to find what a figure is about."""
