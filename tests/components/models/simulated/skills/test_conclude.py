from components.core.messages import Message
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.reading import ALIGNS, EVIDENCE, Card, Situation
from components.models.simulated.skills.conclude import conclude, validate
from components.radiology.tasks import OS
from tests.golden.vectors import dev

SAMPLE = dev().sample("dev_chest_ct", "012")
DRAWS = Draws(0, [Message("user", "x")])


def segmentor(*listed):
    return Card("TOOL1", OS, None, None, listed or None, ("$Image$",), (), ("$OrganMask$",), 0.9)


def test_a_competent_core_says_the_reference():
    assert conclude(Situation(), SAMPLE, Rates(), DRAWS) == SAMPLE.target["answer"]


def test_evidence_and_plan_follow_where_the_prompts_ask_for_them():
    memory = {"$Image$": "PLACEHOLDER_IMAGE", "$Information$": {"Age": "61"}, "$Anatomy$": "Chest"}
    marks = frozenset((EVIDENCE, ALIGNS))
    text = conclude(Situation(memory=memory, plan=((OS, None),), marks=marks), SAMPLE, Rates(), DRAWS)
    evidence, plan = "Evidence in the memory: Anatomy: Chest.", "The findings align with the plan (1 steps)."
    assert text == f"{SAMPLE.target['answer']}\n\n{evidence}\n\n{plan}"
    nothing = conclude(Situation(marks=marks), SAMPLE, Rates(), DRAWS)
    assert nothing == SAMPLE.target["answer"]  # an empty memory has no evidence, and there was no plan


def test_else_it_half_remembers_the_reference():
    text = conclude(Situation(), SAMPLE, Rates(competence=0.0), DRAWS)
    assert text != SAMPLE.target["answer"] and SAMPLE.target["answer"].startswith(text[:-1])


def test_of_an_unknown_question_it_says_what_the_memory_holds():
    memory = {"$Image$": "PLACEHOLDER_IMAGE", "$Disease$": "asthma"}
    assert conclude(Situation(memory=memory), None, Rates(), DRAWS) == "Disease: asthma."
    assert conclude(Situation(), None, Rates(), DRAWS) == "The memory holds no result."


def test_validation_blames_the_tool_whose_list_lacks_the_finding():
    own = SAMPLE.metadata["record"]["OrganBiomarker"]["OrganObject"]
    for called, valid in (
        ((), True),
        ((segmentor(),), True),
        ((segmentor(own.upper()),), True),
        ((segmentor("Liver"),), False),
    ):
        said = validate(Situation(called=called), SAMPLE)
        assert said.startswith("<VALID>" if valid else f"<INVALID>{OS}")
        assert valid or "capability" in said


def test_it_says_what_the_memory_shows_in_place_of_what_is_right():
    assert "right lung" in SAMPLE.target["answer"]
    for shown in ("Left kidney", "Left kidney (TOOL2); Right lung (TOOL9)"):
        memory = {"$OrganObject$": shown, "$Image$": "PLACEHOLDER", "$Made up$": "x"}
        text = conclude(Situation(memory=memory), SAMPLE, Rates(competence=1), DRAWS)
        assert text == SAMPLE.target["answer"].replace("right lung", "Left kidney")
