"""The real agents on the project's own questions over health records: everything that helps them is in their prompts."""

import asyncio
from itertools import pairwise
from random import Random
from statistics import fmean

import aiohttp
import orjson
import pytest

from components.agents.direct import Cot, Direct
from components.agents.react import ReAct
from components.ehr.agent import EhrAgent
from components.grammars.bracket_json import BracketJson, BracketText
from components.grammars.code_block import CodeBlock
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from runner.serve import from_arguments
from tests.components.cab.simulated.clinic import noting
from tests.components.ehr.simulated.chartroom import (
    ABLATIONS,
    BASELINES,
    EHRAGENT,
    PERFECT,
    REACT,
    ChartRoom,
    each,
    questions,
)
from tests.slow import slow
from tests.table import each_row

LIMIT = 60


@slow
@each_row("name", ["ehragent", "no_code", "self_debugging", "din_sql", "react_native"])
async def test_a_core_that_never_errs_is_right(name):
    agent, grammar = BASELINES[name]
    assert {value for _, value in await ChartRoom(agent, grammar, rates=PERFECT).play(each(80))} == {1.0}


async def test_it_refuses_unanswerable_questions_where_the_prompt_allows_it():
    gaps = [one for one in questions("test", True) if one.target["answer"] is None][:3]
    found = await ChartRoom(rates=PERFECT, known=gaps).play(gaps)
    assert {one.stop for one, _ in found} == {"refused"}


FUNCTIONS, SOLUTIONS = {'{% include "_shared/ehr_functions.jinja" %}': ""}, {"{{ shot.solution }}": ""}
# What the prompt forgets, how the episode ends then.
FORGOTTEN = {
    "the functions and what shows them": ("ehragent", "problem", {**FUNCTIONS, **SOLUTIONS}),
    "the form of a cell": ("code_block", "instructions", {"between ```python and ```": ""}),
}


@pytest.mark.parametrize("what", FORGOTTEN)
async def test_it_writes_no_cell_when_the_prompt_omits_the_form(forgetful, what):
    name, template, changes = FORGOTTEN[what]
    folder = forgetful(name, template, changes)
    agent = EhrAgent(prompts=folder) if name == "ehragent" else EHRAGENT
    grammar = CodeBlock(prompts=folder) if name == "code_block" else CodeBlock()
    (one, value), *_ = await ChartRoom(agent, grammar, rates=PERFECT).play(each(200))
    assert (
        value == 0.0
        and one.failure == "step_limit"
        and not any(o.call for s in one.steps for o in s.observed if not o.control)
    )


@slow
@pytest.mark.parametrize("changes", [FUNCTIONS, SOLUTIONS])
async def test_either_text_that_names_functions_suffices_and_only_named_ones_are_called(forgetful, changes):
    agent = EhrAgent(prompts=forgetful("ehragent", "problem", changes))
    found = await ChartRoom(agent, rates=PERFECT).play(each(80))
    assert {value for _, value in found} == {1.0}


NOBODY = {"competence": 0.0, "malformed_rate": 0.0}


@slow
@each_row("name", ["ehragent", "no_code", "self_debugging", "din_sql", "cot_plan"])
async def test_a_core_that_knows_nothing_is_wrong(name):
    agent, grammar = BASELINES[name]
    assert fmean(value for _, value in await ChartRoom(agent, grammar, rates=NOBODY).play(each(100))) == 0.0


@each_row("rate", ["malformed_rate", "wrong_tool_rate"])
async def test_every_rate_costs_the_agents_that_it_concerns(rate):
    for name in ["llm2sql", "cot_plan", "autogen"] if rate == "malformed_rate" else ["chameleon"]:
        agent, grammar = BASELINES[name]
        found = await ChartRoom(agent, grammar, rates={**PERFECT, rate: 1.0}).play(each(100))
        assert fmean(value for _, value in found) == 0.0


async def test_without_the_form_of_an_action_it_takes_none(forgetful):
    grammar = BracketText(prompts=forgetful("bracket_text", "instructions", {"Finish[": "..."}))
    agent = ReAct(**{**REACT, "shots": 0})  # solved questions show the form too
    (one, value), *_ = await ChartRoom(agent, grammar, rates=PERFECT).play(each(200))
    assert value == 0.0 and one.failure == "step_limit"


@slow
async def test_the_served_core_gives_the_same_replies():
    asked, model = noting()
    await ChartRoom().play(each(60), model)
    await ChartRoom(*BASELINES["react_native"]).play(each(60), model)
    server, _, _ = from_arguments(["dataset=ehr_mini", "--port", "0"])
    url = await server.start()
    async with aiohttp.ClientSession() as session:
        for request, completion in asked:
            body = {"messages": [orjson.loads(m.wire) for m in request.messages], "seed": request.seed}
            body |= {"tools": [orjson.loads(t.wire) for t in request.tools]} if request.tools else {}
            async with session.post(f"{url}/chat/completions", json=body) as got:
                assert (await got.json())["choices"][0]["message"] == orjson.loads(completion.message.wire)
    await server.stop()
    assert len(asked) > 15


@slow
@each_row("name", BASELINES)
async def test_a_core_that_never_errs_is_right_on_everything_with_every_agent(name):
    agent, grammar = BASELINES[name]
    found = await ChartRoom(agent, grammar, rates=PERFECT).play(questions() if name == "ehragent" else each(3))
    assert [one.answer for one, value in found if value < 1.0] == []


@slow
@each_row("agent,grammar", [(ReAct(), NativeTools()), (ReAct(), BracketJson()), (ReAct(), XmlCall()), (Direct(), BracketJson()), (Cot(), BracketJson())])  # fmt: skip
async def test_one_tool_that_runs_code_serves_every_grammar_and_no_tool_is_needed_to_guess(agent, grammar):
    room = ChartRoom(agent, grammar, rates=PERFECT, python=True)
    assert {value for _, value in await room.play(each(20))} == {1.0}


async def mean(agent, grammar=None, memory=None) -> float:
    """Over three virtual models, two at a time."""
    samples = each(len(questions()) // LIMIT)[:LIMIT]
    rooms = [ChartRoom(agent, grammar or CodeBlock(), memory=memory, seed=seed) for seed in range(3)]
    return fmean(value for found in await asyncio.gather(*(room.play(samples) for room in rooms)) for _, value in found)


@slow
@each_row("name", ["ehragent", "no_code", "autogen", "self_debugging", "ehr_react", "din_sql"])
async def test_scores_rise_with_competence_from_nothing_to_all(name):
    agent, grammar = BASELINES[name]
    rooms = [ChartRoom(agent, grammar, rates={**PERFECT, "competence": one}) for one in (0.0, 0.6, 0.85, 0.95, 1.0)]
    found = [fmean(value for _, value in await room.play(each(4))) for room in rooms]
    assert found[0] <= 0.04 and found[-1] == 1.0, found
    assert all(later > one - 0.05 for one, later in pairwise(found)) and found[3] > found[1], found


@slow
async def test_every_part_of_ehragent_helps_and_repaired_code_beats_an_open_plan():
    training = Random(0).sample(list(questions("train")), 40)
    memory = await ChartRoom().learn(training)
    actions = await ChartRoom(ABLATIONS["code"], BracketText()).learn(training)
    whole = await mean(EHRAGENT, memory=memory)
    less = {name: await mean(agent, memory=memory) for name, agent in ABLATIONS.items() if name != "code"}
    less["code"] = await mean(ABLATIONS["code"], BracketText(), actions)
    others = {name: await mean(*BASELINES[name]) for name in ("self_debugging", "autogen", "cot_plan")}
    found = {"ehragent": whole, **less, **others}
    assert all(value < whole - 0.04 for value in (*less.values(), *others.values())), found
    assert others["cot_plan"] < min(others["self_debugging"], others["autogen"]) - 0.04, found
