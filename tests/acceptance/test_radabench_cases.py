"""Both case studies of the article (a diagnosis with the bound tool, and a refusal) as scripted replays.

Source: Zheng et al. 2024, arXiv 2412.09529: tools and scores are from the article, every reply is reworded.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from components.core.messages import Request
from components.core.tools import Offer
from components.core.types import Sample, Score, Trajectory
from components.models.scripted import Scripted
from runner.episode.budget import Budget, BudgetPool
from runner.episode.door import Door
from runner.episode.episode import run_episode
from runner.episode.shared import Parts
from runner.storage.journal import Journal
from tests.acceptance.test_radabench import parts, samples

PROFILES = ("code", "paper")
DIAGNOSIS = "The film fits the finding that the memory names best; nothing on it speaks for another disease."


def call(tag: str, purpose: str, tool: str) -> str:
    return f"<{tag}><Purpose>{purpose}</Purpose><Tool>{tool}</Tool><Input>[$Image$]</Input></{tag}>"


def plan(*names: str) -> str:
    return "Known Info: []\nTool Chain: [" + " -> ".join(f"*{name}*" for name in names) + "]"


def sample_of(profile: str, anatomy: str, modality: str, chain: str) -> Sample:
    place = {"anatomy": anatomy, "modality": modality}
    return next(s for s in samples(profile) if place.items() <= s.strata.items() and s.metadata["chain"] == chain)


def tool_of(offer: Offer, category: str, bound: bool = False) -> str:
    """The name under which the tool is offered: numbers are shuffled in profile paper."""
    specs = [tool.spec for tool in offer.tools.values()]
    record = offer.state.record if bound else {"Anatomy": None, "Modality": None}  # type: ignore[attr-defined]
    wanted = (category, record["Anatomy"], record["Modality"])
    return next(s.name for s in specs if tuple(s.facts[k] for k in ("category", "anatomy", "modality")) == wanted)


class Script:
    """Replies in order; every reply is used once."""

    def __init__(self, *replies: str) -> None:
        self.left = list(replies)

    def __call__(self, request: Request) -> str:
        return self.left.pop(0)

    __qualname__ = "Script"


async def run_and_replay(
    house: Parts, sample: Sample, script: Callable[[Request], str], folder: Any
) -> tuple[Trajectory, Mapping[str, Score]]:
    """Run once with the script, then replay from the journal alone: both must be the same."""
    model, runs = Scripted(script), []
    for replay in (False, True):
        with Journal(folder) as journal:
            door = Door({"main": model}, journal, run_seed=0, budget_pool=BudgetPool(Budget()), replay=replay)
            runs.append(await run_episode(house, door, sample, 0))
    (first, scores), (second, again) = runs
    assert len(model.requests) == len(first.steps)
    assert [step.reply for step in first.steps] == [step.reply for step in second.steps]
    assert [[one.observation for one in step.observed] for step in first.steps] == [
        [one.observation for one in step.observed] for step in second.steps
    ]
    assert (first.stop, scores) == (second.stop, again)
    return first, {score.name: score for score in scores}


def results(trajectory: Trajectory) -> list[tuple[str, float]]:
    """Tool and score of every call."""
    calls = [one for step in trajectory.steps for one in step.observed if not one.control]
    return [(one.call.name, one.observation.data["score"]) for one in calls]


@pytest.mark.parametrize("profile", PROFILES)
async def test_diagnosis_with_the_tool_bound_to_anatomy_and_modality(profile, tmp_path):
    house, sample = parts(profile, "redundant_medium"), sample_of(profile, "Chest", "X-ray", "014")
    offer = house.open(sample, 0, 0)
    first, second = (tool_of(offer, category) for category in ("Anatomy Classifier", "Modality Classifier"))
    diagnoser = tool_of(offer, "Disease Diagnoser", bound=True)
    if profile == "code":
        assert (first, second, diagnoser) == ("TOOL1", "TOOL2", "TOOL13")
    script = Script(
        plan("Anatomy Classification Tool", "Modality Classification Tool", "Disease Diagnosis Tool"),
        call("Call", "Learn which part of the body the film shows.", first),
        call("Call", "Learn how the image was made.", second),
        call("EndCall", "Name the disease with the tool made for such films.", diagnoser),
        DIAGNOSIS,
    )
    trajectory, scores = await run_and_replay(house, sample, script, tmp_path)
    assert (trajectory.stop, trajectory.answer) == ("answered", DIAGNOSIS)
    assert results(trajectory) == [(first, pytest.approx(0.95)), (second, pytest.approx(0.95)), (diagnoser, 0.75)]
    seen = trajectory.steps[-2].observed[0].observation.data["outputs"]
    assert seen == {"$Disease$": sample.metadata["record"]["Disease"]}
    assert scores["execution/ecr"].value == scores["execution/thr"].value == 1.0
    assert scores["planning/levenshtein"].value == scores["planning/fdr"].value == 0.0


@pytest.mark.parametrize("profile", PROFILES)
async def test_refusal_when_no_tool_fits_the_patient(profile, tmp_path):
    house = parts(profile, "insufficient_config2")
    sample = sample_of(profile, "Head and Neck", "X-ray", "012")
    offer = house.open(sample, 0, 0)
    first, second = (tool_of(offer, category) for category in ("Anatomy Classifier", "Modality Classifier"))
    grounds = {
        "purpose": "There are segmentors, but none of them was made for a film of the head and neck.",
        "category": "Organ Segmentor",
        "anatomy": "Head and Neck",
        "modality": "X-ray",
        "ability": "SpecificToolMissing",
    }
    tags = "\n".join(f"<{name.capitalize()}>{value}</{name.capitalize()}>" for name, value in grounds.items())
    script = Script(
        plan("Anatomy Classification Tool", "Modality Classification Tool", "Organ Segmentation Tool"),
        call("Call", "See which region this is.", first),
        call("Call", "See which kind of image this is.", second),
        f"<NoCall>\n{tags}\n</NoCall>",
    )
    trajectory, scores = await run_and_replay(house, sample, script, tmp_path)
    assert trajectory.stop == "refused" and trajectory.answer is None and not script.left
    assert trajectory.refusal is not None and trajectory.refusal.grounds == grounds
    assert results(trajectory) == [(first, pytest.approx(0.95)), (second, pytest.approx(0.95))]
    assert {name: s.value for name, s in scores.items() if s.value is not None} == {
        "refusal/uar": 1.0,
        "refusal/ugr": 1.0,
    }


async def test_universal_tool_score_is_scaled_by_its_inputs(tmp_path):
    """The segmentor that the article builds: 0.80 times the 0.95 of anatomy and modality."""
    house, sample = parts("paper", "baseline"), sample_of("paper", "Head and Neck", "X-ray", "012")
    offer = house.open(sample, 0, 0)
    names = [tool_of(offer, c) for c in ("Anatomy Classifier", "Modality Classifier", "Organ Segmentor")]
    last = call("EndCall", "Outline the organ.", names[2]).replace("$Image$", "$Image$, $Anatomy$, $Modality$")
    script = Script(
        plan("Anatomy Classification Tool", "Modality Classification Tool", "Organ Segmentation Tool"),
        call("Call", "Which region?", names[0]), call("Call", "Which modality?", names[1]), last,
        "The organ is outlined in [Organ Mask].",
    )  # fmt: skip
    trajectory, _ = await run_and_replay(house, sample, script, tmp_path)
    assert results(trajectory)[-1] == (names[2], pytest.approx(0.76))
