"""What the simulated core takes for a failure is one, and nothing else: by what the real tools, grammars and prompts say."""

import orjson

from components.agents.react import ReAct
from components.core.messages import Message, ToolCall
from components.ehr.actions import PythonCell
from components.ehr.agent import EhrAgent, SelfDebugging
from components.ehr.simulated.mistakes import fault_in
from components.ehr.simulated.prompt import CODE_TOOL, done
from components.ehr.simulated.steps import FAILED, WORKED
from components.grammars.bracket_json import BracketJson, BracketText
from components.grammars.code_block import CodeBlock
from components.grammars.native_tools import NativeTools
from components.prompts import load
from components.sandbox.api import CellError
from tests.components.ehr.simulated.chartroom import SIX
from tests.slow import slow
from tests.table import each_row
from tests.wards import cell, run_agent

# Calls of each tool, in an order in which some work and all kinds of failures come up.
CALLS = [
    ("GetValue", "GENDER"), ("FilterDB", "GENDER=m"), ("LoadDB", "nothing"), ("LoadDB", ""), ("LoadDB", "patients"),
    ("GetValue", "X"), ("GetValue", "GENDER, sum"), ("GetValue", "GENDER, median"), ("GetValue", "GENDER"),
    ("GetValue", "DOD, list"), ("GetValue", ""), ("FilterDB", "X=1"), ("FilterDB", "GENDER"), ("FilterDB", "GENDER=x"),
    ("FilterDB", "SUBJECT_ID>x"), ("FilterDB", ""), ("FilterDB", "count(GENDER)>=x"), ("FilterDB", "SUBJECT_ID>99"),
    ("GetValue", "SUBJECT_ID, mean"), ("GetValue", "GENDER"), ("GetValue", "y" * 400 + ", mean"), ("LoadDB", "patients"),
    ("GetValue", "DOD, max"), ("GetValue", "DOD, mean"), ("SQLInterpreter", "select x from patients"),
    ("SQLInterpreter", "drop table patients"), ("SQLInterpreter", "select"), ("SQLInterpreter", "select gender from patients"),
    ("SQLInterpreter", "select 1 where 0"), ("Calendar", "yesterday"), ("Calendar", "+9999 year"), ("Calendar", "-1 year"),
    ("Calculate", "1 / 0"), ("Calculate", "one"), ("Calculate", ""), ("Calculate", "2 - 3"), ("LoadTable", "patients"),
]  # fmt: skip


def native(name, argument, **more):
    (parameter,) = next((tool.spec.parameters["properties"] for tool in SIX if tool.spec.name == name), ["name"])
    return Message("assistant", "", (ToolCall("c", name, orjson.dumps({parameter: argument, **more}).decode()),))


def raw(name, arguments):
    return Message("assistant", "", (ToolCall("c", name, arguments),))


ODD = [message for tool in SIX for message in (raw(tool.spec.name, "{}"), raw(tool.spec.name, '{"n": 1}'), native(tool.spec.name, 7), native(tool.spec.name, "x", y=1), raw(tool.spec.name, "{"), raw(tool.spec.name, "[]"))]  # fmt: skip
SCRIPTS = {
    "native": (NativeTools(), [*(native(*call) for call in CALLS), *ODD], "It is 1."),
    "line": (BracketText(), [f"Thought: x\nAction: {name}[{text}]" for name, text in CALLS], "Thought: x\nAction: Finish[1]"),
    "bracket": (BracketJson(), [f"Action: {name}{native(name, text).tool_calls[0].arguments.join('[]')}" for name, text in CALLS], 'Action: Finish[{"response": "1"}]'),
}  # fmt: skip


@each_row("form", SCRIPTS)
async def test_results_of_actions_are_distinguished_from_failures_of_every_kind(form):
    grammar, calls, end = SCRIPTS[form]
    one = await run_agent(ReAct(max_steps=99), [*calls, end], grammar, SIX)
    results = [(call.name, call.saw or "") for call in done(one.model.requests[-1].messages)]
    truth = [step.observed[0].error is None if step.observed else False for step in one.trajectory.steps[:-1]]
    assert len(results) == len(calls) == len(truth) and truth.count(True) >= 10 and truth.count(False) > 20
    wrong = [(name, saw) for (name, saw), sound in zip(results, truth, strict=True)
             if name in WORKED and bool(WORKED[name].match(saw)) != sound]  # fmt: skip
    assert wrong == []


CELLS = {
    "answer = 1 / 0": None,
    "answer = (": None,
    "x = 1": ("x", "answer"),
    "answer = LoadDB('PATIENTS')": ("PATIENTS", "patients"),
    "answer = GetValue(LoadDB('patients'), 'GENDER_no')": ("GENDER_no", "GENDER"),
    "answer = FilterDB(LoadDB('patients'), 'DOB_no>1')": ("DOB_no", "DOB"),
    "answer = SQLInterpreter('select gender_no from patients')": ("gender_no", "gender"),
    "answer = SQLInterpreter('select gender from patients_table')": ("patients_table", "patients"),
    "found = 1\nanswer = result": ("result", "found"),
    "x = LoadDB('patients)\nanswer = x": ("'patients", "'patients'"),
    'answer = SQLInterpreter("""select gender from patients where gender = \'m""")': ("'m", "'m'"),
    "raise KeyError('x')": None,
    "answer = FilterDB(LoadDB('patients'), 'GENDER=x')": None,
    "answer = GetValue(LoadDB('patients'), 'GENDER, sum')": None,
    "answer = 'Traces of it'": "sound",
    "answer = []": "sound",
}
AGENTS = {
    "the summary": EhrAgent(knowledge=False, debugger=False, max_steps=99),
    "the traceback": EhrAgent(knowledge=False, debugger=False, feedback="traceback", max_steps=99),
    "the review": SelfDebugging(max_steps=99),
}
NAMES = ["patients", "admissions", "gender", "subject_id", "dob"]


@slow
@each_row("form", AGENTS)
async def test_failed_cells_are_recognised_and_repaired_if_the_error_shows_how(form):
    one = await run_agent(AGENTS[form], [*map(cell, CELLS), "TERMINATE"])
    found = [call for call in done(one.model.requests[-1].messages) if call.name == CODE_TOOL]
    assert [call.arguments["cell"] for call in found] == [*CELLS]
    for call, repaired in zip(found, CELLS.values(), strict=True):
        assert bool(FAILED.match(call.saw)) == (repaired != "sound"), call
        fault = fault_in(call.arguments["cell"], call.saw, NAMES)
        assert (fault and (fault.wrong, fault.meant)) == (None if repaired == "sound" else repaired), call


@each_row("status", ["error", "timeout", "killed", "too_large", "no_answer"])
@each_row("raised", [None, CellError("E", "", "", None, "", ""), CellError("E", "k", "why", 2, "x", "")])
def test_every_status_of_a_cell_that_gave_no_value_is_a_failure(status, raised):
    template = "no_answer" if status == "no_answer" else "failed"
    assert FAILED.match(load("python_cell").render(template, status=status, raised=raised))


BROKEN = [raw("python", text) for text in ("{}", '{"x": 1}', '{"cell": ""}', '{"cell": 3}', "[]")]


@each_row("grammar", [NativeTools(), CodeBlock("function")])
async def test_calls_without_a_cell_are_failures_too(grammar):
    agent = ReAct(max_steps=99) if isinstance(grammar, NativeTools) else EhrAgent(knowledge=False, debugger=False)
    one = await run_agent(
        agent, [*BROKEN, "TERMINATE"], grammar, (PythonCell(),) if isinstance(grammar, NativeTools) else ()
    )
    found = [call for call in done(one.model.requests[-1].messages) if call.name == CODE_TOOL]
    assert len(found) == len(BROKEN) and all(FAILED.match(call.saw) for call in found), found
