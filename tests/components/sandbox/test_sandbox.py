"""The API: statuses, limits, what survives from cell to cell, cleanup, concurrency, refusals."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.sandbox import Library, Limits, Sandbox, SandboxError
from tests.components.sandbox.conftest import LIBRARY, PROBE
from tests.components.sandbox.processes import below, end_of, open_files
from tests.slow import slow
from tests.table import each_row

RESULTS = {
    "a number": ("answer = 6 * 7", "ok", "42"),
    "none": ("answer = None", "ok", "None"),
    "no answer": ("found = 42", "no_answer", ""),
    "an answer taken back": ("answer = 1\ndel answer", "no_answer", ""),
    "an empty cell": ("", "no_answer", ""),
    "not a number": ("answer = float('nan')", "ok", "nan"),
    "half a character": ("answer = '\\ud800x'", "ok", "\\ud800x"),
    "a list in itself": ("answer = []\nanswer.append(answer)", "ok", "[[...]]"),
    "an address": ("answer = lambda: 0", "ok", "<function <lambda> at 0x...>"),
    "the longest answer": (f"answer = 'é' * {32 << 10}", "ok", "é" * (32 << 10)),
    "an answer too long": ("answer = 'é' * 40000", "too_large", ""),
    "an exit": ("raise SystemExit(0)", "error", ""),
    "an exit past Python": ("import os\nos._exit(0)", "error", ""),
    "no memory": ("answer = 'x' * 10**11", "error", ""),
    "a crash": ("import ctypes\nctypes.string_at(0)", "killed", ""),
    "too deep": ("def f(): f()\nf()", "error", ""),
    "a text that equals everything": (
        "class A(str):\n    __eq__ = lambda *_: True\n    __hash__ = str.__hash__\n"
        "    def __str__(self): return self\nanswer = A('wrong')",
        "ok",
        "wrong",
    ),
    "a text that raises": ("class A:\n    def __str__(self): 1 / 0\nanswer = A()", "error", ""),
}


@each_row("name", RESULTS)
async def test_a_cell_ends_with_its_status_and_the_text_of_its_answer(bare, name):
    cell, status, answer = RESULTS[name]
    ran = await bare.run(cell)
    assert (ran.status, ran.answer) == (status, answer), ran.error
    assert (ran.error is None) == (status in ("ok", "no_answer"))
    assert (await bare.run("answer = 'next'")).answer == "next"


async def test_output_is_data_and_cut(bare):
    ran = await bare.run("print('é' * 40000)\nimport os\nos.write(1, b'more')\nanswer = 1")
    assert ran.answer == "1"
    assert ran.output == "é" * 32768


@slow
@each_row(
    "limits, cell, status, words",
    [
        (
            {"wall_seconds": 0.3},
            "while True:\n    try:\n        while True: pass\n    except: pass",
            "timeout",
            "0.3 s",
        ),
        ({"wall_seconds": 0.3}, "import time\ntime.sleep(99)", "timeout", "0.3 s"),
        ({"cpu_seconds": 0.2, "wall_seconds": 9}, "while True: pass", "timeout", "CPU"),
        ({"memory_bytes": 300 << 20}, "answer = bytearray(280 << 20)", "error", ""),
        ({"file_bytes": 1000}, "with open('f', 'w') as file: file.write('x' * 2000)", "error", "File too large"),
        ({"scratch_bytes": 1 << 20}, "for n in range(9): open(f'{n}', 'w').write('x' * 300000)", "error", "No space"),
        ({"open_files": 20}, "kept = [open('f', 'w') for n in range(99)]", "error", "Too many open files"),
    ],
)
async def test_limits_hold(sandbox, limits, cell, status, words):
    narrow = Sandbox(backend=sandbox.report()["tier"], limits=replace(Limits(), **limits))
    with_limits = narrow.open(Library("components.sandbox.probe", {}))
    try:
        ran = await with_limits.run(cell)
        assert ran.status == status and words in ran.error.message
        assert (await with_limits.run("answer = 1")).answer == "1"
        assert narrow.report()["kills"] == ({status: 1} if status == "timeout" else {})
    finally:
        narrow.close()


async def test_nothing_reaches_the_next_cell(bare):
    left = (
        "import builtins, sys, os, json, atexit, random\nkept = 1\n"
        "json.dumps = lambda *a, **k: 'forged'\nsys.modules['math'] = json\nos.environ['LEFT'] = '1'\nos.mkdir('d', 0)\n"
        "open('json.py', 'w').write('x = 1')\nos.chdir('/')\nrandom.random()\natexit.register(print, 'late')\nbuiltins.str = 0"
    )
    assert (await bare.run(left)).status == "no_answer"
    seen = await bare.run(
        "import math, os, json, random\nanswer = json.dumps([str(1), math.floor(1.5), 'LEFT' in os.environ, "
        "os.listdir('.'), 'kept' in globals(), random.random()])"
    )
    assert seen.answer == '["1", 1, false, [], false, 0.8444218515250481]'


async def test_a_worker_runs_cells_that_leave_nothing_and_no_cell_after_another(sandbox):
    """One that asks for the process' number has to be a cell that might leave something."""
    session = sandbox.open(PROBE)
    await session.run("given = 1")
    for last in range(3):  # on a busy machine a cell may take so long that the next process is started next to it
        before = set(below(os.getpid()))
        for cell in ("answer = 2", "1 / 0", "(", "x = [[0] * 99]\nfor row in x: row.append(x)", "answer = given"):
            ran = await session.run(cell)
        assert ran.error is not None and ran.error.type == "NameError"
        if (after := set(below(os.getpid()))) == before:
            break
        assert last < 2, (before, after)
    who = "import os\nanswer = os.getpid()"
    first, second = [(await session.run(who)).answer for _ in range(2)]
    assert first != second
    session.close()


@slow
async def test_given_mutable_values_are_fresh_for_every_cell(session):
    """The library gives a module, so no process runs two cells."""
    await session.run("numpy = 1")
    assert (await session.run("answer = int(numpy.sum([1, 2])), text")).answer == "(3, 'given')"


@slow
async def test_a_cell_without_memory_does_not_affect_the_next_one(sandbox):
    narrow = Sandbox(backend=sandbox.report()["tier"], limits=Limits(memory_bytes=300 << 20))
    session = narrow.open(PROBE)
    full = "x = []\nwhile True:\n    x.append({'a': [str(len(x)) * 900]})"
    assert (await session.run(full)).error.type == "MemoryError"
    assert (await session.run("answer = 1")).answer == "1"
    nested = "x = {}\nfor i in range(2000): x = {'a': x, 'b': lambda: x}\nraise KeyError(x)"
    assert (await session.run(nested)).error.type in ("KeyError", "RecursionError")
    narrow.close()


@slow
async def test_a_file_made_while_a_cell_is_ended_does_not_reach_the_next(sandbox):
    session = sandbox.open(PROBE)
    leaving = (
        "import sys, os\nframe = sys._getframe()\nwhile 'results' not in frame.f_locals: frame = frame.f_back\n"
        "from_host = frame.f_locals\nreply = from_host['packed'](type(from_host['run'].__self__).run.__globals__['Ran']"
        "('ok', '1'), from_host['request']['token'])\nos.write(from_host['results'], reply)\nos.close(from_host['results'])\n"
        "while True: os.close(os.open('./' * 2040 + 'leak', 0o101)); os.unlink('leak')"
    )
    for _ in range(12):
        assert (await session.run(leaving)).answer == "1"
        assert (await session.run("import os\nanswer = os.listdir('.')")).answer == "[]"
    session.close()


@slow
async def test_closing_a_session_during_a_cell_is_reported_and_affects_no_other(sandbox):
    first, other = sandbox.open(PROBE), sandbox.open(PROBE)
    await asyncio.gather(first.run("answer = 1"), other.run("answer = 1"))
    running = [asyncio.create_task(first.run(cell)) for cell in ("import time\ntime.sleep(20)", "answer = 2")]
    concurrent = asyncio.create_task(other.run("import time\ntime.sleep(0.4)\nanswer = 3"))
    await asyncio.sleep(0.2)
    first.close()
    for one in running:
        with pytest.raises(SandboxError, match="the session is closed"):
            await asyncio.wait_for(one, 5)
    assert (await concurrent).answer == "3"
    other.close()


@slow
async def test_a_busy_event_loop_does_not_lose_a_result(sandbox):
    brief = Sandbox(backend=sandbox.report()["tier"], limits=Limits(wall_seconds=0.5))
    session = brief.open(PROBE)
    await session.run("answer = 1")
    running = asyncio.create_task(session.run("sum(range(10**6))\nanswer = 2"))
    await asyncio.sleep(0.02)
    time.sleep(1.5)
    assert (await running).answer == "2"
    time.sleep(0.7)
    assert (await session.run("answer = 3")).answer == "3"
    brief.close()


@slow
async def test_variables_survive_where_asked_until_the_worker_dies(sandbox):
    limited = Sandbox(limits=Limits(wall_seconds=0.5))
    kept, other = (limited.open(PROBE, keep=True) for _ in range(2))
    try:
        await kept.run("found = 1\nopen('f', 'w').close()\nanswer = 2")
        assert (await kept.run("import os\nfound += 1")).status == "no_answer"
        assert (await kept.run("answer = found, os.listdir('.')")).answer == "(2, ['f'])"
        assert (await other.run("answer = found")).error.type == "NameError"
        lost = await kept.run("import time\ntime.sleep(20)")
        assert lost.status == "timeout" and "variables of earlier cells are lost" in lost.error.message
        assert (await kept.run("answer = found")).error.type == "NameError"
    finally:
        limited.close()


SCAN = """
import ctypes, os, re
libc, file, found, read = ctypes.CDLL(None), os.open("seen", os.O_RDWR | os.O_CREAT), 0, 0
for page in range((HERE >> 16) - 64 << 16, (HERE >> 16) + 64 << 16, 1 << 16):
    os.lseek(file, 0, 0)
    n = libc.write(file, ctypes.c_void_p(page), ctypes.c_size_t(1 << 16))  # memory that is not there is an error
    read += max(n, 0)
    found += n > 0 and bool(re.search(b"patient-(4711){9}", os.pread(file, n, 0)))
answer = found > 0, read > 1 << 20
"""


async def test_a_scan_of_memory_finds_nothing_of_another_episode(sandbox):
    first, second = (sandbox.open(PROBE, keep=True) for _ in range(2))
    ran = await first.run("patient = 'patient-' + '4711' * 9\nanswer = id(patient)")
    scan = SCAN.replace("HERE", ran.answer)
    assert (await first.run(scan)).answer == "(True, True)"  # the same scan finds its own
    other = await second.run(scan)
    assert (other.answer, other.error) == ("(False, True)", None)
    first.close()
    second.close()


@slow
async def test_random_numbers_and_hashes_are_the_same_in_every_cell(sandbox):
    cell = (
        "import random, uuid\nanswer = random.random(), numpy.random.rand(), hash('x'), uuid.uuid4(), {'b', 'a', 'c'}"
    )
    first, kept = sandbox.open(LIBRARY), sandbox.open(LIBRARY, keep=True)
    texts = [(await one.run(cell)).answer for one in (first, first, kept, kept)]
    assert texts[0] and len(set(texts)) == 1
    first.close()
    kept.close()


@slow
async def test_only_what_is_readable_is_there(held, tmp_path):
    shown, hidden = tmp_path / "shown" / "data", tmp_path / "hidden"
    for file in (shown, hidden):
        file.parent.mkdir(exist_ok=True)
        file.write_text("content")
    opened = held.open(Library(PROBE.module, {}, (shown.parent,)))
    try:
        assert (await opened.run(f"answer = open({str(shown)!r}).read()")).answer == "content"
        for path in (hidden, shown.parent / ".." / "hidden", Path(__file__), "/etc/passwd", "/proc/1/environ"):
            ran = await opened.run(f"answer = open({str(path)!r}).read()")
            assert ran.status == "error" and "content" not in ran.error.message, path
        for change in ("open(p, 'a')", "os.unlink(p)", "os.rename(p, p + 'x')", "os.chmod(p, 0)", "os.truncate(p, 0)"):
            assert (await opened.run(f"import os\np = {str(shown)!r}\n{change}")).status == "error", change
        assert shown.read_text() == "content"
    finally:
        opened.close()


async def test_a_worker_sees_no_project_and_an_empty_environment(held):
    opened = held.open(PROBE)
    ran = await opened.run(
        "import os, sys\nanswer = sorted(os.environ), [p for p in sys.path if os.path.exists(p + '/components')]\n"
        "import components.core.types"
    )
    assert ran.status == "error" and ran.error.type in ("ModuleNotFoundError", "PermissionError", "ImportError")
    ran = await opened.run("import os, sys\nanswer = sorted(os.environ), os.getcwd() == os.environ['HOME']")
    assert ran.answer == "(['HOME', 'LC_ALL', 'PATH'], True)"
    opened.close()


@slow
async def test_closing_leaves_no_process_no_file_and_no_descriptor(held):
    warm = held.open(PROBE)
    await warm.run("answer = 1")
    await asyncio.sleep(0.1)  # until its next worker is there
    before, files = set(below(os.getpid())), open_files()
    made = Sandbox(backend=held.report()["tier"])
    started = made.open(PROBE)
    kept = made.open(PROBE, keep=True)
    endless = asyncio.create_task(started.run("while True: open('f', 'w')"))
    await kept.run("found = 1")
    await asyncio.sleep(0.1)
    endless.cancel()
    with pytest.raises(asyncio.CancelledError):
        await endless
    for _ in range(2):
        started.close()
    with pytest.raises(SandboxError, match="closed"):
        await started.run("answer = 1")
    made.close()
    made.close()
    assert set(below(os.getpid())) <= before
    assert open_files() == files
    warm.close()


HOST = """
import asyncio, sys
from components.sandbox import Library, Sandbox
async def main():
    sandbox = Sandbox(backend=sys.argv[1])
    session = sandbox.open(Library("components.sandbox.probe", {}))
    await session.run("answer = 1")
    print("ready", flush=True)
    await session.run("while True: pass")
if sys.argv[2] == "leave":
    sandbox = Sandbox(backend=sys.argv[1])
    session = sandbox.open(Library("components.sandbox.probe", {}))
    asyncio.run(session.run("answer = 1"))
    print("ready", flush=True)
else:
    asyncio.run(main())
"""


@slow
@pytest.mark.parametrize("way", ["killed", pytest.param("leave", marks=slow)])
def test_nothing_remains_when_the_host_dies(held, way):
    line = [sys.executable, "-c", HOST, held.report()["tier"], way]
    folder = tempfile.mkdtemp(prefix="wardround-host-")
    with subprocess.Popen(line, stdout=subprocess.PIPE, env={"TMPDIR": folder}, cwd=Path(__file__).parents[3]) as host:
        assert host.stdout.readline() == b"ready\n"
        started = below(host.pid)
        if way == "killed":
            assert started
            host.send_signal(signal.SIGKILL)
        host.wait(10)
    assert end_of(started) == []
    until = time.monotonic() + 5
    while list(Path(folder).iterdir()) and time.monotonic() < until:
        time.sleep(0.01)
    Path(folder).rmdir()


@slow
async def test_the_number_of_concurrent_cells_is_limited(sandbox):
    one = Sandbox(max_running=1)
    sessions = [one.open(Library("components.sandbox.probe", {})) for _ in range(4)]
    cell = "import time\nstarted = time.time()\ntime.sleep(0.05)\nanswer = repr((started, time.time()))"
    try:
        rans = await asyncio.gather(*(each.run(cell) for each in sessions))
        times = [eval(ran.answer) for ran in rans]
        assert times == sorted(times)
        assert all(before[1] <= after[0] for before, after in pairwise(times))
    finally:
        one.close()


def test_a_sandbox_outlives_an_event_loop():
    made = Sandbox(max_running=1)
    kept = made.open(Library("components.sandbox.probe", {}), keep=True)
    try:
        assert asyncio.run(kept.run("found = 1\nanswer = 1")).answer == "1"
        assert asyncio.run(kept.run("answer = found + 1")).answer == "2"
    finally:
        made.close()
    again = made.open(Library("components.sandbox.probe", {}))
    assert asyncio.run(again.run("answer = 3")).answer == "3"
    made.close()


@each_row(
    "given, words",
    [
        ({"backend": "rlimits"}, "needs unsafe_local: true"),
        ({"backend": "rlimits", "strict": True, "unsafe_local": True}, "excludes backend 'rlimits'"),
        ({"backend": "landlock", "strict": True}, "excludes backend 'landlock'"),
        ({"strict": True, "unsafe_local": True}, "excludes unsafe_local"),
    ],
)
def test_an_insufficient_sandbox_is_refused(given, words):
    with pytest.raises(ConfigError, match=words):
        Sandbox(**given)


async def test_unsafe_local_runs_with_a_warning():
    made = Sandbox(backend="rlimits", unsafe_local=True)
    report = made.report()
    assert report["unsafe_local"] is True and report["self_test"] == "none: unsafe_local"
    opened = made.open(Library("components.sandbox.probe", {}))
    assert (await opened.run("answer = 1")).answer == "1"
    made.close()


def test_the_report_lists_the_protections(held):
    report = held.report()
    assert report["self_test"] == "held" and report["unsafe_local"] is False
    assert report["rules"] and report["limits"]["wall_seconds"] == 30.0
    assert report["refused"] == {}


async def test_a_failure_of_the_machine_is_not_a_result(sandbox):
    with pytest.raises(SandboxError, match="does not exist"):
        sandbox.open(Library("components.sandbox.probe", {}, (Path("/no/such"),)))
    wrong = sandbox.open(Library("components.sandbox.probe", {"given": 1}))
    with pytest.raises(SandboxError, match="names\\(\\) got an unexpected keyword"):
        await wrong.run("answer = 1")
    missing = sandbox.open(Library("components.sandbox.no_such", {}))
    with pytest.raises(SandboxError, match=r"two attempts.*No module named"):
        await missing.run("answer = 1")
