"""Comparisons as tables."""

from itertools import product

from runner.results.cells import p_text, texts_of
from runner.results.grid import grid_of
from runner.results.runs import Run
from runner.results.sections.comparisons import all_effects, comparison_section
from runner.results.sheets import Column, Sheet, Value
from runner.results.terminal import show_section, show_sheet
from runner.results.versus import compare_rows
from tests.runner.results.folders import CHOICES, write
from tests.runner.results.sweeps import job


def test_an_interval_of_few_samples_has_its_n_and_of_fewer_a_legend(capsys):
    cells = [Value(0.5, 0.1, 0.9, n) for n in (10, 9, 4, 3)]
    shown = ["0.100 to 0.900", "0.100 to 0.900, n = 9", "0.100 to 0.900, n = 4", "n too small"]
    assert [texts_of(cell, Column("x"))[1] for cell in cells] == shown
    legends = [Sheet("t", [Column("x")], [[cell]], ["a"]).lines for cell in cells]
    assert [len(of) for of in legends] == [1, 1, 1, 2] and legends[-1][1].startswith("n too small: fewer samples")
    show_sheet(Sheet("t", [Column("x")], [[cells[-1]]]))
    assert "n too small: fewer samples" in capsys.readouterr().out


SEVERAL = {
    "equal": (("a", [1, 0, 1, 1]), ("b", [1, 0, 1, 1])),
    "other": (("a", [1, 1, 1, 0, 1, 1]), ("b", [0, 1, 0, 1, 0, 1])),
}


def section(runs, **given):
    return comparison_section(compare_rows(grid_of(runs), **given), all_effects(runs))


def test_a_table_per_metric_and_dataset_and_one_of_effects(tmp_path):
    runs = [
        job(tmp_path, [1, int(agent == "a"), None, 1], agent, varied={"condition": condition})
        for agent, condition in product("ab", ("few", "many"))
    ]
    made = section(runs, metrics=["score/x", "calls/per_sample"])
    assert [sheet.title for sheet in made.parts] == [
        "score/x on cab: higher counts as better", "calls/per_sample on cab: lower counts as better",
        "main effects and interactions, score/x on cab: higher counts as better",
    ]  # fmt: skip
    first = made.parts[0]
    assert len(first.rows) == 6 and all(len(row) == len(sheet.columns) for sheet in made.parts for row in sheet.rows)
    row = dict(zip((column.name for column in first.columns), first.rows[1], strict=True))
    assert (row["method"], row["less"], row["won:tied:lost"], row["pairs"]) == ("a few", "b few", "1:2:0", 3)
    assert isinstance(row["gain"], Value) and row["gain"].low <= row["gain"].value <= row["gain"].high
    assert first.columns[2].better == "higher", "a higher gain is always better"
    assert "1 left out, unscored: t-2 (a few - a many; a few - b few; a few - b many; ...)" in first.notes
    assert "3 episodes scored in every cell; 1 left out, which some cell lacks" in made.parts[2].notes


def test_effects_of_a_mean_of_means_are_titled_so(tmp_path):
    runs = []
    for agent, condition in product("ab", ("few", "many")):
        varied = {"agent": agent, "condition": condition}
        cfg = {name: {"_target_": f"mine.{value}"} for name, value in varied.items()}
        notes = {"sweep": "s", "swept": list(varied), "varied": varied, "choices": CHOICES | varied, "lower": []}
        scored = {"one": ("k", [1, 0, 1]), "two": ("k", [int(agent == "a")])}
        folder = write(tmp_path / (agent + condition), scored, cfg, levels={"score/x": ["task"]}, **notes)
        runs.append(Run.at(folder))
    titles = [sheet.title for sheet in section(runs).parts]
    what = "total/score/x on cab: higher counts as better; a mean of means per task"
    assert titles == [what, f"main effects and interactions, {what}"]


def test_a_column_that_is_left_out_has_no_legend(tmp_path):
    equal, other = ([job(tmp_path / name, of, agent) for agent, of in runs] for name, runs in SEVERAL.items())
    named = [{line.partition(":")[0] for line in section(runs).parts[0].notes} for runs in (equal, other)]
    assert "more samples" not in named[0] and {"more samples", "clusters"} <= named[1]


def test_tables_are_shown_on_a_terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    runs = [
        job(tmp_path, [1, 0.5, 0.25, n], agent, varied={"condition": c})
        for n, (agent, c) in enumerate(product("ab", "xy"))
    ]
    show_section(section(runs[:-1]))
    out = capsys.readouterr().out
    assert "score/x on cab" in out and "won:tied:lost" in out and "no effects: not run: b, y" in out
    assert max(map(len, out.splitlines())) <= 101


def test_p_values_are_read_with_three_digits():
    assert [p_text(p) for p in (None, 0.00001, 0.0123, 1.0)] == ["-", "<0.001", "0.012", "1.000"]


def test_metric_without_a_direction_has_no_arrow(tmp_path):
    runs = [job(tmp_path, of, agent, neither=["score/x"]) for agent, of in (("a", [3, 2]), ("b", [1, 1]))]
    (sheet,) = section(runs).parts
    assert sheet.title == "score/x on cab: neither direction is better; a gain is a higher value"
    assert [column.better for column in sheet.columns[2:3]] == [""] and sheet.columns[5].name == "higher:same:lower"


def test_every_part_of_a_wide_table_names_the_compared_methods(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    show_section(section([job(tmp_path, [1, n], f"method_of_a_long_name_{n}") for n in (0, 1)]))
    out = capsys.readouterr().out
    assert out.count("method_of_a_long_name_0") == out.count("method_of_a_long_name_1") >= 2
