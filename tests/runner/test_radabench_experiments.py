"""Experiments on prompting strategies: what they vary, against what, and that they compose."""

from itertools import combinations
from typing import get_args

import pytest
import yaml
from hydra import compose

from components.agents.radagent import Strategy
from runner.config.roots import CONF
from tests.composing import composing

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


@pytest.mark.parametrize("name", ["strategies", "strategies_tools", "strategies_refusals"])
def test_strategies_are_held_against_plain_and_beside_what_is_in_print(name, hydra):
    cfg = compose("config", [f"experiment=radabench/{name}"])
    assert list(cfg.compare.baselines) == ["agent.strategies=[]"] and cfg.compare.gains == "radabench"
    assert swept(name)[0] == frozenset() and frozenset(get_args(Strategy)) in swept(name)


def test_tools_are_built_for_the_agent_that_the_article_enhanced(hydra):
    cfg = compose("config", ["experiment=radabench/building"])
    assert cfg.agent.build_tools == "simulated" and set(cfg.agent.strategies) == set(get_args(Strategy))


def test_the_integrated_agent_has_all_four(hydra):
    cfg = compose("config", ["agent=radagent_integrated"])
    assert set(cfg.agent.strategies) == set(get_args(Strategy)) and cfg.agent.reflector.repairs == 1
