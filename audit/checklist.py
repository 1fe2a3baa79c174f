"""Nothing is recorded of minimum reporting: `registry.report.checklist` computes it when a document is rendered. To be removed."""

from registry.records.classification import ChecklistItem


def build_checklist(*_: object, **__: object) -> tuple[ChecklistItem, ...]:
    """Return no items; callers may drop the call."""
    return ()
