"""A perfect model solves all tasks of the mini by the tools alone, in every grammar; mistakes are of the named kinds."""

from collections import Counter

from components.agents.react import ReAct
from components.conditions.failing import Unavailable
from components.core.plain import Accept
from components.fhir.grading import grade
from components.grammars.bracket_json import BracketJson
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from runner.episode.episode import solve_sample
from runner.episode.shared import Parts
from tests.components.fhir.fernhill import samples, toolset
from tests.parts import Intact, door
from tests.simulated import simulated
from tests.table import each_row

PERFECT = {"planning_slip_rate": 0.0, "wrong_tool_rate": 0.0, "malformed_rate": 0.0}


async def errors_of(grammar, names, **settings):
    """How often the model made each error, strictly."""
    model = simulated(**{**PERFECT, **settings})
    model.study(samples().values())
    parts, found = Parts(ReAct(), Accept(), grammar, toolset(), Intact(), {}), Counter()
    for name in names:
        trajectory = await solve_sample(parts, door(model), samples()[name], 0)
        found[grade(samples()[name].target, trajectory, strict=True).error] += 1
    return found


@each_row("grammar, step", [(NativeTools(), 1), (BracketJson(), 3), (XmlCall(), 3)])
async def test_a_perfect_model_is_always_right(grammar, step):
    names = [*samples()][::step]
    assert await errors_of(grammar, names, competence=1.0) == {"": len(names)}


async def test_mistakes_are_values_writes_and_patients():
    names = [name for name in samples() if samples()[name].target["requests"]]
    found = Counter()
    for seed in range(4):
        found += await errors_of(NativeTools(), names, competence=0.0, seed=seed)
    assert {"wrong_patient", "missing_write", "wrong_value"} <= set(found), found


async def test_without_a_result_it_knows_no_value():
    names = [name for name in samples() if name.startswith(("latest_glucose", "age"))]
    found = Counter()
    for name in names:
        model = simulated(**PERFECT, competence=1.0)
        model.study(samples().values())
        parts = Parts(ReAct(), Accept(), NativeTools(), toolset(), Unavailable(rate=1.0), {})
        found[grade(samples()[name].target, await solve_sample(parts, door(model), samples()[name], 0)).error] += 1
    assert found == {"wrong_answer": len(names)}
