"""The names of runs and the directions of their metrics."""

import json

import pytest

from runner.results.rows import axis, better, column, headlines, read_metrics
from runner.results.sheets import Value
from tests.runner.results.page.pages import grid, made


def test_values_equal_metrics_json(tmp_path):
    run = made(tmp_path / "a", {"one": ("k", [1, 0, 1])})
    (one,) = read_metrics(run)
    metric = json.loads((run.folder / "metrics.json").read_text())["metrics"]["score/x"]
    assert one.value("score/x") == Value(metric["value"], metric["ci_low"], metric["ci_high"], 3)
    assert one.value("no/such") is None and one.run.dataset == "cab"


def test_a_run_without_metrics_has_none(tmp_path):
    run = made(tmp_path / "a", {"one": ("k", [1])})
    (run.folder / "metrics.json").unlink()
    assert read_metrics(run)[0].metrics == {} and headlines(read_metrics(run)) == []


def test_runs_of_a_row_are_distinguished_by_their_tasks(tmp_path):
    parts = [("a", "one"), ("b", "two")]
    runs = [made(tmp_path / name, {task: ("k", [1])}, dataset={"name": f"data {name}"}) for name, task in parts]
    assert [one.label for one in read_metrics(*runs)] == ["react openai data a", "react openai data b"]


def test_runs_of_a_sweep_are_named_by_the_varied_settings(tmp_path):
    runs = grid(tmp_path, {(a, c): [1] for a in ("react", "cot") for c in ("intact", "withheld")})
    assert [one.label for one in read_metrics(*runs)] == [
        "react intact",
        "react withheld",
        "cot intact",
        "cot withheld",
    ]


@pytest.mark.parametrize(
    ("name", "lower", "way"),
    [
        ("score/x", (), "higher"),
        ("score/x", ("score/x",), "lower"),
        ("cost/usd", (), "lower"),
        ("stop/refused", (), ""),
        ("tools/actions", (), ""),
    ],
)
def test_columns_and_axes_show_the_direction(tmp_path, name, lower, way):
    notes = {"lower": lower, "neither": ["tools/actions"], "units": {"tools/actions": "actions"}}
    found = read_metrics(made(tmp_path / "a", {"one": ("k", [1, 0])}, **notes))
    assert column(found, name).better == way
    assert column(found, name).unit == {"cost": "USD", "stop": "share", "tools": "actions"}.get(
        name.partition("/")[0], ""
    )
    assert (f"{way} is better" in axis(found, name)) is bool(way)


def test_undeclared_directions_follow_a_perfect_agent(tmp_path):
    run = made(tmp_path / "a", {"one": ("k", [1, 0])})
    path = run.folder / "metrics.json"
    known = json.loads(path.read_text())
    known["metrics"]["score/x"]["ceiling"] = 0.0
    path.write_text(json.dumps(known))
    notes = {name: value for name, value in run.manifest.items() if name != "lower"}
    old = type(run)(run.folder, notes, run.cfg)
    assert better(read_metrics(run), "score/x") == "higher" and better(read_metrics(old), "score/x") == "lower"


def test_scores_without_a_direction_are_not_headlines_and_have_no_arrow(tmp_path):
    run = made(tmp_path / "a", {"one": ("k", [1])}, neither=["score/x"])
    assert headlines(read_metrics(run)) == ["score/x"], "the deciding score is always shown"
    assert better(read_metrics(run), "score/x") == "" and column(read_metrics(run), "score/x").better == ""
    run = made(tmp_path / "b", {"one": ("k", [1])}, neither=["total/score/x"])
    assert "total/score/x" not in headlines(read_metrics(run))
