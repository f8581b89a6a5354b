"""A run becomes a log of inspect_ai, with what its records have."""

import json
import subprocess
import zipfile
from contextlib import redirect_stdout
from io import StringIO

import pytest

from components.core.errors import ConfigError
from runner.compare import main as compare
from runner.logs.__main__ import main as import_logs
from runner.logs.inspect_export import export_inspect
from runner.logs.inspect_log import read_inspect
from runner.report import main
from runner.results.folders import run_folders
from runner.results.runs import Run
from runner.storage import records
from tests.acceptance.command import ROOT, run_in_process
from tests.slow import slow

EVAL = ROOT / "tests/runner/logs/arith.eval"
PEERS = ROOT / ".venv-peers/bin/python"
READ = """
import json, sys
from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries, write_eval_log
log = read_eval_log(sys.argv[1], resolve_attachments="full")
write_eval_log(log, sys.argv[2])
one = log.samples[0]
events = [event.event for event in one.events]
tools = [event.function for event in one.events if event.event == "tool"]
asked = [message.text for event in one.events if event.event == "model" for message in event.input]
print(json.dumps([log.status, log.eval.model, log.results.total_samples, len(log.samples), events, tools, asked,
                  log.results.scores[0].metrics["mean"].value, len(read_eval_log_sample_summaries(sys.argv[1]))]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of an agent with tools: 3 samples, 2 epochs."""
    home = tmp_path_factory.mktemp("run")
    words = ["agent=react", "condition=baseline", "limit=3", "epochs=2", "tracking=off", f"hydra.run.dir={home}/run"]
    assert run_in_process(home, *words, f"run.journal={home}/journal").code == 0
    with redirect_stdout(StringIO()) as out:
        assert main(["export", str(home / "run"), "--to", "inspect"]) == 0
    assert "records hold no targets" in out.getvalue()
    return home / "run"


def facts(record):
    """What a log has of a record."""
    scores = {name: value for name, value in record["scores"].items() if value is not None}
    usage = record["usage"]
    return scores, record["answer"], record["error"], usage["input_tokens"], usage["output_tokens"], record["cluster"]


def test_what_is_exported_is_imported_with_the_same_scores_answers_and_clusters(folder):
    whole = {(one["sample_id"], one["epoch"]): one for one in records.read(folder)}
    found = list(read_inspect(folder / "export.eval", "cluster").entries)
    assert len(found) == len(whole) == 6
    for entry in found:
        usage = entry.usage["input_tokens"], entry.usage["output_tokens"]
        assert (entry.scores, entry.answer, entry.error, *usage, entry.cluster) == facts(
            whole[entry.sample_id, entry.epoch]
        )


def test_an_imported_export_is_compared_with_its_run_by_sample_and_patient(folder, tmp_path, capsys):
    new, out, score = tmp_path / "new", tmp_path / "out", "planning/levenshtein"
    assert import_logs([str(new), str(folder / "export.eval")]) == 0
    (imported,), own = map(Run.at, run_folders(new)), Run.at(folder)
    assert (imported.dataset, imported.headline, imported.better(score)) == (own.dataset, own.headline, "lower")
    assert compare([str(new), str(folder), "--baselines", str(folder.name), "--out", str(out)]) == 0
    found = json.loads((out / "compare.json").read_text())
    (one,), line = (
        found["comparisons"],
        "inspect_ai react simulated was imported: its completion/rate may be of another",
    )
    assert (one["mine"], one["theirs"]) == ("inspect_ai react simulated", "react simulated")
    assert (one["pairs"], one["clusters"]) == (6, len(set(own.table["cluster"].tolist())))
    assert found["notes"][0] == f"{line} scorer than that of react simulated"
    facts = json.loads((imported.folder / "manifest.json").read_text())
    (imported.folder / "manifest.json").write_text(json.dumps(facts | {"lower": []}))
    assert compare([str(new), str(folder), "--metric", score, "--out", str(out)]) == 0
    found = json.loads((out / "compare.json").read_text())
    assert "(any number, higher is better; here any number, lower is better)" in found["notes"][0]
    assert found["comparisons"][0]["better"] == "lower"
    capsys.readouterr()
    assert import_logs([str(tmp_path / "x"), str(EVAL), "--dataset", own.dataset]) == 0
    assert compare([str(folder), str(tmp_path / "x")]) == 2
    assert " has no completion/rate but score/match, score/two.a, score/two.b\n" in capsys.readouterr().err


def test_events_are_calls_and_tools_and_long_texts_are_stored_once(folder):
    with zipfile.ZipFile(folder / "export.eval") as archive:
        name = next(name for name in archive.namelist() if name.startswith("samples/"))
        sample = json.loads(archive.read(name))
        head = json.loads(archive.read("header.json"))
    record = next(one for one in records.read(folder) if one["sample_id"] == sample["id"])
    kinds = [event["event"] for event in sample["events"]]
    assert kinds.count("model") == len(record["steps"]) and kinds.count("score") == len(facts(record)[0])
    assert kinds.count("tool") == sum(len(step.get("observed", ())) for step in record["steps"])
    inputs = [one["content"] for event in sample["events"] if event["event"] == "model" for one in event["input"]]
    long = {text.removeprefix("attachment://") for text in inputs if text.startswith("attachment://")}
    assert long and long <= sample["attachments"].keys() and all(len(text) < 120 for text in inputs)
    assert sample["messages"][0]["content"] == sample["attachments"][inputs[0].removeprefix("attachment://")]
    assert (head["status"], head["results"]["total_samples"], head["eval"]["config"]) == ("success", 6, {"epochs": 2})


def test_an_export_that_fails_leaves_nothing(folder, tmp_path):
    for name in ("manifest.json", "config.yaml"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    there = sorted(tmp_path.iterdir())
    with pytest.raises(ConfigError, match="has no records to export"):
        export_inspect(Run.at(tmp_path))
    assert sorted(tmp_path.iterdir()) == there


@slow
@pytest.mark.skipif(not PEERS.exists(), reason="not installed: make .venv-peers/.installed")
def test_inspect_reads_the_export_and_what_it_writes_is_imported(folder, tmp_path):
    command = [PEERS, "-c", READ, folder / "export.eval", tmp_path / "again.eval"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    status, model, total, n, events, tools, asked, mean, summaries = json.loads(done.stdout)
    assert (status, model, total, n, summaries) == ("success", "simulated", 6, 6, 6)
    assert "score" in events and tools and not any(text.startswith("attachment://") for text in asked)
    metrics = json.loads((folder / "metrics.json").read_text())["metrics"]
    assert mean == next(of["value"] for name, of in metrics.items() if name.startswith("planning/levenshtein"))
    ours, theirs = (read_inspect(path, None).entries for path in (folder / "export.eval", tmp_path / "again.eval"))
    assert {one.sample_id: one.scores for one in ours} == {
        one.sample_id: one.scores for one in theirs
    }  # theirs is zstd
