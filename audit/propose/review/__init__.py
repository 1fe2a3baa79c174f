"""A person's decisions on proposals, step by step, kept so that nothing is lost."""
