"""Build cab_mini from the YAML tables in this folder and the written facts: ``python -m data_builders.cab_mini``.

Layout of the results as in ClinicalAgent Bench (Liao et al. 2024, arXiv 2410.17657): ``test/<task>.json`` and
``train/<task>.json``, arrays of records, and the images, databases and documents that ten of the tasks need. With
``--check`` nothing is written and the exit code is 1 when a shipped file differs from the tables.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from data_builders.cab_mini import ehr_tasks, make_documents, make_images, text_choices, text_reading
from data_builders.cab_mini.cab_records import SHIPPED, Record
from data_builders.cab_mini.text_calculations import medcalc
from data_builders.facts import Facts, load_facts
from data_builders.shipped import arguments_of, keep

FOLDERS = ("images", "databases", "documents")
TEXT_TASKS: Mapping[str, Callable[[Facts], dict[str, list[Record]]]] = {
    "medqa": text_choices.medqa,
    "mmlu": text_choices.mmlu,
    "bioasq": text_choices.bioasq,
    "pubmedqa": text_choices.pubmedqa,
    "medcalc": medcalc,
    "medmentions": text_reading.medmentions,
    "emrqa": text_reading.emrqa,
    "medhalt_rht": text_choices.medhalt_rht,
}


def record_files(task: str, phases: Mapping[str, Sequence[Record]]) -> dict[str, bytes]:
    """Write the records of a task, numbered from phase to phase."""
    made: dict[str, bytes] = {}
    first = 1
    for phase, records in phases.items():
        numbered = [{"id": number, **row} for number, row in enumerate(records, start=first)]
        made[f"{phase}/{task}.json"] = (json.dumps(numbered, indent=1, ensure_ascii=False) + "\n").encode()
        first += len(records)
    return made


def build_texts() -> dict[str, bytes]:
    """Build the tasks that need nothing but text: path relative to the folder cab_mini -> content."""
    facts = load_facts()
    return {name: raw for task, make in TEXT_TASKS.items() for name, raw in record_files(task, make(facts)).items()}


def build_files() -> dict[str, bytes]:
    """Build the tasks about files, and the files: path relative to the folder cab_mini -> content."""
    made: dict[str, bytes] = {}
    for part in (make_images.build(), ehr_tasks.build(), make_documents.build()):
        made |= part.files
        for task, phases in part.tasks.items():
            made |= record_files(task, phases)
    return made


def main(arguments: Sequence[str] | None = None, home: Path = SHIPPED) -> int:
    """Write the files that differ, or only compare them; return the exit code."""
    check = arguments_of("the records and files of cab_mini").parse_args(arguments).check
    return keep(home, {**build_texts(), **build_files()}, check, FOLDERS)


if __name__ == "__main__":
    sys.exit(main())
