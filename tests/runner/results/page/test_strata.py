"""Scores by strata."""

import json

from runner.results.sections.scores import strata
from runner.results.sheets import Sheet
from tests.runner.results.page.pages import cells, made

SCORED = {"one": ("k", [1, 0, 1]), "two": ("d", [0, 0])}


def test_stratum_values_are_columns_equal_to_metrics_json(tmp_path):
    run = made(tmp_path / "a", SCORED)
    known = json.loads((run.folder / "metrics.json").read_text())["strata"]
    sheets = {part.title: cells(part) for part in strata([run]).parts if isinstance(part, Sheet)}
    assert list(sheets) == ["By dimension", "By task"]
    (row,) = (row for row in sheets["By task"] if row["score"] == "score/x ↑")
    for task in ("one", "two"):
        metric = known["task"][task]["score/x"]
        assert (row[task].value, row[task].low, row[task].n) == (metric["value"], metric["ci_low"], metric["n"])


def test_runs_against_strata_are_a_heat_map(tmp_path):
    runs = [made(tmp_path / name, SCORED, choices={"agent": name}) for name in "ab"]
    assert [sheet.shaded for sheet in strata(runs).parts] == [2, 2], "behind score and run"


def test_values_beyond_the_most_common_are_counted(tmp_path):
    run = made(tmp_path / "a", {f"t{n:02}": ("k", [1] * (2 if n else 1)) for n in range(41)})
    sheet = next(part for part in strata([run]).parts if part.title == "By task")
    assert len(sheet.columns) == 42 and "t00" not in {column.name for column in sheet.columns}
    assert sheet.notes == ["1 values of fewer samples are left out"]


def test_single_value_gives_no_breakdown(tmp_path):
    assert strata([made(tmp_path / "a", {"one": ("k", [1, 0])})]) is None
