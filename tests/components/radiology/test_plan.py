import pytest

from components.radiology.plan import decision_chain, is_code_baseline, known_mode, read_known, runtime_plan
from components.radiology.tasks import AC, BQ, IE, MC, OS
from tests.golden.vectors import CODE, PAPER

PLAN = "Known Info: ['$Modality$', $Report$]\nTool Chain: [*Organ Segmentation Tool* -> *Anatomy Classification Tool*]"


def test_claims_are_read_by_the_profile_and_the_condition():
    assert known_mode(CODE, "baseline") == "baseline_bare"
    assert known_mode(CODE, "redundant_high") == known_mode(PAPER, "baseline") == "three_dollar"
    assert is_code_baseline(CODE, "baseline")
    assert not is_code_baseline(PAPER, "baseline") and not is_code_baseline(CODE, "differentiated")


def test_what_counts_as_known():
    assert read_known(PLAN, "three_dollar") == ["$Modality$"]
    assert read_known(PLAN, "all_dollar") == ["$Modality$", "$Report$"]
    assert read_known(PLAN, "baseline_bare") == ["$Anatomy$", "$Modality$", "$Report$"]


def test_the_echoed_plan_is_in_canonical_order():
    assert runtime_plan(PLAN) == ["Anatomy Classification Tool", "Organ Segmentation Tool"]
    assert decision_chain(PLAN, "tolerant") == [OS, AC]


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
def test_a_reply_that_repeats_itself_is_read_in_linear_time(reader):
    assert decision_chain("Tool Chain: [" * 30_000, reader) == []
