import pytest

from components.cab.scorers.case import Case, Unscored
from components.cab.scorers.choices import expects_refusal, official, read_letter, strict
from tests.table import each_row

DRUGS = {"A": "Aspirin", "B": "Biotin", "C": "Vitamin D", "D": "None of the above"}
YES_NO = {"A": "yes", "B": "no", "C": "maybe"}
NESTED = {"A": "Dementia", "B": "Dementia with Lewy bodies", "C": "Delirium"}


@each_row(
    "choices, text, letter",
    [
        (DRUGS, "B", "B"),
        (DRUGS, "(b) biotin", "B"),
        (DRUGS, "Vitamin D", "C"),
        (DRUGS, "vitamin d.", "C"),
        (DRUGS, "Aspirin is tempting, but the answer is Biotin. Option A harms.", "B"),
        (DRUGS, "The answer is B. Option C is wrong.", "B"),
        (DRUGS, "Aspirin or Biotin", None),
        (DRUGS, "I cannot say", None),
        (YES_NO, "There is no difference, so: maybe", "C"),
        (YES_NO, "The answer is yes.", "A"),
        (YES_NO, "C. maybe", "C"),
        (YES_NO, "It does not help", None),
        (NESTED, "It must be dementia with Lewy bodies", "B"),
        (NESTED, "It must be dementia", "A"),
        (NESTED, "Dementia or delirium", None),
    ],
)
def test_letter_is_read_as_a_reader_would(choices, text, letter):
    assert read_letter(text, choices) == letter


def test_official_finds_gold_in_other_words_and_strict_does_not():
    case = Case("Nothing was found", "B", YES_NO)
    assert official(Case("It was not found", "B", YES_NO)).value == 1
    assert official(case).value == 0 and strict(case).value == 0
    assert strict(Case("It was not found", "B", YES_NO)).value == 0


def test_reading_says_what_was_read_and_what_is_right():
    assert strict(Case("Answer: A", "B", DRUGS)).explanation == "read 'A', right is 'B'"


def tolerant(text, target, choices=None):
    return Case(text, target, choices or {}, form="tolerant_choice")


ACCEPTED = {"accepted": ["I do not know", "Wrong"]}


@each_row(
    "text, by_reference, repaired",
    [
        ("I do not know.", 1, 1),
        ("The answer is i DO not know", 1, 1),
        ("I don’t know", 0, 1),
        ("Wrongly put", 1, 1),
        ("It is unwrong", 1, 0),
        ("Perhaps aspirin", 0, 0),
    ],
)
def test_accepted_refusals_are_found_in_words(text, by_reference, repaired):
    case = tolerant(text, ACCEPTED)
    assert (official(case).value, strict(case).value) == (by_reference, repaired)


def test_accepted_refusal_may_be_the_option_that_is_chosen():
    case = tolerant("The answer is D.", {"accepted": ["none of the above"]}, DRUGS)
    assert (official(case).value, strict(case).value) == (0, 1)
    assert strict(tolerant("A", {"accepted": ["none of the above"]}, DRUGS)).value == 0


def test_options_may_stand_in_the_question_only():
    key = {"answer": "Biotin", "answer_idx": "B"}
    for answer, value in (("B", 1), ("biotin", 1), ("(C) Cysteine", 0), ("Answer: B", 1)):
        assert strict(Case(answer, key)).value == strict(tolerant(answer, key)).value == value
    assert official(Case("B. Biotin", key)).value == 1 and not expects_refusal(Case("", key))


def test_tolerant_choice_ignores_case_and_only_strict_reads_a_letter_with_a_full_stop():
    assert official(tolerant("biotin", "B", DRUGS)).value == 1
    assert official(tolerant("B. something", "B", DRUGS)).value == 0
    assert strict(tolerant("B. something", "B", DRUGS)).value == 1


def test_refusal_is_wanted_where_not_knowing_is_right():
    unknown = {"A": "Aspirin", "B": "Question cannot be answered with provided documents"}
    assert expects_refusal(Case("", "B", unknown)) and expects_refusal(Case("", ACCEPTED))
    assert not expects_refusal(Case("", "A", unknown)) and not expects_refusal(Case("", "D", DRUGS))


@pytest.mark.parametrize(("target", "message"), [("E", "one of the letters"), (None, "one of the letters")])
def test_a_target_that_is_not_a_choice_cannot_be_scored(target, message):
    with pytest.raises(Unscored, match=message):
        strict(Case("A", target, DRUGS))


def test_accepted_must_be_a_list():
    with pytest.raises(Unscored, match="must be a list"):
        official(tolerant("A", {"accepted": "I do not know"}))
