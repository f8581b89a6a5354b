"""Running the real command, serving a real endpoint, and reading the files of a run."""

import asyncio
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from components.models.simulated.serve import Server
from runner.storage import records
from runner.storage.texts import TextReader
from tests import in_process

ROOT = Path(__file__).resolve().parents[2]
CONF = Path(__file__).resolve().parent / "conf"
OWN = ("--config-dir", str(CONF), "run.allow_targets=[tests]")
SECONDS = 120.0


@dataclass(frozen=True)
class Done:
    """A finished command."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def folder(self) -> Path:
        """The run folder it named."""
        return Path(re.findall(r"^run folder: (.+)$", self.out, re.M)[-1])


@dataclass
class Started:
    """A running command."""

    process: subprocess.Popen[str]
    cwd: Path
    began: float = field(default_factory=time.monotonic)

    def done(self, seconds: float = SECONDS) -> Done:
        """Wait for its end."""
        try:
            out, err = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            raise AssertionError(f"still running after {seconds} s\n{out}\n{err}") from None
        return Done(self.process.returncode, out, err, time.monotonic() - self.began)

    def signal(self, number: int) -> None:
        """Send a signal, as a terminal or a scheduler does."""
        self.process.send_signal(number)

    def when(self, reached: Callable[[], bool], seconds: float = 30.0) -> Self:
        """Wait until something holds while the command runs."""
        end = time.monotonic() + seconds
        while not reached():
            if self.process.poll() is not None:
                raise AssertionError(f"ended before its time: {self.done()}")
            assert time.monotonic() < end, "the condition never held"
            time.sleep(0.002)
        return self


def start(cwd: Path, *words: str, env: Mapping[str, str] = {}, own: bool = True) -> Started:
    """Start ``python -m runner`` with these words."""
    keep = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    line = [sys.executable, "-m", "runner", *(OWN if own else ()), *words]
    process = subprocess.Popen(
        line, cwd=cwd, env={**keep, "PYTHONPATH": str(ROOT), **env}, text=True, errors="surrogateescape",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return Started(process, cwd)


def run(cwd: Path, *words: str, env: Mapping[str, str] = {}, own: bool = True, seconds: float = SECONDS) -> Done:
    """Run ``python -m runner`` to its end."""
    return start(cwd, *words, env=env, own=own).done(seconds)


def run_in_process(cwd: Path, *words: str, env: Mapping[str, str] = {}, own: bool = True) -> Done:
    """Run it in this process: faster, where a separate process is not needed."""
    began = time.monotonic()
    code, out, err = in_process.command(cwd, [*(OWN if own else ()), *words], env)
    return Done(code, out, err, time.monotonic() - began)


def run_together(commands: Mapping[str, Callable[[], Any]], at_once: int = 3) -> dict[str, Any]:
    """Run several independent commands, a few at a time."""
    with ThreadPoolExecutor(at_once) as pool:
        return dict(zip(commands, pool.map(lambda command: command(), commands.values()), strict=True))


def resume_printed(cwd: Path, output: str) -> Done:
    """Run the command that a run printed to resume it, in this process."""
    line = next(line for line in output.splitlines() if " -m runner " in line and "run.resume=" in line)
    words = shlex.split(line)
    return run_in_process(cwd, *words[words.index("-m") + 2 :], own=False)


def endpoint(url: str, *words: str, name: str = "simulated") -> list[str]:
    """The command-line words that use a local endpoint at price 0."""
    return ["model=vllm", f"model.api_base={url}", f"model.name={name}", "model.price={input: 0, output: 0}", *words]


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read a run's manifest."""
    return json.loads((folder / "manifest.json").read_text())


def metric(folder: Path, name: str) -> float | None:
    """Read one metric of a run."""
    return json.loads((folder / "metrics.json").read_text())["metrics"][name]["value"]


def read_records(folder: Path) -> list[dict[str, Any]]:
    """Read the records without their times, sorted, with every text in full."""
    texts = TextReader(folder)
    return sorted(
        (_timeless(record, texts) for record in records.read(folder)), key=lambda r: (r["sample_id"], r["epoch"])
    )


def _timeless(value: Any, texts: TextReader) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"ref"}:
            return texts[value["ref"]]
        plain = {k: _timeless(v, texts) for k, v in value.items() if k not in ("seconds", "started")}
        if isinstance(plain.get("offered"), str):
            plain["offered"] = texts.lines(plain["offered"])
        return plain
    return [_timeless(v, texts) for v in value] if isinstance(value, list) else value


class Served:
    """A server in a thread of this process. ``die`` simulates a power failure."""

    def __init__(self, server: Server, port: int = 0) -> None:
        self.server = server
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.url = self._do(server.start(port=port))

    @property
    def seen(self) -> Counter[str]:
        return self.server.seen

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1].split("/")[0])

    def die(self) -> None:
        """Drop every connection and stop listening."""
        self._do(self._die())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _die(self) -> None:
        runner = self.server._runner
        for site in list(runner.sites):
            await site.stop()
        for connection in runner.server.connections:
            if connection.transport is not None:
                connection.transport.abort()
        await asyncio.sleep(0.01)
        await self.server.stop()

    def _do(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._loop.is_closed():
            self.die()


INTERRUPT, TERMINATE, KILL = signal.SIGINT, signal.SIGTERM, signal.SIGKILL
