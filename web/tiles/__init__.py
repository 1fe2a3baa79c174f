"""The log for machines: tiles, entry bundles and checkpoints as C2SP tlog-tiles has them."""
