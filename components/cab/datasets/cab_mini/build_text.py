"""Build the text tasks of cab_mini from the written facts and the tables ``text_*.yaml`` in this folder.

Layout of the results as in ClinicalAgent Bench (Liao et al. 2024, arXiv 2410.17657): ``test/<task>.json`` and
``train/<task>.json``, arrays of records. Run ``python -m components.cab.datasets.cab_mini.build_text``; with
``--check`` nothing is written and the exit code is 1 when a committed file differs from the tables.
"""

import json
import sys
from collections.abc import Callable, Sequence

from components.cab.datasets.cab_mini import cab_records, text_choices, text_reading
from components.cab.datasets.cab_mini.cab_records import SIZES, Record
from components.cab.datasets.cab_mini.text_calculations import medcalc
from components.files.made_files import keep
from components.files.written_facts import Facts, load_facts

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
    texts = {name: render(records) for name, records in build().items()}
    return keep(HERE, texts, "the text tasks of cab_mini", arguments)


if __name__ == "__main__":
    sys.exit(main())
