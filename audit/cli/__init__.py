"""The commands that make evidence."""
