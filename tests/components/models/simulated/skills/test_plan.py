import pytest

from components.core.messages import Message
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.skills.plan import plan
from components.radiology.plan import decision_chain, runtime_plan
from components.radiology.tasks import TASKS
from tests.golden.vectors import dev


def draws(seed):
    return Draws(seed, [Message("user", "x")])


@pytest.mark.parametrize("chain", TASKS)
def test_a_plan_without_a_slip_is_the_tasks_chain(chain):
    said = plan(dev().sample("dev_chest_ct", chain), Rates(), draws(0))
    assert decision_chain(said, "tolerant") == list(TASKS[chain].categories)
    known = "$IndicatorName$" if "7" in chain else ""  # the question names the score it asks for
    assert said.splitlines()[0] == f"Known Info: [{known}]" and len(said.splitlines()) == 2
    assert len(runtime_plan(said)) == len(TASKS[chain].chain)


@pytest.mark.parametrize("chain", TASKS)
def test_a_slip_changes_one_step(chain):
    right = plan(dev().sample("dev_chest_ct", chain), Rates(), draws(0)).count("*") // 2
    lengths = set()
    for seed in range(60):
        said = plan(dev().sample("dev_chest_ct", chain), Rates(planning_slip=1.0), draws(seed))
        assert said != plan(dev().sample("dev_chest_ct", chain), Rates(), draws(seed))
        lengths.add(said.count("*") // 2 - right)
    assert lengths == {-1, 0, 1}


def test_of_an_unknown_question_it_makes_a_plan_of_its_own():
    assert decision_chain(plan(None, Rates(), draws(0)), "tolerant")[-1] == "Disease Diagnoser"


def test_the_form_of_a_plan_is_that_of_the_prompt():
    sample = dev().sample("dev_chest_ct", "0123568")
    for marks, form in ((["Self-Reflection"], "Self-Reflection: "), (['"Tool Chain"', "Self-Reflection"], "```json\n")):
        said = plan(sample, Rates(), draws(0), marks)
        assert said.startswith(form) and decision_chain(said, "tolerant") == list(TASKS["0123568"].categories)
    one_name = plan(sample, Rates(), draws(0), ["Biomarker Quantification Tool"])
    assert one_name.count("*Biomarker Quantification Tool*") == 2
    both = plan(sample, Rates(), draws(0), ["Biomarker Quantification Tool", "Organ Biomarker Quantification Tool"])
    assert both == plan(sample, Rates(), draws(0))
