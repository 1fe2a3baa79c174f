"""Arrays in, results out; no claims in here."""
