"""Locked plans carried out again on another model version: which, from which recordings, at what cost, and what moved."""
