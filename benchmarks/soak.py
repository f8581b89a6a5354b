"""A soak: many calls at a server with faults, the run killed again and again: ``python -m benchmarks.soak``.

No finished call is paid again, no record is lost or duplicated, and memory stays flat. The server is ours, with faults
of all kinds (``components/models/simulated/serve.py``). It knows by their digests the requests that the journal had
when the run was killed. Exit code 1 when a promise does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import orjson
from aiohttp import web

from benchmarks import radiology
from benchmarks.ours import TASKS
from components.models.simulated.chat_api import ChatRequest
from components.models.simulated.serve import Faults, Server
from runner.serve import model_of
from runner.storage.journal import Journal

_CALLS_PER_SAMPLE = 6
_LEVEL = 1.1  # memory in the last quarter of the calls, as a multiple of that in the first
_WARM_UP_SECONDS = 20
Digests = tuple[str, ...]  # of the messages of a request


@dataclass
class Watching(Server):
    """Counts good replies to requests that the journal already had: ``finished``."""

    finished: set[Digests] = field(default_factory=set)
    paid_again: int = 0

    async def _answer(self, chat: ChatRequest, request: web.Request) -> web.StreamResponse:
        self.paid_again += tuple([message.digest[:8].hex() for message in chat.messages]) in self.finished
        return await super()._answer(chat, request)


@dataclass
class Memory:
    """Resident MB of the runs: ``sizes`` in the order of time while calls arrive, ``after`` them the most, which grows
    with the records that metrics are computed of."""

    sizes: list[float] = field(default_factory=list)
    after: float = 0.0

    async def watch(self, process: asyncio.subprocess.Process, seen: Counter[str]) -> None:
        """Look every few seconds, once a process is warm. ``seen``: the server's counts."""
        await asyncio.sleep(_WARM_UP_SECONDS)
        calls = 0
        while process.returncode is None:
            status = Path(f"/proc/{process.pid}/statm")
            size, before, calls = int(status.read_text().split()[1]) * 4096 / 2**20, calls, seen["requests"]
            if calls == before:
                self.after = max(self.after, size)
            else:
                self.sizes.append(size)
            await asyncio.sleep(2)


def journal_digests(folder: Path) -> set[Digests]:
    """The requests that the journal has replies to."""
    with Journal(folder, read_only=True) as journal:
        heads = (orjson.loads(payload) for _, payload in journal.entries())
        return {tuple(head["digests"]) for head in heads if "reply" in head}


async def soak(home: Path, samples: int, connections: int, share: float, kill_seconds: float) -> list[str]:
    """Run until all is finished. Returns a line for each promise that does not hold."""
    data, run, journal = home / "records.json", home / "run", home / "journal"
    radiology.records(str(data), samples // TASKS + 1)
    dataset = ["dataset=radabench", f"dataset.path={data}"]
    part = share / 5
    faults = Faults(part, part, part, part, part, stall_seconds=15.0)
    server = Watching(model_of(dataset), faults, latency=0.1)
    url = await server.start()
    words = [
        *dataset, "agent=radagent", f"limit={samples}", "model=vllm", "model.name=simulated", f"model.api_base={url}",
        "model.price={input: 0, output: 0}", f"model.max_connections={connections}", "model.timeout_seconds=10",
        f"run.journal={journal}", "tracking=off", "run.max_error_rate=1",
    ]  # fmt: skip
    memory, kills, code = Memory(), 0, -1
    while code != 0:
        place = f"run.resume={run}" if run.exists() else f"hydra.run.dir={run}"
        with (home / "log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "runner", *words, place, stdout=log, stderr=log
            )
        watching = asyncio.create_task(memory.watch(process, server.seen))
        try:
            code = await asyncio.wait_for(process.wait(), kill_seconds)
        except TimeoutError:
            process.kill()
            await process.wait()
            kills += 1
            server.finished = journal_digests(journal)
            print(f"kill {kills}: {len(server.finished):,} calls finished, {server.paid_again} paid again", flush=True)
        watching.cancel()
        if code not in (-1, 0):
            return [f"the run ended with exit code {code}: {(home / 'log').read_text()[-500:]}"]
    await server.stop()
    return judge(server, run, samples, memory, kills)


def judge(server: Watching, run: Path, samples: int, memory: Memory, kills: int) -> list[str]:
    """Print what was seen. Returns a line for each promise that does not hold."""
    with (run / "records.jsonl").open("rb") as file:
        ids = Counter(orjson.loads(line)["sample_id"] for line in file)
    quarter = len(memory.sizes) // 4
    early, late = (max(sizes, default=0) for sizes in (memory.sizes[:quarter], memory.sizes[-quarter:]))
    growth = late / early if early else 1.0
    kinds = ("requests", "answered", "status_429", "status_500", "resets", "stalls", "malformed")
    print(", ".join(f"{kind} {server.seen[kind]:,}" for kind in kinds) + f", kills {kills}")
    grown = f"memory {early:.0f} to {late:.0f} MB, {memory.after:.0f} for the metrics"
    print(f"records {len(ids):,} of {samples:,}; {grown}")
    found = [f"{server.paid_again} finished calls were paid again"] if server.paid_again else []
    found += [f"{samples - len(ids)} records are lost"] if len(ids) != samples else []
    found += [f"{ids.total() - len(ids)} records are duplicated"] if ids.total() != len(ids) else []
    return found + ([f"memory grew by a factor of {growth:.2f}"] if growth > _LEVEL else [])


def main() -> int:
    """The command. Exit code 1 when a promise does not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__, allow_abbrev=False)
    parser.add_argument("--calls", type=int, default=200_000, help="about so many calls")
    parser.add_argument("--connections", type=int, default=300)
    parser.add_argument("--faults", type=float, default=0.1, help="share of requests that are answered badly")
    parser.add_argument("--kill-every", type=float, default=60.0, metavar="SECONDS")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wardround-soak-") as home:
        samples = given.calls // _CALLS_PER_SAMPLE
        broken = asyncio.run(soak(Path(home), samples, given.connections, given.faults, given.kill_every))
    print(*broken or ["every promise held"], sep="\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
