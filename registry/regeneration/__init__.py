"""A folder of supplements is kept up to date: what is due is found without drawing anything, and only that is drawn."""
