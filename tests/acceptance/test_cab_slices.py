"""Every slice of real data that ClinicalAgent Bench names, with tools, in this process and over HTTP."""

import json
import os
import re
from pathlib import Path

import pytest

from runner.serve import from_arguments
from tests.acceptance.command import Served, endpoint, metric, read_manifest, read_records, run, run_together
from tests.slow import slow
from tests.table import each_row

DATA = os.environ.get("CLINICAL_DATA_DIR", "")
SLICES = ("medqa", "mmlu_med", "cab_pubmedqa", "bioasq", "medcalc_bench", "cab_ehrsql", "cab_ehragent_demo", "vqa_rad",
          "medhalt")  # fmt: skip
LEARNING = ("medcalc_bench", "cab_ehrsql", "vqa_rad")
OVER_HTTP = ("medcalc_bench", "vqa_rad")
WORDS = ("tracking=off", "limit=3", "toolset=clinical", "scorer=cab")

pytestmark = [slow, pytest.mark.skipif(not DATA, reason="needs CLINICAL_DATA_DIR")]


def _run_slice(cwd, url, slice):
    done = run(cwd, f"dataset={slice}", "agent=react", *WORDS, *endpoint(url), f"name={slice}", own=False)
    assert done.code == 0, done.err
    return done.folder if done.folder.is_absolute() else cwd / done.folder


def _run_sweep(cwd, slices, *words):
    done = run(cwd, "-m", f"dataset={','.join(slices)}", "hydra.sweep.dir=sweep", *WORDS, *words, own=False)
    assert done.code == 0, done.err
    return {slice: cwd / "sweep" / f"dataset-{slice}" for slice in slices}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Agent or "http" -> slice -> run folder."""
    react, reflectool, http = (tmp_path_factory.mktemp(name) for name in ("react", "reflectool", "http"))

    def served():
        folders = {}
        for slice in OVER_HTTP:
            with Served(from_arguments([f"dataset={slice}"])[0]) as server:
                folders[slice] = _run_slice(http, server.url, slice)
        return folders

    return run_together(
        {
            "react": lambda: _run_sweep(react, SLICES, "agent=react"),
            "reflectool": lambda: _run_sweep(
                reflectool, LEARNING, "agent=reflectool", "verifier.n=2", "memory.samples=4"
            ),
            "http": served,
        },
        at_once=2,
    )


@each_row("agent, slice", [*(("react", one) for one in SLICES), *(("reflectool", one) for one in LEARNING)])
def test_slice_is_run_and_scored_without_errors(runs, agent, slice):
    folder = runs[agent][slice]
    assert read_manifest(folder)["status"] == "complete"
    for name in ("score/strict", "score/official"):
        assert 0.0 <= metric(folder, name) <= 1.0
    records = read_records(folder)
    assert len(records) == 3
    assert all(record["error"] is None and record["answer"] for record in records)
    assert {record["scores"]["score/strict"] for record in records} <= {0.0, 0.5, 1.0}


@each_row("slice", SLICES)
def test_records_contain_no_local_paths(runs, slice):
    for folders in runs.values():
        if slice in folders:
            text = json.dumps(read_records(folders[slice]))
            assert DATA not in text
            assert str(Path.cwd()) not in text


@each_row(
    "slice, tool, form",
    [("medcalc_bench", "Calculator", r"-?\d+(\.\d+)?"), ("cab_ehrsql", "SQLCoder", r"\[.*\]"), ("vqa_rad", "HuatuoGPT", ".+")],
)  # fmt: skip
def test_matching_tool_returns_the_expected_result(runs, slice, tool, form):
    results = [
        one["text"]
        for record in read_records(runs["reflectool"][slice])
        for step in record["steps"]
        for one in step.get("observed", ())
        if step["action"]["calls"][one["call"]][1] == tool and not one.get("error")
    ]
    assert any(re.fullmatch(form, text) for text in results), results


@pytest.mark.parametrize("slice", ["cab_ehrsql", "vqa_rad"])
def test_task_names_its_inputs_once(runs, slice):
    for record in read_records(runs["reflectool"][slice]):
        first = next(step for step in record["steps"] if step["purpose"] == "act")["asked"][-1]["text"]
        assert first.count("Further inputs") == 1
        assert '"mimic_iv"' in first or "synpic" in first


@pytest.mark.parametrize("slice", OVER_HTTP)
def test_records_over_http_are_the_same(runs, slice):
    assert read_records(runs["http"][slice]) == read_records(runs["react"][slice])


def test_slices_without_images_are_refused_in_one_line(tmp_path):
    if (Path(DATA) / "slake" / "Slake1.0" / "imgs").is_dir():
        pytest.skip("the images are there")
    done = run(tmp_path, "dataset=slake", "agent=react", *WORDS, own=False)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert "no images" in done.err
    assert not (tmp_path / "outputs").exists()
