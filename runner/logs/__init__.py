"""Logs of other evaluation tools as run folders, and run folders as such logs."""
