"""From identifiers to exported files: which formats there are, and the published record that an export is made of."""
