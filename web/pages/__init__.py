"""Records become pages, feeds and documents: the same records and settings give the same bytes."""
