"""Scores by strata."""

import json

from runner.results.sections import means
from runner.results.sections.scores import strata
from runner.results.sheets import Sheet
from tests.runner.results.page.pages import cells, made

SCORED = {"one": ("k", [1, 0, 1]), "two": ("d", [0, 0])}


def test_values_equal_metrics_json(tmp_path):
    run = made(tmp_path / "a", SCORED)
    known = json.loads((run.folder / "metrics.json").read_text())["strata"]
    sheets = {part.title: cells(part) for part in strata([run]).parts if isinstance(part, Sheet)}
    assert [name for name in sheets if "score/x" in name] == ["score/x by dimension", "score/x by task"]
    rows = sheets["score/x by task"]
    assert [row["task"] for row in rows] == ["one", "two"]
    for row in rows:
        metric, cell = known["task"][row["task"]]["score/x"], row["react openai"]
        assert (cell.value, cell.low, cell.n) == (metric["value"], metric["ci_low"], metric["n"])


def test_page_has_no_plain_means_of_what_is_a_heat_map(tmp_path):
    runs = [
        made(tmp_path / name, SCORED, choices={"agent": name}, levels={}, by={"score/x": ["task"]}) for name in "ab"
    ]
    assert [sheet.title for sheet in means.section(runs).sheets] == ["score/x: means per task, and all samples"]
    assert means.page_section(runs) is None and "score/x by task" in [sheet.title for sheet in strata(runs).sheets]
    runs = [made(tmp_path / name, SCORED, choices={"agent": name}) for name in "cd"]
    assert means.page_section(runs).sheets == means.section(runs).sheets, "means of means are in no heat map"


def test_runs_against_strata_are_a_heat_map(tmp_path):
    runs = [made(tmp_path / name, SCORED, choices={"agent": name}) for name in "ab"]
    assert {sheet.shaded for sheet in strata(runs).parts} == {1}


def test_the_more_numerous_of_values_and_runs_are_rows(tmp_path):
    for names, heads in (("ab", ["task", "a", "b"]), ("abc", ["run", "one", "two"])):
        runs = [made(tmp_path / names / name, SCORED, choices={"agent": name}) for name in names]
        sheet = next(part for part in strata(runs).parts if part.title == "score/x by task")
        assert [column.name for column in sheet.columns] == heads
        assert {column.better for column in sheet.columns[1:]} == {"higher"}


def test_runs_without_the_score_are_left_out_and_turn_no_table(tmp_path):
    none = {"one": ("k", [None, None]), "two": ("d", [None])}
    given = {"a": SCORED, "b": SCORED, "c": none}
    runs = [made(tmp_path / name, scored, choices={"agent": name}) for name, scored in given.items()]
    sheet = next(part for part in strata(runs).parts if part.title == "score/x by task")
    assert [column.name for column in sheet.columns] == ["run", "one", "two"], "as for scores that all three runs have"
    assert [row[0] for row in sheet.rows] == ["a", "b"]


def test_values_beyond_the_most_common_are_counted(tmp_path):
    run = made(tmp_path / "a", {f"t{n:02}": ("k", [1] * (2 if n else 1)) for n in range(41)})
    sheet = next(part for part in strata([run]).parts if part.title == "score/x by task")
    assert len(sheet.rows) == 40 and "t00" not in {row[0] for row in sheet.rows}
    assert sheet.notes == ["1 values of fewer samples are left out"]


def test_single_value_gives_no_breakdown(tmp_path):
    assert strata([made(tmp_path / "a", {"one": ("k", [1, 0])})]) is None
