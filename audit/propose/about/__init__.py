"""Who and what a figure is about: model, comparison, property, evaluation, and whether it was recognised."""
