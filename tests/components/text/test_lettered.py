import pytest

from components.text.lettered import letter_of, lettered, split_options

CHOICES = {"A": "Vitamin C", "B": "Vitamin D.", "C": "vitamin d", "D": " None "}


@pytest.mark.parametrize(
    ("text", "letter"),
    [("Vitamin C", "A"), ("vitamin  c.", "A"), ("Vitamin D.", "B"), ("vitamin d", "C"), ("VITAMIN D", None),
     ("None", "D"), ("zinc", None)],
)  # fmt: skip
def test_letter_of_a_text_is_exact_before_it_is_loose_and_never_a_guess(text, letter):
    assert letter_of(CHOICES, text) == letter


def test_texts_get_letters_in_order():
    assert lettered(["yes", "no"]) == {"A": "yes", "B": "no"}


@pytest.mark.parametrize(
    ("text", "question", "choices"),
    [
        ("Which?\nA. one\nB. two", "Which?", {"A": "one", "B": "two"}),
        ("Which?\n\nA.one\n\n B. two \n", "Which?", {"A": "one", "B": "two"}),
        ("A. is a letter\nWhich?\nA. one\nB. two", "A. is a letter\nWhich?", {"A": "one", "B": "two"}),
        ("Vitamins:\nC. and D.\nA. one\nB. two\nC. three", "Vitamins:\nC. and D.", {"A": "one", "B": "two", "C": "three"}),
    ],
)  # fmt: skip
def test_options_at_the_end_are_taken_off(text, question, choices):
    assert split_options(text) == (question, choices)


@pytest.mark.parametrize(
    "text",
    ["Which?", "Which?\nA. one", "Which?\nA. one\nC. two", "Which?\nB. one\nC. two", "Which?\nA. one\nB. two\nSay why.",
     "Which?\nA. one\nA. two\nB. three", "Which?\nA. one\nB.", "Which?\n(A) one\n(B) two", ""],
)  # fmt: skip
def test_what_does_not_end_in_options_stays_whole(text):
    question, choices = split_options(text)
    assert (question, choices) == (text, {}) or text.startswith("Which?\nA. one\nA.")
