"""Language models are asked here: one port, and a door for each API."""
