"""Experiments of EHRAgent compose for every agent that they vary, on the same data, tools and scores."""

from pathlib import Path

import pytest
import yaml
from hydra import compose

from runner.config.catalogue import CONF
from tests.composing import composing
from tests.slow import slow
from tests.table import each_row

FOLDER = CONF / "experiment" / "ehragent"


def swept(file: Path) -> list[str]:
    """The agents of an experiment, in its order."""
    return [name.strip() for name in yaml.safe_load(file.read_text())["hydra"]["sweeper"]["params"]["agent"].split(",")]


EXPERIMENTS = {file.stem: swept(file) for file in sorted(FOLDER.glob("*.yaml"))}


@pytest.fixture(scope="module")
def hydra():
    with composing():
        yield


def test_each_research_question_has_an_experiment():
    assert list(EXPERIMENTS) == ["complexity", "demonstrations", "models", "table1", "table2"]
    assert all(agents[-1] == "ehragent" or agents[0] == "ehragent" for agents in EXPERIMENTS.values())


@slow
@each_row("agent", sorted({agent for found in EXPERIMENTS.values() for agent in found}))
def test_each_agent_sets_its_data_tools_scores_and_memory(agent, hydra):
    cfg = compose("config", [f"agent={agent}"], return_hydra_config=True)
    choices, grows = cfg.hydra.runtime.choices, agent.startswith("ehragent") and agent != "ehragent_no_memory"
    assert {key: choices[key] for key in ("dataset", "toolset", "scorer", "condition", "memory")} == {
        "dataset": "ehr_mini", "toolset": "ehr", "scorer": "ehr", "condition": "intact",
        "memory": "solved" if grows else "demonstrations",
    }  # fmt: skip


@slow
@each_row("name", EXPERIMENTS)
def test_experiment_uses_the_same_data_and_tools_and_names_its_baselines(name, hydra):
    cfg = compose("config", [f"experiment=ehragent/{name}"], return_hydra_config=True)
    choices = cfg.hydra.runtime.choices
    assert (choices["dataset"], choices["toolset"], choices["scorer"]) == ("ehr_mini", "ehr", "ehr")
    assert set(cfg.compare.baselines) <= set(EXPERIMENTS[name])
    assert name != "demonstrations" or cfg.hydra.sweeper.params["agent.shots"] == "1,2,3,4,5,6,7,8"
