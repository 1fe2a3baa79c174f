"""The commands of `caveat monitor`, and the formats of their answers."""
