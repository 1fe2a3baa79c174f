"""Two revisions of a card, aligned: what became of a passage, and what else changed."""
