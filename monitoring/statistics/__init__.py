"""Numbers in, numbers out: evidence against a limit, confidence sequences, and drift. No claims and no files."""
