"""The gate: a draft card or a model version against the registry, by rules with a level each."""
