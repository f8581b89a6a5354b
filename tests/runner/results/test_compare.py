"""Methods over datasets: the table, paired differences to the best baseline, cost per question."""

import json
import re

import pytest

from components.core.errors import ConfigError
from runner.report import main
from runner.results.grid import MEAN, deciding_score, grid_of
from runner.results.runs import Run, warnings_of
from runner.results.sections.comparisons import comparisons, methods, show_methods
from runner.results.versus import improvements
from runner.storage import manifest
from runner.storage.integrity import digests_of
from tests.runner.results.folders import CHOICES, write
from tests.runner.results.page.pages import grid
from tests.runner.results.records import change_records

DATA = {"medicine": "sets/medicine", "surgery": "sets/surgery"}
VALUES = {
    "plain": {"medicine": [1, 0, 0, 0, 1, 0], "surgery": [1, 1, 0, 0]},
    "chain": {"medicine": [1, 1, 0, 0, 1, 0], "surgery": [1, 0, 0, 0]},
    "panel": {"medicine": [1, 1, 1, 1, 1, 0], "surgery": [1, 1, 1, None]},
}


@pytest.fixture
def sweep(tmp_path):
    """The runs of a sweep over agents and datasets; ``values``: agent -> dataset -> scores."""

    def make(values=VALUES, **given):
        runs = []
        for agent, of in values.items():
            for name, scores in of.items():
                data = DATA.get(name, name)
                varied = {"agent": agent, "dataset": data}
                cfg = {"agent": {"_target_": f"mine.{agent}"}, "dataset": {"path": name}, "toolset": {"of": name}}
                manifest = {"sweep": "s", "swept": ["agent", "dataset"], "varied": varied, "decides": "score/x"}
                manifest |= {"choices": CHOICES | varied, "levels": {}} | given
                extra = manifest.pop("cfg", {})
                folder = write(tmp_path / f"{agent}-{name}", {name: ("k", scores)}, cfg=cfg | extra, **manifest)
                runs.append(Run.at(folder))
        return runs

    return make


def test_method_is_one_row_despite_settings_of_its_datasets(sweep):
    grid = grid_of(sweep())
    assert [row.label for row in grid.rows] == ["plain", "chain", "panel"]
    assert [(column.label, column.score) for column in grid.columns] == [
        ("medicine", "score/x"),
        ("surgery", "score/x"),
    ]
    found = grid.metrics["panel"]
    assert found["medicine"].value == pytest.approx(5 / 6) and found["surgery"].unscored == 1
    assert found[MEAN].value == pytest.approx((5 / 6 + 1) / 2), "unweighted"
    assert found[MEAN].ci_low < found[MEAN].value <= found[MEAN].ci_high


def test_run_whose_records_were_changed_is_noted_by_name(sweep):
    runs = sweep({"plain": {"medicine": [1, 0, 1]}, "chain": {"medicine": [1, 0, 1]}})
    for run in runs:
        manifest.write(run.folder, run.manifest | {"files": digests_of(run.folder)})
    path = runs[1].folder / "records.jsonl"
    path.write_text(path.read_text().replace('"score/x":0', '"score/x":1'))
    (message,) = warnings_of([Run.read(run.folder) for run in runs])
    assert message.startswith(f"warning: {path} was changed: it has another SHA-256 than its run wrote; python -m ")


def test_mean_needs_all_datasets_and_a_single_score(sweep):
    grid = grid_of(sweep({"plain": VALUES["plain"], "panel": {"medicine": [1, 0]}}))
    assert MEAN in grid.metrics["plain"] and MEAN not in grid.metrics["panel"]
    runs = sweep()
    path = runs[-1].folder / "records.jsonl"
    path.write_text(path.read_text().replace("score/x", "score/y"))
    grid = grid_of([Run.at(runs[0].folder), Run.at(runs[-1].folder)])
    assert not grid.averages and [column.score for column in grid.columns] == ["score/x", "score/y"]


def test_dataset_with_several_groups_counts_as_its_mean_of_means(tmp_path):
    levels = {"score/x": ["task"]}
    folder = write(tmp_path / "a", {"one": ("k", [1, 1, 1, 1]), "two": ("k", [0])}, levels=levels)
    ((metric,),) = (of.values() for of in grid_of([Run.at(folder)]).metrics.values())
    assert metric.value == 0.5, "not 0.8"
    other = write(tmp_path / "c", {"one": ("k", [1, 1, 0, 1]), "two": ("k", [1])}, levels=levels)
    runs = [Run.at(folder), Run.at(other)]
    table = methods(runs).parts[0]
    assert table.title == "total/score/x", "its name in the table of a run"
    assert "total/score/x is the mean of means per task, not of samples" in table.notes
    title = comparisons(runs).parts[0].title
    assert title.startswith("total/score/x on ") and title.endswith(
        ": higher counts as better; a mean of means per task"
    )
    single = write(tmp_path / "b", {"one": ("k", [1, 1, 1, 0])}, levels=levels)
    ((metric,),) = (of.values() for of in grid_of([Run.at(single)]).metrics.values())
    assert (metric.value, metric.ci_low) == (0.75, pytest.approx(0.3006, abs=1e-4)), "Wilson, as the run's own metrics"


def test_columns_of_the_same_choice_are_named_by_their_settings(sweep, tmp_path):
    runs = [
        Run.at(write(tmp_path / f"o{n}", {"t": ("k", [1])}, cfg={"dataset": {"options": n, "split": "test"}}))
        for n in (4, 5)
    ]
    assert [column.label for column in grid_of(runs).columns] == ["cab options=4", "cab options=5"]


def test_differences_are_paired_with_the_best_baseline_of_each_dataset(sweep):
    found = improvements(grid_of(sweep()), ["plain", "chain"])
    assert found["medicine"].keys() == {"plain", "panel"}, "the best baseline is not compared with itself"
    one = found["medicine"]["panel"]
    assert (one.against, one.difference.wins, one.difference.losses, one.difference.metric.n, one.unpaired) == (
        "chain",
        2,
        0,
        6,
        0,
    )
    assert one.difference.metric.value == pytest.approx(2 / 6) and one.difference.p == 0.5
    other = found["surgery"]["panel"]
    assert (other.against, other.difference.metric.n, other.unpaired, other.difference.wins) == ("plain", 3, 1, 1)
    assert found["medicine"]["plain"].difference.metric.value == pytest.approx(-1 / 6)
    whole = found[MEAN]["panel"]
    assert whole.against == "plain" and whole.difference.metric.n == 9
    assert whole.difference.metric.value == pytest.approx((3 / 6 + 1 / 3) / 2)
    assert whole.difference.metric.ci_low < whole.difference.metric.value < whole.difference.metric.ci_high


def test_without_baselines_methods_are_compared_with_the_best_other(sweep):
    found = improvements(grid_of(sweep()))
    assert {label: one.against for label, one in found["medicine"].items()} == {
        "plain": "panel", "chain": "panel", "panel": "chain",
    }  # fmt: skip
    assert found["medicine"]["panel"].difference.p_holm == found["medicine"]["chain"].difference.p_holm, (
        "one comparison, not two"
    )


def test_a_baseline_that_is_a_condition_is_that_of_the_same_agent(tmp_path):
    values = {
        ("react", "intact"): [1, 1],
        ("react", "withheld"): [1, 0],
        ("cot", "intact"): [0, 0],
        ("cot", "withheld"): [0, 1],
    }
    found = improvements(grid_of(grid(tmp_path / "s", values)), ["withheld"])["cab"]
    assert (found["react intact"].against, found["cot intact"].against) == ("react withheld", "cot withheld")


def test_two_methods_that_have_each_other_are_listed_once(sweep, capsys):
    show_methods(sweep({"plain": {"medicine": [1, 0]}, "panel": {"medicine": [0, 0]}}), [])
    table = capsys.readouterr().out.partition("Paired differences to the best other method")[2]
    assert re.findall(r"medicine +(plain|panel) +(plain|panel)", table) == [("plain", "panel")]


def test_the_page_has_differences_on_a_dataset_in_one_table(sweep):
    one = methods(sweep({"plain": {"medicine": [1, 0]}, "panel": {"medicine": [0, 0]}}))
    assert [sheet.title for sheet in one.sheets] == ["score/x", "Per question, by method and purpose"]
    assert {row[0] for row in methods(sweep()).sheets[-1].rows} == {"mean"}


def test_method_is_compared_with_baselines_of_its_own_model(sweep, tmp_path):
    other = [
        Run.at(write(tmp_path / f"big-{agent}", {"medicine": ("k", values["medicine"])}, models={"main": "big"},
                     cfg={"agent": {"_target_": f"mine.{agent}"}, "dataset": {"path": "medicine"}, "model": {"n": 1}},
                     choices=CHOICES | {"agent": agent, "dataset": DATA["medicine"]}))
        for agent, values in (("plain", {"medicine": [1] * 6}), ("panel", VALUES["panel"]))
    ]  # fmt: skip
    runs = [run for run in sweep() if run.folder.name.endswith("medicine")] + other
    grid = grid_of(runs)
    found = improvements(grid, ["plain"])["medicine"]
    assert len(found) == 3 and len(grid.rows) == 5
    models = {row.label: row.first.model for row in grid.rows}
    assert all(models[label] == models[one.against] for label, one in found.items())


def test_equal_scores_do_not_prove_equality(sweep):
    found = improvements(grid_of(sweep({"plain": {"medicine": [1, 0, 1]}, "panel": {"medicine": [1, 0, 1]}})))
    metric = found["medicine"]["panel"].difference.metric
    assert metric.value == 0.0 and -0.9 < metric.ci_low < -0.1 and 0.1 < metric.ci_high < 0.9
    assert found["medicine"]["panel"].difference.p == 1.0


def test_epochs_of_a_sample_are_one_vote(tmp_path):
    runs = []
    for agent, value in (("plain", 0.0), ("panel", 1.0)):
        folder = write(
            tmp_path / agent, {"t": ("k", [value])}, cfg={"agent": {"n": agent}}, choices=CHOICES | {"agent": agent}
        )
        line = json.loads((folder / "records.jsonl").read_text())
        lines = [json.dumps(line | {"epoch": epoch}) for epoch in range(5)]
        (folder / "records.jsonl").write_text("\n".join(lines) + "\n")
        runs.append(Run.at(folder))
    (one,) = improvements(grid_of(runs), ["plain"])["cab"].values()
    assert (one.difference.metric.n, one.difference.wins, one.difference.p) == (5, 1, None), "one sample tests nothing"


def test_sweep_end_prints_the_comparison_and_writes_compare_json(sweep, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    runs = sweep(cfg={"compare": {"baselines": ["plain", "chain"]}})
    assert main(["verifier", str(tmp_path)]) == 2, "there is no verdict"
    assert main(["table", str(tmp_path)]) == 0
    assert "Paired" not in capsys.readouterr().out and (tmp_path / "compare.json").exists()
    assert main(["table", str(tmp_path), "--all"]) == 0
    out = capsys.readouterr().out
    for message in (
        "score/x\n", "Per question, by method", "Paired differences to the best of plain, chain",
        "unscored episodes, left out: panel surgery 1", "McNemar's exact test", "Holm", "favours it",
        "episodes without a scored partner, left out: panel surgery 1",
    ):  # fmt: skip
        assert message in out, message
    comparison = json.loads((tmp_path / "compare.json").read_text())
    assert comparison["baselines"] == ["plain", "chain"] and comparison["scores"]["medicine"] == "score/x"
    assert comparison["rows"]["panel"]["mean"]["value"] == pytest.approx((5 / 6 + 1) / 2)
    assert comparison["differences"]["medicine"]["panel"]["wins"] == 2
    assert comparison["per_question"]["plain"] == {"calls": 1, "tokens in": 1, "tokens out": 1, "USD": 0}
    tables = [line for line in out.split("Paired differences")[0].splitlines()[-40:] if str(tmp_path) not in line]
    assert max(map(len, tables)) <= 100
    text = (tmp_path / "compare.md").read_text()
    assert "### Paired differences to the best of plain, chain" in text and "| panel |" in text
    capsys.readouterr()
    assert main(["methods", str(tmp_path), "--baselines", "chain"]) == 0
    out = capsys.readouterr().out
    assert "Paired differences to chain" in out and "favours it" not in out and "Status complete" not in out
    assert json.loads((tmp_path / "compare.json").read_text()) == comparison, "printing changes no file"
    assert main(["methods", str(tmp_path), "--baselines", "plain,nobody"]) == 2
    assert "no method here is nobody; there are" in capsys.readouterr().err
    show_methods(runs[:1])
    assert capsys.readouterr().out == "", "one method on one dataset"


def test_long_labels_are_complete_on_a_terminal_of_100_columns(sweep, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    long = "few_shot_self_consistency_with_tools"
    names = [f"professional_medicine_{n}" for n in range(6)]
    show_methods(sweep({long: {name: [1, 0] for name in names}, "plain": {name: [0, 0] for name in names}}))
    out = capsys.readouterr().out
    assert "\u2026" not in out and out.count(long) > 3 and all(name in out for name in names)
    assert max(map(len, out.splitlines())) <= 101


def test_notes_on_runs_are_printed_once_with_their_methods(sweep):
    runs = sweep(notes=["the memory grew"], model_kind="simulated")
    first, *others = warnings_of(runs)
    assert first.startswith("simulated model: these numbers say nothing")
    assert others == [f"note: the memory grew ({', '.join(VALUES)})"] and warnings_of(sweep()) == []


def test_missing_baseline_is_refused_for_a_single_run_too(sweep):
    with pytest.raises(ConfigError, match="no method here is tree"):
        show_methods(sweep({"plain": {"medicine": [1, 0]}}), ["tree"])


def test_score_without_a_direction_has_no_best_method(sweep, capsys):
    show_methods(sweep({"plain": {"medicine": [3, 5]}, "chain": {"medicine": [9, 9]}}, neither=["score/x"]))
    assert "Paired differences" not in capsys.readouterr().out
    show_methods(sweep({"plain": {"medicine": [3, 5]}, "chain": {"medicine": [9, 9]}}, neither=["score/x"]), ["plain"])
    assert "Paired differences to plain" in capsys.readouterr().out


def test_methods_are_compared_by_a_score_with_values_if_the_headline_has_none(sweep):
    runs = sweep({"plain": {"medicine": [None, None]}, "chain": {"medicine": [None, None]}})
    for run in runs:
        change_records(run, lambda n, record: record["scores"].update({"score/y": float(n)}))
    assert [column.score for column in grid_of(runs).columns] == ["score/y"]
    change_records(runs[0], lambda n, record: record["scores"].update({"score/x": None if n else 1.0}))
    assert [column.score for column in grid_of(runs).columns] == ["score/x"]


def test_solved_episodes_use_a_score_with_values(tmp_path):
    run = Run.at(write(tmp_path, {"one": ("k", [None, None])}, decides="score/x"))
    assert deciding_score(run) == "score/x", "nothing else is known"
    change_records(run, lambda _, record: record["scores"].update({"score/y": 1.0}))
    assert deciding_score(run) == "score/y"
    change_records(run, lambda n, record: record["scores"].update({"score/x": None if n else 0.0}))
    assert deciding_score(run) == "score/x"
