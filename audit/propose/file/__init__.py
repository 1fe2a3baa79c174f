"""Proposals as the claims file that a person edits and `caveat claim add` takes."""
