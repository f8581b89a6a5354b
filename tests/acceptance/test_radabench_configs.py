"""Every YAML of ``conf`` composes and builds offline under both profiles: choices, experiments with all their jobs."""

import os
import re
from collections.abc import Iterator, Mapping
from itertools import product, zip_longest
from pathlib import Path

import pytest
import yaml
from hydra import compose
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf

from components.radiology.switches import Switches
from runner.config import build
from runner.config.composed import resolve
from runner.config.errors import Finding
from runner.config.schema import Settings
from runner.experiment.parts import build_parts, named_parts
from runner.job.prepare import check
from tests.acceptance.test_experiments import world_of_the_tasks
from tests.acceptance.test_radabench import CONF
from tests.composing import composing
from tests.golden.vectors import CODE, PAPER
from tests.slow import slow

PROFILES = sorted(path.stem for path in (CONF / "profile").glob("*.yaml"))
GROUPS = ("model", "agent", "verifier", "toolset", "condition", "dataset", "scorer")
NEEDED = {  # of choices that name something of their user's, or else a package of an extra
    "scorer=[ratescore]": ["scorer.ratescore.source=cat"],
    "toolset=mcp": [f"toolset.servers={{ward:{{command:[python,{CONF.parent / 'docs/examples/ward_server.py'}]}}}}"],
    "agent=external": ["agent.command=[python,agent.py]"],
}
DATA = "CLINICAL_DATA_DIR"
FOLLOWS = "${profile"  # the keys that make a part depend on the profile


def choices(profile: str) -> list[tuple[str, ...]]:
    """Rows with one choice of every group; all profiles but the last have only the choices that depend on it."""
    columns = [
        [f"{group}=[{path.stem}]" if group == "scorer" else f"{group}={path.stem}"
         for path in sorted((CONF / group).glob("*.yaml")) if FOLLOWS in path.read_text() or profile == PROFILES[-1]]
        for group in GROUPS
    ]  # fmt: skip
    return [tuple(filter(None, row)) for row in zip_longest(*columns)]


CHOICES = [pytest.param(profile, row, id=" ".join((profile, *row))) for profile in PROFILES for row in choices(profile)]
EXPERIMENTS = [
    path.relative_to(CONF / "experiment").with_suffix("").as_posix()
    for path in sorted((CONF / "experiment").rglob("*.yaml"))
]


READ = re.compile(r"oc\.env:(\w+)|api_key_env: ([A-Z_]+)")
VARIABLES = {
    name for path in CONF.rglob("*.yaml") for found in READ.findall(path.read_text()) for name in found if name
}


@pytest.fixture
def variables(monkeypatch, tmp_path):
    """Every variable of the environment that a YAML reads."""
    for name in VARIABLES:
        monkeypatch.setenv(name, str(tmp_path))


@pytest.fixture
def key(monkeypatch):
    """A key for the models that need one."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.fixture(scope="module", autouse=True)
def hydra() -> Iterator[None]:
    with composing():
        yield


def composed(*overrides: str) -> DictConfig:
    """``config.yaml`` with overrides, composed as the command does it."""
    config = compose("config", [*overrides], return_hydra_config=True)
    HydraConfig.instance().set_config(config)
    return config


@pytest.mark.parametrize(("profile", "row"), CHOICES)
def test_every_choice_composes_and_builds_offline(variables, profile, row):
    words = [word for choice in row for word in NEEDED.get(choice, ())]
    cfg = resolve(composed(f"profile={profile}", *row, *words))
    build.check(Settings, cfg)
    findings: list[Finding] = []
    made = build_parts(named_parts(cfg, findings), cfg, findings)
    assert not findings, findings
    assert all(made.values())


@pytest.mark.parametrize("name", [path.stem for path in sorted((CONF / "tracking").glob("*.yaml"))])
def test_every_tracking_composes_and_fits_the_schema(variables, name):
    build.check(Settings, resolve(composed(f"tracking={name}")))


def sweep(name: str) -> dict[str, list[str]]:
    """The keys that an experiment sweeps, and their values."""
    own = yaml.safe_load((CONF / "experiment" / f"{name}.yaml").read_text())
    params = own.get("hydra", {}).get("sweeper", {}).get("params", {})
    parsed = OverridesParser.create().parse_overrides([f"{key}={text}" for key, text in params.items()])
    return {one.get_key_element(): list(one.sweep_string_iterator()) for one in parsed}


def build_job(name: str, job: Mapping[str, str], folder: Path, every_profile: bool = True) -> None:
    """Compose and check under every profile that makes another job of it, or under one."""
    words = [f"experiment={name}", *(f"{key}={value}" for key, value in job.items())]
    if name == "fhir/medagentbench" and DATA in os.environ:
        words.append(world_of_the_tasks(folder / "world.ndjson"))
    if job.get("model", "simulated").partition("/")[0] != "simulated":
        words.append("model.retired=null")  # the result must not depend on today's date
    config = composed(f"profile={PROFILES[-1]}", *words)
    if DATA not in os.environ and DATA in OmegaConf.to_yaml(config.dataset):
        pytest.skip(f"needs {DATA}")
    follows = every_profile and FOLLOWS in OmegaConf.to_yaml(OmegaConf.masked_copy(config, GROUPS))
    configs = [config, *(composed(f"profile={profile}", *words) for profile in PROFILES[:-1] if follows)]
    for config in configs:
        HydraConfig.instance().set_config(config)
        experiment = check(resolve(config))
        assert experiment.samples and experiment.parts.scorers, words


@slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_value_that_an_experiment_sweeps_builds_offline(key, name, tmp_path):
    """As many jobs as the longest list has values, the first under every profile; the command checks all combinations
    before the first one runs."""
    swept = sweep(name)
    for n in range(max(map(len, swept.values()), default=1)):
        build_job(name, {key: values[n % len(values)] for key, values in swept.items()}, tmp_path, every_profile=not n)


@slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_job_of_every_experiment_builds_offline(key, name, tmp_path):
    swept = sweep(name)
    for values in product(*swept.values()):
        build_job(name, dict(zip(swept, values, strict=True)), tmp_path)


def test_profiles_are_complete_and_are_those_that_tests_use():
    nodes = {name: resolve(composed(f"profile={name}"))["profile"]["radabench"] for name in PROFILES}
    assert {name: build.check(Switches, node) for name, node in nodes.items()} == {"code": CODE, "paper": PAPER}
    assert all(set(node) == set(vars(PAPER)) for node in nodes.values())
