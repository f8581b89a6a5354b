"""What the runner costs, measured in one run next to bare loops: ``python -m benchmarks`` (see README.md)."""
