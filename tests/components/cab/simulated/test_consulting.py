from statistics import fmean

import pytest

from components.cab.simulated.answers import (
    ASKS,
    ASKS_TAUGHT,
    FACTS,
    FACTS_READ,
    MAX_CALLS,
    PLANS,
    USES,
    USES_TAUGHT,
    ClinicalKnowledge,
    call,
    finish,
    fitting,
    is_full,
    next_step,
)
from components.core.messages import Message
from components.simulation.draws import Draws, Rates
from components.simulation.history import Done, History
from tests.components.cab.simulated.clinic import of
from tests.table import each_row

OFFERED = {
    "Plan": ("response",), "Think": ("response",), "Medrag": ("query",), "HuatuoGPT": ("query", "image"),
    "Calculator": ("expression",), "SQLCoder": ("sql_database", "query"), "EntityRecognizor": ("sentence",),
    "LongDocRAG": ("path", "query"),
}  # fmt: skip
FITS = {
    "medqa": "Medrag", "slake": "HuatuoGPT", "medcalc": "Calculator", "ehrsql": "SQLCoder", "ehr_halt": "SQLCoder",
    "medmentions": "EntityRecognizor", "longhalt": "LongDocRAG", "emrqa": None,
}  # fmt: skip
KNOWING = Rates(competence=1.0)


def one(task, nth=0):
    return ClinicalKnowledge(of(task)[nth])


def draws(seed=0):
    return Draws(seed, [Message("user", "x")])


def steps(known, history, rates=KNOWING, function=next_step, n=600):
    return [function(known, history, rates, draws(seed)) for seed in range(n)]


@each_row("task", FITS)
def test_the_suitable_tool_is_chosen_by_the_inputs_or_the_form_of_the_answer(task):
    assert fitting(one(task), History(OFFERED)) == FITS[task]
    assert fitting(one(task), History({"ToxicityDetector": ("sentence",)})) is None


@each_row("task", [task for task, tool in FITS.items() if tool])
def test_a_call_that_says_all_is_full_and_a_shorter_one_is_not(task):
    known, history = one(task), History(OFFERED)
    made = {extent: call(known, history, FITS[task], extent) for extent in ("few", "half", "all")}
    assert is_full(known, made["all"]) and not is_full(known, made["few"]) and not is_full(known, made["half"])
    assert len({str(step.arguments) for step in made.values()}) == 3
    assert set(made["all"].arguments) == set(OFFERED[FITS[task]])
    assert set(known.sample.problem.inputs.values()) <= set(made["few"].arguments.values())


def test_a_full_call_of_an_unsuitable_tool_finds_nothing():
    known = one("ehrsql")
    assert not is_full(known, Done("Medrag", {"query": known.sample.problem.question}))
    assert not is_full(known, Done("Finish", {"response": known.sample.problem.question}))


@each_row("nth,formula", [(0, "30.7 * 1"), (12, "5 * 1"), (14, "add_days('11/16/2023', 0)")])
def test_formulas_are_numbers_or_dates(nth, formula):
    assert call(one("medcalc", nth), History(OFFERED), "Calculator", "all").arguments == {"expression": formula}


def share(made, holds):
    return pytest.approx(fmean(map(holds, made)), abs=0.06)


def test_a_core_that_is_shown_the_tool_uses_it_with_a_full_request():
    known = one("longhalt")
    plain = steps(known, History(OFFERED))
    assert share(plain, lambda step: step.name == "Plan") == PLANS
    assert share(plain, lambda step: step.name == "LongDocRAG") == (1 - PLANS) * USES
    assert share(plain, lambda step: is_full(known, step)) == (1 - PLANS) * USES * ASKS
    for shown in ("LongDocRAG", "Reflection"):
        taught = steps(known, History(OFFERED, shown=frozenset({shown})))
        assert share(taught, lambda step: is_full(known, step)) == USES_TAUGHT * ASKS_TAUGHT
    other = steps(known, History(OFFERED, shown=frozenset({"Medrag"})))
    assert [step.name for step in other] == [step.name for step in plain]


def test_it_finishes_after_a_full_request_or_too_many_calls():
    known = one("longhalt")
    full = Done("LongDocRAG", {"query": known.sample.problem.question}, "passage")
    few = Done("LongDocRAG", {"query": "According"}, "passage")
    for done in ((full,), (few,) * MAX_CALLS):
        assert {step.name for step in steps(known, History(OFFERED, done))} == {"Finish"}
    assert {step.name for step in steps(known, History(OFFERED, (few,)))} == {"Finish", "LongDocRAG"}


def test_wrong_tools_come_at_their_rate():
    made = steps(one("longhalt"), History(OFFERED, shown=frozenset({"LongDocRAG"})), Rates(wrong_tool=0.5))
    assert share(made, lambda step: step.name not in ("LongDocRAG", "Finish")) == 0.5 * USES_TAUGHT


def test_an_answer_without_tools_requires_several_facts():
    rates = Rates(competence=0.85)
    assert one("medqa").by_heart(rates) == pytest.approx(0.85 ** FACTS["knowledge"])
    assert one("emrqa").by_heart(rates) == pytest.approx(0.85**FACTS_READ)
    assert one("ehrsql").by_heart(KNOWING) == 1.0
    made = steps(one("medqa"), History(OFFERED), rates, finish)
    right = finish(one("medqa"), History(OFFERED), KNOWING, draws())
    assert share(made, lambda step: step == right) == one("medqa").by_heart(rates)


@each_row("saw,answer", [("[['147']]", "[['147']]"), ("[]", "No result"), ("null", "No result")])
def test_a_database_result_is_the_answer(saw, answer):
    known = one("ehrsql")
    done = Done("SQLCoder", {"query": known.sample.problem.question}, saw)
    assert finish(known, History(OFFERED, (done,)), Rates(competence=0.0), draws()).arguments["response"] == answer


@each_row("saw", ["The query could not be converted into SQL that runs.", "", None])
def test_an_error_is_not_an_answer(saw):
    known = one("ehrsql")
    done = Done("SQLCoder", {"query": known.sample.problem.question}, saw)
    made = steps(known, History(OFFERED, (done,)), Rates(competence=0.85), finish)
    assert (
        share(made, lambda step: step.arguments["response"] == known.sample.target["answer"])
        == 0.85 ** FACTS["numerical"]
    )


def test_an_image_that_was_not_inspected_gives_no_information():
    known = one("slake")
    arguments = {"query": known.sample.problem.question, "image": "study_01.png"}
    right = {}
    for saw in ("chest", "Metadata of the image. No model has looked at it"):
        done = Done("HuatuoGPT", arguments, saw)
        made = steps(known, History(OFFERED, (done,)), Rates(competence=0.85), finish)
        right[saw[:5]] = fmean(step.arguments["response"] == "chest" for step in made)
    assert right["chest"] > 0.8 and right["Metad"] < 0.5


def test_without_a_calculator_it_builds_one_where_allowed_and_uses_it():
    offered = {"BuildTool": ("name", "description", "parameters", "examples")}
    known = one("medcalc")
    asked = steps(known, History(offered))
    assert share(asked, lambda step: step.name == "BuildTool") == USES
    assert all(step.arguments["name"] == "Arithmetic" for step in asked if step.name == "BuildTool")
    built = History({**offered, "Arithmetic": ("expression",)}, (Done("BuildTool", {}, "The tool was built"),))
    assert {step.name for step in steps(known, built)} == {"Arithmetic"}
    failed = History(offered, (Done("BuildTool", {}, "No tool was built"),))
    assert {step.name for step in steps(known, failed)} == {"Finish"}
    assert {step.name for step in steps(one("medcalc", 14), History(offered))} == {"Finish"}, "a date"
    assert {step.name for step in steps(known, History({"Think": ()}))} == {"Finish"}
