"""Tables and plots of settings that a sweep varies one at a time."""

from runner.results.sections.figures import curves as section
from runner.results.sheets import Plot, Sheet, Value
from tests.runner.results.folders import CHOICES
from tests.runner.results.page.pages import cells, made, tips

POINTS = [(1, 2), (2, 2), (5, 2), (10, 2), (5, 1), (5, 3)]


def swept(home, points=POINTS, curves=("agent.m", "agent.n"), datasets=("one", "two")):
    """Runs of a sweep over two settings, on each dataset; two samples are solved with ten of the first, else one."""
    runs = []
    for dataset in datasets:
        for m, n in points:
            cfg = {"agent": {"_target_": "mine.Agent", "m": m, "n": n}, "compare": {"curves": list(curves)},
                   "dataset": {"_target_": "mine.Data", "name": dataset}}  # fmt: skip
            scored = {"one": ("k", [1, int(m == 10)])}
            runs.append(made(home / f"{dataset}-{m}-{n}", scored, cfg, choices=CHOICES | {"dataset": dataset}))
    return runs


def test_each_curve_has_one_plot_and_an_ordered_table_per_dataset(tmp_path):
    found = section(swept(tmp_path))
    sheets = {part.title: part for part in found.parts if isinstance(part, Sheet)}
    assert list(sheets) == [f"score/x by {key}, {name}" for key in "mn" for name in ("one", "two")]
    first, second = sheets["score/x by m, two"], sheets["score/x by n, two"]
    assert [row["m"] for row in cells(first)] == ["1", "2", "5", "10"] and first.notes == ["fixed: agent.n 2"]
    assert [row["n"] for row in cells(second)] == ["1", "2", "3"] and second.notes == ["fixed: agent.m 5"]
    score = cells(first)[-1]["score/x"]
    assert isinstance(score, Value) and score.value == 1.0 and cells(first)[0]["episodes"] == 2
    plots = [part for part in found.parts if isinstance(part, Plot)]
    assert [plot.title for plot in plots] == ["score/x by m", "score/x by n"]
    places = [tip.partition(",")[0] for tip in tips(plots[0])]
    assert places == [f"{name}: {m}" for name in ("two", "one") for m in (1, 2, 5, 10)]


def test_setting_that_varies_with_others_is_reported(tmp_path):
    found = section(swept(tmp_path, [(5, 1), (5, 2)], datasets=("one",)))
    assert "no two runs here differ in agent.m alone" in found.intro
    assert [part.title for part in found.parts if isinstance(part, Sheet)] == ["score/x by n, one"]


def test_runs_without_curves_have_no_section(tmp_path):
    assert section(swept(tmp_path, curves=())) is None
