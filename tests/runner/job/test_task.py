"""The task function that Hydra runs."""

import asyncio
import sys

from omegaconf import OmegaConf

from components.core import open_files
from components.core.errors import ConfigError
from runner.job.exit_codes import CONFIG
from runner.job.task import Task, end_of
from tests.runner.results.folders import write


async def loop_in_use():
    return type(asyncio.get_running_loop()).__module__.partition(".")[0]


def test_work_runs_on_uvloop_where_it_is_installed_and_else_on_asyncio(monkeypatch):
    if sys.platform != "win32":
        assert Task().run(loop_in_use()) == "uvloop"
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert Task().run(loop_in_use()) == "asyncio"


def test_too_few_open_files_for_any_run_are_refused_before_anything_opens(monkeypatch, capsys):
    monkeypatch.setattr(open_files, "_OTHER_FILES", 1 << 62)
    assert Task()(OmegaConf.create()) == CONFIG
    assert "open files here" in capsys.readouterr().err


def test_an_interrupt_after_the_end_says_that_the_run_is_complete(tmp_path):
    task = Task(resume="run.resume=here", folder=write(tmp_path / "here", {"one": ("k", [1])}, status="running"))
    assert "continue with" in task.continuing
    write(tmp_path / "here", {"one": ("k", [1])}, status="complete")
    assert task.continuing == f"; the run is complete: {tmp_path / 'here'}"


def test_a_refusal_is_an_error_of_the_log_only_once_the_sweep_ends(caplog):
    async def refused():
        raise ConfigError("start the server")

    caplog.set_level("INFO", "runner.sweep")
    assert asyncio.run(end_of("a", refused(), set())) == "start the server"
    assert [record.levelname for record in caplog.records] == ["INFO"]
