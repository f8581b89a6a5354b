"""Simulated RadABench in process: records made from the shipped ones, whole runs, and finished runs resumed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy  # noqa: F401 - loaded late by metrics, as sacrebleu by scorers; but libraries are no memory of ours
import orjson
import sacrebleu.metrics.bleu  # noqa: F401
import yaml

from benchmarks.processes import ROOT, measured, one_core, resident_mb
from components.core.plain import Accept
from components.core.types import Sample
from components.grammars.xml_call import XmlCall
from components.models.simulated import Simulated
from components.radiology.agent import Radagent
from components.radiology.dataset import RadABench
from components.radiology.simulated import Radiology as Responder
from components.radiology.switches import Switches
from components.radiology.toolset import Radiology
from runner.config.build import check, construct
from runner.episode.budget import Budget
from runner.episode.door import Door
from runner.episode.shared import Parts
from runner.job.execute import Execution, Outcome
from runner.results import column_file
from runner.results.metrics import summarise
from runner.storage.journal import Journal
from runner.storage.records import RecordWriter, read

_MINI = ROOT / "components" / "radiology" / "radabench_mini" / "test.json"


def records(path: str, n: int) -> dict[str, Any]:
    """Write a file of ``n`` records. Each is a shipped one with questions, answers and report of its own."""
    shipped = orjson.loads(_MINI.read_bytes())
    made = {}
    for number, (name, entry) in enumerate(islice(cycle(shipped.items()), n)):
        case, mark = entry["case"], f"study S{number:05d}"
        report = case["Report"] | {"Impression": f"{case['Report']['Impression']} This is {mark}."}
        result = {
            chain: {"Q": f"{pair['Q']} ({mark})", "A": f"{pair['A']} The patient's file names {mark}."}
            for chain, pair in entry["QA"].items()
        }
        made[f"{name}-{number}"] = {"case": case | {"Report": report}, "QA": result}
    Path(path).write_bytes(orjson.dumps(made))
    return {"records": len(made)}


def _profile() -> Mapping[str, Any]:
    """The switches of the default profile, as YAML has them."""
    given: Mapping[str, Any] = yaml.safe_load((ROOT / "conf" / "profile" / "paper.yaml").read_text())["radabench"]
    return given


def _part(group: str, name: str) -> Any:
    """What a YAML of ``conf`` describes: one part, or several by name."""
    node, switches = yaml.safe_load((ROOT / "conf" / group / f"{name}.yaml").read_text()), _profile()

    def filled(part: Mapping[str, Any]) -> object:
        changed = {k: switches if v == "${profile.radabench}" else v for k, v in part.items()}
        return construct(changed, f"{group}.{name}")

    return filled(node) if "_target_" in node else {key: filled(part) for key, part in node.items()}


def _parts(condition: str) -> Parts:
    switches = check(Switches, _profile())
    return Parts(
        Radagent(switches), Accept(), XmlCall(), Radiology(switches), _part("condition", condition),
        _part("scorer", "radabench"), Budget(calls=100, steps=40),
    )  # fmt: skip


def _samples(data: str) -> list[Sample]:
    return list(RadABench(data, switches=check(Switches, _profile())).load("test"))


def _size_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20


def play(data: str, folder: str, condition: str, journal: bool) -> dict[str, Any]:
    """Run the unfinished samples of a file of records on one core, and reduce all to metrics.

    ``play`` is the time from the first of them to closed files, ``wall`` all beyond imports.
    """
    base = resident_mb()
    resident: list[float] = []
    with one_core(), measured() as whole:
        samples, model, outcome = _samples(data), Simulated(responders=[Responder()]), Outcome()
        model.study(samples)
        written = Journal(Path(folder) / "journal") if journal else None
        writer = RecordWriter(Path(folder) / "run")
        door = Door({"main": model}, written, run_seed=0)
        every = max(1, len(samples) // 20)

        def beat(so_far: Outcome) -> None:
            if so_far.n_run % every == 0:
                resident.append(resident_mb())

        with measured() as playing:
            asyncio.run(Execution(_parts(condition), door, writer, outcome, beat=beat).run(samples, 1))
            writer.close()
            if written is not None:
                written.close()
        started = time.process_time()
        summarise(column_file.load(writer.folder, read(writer.folder), steps=True)[0])  # as a run does at its end
        reduced = time.process_time() - started
    half = resident[len(resident) // 2 :] or [0.0]
    return whole.figures(base) | {
        "samples": len(samples), "run": outcome.n_run, "calls": door.spent.calls, "replayed": door.replayed,
        "errors": outcome.error_rate, "play_wall": playing.wall, "play_cpu": playing.cpu, "metrics_cpu": reduced,
        "play_mb": playing.peak_mb - base, "grown_mb": max(half) - half[0],
        "records_mb": _size_mb(Path(folder) / "run"),
        "journal_mb": _size_mb(Path(folder) / "journal") if journal else 0.0,
    }  # fmt: skip
