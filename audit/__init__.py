"""How evidence is made: from scores to an estimate, a classification and a restricted claim."""
