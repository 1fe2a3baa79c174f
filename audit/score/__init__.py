"""How responses become scores."""
