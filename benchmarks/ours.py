"""Our own stack against the server: gateway, door, journal, episode, records, as a run puts them together."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.bare import run_loop
from benchmarks.processes import Usage, measured, resident_mb
from benchmarks.tasks import Chart, Exact, Intact, Questions, Stepper
from components.grammars.bracket_json import BracketJson
from components.models.gateway import Gateway
from components.verifiers.accept import Accept
from runner.door import Budget, Door
from runner.execute import Outcome, execute
from runner.journal import Journal
from runner.play import Parts, play
from runner.records import RecordWriter


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


async def _play(url: str, samples: int, connections: int, transport: str, folder: Path) -> tuple[Usage, Outcome]:
    model = gateway(url, connections, transport)
    models, experiment, asked = {"main": model}, parts(), Questions(samples + 1).samples()
    warm = Door(models, None, run_seed=1, budget=Budget(), replay=False)
    trajectory, _ = await play(experiment, warm, asked.pop(), 0)  # imports, templates, prices, a connection
    assert trajectory.stop == "answered", trajectory.error
    gc.collect()
    gc.freeze()  # execute does so too: the libraries' objects are start-up
    with measured() as usage:
        writer, journal = RecordWriter(folder / "run"), Journal(folder / "journal")
        door = Door(models, journal, run_seed=0, budget=Budget(), replay=False)
        outcome = Outcome()
        await execute(experiment, door, asked, 1, writer, outcome)
        writer.close()
        journal.close()
    await model.close()
    return usage, outcome


def http(url: str, samples: int, connections: int, uvloop: bool, transport: str = "direct") -> dict[str, Any]:
    """Play samples; figures of the part from the first owed sample to the closed files."""
    import aiohttp  # noqa: F401 - its import belongs to the libraries, not to the run

    if transport == "litellm":
        from components.models.litellm_chat import LitellmChat

        _ = LitellmChat("hosted_vllm/bench")._litellm
    base = resident_mb()
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="wardround-bench-") as folder:

        async def main() -> Usage:
            usage, outcome = await _play(url, samples, connections, transport, Path(folder))
            outcomes.append(outcome)
            return usage

        usage = run_loop(main(), uvloop)
    [outcome] = outcomes
    return usage.figures(base) | {"errors": outcome.error_rate, "samples": outcome.played}
