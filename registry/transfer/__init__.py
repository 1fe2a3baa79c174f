"""A registry on its way: bundles to and from other registries, backups and their return."""
