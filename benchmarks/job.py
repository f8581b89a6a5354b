"""Entry of a measuring process: ``python -m benchmarks.job MODULE.FUNCTION ARGUMENTS`` prints figures as JSON."""

from __future__ import annotations

import importlib
import json
import sys


def main() -> None:
    """Import the module, call the function, print what it returns on a line of its own."""
    module, _, function = sys.argv[1].rpartition(".")
    figures = getattr(importlib.import_module(f"benchmarks.{module}"), function)(**json.loads(sys.argv[2]))
    print(f"\n{json.dumps(figures)}")


if __name__ == "__main__":
    main()
