"""Every YAML of ``conf`` composes and builds offline under both profiles: choices, experiments with all their jobs."""

import re
from itertools import product
from typing import Any

import pytest
import yaml
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from components.protocols import Agent, Condition, Dataset, Model, Scorer, Toolset, Verifier
from components.radiology.profile import as_switches
from runner import build
from runner.config.schema import Settings
from runner.experiment import check
from runner.sweep.launcher import register
from tests.acceptance.test_radabench import CONF
from tests.golden.vectors import CODE, PAPER

PROFILES = sorted(path.stem for path in (CONF / "profile").glob("*.yaml"))
PROTOCOLS = {
    "model": Model, "agent": Agent, "verifier": Verifier, "toolset": Toolset, "condition": Condition,
    "dataset": Dataset, "scorer": Scorer,
}  # fmt: skip
CHOICES = [
    (group, path.stem, profile)
    for group in PROTOCOLS
    for path in sorted((CONF / group).glob("*.yaml"))
    for profile in (PROFILES if "${profile" in path.read_text() else PROFILES[-1:])
]
EXPERIMENTS = [
    path.relative_to(CONF / "experiment").with_suffix("").as_posix()
    for path in sorted((CONF / "experiment").rglob("*.yaml"))
]
NEEDED = {"ratescore": ["scorer.ratescore.source=cat"]}  # else a package of an extra


@pytest.fixture
def variables(monkeypatch, tmp_path):
    """Every variable of the environment that a YAML reads."""
    for text in (path.read_text() for path in CONF.rglob("*.yaml")):
        for variable in re.findall(r"oc\.env:(\w+)|api_key_env: ([A-Z_]+)", text):
            monkeypatch.setenv(next(filter(None, variable)), str(tmp_path))


def composed(*overrides: str) -> dict[str, Any]:
    """``config.yaml`` with overrides, resolved."""
    register()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return OmegaConf.to_container(compose("config", [*overrides]), resolve=True)


@pytest.mark.parametrize("group,name,profile", CHOICES)
def test_every_choice_composes_and_builds_offline(variables, group, name, profile):
    cfg = composed(
        f"{group}=[{name}]" if group == "scorer" else f"{group}={name}", f"profile={profile}", *NEEDED.get(name, ())
    )
    build.check(Settings, cfg)
    for node in cfg[group].values() if group == "scorer" else [cfg[group]]:
        node = {key: value for key, value in node.items() if key != "grammar"}
        assert build.part(node, group, (), PROTOCOLS[group])


@pytest.mark.parametrize("name", [path.stem for path in sorted((CONF / "tracking").glob("*.yaml"))])
def test_every_tracking_composes_and_fits_the_schema(variables, name):
    build.check(Settings, composed(f"tracking={name}"))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_and_every_job_of_it_builds_offline(name, profile):
    own = yaml.safe_load((CONF / "experiment" / f"{name}.yaml").read_text())
    swept = own.get("hydra", {}).get("sweeper", {}).get("params", {})
    for values in product(*(str(text).split(",") for text in swept.values())):
        jobs = [f"{key}={value.strip()}" for key, value in zip(swept, values, strict=True)]
        experiment = check(composed(f"experiment={name}", f"profile={profile}", *jobs))
        assert experiment.samples and experiment.parts.scorers


def test_profiles_are_whole_and_those_that_tests_use():
    nodes = {name: composed(f"profile={name}")["profile"]["radabench"] for name in PROFILES}
    assert {name: as_switches(node) for name, node in nodes.items()} == {"code": CODE, "paper": PAPER}
    assert all(set(node) == set(vars(PAPER)) for node in nodes.values())
