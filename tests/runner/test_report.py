"""``python -m runner.report``: several runs at once, and the end of a sweep."""

import json
import os
import re

import pytest

from runner.report import main
from runner.results.sections.page import SECTIONS
from runner.results.sections.report import present
from runner.storage import manifest
from runner.storage.integrity import digests_of
from runner.storage.records import RecordWriter
from tests.acceptance.command import run_in_process
from tests.runner.results.folders import write
from tests.slow import slow
from tests.table import each_row


def test_several_runs_are_averaged(tmp_path, capsys):
    one = write(tmp_path / "a", {"one": ("k", [1, 0]), "three": ("k", [1, 0])})
    two = write(tmp_path / "b", {"two": ("d", [1, 1])})
    assert main(["table", str(one), str(two), "--all"]) == 0
    out = capsys.readouterr().out
    assert "score/x: means per dimension of means per task, and total" in out and "0.7500" in out
    metrics = json.loads((one / "metrics.json").read_text())["metrics"]
    assert metrics["total/score/x"]["value"] == 0.5 and metrics["dimension/k/score/x"]["n"] == 4
    assert "total/score/x" in (one / "report.md").read_text()
    assert "means of the means per task" in (one / "report.md").read_text()


def test_several_runs_are_a_table_and_each_is_printed_on_request(tmp_path, capsys):
    folders = [str(write(tmp_path / name, {"one": ("k", [1, 0])}, levels={}, sweep="s")) for name in "ab"]
    assert main(["table", *folders]) == 0
    out = capsys.readouterr().out
    assert out.lstrip().startswith("2 runs\n") and "score/x decides; " in out and "run folder: " not in out
    assert "by stratum:  python -m runner.report strata FOLDER ...\n" in out and len(out.splitlines()) < 20
    assert main(["table", str(tmp_path)]) == 0
    assert f"by stratum:  python -m runner.report strata {tmp_path}\n" in capsys.readouterr().out
    assert main(["table", *folders, "--all"]) == 0
    out = capsys.readouterr().out
    assert all(f"{name}: Status complete: " in out and f"run folder: {tmp_path / name}\n" in out for name in "ab")


def test_a_run_in_progress_has_scores_in_tables_and_on_the_page(tmp_path, capsys):
    folders = [write(tmp_path / name, {"one": ("k", [1, 0]), "two": ("k", [1, 1])}, levels={}) for name in "ab"]
    writer = RecordWriter(folders[1])
    assert main(["table", *map(str, folders)]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()].count(["b", "0.7500", "0.1000"]) == 1
    assert main(["page", str(folders[1])]) == 0 and not (folders[1] / "metrics.json").exists()
    page = (folders[1] / "report.html").read_text()
    assert 'id="strata"' in page and "0.7500" in page
    writer.close()


def test_equal_runs_in_folders_of_one_name_are_told_apart_by_their_paths(tmp_path, capsys):
    folders = [str(write(tmp_path / name / "r", {"one": ("k", [1])}, levels={})) for name in "ab"]
    assert main(["table", *folders]) == 0
    assert {"a/r", "b/r"} == set(re.findall(r"\b[ab]/r\b", capsys.readouterr().out.partition("each run")[0]))


def test_runs_of_a_single_task_have_no_separate_means(tmp_path, capsys):
    levels = {"score/x": ["task"]}
    folders = [write(tmp_path / name, {"one": ("k", [1, 0])}, levels=levels) for name in "ab"]
    assert main(["table", *map(str, folders)]) == 0
    out = capsys.readouterr().out
    assert "score/x" in out and "means per" not in out and "total/score/x" not in out
    assert "means of the means" not in (folders[0] / "report.md").read_text()


def test_runs_without_levels_have_no_table_of_means(tmp_path, capsys):
    folders = [str(write(tmp_path / name, {"one": ("k", [1])}, levels={})) for name in "ab"]
    assert main(["table", *folders]) == 0
    assert "means per" not in capsys.readouterr().out
    assert "means of the means" not in (tmp_path / "a" / "report.md").read_text()


def test_values_of_strata_are_printed_on_request(tmp_path, capsys):
    folder = str(write(tmp_path / "a", {"one": ("k", [1, 0]), "two": ("k", [1, 1])}))
    assert main(["table", folder]) == 0
    short = capsys.readouterr().out
    assert "total/score/x" in short and "dimension/k" not in short and "stop/refused" not in short
    assert main(["table", folder, "--all"]) == 0
    whole = capsys.readouterr().out
    assert "dimension/k/score/x" in whole and "stop/refused" in whole


def test_of_many_scores_the_first_of_each_group_are_printed_the_one_that_decides_before_all(capsys):
    one = {"value": 0.5, "ci_low": 0.1, "ci_high": 0.9, "n": 12, "unscored": 0}
    scores = ["plan/a", "plan/b", "plan/c", "act/a", "act/b", "end/first", "end/last", "stop/answered"]
    scores += ["calls/total", "calls/per_sample", "cost/usd", "tokens/input", "tokens/output", "time/seconds_p50"]
    metrics = dict.fromkeys(scores, one) | {"stop/failed": one | {"value": 0.0}, "act/none": one | {"value": None}}
    present("title", {"decides": "end/last", "lower": ["act/a"]}, {"metrics": metrics, "strata": {}})
    out = capsys.readouterr().out
    assert re.findall(r"^  (\w+/\w+.*?)  ", out, re.M) == [
        "end/last ↑",
        "plan/a ↑",
        "act/a ↓",
        "end/first ↑",
        "stop/answered",
    ]
    assert "end/last decides; ↑ higher is better" in out


def test_views_replace_the_metrics(tmp_path, capsys):
    assert main(["tools", str(write(tmp_path / "a", {"one": ("k", [1])}))]) == 0
    assert "run folder:" not in capsys.readouterr().out


@slow
def test_a_run_that_could_not_be_sent_ends_the_command_with_1(tmp_path, capsys):
    folder, store = write(tmp_path / "a", {"one": ("k", [1])}), tmp_path / "mlflow.db"
    store.mkdir()
    for uri, code in ((f"sqlite:///{store}", 1), ("null", 0)):
        (folder / "config.yaml").write_text(f"name: x\ntracking: {{uri: '{uri}'}}\n".replace("'null'", "null"))
        assert main(["track", str(folder)]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert "mlflow.db is a folder; nothing is lost" in line


@slow
def test_report_of_counts_has_the_intervals_of_the_run(tmp_path):
    """A count is not a share, and the manifest names the scores that are counts."""
    done = run_in_process(tmp_path, "agent=llm2sql", "limit=4", "tracking=off", "hydra.run.dir=run", own=False)
    assert done.code == 0, done.err
    before = (tmp_path / "run" / "metrics.json").read_bytes()
    assert main(["table", str(tmp_path / "run")]) == 0
    assert (tmp_path / "run" / "metrics.json").read_bytes() == before


def test_a_file_that_is_not_as_its_run_wrote_it_is_named(tmp_path, capsys):
    path = write(tmp_path / "a", {"one": ("k", [1, 0])}) / "records.jsonl"
    manifest.write(path.parent, manifest.read(path.parent) | {"files": digests_of(path.parent)})
    path.write_text(path.read_text().replace('"score/x":0', '"score/x":1'))
    assert main(["table", str(path.parent)]) == 0
    assert capsys.readouterr().err.startswith(f"warning: {path} was changed: it has another SHA-256 than its run wrote")


def test_a_run_that_may_only_be_read_is_reported(tmp_path, capsys, monkeypatch):
    folder = write(tmp_path / "a", {"one": ("k", [1, 0])})
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # to root, everything is writable
    assert main(["table", str(folder)]) == 0 and "0.5000" in capsys.readouterr().out
    assert not (folder / "report.md").exists()


def test_killed_run_is_reported_up_to_its_last_record(tmp_path, capsys):
    folder = write(tmp_path / "a", {"one": ("k", [1])})
    notes = json.loads((folder / "manifest.json").read_text())
    del notes["counts"]
    (folder / "manifest.json").write_text(json.dumps({**notes, "status": "running"}))
    assert main(["table", str(folder)]) == 0
    status = "Status running: it still runs or was killed (run.resume=FOLDER resumes it)"
    assert status in capsys.readouterr().out and status in (folder / "report.md").read_text()


def test_a_folder_with_a_foreign_manifest_is_refused_in_one_line(tmp_path, capsys):
    folder = write(tmp_path / "a", {"one": ("k", [1])})
    (folder / "manifest.json").write_text('{"a": 1}')
    assert main(["table", str(folder)]) == 2
    assert "is not the manifest of a run: it lacks choices, command, dataset, epochs," in capsys.readouterr().err


def test_a_record_without_strata_is_refused_in_one_line(tmp_path, capsys):
    folder = write(tmp_path / "a", {"one": ("k", [1])})
    record = json.loads((folder / "records.jsonl").read_text())
    (folder / "records.jsonl").write_text(json.dumps({k: v for k, v in record.items() if k != "strata"}) + "\n")
    assert main(["table", str(folder)]) == 2
    assert "has no strata" in capsys.readouterr().err


@each_row(
    "words, message",
    [
        (["RUN"], "'RUN' is not a command; tables: python -m runner.report table RUN"),
        (["stratas", "RUN"], "'stratas' is not a command; did you mean strata"),
        (["tables", "a"], "did you mean table or samples or tools? tables: python -m runner.report table a\n"),
        (["page", "RUN", "--show", "012"], "python -m runner.report COMMAND FOLDER ..., or episode SAMPLE FOLDER"),
        (["tools"], "the following arguments are required: FOLDER"),
        (["table", "RUN", "--what"], "unrecognized arguments: --what"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_unknown_words_are_refused_in_one_line(words, message, capsys):
    assert main(words) == 2
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1


def test_a_section_without_anything_says_what_it_needs(tmp_path, capsys):
    folder = str(write(tmp_path / "a", {"one": ("k", [1])}))
    for name, needs in (("harm", "scorer harm"), ("audit", "scorer audit"), ("confidence", "agent.confidence"),
                        ("forks", "fork=RUN")):  # fmt: skip
        assert main([name, folder]) == 2 and f"needs {needs})" in capsys.readouterr().err


def test_every_section_is_a_command(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    listed = capsys.readouterr().out
    assert SECTIONS.keys() - {"episodes"} <= set(listed.split())
    assert "one row per model" in listed and "of the page" not in listed


def test_bundle_does_not_overwrite_a_file(tmp_path, capsys):
    folder = write(tmp_path / "a", {"one": ("k", [1])})
    (tmp_path / "mine.zip").write_text("mine")
    assert main(["bundle", str(tmp_path / "mine.zip"), str(folder)]) == 2
    assert "the file exists already" in capsys.readouterr().err and (tmp_path / "mine.zip").read_text() == "mine"
