from components.core.messages import Message
from components.radiology.plan import decision_chain, runtime_plan
from components.radiology.simulated.moves import concluded, planned, validated
from components.radiology.simulated.reading import ALIGNS, EVIDENCE, Card, Situation
from components.radiology.tasks import OS, TASKS
from components.simulation.draws import Draws, Rates
from tests.golden.vectors import dev
from tests.table import each_row

SAMPLE = dev().sample("dev_chest_ct", "012")
DRAWS = Draws(0, [Message("user", "x")])


def draws(seed):
    return Draws(seed, [Message("user", "x")])


@each_row("chain", TASKS)
def test_a_plan_without_a_slip_is_the_tasks_chain(chain):
    said = planned(dev().sample("dev_chest_ct", chain), Rates(), draws(0), ())
    assert decision_chain(said, "tolerant") == list(TASKS[chain].categories)
    known = "$IndicatorName$" if "7" in chain else ""  # the question names the score it asks for
    assert said.splitlines()[0] == f"Known Info: [{known}]" and len(said.splitlines()) == 2
    assert len(runtime_plan(said)) == len(TASKS[chain].chain)


@each_row("chain", TASKS)
def test_a_slip_changes_one_step(chain):
    right = planned(dev().sample("dev_chest_ct", chain), Rates(), draws(0), ()).count("*") // 2
    lengths = set()
    for seed in range(60):
        said = planned(dev().sample("dev_chest_ct", chain), Rates(planning_slip=1.0), draws(seed), ())
        assert said != planned(dev().sample("dev_chest_ct", chain), Rates(), draws(seed), ())
        lengths.add(said.count("*") // 2 - right)
    assert lengths == {-1, 0, 1}


def test_for_an_unknown_question_it_makes_its_own_plan():
    assert decision_chain(planned(None, Rates(), draws(0), ()), "tolerant")[-1] == "Disease Diagnoser"


def test_the_form_of_a_plan_is_that_of_the_prompt():
    sample = dev().sample("dev_chest_ct", "0123568")
    for marks, form in ((["Self-Reflection"], "Self-Reflection: "), (['"Tool Chain"', "Self-Reflection"], "```json\n")):
        said = planned(sample, Rates(), draws(0), marks)
        assert said.startswith(form) and decision_chain(said, "tolerant") == list(TASKS["0123568"].categories)
    one_name = planned(sample, Rates(), draws(0), ["Biomarker Quantification Tool"])
    assert one_name.count("*Biomarker Quantification Tool*") == 2
    both = planned(sample, Rates(), draws(0), ["Biomarker Quantification Tool", "Organ Biomarker Quantification Tool"])
    assert both == planned(sample, Rates(), draws(0), ())


def segmentor(*listed):
    return Card("TOOL1", OS, None, None, listed or None, ("$Image$",), (), ("$OrganMask$",), 0.9)


def test_a_competent_core_says_the_reference():
    assert concluded(Situation(), SAMPLE, Rates(), DRAWS) == SAMPLE.target["answer"]


def test_evidence_and_plan_follow_where_the_prompts_ask_for_them():
    memory = {"$Image$": "PLACEHOLDER_IMAGE", "$Information$": {"Age": "61"}, "$Anatomy$": "Chest"}
    marks = frozenset((EVIDENCE, ALIGNS))
    text = concluded(Situation(memory=memory, plan=((OS, None),), marks=marks), SAMPLE, Rates(), DRAWS)
    evidence, plan = "Evidence in the memory: Anatomy: Chest.", "The findings align with the plan (1 steps)."
    assert text == f"{SAMPLE.target['answer']}\n\n{evidence}\n\n{plan}"
    nothing = concluded(Situation(marks=marks), SAMPLE, Rates(), DRAWS)
    assert nothing == SAMPLE.target["answer"]  # an empty memory has no evidence, and there was no plan


def test_an_incompetent_core_gives_a_distorted_reference():
    text = concluded(Situation(), SAMPLE, Rates(competence=0.0), DRAWS)
    assert text != SAMPLE.target["answer"] and SAMPLE.target["answer"].startswith(text[:-1])


def test_for_an_unknown_question_it_reports_the_contents_of_the_memory():
    memory = {"$Image$": "PLACEHOLDER_IMAGE", "$Disease$": "asthma"}
    assert concluded(Situation(memory=memory), None, Rates(), DRAWS) == "Disease: asthma."
    assert concluded(Situation(), None, Rates(), DRAWS) == "The memory holds no result."


def test_validation_blames_the_tool_whose_list_lacks_the_finding():
    own = SAMPLE.metadata["record"]["OrganBiomarker"]["OrganObject"]
    for called, valid in (
        ((), True),
        ((segmentor(),), True),
        ((segmentor(own.upper()),), True),
        ((segmentor("Liver"),), False),
    ):
        said = validated(Situation(called=called), SAMPLE)
        assert said.startswith("<VALID>" if valid else f"<INVALID>{OS}")
        assert valid or "capability" in said


def test_it_reports_the_memory_rather_than_the_right_value():
    assert "right lung" in SAMPLE.target["answer"]
    for shown in ("Left kidney", "Left kidney (TOOL2); Right lung (TOOL9)"):
        memory = {"$OrganObject$": shown, "$Image$": "PLACEHOLDER", "$Made up$": "x"}
        text = concluded(Situation(memory=memory), SAMPLE, Rates(competence=1), DRAWS)
        assert text == SAMPLE.target["answer"].replace("right lung", "Left kidney")
