"""What is left of a sandbox after attacks, after its end and after the death of its host: nothing."""

import signal
import time
from pathlib import Path

import pytest

from components.errors import ConfigError
from components.sandbox import Library, Sandbox
from tests.components.sandbox.attacks import library
from tests.components.sandbox.attacks.attack import Attack
from tests.components.sandbox.attacks.stands import Stand

DAEMONS = {
    "a process in a session of its own": Attack(
        "import os, time\ntry:\n    if not os.fork():\n        os.setsid()\n        if not os.fork(): time.sleep(60)\n        os._exit(0)\n"
        "except OSError: pass\nanswer = 1",
        "ok", "",
    ),
    "a process that keeps its parent's death to itself": Attack(
        "import os, time\ntry:\n    syscall('prctl', 1, 0, 0, 0, 0)\n    if not os.fork(): time.sleep(60)\nexcept OSError: pass\nwhile True: pass",
        "timeout", "", hasty=True,
    ),
    "a thread": Attack("import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); answer = 1", "ok|error", "."),
    "files": Attack("import os\nfor n in range(20): os.mkdir(str(n)); open(f'{n}/x', 'w').write('x')\nanswer = 1", "ok", ""),
}  # fmt: skip


def test_a_closed_sandbox_and_a_killed_host_leave_no_process_and_no_file(stand: Stand) -> None:
    stand.withstands(DAEMONS)
    assert stand.ask(close=1) == {"left": [], "files": []}
    below = stand.ask(hang="open('left', 'w').write('x')\nwhile True: pass")
    assert below
    stand.process.send_signal(signal.SIGKILL)
    stand.process.wait()
    deadline = time.monotonic() + 3
    while (left := [pid for pid in below if alive(pid)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    files = list((stand.folder / "tmp").iterdir())
    stand.fresh()
    assert not left
    assert not files


def test_limits_alone_are_refused() -> None:
    with pytest.raises(ConfigError, match="rlimits"):
        Sandbox("rlimits").report()
    with pytest.raises(ConfigError, match="rlimits"):
        Sandbox("rlimits").open(Library(library.__name__, {}, ()))
    with pytest.raises(ConfigError, match="strict"):
        Sandbox("rlimits", strict=True, unsafe_local=True).report()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False
