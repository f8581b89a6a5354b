"""A study: what was planned and frozen, how a run differs from it, and the log of what was done under it."""
