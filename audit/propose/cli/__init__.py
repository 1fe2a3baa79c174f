"""The command `caveat claim propose`: engine, review in the terminal and claims file."""
