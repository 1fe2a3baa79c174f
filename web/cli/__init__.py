"""The commands `caveat serve` and `caveat site`."""
