"""All runs next to each other."""

import json

from runner.results.sections.scores import leaderboard as section
from runner.results.sheets import Plot, Sheet, Value
from tests.runner.results.page.pages import cells, grid, made, tips

VALUES = {
    ("react", "intact"): [1, 1], ("react", "withheld"): [1, 0], ("cot", "intact"): [0, 0], ("cot", "withheld"): [1, 1],
}  # fmt: skip


def test_scores_and_costs_equal_metrics_json(tmp_path):
    runs = grid(tmp_path, VALUES)
    scores, costs = (part for part in section(runs).parts if isinstance(part, Sheet))
    for run, row, cost in zip(runs, cells(scores), cells(costs), strict=True):
        known = json.loads((run.folder / "metrics.json").read_text())["metrics"]
        assert row["score/x"] == Value(*(known["score/x"][key] for key in ("value", "ci_low", "ci_high", "n")))
        assert cost["tokens/input"].value == known["tokens/input"]["value"]
    assert scores.columns[-1].better == "higher" and {c.name: c.unit for c in costs.columns}["cost/usd"] == "USD"


def test_the_best_run_is_drawn_at_the_top(tmp_path):
    for lower, first in (((), "react intact"), (("score/x",), "cot intact")):
        plot = next(
            part
            for part in section(grid(tmp_path / str(bool(lower)), VALUES, lower=lower)).parts
            if isinstance(part, Plot)
        )
        values = [float(tip.split(": ")[1].split()[0]) for tip in tips(plot)]
        assert values == sorted(values, reverse=bool(lower)) and first in " ".join(tips(plot)[-2:])


def test_a_mean_of_means_is_explained(tmp_path):
    scored = {"one": ("k", [1, 1, 0, 1]), "two": ("d", [1])}
    notes = section([made(tmp_path / "a", scored)]).parts[0].notes
    assert notes == ["total/score/x is the mean of means per dimension of means per task, not of samples"]
    assert section([made(tmp_path / "b", scored, levels={})]).parts[0].notes == []


def test_unfinished_run_is_named(tmp_path):
    scores = section([made(tmp_path / "a", {"one": ("k", [1])}, status="interrupted")]).parts[0]
    assert scores.notes == ["react openai: Status interrupted: 4 of 4 episodes finished, 0 errored."]


def test_no_runs_give_no_section():
    assert section([]) is None
