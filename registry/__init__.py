"""What we remember and show: cards, claims, audits, and the supplements made of them."""
