"""The doctor reports what this machine can run, changes nothing, and prints no key."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from runner import doctor
from tests.slow import slow

ROOT = Path(__file__).resolve().parents[2]


@slow
def test_report_is_one_table_and_the_default_run_works(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "never-to-be-shown")
    monkeypatch.delenv("CLINICAL_DATA_DIR", raising=False)
    started = time.monotonic()
    assert doctor.main([]) == 0
    out = capsys.readouterr().out
    assert time.monotonic() - started < 60 and not list(tmp_path.iterdir())
    assert re.search(r"\n  ok   OPENAI_API_KEY +set\n", out) and "never-to-be-shown" not in out
    assert re.search(r"\n  -    CLINICAL_DATA_DIR +not set  ->  export CLINICAL_DATA_DIR=", out)
    assert re.search(r"\n  (ok|-)    ? ?tier +\w", out) and re.search(r"\n  ok   one sample +it ran", out)
    assert re.search(r"\n  -    outputs/.journal +not there yet", out) and "\nengines and extras\n" in out


@slow
def test_failing_default_run_exits_1_and_names_what_is_missing(tmp_path):
    """A file before ours on the path hides a library that every run needs."""
    (tmp_path / "orjson.py").write_text("raise ImportError('broken on purpose')\n")
    code = f"import sys; from runner import doctor; doctor._HOME = {str(tmp_path)!r}; sys.exit(doctor.main([]))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1 and "BAD  one sample" in done.stdout and not done.stderr, done.stderr
    assert "BAD  python" in done.stdout and done.stdout.count("broken on purpose") > 1, done.stdout


def test_unreadable_flag_is_refused_in_one_line_with_exit_2(capsys):
    assert doctor.main(["--onlin=x"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: ") and err.count("\n") == 1
