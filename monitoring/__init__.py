"""Monitors of claims after release: locked plans, windows of production data, alarms that are rarely wrong."""
