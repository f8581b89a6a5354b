"""Run folders in a real MLflow on SQLite: one database for the module, an experiment per test."""

import asyncio
import multiprocessing
import os
import shlex
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import orjson
import pytest

from components.core.errors import ConfigError
from components.core.messages import Message, ToolCall, Usage
from components.core.types import (
    Action,
    Observation,
    Observed,
    Problem,
    Refusal,
    Sample,
    Score,
    Step,
    Trajectory,
)  # fmt: skip
from runner import tracking, ui
from runner.config.schema import Tracking
from runner.storage import manifest, sweeps
from runner.storage.integrity import digests_of
from runner.storage.records import RecordWriter, record_of
from runner.tracking import describe, otlp, send, store, traces, unsent
from runner.tracking import page as pages
from runner.tracking.folders import folders_of
from runner.tracking.send import send_unsent
from runner.tracking.traces import Spans
from tests.otlp_collector import collecting
from tests.runner.results.test_hostile_text import BAD, assert_harmless
from tests.slow import slow

SINGLE = {"tag": None, "total_jobs": 1}  # what a marker says of a run that is in no sweep
T0 = 1_760_000_000.0
LONG = "tool card " * 2_000


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tmp_path_factory.mktemp("tracking")


@pytest.fixture(scope="module", autouse=True)
def unsynced():
    """No commit waits for the disk."""
    from sqlalchemy import Engine, event

    def connected(made, _):
        made.execute("PRAGMA synchronous = OFF")

    event.listen(Engine, "connect", connected)
    yield
    event.remove(Engine, "connect", connected)


def config(base, name, **changes):
    uri = f"sqlite:///{base}/.mlflow/mlflow.db"
    return {
        "name": name, "seed": 0, "limit": None, "epochs": 1, "model": {"name": "gpt-4.1", "temperature": 0.0},
        "models": {"verifier": {"name": "small"}}, "agent": {"grammar": "xml_call"},
        "tracking": {"uri": uri, "artifacts": f"{base}/.mlflow/artifacts", "traces": "sample:200", **changes},
    }  # fmt: skip


def step(purpose, started, reply, **fields):
    given = {"role": "main", "branch": "main", "kept": 0, "usage": Usage(100, 10, 0.002), **fields}
    given.setdefault("asked", [Message("user", "Is there a nodule?")])
    message = Message("assistant", reply)
    return Step(purpose, given.pop("role"), given.pop("branch"), given.pop("index", 0), given.pop("kept"),
                given.pop("asked"), message, given.pop("usage"), started=started, seconds=0.5, **given)  # fmt: skip


def trajectory(stop="answered", price=0.002):
    call, final = ToolCall("c1", "segment", '{"organ": "lung"}'), ToolCall("control", "final", "")
    acted = step("act", T0 + 1.0, "<Call>", action=Action(Message("assistant", ""), (call,)), index=2)
    acted.observed = [
        Observed(call, Observation("mask_1"), None, 0.2),
        Observed(ToolCall("c2", "detect", "not json"), Observation(LONG), "tool_error", 0.1),
        Observed(final, Observation("$mask$ = mask_1"), None, 0.0, control=True),
    ]
    acted.tried = [Observed(call, Observation("mask_0"), None, 0.1)]
    steps = [
        step(
            "plan", T0, "segment, then detect", asked=[Message("system", LONG), Message("user", "Is there a nodule?")]
        ),
        step("act", T0 + 0.5, "<Bad>", committed=False, index=1),
        step("verify", T0 + 0.6, "No.", role="verifier", verdict="wrong organ", usage=Usage(50, 5, price)),
        acted,
        step("vote", T0 + 2.0, "A", branch="expert/1"),
        step("vote", T0 + 2.1, "B", branch="expert/1/again"),
    ]
    found = Trajectory(steps=steps, stop=stop)
    match stop:
        case "answered":
            found.answer = "One nodule."
        case "refused":
            found.refusal = Refusal({"problem": "ToolMissing"})
        case "failed":
            found.failure = "unreadable_reply"
        case _:
            found.error = "timeout: no reply"
    return found


def make(folder, stops, varied=None, manifest=None, metrics=None, price=0.002):
    """A run folder as the runner leaves it."""
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, stops, price)
    facts = {
        "schema": 1, "status": "complete", "name": "x", "choices": {"agent": "radagent", "model": "openai", "scorer": "a+b", "settings": "radagent"},
        "varied": {key: str(value) for key, value in (varied or {}).items()}, "model_kind": "simulated", "git": {"commit": "ab" * 20, "dirty": False},
        "dataset": {"name": "mini", "split": "test", "fingerprint": "f" * 64, "samples": len(stops), "privacy": "open"},
        "prompts": {"radagent": "12ab"}, "start": "2026-10-09T08:53:20+00:00", "end": "2026-10-09T08:58:20+00:00",
        "command": "python -m runner", **(manifest or {}),
    }  # fmt: skip
    (folder / "manifest.json").write_bytes(orjson.dumps(facts))
    values = metrics or {"cost/usd": 0.1, "planning/levenshtein": 0.5, "pass@1": 0.25, "a/none": None}
    body = {
        name: {"value": v, "ci_low": v and v - 0.1, "ci_high": None, "n": 9, "unscored": 0}
        for name, v in values.items()
    }
    (folder / "metrics.json").write_bytes(orjson.dumps({"metrics": body, "strata": {}}))
    (folder / "config.yaml").write_text("name: x\n")
    (folder / "plots").mkdir(exist_ok=True)
    (folder / "plots" / "cost.svg").write_text("<svg/>")
    (folder / "foreign.bin").write_text("not ours")
    return folder


def write(folder, stops, price=0.002):
    (folder / "records.jsonl").unlink(missing_ok=True)
    writer = RecordWriter(folder)
    for n, stop in enumerate(stops):
        scores = (
            []
            if stop == "error"
            else [Score("planning/levenshtein", n / 10, "why"), Score("done", float(n % 2)), Score("x", None)]
        )
        sample = Sample(Problem(f"s{n}", "q"), "t", strata={"task": "ct"})
        writer.append(record_of(sample, 0, trajectory(stop, price), scores, 3.0, writer.packer))
    writer.close()


def read_tracking(config):
    """Client, experiment id, runs and traces of the experiment."""
    from mlflow import MlflowClient
    from mlflow.tracing.client import TracingClient

    client = MlflowClient(store.absolute(config["tracking"]["uri"]))
    experiment = client.get_experiment_by_name(config["name"])
    runs = client.search_runs([experiment.experiment_id])
    infos, _ = TracingClient(client.tracking_uri).store.search_traces(
        locations=[experiment.experiment_id], max_results=500
    )
    return client, experiment, runs, infos


def whole(config, info):
    from mlflow.tracing.client import TracingClient

    return TracingClient(store.absolute(config["tracking"]["uri"])).get_trace(info.trace_id)


def test_importing_the_package_does_not_import_mlflow():
    code = "import runner.tracking, runner.tracking.send, runner.ui, sys; assert not {'mlflow', 'pandas', 'sqlalchemy'} & set(sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", code], cwd=Path(tracking.__file__).parents[2], check=False).returncode
        == 0
    )


def test_single_run_shows_its_settings_and_ending(base, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    settings = config(base, "flat")
    folder = make(base / "flat/1", ["answered", "refused", "failed", "limit", "error"])
    url = send.track(folder, settings)
    client, experiment, [run], infos = read_tracking(settings)
    assert (
        url
        == f"http://127.0.0.1:5000/#/experiments/{experiment.experiment_id}/runs/{run.info.run_id}?workflowType=machine_learning"
    )
    assert (run.info.run_name, run.info.status, run.info.end_time) == ("radagent openai", "FINISHED", 1791536300000)
    assert run.data.params == {
        "agent": "radagent", "model": "openai", "scorer": "a+b", "seed": "0", "epochs": "1",
    }  # fmt: skip
    assert list(run.data.metrics) == [
        "planning/levenshtein", "pass_1", "cost/usd",
        "uncertainty/planning/levenshtein_low", "uncertainty/pass_1_low", "uncertainty/cost/usd_low",
    ]  # fmt: skip
    tags = run.data.tags
    assert tags["level"] == "job" and tags["model_kind"] == "simulated" and tags["prompts.radagent"] == "12ab"
    assert tags["git_commit"] == "ab" * 20 and tags["dataset_fingerprint"] == "f" * 64
    assert "Simulated model" in tags["mlflow.note.content"]
    [used] = run.inputs.dataset_inputs
    assert (used.dataset.name, used.tags[0].value) == ("mini test", "evaluation")
    files = {item.path for item in client.list_artifacts(run.info.run_id)}
    assert {"config.yaml", "manifest.json", "metrics.json", "records.jsonl", "texts-0000.jsonl.gz", "plots"} == files
    assert experiment.artifact_location.startswith(f"file://{base}/.mlflow/artifacts")
    assert len(infos) == 5 and not list(tmp_path.iterdir())
    assert orjson.loads((folder / "manifest.json").read_bytes())["mlflow"]["run_id"] == run.info.run_id
    assert (base / ".mlflow/newest").read_text() == url.partition("#")[2]
    assert capfd.readouterr() == ("", "")


def test_trace_has_calls_tools_and_verifier_with_their_times(base):
    settings = config(base, "spans")
    send.track(make(base / "spans/1", ["answered"]), settings)
    *_, [info] = read_tracking(settings)
    trace = whole(settings, info)
    spans = {span.name: span for span in trace.data.spans}
    assert list(spans) == [
        "s0", "plan", "act, not chosen", "verify (verifier)", "act", "try segment", "segment", "detect", "final",
        "expert/1", "vote", "expert/1/again",
    ]  # fmt: skip
    root, act, tool = spans["s0"], spans["act"], spans["segment"]
    assert root.start_time_ns == int(T0 * 1e9) and (root.end_time_ns - root.start_time_ns) / 1e9 == pytest.approx(3.0)
    assert (
        act.start_time_ns == int((T0 + 1.0) * 1e9) and act.parent_id == root.span_id and act.span_type == "CHAT_MODEL"
    )
    assert tool.start_time_ns == act.end_time_ns and tool.inputs == {"organ": "lung"} and tool.outputs == "mask_1"
    assert spans["detect"].start_time_ns == tool.end_time_ns and spans["detect"].status.status_code == "ERROR"
    assert spans["detect"].inputs == "not json" and spans["final"].span_type == "TASK"
    assert spans["verify (verifier)"].attributes["mlflow.llm.model"] == "small"
    assert spans["verify (verifier)"].attributes["verdict"] == "wrong organ"
    assert spans["expert/1/again"].parent_id == spans["expert/1"].span_id
    assert spans["act"].attributes["mlflow.llm.cost"]["total_cost"] == 0.002
    assert trace.info.token_usage == {"input_tokens": 550, "output_tokens": 55, "total_tokens": 605}
    assert trace.info.cost["total_cost"] == pytest.approx(0.012)
    assert (info.request_preview, info.response_preview) == ("Is there a nodule?", "One nodule.")
    assert info.tags["strata.task"] == "ct" and "mlflow.trace.session" not in info.trace_metadata
    prompt = spans["plan"].inputs["messages"][0]["content"]
    assert (
        len(prompt) < 4_200
        and "16,000 characters left out: records.jsonl, sample 's0', epoch 0, step 0 of main" in prompt
    )


def test_span_is_named_by_the_agents_step_label():
    labelled = step("vote", T0, "A", remarks={"label": "round 1,\n\x1b" + "x" * 100, "vote": "yes"})
    record = {"sample_id": "s", "epoch": 0, "seconds": 1.0, "usage": {"cost_usd": None}}
    _, span = Spans("t", record, Trajectory([labelled], stop="answered", answer="A"), {"main": "m"}, T0).spans
    assert span["name"] == ("round 1, " + "x" * 100)[:80]
    assert orjson.loads(span["attributes"]["remarks"])["vote"] == "yes"


def test_scores_are_assessments_and_unscored_ones_are_omitted(base):
    settings = config(base, "scores")
    send.track(make(base / "scores/1", ["answered", "answered", "error"]), settings)
    *_, infos = read_tracking(settings)
    values = {i.tags["sample"]: {a.name: a.value for a in i.assessments} for i in infos}
    assert values == {
        "s0": {"levenshtein planning": 0.0, "done": False},
        "s1": {"levenshtein planning": 0.1, "done": True},
        "s2": {},
    }
    assert {i.tags["sample"]: i.state.value for i in infos}["s2"] == "ERROR"


def test_the_score_that_decides_is_the_first_assessment(base):
    settings = config(base, "decides")
    for decides in ("done", "planning/levenshtein"):
        job = describe.job_of(make(base / "decides" / decides[:4], ["answered"], manifest={"decides": decides}))
        ((spans, record),) = traces.episodes(job, settings, traces.plan(job.folder, "all", 0).chosen)
        info = traces._info("1", "run", spans, record, "digest", frozenset(), decides)
        first = max(info.assessments, key=lambda one: one.create_time_ms)
        names = {"done": "*done", "planning/levenshtein": "*levenshtein planning"}
        assert first.name == names[decides] == min(one.name for one in info.assessments)


def test_a_resumed_run_has_no_more_traces_than_are_set(base):
    settings, folder, notes = config(base, "resumed", traces="sample:3"), base / "resumed/1", {}
    for stops in (["answered"] * 3, ["answered"] * 8):  # the sample of the longer run is another one
        send.track(make(folder, stops, manifest=notes), settings)
        notes = {"mlflow": orjson.loads((folder / "manifest.json").read_bytes())["mlflow"]}
        assert len(read_tracking(settings)[3]) == 3


def test_names_of_the_data_have_no_character_that_a_terminal_obeys(base, collector):
    settings = config(base, "hostile", otlp=collector.url)
    folder = make(base / "hostile/1", [], {"agent": BAD}, {"name": BAD, "command": BAD})
    writer, steps = RecordWriter(folder), trajectory()
    steps.steps[0].asked[-1] = Message("user", BAD)
    sample = Sample(Problem(BAD, "q"), "t", strata={BAD: BAD})
    writer.append(record_of(sample, 0, steps, [], 3.0, writer.packer))
    writer.close()
    send.track(folder, settings)
    _, _, [run], [info] = read_tracking(settings)
    spans = whole(settings, info).data.spans
    assert BAD in spans[1].inputs["messages"][-1]["content"], "a message is data"
    for text in (run.info.run_name, *run.data.params.values(), *info.tags.values(), info.request_preview):
        assert_harmless(text)
    assert_harmless("".join(run.data.tags.values()) + "".join(span.name for span in spans))
    assert "\\u202e" in info.tags["sample"] and "\\x1b" in info.request_preview
    assert otlp.send(folder, settings)
    for span in collector.spans:
        assert_harmless(span.name)
    assert_harmless(attributes(collector.spans[0])["gen_ai.conversation.id"])


def test_unknown_price_is_not_estimated(base):
    settings = config(base, "unpriced")
    send.track(make(base / "unpriced/1", ["answered"], price=None), settings)
    *_, [info] = read_tracking(settings)
    trace = whole(settings, info)
    assert trace.info.cost is None and trace.info.token_usage["total_tokens"] == 605
    assert {s.attributes.get("asked_model") for s in trace.data.spans} == {None, "gpt-4.1", "small"}


def test_sending_again_updates_without_duplicates(base):
    settings = config(base, "again")
    folder = make(base / "again/1", ["answered", "error"], metrics={"score/strict": 0.5})
    assert send.track(folder, settings) == send.track(folder, settings)
    client, _, [run], infos = read_tracking(settings)
    assert len(infos) == 2 and [len(i.assessments) for i in infos] in ([0, 2], [2, 0])
    assert len(client.get_metric_history(run.info.run_id, "score/strict")) == 1
    assert len(run.inputs.dataset_inputs) == 1

    lines = (folder / "records.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "records.jsonl").write_bytes(lines[0])  # resumed: the errored sample is run again, in fewer steps
    writer = RecordWriter(folder)
    short = Trajectory(steps=[step("act", T0, "done")], stop="answered", answer="Yes.")
    writer.append(record_of(Sample(Problem("s1", "q"), "t"), 0, short, [Score("done", 1.0)], 1.0, writer.packer))
    writer.close()
    (folder / "metrics.json").write_bytes(orjson.dumps({"metrics": {"score/strict": {"value": 0.25}}}))
    send.track(folder, {**settings, "seed": 7})
    client, _, [run], infos = read_tracking(settings)
    assert run.data.metrics["score/strict"] == 0.25 and run.data.params["seed"] == "0"
    assert sorted(len(whole(settings, info).data.spans) for info in infos) == [2, 13]


def test_a_sweep_that_was_interrupted_ends_as_its_jobs(base):
    settings, home = config(base, "stopped", traces="none"), base / "stopped/s"
    tag, job = sweeps.tag_of(home), make(home / "0", ["answered"], manifest={"status": "interrupted"})
    for status, folders in (("KILLED", [job, home / "1"]), ("FINISHED", [make(home / "0", ["answered"])])):
        send.finish_sweep(folders, settings, tag=tag)
        _, _, [parent], _ = read_tracking(settings)
        assert parent.info.status == status


def test_failures_come_first_then_a_draw_independent_of_order(tmp_path):
    stops = ["answered", "refused", "failed", "limit", "error", "answered", "answered"]
    folder = make(tmp_path / "a", stops)
    chosen = traces.plan(folder, "sample:4", 0).chosen
    assert {("s2", 0), ("s3", 0), ("s4", 0)} < chosen and len(chosen) == 4
    lines = (folder / "records.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "records.jsonl").write_bytes(b"".join(reversed(lines)))
    assert traces.plan(folder, "sample:4", 0).chosen == chosen
    assert len({traces.plan(folder, "sample:4", seed).chosen for seed in range(20)}) > 1
    assert len(traces.plan(folder, "errors", 0).chosen) == 3 and not traces.plan(folder, "none", 0).chosen
    assert len(traces.plan(folder, "all", 0).chosen) == 7


def test_a_sweep_is_a_parent_with_its_table_and_a_view_with_its_columns(base):
    settings, folders, tag = config(base, "sweep", traces="none"), [], sweeps.tag_of(base / "sweep/s")
    for n, agent in enumerate(["react", "radagent", "cot"]):
        kind = {"model_kind": "live", "status": "failed" if agent == "cot" else "complete"}
        metrics = {"score/strict": n / 10 + 0.1, "cost/usd": 0.1}
        folders.append(make(base / f"sweep/s/{n}", ["answered"], {"agent": agent, "verifier.n": 2}, kind, metrics))
        send.track(folders[-1], settings, tag=tag, total_jobs=3)
    page = base / "sweep/s/report.html"
    page.write_text("The report.")
    url = send.finish_sweep([*folders, base / "sweep/s/never"], settings, tag=tag, files=[page])
    assert url == send.finish_sweep(folders, settings, tag=tag)
    _, experiment, runs, _ = read_tracking(settings)
    [parent] = [run for run in runs if run.data.tags["level"] == "sweep"]
    jobs = {run.info.run_name: run for run in runs if run.data.tags["level"] == "job"}
    assert set(jobs) == {"react n=2", "radagent n=2", "cot n=2"} and jobs["cot n=2"].info.status == "FAILED"
    assert {run.data.tags["mlflow.parentRunId"] for run in jobs.values()} == {parent.info.run_id}
    assert not parent.data.metrics and parent.info.status == "FAILED"
    rows = parent.data.tags["mlflow.note.content"].splitlines()
    assert rows[0] == "| run | score/strict | cost/usd | status |"
    assert [row.split(" | ")[0] for row in rows[2:]] == ["| cot n=2", "| radagent n=2", "| react n=2"]
    assert parent.info.run_name == "s" and {run.data.tags["sweep"] for run in runs} == {tag}
    view = orjson.loads(experiment.tags[f"mlflow.sharedViewState.{tag}"])
    assert view["searchFilter"] == f"tags.level = 'job' AND tags.sweep = '{tag}'"
    assert view["selectedColumns"] == [
        "params.`agent`",
        "params.`verifier.n`",
        "metrics.`score/strict`",
        "metrics.`cost/usd`",
    ]  # a simulated run would add its kind
    assert url.endswith(
        f"/#/experiments/{experiment.experiment_id}/runs"
        f"?viewStateShareKey={tag.replace('/', '%2F')}&workflowType=machine_learning"
    )


def test_sweeps_that_begin_in_the_same_second_in_two_folders_have_a_parent_each(base):
    settings = config(base, "twins", traces="none")
    for place in ("here", "there"):
        folders = [make(base / f"twins/{place}/s/{n}", ["answered"], {"seed": n}) for n in range(2)]
        tag = sweeps.tag_of(base / f"twins/{place}/s")
        for folder in folders:
            send.track(folder, settings, tag=tag, total_jobs=2)
        send.finish_sweep(folders, settings, tag=tag)
    runs = read_tracking(settings)[2]
    jobs = Counter(run.data.tags["mlflow.parentRunId"] for run in runs if run.data.tags["level"] == "job")
    assert [*jobs.values()] == [2, 2] and len(runs) == 6


@slow
def test_eight_processes_may_start_on_a_missing_database(tmp_path):
    settings = config(tmp_path, "eight", traces="none")
    folders = [make(tmp_path / f"eight/s/{n}", ["answered"], {"seed": n}) for n in range(8)]
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["mlflow.store.tracking.sqlalchemy_store", "runner.tracking.send"])
    processes = [
        context.Process(target=send.track, args=(folder, settings), kwargs={"tag": "s", "total_jobs": 8})
        for folder in folders
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 8
    _, _, runs, _ = read_tracking(settings)
    names = sorted(run.info.run_name for run in runs if run.info.status == "FINISHED")
    assert names == [f"seed={n}" for n in range(8)] and len(runs) == 9


@slow
def test_half_created_database_is_created_again(tmp_path):
    settings = config(tmp_path, "torn", traces="none")
    (tmp_path / ".mlflow").mkdir()
    (tmp_path / ".mlflow/mlflow.db.new").write_bytes(b"SQLite format 3\0 half a database")
    assert send.track(make(tmp_path / "torn/1", ["answered"]), settings)
    assert not list(tmp_path.glob(".mlflow/*.new*"))


@pytest.fixture
def silent_server():
    """A server that accepts connections and never replies."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://someone:secret@127.0.0.1:{server.getsockname()[1]}"


class SlowToMake(BaseHTTPRequestHandler):
    """An MLflow server that makes a run at once, and replies when the client has given up."""

    made: ClassVar[list[dict[str, object]]] = []

    def do_GET(self):
        self.answer({"experiment": {"experiment_id": "1", "name": "x", "lifecycle_stage": "active"}})

    def do_POST(self):
        body = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("runs/create"):
            self.made.append({"info": {"run_id": f"r{len(self.made)}"}, "data": {"tags": body["tags"]}})
            time.sleep(2)
        self.answer({"runs": self.made})

    def answer(self, body):
        self.send_response(200)
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(orjson.dumps(body))

    def log_message(self, *_):
        """Print nothing."""


@slow
def test_a_run_that_a_slow_server_has_made_is_not_made_again(monkeypatch, tmp_path):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    with ThreadingHTTPServer(("127.0.0.1", 0), SlowToMake) as server:
        threading.Thread(target=server.serve_forever).start()
        uri = f"http://127.0.0.1:{server.server_address[1]}"
        assert store.connect(config(tmp_path, "x", uri=uri)).stage("digest", "name") == "r0"
        server.shutdown()
    assert len(SlowToMake.made) == 1 and os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] == "2"


class Busy(SlowToMake):
    """A server whose first reply to a request for a run is an error, before or after it has made it."""

    made: ClassVar[list[dict[str, object]]] = []
    codes: ClassVar[list[int]] = []
    makes_first = False

    def do_POST(self):
        body, runs = orjson.loads(self.rfile.read(int(self.headers["Content-Length"]))), self.made
        code = self.codes.pop(0) if self.path.endswith("runs/create") and self.codes else 200
        if self.path.endswith("runs/create") and (code == 200 or self.makes_first):
            runs.append({"info": {"run_id": f"r{len(runs)}"}, "data": {"tags": body["tags"]}})
        self.send_response(code)
        self.end_headers()
        found = {"run": runs[-1]} if self.path.endswith("runs/create") and runs else {"runs": runs}
        self.wfile.write(
            orjson.dumps(found if code == 200 else {"error_code": "INVALID_PARAMETER_VALUE", "message": "no"})
        )


@pytest.mark.parametrize(
    "codes, makes_first, n",
    [([503], False, 1), ([429, 503], False, 1), ([503], True, 1), ([503] * 3, False, 0), ([400], False, 0)],
)
def test_a_run_is_made_once_by_a_server_that_is_busy_at_first(monkeypatch, tmp_path, codes, makes_first, n):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR", "0")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    Busy.made, Busy.codes, Busy.makes_first = [], [*codes], makes_first
    with ThreadingHTTPServer(("127.0.0.1", 0), Busy) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        try:
            tracker = store.connect(config(tmp_path, "x", uri=f"http://127.0.0.1:{server.server_address[1]}"))
            if n:
                assert tracker.stage("digest", "name") == "r0"
            else:
                with pytest.raises(store.failures()):
                    tracker.stage("digest", "name")
        finally:
            server.shutdown()
    assert len(Busy.made) == n and Busy.codes == [], "a refusal is not repeated, a busy server is asked as often as set"


@pytest.mark.parametrize(
    "code, body, message",
    [
        (307, b"", "HTTP 307, a redirect, which is not followed: give the address that it leads to"),
        (302, b"", "HTTP 302, a redirect"),
        (429, b"", "too many 429 error responses"),
        (503, b"", "too many 503 error responses"),
        (200, b'{"experiment": 7}', "Failed to parse experiment field"),
        (200, b"", "its reply is empty: is this the address of MLflow?"),
        (200, b"[1,2]", "the response body was not in a valid JSON format"),
    ],
)
def test_a_server_that_redirects_or_is_none_of_mlflow_is_left_with_one_line(monkeypatch, tmp_path, code, body, message):
    class Odd(SlowToMake):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(code)
            self.send_header("Location", "/elsewhere")
            self.send_header("Retry-After", "86400")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR", "0")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_BACKOFF_JITTER", "0")
    asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Odd) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        try:
            with pytest.raises(store.failures()) as error:
                store.connect(config(tmp_path, "x", uri=f"http://127.0.0.1:{server.server_address[1]}"))
        finally:
            server.shutdown()
    assert message in store.short(error.value) and "/elsewhere" not in asked


@slow
def test_a_silent_server_is_asked_once_for_all_runs(tmp_path, silent_server, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.chdir(tmp_path)
    settings, place = config(tmp_path, "slow", uri=silent_server, artifacts=None), store.place_of(silent_server)
    for n in range(5):
        unsent.mark(settings, str(n), "run", make(tmp_path / f"slow/{n}", ["answered"]), **SINGLE)
    started = time.monotonic()
    assert len(send.send_unsent(place).failed) == 5 and len(unsent.markers(place)) == 5
    assert time.monotonic() - started < 4
    line = unsent.last_note(place)
    assert line.startswith(f"{tmp_path}/slow/0 was not sent to MLflow") and "secret" not in line and "\n" not in line
    assert f"send again: python -m runner.report track {tmp_path}/slow/0 (and 4 more" in line


@pytest.mark.parametrize("name", ["records.jsonl", "metrics.json", "config.yaml"])
def test_a_run_with_a_changed_file_is_not_sent_until_it_is_as_it_was(base, name, capsys):
    settings, folder = config(base, f"changed {name}", traces="none"), base / f"changed/{name}"
    sealed = {"config": [manifest.digest(b"name: x\n")]}
    notes = orjson.loads((make(folder, ["answered"], manifest=sealed) / manifest.FILE).read_bytes())
    manifest.write(folder, notes | {"files": digests_of(folder)})
    whole, place = (folder / name).read_bytes(), store.place_of(settings["tracking"]["uri"])
    (folder / name).write_bytes(whole.replace(b"0.5", b"0.9").replace(b"answered", b"answerer").replace(b": x", b": y"))
    marker = unsent.mark(settings, "a", "run", folder, **SINGLE)
    assert send.send_unsent(place, [marker]).failed and marker.exists()
    line = unsent.last_note(place)
    assert line.startswith(f"{folder} was not sent to MLflow: {folder / name} was changed") and "; restore it" in line
    assert line.endswith(f"; then send again: python -m runner.report track {folder}") and "\n" not in line
    with pytest.raises(ConfigError, match=f"{name} was changed"):
        send.finish_sweep([folder, folder], settings, tag="s")
    assert (
        send.send_folder(folder, settings, None) is None and f"{folder / name} was changed" in capsys.readouterr().err
    )
    assert read_tracking(settings)[2] == []
    (folder / name).write_bytes(whole)
    assert send.send_unsent(place, [marker]).sent == 1 and len(read_tracking(settings)[2]) == 1


@pytest.mark.parametrize("notes", [None, "{", '{"dataset": "x", "status": "complete", "mlflow": {"id": "x"}}'])
def test_a_damaged_job_does_not_keep_the_sweep_waiting(base, notes):
    settings = config(base, f"incomplete {notes}", traces="none")
    folders = [make(base / f"incomplete/{str(notes)[:9]}/{n}", ["answered"], {"seed": n}) for n in range(3)]
    facts = manifest.read(folders[1])
    manifest.write(folders[1], facts | {"files": digests_of(folders[1])})
    (folders[1] / "records.jsonl").write_bytes(b"")
    if notes is not None:
        (folders[1] / manifest.FILE).write_text(notes)
    tag = sweeps.tag_of(folders[0].parent)
    for _ in range(2):
        with pytest.raises(ConfigError):
            send.finish_sweep(folders, settings, tag=tag)
    _, _, [parent], _ = read_tracking(settings)
    rows = parent.data.tags["mlflow.note.content"]
    assert parent.info.status == "FAILED" and all(f"seed={n} " in rows for n in (0, 2)) and "seed=1" not in rows
    manifest.write(folders[1], facts)
    send.finish_sweep(folders, settings, tag=tag)
    _, _, [parent], _ = read_tracking(settings)
    assert parent.info.status == "FINISHED" and "seed=1 " in parent.data.tags["mlflow.note.content"]


@pytest.mark.parametrize("notes", ["{", '{"dataset": "x", "status": "complete"}'])
def test_a_damaged_folder_does_not_keep_others_waiting(base, notes):
    settings, folder = config(base, "damaged"), make(base / "damaged/1", ["answered"])
    (folder / "manifest.json").write_text(notes)
    bad = unsent.mark(settings, "a", "run", folder, **SINGLE)
    good = unsent.mark(settings, "b", "run", make(base / "damaged/2", ["answered"]), **SINGLE)
    place = store.place_of(settings["tracking"]["uri"])
    assert send.send_unsent(place, [bad, good]).sent == 1 and unsent.markers(place) == [bad]
    assert unsent.last_note(place).startswith(f"{folder} was not sent")
    bad.unlink()


def test_a_bug_is_not_called_a_run_that_was_not_sent(base, monkeypatch):
    settings = config(base, "bug", traces="none")
    marks = [unsent.mark(settings, f"bug{n}", "run", make(base / f"bug/{n}", ["answered"]), **SINGLE) for n in range(2)]
    place = store.place_of(settings["tracking"]["uri"])
    monkeypatch.delattr(describe, "metrics_of")
    for first in marks:
        with pytest.raises(AttributeError, match="metrics_of"):
            send.send_unsent(place)
        assert unsent.markers(place)[-1] == first, "others come before it"
    for marker in marks:
        marker.unlink()


def test_progress_is_in_the_run_that_goes_on(base):
    settings, progress = config(base, "progress"), send.Progress()
    folder = make(base / "progress/1", ["answered"])
    marker = unsent.mark(settings, "progress", "run", folder, **SINGLE)
    progress.send(marker, {"samples": 9})
    assert not progress._runs, "it does not run"
    writer = RecordWriter(folder)
    for n in (1, 2):
        progress.send(marker, {"samples": n, "tokens": 10 * n})
    _, _, [run], _ = read_tracking(settings)
    assert run.info.status == "RUNNING"
    assert run.data.metrics == {"system/progress/samples": 2, "system/progress/tokens": 20}
    progress.forget(marker)
    assert not progress._runs
    writer.close()
    marker.unlink()


def test_texts_of_restricted_data_are_sent_only_where_permitted(tmp_path):
    server = config(tmp_path, "closed", uri="https://mlflow.example.org")
    assert not store.texts_may_leave(server, "credentialed") and store.texts_may_leave(server, "open")
    assert not store.texts_may_leave(server, "unknown")
    server["tracking"]["permits"] = ["credentialed"]
    assert store.texts_may_leave(server, "credentialed") and not store.texts_may_leave(server, "phi")
    assert store.texts_may_leave(config(tmp_path, "closed"), "phi")


@pytest.mark.parametrize("permits", [[], ["phi"]])
def test_a_store_elsewhere_gets_texts_of_patients_only_where_permitted(base, permits):
    uri = f"sqlite+pysqlite:///{base}/.mlflow/mlflow.db"  # not known as a file of this machine
    settings = config(base, f"elsewhere-{len(permits)}", uri=uri, permits=permits)
    store.connect(config(base, settings["name"]))  # makes the database
    data = {"name": "mini", "split": "test", "fingerprint": "f" * 64, "samples": 1, "privacy": "phi"}
    quoting = {"errors": {"no such organ: Mrs Smith's": 1}, "stopped": "at Mrs Smith", "notes": ["Mrs Smith"]}
    folder = make(base / settings["name"], ["answered"], manifest={"dataset": data, **quoting})
    metrics = orjson.loads((folder / "metrics.json").read_bytes())
    (folder / "metrics.json").write_bytes(orjson.dumps(metrics | {"strata": {"surgeon": {"Mrs Smith": {}}}}))
    assert send.track(folder, settings)
    client, _, [run], infos = read_tracking(settings)
    sent = {Path(one.path).name for one in client.list_artifacts(run.info.run_id)}
    figures = {"config.yaml", "manifest.json", "metrics.json"}
    assert figures | {"records.jsonl", "texts-0000.jsonl.gz", "plots"} == sent if permits else figures == sent
    assert len(infos) == len(permits)  # the trace
    there = Path(client.download_artifacts(run.info.run_id, ""))
    assert any("Smith" in path.read_text() for path in there.glob("*.json")) == bool(permits)
    assert orjson.loads((there / "manifest.json").read_bytes())["status"] == "complete"
    assert orjson.loads((there / "metrics.json").read_bytes())["metrics"] == metrics["metrics"]
    assert "Smith" not in f"{run.data.tags}{run.data.params}"
    assert "Smith" in (folder / "manifest.json").read_text()


def test_names_are_made_valid_for_mlflow():
    assert (
        describe.safe("pass@1") == "pass_1" and describe.safe("a=b[0]//c/") == "a_b_0_/c" and describe.safe("@") == "_"
    )


def test_run_names_have_the_varied_settings():
    job = describe.Job(
        Path("."), {"varied": {"agent": "react", "verifier.n": 3, "scorer": ["a", "b"], "model.name": "gpt-4.1"}}, {}
    )
    assert job.name == "react n=3 a,b gpt-4.1"


def test_run_of_a_sweep_is_named_by_what_that_varied():
    varied = {"limit": "8", "agent": "react", "verifier": "select", "verifier.n": "4"}
    job = describe.Job(Path("."), {"varied": varied, "swept": ["n"]}, {})  # as manifests have a key that is unique
    assert (job.name, describe.columns([job])[0]) == ("n=4", ["verifier.n"])


def test_deciding_score_is_the_first_metric():
    metrics = {name: {"value": 1.0} for name in ("cost/usd", "planning/x", "completion/rate")}
    assert describe.Job(Path("."), {"decides": "completion/rate"}, metrics).headline[0] == "completion/rate"
    assert describe.Job(Path("."), {}, metrics).headline == ["planning/x", "completion/rate", "cost/usd"]


def test_named_scores_come_before_others():
    jobs = [describe.Job(Path("."), {}, {name: {"value": 1.0} for name in ("planning/x", "completion/rate", "a/b")})]
    assert describe.columns(jobs)[1][0] != "a/b" == describe.columns(jobs, ["a/b", "c/d"])[1][0]
    assert describe.table(jobs, ["a/b"]).startswith("| run | a/b |")


def test_long_table_ends_with_a_count():
    jobs = [
        describe.Job(Path("."), {"varied": {"agent": f"agent_with_a_long_name_{n}"}}, {"m": {"value": n}})
        for n in range(500)
    ]
    text = describe.table(jobs)
    assert len(text) < 8_000 and text.endswith("more runs") and "name_499" in text.splitlines()[2]


def test_links_contain_no_password(tmp_path):
    settings = config(tmp_path, "x", uri="https://me:secret@host:8443/")
    assert (
        store.view_url(settings, "3", tag="a/b")
        == "https://host:8443/#/experiments/3/runs?viewStateShareKey=a%2Fb&workflowType=machine_learning"
    )


def test_the_page_starts_lean_and_opens_at_the_newest_view(tmp_path, capsys):
    database = tmp_path / "mlflow.db"
    assert ui.main(["--uri", f"sqlite:///{database}"]) == 2 and "no tracked runs yet" in capsys.readouterr().err
    assert ui.main(["--prt", "5"]) == 2 and "--prt 5; did you mean --port" in capsys.readouterr().err
    assert ui.newest(database) == "/experiments"
    (tmp_path / "newest").write_text("/experiments/1/runs/abc?workflowType=machine_learning")
    assert ui.newest(database).endswith("abc?workflowType=machine_learning")
    line = ui.command(database, 5001, ["--gunicorn-opts", ""])
    assert line.count(f"sqlite:///{database}") == 2, "without that of the registry MLflow prints a line about it"
    assert line[1:4] == ["-m", "mlflow", "server"] and line[line.index("--workers") + 1] == "1" and "127.0.0.1" in line
    assert ui.environment()["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] == "false"


async def start_page(path, *parts):
    """What a browser gets of the page, behind which an application answers with these parts."""
    sent = []

    async def application(scope, receive, send):
        await send(
            {"type": "http.response.start", "headers": [(b"content-length", b"9"), (b"x-frame-options", b"DENY")]}
        )
        for part in parts:
            await send({"type": "http.response.body", "body": part})

    async def send(message):
        sent.append(message)

    page = pages.Page(lambda: application)
    await page({"type": "http", "path": path}, None, send)
    return sent


async def test_mlflow_opens_with_its_assistant_closed():
    start, body, rest = await start_page("/", b"<html><head><title>", b"<body>")
    assert start["headers"] == [(b"x-frame-options", b"DENY")], "the length differs, what protects the page stays"
    assert body["body"].startswith(b"<html><head><script>localStorage.setItem(") and rest["body"] == b"<body>"
    start, body = await start_page("/ajax-api/2.0/mlflow/runs/get", b"<head>")
    assert len(start["headers"]) == 2 and body["body"] == b"<head>", "all but the start page is MLflow's own"


def test_the_keys_that_close_assistant_and_guidance_are_mlflows():
    (package,) = find_spec("mlflow").submodule_search_locations
    text = b"".join(path.read_bytes() for path in Path(package, "server/js/build/static/js").glob("main.*.js"))
    names = [part.split(b'"')[1].removesuffix(b"_v1") for part in pages.STORED.split(b"setItem(")[1:]]
    assert len(names) == 3 and all(b'"' + name + b'"' in text for name in names)


def test_comparing_preselects_what_varied():
    settings = {"agent": {"grammar": "native", "prompts": "a"}, "model": {"name": "m"}, "seed": 0}
    swept = describe.Job(
        Path("."), {"choices": {"agent": "react"}, "varied": {"agent": "react"}, "swept": ["agent"]}, {}
    )
    assert describe.params_of(swept, settings) == {"agent": "react", "seed": "0"}
    other = {"choices": {"agent": "react", "condition": "a"}, "varied": {"condition": "a"}, "swept": ["condition"]}
    kinds = [describe.params_of(describe.Job(Path("."), facts, {}), settings) for facts in (swept.manifest, other)]
    assert kinds[0].items() ^ kinds[1].items() == {("condition", "a")}, "what follows from a choice is in neither"
    named = describe.Job(Path("."), {"varied": {"agent.grammar": "native"}}, {})
    assert describe.params_of(named, settings)["agent.grammar"] == "native"


def test_port_in_use_is_reported_with_a_command_for_another(tmp_path, capsys):
    (tmp_path / "mlflow.db").touch()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert ui.main(["--uri", f"sqlite:///{tmp_path / 'mlflow.db'}", "--port", str(port)]) == 2
    line = capsys.readouterr().err.partition("choose another: ")[2].strip()
    process = subprocess.run(
        ["make", "-n", *shlex.split(line)[1:]], cwd=Path(__file__).resolve().parents[2], capture_output=True, text=True
    ).stdout
    assert f"runner.ui --port {port + 1}" in process


@slow
def test_runs_of_an_experiment_are_found_locally_or_downloaded(base, tmp_path):
    settings = config(base, "found")
    folders = [
        make(base / f"found/{n}", ["answered"], manifest={"start": f"2026-10-0{n}T08:00:00+00:00"}) for n in (1, 2)
    ]
    for folder in folders:
        send.track(folder, settings, tag="found", total_jobs=2)
    uri = settings["tracking"]["uri"]
    assert folders_of("found", tmp_path, uri) == folders, "without the sweep's own run"
    records = (folders[0] / "records.jsonl").read_bytes()
    folders[0].rename(base / "found/elsewhere")
    fetched, there = folders_of("found", tmp_path, uri)
    assert there == folders[1] and fetched.parent == tmp_path and (fetched / "records.jsonl").read_bytes() == records
    make(folders[0], ["refused"], manifest={"mlflow": {"id": "of another run"}})
    assert folders_of("found", tmp_path, uri)[0] == fetched, "the folder has another run now"


def test_unknown_experiment_of_a_database_is_refused_without_mlflow(tmp_path):
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as made, made:  # of MLflow's tables the one that is needed
        made.execute("CREATE TABLE experiments AS SELECT 'mine' AS name UNION SELECT 'Default'")
    with pytest.raises(ConfigError, match=r"^mlflow:nope: there is no such experiment; there are mine$"):
        folders_of("nope", tmp_path, f"sqlite:///{tmp_path}/mlflow.db")


def test_missing_or_empty_experiment_is_refused(base, tmp_path):
    settings = config(base, "bare", uri=f"sqlite:///{base}/.mlflow/mlflow.db")
    folder = make(base / "bare/1", ["answered"], manifest={"dataset": {"privacy": "restricted"}})
    (folder / "records.jsonl").rename(folder / "kept")
    send.track(folder, settings)
    uri = settings["tracking"]["uri"]
    for name, expected in (("nobody", "there is no such experiment; there are"), ("bare", "its records were not sent")):
        with pytest.raises(ConfigError, match=expected):
            folders_of(name, tmp_path, uri)
    with pytest.raises(ConfigError, match="does not exist; run an experiment first"):
        folders_of("found", tmp_path, f"sqlite:///{tmp_path}/none.db")


def test_a_sweep_by_a_score_that_is_better_low_is_shown_lowest_first(base):
    low = {"lower": ["planning/levenshtein"]}
    folders = [
        make(base / f"low/{n}", ["answered"], {"agent": name}, {"swept": ["agent"], **low}, {"planning/levenshtein": value})
        for n, (name, value) in enumerate([("far", 3.0), ("exact", 0.0), ("near", 1.0)])
    ]  # fmt: skip
    jobs = [describe.job_of(folder) for folder in folders]
    order = [line.split("|")[1].strip() for line in describe.table(jobs).splitlines() if "simulated)" in line]
    assert order == [f"{name} (simulated)" for name in ("exact", "near", "far")]


@pytest.fixture
def collector():
    with collecting() as server:
        yield server


def attributes(span):
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


def test_an_episode_has_spans_by_the_conventions(base, collector, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Basic%20abc,x=1")
    folder = make(base / "otlp/1", ["answered"])
    assert otlp.send(folder, config(base, "otlp", otlp=collector.url))
    assert collector.headers[0]["Authorization"] == "Basic abc" and collector.headers[0]["x"] == "1"
    agent, *others = collector.spans
    own = attributes(agent)
    assert (own["gen_ai.operation.name"], own["gen_ai.conversation.id"], agent.parent_span_id) == (
        "invoke_agent",
        "s0/0",
        b"",
    )
    assert {one.trace_id for one in others} == {agent.trace_id} and len(
        {one.span_id for one in collector.spans}
    ) == len(others) + 1
    assert all(one.parent_span_id for one in others) and {one.status.code for one in others} == {0, 2}
    scores = {orjson.dumps(attributes(event)["gen_ai.evaluation.name"]): attributes(event)["gen_ai.evaluation.score.value"]
              for event in agent.events}  # fmt: skip
    assert scores == {b'"planning/levenshtein"': 0.0, b'"done"': 0.0}
    chats = [one for one in others if attributes(one).get("gen_ai.operation.name") == "chat"]
    call = attributes(chats[0])
    assert chats[0].kind == chats[0].SPAN_KIND_CLIENT and chats[0].name == f"chat {call['gen_ai.request.model']}"
    assert {"gen_ai.provider.name", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"} <= call.keys()
    (reply,) = orjson.loads(call["gen_ai.output.messages"])
    assert reply["role"] == "assistant" and orjson.loads(call["gen_ai.input.messages"])[0]["parts"]
    tools = [attributes(one) for one in others if attributes(one).get("gen_ai.operation.name") == "execute_tool"]
    assert tools and {"gen_ai.tool.name", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"} <= tools[0].keys()


def test_what_a_collector_did_not_take_is_sent_later_as_the_same_spans(base, monkeypatch):
    monkeypatch.chdir(base)
    folder = make(base / "later/1", ["answered", "error"])
    with collecting() as server:
        settings = config(base, "later", otlp=server.url)
    marker = unsent.mark(settings, "id", "run", folder, **SINGLE)
    place = marker.parent.parent
    assert len(send_unsent(place).failed) == 1 and marker.exists()  # nobody answers there now
    assert f"was not sent by OTLP: the collector {server.url}/v1/traces is unavailable: " in unsent.last_note(place)
    with collecting() as server:
        changed = orjson.loads(marker.read_bytes())
        changed["config"]["tracking"]["otlp"] = server.url
        marker.write_bytes(orjson.dumps(changed))
        server.status = 503
        assert send_unsent(place).failed and "refuses the spans: 503" in unsent.last_note(place)
        server.status = 200
        assert send_unsent(place).sent == 1 and not marker.exists()
        first = [(one.trace_id, one.span_id) for one in server.spans]
        assert len({trace for trace, _ in first}) == 2
        otlp.send(folder, changed["config"])
        assert [(one.trace_id, one.span_id) for one in server.spans[len(first) :]] == first


def test_a_collector_has_its_part_once_where_mlflow_is_down(tmp_path, collector, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = config(tmp_path, "down", otlp=collector.url)
    marker = unsent.mark(settings, "id", "run", make(tmp_path / "down/1", ["answered"]), **SINGLE)
    (marker.parent.parent / "mlflow.db").mkdir()
    for _ in range(2):
        assert "was not sent to MLflow: " in send_unsent(marker.parent.parent).failed[0]
    assert len(collector.requests) == 1 and unsent.read(marker).collected


def test_a_header_that_cannot_be_sent_is_not_in_the_error(base, collector, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20SECRET%0Ax")
    with pytest.raises(OSError, match="a header in OTEL_EXPORTER_OTLP_HEADERS, is invalid") as error:
        otlp.send(make(base / "header/1", ["answered"]), config(base, "header", otlp=collector.url))
    assert "SECRET" not in str(error.value) and not collector.requests


def test_spans_that_are_rejected_or_lead_elsewhere_are_not_sent(base, collector):
    folder, settings = make(base / "rejected/1", ["answered"]), config(base, "rejected", otlp=collector.url)
    collector.reply.partial_success.rejected_spans, collector.reply.partial_success.error_message = 3, "too old"
    with pytest.raises(OSError, match="refuses 3 spans: too old"):
        otlp.send(folder, settings)
    collector.status = 302
    with pytest.raises(OSError, match=r"/v1/traces redirects to http.*elsewhere, which is not followed"):
        otlp.send(folder, settings)
    assert len(collector.headers) == 2  # those of the two requests


def test_what_is_too_large_for_a_collector_is_sent_in_parts(base, collector):
    folder, settings = make(base / "large/1", ["answered", "answered"]), config(base, "large", otlp=collector.url)
    otlp.send(folder, settings)
    (whole,), n = collector.requests, len(collector.spans)
    collector.longest = whole.ByteSize() // 2
    otlp.send(folder, settings)
    assert len(collector.requests) > 2
    assert [one.span_id for one in collector.spans[n:]] == [one.span_id for one in collector.spans[:n]]
    collector.longest = 1
    with pytest.raises(OSError, match="refuses the spans: 413"):
        otlp.send(folder, settings)


async def test_a_collector_that_does_not_end_its_answer_is_left():
    left = asyncio.Event()

    async def drip(_, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nX: ")
        with suppress(ConnectionError), closing(writer):
            while not writer.is_closing():
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.01)
        left.set()

    async with await asyncio.start_server(drip, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(OSError, match=r"is unavailable: no answer within 0\.1 s"):
            await otlp.post(url, b"", False, timeout=0.1)
        await left.wait()


@pytest.mark.parametrize("permits", [[], ["phi"]])
def test_a_collector_gets_texts_of_patients_only_where_permitted(base, collector, permits, capsys):
    settings = config(base, f"patients-{len(permits)}", otlp=collector.url, permits=permits)
    data = {"name": "mini", "split": "test", "fingerprint": "f" * 64, "samples": 1, "privacy": "phi"}
    folder = make(base / settings["name"], ["answered"], manifest={"dataset": data})
    assert otlp.send(folder, settings) is bool(permits)
    tracking.mark_run(folder, settings).unlink()
    assert bool(collector.requests) is bool(permits)
    assert ("are not sent to tracking.otlp; see tracking.permits" in capsys.readouterr().err) is not bool(permits)


def test_a_collector_without_a_tracker_is_refused():
    with pytest.raises(ConfigError, match=r"tracking\.otlp needs tracking.uri, which is null"):
        Tracking(otlp="http://127.0.0.1:4318")
