"""A registry as a folder of files for any web host."""
