"""What can go wrong with evidence: a branch of the family in `registry.errors`."""

from registry.errors import InputError


class TableError(InputError):
    """A file cannot be read as a score table; every fault names file, row and column. Nothing was recorded."""


class DesignError(InputError):
    """The scores are sound, and yet no differential follows from them: a side, a task or a specification is missing."""
