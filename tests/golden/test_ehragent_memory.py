"""Golden vectors of EHRAgent's memory: every ``medagents_ehragent_*.json`` in GOLDEN_DIR."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from components.acting.solved import Entry, SolvedQuestions

FOLDER = Path(os.environ.get("GOLDEN_DIR") or Path(__file__).parent)
FILES = {path: orjson.loads(path.read_bytes()) for path in sorted(FOLDER.glob("medagents_ehragent_*.json"))}


def cases() -> Iterator[Any]:
    for path, data in FILES.items():
        for case in data.get("memory_cases", ()):
            yield pytest.param(case, data[case["memory"]], id=f"{path.stem}-{case['id']}")


@pytest.mark.parametrize(("case", "stored"), list(cases()))
def test_the_nearest_questions_come_first_and_ties_prefer_the_older(case, stored):
    assert set(case) <= {"id", "memory", "query", "k", "expected_indices", "expected_distances", "note"}
    entries = [Entry(str(number), "d", question) for number, question in enumerate(stored)]
    found = SolvedQuestions("m", entries).search(case["query"])[: case["k"]]
    assert [int(one.data["id"]) for one in found] == case["expected_indices"]
    assert [one.data["distance"] for one in found] == case["expected_distances"]
