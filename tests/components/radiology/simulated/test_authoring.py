"""The core writes records only from the contents of the prompt."""

import json

from components.core.messages import Message
from components.prompts import load
from components.radiology.simulated.stages import replied
from components.radiology.synthesis.checks import record_flaws
from components.radiology.synthesis.question_checks import needed_in_answer, question_flaws
from components.radiology.tasks import PAIRS, TASKS
from tests.components.radiology.synthesis.sound import case
from tests.simulated import asked
from tests.slow import slow
from tests.table import each_row

SET = load("synthesize")
LISTS, PHRASES = SET.data("lists"), SET.data("phrases")


def record_prompt(anatomy, modality, disease="gout of nobody", **lists):
    options = {
        **LISTS["regions"][anatomy], "findings": LISTS["techniques"][modality],
        **{name: LISTS[name] for name in ("measures", "histories", "steps")}, **lists,
    }  # fmt: skip
    patient = LISTS["patients"].get(anatomy, LISTS["patients"]["other"])
    values = {"anatomy": anatomy, "modality": modality, "disease": disease, "patient": patient}
    return SET.render("record", **values, lists=options, rejected=[])


def exercises_prompt(record):
    tasks = [
        {"id": chain, "name": task.name, "asks": PHRASES["asks"][chain], "holds": needed_in_answer(record)[chain]}
        for chain, task in TASKS.items()
    ]
    openers = [one.replace("{person}", "PERSON") for one in PHRASES["openers"]]
    return SET.render(
        "questions", record=json.dumps(record), person="woman aged 36", openers=openers, tasks=tasks, rejected=[]
    )


def said(text, seed=0, **rates):
    return replied(asked([Message("user", text)], seed=seed, **rates))


@slow
@each_row("pair", PAIRS)
def test_records_built_from_the_lists_of_any_pair_are_sound(pair):
    for seed in range(30):
        record = json.loads(said(record_prompt(*pair), seed=seed))
        assert record_flaws(record) == [], record


def test_it_writes_only_values_from_the_lists():
    record = json.loads(said(record_prompt("Chest", "CT", structures=["glottis; width; mm; 5 to 5"], sites=["carina"])))
    assert record["OrganBiomarker"] == {"OrganObject": "Glottis", "OrganDim": "width", "OrganQuant": "5 mm"}
    assert record["Anomaly"]["Part"] == "Carina" and "gout of nobody" in record["Report"]["Impression"]
    assert said(record_prompt("Chest", "CT", structures=[])) == said(record_prompt("Chest", "CT", steps=[])) == "{}"


def test_exercises_are_made_of_the_ways_to_ask_and_of_what_the_answers_hold():
    entry = case()
    questions = json.loads(said(exercises_prompt(entry["case"])))
    assert question_flaws(entry["case"], questions) == []
    assert any(questions["012"]["Q"].endswith(way) for way in PHRASES["asks"]["012"])
    assert "woman aged 36" in questions["012"]["Q"]


def test_slips_are_drawn_and_each_is_found():
    reckless = {"competence": 0.0}
    found = set()
    for seed in range(40):
        record = json.loads(said(record_prompt("Spine", "MRI"), seed, **reckless))
        found |= {flaw.partition(" ")[0] for flaw in record_flaws(record)}
    assert {"Information:", "Report.Finding", "Report.Impression", "OrganQuant", "Treatment"} <= found
    entry = case()
    assert any("gives away" in one for one in question_flaws(
        entry["case"], json.loads(said(exercises_prompt(entry["case"]), **reckless))
    ))  # fmt: skip
    assert not said(record_prompt("Spine", "MRI"), malformed=1.0).startswith("{")
    assert said("Which disease?") is None
