"""The evidence-layer probe: whether a model says that it is being tested."""
