"""The task function that Hydra runs."""

import asyncio
import sys

from runner.job.task import Task


async def loop_in_use():
    return type(asyncio.get_running_loop()).__module__.partition(".")[0]


def test_work_runs_on_uvloop_where_it_is_installed_and_else_on_asyncio(monkeypatch):
    if sys.platform != "win32":
        assert Task().run(loop_in_use()) == "uvloop"
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert Task().run(loop_in_use()) == "asyncio"
