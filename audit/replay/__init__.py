"""Door 1 of the evidence: tasks are asked of a model under composed contexts, and every response is kept."""
