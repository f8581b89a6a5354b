"""``python -m runner.compare``."""

import json
import shutil
import subprocess
import sys

import pytest

from runner.compare import main
from tests.runner.results.sweeps import job
from tests.slow import slow
from tests.table import each_row


@pytest.fixture
def sweep(tmp_path):
    values = {"react": [1, 1, 1, 0, 1], "direct": [0, 0, 1, 0, 0], "cot": [1, 0, 1, 0, 0]}
    for n, agent in enumerate(values):
        job(tmp_path / "sweep", values[agent], agent, start=f"2026-01-0{n + 1}", id=agent)
    return tmp_path / "sweep"


def test_a_sweep_is_compared_printed_and_written(sweep, tmp_path, capsys):
    out = tmp_path / "out"
    assert main([str(sweep), "--out", str(out)]) == 0
    message = capsys.readouterr().out
    for text in (
        "score/x on cab",
        "react",
        "won:tied:lost",
        "McNemar",
        "Holm p",
        "clusters: patients",
        "written to",
    ):
        assert text in message, text
    comparison = json.loads((out / "compare.json").read_text())
    assert [(one["mine"], one["theirs"]) for one in comparison["comparisons"]] == [
        ("react", "direct"), ("react", "cot"), ("direct", "cot"),
    ]  # fmt: skip
    first = comparison["comparisons"][0]
    assert (first["gain"], first["pairs"], first["wins"], first["losses"], first["p"]) == (0.6, 5, 3, 0, 0.25)
    assert first["p_holm"] == 0.75 and first["ci_low"] < 0.6 < first["ci_high"] and first["test"] == "McNemar"
    text = (out / "compare.md").read_text()
    assert "| react | direct | +0.6000 (" in text and "3 runs, 3 comparisons" in text


def test_baselines_and_all_pairs(sweep, capsys):
    assert main([str(sweep), "--baselines", "direct"]) == 0
    rows = [line.split()[:2] for line in capsys.readouterr().out.splitlines() if line.startswith(("  react", "  cot"))]
    assert ["react", "direct"] in rows and ["cot", "direct"] in rows and ["react", "cot"] not in rows


def test_runs_may_be_named_one_by_one_and_twice(sweep, tmp_path, capsys):
    a, b, _ = sorted(map(str, sweep.iterdir()))
    assert main([a, b, a, "--metric", "score/x", "--out", str(tmp_path / "o")]) == 0
    assert len(json.loads((tmp_path / "o" / "compare.json").read_text())["runs"]) == 2


@each_row(
    "given, message",
    [
        ("{one}", "nothing to compare: there is one method"),
        ("{one} {other}", "nothing can be paired: react, direct were run on different data"),
        ("{sweep}/nothing", "there is no folder"),
        ("{sweep} --metric score/y", "no run here has 'score/y'"),
        ("{sweep} --out {sweep}", "is the folder of a run or a sweep"),
        ("mlflow:mine --uri sqlite:///{sweep}/none.db", "does not exist; run an experiment first"),
        ("{sweep} --baselines direct --all-pairs", "--all-pairs: not allowed with argument --baselines; python -m"),
        ("{sweep} --baselines ,", "--baselines names nothing"),
        ("{sweep} --baselines react,direct,cot", "all methods are among them (react, direct, cot)"),
        ("{sweep} --out {one}/config.yaml", "is not a folder; name"),
        ("{sweep} --out {one}/config.yaml/under", "cannot be written to: Not a directory"),
        ("{one} {copy}", "the same run as"),
        ("{one}/records.jsonl", "is not a run folder"),
        ("{long}", "cannot be read as a folder: "),
    ],
)
def test_invalid_comparison_is_refused_in_one_line_with_exit_2(sweep, tmp_path, capsys, given, message):
    one = sweep / "react-cab"
    other = job(tmp_path / "other", [1, 0], "direct", "elsewhere").folder
    copy, long = shutil.copytree(one, tmp_path / "copy", dirs_exist_ok=True), "x" * 5_000
    assert main(given.format(sweep=sweep, one=one, other=other, copy=copy, long=long).split()) == 2
    out, err = capsys.readouterr()
    assert message in err and err.count("\n") == 1 and err.startswith("error: ")
    assert not out or "written to:" in err


@slow
def test_files_are_complete_even_if_stdout_is_closed(sweep, tmp_path):
    command = [sys.executable, "-m", "runner.compare", str(sweep), "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as started:
        started.stdout.close()
    assert started.returncode == 0 and len(json.loads((tmp_path / "out" / "compare.json").read_text())["runs"]) == 3


@slow
def test_help_loads_no_statistics():
    code = "import sys, runner.compare; print([m for m in ('scipy', 'statsmodels', 'mlflow', 'numpy') if m in sys.modules])"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"


def test_copy_of_a_run_is_not_compared_with_it(sweep, tmp_path, capsys):
    copy = shutil.copytree(sweep / "react-cab", tmp_path / "copy")
    assert main([str(sweep), str(copy)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"{copy} is the same run as {sweep / 'react-cab'}, and left out" in out and "react copy" not in out


def test_config_baselines_are_compared_with_each_other_if_nothing_else(tmp_path, capsys):
    runs = [job(tmp_path, [1, int(agent == "react"), 0], agent) for agent in ("react", "direct")]
    for run in runs:
        cfg = {**run.cfg, "compare": {"baselines": ["react", "direct"]}}
        (run.folder / "config.yaml").write_text(json.dumps(cfg))
    assert main([str(run.folder) for run in runs]) == 0
    assert "react" in capsys.readouterr().out
