"""Locked plans carried out again on another model version: which, from which recordings, and what moved."""
