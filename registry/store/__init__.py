"""The ledger and its tables; rows never leave this room."""
