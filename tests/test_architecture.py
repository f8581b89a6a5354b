"""The rules of the house that a machine can check."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from itertools import product
from pathlib import Path
from typing import Any

import jinja2
import jinja2.meta
import pytest
import yaml
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from components.messages import Image
from components.prompts import load
from components.protocols import Agent, Condition, Dataset, Model, Scorer, Toolset, Verifier
from components.radiology.profile import as_switches
from components.radiology.tasks import PLANNING_NAMES, REFUSAL_FIELDS
from components.types import Problem
from runner import build
from runner.config.schema import Settings
from runner.experiment import check
from runner.sweep.launcher import register
from tests.golden.vectors import CODE, PAPER

ROOT = Path(__file__).resolve().parent.parent
CONF, PROMPTS = ROOT / "conf", ROOT / "components" / "prompts"
PYTHON = [path for package in ("components", "runner") for path in sorted((ROOT / package).rglob("*.py"))]
CODE_FILES = [path for path in PYTHON if path.read_text().strip()]
TREES = {path: ast.parse(path.read_text()) for path in CODE_FILES}
PROFILES = sorted(path.stem for path in (CONF / "profile").glob("*.yaml"))
PROTOCOLS = {
    "model": Model, "agent": Agent, "verifier": Verifier, "toolset": Toolset, "condition": Condition,
    "dataset": Dataset, "scorer": Scorer,
}  # fmt: skip
CHOICES = [(group, path.stem) for group in PROTOCOLS for path in sorted((CONF / group).glob("*.yaml"))]
EXPERIMENTS = [
    path.relative_to(CONF / "experiment").with_suffix("").as_posix()
    for path in sorted((CONF / "experiment").rglob("*.yaml"))
]
NEEDED = {"withhold": ["condition.names=[TOOL1]"]}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def each(paths: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", [pytest.param(path, id=name_of(path)) for path in paths])


@pytest.fixture
def composed(monkeypatch, tmp_path):
    """Composes ``config.yaml`` with overrides, with every variable set that a YAML reads."""
    for text in (path.read_text() for path in CONF.rglob("*.yaml")):
        for variable in re.findall(r"oc\.env:(\w+)|api_key_env: ([A-Z_]+)", text):
            monkeypatch.setenv(next(filter(None, variable)), str(tmp_path))
    register()

    def made(*overrides: str) -> dict[str, Any]:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            config = compose("config", [*overrides])
        return OmegaConf.to_container(config, resolve=True)

    return made


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("group,name", CHOICES)
def test_every_choice_composes_and_builds_offline(composed, group, name, profile):
    cfg = composed(
        f"{group}=[{name}]" if group == "scorer" else f"{group}={name}", f"profile={profile}", *NEEDED.get(name, ())
    )
    build.check(Settings, cfg)
    for node in cfg[group].values() if group == "scorer" else [cfg[group]]:
        node = {key: value for key, value in node.items() if key != "grammar"}
        assert build.part(node, group, (), PROTOCOLS[group])


@pytest.mark.parametrize("name", [path.stem for path in sorted((CONF / "tracking").glob("*.yaml"))])
def test_every_tracking_composes_and_fits_the_schema(composed, name):
    build.check(Settings, composed(f"tracking={name}"))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_and_every_job_of_it_builds_offline(composed, name, profile):
    own = yaml.safe_load((CONF / "experiment" / f"{name}.yaml").read_text())
    swept = own.get("hydra", {}).get("sweeper", {}).get("params", {})
    for values in product(*(str(text).split(",") for text in swept.values())):
        jobs = [f"{key}={value.strip()}" for key, value in zip(swept, values, strict=True)]
        experiment = check(composed(f"experiment={name}", f"profile={profile}", *jobs))
        assert experiment.samples and experiment.parts.scorers


def test_profiles_are_whole_and_those_that_tests_use(composed):
    nodes = {name: composed(f"profile={name}")["profile"]["radabench"] for name in PROFILES}
    assert {name: as_switches(node) for name, node in nodes.items()} == {"code": CODE, "paper": PAPER}
    assert all(set(node) == set(vars(PAPER)) for node in nodes.values())


@each(CONF.rglob("*.yaml"))
def test_every_yaml_is_short_and_says_what_it_is(path):
    text = path.read_text()
    assert path.name == "config.yaml" or len(text.splitlines()) <= 40
    assert re.match(r"(# @package \S+\n)?# \S", text)


def targets(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        yield from (str(value) for key, value in node.items() if key == "_target_")
        node = list(node.values())
    for inner in node if isinstance(node, list) else ():
        yield from targets(inner)


def imports(path: Path) -> set[str]:
    """Modules that a file imports, wherever it does; ``from a import b`` counts as a and a.b."""
    found: set[str] = set()
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


# Commands of their own, and what users and tests name in place of a choice.
ALONE = {
    "components.models.scripted": "a model for tests and demonstrations, given in code",
    "components.models.simulated.serve": "a command",
    "components.datasets.radabench_mini.build": "the script that makes the shipped records",
}


def test_every_component_is_targeted_by_a_yaml_or_shared():
    named = {
        target.rpartition(".")[0]
        for path in CONF.rglob("*.yaml")
        for target in targets(yaml.safe_load(path.read_text()))
    }
    modules = {module(path): path for path in CODE_FILES if module(path).startswith("components.")}
    reached, rest = set(), {name for name in named if name in modules} | {"components.protocols", *ALONE}
    while rest:
        reached |= rest
        rest = {name for one in rest for name in imports(modules[one]) if name in modules} - reached
    runners = {name for path in CODE_FILES if module(path).startswith("runner") for name in imports(path)}
    assert set(modules) - reached - runners == set()
    assert set(ALONE) <= set(modules) and not set(ALONE) & named


# Nouns, verbs and tables without behaviour of their own; what they hold is tested where it is used.
UNMIRRORED = {
    "components/errors.py", "components/types.py", "components/protocols.py", "components/radiology/switches.py",
    "components/radiology/tasks.py", "components/models/simulated/rates.py",
    "components/datasets/radabench_mini/build.py",  # tests/components/datasets/test_radabench_mini.py
}  # fmt: skip


@each(path for path in CODE_FILES if module(path).startswith("components.") and name_of(path) not in UNMIRRORED)
def test_every_component_is_mirrored_by_a_test(path):
    stem, folder = (
        (path.parent.name if path.stem == "__init__" else path.stem),
        ROOT / "tests" / path.relative_to(ROOT).parent,
    )
    assert any(place.is_file() for place in (folder / f"test_{stem}.py", folder.parent / f"test_{stem}.py"))


SHOWN = {
    "problem": Problem("p", "Which?", {"A": "one", "B": "two"}, "A man of 40."), "question": "Which?", "context": "A man.",
    "held": '{"$Image$":"x"}', "memory": '{"$Image$":"x"}', "plan": list(PLANNING_NAMES), "instructions": "Call tools.",
    "cards": ['{"Name":"TOOL1"}'], "tools": {"TOOL1": None}, "refusal_fields": REFUSAL_FIELDS,
}  # fmt: skip


@each(PROMPTS.rglob("*.jinja"))
def test_every_prompt_renders(path):
    text = path.read_text()
    needed = jinja2.meta.find_undeclared_variables(jinja2.Environment().parse(text))
    assert needed <= set(SHOWN), "say in SHOWN what this prompt is given"
    message = load(path.parent.name).user(path.stem, (Image("data:x"),), **{name: SHOWN[name] for name in needed})
    assert message.text.strip() and "{{" not in message.text and "{%" not in message.text
    assert message.source == f"{path.parent.name}/{path.name}"


# Library -> the files that may import it (design 3).
KEPT = {
    "hydra": (
        "runner/__main__.py",
        "runner/config/*",
        "runner/experiment.py",
        "runner/sweep/*",
        "runner/completion.py",
    ),
    "mlflow": ("runner/tracking/*", "runner/ui.py"),
    "litellm": ("components/models/litellm_chat.py",),
    "aiohttp": ("components/models/openai_chat.py", "components/models/simulated/serve.py"),
    "jinja2": ("components/prompts/__init__.py",),
    "unittest.mock": (),
}


@pytest.mark.parametrize("library", KEPT)
def test_a_library_is_known_to_its_own_files_only(library):
    names = (library, "omegaconf") if library == "hydra" else (library,)
    users = [name_of(p) for p in CODE_FILES if any(i == n or i.startswith(f"{n}.") for i in imports(p) for n in names)]
    assert [user for user in users if not any(fnmatch(user, allowed) for allowed in KEPT[library])] == []


def test_components_do_not_import_the_runner_nor_rooms_each_other():
    rooms = {p.name for p in (ROOT / "components").iterdir() if p.is_dir()} - {"prompts", "radiology", "__pycache__"}
    for path in (p for p in CODE_FILES if module(p).startswith("components.")):
        assert not [name for name in imports(path) if name.split(".")[0] == "runner"], path
        others = rooms - {module(path).split(".")[1]}
        room = module(path).split(".")[1]
        reach = {name.split(".")[1] for name in imports(path) if name.startswith("components.") and name.count(".")}
        assert room not in rooms or not reach & others, path


def test_import_contracts_hold():
    pytest.importorskip("importlinter", reason="comes with the extra dev; make check runs it too")
    line = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-500:]


PACKAGING = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


def test_whatever_lies_beside_the_code_is_in_the_package():
    include = PACKAGING["packages"]["find"]["include"]
    patterns = PACKAGING["package-data"]["*"]
    assert PACKAGING["packages"]["find"]["namespaces"]
    for top in ("components", "runner", "conf"):
        for path in (p for p in (ROOT / top).rglob("*") if p.is_file() and "__pycache__" not in p.parts):
            package = ".".join(path.relative_to(ROOT).parent.parts)
            assert any(fnmatch(package, one) for one in include), path
            assert path.suffix == ".py" or any(fnmatch(path.name, one) for one in patterns), path
