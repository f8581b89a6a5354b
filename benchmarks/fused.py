"""A sweep in one process: its jobs at once or one after the other, through the same server."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.figures import Figure, Settings, middle, span
from benchmarks.processes import ROOT, server, server_stats

AGENTS = "react,critic,reflexion"
CONDITIONS = (
    "baseline,redundant_regular,redundant_medium,redundant_high,insufficient_config1,insufficient_config2,"
    "insufficient_config3,differentiated"
)
LATENCY, CALLS, SAMPLES = 0.1, 8, 40
_HOW = {"at once": "null", "one after the other": "1"}


def row(settings: Settings) -> Sequence[Figure]:
    """A sweep of 3 agents x 8 conditions x 40 samples over HTTP: all jobs at once or one after the other."""
    walls: dict[str, list[float]] = {how: [] for how in _HOW}
    sent = distinct = 0
    with server(LATENCY, CALLS) as url:
        for _ in range(settings.repeat):
            for how, jobs in _HOW.items():
                result = _swept(url, jobs, settings.count(SAMPLES))
                walls[how].append(result["wall"])
                if jobs == "null":
                    sent, distinct = int(result["sent"]), int(result["distinct"])
    ratio = [fused / alone for fused, alone in zip(*walls.values(), strict=True)]
    detail = "; ".join(f"{how} {middle(found):.1f} s" for how, found in walls.items())
    return [
        Figure("fused", "wall of the sweep, jobs at once / one after the other", middle(ratio), "", 0.6,
               detail=f"{detail}; {span(ratio)}"),
        Figure("fused", "calls that the server got / distinct requests", sent / distinct, "", 1,
               detail=f"{sent:,} calls, {distinct:,} entries in the journal"),
    ]  # fmt: skip


def _swept(url: str, jobs: str, samples: int) -> Mapping[str, float]:
    """Play the sweep in a folder of its own: wall seconds, calls that the server got, entries in the journal."""
    from runner.storage.journal import Journal

    with tempfile.TemporaryDirectory(prefix="wardround-bench-") as folder:
        words = [
            "-m", f"agent={AGENTS}", f"condition={CONDITIONS}", f"limit={samples}", "model=vllm", "model.name=bench",
            f"model.api_base={url}", "model.temperature=0.5", "model.max_connections=100", "agent.grammar=bracket_json",
            "tracking=off",
            f"hydra.sweep.dir={folder}/sweep", f"run.journal={folder}/journal", f"hydra.launcher.jobs={jobs}",
        ]  # fmt: skip
        before, started = server_stats(url)["calls"], time.perf_counter()
        command = [sys.executable, "-m", "runner", *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
        wall = time.perf_counter() - started
        assert done.returncode == 0, done.stderr[-2000:]
        with Journal(Path(folder, "journal"), read_only=True) as journal:
            distinct = len({key for key, _ in journal.entries()})
        return {"wall": wall, "sent": server_stats(url)["calls"] - before, "distinct": distinct}
