"""The output and files of a finished search."""

import json

import pytest

from runner.job.plan import Cell
from runner.sweep.search_space import Dimension, Search
from runner.sweep.search_study import Study, conclude

pytest.importorskip("optuna", reason="comes with the extra optuna")
SPACE = {"agent.t": Dimension(0, 1, None, False, False)}


def write_trial(folder, value):
    folder.mkdir(parents=True)
    metric = {"value": value, "ci_low": value - 0.1, "ci_high": value + 0.1, "n": 9}
    (folder / "metrics.json").write_text(json.dumps({"metrics": {"score": metric}}))
    (folder / "config.yaml").write_text("name: left")
    session = {"sent": 2, "from_journal": 0}
    notes = {"status": "complete", "counts": {"finished": 9, "wanted": 9, "errored": 0}, "sessions": [session]}
    (folder / "manifest.json").write_text(json.dumps(notes))
    return Cell((), {}, folder.name, folder, code=0)


def test_table_lists_the_best_first_and_the_file_has_all_trials(tmp_path, capsys):
    search = Search({"score": "maximise"})
    with Study(tmp_path, search, SPACE) as study:
        plan = {
            trial.number: write_trial(tmp_path / f"trial-{trial.number:04}", 0.3 + trial.number / 10)
            for trial in study.ask(3)
        }
        plan[2].error = "broke"
        for number in (0, 1):
            study.complete(number, [0.3 + number / 10])
        study.complete(2, None)
        conclude(study, search, SPACE, plan)
    out = capsys.readouterr().out
    assert "the best 2 of 3 trials (2 complete, 1 failed)" in out and "score \N{UPWARDS ARROW}" in out
    assert out.index("trial-0001") < out.index("trial-0000") and "0.300 to 0.500" in out
    assert "calls:      4 sent" in out and f"report:     {tmp_path / 'report.html'}" in out
    saved = json.loads((tmp_path / "search.json").read_text())
    assert (saved["best"], saved["trials"][1]["objectives"]["score"]["n"]) == ([1], 9)
    assert (saved["trials"][2]["state"], saved["trials"][2]["stopped"]) == ("failed", "broke")
