"""The process that owns a sandbox under attack: reads requests from stdin and answers on stdout, JSON by line.

Arguments: the folder of the ground, the backend (``bare``: no sandbox at all, to see that an attack is one).
"""

import asyncio
import ctypes
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from components.sandbox import Library, Limits, Sandbox, SandboxError, Session
from tests.components.sandbox.attacks.ground import DATABASE, Ground, lay

PROJECT = Path(__file__).parents[4]
HONEST = """
import collections, json, os, random
answer = [json.dumps({"beds": look_up("A")}), str(12), len("abc"), sorted(os.listdir()), os.path.isdir(".")]
answer += [sum(1 for name in ("leak", "json_leak") if name in globals()), SQLInterpreter("SELECT count(*) FROM patients")]
answer += [hasattr(collections, "leak"), hasattr(random, "leak"), Calculate("2+3")]
"""
EACH = """
import json, os
outcomes, here = [], os.getcwd()
for number, cell in enumerate({cells!r}):
    names = dict(globals())
    os.mkdir(f"{{here}}/{{number}}"); os.chdir(f"{{here}}/{{number}}")
    try:
        exec(cell, names)
        outcomes.append(("", "", str(names.get("answer"))[:300]))
    except BaseException as error:
        outcomes.append((type(error).__name__, str(error)[:300], ""))
answer = json.dumps(outcomes)
"""
LIMITS = Limits(
    wall_seconds=20.0, cpu_seconds=10.0, memory_bytes=1 << 29, file_bytes=1 << 20, scratch_bytes=4 << 20,
    open_files=64, output_bytes=1 << 16, answer_bytes=1 << 16,
)  # fmt: skip
HASTY = replace(LIMITS, wall_seconds=1.0)
TOGETHER = 15
LANES, HASTY_LANES = 4, 8  # episodes at once; those that only wait for their limit do not need a CPU each


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

    async def _start(self, hasty: bool) -> Sandbox:
        """The sandbox, opened before; remembers what waits below this process when nothing runs."""
        if hasty not in self.sandboxes:
            kind: Any = self.backend
            self.sandboxes[hasty] = Sandbox(kind, limits=HASTY if hasty else LIMITS, max_running=HASTY_LANES)
            session = self.sandboxes[hasty].open(self.library)
            await session.run("answer = 1")
            session.close()
            await asyncio.sleep(0.1)
            self.idle = descendants()
        return self.sandboxes[hasty]

    async def run(self, attacks: list[Mapping[str, Any]]) -> dict[str, Any]:
        """All attacks of a group, in a few episodes side by side, each followed by an honest cell."""
        kinds = {attack["hasty"] for attack in attacks}
        for hasty in {False} | kinds:
            await self._start(hasty)
        before = self.ground.snapshot()
        told: list[dict[str, Any]] = [{} for _ in attacks]
        together = [number for number, attack in enumerate(attacks) if attack["together"]]
        queue = [[number] for number in range(len(attacks)) if number not in together][::-1]
        queue += [together[start : start + TOGETHER] for start in range(0, len(together), TOGETHER)]
        lanes = HASTY_LANES if kinds == {True} else LANES
        await asyncio.gather(*[self._episodes(queue, attacks, told) for _ in range(lanes)])
        left = await self._settled()
        after = self.ground.snapshot()
        changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
        reached, self.ground.reached[:] = list(self.ground.reached), []
        return {"attacks": told, "left": left, "changed": changed, "reached": reached}

    async def _episodes(
        self, queue: list[list[int]], attacks: list[Mapping[str, Any]], told: list[dict[str, Any]]
    ) -> None:
        """Take attacks from the queue until it is empty; one episode for all of a kind, another beside them."""
        opened: dict[tuple[bool, bool], Session] = {}
        other = self.sandboxes[False].open(self.library)
        while queue:
            numbers = queue.pop()
            attack = attacks[numbers[0]]
            kind = attack["hasty"], attack["keep"]
            if kind not in opened:
                opened[kind] = self.sandboxes[kind[0]].open(self.library, keep=kind[1])
            session = opened[kind]
            if len(numbers) > 1:
                rans = await _each(session, [attacks[number]["cells"][0] for number in numbers])
                if not rans:  # one of them ended the cell
                    queue += [[number] for number in numbers]
                    continue
                for number, ran in zip(numbers, rans, strict=True):
                    told[number] = {"rans": [ran], "honest": None, "other": None}
            else:
                rans = [await _ran(session, cell) for cell in attack["cells"]]
                told[numbers[0]] = {"rans": rans, "honest": None, "other": None}
            if len(numbers) > 1 or numbers[0] % 4 == 0 or not queue or rans[-1]["status"] != "error" or kind[1]:
                told[numbers[0]]["honest"] = await _ran(session, HONEST)
            if len(numbers) > 1 or numbers[0] % 8 == 0 or not queue or kind[1]:
                told[numbers[0]]["other"] = await _ran(other, HONEST)
            if kind[1]:
                opened.pop(kind).close()
        for session in (other, *opened.values()):
            session.close()

    async def hang(self, cell: str) -> list[int]:
        """Start a cell and leave it running; the numbers of all processes below."""
        session = (await self._start(False)).open(self.library)
        self.hanging = asyncio.create_task(session.run(cell))
        await asyncio.sleep(0.5)
        return [int(line.split()[0]) for line in descendants()]

    async def _settled(self) -> list[str]:
        """What runs below this process after a group, beside what waits for the next episode: nothing, soon."""
        deadline = time.monotonic() + 3
        while (left := [line for line in descendants() if line not in self.idle]) and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        self.idle = descendants()  # each is told once
        return left

    def close(self) -> dict[str, Any]:
        """What is alive and which files are left after the sandboxes are closed."""
        for sandbox in self.sandboxes.values():
            sandbox.close()
        deadline = time.monotonic() + 3
        while (left := descendants()) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.sandboxes = {}
        return {"left": left, "files": sorted(str(path) for path in self.ground.tmp.rglob("*"))}

    def bare(self, attacks: list[Mapping[str, Any]]) -> list[str]:
        """What each attack ends with in plain Python: "ok", or the error that held it back."""
        return [self._plain(attack["cells"]) for attack in attacks]

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
        with os.fdopen(reader, "rb") as told:
            os.waitpid(child, 0)
            return told.read().decode() or "no word"


async def _ran(session: Session, cell: str) -> dict[str, Any]:
    """One cell. That the sandbox gave up is no status of a cell, so every expectation fails."""
    try:
        return asdict(await session.run(cell))
    except SandboxError as error:
        told = {"type": "SandboxError", "message": str(error)}
        return {"status": "given up", "answer": "", "output": "", "error": told, "seconds": 0.0}


async def _each(session: Session, cells: list[str]) -> list[dict[str, Any]]:
    """Several attacks in one cell, each as if it were one; nothing when the cell did not get to its end."""
    ran = await _ran(session, EACH.format(cells=cells))
    outcomes = json.loads(ran["answer"]) if ran["status"] == "ok" else []
    return [
        {
            "status": "error" if kind else "ok", "answer": answer, "output": "", "seconds": ran["seconds"],
            "error": {"type": kind, "message": message} if kind else None,
        }
        for kind, message, answer in outcomes
    ]  # fmt: skip


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
            case {"run": attacks}:
                told: Any = loop.run_until_complete(driver.run(attacks))
            case {"bare": attacks}:
                told = driver.bare(attacks)
            case {"hang": cell}:
                told = loop.run_until_complete(driver.hang(cell))
            case _:
                told = driver.close()
        answers.write(json.dumps(told) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
