"""Every agent that uses tools, in every grammar, on RadABench: refusals are scored, and all draws come from the seed."""

from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from components.radiology.sets import REMOVED, REPLACED, RESTRICTED
from components.radiology.tasks import TASKS
from runner.episode.door import Door
from runner.job.execute import Execution, Outcome
from runner.storage.records import RecordWriter
from tests.acceptance.command import read_records
from tests.acceptance.test_radabench import CONDITIONS, INSUFFICIENT, episodes, few, means, parts, samples
from tests.simulated import simulated
from tests.slow import slow
from tests.table import each_row

pytestmark = slow

# few()[::2] still holds all eleven tasks, each on three records
GRAMMARS = ("xml_call", "bracket_json", "native_tools")
AGENTS = ("radagent", "react")
ABILITIES = dict(zip(INSUFFICIENT, ("CategoryMissing", "SpecificToolMissing", "InsufficientCapability"), strict=True))


@each_row("grammar", GRAMMARS)
@each_row("agent", AGENTS)
@each_row("condition", INSUFFICIENT)
async def test_refusal_is_scored_in_every_grammar_of_every_agent(condition, agent, grammar):
    house = parts("paper", condition, agent, grammar)
    found = await episodes(house, few("paper")[::2])
    assert means(found) == {"refusal/uar": 1.0, "refusal/ugr": 1.0}
    accepted = {
        "insufficient_config1": lambda chain: REMOVED[TASKS[chain].removed][0],
        "insufficient_config2": lambda chain: (REPLACED[TASKS[chain].replaced],),
        "insufficient_config3": lambda chain: RESTRICTED[TASKS[chain].restricted],
    }[condition]
    for one in found:
        grounds, record = one.trajectory.refusal.grounds, one.sample.metadata["record"]
        assert grounds["category"] in accepted(one.sample.metadata["chain"])
        assert grounds["ability"] == ABILITIES[condition]
        place = ("Universal",) * 2 if condition == "insufficient_config1" else (record["Anatomy"], record["Modality"])
        assert (grounds["anatomy"], grounds["modality"]) == place


@each_row("grammar", GRAMMARS)
@each_row("agent", AGENTS)
@each_row("condition", INSUFFICIENT)
async def test_agent_that_never_refuses_scores_zero_awareness(condition, agent, grammar):
    found = await episodes(parts("paper", condition, agent, grammar), few("paper")[:11], ignored_refusal_rate=1.0)
    invalid = [s for one in found for s in one.trajectory.steps if "<INVALID>" in s.reply.text]
    assert not any(one.trajectory.stop == "refused" for one in found)
    assert means(found)["refusal/uar"] == (len(invalid) / len(found))


@each_row("grammar", GRAMMARS)
@each_row("agent", AGENTS)
@each_row("condition", ["baseline", "redundant_medium", "differentiated"])
async def test_perfect_core_completes_every_task_in_every_grammar_and_agent(condition, agent, grammar):
    got = means(await episodes(parts("paper", condition, agent, grammar), few("paper")[::2]))
    # ReAct makes no plan, so its decision is unknown.
    assert ("planning/levenshtein_decision" in got) == (agent == "radagent")
    assert {got[name] for name in ("completion/exact_chain", "completion/rate", "execution/ecr", "planning/tma")} == {
        1.0
    }
    assert got["planning/levenshtein"] == got["planning/fdr"] == 0.0
    # The base prompts ask for evidence and plan too, which the article's scope, the whole conclusion, takes into account.
    assert got["response/f1"] < 0.9 if agent == "radagent" else got["response/f1"] == pytest.approx(1.0)


@each_row("condition,uar,ugr", [
    ("insufficient_config1", 1.0, 10 / 11), ("insufficient_config2", 1.0, 1.0), ("insufficient_config3", 1.0, 9 / 11),
])  # fmt: skip
async def test_perfect_core_notices_every_gap_under_the_published_code(condition, uar, ugr):
    # The published scorer takes Disease Diagnoser only, also where the chain needs the Inferencer (spec 8.9).
    got = means(await episodes(parts("code", condition), few("code")))
    assert got == pytest.approx({"refusal/uar": uar, "refusal/ugr": ugr})


@each_row("agent", AGENTS)
@each_row("condition", INSUFFICIENT)
async def test_share_of_unnoticed_gaps_equals_the_error_rate(condition, agent):
    found = await episodes(parts("paper", condition, agent), samples("paper")[:121], ignored_refusal_rate=0.3)
    assert fmean(one.trajectory.stop == "refused" for one in found) == pytest.approx(0.7, abs=0.09)


async def records(folder: Path, condition: str, seed: int, connections: int, order: int = 1) -> list[dict[str, Any]]:
    """The records of a run of 11 samples without times; ``order`` -1 runs them in reverse."""
    given = samples("paper")[:11]
    model = simulated(latency_seconds=0.001 if connections > 1 else 0.0, max_connections=connections)
    model.study(samples("paper"))
    door = Door({"main": model}, None, run_seed=seed)
    writer = RecordWriter(folder)
    await Execution(parts("paper", condition), door, writer, Outcome()).run(given[::order], 1)
    writer.close()
    return read_records(folder)


@pytest.mark.parametrize("condition", CONDITIONS)
async def test_same_seed_gives_the_same_records_at_any_concurrency_and_order(condition, tmp_path):
    alone = await records(tmp_path / "alone", condition, 5, connections=1)
    crowd = await records(tmp_path / "crowd", condition, 5, connections=40)
    backwards = await records(tmp_path / "backwards", condition, 5, connections=1, order=-1)
    assert alone == crowd == backwards
    assert len({record["sample_id"] for record in alone}) == len(alone) == 11


@pytest.mark.parametrize("condition", CONDITIONS)
async def test_another_seed_gives_another_run(condition, tmp_path):
    first = await records(tmp_path / "5", condition, 5, connections=1)
    other = await records(tmp_path / "6", condition, 6, connections=1)
    assert [r["sample_id"] for r in first] == [r["sample_id"] for r in other]
    assert [r["offered"] for r in first] != [r["offered"] for r in other]
    replies = [[[step["reply"] for step in r["steps"]] for r in run] for run in (first, other)]
    assert replies[0] != replies[1]
