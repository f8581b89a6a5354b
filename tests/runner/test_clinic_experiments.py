"""Experiments on consultations: what they vary, and that their parts fit together."""

import pytest
from hydra import compose
from omegaconf import OmegaConf

from components.clinic.biased import NONE
from components.prompts import load
from tests.composing import build, composing
from tests.table import each_row


@pytest.fixture(scope="module")
def hydra():
    with composing():
        yield


def built(*words):
    """The experiment of a command."""
    return build(OmegaConf.to_container(compose("config", list(words)), resolve=True))


def params(name):
    """The values of a sweep: key -> list."""
    cfg = compose("config", [f"experiment=clinic/{name}"], return_hydra_config=True)
    return {key: str(value).split(",") for key, value in cfg.hydra.sweeper.params.items()}


def test_biases_are_varied_around_none_and_by_known_names(hydra):
    texts, varied = load("clinic").data("biases"), params("biases")
    for who in ("patient", "doctor"):
        first, *others = varied[f"condition.{who}"]
        assert first == NONE and others and set(others) <= set(texts[who])


@each_row("name, agent", [("biases", "react"), ("biases", "critic"), ("turns", "react")])
def test_the_parts_of_an_experiment_fit_together(hydra, name, agent):
    experiment = built(f"experiment=clinic/{name}", f"agent={agent}")
    assert len(experiment.samples) == 18 and "clinic" in experiment.prompts
    assert [type(one).__name__ for one in experiment.parts.scorers.values()] == ["Diagnosis"]


def test_the_moderator_is_a_judge_that_is_not_under_test(hydra):
    words = ["dataset=clinic_mini", "agent=react", "scorer=[clinic,judged]", "rubrics@scorer.judged.rubric=moderator"]
    judge = ("+model@models.judge=simulated", "+models.judge.name=other")
    names = built(*words, *judge).parts.scorers["judged"].traits.kinds
    assert set(names) == {"judged/moderator/verdict/same", "judged/moderator/verdict/other"}
