"""Golden vectors of ClinicalAgent Bench's scores: every ``reflectool_*.json`` in GOLDEN_DIR (default: this folder)."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest

from components.acting.tool_names import distribution
from components.cab.scorers import Cab
from components.cab.tasks import DIMENSIONS, TASKS
from components.core.types import Problem, Sample, Trajectory
from runner.results.levels import Nested
from runner.results.table import Table
from tests.runner.results.records import record

FOLDER = Path(os.environ.get("GOLDEN_DIR") or Path(__file__).parent)
FILES = {path: orjson.loads(path.read_bytes()) for path in sorted(FOLDER.glob("reflectool_*.json"))}
SAME_RULE = {"medqa_5op": "medqa", "medmcqa": "medqa"}  # scored as medqa, no tasks of the benchmark


def cases(*sections: str) -> Iterator[Any]:
    for path, data in FILES.items():
        for section in sections:
            data = data.get(section, {})
        for case in data.get("cases", ()) if isinstance(data, dict) else data:
            yield pytest.param(path, case, id=f"{path.stem}-{case['id']}")


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[Path, str], tuple[Path, str]]:
    """Every database of the vectors in a folder that is called as its dataset, with the dataset's id."""
    made = {}
    for path, data in FILES.items():
        for name, database in data.get("databases", {}).items():
            folder = tmp_path_factory.mktemp(name) / database["dataset_id"]
            folder.mkdir()
            with closing(sqlite3.connect(folder / f"{database['dataset_id']}.sqlite")) as connection, connection:
                for table, content in database["tables"].items():
                    columns = ", ".join(f'"{column}" {kind}' for column, kind in content["columns"])
                    connection.execute(f'CREATE TABLE "{table}" ({columns})')
                    marks = ", ".join("?" * len(content["columns"]))
                    connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', content["rows"])
            made[path, name] = (folder, database["dataset_id"])
    return made


def choices(key: dict[str, Any]) -> dict[str, str]:
    """The options of a vector, which knows the right one only: its own text, and texts that occur nowhere."""
    letter, text = key["answer_idx"], key["answer"]
    if text in ("yes", "no", "maybe"):
        return {"A": "yes", "B": "no", "C": "maybe"}
    return {**{other: f"another option {other}" for other in "ABCDEF"}, letter: text}


def sample(case: dict[str, Any], database: tuple[Path, str] | None) -> Sample:
    key, task = case["eval"], SAME_RULE.get(case["dataset"], case["dataset"])
    target, options = key, {}
    if "answer_idx" in key:
        target, options = key["answer_idx"], choices(key)
    elif task == "medhalt_rht":
        target = {"accepted": key["answer"]}
    folder, dialect = database or ("", "")
    inputs, files = ({"sql_database": "db"}, {"db": str(folder)}) if database else ({}, {})
    return Sample(
        Problem(case["id"], "?", options, inputs=inputs), target, {"task": task, "sql_dialect": dialect}, files=files
    )


def scores(case: dict[str, Any], path: Path, databases: Any) -> dict[str, float | None]:
    stop = "limit" if case["prediction"] is None else "answered"
    one = sample(case, databases[path, case["database"]] if case.get("database") else None)
    return {score.name: score.value for score in Cab().score(one, Trajectory(stop=stop, answer=case["prediction"]))}


@pytest.mark.parametrize(("path", "case"), list(cases("scoring")))
def test_official_score(path, case, databases):
    assert scores(case, path, databases)["score/official"] == pytest.approx(case["score"], abs=1e-6)


@pytest.mark.parametrize(("path", "case"), list(cases("official_quirks", "scoring")))
def test_quirk_is_kept_in_official_and_repaired_in_strict(path, case, databases):
    found = scores(case, path, databases)
    assert found["score/official"] == pytest.approx(case["official"], abs=1e-6)
    assert found["score/strict"] == pytest.approx(case["suggested"], abs=1e-6)


def averaged(task_scores: dict[str, float | None]) -> Nested:
    """The averages of a run that has one sample of each task."""
    strata = {task: {"task": task, "dimension": TASKS[task].dimension} for task in task_scores}
    table = Table.of(record(task, score, score="s", **strata[task]) for task, score in task_scores.items())
    return Nested(table, table["scores/s"], ("task", "dimension"))


@pytest.mark.parametrize(("path", "case"), list(cases("aggregation")))
def test_averages(path, case):
    tolerance, found = FILES[path]["aggregation"]["tolerance"], averaged(case["task_scores"])
    assert found.total().value == pytest.approx(case["expected_total"], abs=tolerance)
    for dimension in DIMENSIONS:
        mean, expected = found.outer[dimension].value, case["expected_dimensions"][dimension]
        assert mean is expected is None or mean == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize(("path", "case"), list(cases("tool_distribution")))
def test_tool_distribution(path, case):
    found, expected = distribution(case["trajectories"], case["tools"]), case["expected"]
    assert found.total_actions == expected["total_actions"]
    assert found.height == pytest.approx(expected["height"], abs=1e-6)
    assert dict(found.segments) == pytest.approx(expected["segments"], abs=1e-6)
