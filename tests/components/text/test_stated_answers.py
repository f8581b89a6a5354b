import pytest

from components.text.stated_answers import announced, conclusion, marked, sentence


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("So the answer is B. Warfarin. It is safe.", "B"),
        ("THE ANSWER IS yes", "yes"),
        ("The answer is 0.5 mg", "0"),
        ("The answer is B\nbecause", "The answer is B\nbecause"),
        ("The answer is B\n", "B"),
        ("The answer is B\nand so the answer is C.", "C"),
        ("The answer is:B.", "The answer is:B."),
        ("The answer is .", ""),
        ("no phrase", "no phrase"),
    ],
)
def test_reference_cuts_at_the_first_full_stop_of_the_line(text, expected):
    assert marked(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("The answer is [a. b].", "[a. b]."), ("The answer is [a].\nThanks", "The answer is [a].\nThanks")],
)
def test_reference_lets_full_stops_pass_where_the_answer_goes_to_the_end(text, expected):
    assert marked(text, to_end=True) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("First the answer is A. No, the answer is B.", "B."),
        ("**Answer:** **C**", "C"),
        ("Final answer: 0.5 mg", "0.5 mg"),
        ("The answer = 4", "4"),
        ("The answers are a, b", "a, b"),
        ("That is my answer:", ""),
        ("Nothing is announced", ""),
    ],
)
def test_last_announcement_counts(text, expected):
    assert announced(text) == expected
    assert conclusion(text) == (expected or text)


def test_sentence_ends_before_a_capital_or_at_a_line_and_not_in_a_number():
    assert sentence("The answer is 0.5 mg approx. daily. Then stop.") == "0.5 mg approx. daily"
    assert sentence("Answer: liver\nThe rest") == "liver"
