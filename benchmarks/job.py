"""Entry of a measuring process: ``python -m benchmarks.job MODULE.FUNCTION ARGUMENTS`` prints figures as JSON."""

from __future__ import annotations

import json
import sys

from benchmarks.processes import run_here


def main() -> None:
    """Call the function and print what it returns on a line of its own."""
    print(f"\n{json.dumps(run_here(sys.argv[1], **json.loads(sys.argv[2])))}")


if __name__ == "__main__":
    main()
