import pytest

from components.radiology.plan import (
    chain_names,
    decision_chain,
    known_mode,
    read_known,
    read_plan,
    runtime_plan,
)
from components.radiology.tasks import AC, BQ, DD, IE, MC, OS
from tests.golden.vectors import CODE, PAPER
from tests.table import each_row

PLAN = "Known Info: ['$Modality$', $Report$]\nTool Chain: [*Organ Segmentation Tool* -> *Anatomy Classification Tool*]"


def test_claims_are_read_by_the_profile_and_the_condition():
    assert known_mode(CODE, "baseline") == "baseline_bare"
    assert known_mode(CODE, "redundant_high") == known_mode(PAPER, "baseline") == "three_dollar"


def test_variables_that_count_as_known():
    assert read_known(PLAN, "three_dollar") == ["$Modality$"]
    assert read_known(PLAN, "all_dollar") == ["$Modality$", "$Report$"]
    assert read_known(PLAN, "baseline_bare") == ["$Anatomy$", "$Modality$", "$Report$"]


def test_the_echoed_plan_is_in_canonical_order():
    assert runtime_plan(PLAN) == ["Anatomy Classification Tool", "Organ Segmentation Tool"]
    assert decision_chain(PLAN, "tolerant") == [OS, AC]


@each_row(
    "text,chain",
    [
        ("Tool Chain: *Anatomy Classification Tool*, Modality Classification Tool\nReport Generation Tool", [AC, MC]),
        ("'Tool Chain' : [\n\"Organ Biomarker Quantification Tool\",\n'Biomarker Quantification Tool'\n]", [BQ, BQ]),
        ("Tool Chain: [Indicator Evaluator Tool -> *Indicator Evaluation Tool*", [IE, IE]),
        ("Tool Chain:\n\n  [*Anatomy Classification Tool*]", [AC]),
        ("Tool Chain: []\n*Anatomy Classification Tool*", []),
        ("The *Anatomy Classification Tool* comes first.", []),
        ("", []),
    ],
)
def test_a_tolerant_reader_finds_the_chain(text, chain):
    assert decision_chain(text, "tolerant") == chain


@each_row(
    "text,chain",
    [
        ("Tool Chain: [*Organ Biomarker Quantification Tool*]", ["Organ Biomarker Quantifier"]),
        ("Tool Chain: [*Biomarker Quantification Tool*, *Indicator Evaluator Tool*]", [BQ, IE]),
        ("Tool Chain: [*Anomaly Biomarker Quantification Tool*, *Indicator Evaluation Tool*]", []),
        ("Tool Chain: [\n*Anatomy Classification Tool*]", []),
        ("Tool Chain: [none\nTool Chain: [*Anatomy Classification Tool*]", [AC]),
        ("Tool Chain: *Anatomy Classification Tool*", []),
    ],
)
def test_the_references_reader_loses_what_it_loses(text, chain):
    assert decision_chain(text, "code_line") == chain


@pytest.mark.parametrize("reader", ["code_line", "tolerant"])
def test_a_chain_that_repeats_itself_is_read_in_linear_time(reader):
    assert decision_chain("Tool Chain: [" * 30_000, reader) == []


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


@each_row("reply, known, chain", [
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


def test_variables_in_a_reflection_are_neither_known_nor_planned():
    plan = read_plan(PRINTED)
    assert "$Disease$" not in plan.known and "Organ Segmentation Tool" not in plan.chain
    assert plan.reflection == "No $Disease$ is known, and no Organ Segmentation Tool is needed."
    assert plan.summary == "Name the disease."


def test_reports_treatments_and_masks_are_never_known_beforehand():
    claimed = (
        "Known Info: [$Report$, $Treatment$, $OrganMask$, $IndicatorName$]\nTool Chain: [*Report Generation Tool*]"
    )
    assert read_plan(claimed).known == ("$IndicatorName$",)


def test_a_plan_is_passed_on_in_lines_that_read_the_same():
    plan = read_plan(PRINTED)
    assert read_plan(plan.text) == plan and plan.text.splitlines()[2] == "Known Info: [$Anatomy$]"
    assert "$Disease$" in plan.text and "$Disease$" not in plan.claims


def test_names_of_a_chain_stand_in_its_order_and_nowhere_else():
    assert chain_names(PRINTED)[-1] == "Disease Diagnosis Tool" and len(chain_names(PRINTED)) == 3


@each_row("end", ["\n", " \n a", ", ", "Tool Chain "])
def test_a_reply_that_repeats_itself_is_read_in_linear_time(end):
    assert read_plan("Tool Chain: [*Disease Diagnosis Tool*]" + end * 30_000).chain == ("Disease Diagnosis Tool",)
