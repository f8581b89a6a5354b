"""Model choices named in the papers, and the experiments that sweep them."""

import re
from datetime import date
from functools import reduce
from operator import getitem

import pytest
import yaml
from hydra import compose
from omegaconf import OmegaConf

from components.core.errors import ConfigError
from components.models.endpoints import Retired
from components.models.gateway import Gateway
from components.models.simulated import Simulated
from components.text.structured import read_yaml
from runner.config import build
from runner.config.catalogue import CONF, Catalogue
from runner.results.publications.paper import load
from tests.composing import composing
from tests.slow import slow
from tests.table import each_row

KNOWN = list(Catalogue().choices("model"))
PRESETS = {name: read_yaml(CONF / "model" / f"{name}.yaml") for name in KNOWN if "/" in name}
SWEEPS = sorted(
    path.relative_to(CONF / "experiment").with_suffix("").as_posix() for path in CONF.glob("experiment/*/models*.yaml")
)
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")
BACKBONES = {  # published name -> the choice that has it
    "reflectool": {
        "MedLlama3-8B": "vllm/medllama3-8b", "Qwen2-7B": "vllm/qwen2-7b-instruct",
        "Llama3-8B": "vllm/llama-3-8b-instruct", "Llama3.1-8B": "vllm/llama-3.1-8b-instruct",
        "Qwen2-72B-GPTQ4": "vllm/qwen2-72b-instruct-gptq-int4",
        "Llama3.1-70B-GPTQ4": "vllm/llama-3.1-70b-instruct-gptq-int4", "GPT-3.5-turbo": "openai/gpt-3.5-turbo-0125",
        "MiniCPM-V-2.6": "vllm/minicpm-v-2.6", "InternVL-Chat-V1.5": "vllm/internvl-chat-v1.5",
        "HuatuoGPT-Vision-7B": "vllm/huatuogpt-vision-7b", "HuatuoGPT-Vision-34B": "vllm/huatuogpt-vision-34b",
        "GPT-4o-mini": "openai/gpt-4o-mini-2024-07-18",
    },
    "radabench": {
        "Claude-3.7-Sonnet": "anthropic/claude-3-7-sonnet-20250219", "GPT-4o": "openai/gpt-4o-2024-08-06",
        "Claude-3.5-Sonnet": "anthropic/claude-3-5-sonnet-20241022", "Qwen-2.5-72B": "vllm/qwen2.5-72b-instruct",
        "Gemini-1.5-Pro": "gemini/gemini-1.5-pro-002",
    },
    "medagents": {
        "Flan-PaLM": "gemini/flan-palm-540b", "GPT-3.5": "openai/gpt-3.5-turbo-16k-0613", "GPT-4": "openai/gpt-4-0613",
    },
    "ehragent": {"GPT-4": "openai/gpt-4-0613"},
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def hydra():
    with composing():
        yield


def listed(experiment):
    """The models that an experiment sweeps."""
    cfg = compose("config", [f"experiment={experiment}"], return_hydra_config=True)
    return re.findall(r"[^\s,]+", cfg.hydra.sweeper.params.model)


def built(name):
    """The model of a choice, with the end of its service aside, and that end."""
    alone = OmegaConf.to_container(compose(f"model/{name}"), resolve=True)
    node = reduce(getitem, ("model", *name.split("/")[:-1]), alone)
    node.pop("retired", None)
    return build.construct(node, "model"), end_of(name)


def end_of(name):
    """The end of its service that a choice names."""
    retired = PRESETS[name].get("retired")
    return retired and build.check(Retired, retired)


@pytest.fixture
def keys(monkeypatch):
    for key in KEYS:
        monkeypatch.setenv(key, "a key")


@slow
def test_every_preset_is_a_complete_model_config(keys):
    for name in PRESETS:
        model, retired = built(name)
        assert isinstance(model, Simulated if name.startswith("simulated/") else Gateway), name
        assert model.name == PRESETS[name]["name"]
        if isinstance(model, Gateway) and (retired is None or retired.offered):
            assert model.provider == name.partition("/")[0] and model.traits.context_tokens, name
            assert model.traits.vision is PRESETS[name]["takes_images"], name
            assert model.provider == "vllm" or model.price_row.source == "model.price", name


@each_row("node", [pytest.param(node, id=name) for name, node in PRESETS.items() if "retired" in node])
def test_suggested_replacement_exists_and_is_not_retired_earlier(node):
    end = Retired(**node["retired"])
    assert end.instead in KNOWN
    after = (PRESETS.get(end.instead) or {}).get("retired")
    assert after is None or after["since"] > (end.since or "2026"), end.instead


def test_retired_model_is_refused_and_announced_one_accepted_until_then():
    day, refused = date(2026, 11, 23), set()
    for name in PRESETS:
        if (retired := end_of(name)) is not None:
            try:
                retired.refuse(name, day)
            except ConfigError:
                refused.add(name)
    gone = {name for name in PRESETS if name.startswith(("anthropic/", "gemini/", "openai/"))}
    assert gone - refused == {"openai/gpt-4o-2024-08-06", "openai/gpt-4o-mini-2024-07-18"}


@each_row("paper", BACKBONES)
def test_a_published_backbone_is_found_by_the_name_of_its_choice(paper):
    published = load(CONF / "papers", paper)
    for backbone, choice in BACKBONES[paper].items():
        matching = [one for one in published.backbones if published.is_backbone(one, PRESETS[choice]["name"])]
        assert matching == [backbone], choice
    assert published.backbones.keys() <= BACKBONES[paper].keys()


@slow
@each_row("experiment", SWEEPS)
def test_experiments_over_models_list_choices_and_compose_with_them(experiment):
    names = listed(experiment)
    assert len(names) > 1 and set(names) <= set(KNOWN)
    cfg = compose("config", [f"experiment={experiment}", f"model={names[-1]}"])
    assert cfg.model.name == PRESETS[names[-1]]["name"]
    assert cfg.compare.figures and not cfg.name.endswith("published")


@slow
def test_simulated_models_are_swept_by_default_and_published_on_demand():
    folders = {"radabench", "reflectool", "medagents", "ehragent"}
    assert {name.partition("/")[0] for name in SWEEPS if name.endswith("/models")} == folders
    assert all(name.startswith("simulated/") for folder in folders for name in listed(f"{folder}/models"))
    assert len(listed("radabench/models_published")) == 4 and len(listed("reflectool/models_published")) == 11


def test_every_available_published_model_is_in_its_sweep():
    day = date(2026, 11, 23).isoformat()
    for paper in ("radabench", "reflectool"):
        there = {
            name for name in BACKBONES[paper].values()
            if (end := PRESETS[name].get("retired")) is None or end.get("since", "") > day
        }  # fmt: skip
        assert there <= set(listed(f"{paper}/models_published"))


def test_every_condition_is_in_a_figure():
    cfg = yaml.safe_load((CONF / "experiment" / "radabench" / "models.yaml").read_text())
    swept = set(re.findall(r"\w+", cfg["hydra"]["sweeper"]["params"]["condition"]))
    named = [one for figure in cfg["compare"]["figures"] for one in figure["where"]["condition"]]
    assert set(named) == swept


def test_every_preset_is_documented_under_its_request_name():
    text = (CONF.parent / "docs" / "guides" / "models.md").read_text()
    missing = [
        name for name, node in PRESETS.items()
        if not name.startswith("simulated/") and f"| `{name}` | `{node['name']}` |" not in text
    ]  # fmt: skip
    assert not missing
