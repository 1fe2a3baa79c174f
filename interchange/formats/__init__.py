"""One mapper a format: a published record becomes bytes. Knows records; no database, no clock, no network."""
