import pytest

from components.faults.detection import own_words, says_wrong

TOOLS = ["Calculator", "TOOL3"]


@pytest.mark.parametrize(
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
        "<Call>\n<Purpose>The values of TOOL1 and TOOL2 contradict each other.</Purpose>\n<Tool>TOOL1</Tool>\n</Call>",
    ],
)
def test_it_says_that_something_is_wrong_with_a_tool(text):
    assert says_wrong([text], TOOLS)


@pytest.mark.parametrize(
    "text",
    [
        "The answer is B.",
        "There was no error in the tool's output.",
        "The tool did not fail.",
        "The calculation ran without any error, so the result stands.",
        "She denied chest pain.",
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
def test_it_says_nothing_of_the_kind(text):
    assert says_wrong([text], TOOLS) == ""


def test_a_tools_name_is_a_word_for_it_where_it_is_offered():
    assert says_wrong(["Medrag is unavailable."], ["Medrag"]) and not says_wrong(["Medrag is unavailable."], [])


def test_the_sentence_is_told():
    said = says_wrong(["All is well.", "I go on. The tool failed twice. So what."], TOOLS)
    assert said == "The tool failed twice."


def test_own_words_are_what_is_left():
    assert own_words("Think.\n```sql\nselect 1\n```\nThen.").split() == ["Think.", "Then."]
