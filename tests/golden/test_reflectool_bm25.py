"""Golden vectors of ReflecTool's retrieval: section bm25 of every ``reflectool_*.json`` in GOLDEN_DIR."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from components.text.bm25 import Bm25

FOLDER = Path(os.environ.get("GOLDEN_DIR") or Path(__file__).parent)
EXACT_LENGTH = 40  # above it the reference engine rounds a document's length, so scores are not given


def vectors() -> Iterator[Any]:
    for path in sorted(FOLDER.glob("reflectool_*.json")):
        section = orjson.loads(path.read_bytes()).get("bm25", {"cases": []})
        for case in section["cases"]:
            yield pytest.param(case, section["memories"][case["memory"]], section["score_tolerance"], id=case["id"])


@pytest.mark.parametrize(("case", "memory", "tolerance"), list(vectors()))
def test_search(case: dict[str, Any], memory: list[dict[str, str]], tolerance: float) -> None:
    index = Bm25.over((document["id"], document["text"]) for document in memory)
    hits = index.search(case["query"], case["k"])
    assert [hit.id for hit in hits] == case["expected_ids"]
    if case["expected_scores"] is None:
        assert index.lengths.max() > EXACT_LENGTH
    else:
        assert [hit.score for hit in hits] == pytest.approx(case["expected_scores"], abs=tolerance)
