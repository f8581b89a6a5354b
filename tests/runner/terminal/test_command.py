"""Common behaviour of commands: words, one-line refusals, closed pipes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from components.core.errors import ConfigError
from runner.terminal.command import Parser, by_group, exit_code_of, flags_first, print_note
from tests.table import each_row

ROOT = Path(__file__).resolve().parents[3]
GROUPS = ["condition", "agent", "verifier", "memory", "experiment", "scorer"]

ENDLESS = (
    "from runner.terminal.command import exit_code_of\nexit_code_of(lambda: [print('x' * 1000) for _ in range(10**4)])"
)

WITHOUT_STREAMS = (
    "import os, sys\nfrom runner.terminal.command import exit_code_of\n"
    "def run():\n    print(1)\n    sys.stderr.write('x')\n    os.write(int(sys.argv[1]), str(os.open('.', 0) > 2).encode())\n"
    "sys.exit(exit_code_of(run))"
)


def test_refusal_is_one_line_with_exit_code_2(capsys):
    def refuse():
        raise ConfigError("no such run")

    assert exit_code_of(refuse) == 2 and capsys.readouterr().err == "error: no such run\n"
    assert exit_code_of(lambda: None) == 0 and capsys.readouterr().err == ""


def test_interrupt_is_one_line_with_exit_code_130(capsys):
    def interrupt():
        raise KeyboardInterrupt

    assert exit_code_of(interrupt) == 130 and capsys.readouterr().err == "interrupted\n"


INTERRUPTING = """
import os, signal, sys

class Interrupt:
    def find_spec(name, path, target=None):
        if name == "components.core.errors":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt)
"""


@pytest.mark.parametrize("module", ["runner", "runner.report", "runner.ui"])
def test_ctrl_c_while_a_command_imports_is_one_line_with_exit_code_130(tmp_path, module):
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING)
    env = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run([sys.executable, "-m", module], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_refused_words_name_the_near_flag_or_the_order_of_arguments():
    parser = Parser(prog="p bundle")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--with-data", action="store_true")
    parser.add_argument("--skip", metavar="A,B")
    for short in ("--with-date", "--with"):
        with pytest.raises(ConfigError, match=rf"unrecognized arguments: {short}; did you mean --with-data"):
            parser.parse_args(["a", "b", short])
    parser.add_argument("--to", choices=["inspect", "helm"])
    with pytest.raises(ConfigError, match=r"invalid choice: 'insepct' .*; did you mean inspect"):
        parser.parse_args(["a", "b", "--to", "insepct"])
    usage = r"usage: p bundle \[-h\] \[--with-data\] \[--skip A,B\] \[--to \{inspect,helm\}\] FILE FOLDER;"
    with pytest.raises(ConfigError, match=f"required: FOLDER; {usage}"):
        parser.parse_args(["a"])
    with pytest.raises(ConfigError, match=f"argument --skip: expected one argument; {usage}"):
        parser.parse_args(["a", "b", "--skip"])


def test_control_characters_of_a_note_are_escaped(capsys):
    print_note("error: a\x1b[31mb\tc\x9b\n")
    assert capsys.readouterr().err == "error: a\\x1b[31mb    c\\x9b\n\n"


def test_unreadable_or_unwritable_file_is_reported_in_one_line(tmp_path, capsys):
    assert (
        exit_code_of(lambda: tmp_path.open()) == 2 and capsys.readouterr().err == f"error: {tmp_path}: Is a directory\n"
    )
    assert exit_code_of(lambda: os.read(10**6, 1)) == 2 and "Bad file descriptor" in capsys.readouterr().err


def test_closed_pipe_gives_no_error():
    root = Path(__file__).parents[3]
    line = [sys.executable, "-c", ENDLESS]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=root) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b"" and process.wait(30) == 0


@each_row("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_no_file_gets_the_number_of_a_closed_standard_stream(closed):
    reading, writing = os.pipe()
    with open(reading, "rb") as written, open(writing, "wb"):
        line = ["sh", "-c", f'exec "$0" -c "$1" {writing} {closed}', sys.executable, WITHOUT_STREAMS]
        done = subprocess.run(line, cwd=ROOT, capture_output=True, pass_fds=[writing], check=False)
        assert (done.returncode, os.read(written.fileno(), 9)) == (0, b"True")


def test_flags_come_first_with_their_values():
    assert flags_first(["limit=9", "-m", "seed=0,1", "-cd", "mine"]) == ["-m", "-cd", "mine", "limit=9", "seed=0,1"]


@each_row(
    "words, read",
    [
        ("condition=withhold withhold.tools=[a]", "condition=withhold condition.tools=[a]"),
        ("+noisy.rate=0.5 condition=noisy", "+condition.rate=0.5 condition=noisy"),
        ("withhold.tools=[a]", "withhold.tools=[a]"),
        ("condition=withhold,noisy noisy.rate=1", "condition=withhold,noisy noisy.rate=1"),
        ("agent=refine verifier=refine refine.n=1", "agent=refine verifier=refine refine.n=1"),
        ("name=run run.journal=null", "name=run run.journal=null"),
        ("experiment=hello hello.limit=3", "experiment=hello hello.limit=3"),
        ("scorer=faults faults.right_from=0.5", "scorer=faults scorer.faults.right_from=0.5"),
        ("memory=solved agent=memory memory.k=2", "memory=solved agent=memory memory.k=2"),
    ],
)
def test_settings_below_a_choice_belong_to_its_group(words, read):
    assert by_group(words.split(), GROUPS) == read.split()
