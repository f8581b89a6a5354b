"""Hydra hastened composes the same configs."""

import pytest
from hydra import compose, initialize_config_dir
from hydra._internal import config_loader_impl, defaults_list
from hydra._internal.hydra import Hydra
from omegaconf import OmegaConf

from runner.config.haste import hasten
from runner.config.roots import CONF
from tests.slow import slow

WORDS = [["tracking=off"], ["agent=react", "profile=code", "limit=3"], ["experiment=hello", "scorer=choice"],
         ["experiment=ehragent/table1", "agent=self_consistency", "agent@agent.inner=cot"]]  # fmt: skip


def composed():
    with initialize_config_dir(str(CONF), version_base="1.3"):
        configs = [compose("config", words, return_hydra_config=True) for words in [*WORDS, *WORDS]]
        return [OmegaConf.to_yaml(config) for config in configs]


@slow
def test_configs_are_the_same(monkeypatch):
    monkeypatch.setattr(config_loader_impl, "ConfigRepository", config_loader_impl.ConfigRepository)
    monkeypatch.setattr(defaults_list, "_create_interpolation_map", defaults_list._create_interpolation_map)
    monkeypatch.setattr(Hydra, "get_mode", Hydra.get_mode)
    plain = composed()
    hasten()
    assert composed() == plain


@pytest.mark.parametrize(("text", "expected"), [("limit: 3", "1 of 1"), ("hydra: {mode: MULTIRUN}", "sweep of 1 jobs")])
def test_an_experiment_sets_the_mode_also_through_another_one(home, text, expected):
    home.write("experiment/inner", f"# @package _global_\ndefaults: [own]\n{text}")
    home.write("experiment/outer", "# @package _global_\ndefaults: [inner]")
    done = home.run("--config-dir", "conf", "experiment=outer", "limit=1", plain=True)
    assert done.code == 0 and expected in done.out + done.err, done
