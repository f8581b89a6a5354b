import pytest

from components.radiology.plan import chain_names, decision_chain
from components.radiology.plan_object import read_plan
from components.radiology.tasks import AC, BQ, DD, MC, OS

# As the article prints it: no JSON, with bare names and arrows in the list and keys with and without quotes.
PRINTED = """Here is my plan:
```json
{
  "Task Summary": "Name the disease.",
  Known Info: ["$Anatomy$", $Report$],
  "Self-Reflection": "No $Disease$ is known, and no Organ Segmentation Tool is needed.",
  "Tool Chain": [*Anatomy Classification Tool* -> *Modality Classification Tool*
     -> *Disease Diagnosis Tool*]
}
```"""
LINES = "Self-Reflection: $Disease$ is asked.\nKnown Info: [$Modality$]\nTool Chain: [*Organ Segmentation Tool*]"
JSON = '{"Tool Chain": ["Organ Segmentation Tool", "Biomarker Quantification Tool"], "Known Info": []}'


@pytest.mark.parametrize(("reply", "known", "chain"), [
    (PRINTED, ("$Anatomy$",), [AC, MC, DD]), (LINES, ("$Modality$",), [OS]), (JSON, (), [OS, BQ]),
    ("**Tool Chain**: Organ Segmentation Tool", (), []), ("I would look.", (), None), ("", (), None),
    ("Tool Chain: []", (), None),
])  # fmt: skip
def test_a_plan_is_read_in_whatever_form_it_comes(reply, known, chain):
    plan = read_plan(reply)
    if not chain:
        assert plan is None
    else:
        assert (
            plan.known == known and decision_chain(plan.text, "tolerant") == decision_chain(reply, "tolerant") == chain
        )


def test_what_a_reflection_mentions_is_neither_known_nor_planned():
    plan = read_plan(PRINTED)
    assert "$Disease$" not in plan.known and "Organ Segmentation Tool" not in plan.chain
    assert plan.reflection == "No $Disease$ is known, and no Organ Segmentation Tool is needed."
    assert plan.summary == "Name the disease."


def test_reports_treatments_and_masks_are_never_known_beforehand():
    claimed = (
        "Known Info: [$Report$, $Treatment$, $OrganMask$, $IndicatorName$]\nTool Chain: [*Report Generation Tool*]"
    )
    assert read_plan(claimed).known == ("$IndicatorName$",)


def test_it_is_handed_on_in_lines_that_read_the_same():
    plan = read_plan(PRINTED)
    assert read_plan(plan.text) == plan and plan.text.splitlines()[2] == "Known Info: [$Anatomy$]"
    assert "$Disease$" in plan.text and "$Disease$" not in plan.claims


def test_names_of_a_chain_stand_in_its_order_and_nowhere_else():
    assert chain_names(PRINTED)[-1] == "Disease Diagnosis Tool" and len(chain_names(PRINTED)) == 3


@pytest.mark.parametrize("end", ["\n", " \n a", ", ", "Tool Chain "])
def test_a_reply_that_repeats_itself_is_read_in_linear_time(end):
    assert read_plan("Tool Chain: [*Disease Diagnosis Tool*]" + end * 30_000).chain == ("Disease Diagnosis Tool",)
