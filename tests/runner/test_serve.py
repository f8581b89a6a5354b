"""The command that serves the simulated model takes the same words as a run."""

import signal
import subprocess
import sys

import pytest

from components.core.errors import ConfigError
from components.radiology.dataset import RadABench
from runner.serve import from_arguments, main, model_of
from tests.acceptance.command import ROOT
from tests.simulated import simulated
from tests.slow import slow
from tests.table import each_row


def test_the_command_line_makes_a_server():
    words = (
        "model.competence=0.4",
        "--port",
        "0",
        "--latency",
        "0.2",
        "--status-429",
        "0.1",
        "--stall-seconds",
        "3",
        "--seed",
        "7",
    )
    server, host, port = from_arguments(words)
    assert (host, port, server.latency) == ("127.0.0.1", 0, 0.2)
    assert (server.faults.status_429, server.faults.stall_seconds, server.faults.seed) == (0.1, 3.0, 7)
    same = simulated(competence=0.4, seed=7, max_tokens=1024)
    same.study(RadABench(shipped="radabench_mini").load("test"))
    assert server.model.identity == same.identity


def test_port_out_of_range_is_refused():
    with pytest.raises(ConfigError, match="--port: found 80000, should be between 0 and 65535"):
        from_arguments(["--port", "80000"])


@slow
def test_answer_key_is_the_split_evaluated_by_a_run_of_the_same_words(tmp_path):
    def key(*words):
        return model_of(words).core.key.digest

    plain = key("dataset=ehr_mini")
    assert key("dataset=ehr_mini", "dataset.unanswerable=false") == plain
    assert (
        len({plain, *(key("dataset=ehr_mini", f"dataset.{one}") for one in ("databases=[mimic_iii]", "split=train"))})
        == 3
    )
    (tmp_path / "one.json").write_bytes((ROOT / "components/radiology/radabench_mini/train.json").read_bytes())
    inner = (
        "dataset=perturbed",
        "dataset@dataset.inner=radabench",
        f"dataset.inner.path={tmp_path}",
        "dataset.perturb=[]",
    )
    assert key(*inner) == key("dataset=radabench", f"dataset.path={tmp_path}")


BAD = {
    "a dataset that does not exist": (["dataset=radabnch"], "radabench_mini"),
    "no data": (["dataset=radabench"], "no data: give dataset.path"),
    "an unset folder": (["dataset=medqa"], "CLINICAL_DATA_DIR"),
    "an unknown key": (["dataset.pth=x"], "pth"),
    "another model": (["model=vllm", "model.name=x", "model.api_base=http://x/v1"], "not a simulated model"),
    "no word": (["surplus"], "surplus"),
}


@each_row("what", BAD)
def test_invalid_words_are_refused_in_one_line(what, capsys, monkeypatch):
    monkeypatch.delenv("CLINICAL_DATA_DIR", raising=False)
    words, text = BAD[what]
    with pytest.raises(ConfigError, match=text):  # built only, since what is not refused would be served for ever
        from_arguments([*words, "--port", "0"])
    assert main([*words, "--port", "0"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: ") and err.count("\n") == 1


def test_unreadable_flag_is_refused_in_one_line_with_exit_2(capsys):
    for words in (["--port", "x"], ["--latncy", "1"]):
        assert main(words) == 2
        err = capsys.readouterr().err
        assert err.startswith("error: ") and err.count("\n") == 1 and "--help lists all of them" in err


@slow
def test_the_command_serves_until_it_is_interrupted_and_its_former_name_is_refused():
    line = [sys.executable, "-m", "runner.serve", "--port", "0"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            assert "serving the simulated model at http://127.0.0.1:" in process.stdout.readline()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0 and err == ""
    former = subprocess.run(
        [sys.executable, "-m", "components.models.simulated.serve"], capture_output=True, text=True, cwd=ROOT
    )
    assert former.returncode != 0 and "python -m runner.serve" in former.stderr
