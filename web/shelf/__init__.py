"""Which claims pass filters, with exact counts: a file that is derived from the log and may be thrown away."""
