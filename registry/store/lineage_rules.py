"""What may be said of the lineage of model versions, and of changes that claims may not have survived."""

from collections.abc import Iterator

from registry.errors import Fault
from registry.records.model import ModelEvent
from registry.records.staleness import StalenessReview
from registry.store.view import View

Lineage = ModelEvent | StalenessReview


class LineageRules:
    """The rules, applied inside one transaction."""

    def __init__(self, view: View) -> None:
        self._view = view

    def find_faults(self, said: Lineage) -> Iterator[Fault]:
        """Yield everything that keeps *said* from being recorded now."""
        match said:
            case ModelEvent():
                yield from self.event(said)
            case StalenessReview():
                yield from self.review(said)

    def event(self, said: ModelEvent) -> Iterator[Fault]:
        """Every version it names is registered."""
        for model in (said.model, said.predecessor):
            if model is not None and self._view.find_model(model) is None:
                yield Fault(code="model-unknown", where=str(model), found="is not registered", advice="caveat model add")

    def review(self, said: StalenessReview) -> Iterator[Fault]:
        """The claim revision is registered."""
        if self._view.find_claim(said.claim) is None:
            yield Fault(code="claim-unknown", where=said.claim, found="no such claim revision is registered here")
