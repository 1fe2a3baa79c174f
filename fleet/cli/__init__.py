"""The commands `worker` and `fleet`, and the formats of their answers."""
