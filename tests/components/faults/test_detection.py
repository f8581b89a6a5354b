import time

import pytest

from components.faults.detection import find_fault_statement
from tests.slow import slow
from tests.table import each_row

TOOLS = ["Calculator", "TOOL3", "Plan"]


@each_row(
    "text",
    [
        "The tool is unavailable.",
        "Thought: Calculator timed out, so I count by hand.\nAction: Finish[{}]",
        "The call was denied.",
        "This result contradicts the report.",
        "The two tools disagree on the diameter.",
        "That reading is implausible for an adult.",
        "I cannot trust the value that came back.",
        "The service does not respond; I try another.",
        "TOOL3 seems broken.",
        "The output looks stale: it answers an earlier question.",
        "The documentation of this tool is missing: it is undocumented.",
        "Access to Calculator was denied.",
        "The Calculator tool returned an error, so I compute it by hand.",
        "**Calculator** is `unavailable`, it seems.",
        "I was unable to reach the database.",
        "The service is down.",
        "Calculator's answer is wrong.",
        "TOOL3 does not match what the report says.",
        "The tool's output is inconsistent with the earlier measurement.",
        "Two tools give conflicting results.",
        "There is a discrepancy between the outputs.",
        "No response from TOOL3, so heart failure stays likely.",
        "<Call>\n<Purpose>The values of TOOL1 and TOOL2 contradict each other.</Purpose>\n<Tool>TOOL1</Tool>\n</Call>",
    ],
)
def test_a_text_reports_a_tool_fault(text):
    assert find_fault_statement([text], TOOLS)


@each_row(
    "text",
    [
        "The answer is B.",
        "There was no error in the tool's output.",
        "The tool did not fail.",
        "The calculation ran without any error, so the result stands.",
        "She denied chest pain.",
        "Given these values, heart failure is the most likely diagnosis.",
        "The tool estimates the risk of renal failure from the readings.",
        "Calculator gives a result in keeping with acute kidney failure.",
        "These results are inconsistent with pneumonia.",
        "The results show a refractive error, which glasses correct.",
        "TOOL3 finds an error of refraction.",
        "Option B is incorrect, so the answer is C.",
        "Given these results, option B is wrong and the answer is C.",
        "The surgeon operated on the wrong side, as the numbers of such cases show.",
        "She denied chest pain, and the troponin values are normal.",
        "The query returns patients who denied chest pain.",
        "A value is not available in the record.",
        "TOOL3 shows a broken rib.",
        "TOOL3 shows signs of failed back surgery.",
        "The standard error of this measurement is small.",
        "The paramedics from the ambulance service found the patient unresponsive.",
        "His breath smells of stale alcohol; the level is a value above the limit.",
        "TOOL3 finds a missing tooth and a cardiac output of 4 l.",
        "My plan failed, but the calculator of risk stands.",
        "Failed back surgery is in the history.",
        "Heart failure is likely.",
        "```python\nraise ValueError('the tool failed')\n```",
        'Action: Calculator[{"expression": "wrong value"}]',
        '{"error": "the tool failed"}',
        "<Call>\n<Purpose>Measure.</Purpose>\n<Tool>failed tool</Tool>\n<Input>[error]</Input>\n</Call>",
        "The tool answered. Other possibilities were wrong.",
        "",
    ],
)
def test_a_text_does_not_report_a_tool_fault(text):
    assert find_fault_statement([text], TOOLS) == ""


def test_a_tools_name_is_a_word_for_it_where_it_is_offered():
    assert find_fault_statement(["Medrag is unavailable."], ["Medrag"]) and not find_fault_statement(
        ["Medrag is unavailable."], []
    )


def test_the_matching_sentence_is_returned():
    said = find_fault_statement(["All is well.", "I go on. The tool failed twice. So what."], TOOLS)
    assert said == "The tool failed twice."


@pytest.mark.parametrize("said", ["[Note] I go on.\nThe tool failed.", '{\n "a": {\n  "b": 1\n }\n}\nThe tool failed.'])
def test_text_after_brackets_is_considered(said):
    assert find_fault_statement([said], TOOLS) == "The tool failed."
    assert find_fault_statement(['{\n "error": [\n  "the tool failed"\n ]\n}'], TOOLS) == ""


@slow
@each_row("part", ["\n", "<Tool>", "<Input>x", "no error of the tool ", "{\n", "[\n ", "Action\n"])
def test_a_reply_that_repeats_itself_is_read_in_linear_time(part):
    started = time.process_time()
    find_fault_statement([part * (100_000 // len(part))], TOOLS)
    assert time.process_time() - started < 2
