"""Record to document and back, canonical bytes, digests, and the files that people write."""
