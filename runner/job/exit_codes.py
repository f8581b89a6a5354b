"""The exit codes of jobs and of the command."""

COMPLETE, ERRORS, CONFIG, BUDGET, INTERRUPTED = 0, 1, 2, 3, 130
