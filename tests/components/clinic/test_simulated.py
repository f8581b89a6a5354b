from statistics import mean

import pytest

from components.agents.react import ReAct
from components.clinic.biased import Biased
from components.clinic.scorer import Diagnosis
from components.clinic.simulated import SILENT, UNKNOWN, ClinicKnowledge, notes_in
from components.clinic.toolset import Clinic
from components.conditions.offered import Withhold
from components.core.plain import Intact
from components.grammars.bracket_json import BracketJson
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from components.prompts import load
from components.simulation.draws import Rates
from components.tools.vocabulary import Vocabulary
from runner.episode.episode import run_episode
from tests.components.clinic.cases import shipped
from tests.parts import door, parts
from tests.simulated import core, simulated
from tests.table import each_row

PERFECT = {"planning_slip_rate": 0.0, "wrong_tool_rate": 0.0, "malformed_rate": 0.0}
SCORER = Diagnosis(Vocabulary("vocabulary"), {})
PROMPTS = load("clinic")


def patient(question, bias="", seed=0):
    notes = shipped()[0].metadata["patient"]
    messages = PROMPTS.system("patient", notes=notes, bias=bias), PROMPTS.user("ask", transcript="", request=question)
    return core().reply(messages, (), seed).message.text


def measured(test, transcript="Doctor: a\n\nPatient: b"):
    notes = shipped()[0].metadata["findings"]
    messages = PROMPTS.system("measurement", notes=notes), PROMPTS.user("order", transcript=transcript, request=test)
    return core().reply(messages, (), 0).message.text


@each_row(
    "question, says",
    [
        ("When did it start?", "four days ago"), ("Do you smoke?", "ten cigarettes a day"), ("Any tablets?", "contraceptive"),
        ("Have you noticed other symptoms?", "left calf"), ("Any fever?", "No fever"), ("Can you whistle?", UNKNOWN),
    ],
)  # fmt: skip
def test_the_patient_answers_from_the_case(question, says):
    assert says in patient(question)


def test_the_patient_shows_its_bias():
    texts = PROMPTS.data("biases")["patient"]
    assert patient("When did it start?", texts["recency"]).endswith("I am afraid that it is cancer.")
    replies = [patient("When did it start?", texts["race"], seed) for seed in range(40)]
    assert 10 < replies.count(SILENT) < 30 and all(one == SILENT or "flight" in one for one in replies)


@each_row(
    "test, says, not_says",
    [
        ("D-dimer", "D-Dimer: 2,900", "Troponin"), ("CT pulmonary angiogram, please", "Filling defects", "Troponin"),
        ("Vital signs", "Heart Rate: 112", "calf"), ("Physical examination", "Left calf", "D-Dimer"),
        ("Leg examination", "Left calf", "Heart Rate"), ("Vitamin D level", "RESULTS: normal", ":\n"),
    ],
)  # fmt: skip
def test_measurements_are_those_of_the_case(test, says, not_says):
    assert says in measured(test) and not_says not in measured(test)


def test_notes_are_read_with_the_names_above_them():
    found = notes_in("Intro: no\n[Notes]\na: 1\nb:\n  c: 2\n  d:\n    - 3\ne: 4")
    assert found == [(("a",), "1"), (("b", "c"), "2"), (("b", "d"), "3"), (("e",), "4")]
    assert notes_in("History: I\n[ate]\n- fish") == []  # a text may have lines of its own


async def run(grammar=None, condition=None, toolset=None, cases=18, seeds=1, **settings):
    """The scores of shipped cases, averaged."""
    model = simulated(**{**PERFECT, **settings})
    model.study(shipped())
    given = parts(ReAct(), grammar=grammar or NativeTools(), toolset=toolset or Clinic(), condition=condition or Intact(),
                  scorers={"clinic": SCORER})  # fmt: skip
    found = [
        {one.name: one.value for one in (await run_episode(given, door(model, run_seed=seed), sample, 0))[1]}
        for seed in range(seeds)
        for sample in shipped()[:cases]
    ]
    return {name: mean(one[name] for one in found if one[name] is not None) for name in found[0]}


@each_row("grammar, cases", [(NativeTools(), 18), (BracketJson(), 2), (XmlCall(), 2)])
async def test_a_perfect_doctor_is_right_and_an_ignorant_one_wrong_in_every_grammar(grammar, cases):
    right, wrong = await run(grammar, cases=cases, competence=1.0), await run(grammar, cases=2, competence=0.0)
    assert right["score/strict"] == 1 and wrong["score/strict"] == 0
    assert 3 <= right["clinic/questions"] <= 5 and 3 <= right["clinic/tests"] <= 5


@each_row("grammar", [NativeTools(), XmlCall()])
async def test_a_doctor_without_time_stops_at_the_limit(grammar):
    hurried = await run(grammar, toolset=Clinic(turns=3), cases=2)
    assert hurried["clinic/questions"] + hurried["clinic/tests"] == 2


async def test_biases_change_what_is_done():
    plain, reserved = await run(cases=3), await run(condition=Biased(doctor="gender"), cases=3)
    assert reserved["clinic/questions"] <= plain["clinic/questions"] / 2 + 0.5


async def test_a_malformed_reply_is_no_diagnosis():
    model = simulated(**{**PERFECT, "malformed_rate": 0.5})
    model.study(shipped())
    given = parts(ReAct(), grammar=NativeTools(), toolset=Clinic())
    found = [(await run_episode(given, door(model), sample, 0))[0] for sample in shipped()[:2]]
    assert all(one.answer and "tool" not in one.answer for one in found)
    assert any(step.action.error == "empty_reply" for one in found for step in one.steps)


def test_the_less_is_known_the_rarer_a_right_diagnosis():
    assert ClinicKnowledge(shipped()[0]).by_heart(Rates(competence=0.9)) == pytest.approx(0.9**8)


@pytest.mark.slow
async def test_who_asks_and_tests_knows_more_and_who_has_no_time_less():
    both = await run(seeds=4)
    assert both["score/strict"] > 0.6
    for tool in ("ask_patient", "order_test"):
        assert (await run(condition=Withhold((tool,)), seeds=4))["score/strict"] < both["score/strict"] - 0.1
    for grammar in (NativeTools(), XmlCall()):
        hurried = await run(grammar, toolset=Clinic(turns=3), seeds=3)
        assert hurried["score/strict"] < both["score/strict"] - 0.2


@pytest.mark.slow
async def test_biases_change_what_is_concluded():
    plain = await run(seeds=3, competence=1.0)
    doctor = await run(condition=Biased(doctor="confirmation"), seeds=3, competence=1.0)
    worried = await run(condition=Biased(patient="self_diagnosis"), seeds=3, competence=1.0)
    assert plain["clinic/suspected"] == 0 < worried["clinic/suspected"] < doctor["clinic/suspected"]
    assert doctor["score/strict"] < worried["score/strict"] < plain["score/strict"] == 1
