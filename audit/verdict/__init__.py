"""From estimates to a verdict: conditions, the decision table, the sentence and the restricted claim."""
