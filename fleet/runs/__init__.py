"""A run folder as rows that many machines write."""
