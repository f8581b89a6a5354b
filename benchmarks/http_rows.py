"""Rows over HTTP: the runner next to bare loops on the same server, in turn within one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from benchmarks.figures import Figure, Settings, middle, span
from benchmarks.panel_tasks import AGREED, DISPUTED, waves
from benchmarks.processes import server, server_stats
from benchmarks.tasks import CALLS

LATENCY = 0.1
_UVLOOP = find_spec("uvloop") is not None
Runs = dict[str, list[dict[str, Any]]]
Jobs = Mapping[str, tuple[str, dict[str, Any]]]


def _each(settings: Settings, url: str, jobs: Jobs, repeat: int) -> Runs:
    """Run all jobs in turn, as often as wanted; every run also reports how busy the server was."""
    runs: Runs = {name: [] for name in jobs}
    for _ in range(repeat):
        for name, (job, arguments) in jobs.items():
            before = server_stats(url)
            result = settings.run(job, url=url, **arguments)
            after = server_stats(url)
            calls = after["calls"] - before["calls"]
            runs[name].append(result | {"calls": calls, "server": (after["cpu"] - before["cpu"]) / result["wall"]})
    return runs


def _ratio(runs: Runs, over: str, under: str, what: str) -> list[float]:
    """Ratios between runs that were made one after the other."""
    return [mine[what] / theirs[what] for mine, theirs in zip(runs[over], runs[under], strict=True)]


def _per_call(runs: Runs, name: str, calls: int = CALLS) -> list[float]:
    """CPU milliseconds per model call of the measured section; ``calls`` of each sample."""
    return [run["cpu"] / (run["samples"] * calls) * 1e3 for run in runs[name]]


def _loops(found: Mapping[str, list[float]]) -> str:
    """The medians of the bare loops, then the span of ours."""
    loops = [f"{name} {middle(values):.3f}" for name, values in found.items() if name != "ours"]
    return f"{', '.join(loops)}; ours {span(found['ours'])}"


def _busy(runs: Runs) -> float:
    """How busy the server was at most, as a share of one core."""
    return max(float(run["server"]) for found in runs.values() for run in found)


def _check(runs: Runs) -> None:
    for run in runs["ours"]:
        assert not run["errors"], f"{run['errors']:.1%} of the samples errored: nothing was measured"


def _jobs(
    samples: int, connections: int, ours: str = "http", bare: str = "loop", **more: Any
) -> dict[str, tuple[str, dict[str, Any]]]:
    """Ours between two bare loops over aiohttp."""
    common = {"samples": samples, "connections": connections, **more}
    by = {"by": "aiohttp"} if bare == "loop" else {}
    return {
        "asyncio": (f"bare.{bare}", common | by | {"uvloop": False}),
        "ours": (f"ours.{ours}", common | {"uvloop": _UVLOOP}),
        "uvloop": (f"bare.{bare}", common | by | {"uvloop": _UVLOOP}),
    }


def _with_samples(runs: Runs, samples: int) -> Runs:
    return {name: [run | {"samples": samples} for run in found] for name, found in runs.items()}


def _wall_and_cpu(row: str, runs: Runs, ideal: float, most_wall: float, most_cpu: float) -> Sequence[Figure]:
    """Wall against the ``ideal`` in seconds, and CPU per call, with their targets."""
    wall = {name: [run["wall"] / ideal for run in found] for name, found in runs.items()}
    cpu = {name: _per_call(runs, name) for name in runs}
    return [
        Figure(row, "wall / ideal, 100 connections", middle(wall["ours"]), "x", most_wall,
               detail=f"{_loops(wall)}; server busy {_busy(runs):.0%}"),
        Figure(row, "CPU per model call", middle(cpu["ours"]), "ms", most_cpu, detail=_loops(cpu)),
    ]  # fmt: skip


def throughput(settings: Settings) -> Sequence[Figure]:
    """1,000 samples x 5 calls at 100 connections: wall, CPU, memory."""
    samples, connections = settings.count(1000, 4), settings.count(100, 2) if settings.scale < 1 else 100
    client = {"samples": samples, "connections": connections, "uvloop": _UVLOOP, "by": "client"}
    jobs = _jobs(samples, connections) | {"client": ("bare.loop", client)}
    latency = LATENCY if settings.scale == 1 else LATENCY * min(1, settings.scale * 10)
    with server(latency, CALLS) as url:
        runs = _with_samples(_each(settings, url, jobs, settings.repeat), samples)
    _check(runs)
    memory = [run["beyond_mb"] for run in runs["ours"]]
    return [
        *_wall_and_cpu("throughput", runs, samples * CALLS * latency / connections, 1.10, 0.3),
        Figure("throughput", "the same / bare loop", middle(_ratio(runs, "ours", "uvloop", "cpu")), "x",
               detail=f"targets: 0.3 / 0.13 = 2.3; {span(_ratio(runs, 'ours', 'uvloop', 'cpu'))}"),
        Figure("throughput", "peak memory beyond imports", middle(memory), "MB", 200, detail=span(memory, " MB")),
    ]  # fmt: skip


def real(settings: Settings) -> Sequence[Figure]:
    """700 RadABench samples x 5 calls of ReAct with the shipped toolset, prompts and scorers at 100 connections."""
    samples, connections = settings.count(700, 2), min(100, settings.count(700, 2))
    common = {"samples": samples, "connections": connections, "uvloop": _UVLOOP}
    jobs: Jobs = {"ours": ("ours.real", common), "uvloop": ("bare.loop", common | {"by": "aiohttp"})}
    with server(LATENCY, CALLS) as url:
        runs = _with_samples(_each(settings, url, jobs, settings.repeat), samples)
    _check(runs)
    return _wall_and_cpu("real", runs, samples * CALLS * LATENCY / connections, 1.15, 0.45)


def connections(settings: Settings) -> Sequence[Figure]:
    """1,000 connections next to the fastest bare loop and one over aiohttp; short and noisy, hence repeated twice as
    often."""
    samples = settings.count(1000, 4)
    common = {"samples": samples, "connections": samples, "uvloop": _UVLOOP}
    loops = ("httptools", "aiohttp")
    jobs: Jobs = {"ours": ("ours.http", common)} | {name: ("bare.loop", common | {"by": name}) for name in loops}
    with server(LATENCY, CALLS) as url:
        runs = _with_samples(_each(settings, url, jobs, settings.count(settings.repeat * 2)), samples)
    _check(runs)
    seconds = ", ".join(f"{name} {middle(run['wall'] for run in runs[name]):.2f} s" for name in runs)
    memory = middle(run["beyond_mb"] for run in runs["ours"])
    wall, cpu = ({name: _ratio(runs, "ours", name, what) for name in loops} for what in ("wall", "cpu"))
    return [
        Figure("connections", "wall / bare httptools loop", middle(wall["httptools"]), "x", 1.2,
               detail=f"{seconds}; {span(wall['httptools'])}"),
        Figure("connections", "wall / bare aiohttp loop", middle(wall["aiohttp"]), "x", 1.0,
               detail=span(wall["aiohttp"])),
        Figure("connections", "CPU / bare httptools loop", middle(cpu["httptools"]), "x",
               detail=f"{span(cpu['httptools'])}; / aiohttp {middle(cpu['aiohttp']):.2f}; "
                      f"peak {memory:.0f} MB beyond imports"),
    ]  # fmt: skip


def litellm(settings: Settings) -> Sequence[Figure]:
    """CPU per call of our stack on litellm's transport beyond a loop that only calls litellm."""
    samples = settings.count(200, 2)
    common: dict[str, Any] = {"samples": samples, "connections": min(100, samples), "uvloop": _UVLOOP}
    jobs: Jobs = {"ours": ("ours.http", common | {"transport": "litellm"}), "bare": ("bare.litellm_loop", common)}
    with server(0.02, CALLS) as url:
        runs = _with_samples(_each(settings, url, jobs, settings.repeat), samples)
    _check(runs)
    mine, bare = _per_call(runs, "ours"), _per_call(runs, "bare")
    beyond = [one - other for one, other in zip(mine, bare, strict=True)]
    return [
        Figure("litellm", "CPU per call beyond bare litellm", middle(beyond), "ms", 0.5,
               detail=f"bare {middle(bare):.2f} ms; {span(beyond)}"),
    ]  # fmt: skip


def panel(settings: Settings) -> Sequence[Figure]:
    """100 questions before a panel, 100 connections: wall time against what latency, connections and waves allow."""
    samples, connections = settings.count(100, 2), 100
    latency = LATENCY if settings.scale == 1 else LATENCY * min(1, settings.scale * 10)
    cases = [("all agree", AGREED, samples), ("no consensus", DISPUTED, samples), ("one question", DISPUTED, 1)]
    with server(latency, CALLS) as url:
        return [
            figure
            for what, model, n in cases
            for figure in _panel(settings, url, what, _jobs(n, connections, "panel", "panel_loop", name=model), latency)
        ]


def _panel(settings: Settings, url: str, what: str, jobs: Jobs, latency: float) -> Sequence[Figure]:
    """One case. The records must hold as many calls and waves of a question as the bare loops make."""
    _, given = jobs["ours"]
    made = list(waves(given["name"]))
    calls, n = sum(wave.calls for wave in made), given["samples"]
    runs = _with_samples(_each(settings, url, jobs, settings.repeat), n)
    _check(runs)
    for run in runs["ours"]:
        found = {"steps": set(run["steps"]), "waves": set(run["waves"]), "right": run["right"]}
        assert found == {"steps": {calls}, "waves": {len(made)}, "right": n}, f"{what}: the records hold {found}"
    ideal = max(n * calls / given["connections"], len(made)) * latency
    wall = {name: [run["wall"] / ideal for run in found] for name, found in runs.items()}
    cpu = {name: _per_call(runs, name, calls) for name in runs}
    return [
        Figure("panel", f"{what}: wall / ideal", middle(wall["ours"]), "x", 1.15,
               detail=f"{_loops(wall)}; ideal {ideal:.2f} s, server busy {_busy(runs):.0%}"),
        Figure("panel", f"{what}: CPU per model call", middle(cpu["ours"]), "ms",
               detail=f"{_loops(cpu)}; a question: {calls} calls in {len(made)} waves"),
    ]  # fmt: skip
