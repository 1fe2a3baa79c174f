"""Figures as a card writes them: what they say, in which unit, and what is no figure at all."""
