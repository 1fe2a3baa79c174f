"""A card file becomes text with pages, and every quotation is found again where it is said to stand."""
