"""Claims proposed from a card for a person to accept: by rules, or by a language model whose quotes are found again."""
