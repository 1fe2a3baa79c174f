"""The command `caveat` and the groups that need the registry alone."""
