"""Programs of others: their environment, and how they end."""

import asyncio
import subprocess
import sys
import time

import pytest

from components import programs
from components.core.errors import ConfigError
from tests.acceptance.command import ROOT


async def result_of(code, names=(), more=None):
    """What a Python program prints and how it ended."""
    process, kept = await programs.start([sys.executable, "-c", code], names, more), bytearray()
    await programs.read_tail(process.stderr, kept)
    printed = await process.stdout.read()
    await programs.stop(process, 5)
    return printed.decode(), programs.describe_end(process, kept)


async def test_a_program_gets_the_variables_that_are_named_and_no_others(monkeypatch):
    monkeypatch.setenv("NAMED", "1")
    monkeypatch.setenv("SECRET", "2")
    printed, _ = await result_of("import os; print(sorted(os.environ))", ["NAMED", "ABSENT"], {"MORE": "3"})
    assert [name for name in eval(printed) if not name.startswith("LC_")] == ["MORE", "NAMED"]


async def test_it_is_known_how_a_program_ended_with_its_last_line():
    code = "import sys; print('first', file=sys.stderr); print('no such ward', file=sys.stderr); sys.exit(3)"
    assert (await result_of(code))[1] == "ended with exit code 3: no such ward"
    assert (await result_of("import os; os.kill(os.getpid(), 9)"))[1] == "was killed by SIGKILL"


async def test_a_program_is_ended_with_its_process_group():
    code = "import subprocess, sys; print(subprocess.Popen(['sleep', '600']).pid, flush=True); sys.stdin.read()"
    process = await programs.start([sys.executable, "-c", code], ["PATH"])
    child = int(await process.stdout.readline())
    await programs.stop(process)
    for _ in range(100):
        if not is_running(child):
            break
        await asyncio.sleep(0.05)
    assert process.returncode == -9 and not is_running(child)


LEFT = """
import asyncio, sys
from components import programs
code = "import subprocess, time; print(subprocess.Popen(['sleep', '600']).pid, flush=True); time.sleep(600)"
async def main():
    stopped, process = [await programs.start([sys.executable, "-c", code], ["PATH"]) for _ in range(2)]
    await programs.stop(stopped)
    print(process.pid, (await process.stdout.readline()).decode(), flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""


def test_a_program_is_ended_with_its_process_group_where_this_process_is_killed():
    with subprocess.Popen([sys.executable, "-c", LEFT], stdout=subprocess.PIPE, cwd=ROOT) as runner:
        pids = [*map(int, runner.stdout.readline().split())]
        assert len(pids) == 2 and all(map(is_running, pids))
        runner.kill()
    for _ in range(100):
        if not any(map(is_running, pids)):
            break
        time.sleep(0.05)
    assert not any(map(is_running, pids))


async def test_a_cancelled_wait_for_a_program_ends_it_at_once_and_sees_its_exit():
    process = await programs.start([sys.executable, "-c", "import time; time.sleep(600)"], ["PATH"])
    stopping = asyncio.create_task(programs.stop(process, 600))
    await asyncio.sleep(0.05)
    stopping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(stopping, 10)
    assert process.returncode == -9


def is_running(pid):
    """Whether a process is there and not only its exit status."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(("command", "text"), [([], "it is empty"), (["no-such-program"], "'no-such-program'")])
def test_a_command_that_cannot_be_run_is_refused(command, text):
    with pytest.raises(ConfigError, match=text):
        programs.check(command, "agent.command")
