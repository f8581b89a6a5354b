"""Words of a command line over the config of a run."""

import pytest

from components.core.errors import ConfigError
from runner.config.changes import apply_overrides
from tests.table import each_row

CFG = {"model": {"_target_": "m", "name": "old", "temperature": 0.0}, "verifier": {"_target_": "v"}, "seed": 3,
       "agent": {"_target_": "a", "inner": {"n": 1}}, "memory": None, "toolset": {"x": 1}, "dataset": {"y": 2}}  # fmt: skip
CHOICES = {"model": "simulated", "verifier": "accept", "profile": "paper"}


def test_a_choice_replaces_its_group_and_a_value_sets_a_key():
    cfg, choices = apply_overrides(CFG, CHOICES, ["verifier=reflect", "verifier.repairs=2", "agent.inner.n=5"])
    assert cfg["verifier"] == {"_target_": "components.verifiers.reflect.Reflect", "repairs": 2, "prompts": "reflect"}
    assert cfg["agent"]["inner"] == {"n": 5} and cfg["model"] == CFG["model"]
    assert choices["verifier"] == "reflect" and choices["model"] == "simulated"
    assert CFG["agent"]["inner"] == {"n": 1}, "the config of the run stays as it is"


def test_a_choice_brings_what_its_file_sets_but_not_the_data_and_the_tools():
    cfg, _ = apply_overrides(CFG, CHOICES, ["agent=ehr_react"])
    assert cfg["memory"] is not None, "its demonstrations"
    assert (cfg["dataset"], cfg["toolset"], cfg["seed"]) == ({"y": 2}, {"x": 1}, 3)


def test_the_default_choice_counts_too():
    cfg, _ = apply_overrides(CFG, CHOICES, ["verifier=accept"])
    assert cfg["verifier"] == {"_target_": "components.core.plain.Accept"}


@each_row("word, message", [
    ("model=simulatd", "simulated"), ("agent.inner.m=1", "agent.inner.m: the config of the run has no such key; "),
    ("nothing.at=1", "no such key; look at config.yaml"), ("seed=1,2", "expected one choice for a group, or one value"),
    ("~memory", "expected one choice"), ("model@models.judge=simulated", "expected one choice"), ("agent.inner.n={", "agent.inner.n"),
])  # fmt: skip
def test_what_cannot_be_set_is_refused(word, message):
    with pytest.raises(ConfigError, match=message):
        apply_overrides(CFG, CHOICES, [word])
