import pytest

from components.acting.reflection import reflection_in


@pytest.mark.parametrize(("text", "says"), [
    ("<Reflection>\n<Candidates>TOOL1</Candidates>\n<Reasoning>fits</Reasoning>\n</Reflection>\n<Call>", "TOOL1 fits"),
    ("Thought: <Reflection>plainly</Reflection>\nAction: TOOL1[{}]", "plainly"),
    ("<Reflection><Candidates></Candidates> <Reasoning> </Reasoning></Reflection>", ""),
    ("<Reflection>never closed", ""), ("<Call></Call>", ""), ("", ""),
])  # fmt: skip
def test_the_first_block_counts_and_empty_tags_say_nothing(text, says):
    assert reflection_in(text) == says


def test_a_reply_that_repeats_itself_is_read_in_linear_time():
    assert reflection_in("<Reflection>" * 200_000) == ""
