"""A language model asked for claims, window by window; what it offers is checked against the card."""
