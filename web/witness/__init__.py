"""This registry as a witness over HTTP: checkpoints of other logs that come in, and this log's checkpoint that goes out to be cosigned."""
