"""What the house costs, measured in one run beside bare loops: ``python -m benchmarks`` (see README.md)."""
