"""A registry exchanged: bundles to and from other registries, backups and their return."""
