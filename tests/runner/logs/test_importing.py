"""Logs of other tools become run folders that tables and comparisons take."""

import json
import zipfile
from pathlib import Path

from runner.compare import main as compare
from runner.logs.__main__ import main
from runner.logs.documents import Archive
from runner.logs.harness import read_harness
from runner.logs.inspect_log import read_inspect
from runner.report import main as report
from runner.results.folders import run_folders
from runner.results.runs import Run
from runner.storage import manifest, records
from runner.storage.stored import Unpacker
from runner.storage.texts import TextReader
from tests.runner.logs.helm_run import write as write_helm

HERE = Path(__file__).parent
EVAL, HARNESS = HERE / "arith.eval", HERE / "harness"  # written by inspect_ai 0.3.285 and lm-evaluation-harness 0.4.13


def imported(new, *words):
    """The only run folder that is made, and its records by sample and epoch."""
    assert main([str(new), *map(str, words)]) == 0
    (folder,) = run_folders(new)
    return folder, {(one["sample_id"], one["epoch"]): one for one in records.read(folder)}


def test_a_log_of_inspect_has_its_scores_errors_clusters_and_usage(tmp_path, capsys):
    folder, found = imported(tmp_path / "new", EVAL, "--cluster", "patient", "--privacy", "open")
    assert len(found) == 8 and {one["cluster"] for one in found.values()} == {"p0", "p1", "p2"}
    assert found["1", 0]["scores"] == {"score/match": 1.0, "score/two.a": 0.25, "score/two.b": 2.0}
    assert found["2", 0]["scores"]["score/match"] == 0.0
    assert found["3", 0]["scores"] == {"score/match": 1.0, "score/two": None}  # unscored
    assert (found["3", 1]["stop"], found["3", 1]["error"]) == ("error", "IndexError('list index out of range')")
    whole = {"calls": 2, "input_tokens": 200, "output_tokens": 14, "cost_usd": 0.002}
    assert found["1", 0]["usage"] == {**whole, "purposes": {"act": whole}}
    notes = manifest.read(folder)
    assert notes["kinds"] == {"score/match": "proportion", "score/two.a": "share", "score/two.b": "number"}
    assert notes["counts"] == {"finished": 8, "wanted": 8, "errored": 1} and notes["status"] == "complete"
    assert notes["imported"] == {"tool": "inspect_ai", "file": "arith.eval"} and notes["dataset"]["privacy"] == "open"
    assert capsys.readouterr().out == f"{folder}\ntables:     python -m runner.report table {tmp_path / 'new'}\n"
    assert report(["table", str(tmp_path / "new")]) == 0
    assert "score/match" in capsys.readouterr().out and (folder / "report.md").exists()


def test_the_messages_of_a_log_are_the_steps_of_its_episode(tmp_path):
    folder, found = imported(tmp_path / "new", EVAL)
    first, last = Unpacker(TextReader(folder)).trajectory(found["1", 0]).steps
    assert first.asked[0].text.startswith("What is 1+2?") and first.kept == 0 and last.kept == 1
    (seen,) = first.observed
    assert (seen.call.name, seen.call.parsed, seen.observation.text) == ("add", {"x": 0, "y": 2}, "2")
    assert [message.role for message in last.asked] == ["assistant", "tool"] and last.reply.text == "42"
    assert found["1", 0]["answer"] == "42" and found["1", 0]["cluster"] is None


def test_the_json_form_of_a_log_is_the_same(tmp_path):
    archive = Archive(EVAL)
    samples = [archive.read(name) for name in archive.infos if name.startswith("samples/")]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(archive.read("header.json") | {"samples": samples}))
    assert [*map(repr, read_inspect(path, None).entries)] == [*map(repr, read_inspect(EVAL, None).entries)]


def test_a_log_that_did_not_end_and_a_sample_that_met_a_limit_are_so_here(tmp_path):
    head = {"eval": {"task": "t", "model": "m", "dataset": {"samples": 3}, "config": {"epochs": 2}}}
    sample = {"id": "a", "epoch": 2, "messages": [], "scores": {"x": {"value": 2.5}}, "limit": {"type": "token"}}
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("_journal/start.json", json.dumps(head))
        archive.writestr("samples/a_epoch_2.json", json.dumps(sample))
    folder, found = imported(tmp_path / "new", tmp_path / "log.eval")
    assert found["a", 1]["stop"] == "limit" and found["a", 1]["scores"] == {"score/x": 2.5}
    notes = manifest.read(folder)
    assert (notes["status"], notes["counts"]["wanted"], notes["kinds"]) == ("partial", 6, {"score/x": "number"})


def test_logs_of_one_dataset_are_paired_by_sample_and_cluster(tmp_path, capsys):
    new = tmp_path / "new"
    assert main([str(new), str(EVAL), str(EVAL), "--cluster", "patient"]) == 0
    assert compare([str(new), "--out", str(tmp_path / "out")]) == 0
    (one, *_) = json.loads((tmp_path / "out/compare.json").read_text())["comparisons"]
    assert (one["pairs"], one["clusters"]) == (7, 3) and one["gain"] == 0.0


def test_helm_has_perturbed_samples_in_the_cluster_of_their_instance(tmp_path):
    folder, found = imported(tmp_path / "new", write_helm(tmp_path / "helm"))
    assert found["id1", 0]["scores"] == {"score/f1_score": 0.5, "score/exact_match": 1.0}
    assert found["id2", 0]["scores"] == {"score/f1_score": None, "score/exact_match": 0.0}
    perturbed = found["id1/typos", 0]
    assert (perturbed["cluster"], perturbed["strata"]) == ("id1", {"split": "test", "perturbation": "typos"})
    assert (found["id3", 0]["stop"], found["id3", 0]["error"]) == ("error", "rate limit")
    assert (perturbed["answer"], perturbed["usage"]["input_tokens"], perturbed["seconds"]) == ("D", 20, 0.5)
    run = Run.at(folder)
    assert (run.headline, run.model, run.dataset) == ("score/exact_match", "openai/gpt-4", "med_qa:method=joint")


def test_helm_clusters_by_the_extra_data_that_is_named(tmp_path):
    _, found = imported(tmp_path / "new", write_helm(tmp_path / "helm"), "--cluster", "ward")
    assert {one["cluster"] for one in found.values()} == {"w1", "w2", "w3"}


def test_a_file_of_the_harness_is_a_run_and_its_filters_are_scores(tmp_path):
    assert main([str(tmp_path / "new"), str(HARNESS), "--cluster", "patient"]) == 0
    made, choice = (Run.at(folder) for folder in run_folders(tmp_path / "new"))
    assert (made.dataset, choice.dataset, made.model) == ("mini_gen", "mini_mc", "dummy")
    assert list(made.scores) == ["score/exact_match,strict", "score/exact_match,flexible"]
    assert list(choice.scores) == ["score/acc", "score/acc_norm"]  # F1 has no number of one sample
    assert len(made.table) == 6 and set(made.table["cluster"].tolist()) == {"p0", "p1", "p2", "p3"}


def test_a_metric_of_the_harness_that_is_better_low_is_so_in_each_filter(tmp_path):
    for path in HARNESS.iterdir():
        text = path.read_text().replace('"exact_match": true', '"exact_match": false')
        (tmp_path / path.name).write_text(text)
    (samples,) = tmp_path.glob("samples_mini_gen_*")
    assert [*read_harness(samples, None).lower] == ["exact_match,strict", "exact_match,flexible"]


def test_an_imported_run_is_neither_run_nor_scored_again(tmp_path, capsys):
    folder, _ = imported(tmp_path / "new", EVAL)
    capsys.readouterr()
    assert report(["rescore", str(folder)]) == 2
    line = "error: the run was imported from a log of inspect_ai: it can be read and compared, not run or scored\n"
    assert capsys.readouterr().err == line


def test_a_field_that_is_not_there_is_named_and_nothing_is_left(tmp_path, capsys):
    assert main([str(tmp_path / "new"), str(EVAL), "--cluster", "ward_no"]) == 2
    line = "error: --cluster ward_no: sample 1 has no such field; it has patient, ward\n"
    assert capsys.readouterr().err == line and not list(tmp_path.iterdir())


def test_what_is_no_log_and_a_folder_that_exists_are_refused(tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("x")
    assert main([str(tmp_path / "new"), str(tmp_path / "notes.txt")]) == 2
    assert "notes.txt is not a log that can be imported: inspect_ai's" in capsys.readouterr().err
    assert main([str(tmp_path / "new"), str(tmp_path / "none.eval")]) == 2
    assert capsys.readouterr().err == f"error: there is no file or folder {tmp_path}/none.eval\n"
    assert main([str(tmp_path), str(EVAL)]) == 2
    assert "the folder exists; name a new one" in capsys.readouterr().err
    (tmp_path / "samples_x_2026-01-01T00-00-00.1.jsonl").write_text("{}\n")
    assert main([str(tmp_path / "new"), str(tmp_path)]) == 2
    assert "its results_DATE.json, which has the run's settings, is missing from its folder" in capsys.readouterr().err
