"""The stations of an audit: plan, lock, run, evidence, conclusion and its record."""
