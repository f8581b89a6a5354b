"""The process that owns a sandbox under attack: reads requests from stdin and answers on stdout, JSON by line.

Arguments: the folder of the ground, the backend (``bare``: no sandbox at all, to see that an attack is one).
"""

import asyncio
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from components.sandbox import Library, Limits, Sandbox, Session
from components.sandbox.process import close_all
from tests.components.sandbox.attacks.ground import DATABASE, Ground, lay
from tests.components.sandbox.attacks.lanes import Lane, packed

PROJECT = Path(__file__).parents[4]
LIMITS = Limits(
    wall_seconds=20.0, cpu_seconds=10.0, memory_bytes=1 << 29, file_bytes=1 << 20, scratch_bytes=4 << 20,
    open_files=64, output_bytes=1 << 16, answer_bytes=1 << 16,
)  # fmt: skip
HASTY = replace(LIMITS, wall_seconds=0.3)
GONE_SECONDS = 10  # what is killed is gone long before, unless the machine is busy
LANES, HASTY_LANES = 3, 16  # episodes at once; those that only wait for their limit do not need a CPU each


class Driver:
    """One ground, one backend; two sandboxes that differ in the time they give."""

    def __init__(self, folder: Path, backend: str) -> None:
        self.ground = Ground(folder)
        self.backend = backend
        self.facts = {
            **self.ground.facts, "GROUND": str(folder), "DATA": str(self.ground.data), "FILE": str(self.ground.file),
            "HOST": os.getpid(), "PROJECT": str(PROJECT), "UID": os.getuid(), "COLUMNS": str(self.ground.columns),
        }  # fmt: skip
        place = {"file": str(self.ground.file), "tables": str(self.ground.columns), "database": DATABASE}
        self.arguments = {"facts": self.facts, "ehr_arguments": place}
        # The folder of the data holds a link to the gold file, that of the columns a socket: neither may help.
        readable = (self.ground.data, self.ground.columns.parent)
        self.library = Library("tests.components.sandbox.attacks.library", self.arguments, readable)
        self.sandboxes: dict[bool, Sandbox] = {}
        self.idle: list[str] = []

    async def _start(self) -> None:
        """Both sandboxes, which share the process that waits below this one when nothing runs."""
        if not self.sandboxes:
            kind: Any = self.backend
            for hasty, limits in ((False, LIMITS), (True, HASTY)):
                self.sandboxes[hasty] = Sandbox(kind, limits=limits, max_running=HASTY_LANES)
            session = self._opened(hasty=False)
            await session.run("answer = 1")
            session.close()
            await asyncio.sleep(0.1)
            self.idle = [line for line in descendants() if not line.endswith("(cells-waiting)")]

    async def run(self, attacks: list[Mapping[str, Any]], thorough: bool) -> dict[str, Any]:
        """All attacks, in a few episodes side by side; honest cells between them, ``thorough``: after each."""
        await self._start()
        before = self.ground.snapshot()
        outcomes: list[dict[str, Any]] = [{} for _ in attacks]
        other = self._opened(hasty=False)
        serving = []
        for hasty, most in ((True, HASTY_LANES), (False, LANES)):
            queue = packed(attacks, hasty)
            lanes = [Lane(self._opened, attacks, outcomes, other, thorough) for _ in range(min(most, len(queue)))]
            serving += [lane.serve(queue) for lane in lanes]
        await asyncio.gather(*serving)
        other.close()
        left = await self._settled()
        after = self.ground.snapshot()
        changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
        reached, self.ground.reached[:] = list(self.ground.reached), []
        return {"attacks": outcomes, "left": left, "changed": changed, "reached": reached}

    def _opened(self, hasty: bool, keep: bool = False) -> Session:
        return self.sandboxes[hasty].open(self.library, keep)

    async def hang(self, cells: list[str]) -> list[int]:
        """Run cells, the last of which does not end, and leave it running; the numbers of all processes below."""
        await self._start()
        session = self._opened(hasty=False, keep=True)
        for cell in cells[:-1]:
            await session.run(cell)
        self.hanging = asyncio.create_task(session.run(cells[-1]))
        await asyncio.sleep(0.1)
        return [int(line.split()[0]) for line in descendants()]

    async def _settled(self) -> list[str]:
        """What runs below this process after attacks, apart from what waits for the next episode: nothing, soon."""
        left = await _gone(self.idle)
        self.idle += left  # each is reported once
        return left

    async def close(self) -> dict[str, Any]:
        """What is alive after the sandboxes are closed, what is after their processes are ended, which files stay."""
        for sandbox in self.sandboxes.values():
            sandbox.close()
        open_still = await _gone(self.idle)
        close_all()
        left = await _gone([])
        self.sandboxes = {}
        files = sorted(str(path) for path in self.ground.tmp.rglob("*"))
        return {"open": open_still, "left": left, "files": files}

    def bare(self, attacks: list[Mapping[str, Any]]) -> tuple[bool, list[str]]:
        """What each attack ends with in plain Python: "ok", or the error that held it back.

        Before it, whether this machine already holds back what its users may do on a plain one.
        """
        return (True, []) if _confined() else (False, [self._plain(attack["cells"]) for attack in attacks])

    def _plain(self, cells: list[str]) -> str:
        from tests.components.sandbox.attacks import library  # with pandas: half a second

        lay(self.ground.folder)
        reader, writer = os.pipe()
        if not (child := os.fork()):
            try:
                os.setsid()
                scratch = self.ground.tmp / str(os.getpid())
                scratch.mkdir()
                os.chdir(scratch)
                signal.alarm(10)
                names = library.names(**self.arguments)
                for cell in cells:
                    exec(compile(cell, "<cell>", "exec"), names)
                os.write(writer, b"ok")
            except BaseException as error:  # noqa: BLE001
                os.write(writer, traceback.format_exc(-1)[-300:].encode() + repr(error).encode()[:1000])
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as stream:
            os.waitpid(child, 0)
            return stream.read().decode() or "no word"


def _confined() -> bool:
    """Whether this process lacks rights to trace or to mount, is root in a namespace only, or may not make one."""
    status = dict(line.split(":\t") for line in Path("/proc/self/status").read_text().splitlines())
    needed = 1 << 19 | 1 << 21
    whole = Path("/proc/self/uid_map").read_text().split() == ["0", "0", str(2**32 - 1)]
    barred = subprocess.run(["unshare", "--user", "true"], capture_output=True, check=False).returncode
    return status["Seccomp"] != "0" or int(status["CapBnd"], 16) & needed != needed or not whole or barred != 0


async def _gone(idle: list[str]) -> list[str]:
    """Which processes below this one, but for those that were idle and one that waits for an episode, do not end."""
    deadline = time.monotonic() + GONE_SECONDS
    while (left := _others(idle)) and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    return left


def _others(idle: list[str]) -> list[str]:
    running = descendants()
    waiting = [line for line in running if line.endswith("(cells-waiting)")][: bool(idle)]  # a cell may take its name
    return [line for line in running if line not in [*idle, *waiting]]


def descendants() -> list[str]:
    """Every living process below this one: its number and name."""
    parents, commands = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = Path(f"/proc/{name}/stat").read_text()
        except OSError:
            continue
        state, parent = text[text.rindex(")") + 2 :].split()[:2]
        parents[int(name)] = int(parent)
        if state not in "ZX":
            commands[int(name)] = text[text.index("(") : text.rindex(")") + 1]
    below = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return [f"{pid} {commands[pid]}" for pid in sorted(below & commands.keys()) if pid != os.getpid()]


def main() -> None:
    """Serve until stdin ends."""
    ctypes.CDLL(None).prctl(36, 1)  # orphans become children of this process, so none can hide
    driver = Driver(Path(sys.argv[1]), sys.argv[2])
    answers = os.fdopen(os.dup(1), "w")
    loop = asyncio.new_event_loop()
    for line in sys.stdin:
        request = json.loads(line)
        match request:
            case {"run": attacks, "thorough": thorough}:
                reply: Any = loop.run_until_complete(driver.run(attacks, thorough))
            case {"bare": attacks}:
                reply = driver.bare(attacks)
            case {"hang": cells}:
                reply = loop.run_until_complete(driver.hang(cells))
            case _:
                reply = loop.run_until_complete(driver.close())
                loop = asyncio.new_event_loop()  # the other still waits for a cell whose sandbox was closed
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
