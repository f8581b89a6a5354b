"""Metrics, report page and comparison of a large sweep: ten runs of 24,200 simulated RadABench samples each.

The first run is a real one, made by the runner's own command. The other nine have its records, with the scores, usage
and time of an episode drawn, with replacement, from the episodes of the same task; they are written by the runner's own
writers, with a manifest and a config that name other rates of the simulated model.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, cast

import yaml

from benchmarks.figures import Figure, Settings, middle, number, span
from benchmarks.processes import ROOT, cpu_seconds
from benchmarks.sandbox import proportional_mb
from runner.results.kinds import group_by
from runner.storage import manifest
from runner.storage.records import RecordWriter, read
from runner.storage.schema import Record

_RATES = tuple(product((0.85, 0.8, 0.75, 0.7, 0.65), (0.05, 0.15)))  # of right answers, of calls of a wrong tool
_COMMANDS: Mapping[str, Sequence[str]] = {
    "metrics and tables": ("runner.report", "table"), "page": ("runner.report", "page"), "compare": ("runner.compare",),
}  # fmt: skip
_EVERY = 0.1  # seconds between looks at the memory
_DRAWN = ("scores", "usage", "seconds")
_KILO = 1024 if sys.platform != "darwin" else 1024 * 1024


def row(settings: Settings) -> Sequence[Figure]:
    """Metrics, page and comparison of 10 runs of 24,200 samples: wall, CPU, memory."""
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in _COMMANDS}
    with tempfile.TemporaryDirectory(prefix="wardround-bench-") as folder:
        data, sweep = f"{folder}/records.json", f"{folder}/sweep"
        settings.run("radiology.records", path=data, n=settings.count(2200))
        settings.run("report.write_sweep", data=data, sweep=sweep)
        ends = [settings.run("report.end_of_run", folder=str(_folder(sweep, 0))) for _ in range(settings.repeat)]
        for _ in range(settings.repeat):
            for name, command in _COMMANDS.items():
                found[name].append(_measure([*command, sweep], folder))
    wall = [sum(of[0] for of in turn) for turn in zip(*found.values(), strict=True)]
    peak = {name: max(of[2] for of in turns) for name, turns in found.items()}
    n, full = int(ends[0]["samples"]), settings.scale == 1.0
    parts = "; ".join(
        f"{name} {middle(of[0] for of in turns):.1f} s (CPU {middle(of[1] for of in turns):.1f} s)"
        for name, turns in found.items()
    )
    return [
        Figure("report", f"metrics, page and compare, {len(_RATES)} runs of {n:,} samples", middle(wall), "s",
               20 if full else None, detail=f"{parts}; {span(wall)}"),
        Figure("report", "peak memory of one of these, all its processes", max(peak.values()), "MB", 1000,
               detail=", ".join(f"{name} {number(of)}" for name, of in peak.items())),
        Figure("report", f"metrics at the end of a run of {n:,} samples", middle(one["cpu"] for one in ends), "s CPU"),
    ]  # fmt: skip


def write_sweep(data: str, sweep: str) -> dict[str, Any]:
    """Run the first job of a sweep and write the others."""
    from runner.results.runs import Run

    words = [
        "-m", "dataset=radabench", f"dataset.path={data}", "tracking=off", "run.journal=null", "name=report",
        f"hydra.sweep.dir={sweep}-run",
    ]  # fmt: skip
    command = [sys.executable, "-m", "runner", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    [first] = (path.parent for path in Path(f"{sweep}-run").glob("*/records.jsonl"))
    records, facts = list(read(first)), manifest.read(first)
    tasks = group_by(records, lambda record: record["strata"]["task"])
    config = yaml.safe_load((first / "config.yaml").read_text())
    for place in range(len(_RATES)):
        folder, rng = _folder(sweep, place), Random(place)
        folder.mkdir(parents=True)
        for path in first.glob("texts-*.jsonl.gz"):
            shutil.copy(path, folder)
        writer = RecordWriter(folder)
        for record in records:
            other = rng.choice(tasks[record["strata"]["task"]]) if place else record
            writer.append(cast(Record, {**record, **{name: cast(Any, other)[name] for name in _DRAWN}}))
        writer.close()
        right, wrong_tool = _RATES[place]
        config["model"] |= {"competence": right, "wrong_tool_rate": wrong_tool}
        (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
        varied = {"model.competence": f"{right:g}", "model.wrong_tool_rate": f"{wrong_tool:g}"}
        whose = {"id": f"{place:032x}", "sweep": Path(sweep).name, "number": place, "varied": facts["varied"] | varied}
        manifest.write(folder, {**facts, **whose, "swept": ["competence", "wrong_tool_rate"]})
        Run.read(folder, steps=True)  # which leaves the file of columns and steps that a run leaves at its end
    return {"runs": len(_RATES), "samples": len(records)}


def end_of_run(folder: str) -> dict[str, Any]:
    """Read the records of a run for metrics and reports, as at its end, in a fresh process: CPU seconds."""
    import numpy  # noqa: F401 - a run has it by then

    from runner.results import column_file
    from runner.results.metrics import as_json, summarise
    from runner.results.runs import Run

    Path(folder, column_file.FILE).unlink(missing_ok=True)
    before = cpu_seconds()
    run = Run.read(Path(folder), steps=True)
    as_json(summarise(run.table, run.levels, run.by, run.kinds))
    return {"samples": len(run.table), "cpu": cpu_seconds() - before}


def _folder(sweep: str, number: int) -> Path:
    right, wrong_tool = _RATES[number]
    return Path(sweep, f"competence-{right:g}+wrong_tool_rate-{wrong_tool:g}")


def _measure(command: Sequence[str], folder: str) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak megabytes of a command and its processes together, start-up included."""
    environment, peak = os.environ | {"PYTHONPATH": str(ROOT)}, 0.0
    with Path(folder, "output").open("w+") as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", *command], stdout=output, stderr=output, cwd=folder, env=environment
        )
        ended = 0
        while not ended:
            time.sleep(_EVERY)
            peak = max(peak, proportional_mb())
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
        wall, process.returncode = time.perf_counter() - started, os.waitstatus_to_exitcode(status)
        output.seek(0)
        assert process.returncode == 0, f"{command} ended with {process.returncode}: {output.read()[-800:]}"
    return wall, used.ru_utime + used.ru_stime, max(peak, used.ru_maxrss / _KILO)
