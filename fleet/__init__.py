"""Caveat's work over many machines: PostgreSQL holds the truth, a queue engine hands out the work."""
