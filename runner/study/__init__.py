"""A study: the frozen plan, the deviations of a run from it, and the log of its runs."""
