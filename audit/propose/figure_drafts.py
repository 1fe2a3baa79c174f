"""Figures that others report, as drafts of a claims file: a person decides on each, as on proposals from a card's text."""

import re
from dataclasses import replace

from audit.propose.card_figures import CardFigure, FigureUnit
from audit.propose.claimed_property import find_range
from audit.propose.proposed_claims_file import DraftEntry, KnownModels
from audit.sources.reported_figures import FigureFile, ReportedFigure
from registry.records.claim import Direction, Form, PropertyClass, QuoteStatus, Reported
from registry.records.claim_draft import ClaimDraft
from registry.records.model_version import ModelRef
from registry.records.specification import PropertySpec

_WORD = re.compile(r"[^a-z0-9]+")


def build_figure_entries(file: FigureFile, known: KnownModels, default: ModelRef) -> tuple[DraftEntry, ...]:
    """Return a draft for each figure of *file*.

    Args:
        known: what names of models stand for.
        default: the claims file's model; a claim about it names none.
    """
    return tuple(_build_entry(figure, file, known, default) for figure in file.figures)


def find_default(files: tuple[FigureFile, ...], known: KnownModels) -> ModelRef:
    """Return the model version that stands for the whole claims file: the given one, else that of the first figure that names one."""
    named = (figure for file in files for figure in file.figures if figure.model is not None)
    first = next(named, None)
    return known.choose_default(()) if known.given is not None or first is None else resolve_model(first, known) or known.choose_default(())


def resolve_model(figure: ReportedFigure, known: KnownModels) -> ModelRef | None:
    """Return the model version of *figure*; None where its file names none."""
    model = known.resolve(figure.model, figure.version)
    # The file's own developer is better than the card's publisher for a model that is not registered.
    is_new = model is not None and figure.developer is not None and model not in (known.given, *known.registered)
    return replace(model, developer=figure.developer) if model is not None and is_new and figure.developer else model


def _build_entry(figure: ReportedFigure, file: FigureFile, known: KnownModels, default: ModelRef) -> DraftEntry:
    model = resolve_model(figure, known)
    range_, guess = _find_range(figure)
    about = f" on {figure.evaluation}" if figure.evaluation else ""
    name = f"{figure.metric}{about}"
    # Words of ours, which the card need not have: a paraphrase is never taken for a quotation.
    draft = ClaimDraft(
        quote=f"{figure.metric} of {model or default}{about} is {figure.value!r}.", quote_status=QuoteStatus.PARAPHRASE,
        form=Form.PREVALENCE, property=_WORD.sub("-", name.casefold())[:60].strip("-") or "score", reported=_build_reported(figure),
        evaluation=figure.evaluation, model=None if model in (None, default) else model,
        note=f"Reported in {file.name} (sha256 {file.sha256}), {file.format.value}, {figure.place}.",
    )  # fmt: skip
    spec = PropertySpec(name=name[:120], class_=PropertyClass.CAPABILITY, range=range_, direction=Direction.NOT_SAFETY)
    comments = [
        f"from {file.name}, {figure.place}",
        "class and safer direction are not stated: the property says capability, not a safety property",
        *([f"the file says that a {'lower' if figure.lower_is_better else 'higher'} score is better, which is no safer direction"]
          if figure.lower_is_better is not None else []),
        *guess,
        "if the card makes this claim in its own words, quote them and leave quote_status out",
    ]  # fmt: skip
    return DraftEntry(draft=draft, spec=spec, comments=tuple(comments))


def _build_reported(figure: ReportedFigure) -> Reported | None:
    """Return the figure with its interval, where that contains it."""
    low, high = figure.low, figure.high
    is_sound = low is not None and high is not None and low <= figure.value <= high
    return Reported(value=figure.value, low=low if is_sound else None, high=high if is_sound else None, n=figure.n)


def _find_range(figure: ReportedFigure) -> tuple[tuple[float, float], tuple[str, ...]]:
    """Return the range of scores, and what was guessed about it."""
    if figure.range is not None and figure.range[0] <= figure.value <= figure.range[1]:
        return figure.range, ()
    return find_range(CardFigure(start=0, stop=0, written="", unit=FigureUnit.SCORE, value=figure.value))
