"""A card's text read into passages: sentences, list items, table rows under their heads, captions, headings."""
