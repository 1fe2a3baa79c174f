"""The commands `caveat export` and `caveat gate`, and the formats of their answers."""
