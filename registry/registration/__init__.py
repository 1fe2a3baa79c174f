"""What people hand in (cards, specifications, claims files) becomes statements, checked against what is already recorded."""
