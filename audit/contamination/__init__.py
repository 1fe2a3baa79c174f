"""A skill-contamination study read again: the published statistics as they were made, and beside them what the data can say."""
