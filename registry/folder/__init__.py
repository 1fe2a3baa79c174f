"""Supplements as files: assembled, published and proved, and a folder of them kept up to date."""
