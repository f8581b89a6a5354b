"""Golden vectors of ReflecTool's SQL: every ``reflectool_*.json`` in GOLDEN_DIR (default: this folder)."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from components.sql.cleaning import clean_sql, text_rows

FOLDER = Path(os.environ.get("GOLDEN_DIR") or Path(__file__).parent)


def vectors(section: str) -> Iterator[Any]:
    for path in sorted(FOLDER.glob("reflectool_*.json")):
        for case in orjson.loads(path.read_bytes()).get(section, ()):
            yield pytest.param(case, id=case["id"])


@pytest.mark.parametrize("case", list(vectors("sql_cleaning")))
def test_cleaning(case: dict[str, Any]) -> None:
    assert clean_sql(case["raw"], case["dataset_id"]) == case["expected"]


@pytest.mark.parametrize("case", list(vectors("sql_result_text")))
def test_result_text(case: dict[str, Any]) -> None:
    assert str(text_rows(case["rows"])) == case["expected"]
