"""Golden vectors of EHRAgent's answers and of complexity: every ``medagents_ehragent_*.json`` in GOLDEN_DIR.

``test_medagents.py`` knows all kinds of these files; here an answer case or count of an unknown form fails.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from components.sql.complexity import tables_of
from components.text.values import lenient, strict

FOLDER = Path(os.environ.get("GOLDEN_DIR") or Path(__file__).parent)
FILES = {path: orjson.loads(path.read_bytes()) for path in sorted(FOLDER.glob("medagents_ehragent_*.json"))}
MATCHERS: Mapping[str, Callable[[str, list[str]], bool]] = {
    "strict": strict,
    "lenient": lenient,
    "lenient_without_yes_no_mapping": lambda prediction, gold: lenient(prediction, gold, yes_no=False),
}
COUNTS: Mapping[str, Callable[[str], int]] = {
    "n_tables_from_only": lambda sql: len(tables_of(sql, joins=False)),
    "n_tables_from_and_join": lambda sql: len(tables_of(sql)),
}


def cases(kind: str) -> Iterator[Any]:
    """Each expectation of each case of a kind."""
    for path, data in FILES.items():
        for case in data.get(kind, ()):
            for name, expected in case["expected"].items():
                yield pytest.param(case, name, expected, id=f"{path.stem}-{case['id']}-{name}")


def quirks() -> Iterator[Any]:
    """The published scorer's verdict on an answer, with its case."""
    for path, data in FILES.items():
        known = {case["id"]: case for case in data.get("answer_cases", ())}
        for quirk in data.get("official_quirks", ()):
            if quirk["area"] == "answer":
                yield pytest.param(known[quirk["case"]], quirk["official_result"], id=f"{path.stem}-{quirk['case']}")


def test_there_are_vectors() -> None:
    assert FILES, f"no medagents_ehragent_*.json in {FOLDER}"


@pytest.mark.parametrize(("case", "matcher", "expected"), list(cases("answer_cases")))
def test_answer(case: dict[str, Any], matcher: str, expected: bool) -> None:
    assert MATCHERS[matcher](case["prediction"], case["gold"]) is expected


@pytest.mark.parametrize(("case", "count", "expected"), list(cases("complexity_cases")))
def test_complexity(case: dict[str, Any], count: str, expected: int) -> None:
    assert COUNTS[count](case["sql"]) == expected


@pytest.mark.parametrize(("case", "official"), list(quirks()))
def test_quirk_is_the_lenient_matcher_s_and_not_the_strict_one_s(case: dict[str, Any], official: Any) -> None:
    assert {"success": lenient(case["prediction"], case["gold"])} == official
    assert strict(case["prediction"], case["gold"]) is not official["success"]
