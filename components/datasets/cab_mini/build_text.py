"""Build the text tasks of cab_mini from the written facts and the tables ``text_*.yaml`` in this folder.

Layout of the results as in ClinicalAgent Bench (Liao et al. 2024, arXiv 2410.17657): ``test/<task>.json`` and
``train/<task>.json``, arrays of records. Run ``python -m components.datasets.cab_mini.build_text``; with ``--check``
nothing is written and the exit code is 1 when a committed file differs from the tables.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence

from components.datasets.cab_mini import cab_records, text_choices, text_reading
from components.datasets.cab_mini.cab_records import SIZES, Record
from components.datasets.cab_mini.text_calculations import medcalc
from components.written_facts import Facts, load_facts

HERE = cab_records.HERE
MAKERS: dict[str, Callable[[Facts], dict[str, list[Record]]]] = {
    "medqa": text_choices.medqa,
    "mmlu": text_choices.mmlu,
    "bioasq": text_choices.bioasq,
    "pubmedqa": text_choices.pubmedqa,
    "medcalc": medcalc,
    "medmentions": text_reading.medmentions,
    "emrqa": text_reading.emrqa,
    "medhalt_rht": text_choices.medhalt_rht,
}


def build() -> dict[str, list[Record]]:
    """Return the records of every file by its path in this folder."""
    facts = load_facts()
    first = {"test": 1, "train": 1 + SIZES["test"]}
    return {
        f"{phase}/{task}.json": [{"id": number} | made for number, made in enumerate(records, start=first[phase])]
        for task, make in MAKERS.items()
        for phase, records in make(facts).items()
    }


def render(records: Sequence[Record]) -> str:
    """Give the text of one file."""
    return json.dumps(records, indent=1, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or compare them with the tables; return the exit code."""
    parser = argparse.ArgumentParser(description="Build or check the text tasks of cab_mini.")
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 on a difference")
    check = parser.parse_args(arguments).check
    stale = []
    for name, records in build().items():
        path, text = HERE / name, render(records)
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        sys.stderr.write(f"not what the tables give: {', '.join(stale)}; run without --check\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
