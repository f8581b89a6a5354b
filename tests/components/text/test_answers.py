import time

import pytest

from components.text import answers
from components.text.answers import (
    after_lead,
    after_mark,
    announced_answer,
    chosen,
    conclusion,
    letter_of,
    letter_options,
    marked,
    parse_decision,
    parse_letter,
    published_letter,
    sentence,
    split_options,
)
from tests.table import each_row

OPTIONS = {"A": "Furosemide", "B": "Cross-linking of DNA", "C": "Aspirin", "D": "Observation", "E": "Biopsy"}


@each_row(
    "raw, letter",
    [
        ("First I thought option A. The answer is option B, not choice 3.", "B"),
        ("**Answer:** B", "B"),
        ("**Answer: B**", "B"),
        ("The correct choice would be - (D)", "D"),
        ("Answer: A patient in shock needs fluids.", "A"),
        ("*C*", "C"),
        ("B.\nIt binds DNA.", "B"),
        ("A is right, A is best", "A"),
        ("A biopsy is next", "E"),
        ("an observation, then", "D"),
    ],
)
def test_letter_is_read(raw, letter):
    assert parse_letter(raw, OPTIONS) == letter


@each_row(
    "raw",
    [
        "ERROR",
        " ERROR. ",
        "\n",
        "B or C",
        "answer: D's",
        "vitamin D's",
        "b",
        "Aspirin or a biopsy",
        "A careful history",
        "Either a or b",
        "Answer: F",
    ],
)
def test_unreadable_reply_gives_no_letter(raw):
    assert parse_letter(raw, OPTIONS) is None


@each_row(
    "raw, decision",
    [
        ("Answer: yes", "yes"),
        ("No difference was found.\n**Answer:** Maybe", "maybe"),
        ("The answer is no", "no"),
        ("NO.", "no"),
        ("Yes, because there was no bleeding.", "yes"),
        ("There was no effect on survival; so yes", "yes"),
        ("My decision: maybe, yes is too strong", "maybe"),
    ],
)
def test_decision_is_read(raw, decision):
    assert parse_decision(raw) == decision


@each_row("raw", ["", "ERROR.", "yes and no", "No difference was found", "unknown", "Yesterday", "no-one"])
def test_unreadable_reply_gives_no_decision(raw):
    assert parse_decision(raw) is None


def test_only_the_named_decisions_are_read():
    assert parse_decision("Answer: maybe", ("yes", "no")) is None
    assert parse_decision("Answer: unclear", ("yes", "unclear")) == "unclear"


def test_the_text_after_the_last_mark_is_the_answer():
    assert after_mark("Answer: a\nNo.\n**Final answer:** two\nlines") == "two\nlines"
    assert after_mark("**Answer: B**") == "B"
    assert after_mark(" In answer: the lung ") == "In answer: the lung"


def test_endless_white_space_costs_no_time():
    text = "answer" + " " * 100_000 + "x" + "\n" * 100_000
    started = time.monotonic()
    parse_letter(text, OPTIONS), parse_decision(text), after_mark(text)
    assert time.monotonic() - started < 2


TEN = {letter: f"option {letter.lower()}" for letter in "ABCDEFGHIJ"}


@each_row(
    "said, letter",
    [
        ("I cannot tell.", None), ("I would use the next tool that fits, and then see what it returns.", None),
        ("My answer: I believe it is C.", "C"), ("I think it is D.", "D"), ("I", "I"), ("Option: I", "I"),
        ("I. Biopsy", "I"), ("Answer: I is the only one that fits", "I"), ("The answer is I, since it grows", "I"),
    ],
)  # fmt: skip
def test_the_speaker_is_not_an_option(said, letter):
    assert parse_letter(said, TEN) == letter


TWO = {"A": "gout", "B": "scurvy"}


@each_row(
    "reply, kept",
    [
        ("Option: A", "A"), ("I reason.\nAnswer: **B**", "B"), ("Option: B. scurvy\nThat is it.", "B. scurvy"),
        ("Option: A\n\nOn reflection the right option is B.", None), ("Option: B\nNote: A is ruled out.", None),
        ("no mark at all", None),
    ],
)  # fmt: skip
def test_a_reply_is_cut_to_what_it_marks_where_no_reader_reads_another_letter(reply, kept):
    short = chosen(reply, TWO)
    assert short == (reply if kept is None else kept)
    assert parse_letter(short, TWO) == parse_letter(reply, TWO)
    assert published_letter(short) == published_letter(reply)


@each_row(
    "reply, answer",
    [
        ("The answer is heparin", "heparin"), ("It thins blood, so the answer is: heparin", "heparin"),
        ("The answer is warfarin? No. The answer is heparin", "heparin"), ("Answer: heparin", "heparin"),
        ("heparin", "heparin"), ("", ""),
    ],
)  # fmt: skip
def test_the_completion_of_the_phrase_the_answer_is(reply, answer):
    assert after_lead(reply) == answer


CHOICES = {"A": "Vitamin C", "B": "Vitamin D.", "C": "vitamin d", "D": " None "}


@each_row(
    "text, letter",
    [("Vitamin C", "A"), ("vitamin  c.", "A"), ("Vitamin D.", "B"), ("vitamin d", "C"), ("VITAMIN D", None),
     ("None", "D"), ("zinc", None)],
)  # fmt: skip
def test_letter_of_a_text_is_exact_before_it_is_loose_and_never_a_guess(text, letter):
    assert letter_of(CHOICES, text) == letter


def test_texts_get_letters_in_order():
    assert letter_options(["yes", "no"]) == {"A": "yes", "B": "no"}


@each_row(
    "text, question, choices",
    [
        ("Which?\nA. one\nB. two", "Which?", {"A": "one", "B": "two"}),
        ("Which?\n\nA.one\n\n B. two \n", "Which?", {"A": "one", "B": "two"}),
        ("A. is a letter\nWhich?\nA. one\nB. two", "A. is a letter\nWhich?", {"A": "one", "B": "two"}),
        ("Vitamins:\nC. and D.\nA. one\nB. two\nC. three", "Vitamins:\nC. and D.", {"A": "one", "B": "two", "C": "three"}),
    ],
)  # fmt: skip
def test_options_at_the_end_are_taken_off(text, question, choices):
    assert split_options(text) == (question, choices)


@each_row(
    "text",
    ["Which?", "Which?\nA. one", "Which?\nA. one\nC. two", "Which?\nB. one\nC. two", "Which?\nA. one\nB. two\nSay why.",
     "Which?\nA. one\nA. two\nB. three", "Which?\nA. one\nB.", "Which?\n(A) one\n(B) two", ""],
)  # fmt: skip
def test_a_text_that_does_not_end_in_options_is_unchanged(text):
    question, choices = split_options(text)
    assert (question, choices) == (text, {}) or text.startswith("Which?\nA. one\nA.")


@each_row(
    "text, expected",
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


@each_row(
    "text, expected",
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
    assert announced_answer(text) == expected
    assert conclusion(text) == (expected or text)


def test_sentence_ends_before_a_capital_or_at_a_line_and_not_in_a_number():
    assert sentence("The answer is 0.5 mg approx. daily. Then stop.") == "0.5 mg approx. daily"
    assert sentence("Answer: liver\nThe rest") == "liver"


def test_a_reply_is_read_once_until_it_is_scored(monkeypatch):
    read, texts = answers._letter_places, []
    monkeypatch.setattr(answers, "_letter_places", lambda text, options: texts.append(text) or read(text, options))
    reply = "<answer>A</answer> " * 50
    assert parse_letter(chosen(reply, OPTIONS), OPTIONS) == "A"
    assert texts == [reply.strip()]
