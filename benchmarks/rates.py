"""``python -m benchmarks.rates [--write]``: model calls per second against connections and against shards.

Every point is the median of several runs of ours on the direct transport, journal and records on, with the
conversations of the row ``throughput``. A run in n shards is n processes at once, as ``run.shards=n`` starts them, each
with its part of the samples and of the connections; its rate counts from the first sample of the first to the last
closed file of the last. ``--write`` draws ``docs/screenshots/rates.svg`` and puts the table into
``docs/guides/sweeps.md``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from benchmarks.figures import machine, middle, number
from benchmarks.processes import ROOT, run_job, server
from benchmarks.tasks import CALLS

LATENCY = 0.1
CONNECTIONS, SHARDS = (10, 30, 100, 300, 1000), (1, 2)
PLANNED = 13_500_000
PAGE, PLOT = ROOT / "docs/guides/sweeps.md", ROOT / "docs/screenshots/rates.svg"
_START, _END = "<!-- table: written by python -m benchmarks.rates --write -->", "<!-- end of table -->"
_SECONDS, _RATE = 8, 1500  # how long a run lasts, for as many calls per second as one process reaches at most


@dataclass(frozen=True)
class Point:
    """Model calls per second, and milliseconds of CPU per call of all shards."""

    rate: float
    cpu: float


Points = Mapping[tuple[int, int], Point]  # by connections and shards


def ideal(connections: int) -> float:
    """Calls per second that the latency permits."""
    return connections / LATENCY


def measure(connections: int, shards: int, seconds: float) -> Point:
    """One run."""
    calls = min(ideal(connections), _RATE) * seconds
    samples = max(connections, round(calls / CALLS)) // shards
    each = {"samples": samples, "connections": connections // shards, "uvloop": sys.platform != "win32"}
    with server(LATENCY, CALLS) as url, ThreadPoolExecutor(shards) as pool:
        runs = [*pool.map(lambda _: run_job("ours.http", url=url, **each), range(shards))]
    assert not any(run["errors"] for run in runs), "samples errored: nothing was measured"
    sent = samples * shards * CALLS
    wall = max(run["started"] + run["wall"] for run in runs) - min(run["started"] for run in runs)
    return Point(sent / wall, sum(run["cpu"] for run in runs) / sent * 1e3)


def measure_all(repeat: int, seconds: float) -> Points:
    """Every point as often, in turns: medians."""
    keys = [(connections, shards) for connections in CONNECTIONS for shards in SHARDS]
    found: dict[tuple[int, int], list[Point]] = {key: [] for key in keys}
    for _ in range(repeat):
        for key in keys:
            found[key].append(measure(*key, seconds))
    return {key: Point(middle(p.rate for p in all_), middle(p.cpu for p in all_)) for key, all_ in found.items()}


def table(points: Points) -> str:
    """Calls per second by connections, and how long the planned calls take."""
    head = ["connections", "ideal"]
    head += [f"{shards} process{'es' if shards > 1 else ''}" for shards in SHARDS]
    head += ["CPU per call", "at most by one core", f"{PLANNED / 1e6:g} million calls"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for connections in CONNECTIONS:
        row = [points[connections, shards] for shards in SHARDS]
        cells = [f"{connections:,}", f"{number(ideal(connections))} /s", *(f"{number(point.rate)} /s" for point in row)]
        cells.append(" and ".join(f"{point.cpu:.2f}" for point in row) + " ms")
        cells.append(f"{number(1e3 / row[0].cpu)} /s")
        cells.append(" or ".join(f"{PLANNED / point.rate / 3600:.1f}" for point in row) + " hours")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(points: Points, path: Path) -> None:
    """The plot, as SVG: against connections on the left, against shards on the right."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(CONNECTIONS, [ideal(one) for one in CONNECTIONS], ":", color="grey", label="connections / latency")
    for shards, marker in zip(SHARDS, "os", strict=True):
        rates = [points[one, shards].rate for one in CONNECTIONS]
        left.plot(CONNECTIONS, rates, marker=marker, label=f"{shards} process{'es' if shards > 1 else ''}")
    left.set(xscale="log", yscale="log", xlabel="connections, all processes together", ylabel="model calls per second")
    left.set_xticks(CONNECTIONS, [f"{one:,}" for one in CONNECTIONS])
    left.legend()
    for connections in CONNECTIONS:
        rates = [points[connections, shards].rate for shards in SHARDS]
        right.plot(SHARDS, rates, marker="o", label=f"{connections:,} connections")
    right.set(xlabel="run.shards", ylim=(0, None), xticks=SHARDS)
    right.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small")
    for side in (left, right):
        side.grid(alpha=0.3)
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "rates", "font.family": "sans-serif"}):
        figure.savefig(path, metadata={"Date": None, "Creator": None})


def write(points: Points, load: float, page: Path = PAGE, plot: Path = PLOT) -> None:
    """Draw the plot and put the table into the page; ``load`` is that of other work, in processes."""
    draw(points, plot)
    before, _, rest = page.read_text(encoding="utf-8").partition(_START)
    after = rest.partition(_END)[2]
    lines = f"{table(points)}\n\n{date.today().isoformat()}, {machine()}; load of other work before: {load:.1f}"
    page.write_text(f"{before}{_START}\n{lines}\n{_END}{after}", encoding="utf-8")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rates", description="Calls per second, and shards.", allow_abbrev=False
    )
    parser.add_argument("--repeat", type=int, default=3, help="how often, for medians (default 3)")
    parser.add_argument("--seconds", type=float, default=_SECONDS, help=f"of a run (default {_SECONDS})")
    parser.add_argument("--write", action="store_true", help="put plot and table into the documentation")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]  # of the minute before
    points = measure_all(arguments.repeat, arguments.seconds)
    print(table(points))
    if arguments.write:
        write(points, load)


if __name__ == "__main__":
    main()
