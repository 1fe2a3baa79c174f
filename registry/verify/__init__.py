"""Whether a file is what a registry said: every check by its name, with what it compared."""
