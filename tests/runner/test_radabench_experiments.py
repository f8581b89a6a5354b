"""Experiments on prompting strategies: what they vary, their baselines, and that they compose."""

from dataclasses import replace
from itertools import combinations
from typing import get_args

import pytest
import yaml
from hydra import compose
from omegaconf import OmegaConf

from components.radiology.agent import Radagent, Strategy
from components.verifiers.reflect import Reflect
from runner.config.build import construct
from runner.config.catalogue import CONF
from runner.episode.door import Door
from runner.episode.episode import run_episode
from tests.acceptance.test_radabench import parts, samples
from tests.components.models.conftest import serving_chat
from tests.composing import composing
from tests.golden.vectors import CODE, PAPER
from tests.simulated import simulated
from tests.slow import slow
from tests.table import each_row

FOLDER = CONF / "experiment" / "radabench"


@pytest.fixture(scope="module")
def hydra():
    with composing():
        yield


def swept(name: str) -> list[frozenset[str]]:
    """The strategies of an experiment, in its order."""
    text = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())["hydra"]["sweeper"]["params"]["agent.strategies"]
    return [frozenset(one) for one in yaml.safe_load(f"[{text}]")]


def test_the_ablation_has_every_subset_once_and_plain_first():
    every = {frozenset(names) for n in range(5) for names in combinations(get_args(Strategy), n)}
    found = swept("strategies")
    assert len(found) == 16 and set(found) == every and found[0] == frozenset()


@slow
@each_row("name", ["strategies", "strategies_tools", "strategies_refusals"])
def test_strategies_are_compared_with_plain_and_the_published_values(name, hydra):
    cfg = compose("config", [f"experiment=radabench/{name}"])
    assert list(cfg.compare.baselines) == ["agent.strategies=[]"] and cfg.compare.gains == "radabench"
    assert swept(name)[0] == frozenset() and frozenset(get_args(Strategy)) in swept(name)


def test_tools_are_built_for_the_agent_that_the_article_enhanced(hydra):
    cfg = compose("config", ["experiment=radabench/building"])
    assert cfg.agent.build_tools == "simulated" and set(cfg.agent.strategies) == set(get_args(Strategy))


def test_integrated_agent_has_all_four_strategies(hydra):
    cfg = compose("config", ["agent=radagent_integrated"])
    assert set(cfg.agent.strategies) == set(get_args(Strategy)) and cfg.agent.reflector.repairs == 1


EVERY = [
    "agent=radagent",
    "agent=radagent_integrated",
    "experiment=radabench/fig6b",
    "experiment=radabench/baseline agent=react",
]


@slow
@each_row("choice", EVERY)
async def test_published_code_sends_only_a_temperature_set_by_the_user(hydra, choice):
    async with serving_chat() as server:
        for words, sent in (
            (["profile=code"], None), (["profile=paper"], 0.0), (["profile=code", "model.temperature=0.7"], 0.7),
        ):  # fmt: skip
            cfg = compose(
                "config", [*choice.split(), "model=vllm", "model.name=x", f"model.api_base={server.url}", *words]
            )
            model = construct(OmegaConf.to_container(cfg.model), "model")
            switches = {"code": CODE, "paper": PAPER}[cfg.profile.name]
            strategies = list(cfg.agent.get("strategies", []))
            server.bodies.clear()
            house = replace(
                parts(cfg.profile.name, "baseline"),
                agent=Radagent(switches, strategies=strategies, reflector=Reflect()),
            )
            await run_episode(house, Door({"main": model}, None, run_seed=0), samples(cfg.profile.name)[0], 0)
            await model.close()
            assert server.bodies and {body.get("temperature", None) for body in server.bodies} == {sent}
            assert all(("temperature" in body) == (sent is not None) for body in server.bodies)


@slow
def test_other_agents_and_the_articles_profile_keep_the_models_temperature(hydra):
    for agent in ("radagent", "radagent_integrated"):
        assert compose("config", [f"agent={agent}", "model=openai"]).model.temperature == 0.0
    assert compose("config", ["agent=react", "profile=code"]).model.temperature == 0.0


def test_figure_6b_has_whole_records_and_five_trials_of_plain_and_of_each_strategy(hydra):
    cfg = compose("config", ["experiment=radabench/fig6b"])
    assert (cfg.dataset.records, cfg.epochs, cfg.limit) == (20, 5, None)
    assert cfg.compare.per_record == "planning/levenshtein" and list(cfg.compare.baselines) == ["agent.strategies=[]"]
    assert swept("fig6b") == [frozenset(), *(frozenset([name]) for name in get_args(Strategy))]


async def test_trials_of_the_simulated_core_vary_and_are_reproducible(hydra):
    model, sample = simulated(planning_slip_rate=0.5, temperature=None), samples("code")[0]
    model.study([sample])
    plans = []
    for epoch in (0, 1, 2, 3, 4, 0):
        trajectory, _ = await run_episode(
            parts("code", "baseline"), Door({"main": model}, None, run_seed=0), sample, epoch
        )
        plans.append(trajectory.steps[0].reply.text)
    assert len(set(plans)) > 1 and plans[0] == plans[-1]


def test_figure_6c_is_on_all_insufficient_conditions():
    text = yaml.safe_load((FOLDER / "strategies_refusals.yaml").read_text())["hydra"]["sweeper"]["params"]["condition"]
    assert text.split(",") == [f"insufficient_config{n}" for n in (1, 2, 3)]


def test_only_ots_and_mhr_are_published_on_139_differentiated_questions():
    texts = {path.stem: path.read_text() for path in (CONF / "papers").glob("radabench*.yaml")}
    assert not [name for name, text in texts.items() if "trials" in text]
    sizes = {name: next(iter(yaml.safe_load(text)["tables"].values()))["sizes"] for name, text in texts.items()}
    assert sizes["radabench_ots"] == sizes["radabench_mhr"] == {"differentiated": 139}
    others = [name for name in sizes if name not in ("radabench_ots", "radabench_mhr")]
    assert not any(sizes[name] for name in others)
