"""Our own stack against the server: gateway, door, journal, episode, records, as a run puts them together."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir

from benchmarks import panel_tasks, radiology
from benchmarks.bare import run_loop
from benchmarks.processes import Usage, measured, resident_mb
from benchmarks.tasks import NATIVE_MODEL, Chart, Exact, Intact, Questions, Stepper
from components.core.plain import Accept, NoTools
from components.core.protocols import Scorer
from components.core.types import Sample
from components.grammars.bracket_json import BracketJson
from components.models.gateway import Gateway
from components.panel.agent import MedAgents
from components.panel.scorer import Panel
from components.scorers.choice import Choice
from runner.config.catalogue import CONF
from runner.config.composed import resolve
from runner.episode.budget import Budget
from runner.episode.door import Door
from runner.episode.episode import run_episode
from runner.episode.shared import Parts
from runner.experiment.experiment import Experiment
from runner.job.execute import Execution, Outcome
from runner.job.prepare import check
from runner.storage import records
from runner.storage.journal import Journal

TASKS = 11  # of a record in RadABench


def gateway(url: str, connections: int, transport: str) -> Gateway:
    """The model."""
    return Gateway(
        "bench", "vllm", transport, url, key_optional=True, max_connections=connections,  # type: ignore[arg-type]
        temperature=0.0, max_tokens=512,
    )  # fmt: skip  # transport is one of the three


def parts() -> Parts:
    """The experiment."""
    budget = Budget(calls=100, steps=40)
    return Parts(Stepper(), Accept(), BracketJson(), Chart(), Intact(), {"exact": Exact()}, budget)


def panel_parts() -> Parts:
    """The experiment of a panel without tools."""
    scorers: dict[str, Scorer] = {"choice": Choice(), "panel": Panel()}
    return Parts(MedAgents(), Accept(), BracketJson(), NoTools(), Intact(), scorers, Budget(calls=100, steps=40))


def composed(data: Path, url: str, connections: int) -> Experiment:
    """RadABench on agent ReAct with every other part as the default config has it, composed and checked by Hydra."""
    choices = ("agent=react", "dataset=radabench", "model=vllm", "tracking=off")
    words = [*choices, f"dataset.path={data}", f"model.name={NATIVE_MODEL}", f"model.api_base={url}"]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("config", [*words, f"model.max_connections={connections}"])
    return check(resolve(config))


def real(url: str, samples: int, connections: int, uvloop: bool) -> dict[str, Any]:
    """Run RadABench with ReAct on the shipped toolset, its prompts and scorers."""
    with tempfile.TemporaryDirectory(prefix="wardround-bench-") as folder:
        data = Path(folder) / "records.json"
        radiology.records(str(data), samples // TASKS + 1)
        experiment = composed(data, url, connections)
        [model] = experiment.models.values()
        return _run(model, experiment.parts, experiment.samples[: samples + 1], uvloop, Path(folder))


async def _run_all(model: Gateway, experiment: Parts, asked: list[Sample], folder: Path) -> tuple[Usage, Outcome]:
    models = {"main": model}
    warm = Door(models, None, run_seed=1)
    trajectory, _ = await run_episode(experiment, warm, asked.pop(), 0)  # imports, templates, prices, a connection
    assert trajectory.stop == "answered", trajectory.error
    gc.collect()
    gc.freeze()  # execute does so too: the libraries' objects are start-up
    gc.set_threshold(200_000, 20, 100)  # as the command does
    with measured() as usage:
        writer, journal = records.RecordWriter(folder / "run"), Journal(folder / "journal")
        door = Door(models, journal, run_seed=0)
        outcome = Outcome()
        await Execution(experiment, door, writer, outcome).run(asked, 1)
        writer.close()
        journal.close()
    await model.close()
    return usage, outcome


def _run(model: Gateway, experiment: Parts, asked: Sequence[Sample], uvloop: bool, folder: Path) -> dict[str, Any]:
    """Run all samples but the last, which warms up; figures from the first of them to the closed files."""
    import numpy  # noqa: F401 - imports are start-up, that of the library which seals the journal too

    import components.models.openai_chat  # noqa: F401

    base = resident_mb()
    outcomes: list[Outcome] = []

    async def main() -> Usage:
        usage, outcome = await _run_all(model, experiment, [*asked], folder)
        outcomes.append(outcome)
        return usage

    usage = run_loop(main(), uvloop)
    [outcome] = outcomes
    return usage.figures(base) | {"errors": outcome.error_rate, "samples": outcome.n_run}


def http(url: str, samples: int, connections: int, uvloop: bool, transport: str = "direct") -> dict[str, Any]:
    """Run conversations with tool calls."""
    if transport == "litellm":
        from components.models.litellm_chat import LitellmChat

        _ = LitellmChat("hosted_vllm/bench")._litellm
    with tempfile.TemporaryDirectory(prefix="wardround-bench-") as folder:
        model = gateway(url, connections, transport)
        return _run(model, parts(), Questions(samples + 1).samples(), uvloop, Path(folder))


def panel(url: str, samples: int, connections: int, uvloop: bool, name: str) -> dict[str, Any]:
    """Let a panel decide questions; also what its records hold: ``steps`` and ``waves`` of each, answers ``right``."""
    model = Gateway(name, "vllm", "direct", url, key_optional=True, max_connections=connections, temperature=1.0)
    with tempfile.TemporaryDirectory(prefix="wardround-bench-") as folder:
        result = _run(model, panel_parts(), panel_tasks.samples(samples + 1), uvloop, Path(folder))
        found = list(records.read(Path(folder) / "run"))
    return result | {
        "steps": [len(record["steps"]) for record in found],
        "waves": [panel_tasks.waves_of(record["steps"]) for record in found],
        "right": sum(record["scores"]["score/strict"] == 1.0 for record in found),
    }
