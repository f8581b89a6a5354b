"""Commands that only read: refusals in a line, readers who leave early."""

import os
import subprocess
import sys
from pathlib import Path

from components.core.errors import ConfigError
from runner.terminal.output import exit_code_of

ENDLESS = (
    "from runner.terminal.output import exit_code_of\nexit_code_of(lambda: [print('x' * 1000) for _ in range(10**4)])"
)


def test_what_is_refused_is_one_line_and_exit_code_2(capsys):
    def refuse():
        raise ConfigError("no such run")

    assert exit_code_of(refuse) == 2 and capsys.readouterr().err == "error: no such run\n"
    assert exit_code_of(lambda: None) == 0 and capsys.readouterr().err == ""


def test_a_file_that_cannot_be_read_or_written_is_one_line(tmp_path, capsys):
    assert (
        exit_code_of(lambda: tmp_path.open()) == 2 and capsys.readouterr().err == f"error: {tmp_path}: Is a directory\n"
    )
    assert exit_code_of(lambda: os.read(10**6, 1)) == 2 and "Bad file descriptor" in capsys.readouterr().err


def test_a_reader_who_leaves_early_sees_no_error():
    root = Path(__file__).parents[3]
    line = [sys.executable, "-c", ENDLESS]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=root) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b"" and process.wait(30) == 0
