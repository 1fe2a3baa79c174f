"""Module 3, the scorer: its noise, its errors against a person, and whether it depends on the context (statistics.md section 3)."""
