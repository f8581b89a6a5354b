"""The commands of README.md and docs/ run, on few samples and in one folder.

All commands run but those that need a key, a server, data or an extra, and the tests on the pages of docs/adding.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from runner.serve import from_arguments
from runner.storage import records
from tests.acceptance.command import Served, run_in_process
from tests.docs.pages import ADDING, ROOT, WITH_COMMANDS, Command, named
from tests.slow import slow

pytestmark = slow

FEW = ("limit=2", "tracking=off")
AS_PRINTED = ("docs/tutorial.md",)  # whose commands build on each other's results
_AS_IT_IS = re.compile(r"run\.replay=\S+zip|fork=|--info|--cfg|--help")


@pytest.fixture(scope="module")
def runs(desk) -> dict[str, str]:
    """The values of the placeholders of a page."""
    once = run_in_process(desk, "agent=radagent", "hydra.run.dir=outputs/once", *FEW, own=False)
    many = run_in_process(desk, "-m", "agent=react,direct,zero_shot", "hydra.sweep.dir=outputs/many", *FEW, own=False)
    assert (once.code, many.code) == (0, 0), once.err + many.err
    (desk / "outputs/.mlflow/unsent").mkdir(parents=True)  # as after a run that was tracked
    sample = next(iter(records.read(desk / "outputs/once")))["sample_id"]
    return {"FOLDER": "outputs/once", "RUN": "outputs/once", "SWEEP": "outputs/many", "SAMPLE": sample}


@pytest.mark.parametrize("page", named(ADDING))
def test_examples_of_a_page_run_without_errors(page, desk, monkeypatch):
    monkeypatch.setenv("WARD_LLM_KEY", "none")
    server, _, _ = from_arguments([])
    with Served(server) as served:
        for command in page.commands:
            if not command.sweeps and "terminal" not in command.needs:
                run(command, desk, {"model=ward_llm": f"model=ward_llm model.api_base={served.url}"})


def test_examples_pass_their_own_tests(desk):
    tests = sorted((desk / "tests").glob("test_*.py"))
    assert {path.stem.removeprefix("test_") for path in tests} >= {"twice", "shuffled", "brevity", "short", "egfr"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", "tests"],
        cwd=desk, env={"PYTHONPATH": f"{ROOT}:{desk}", "PATH": "/usr/bin:/bin"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", named(WITH_COMMANDS))
def test_commands_of_a_page_run_without_errors(page, desk, runs, monkeypatch):
    monkeypatch.setenv("WARD_LLM_KEY", "none")
    # as in a terminal, and where none is there to ask; a command before may have set it
    monkeypatch.setenv("COLUMNS", "80" if page.name in AS_PRINTED else "140")
    printed = ""
    for command in page.commands:
        if not command.needs and (command.sweeps or page not in ADDING):
            printed += run(command, desk, runs, few=page.name not in AS_PRINTED)
    if page.name in AS_PRINTED:
        missing = without_times(page.shown) - without_times(printed)
        assert not missing, "what the page shows is what is printed"


def without_times(text: str) -> set[str]:
    """The lines of a text without folders of a day, times and the number at the end of a row, which may be one."""
    text = re.sub(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d|[\d.]+ s a sample|(?<=run folder: ).*/outputs", "", text)
    return {re.sub(r"(?m)(?<=[\d.]{6}) +[\d.]{6}$", "", line.rstrip()) for line in text.splitlines()}


def run(command: Command, folder: Path, stands_for: Mapping[str, str], few: bool = True) -> str:
    """Run a command to its end. Returns what it printed."""
    line = command.line
    for word, value in stands_for.items():
        line = line.replace(word, value)
    words = shlex.split(line)
    if not words[0].endswith("python"):
        return ""
    if words[2] == "runner":
        if few and not _AS_IT_IS.search(line):
            words = [
                *(word for word in words if not word.startswith("limit=")),
                *(FEW[1:] if " stage=" in line else FEW),
            ]
        done = run_in_process(folder, *words[3:], own=False)
        code, output, printed = done.code, done.err, done.out
    else:
        process = subprocess.run(
            [sys.executable, *words[1:]], cwd=folder, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        code, output, printed = process.returncode, process.stderr, process.stdout
    assert code == 0, f"{line}\n{output}"
    return printed
