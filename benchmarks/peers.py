"""The row ``peers``: ours next to other libraries, on the same server, with the same prompts and as many calls."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.bare import prompts
from benchmarks.figures import Figure, Settings, middle, number, span
from benchmarks.processes import ROOT, run_job, server, server_stats
from benchmarks.tasks import CALLS

LATENCY, SAMPLES, CONNECTIONS = 0.1, 700, 100
PYTHON = ROOT / ".venv-peers" / "bin" / "python"


@dataclass(frozen=True)
class Peer:
    """A library: its distribution, its job, what it keeps and scores, and whether our environment has it."""

    name: str
    distribution: str
    job: str
    keeps: str
    here: bool = False


PEERS = (
    Peer("ours", "wardround", "ours.http", "journal before a reply is used, a record of every sample; exact match",
         here=True),
    Peer("inspect_ai", "inspect-ai", "peer_loops.inspect_ai",
         "log of all samples, messages and calls; no cache; exact match"),
    Peer("lm-evaluation-harness", "lm-eval", "peer_loops.lm_eval",
         "single turns, their dialogues built before; samples stay in memory, nothing on disk; no cache; exact match"),
    Peer("openai client", "openai", "peer_loops.openai", "nothing is written or scored"),
    Peer("litellm", "litellm", "bare.litellm_loop", "nothing is written or scored", here=True),
)  # fmt: skip


def row(settings: Settings, python: Path = PYTHON) -> Sequence[Figure]:
    """Ours, inspect_ai, lm-evaluation-harness, and loops over openai and litellm: 700 samples x 5 calls."""
    whole = settings.scale == 1
    samples, connections = settings.count(SAMPLES, 4), CONNECTIONS if whole else settings.count(CONNECTIONS, 2)
    latency = LATENCY if whole else LATENCY * min(1, settings.scale * 10)
    versions = _versions(python)
    runs: dict[str, list[dict[str, Any]]] = {peer.name: [] for peer in PEERS}
    with tempfile.TemporaryDirectory(prefix="wardround-bench-") as folder, server(latency, CALLS) as url:
        path = Path(folder, "prompts.json")
        prompts(samples).save(path)
        here = {"samples": samples, "uvloop": sys.platform != "win32"}
        there = {"prompts": str(path), "python": str(python)}
        for _ in range(settings.repeat):
            for peer in PEERS:
                if peer.distribution in versions:
                    before, arguments = server_stats(url)["calls"], here if peer.here else there
                    runs[peer.name].append(run_job(peer.job, url=url, connections=connections, **arguments))
                    calls = server_stats(url)["calls"] - before
                    assert calls == (samples + 1) * CALLS, f"{peer.name} sent {calls} calls"
    ideal = samples * CALLS * latency / connections
    return [_figure(peer, versions, runs[peer.name], ideal, samples * CALLS) for peer in PEERS]


def _versions(python: Path) -> dict[str, str]:
    """The version of each distribution that is installed where it is run."""
    found = {peer.distribution: version(peer.distribution) for peer in PEERS if peer.here}
    if python.exists():
        names = [peer.distribution for peer in PEERS if not peer.here]
        found |= run_job("peer_loops.versions", python=str(python), names=names)
    return found


def _figure(peer: Peer, versions: dict[str, str], runs: Sequence[dict[str, Any]], ideal: float, calls: int) -> Figure:
    what = f"{peer.name}: wall / ideal, {CONNECTIONS} connections"
    if not runs:
        return Figure("peers", what, None, "x", detail="not installed: make bench-peers")
    wall, cpu = [run["wall"] / ideal for run in runs], [run["cpu"] / calls * 1e3 for run in runs]
    peak, beyond = middle(run["peak_mb"] for run in runs), middle(run["beyond_mb"] for run in runs)
    measured = (
        f"{span(wall)}; CPU per call {number(middle(cpu))} ms ({span(cpu)}); peak {peak:.0f} MB, {beyond:.0f} of it"
    )
    return Figure(
        "peers",
        what,
        middle(wall),
        "x",
        detail=f"{measured} beyond imports; version {versions[peer.distribution]}: {peer.keeps}",
    )
