"""Why a memory, candidates and refinements help the simulated core: by what its prompts say, never by the config."""

from collections.abc import Callable
from statistics import fmean
from typing import Any

import orjson
import pytest

from components.agents.critic import Critic
from components.agents.direct import Cot, Direct
from components.agents.react import ReAct
from components.agents.reflectool import ReflecTool
from components.agents.reflexion import Reflexion
from components.cab.simulated.answers import ClinicalKnowledge, is_full
from components.core.messages import Message
from components.core.task_text import task_text
from components.core.types import Demonstration
from components.grammars.bracket_json import BracketJson
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from components.models.simulated import Core
from components.prompts import load
from components.simulation.history import call_in
from components.verifiers.refine import Refine
from components.verifiers.select import Candidate, Select
from tests.components.cab.simulated.clinic import ALL, QUICK, STEADY, Clinic, noting, of, served_alike, toolset
from tests.simulated import core as made
from tests.slow import slow
from tests.table import each_row

pytestmark = slow

SEEDS = range(400)
SAMPLE = of("ehrsql", each=1)[0]
SOLVED = Demonstration(
    "Instruction:\nHow many patients are there?",
    'Action: SQLCoder[{"sql_database": "mimic_iv", "query": "How many patients are there?"}]\nObservation: [[\'9\']]',
)
LESSON = {"SQLCoder": ["hand over the whole question"]}


@pytest.fixture(scope="module")
def core():
    return made(ALL, competence=0.8)


def opening(shown=(), previous=()):
    """The first two messages of a real agent's prompts."""
    offer = toolset(*QUICK).open(SAMPLE)
    values = {"max_steps": 15, "demonstrations": shown, "formats": [], "previous": previous, "draft": "", "held": ""}
    system = load("reflectool").system("system", instructions=BracketJson().instructions(offer), **values)
    task = load("reflectool").user("problem", problem=SAMPLE.problem, task=task_text(SAMPLE.problem), **values)
    return [system, task]


def asking(name: str, **values: Any) -> list[Message]:
    """A verifier's question after the first two messages."""
    system, task = opening()
    return [system, Message("user", f"{task.text}\n\n{load('verify').render(name, **values)}")]


def rate(core: Core, messages: list[Message], holds: Callable[[str], bool]) -> float:
    return fmean(holds(core.reply(messages, (), seed).message.text) for seed in SEEDS)


def in_full(text: str) -> bool:
    found = call_in(text)
    return found is not None and is_full(ClinicalKnowledge(SAMPLE), found)


def test_a_solved_task_in_the_prompt_provides_the_right_call_only_through_its_text(core):
    with_example, without = opening([SOLVED]), opening()
    emptied = [Message("system", with_example[0].text.partition("[Example]")[0].strip()), with_example[1]]
    assert rate(core, with_example, in_full) > 0.8
    assert rate(core, without, in_full) < 0.45 and rate(core, emptied, in_full) < 0.45


def test_a_solved_task_that_shows_another_tool_does_not_help(core):
    other = Demonstration("Instruction:\nWhich?", 'Action: Medrag[{"query": "Which?"}]\nObservation: gout')
    assert rate(core, opening([other]), in_full) < 0.45


def test_an_earlier_trial_with_its_reflection_helps_as_much(core):
    trial = [('Finish[{"response": "3"}]', "3"), ('Reflection[{"response": "ask a tool"}]', "OK")]
    assert rate(core, opening(previous=[trial]), in_full) > 0.8


FULL = f'SQLCoder[{{"sql_database":"mimic_iv","query":{orjson.dumps(SAMPLE.problem.question).decode()}}}]'
FEW = 'SQLCoder[{"sql_database":"mimic_iv","query":"What was the"}]'


def candidates(*texts: str) -> list[Any]:
    return [Candidate(None, text, "[['1']]") for text in texts]


def test_lessons_improve_the_choice_among_candidates_only_through_their_text(core):
    shown = candidates(FEW, 'Finish[{"response":"12"}]', FULL)
    seen = {n: rate(core, asking("select", guide=g, candidates=shown), in_full) for n, g in (("", {}), ("g", LESSON))}
    assert seen[""] == pytest.approx(0.6, abs=0.08) and seen["g"] == pytest.approx(0.9, abs=0.06)
    emptied = rate(core, asking("select", guide={"SQLCoder": ()}, candidates=shown), in_full)
    assert emptied == pytest.approx(0.6, abs=0.08)


def test_lessons_improve_refinement_only_through_their_text(core):
    def changed(guide, text):
        return rate(core, asking("refine", guide=guide, versions=[(text, "null")]), lambda said: text not in said)

    assert changed({}, FEW) == pytest.approx(0.45, abs=0.08) and changed(LESSON, FEW) > 0.78
    assert changed({"SQLCoder": []}, FEW) == pytest.approx(0.45, abs=0.08)
    assert changed({}, FULL) == changed(LESSON, FULL) == 0  # so a refinement ends there


def test_a_good_proposal_is_damaged_when_it_is_rewritten_too_often(core):
    def kept(*earlier):
        versions = [*((text, "null") for text in earlier), (FULL, "[['147']]")]
        return rate(core, asking("refine", guide={}, versions=versions), in_full)

    assert kept(FEW) == 1 and kept(FEW, FEW + " ") == pytest.approx(0.5, abs=0.08)


TASKS = ("medqa", "mmlu", "bioasq", "pubmedqa", "medcalc", "ehrsql", "mimic_iii", "eicu")


async def mean_score(samples, **changes) -> float:
    return fmean(value for _, value in await Clinic(**changes).play(samples))


async def test_memory_selection_and_refinement_help_in_real_episodes(tmp_path):
    samples = of(*TASKS, each=12)
    clinic = Clinic()
    memory = await clinic.learn(of(*TASKS, split="train", each=3), tmp_path)
    parts = memory.tasks.values()
    assert all(part.items for part in parts) and any(part.lessons.get("SQLCoder") for part in parts)
    plain = await mean_score(samples)
    assert await mean_score(samples, memory=memory) > plain + 0.05
    select = {n: await mean_score(samples, verifier=Select(n=n)) for n in (1, 2, 4)}
    assert select[1] == plain and select[4] > select[2] > plain + 0.03
    refine = await Clinic(verifier=Refine(n=2)).play(samples)
    assert fmean(value for _, value in refine) > plain + 0.03
    verdicts = [step.verdict for one, _ in refine for step in one.steps if step.verdict]
    assert fmean("nothing changed" in verdict.why for verdict in verdicts) > 0.6


def everything(each=1):
    return [one for n, one in enumerate(ALL) if n % 16 < each]


@each_row(
    "agent,grammar",
    [
        (ReflecTool(), BracketJson()),
        (ReflecTool(), NativeTools()),
        (ReflecTool(), XmlCall()),
        (ReAct(), NativeTools()),
        (Critic(), BracketJson()),
        (Reflexion(), BracketJson()),
        (Direct(), BracketJson()),
        (Cot(), BracketJson()),
    ],
)
async def test_a_perfect_core_is_right_on_every_form_and_an_ignorant_one_is_not(agent, grammar):
    clinic = Clinic(agent, grammar=grammar, rates={**STEADY, "competence": 1.0})
    assert [value for _, value in await clinic.play(everything())] == [1.0] * 18
    if isinstance(agent, Direct | Cot):
        clinic = Clinic(agent, grammar=grammar, rates={**STEADY, "competence": 0.0})
        assert fmean(value for _, value in await clinic.play(everything())) < 0.15


@pytest.mark.parametrize("grammar", [NativeTools(), XmlCall()])
async def test_selection_helps_in_every_grammar(grammar):
    samples = of("medqa", "mmlu", "bioasq", "ehrsql")
    one, four = [await mean_score(samples, grammar=grammar, verifier=Select(n=n)) for n in (1, 4)]
    assert four > one + 0.05


async def test_refinement_ends_at_once_in_tags_when_nothing_is_wrong():
    clinic = Clinic(grammar=XmlCall(), verifier=Refine(n=3), rates={**STEADY, "competence": 1.0})
    (one, _), *_ = await clinic.play(of("medcalc", each=1))
    assert all("could not be read" not in str(step.verdict) for step in one.steps)


async def test_the_served_core_gives_the_same_replies():
    asked, model = noting()
    clinic = Clinic(agent=Reflexion(), verifier=Select(n=2), rates={})
    await clinic.play(of("slake", "ehrsql", "longhalt", each=2), model)
    await Clinic(agent=ReflecTool(), grammar=NativeTools(), rates={}).play(of("medcalc", each=2), model)
    await served_alike(asked)
    assert len(asked) > 30
