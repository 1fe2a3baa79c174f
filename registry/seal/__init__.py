"""Seals: Merkle trees, signed checkpoints, proofs and keys. Knows records and bytes; no database, no clock."""
