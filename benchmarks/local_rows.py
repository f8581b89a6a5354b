"""Rows without a network: the simulated core, start-up, the journal, the check of a sweep."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks import journal as journal_bench
from benchmarks.figures import Figure, Settings, middle, number, span
from benchmarks.processes import ROOT, server, server_stats
from benchmarks.tasks import CALLS

TASKS = 11


def simulated(settings: Settings) -> Sequence[Figure]:
    """RadABench, all tasks, condition baseline, one core: episodes per second of CPU."""
    found: dict[bool, list[float]] = {False: [], True: []}
    walls: dict[bool, list[float]] = {False: [], True: []}
    with tempfile.TemporaryDirectory(prefix="wardround-bench-") as folder:
        data = f"{folder}/records.json"
        settings.run("radiology.records", path=data, n=settings.count(200))
        for turn in range(settings.repeat):
            for kept in (False, True):
                result = settings.run(
                    "radiology.play", data=data, folder=f"{folder}/{kept}{turn}", condition="baseline", journal=kept
                )
                assert not result["errors"], "samples errored: nothing was measured"
                found[kept].append(result["run"] / result["play_cpu"])
                walls[kept].append(result["run"] / result["play_wall"])
    return [
        Figure("simulated", "baseline, episodes per CPU second, journal " + ("on" if kept else "off"),
               middle(found[kept]), "/s", 700 if kept else 1000, at_least=True,
               detail=f"{span(found[kept])}; per second of wall {number(middle(walls[kept]))}")
        for kept in (True, False)
    ]  # fmt: skip


def large(settings: Settings) -> Sequence[Figure]:
    """24,200 samples under redundant_high: memory, disk, resume, and the run rebuilt from the journal."""
    with tempfile.TemporaryDirectory(prefix="wardround-bench-") as folder:
        data = f"{folder}/records.json"
        settings.run("radiology.records", path=data, n=settings.count(2200))
        arguments = {"data": data, "folder": f"{folder}/run", "condition": "redundant_high", "journal": True}
        first, again = settings.run("radiology.play", **arguments), settings.run("radiology.play", **arguments)
        for path in Path(folder, "run", "run").iterdir():
            path.unlink()
        rebuilt = settings.run("radiology.play", **arguments)
    assert not first["errors"], "samples errored: nothing was measured"
    n, disk = first["samples"], first["records_mb"] + first["journal_mb"]
    limit = 300 if n == 2200 * TASKS else None  # what repeats weighs more in a smaller run
    speed = first["run"] / first["play_cpu"]
    name = f"{n:,} samples"
    return [
        Figure("large", f"peak memory beyond the libraries, {name}", first["beyond_mb"], "MB", 400,
               detail=f"{first['play_mb']:.0f} before metrics; in the run's second half {first['grown_mb']:+.0f} MB"),
        Figure("large", "records and journal on disk", disk, "MB", limit,
               detail=f"records {first['records_mb']:.0f}, journal {first['journal_mb']:.0f} MB"),
        Figure("large", "resume of the finished run", again["wall"], "s", 10,
               detail=f"CPU {again['cpu']:.1f} s, of it metrics {again['metrics_cpu']:.1f} s"),
        Figure("large", "model calls of the resumed run", again["calls"] + again["replayed"], "", 0),
        Figure("large", "rebuilt from the journal alone", rebuilt["play_cpu"], "s CPU",
               detail=f"{rebuilt['calls']} model calls, {rebuilt['replayed']:,} from the journal"),
        Figure("large", "redundant_high, episodes per CPU second", speed, "/s",
               detail="169 tool cards in every prompt"),
    ]  # fmt: skip


def _seconds(command: Sequence[str], code: int, folder: str) -> float:
    """Time of a command that must end with this code."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, cwd=folder, check=False, env=environment
    )
    taken = time.perf_counter() - started
    assert done.returncode == code, f"{command} ended with {done.returncode}: {done.stderr[-500:]}"
    return taken


def startup(settings: Settings) -> Sequence[Figure]:
    """Commands that run no model, as ratios to importing hydra."""
    if find_spec("runner.__main__") is None:
        return []
    commands = {
        "--cfg job": (["-m", "runner", "--cfg", "job"], 0, 2.0),
        "a refused config": (["-m", "runner", "modle=x"], 2, 3.0),
        "--help": (["-m", "runner", "--help"], 0, 6.0),
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    bare: list[float] = []
    with tempfile.TemporaryDirectory(prefix="wardround-bench-") as folder:
        for _ in range(settings.count(max(3, settings.repeat * 3))):
            bare.append(_seconds(["-c", "import hydra"], 0, folder))
            for name, (command, code, _) in commands.items():
                taken[name].append(_seconds(command, code, folder))
    ratios = {name: [mine / base for mine, base in zip(found, bare, strict=True)] for name, found in taken.items()}
    return [
        Figure("startup", f"{name} / import hydra", middle(ratios[name]), "x", target,
               detail=f"{middle(taken[name]):.2f} s to {middle(bare):.2f} s; {span(ratios[name])}")
        for name, (_, _, target) in commands.items()
    ]  # fmt: skip


def first_call(settings: Settings) -> Sequence[Figure]:
    """A run with the default parts and tracking on: from the command to its first call at the server."""
    taken: list[float] = []
    bare: list[float] = []
    whole: list[float] = []
    with server(0.1, CALLS) as url:
        command = ["-m", "runner", "model=vllm", f"model.api_base={url}", "model.name=bench", "limit=20"]
        for turn in range(settings.count(max(3, settings.repeat * 3)) + 1):
            with tempfile.TemporaryDirectory(prefix="wardround-bench-") as folder:
                seconds = _seconds(["-c", "import hydra"], 0, folder)
                server_stats(url)
                started = time.monotonic()
                done = _seconds(command, 0, folder)
                first = server_stats(url)["first"] - started
            if turn:  # the first one fills the file cache
                bare.append(seconds)
                taken.append(first)
                whole.append(done)
    return [
        Figure("first_call", "first call of a run leaves the process", middle(taken), "s", 0.8,
               detail=f"{middle(taken) / middle(bare):.1f} x import hydra; {span(taken)}; the whole run with tracking "
               f"{middle(whole):.1f} s"),
    ]  # fmt: skip


def sweep(settings: Settings) -> Sequence[Figure]:
    """120 jobs of which the last ones are bad: all are checked, none runs, exit code 2."""
    if find_spec("runner.sweep") is None or find_spec("runner.sweep.check") is None:
        return []
    n = settings.count(15, 2)
    levels = ",".join([*(f"{0.5 + number / 100:g}" for number in range(1, n)), "2"])  # a competence of 2 is refused
    choices = [
        "condition=baseline,redundant_regular,redundant_medium,redundant_high", "agent=radagent,react",
        f"model.competence={levels}",
    ]  # fmt: skip
    command = ["-m", "runner", "-m", "tracking=off", "limit=2", *choices]
    with tempfile.TemporaryDirectory(prefix="wardround-bench-") as folder:
        taken = [_seconds(command, 2, folder) for _ in range(settings.repeat)]
        bare = [_seconds(["-c", "import hydra"], 0, folder) for _ in range(settings.repeat)]
    return [
        Figure("sweep", f"checking {8 * n} jobs, start-up included", middle(taken), "s", 6,
               detail=f"{middle(taken) / middle(bare):.0f} x import hydra; {span(taken)}"),
    ]  # fmt: skip


def journal(settings: Settings) -> Sequence[Figure]:
    """A journal of 1,000,000 entries opened, and a miss behind 500 segments that nobody merged."""
    entries, segments = settings.count(1_000_000, 100), settings.count(500, 2)
    payloads = [journal_bench.payload_of(n) for n in range(min(2_000, entries))]
    with tempfile.TemporaryDirectory(prefix="wardround-bench-") as folder:
        root = Path(folder)
        bare = journal_bench.bare_append(root, payloads)
        put = journal_bench.fill(root / "one", 0, entries, payloads)
        opened = [_probe(settings, root / "one", entries) for _ in range(settings.repeat)]
        each = max(1, entries // segments)
        (root / "many").mkdir()
        for part in range(segments):  # as if all had been written at once: nobody merged
            journal_bench.fill(root / "part", part * each, each, payloads)
            for path in (root / "part").glob("[0-9a-f]*.*"):
                path.rename(root / "many" / path.name)
        missed = _probe(settings, root / "many", each * segments)
    miss = middle(one["miss_us"] for one in opened)
    return [
        Figure("journal", f"opening {entries:,} calls", middle(one["open_ms"] for one in opened) / 1e3, "s", 0.1),
        Figure("journal", "memory of it, lookups included", middle(one["all_mb"] for one in opened), "MB", 50),
        Figure("journal", f"a miss, {segments} segments, merged behind", missed["miss_us"], "us", 20,
               detail=f"right after opening {number(missed['miss_us_at_once'])}; one process' journal {number(miss)}"),
        Figure("journal", "a write", put, "us", detail=f"{put / bare:.1f} x a bare append of {number(bare)} us"),
    ]  # fmt: skip


def _probe(settings: Settings, folder: Path, entries: int) -> dict[str, float]:
    """Open and ask in a fresh process."""
    return settings.run("local_rows.probe_journal", folder=str(folder), entries=entries)


def probe_journal(folder: str, entries: int) -> dict[str, float]:
    """In a process of its own: what benchmarks.journal measures of a folder."""
    import contextlib
    import io
    import json

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        journal_bench.probe(Path(folder), entries)
    figures: dict[str, float] = json.loads(out.getvalue())
    return figures
