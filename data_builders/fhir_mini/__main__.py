"""Build fhir_mini: the resources of a FHIR server and tasks on them, from lists of this folder and one seed.

Run ``python -m data_builders.fhir_mini`` to write what is shipped, with ``--check`` to compare it only. What is right
is written down when a value is made, and not computed from the resources: a test compares the two.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import orjson

from data_builders.fhir_mini.chart import Hospital
from data_builders.fhir_mini.tasks import tasks
from data_builders.shipped import COMPONENTS, arguments_of, keep

SHIPPED = COMPONENTS / "fhir" / "fhir_mini"
SEED = 2203


def build(seed: int = SEED) -> dict[str, bytes]:
    """All files: path relative to the folder fhir_mini -> content."""
    hospital = Hospital(seed)
    rows = tasks(hospital)
    lines = b"".join(orjson.dumps(one) + b"\n" for one in hospital.resources())
    return {"tasks.json": (json.dumps(rows, indent=1) + "\n").encode(), "world.jsonl": lines}


def main(arguments: Sequence[str] | None = None, home: Path = SHIPPED) -> int:
    """Write the files that differ, or only compare them; return the exit code."""
    options = arguments_of("the resources and tasks of fhir_mini").parse_args(arguments)
    return keep(home, build(), options.check)


if __name__ == "__main__":
    sys.exit(main())
