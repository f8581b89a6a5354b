import shutil
from pathlib import Path

import pytest

import components.prompts
from components.agents.react import ReAct
from components.building import Building, builds, built_tool_calls
from components.cab.simulated.answers import SPECIFICATION, code
from components.core.messages import Message
from components.grammars.bracket_json import BracketJson
from components.grammars.native_tools import NativeTools
from components.models.simulated import Simulated
from components.prompts import load
from components.prompts.recognition import rendered_from
from components.radiology.agent import Radagent
from components.radiology.builder import read_request
from components.radiology.conditions import InsufficientConfig1, InsufficientConfig2, InsufficientConfig3
from components.radiology.scorers.execution import Completion
from components.radiology.simulated.moves import missing_tool
from components.radiology.simulated.reading import Situation
from components.radiology.tasks import CATEGORIES, DD, DI
from components.simulation.draws import Draws, Rates
from tests.components.cab.simulated.clinic import STEADY, Clinic, of
from tests.components.radiology.simulated.conftest import SAMPLES
from tests.golden.vectors import PAPER
from tests.slow import slow

PROMPTS = Path(components.prompts.__file__).parent
BUILDS = Radagent(PAPER, build_tools="simulated")
CONDITIONS = (InsufficientConfig1, InsufficientConfig2, InsufficientConfig3)


class Misnaming(Simulated):
    """Requests a tool that was not withheld."""

    async def generate(self, request):
        done = await super().generate(request)
        if not rendered_from(request.messages[-1].text, "building/request"):
            return done
        named = read_request(done.message.text).category
        other = next(one for one in CATEGORIES if one not in (named, DD, DI))
        return done._replace(message=Message("assistant", done.message.text.replace(named, other)))


@slow
@pytest.mark.parametrize("condition", CONDITIONS)
async def test_every_insufficient_sample_is_completed_where_the_request_says_enough(perform, condition):
    for sample, one in zip(SAMPLES[:11], await perform(SAMPLES[:11], BUILDS, condition=condition(PAPER)), strict=True):
        assert [made["passed"] for made in builds(one)] == [True]
        score = Completion(PAPER).score(sample, one)[0]
        assert (one.stop, score.name, score.value) == ("answered", "completion/rate", 1.0), sample.problem.id


@pytest.mark.parametrize("condition", CONDITIONS)
async def test_none_is_completed_whose_request_names_the_wrong_category(perform, condition):
    trajectories = await perform(SAMPLES[:11], BUILDS, condition=condition(PAPER), kind=Misnaming)
    for sample, one in zip(SAMPLES[:11], trajectories, strict=True):
        assert [made["specified"] for made in builds(one)] == [False]
        assert one.stop == "refused" and Completion(PAPER).score(sample, one)[0].value == 0.0


@pytest.mark.parametrize("grammar", [NativeTools(), BracketJson()])
async def test_it_continues_in_every_grammar(perform, grammar):
    for one in await perform(SAMPLES[:11], BUILDS, grammar, InsufficientConfig1(PAPER)):
        assert one.stop == "answered" and builds(one)[0]["passed"]


def test_it_does_not_request_a_tool_unless_the_prompt_reports_the_refusal():
    assert missing_tool("Category: x", Situation(), SAMPLES[0], Rates(), Draws(0, ())) == "Some tool is missing."


def builder(*more):
    name = SPECIFICATION["name"]
    asked = (load("building").system("builder"), Message("user", f"Name: {name}\nWhat it does: x"))
    return (*asked, *more)


def test_it_writes_the_one_tool_it_knows_and_repairs_a_slip():
    assert "operator.mul" in code(builder(), Rates(), Draws(0, builder()))
    never = Rates(competence=0.0)
    assert "ast.Mult: operator.add" in code(builder(), never, Draws(0, builder()))
    messages = builder(Message("assistant", "x"), load("building").user("repair", reason="it gave 9"))
    assert "operator.mul" in code(messages, Rates(), Draws(0, messages))
    other = (builder()[0], Message("user", "Name: Bmi\nWhat it does: x"))
    assert code(other, Rates(), Draws(0, other)) == "I cannot write this."


def test_a_slip_requests_another_category_and_only_named_details_are_mentioned():
    sample = SAMPLES[0]
    situation = Situation()
    asked = "- category: Anatomy Classifier\nCategory: x"
    right = missing_tool(f"{asked}\nModality: y", situation, sample, Rates(), Draws(0, ()))
    assert right.splitlines() == ["Category: Anatomy Classifier", f"Modality: {sample.metadata['record']['Modality']}"]
    wrong = missing_tool(asked, situation, sample, Rates(planning_slip=1.0), Draws(0, ()))
    assert read_request(wrong).category not in (None, "Anatomy Classifier")


@slow
@pytest.mark.parametrize("offered", [True, False])
async def test_a_withheld_calculator_is_built_and_asked_where_the_prompt_offers_to(offered, tmp_path):
    shutil.copytree(PROMPTS / "building", tmp_path / "building")
    if not offered:
        (tmp_path / "building" / "builder.jinja").write_text("Say something.")
    building = Building(prompts=str(tmp_path / "building"), seconds=2.0)
    agent, steady = ReAct(build_tools="code", building=building), {"competence": 1.0, **STEADY}
    clinic = Clinic(agent, grammar=NativeTools(), tools=("Medrag",), rates=steady)
    trajectories = [trajectory for trajectory, _ in await clinic.play(of("medcalc", each=6))]
    asked = [one for trajectory in trajectories for one in builds(trajectory)]
    assert asked and all(one["passed"] is offered for one in asked)
    assert any(built_tool_calls(trajectory) for trajectory in trajectories) is offered
