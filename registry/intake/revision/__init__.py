"""Two revisions of a card, aligned: the outcome of a passage, and what else changed."""
