from statistics import fmean

import pytest

from components.core.messages import Message
from components.core.types import Problem, Sample
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.skills.opinions import (
    Voice,
    believed,
    favoured,
    heart,
    letter_in,
    marked,
    right,
    voice_of,
)
from components.prompts import load
from tests.components.models.simulated.clinic import ALL
from tests.components.models.simulated.conftest import SAMPLES

CHOICES = {"A": "liver", "B": "pancreas", "C": "spleen"}
CHOICE = Sample(Problem("c", "A man has a high glucose. Which organ makes insulin?", CHOICES), "B")
DECISION = Sample(Problem("d", "Is it?"), "no", {"decisions": ("yes", "no", "maybe")})
OPTIONS = load("medagents").render("options", problem=CHOICE.problem)


def draws(seed=0):
    return Draws(seed, [Message("user", "x")])


def asked(side, options=OPTIONS):
    values = {"question": CHOICE.problem.question, "options": options, "field": "Surgery", "analyses": ()}
    return [Message("system", "You."), load("medagents").user(f"analyse_{side}", **values)]


@pytest.mark.parametrize("sample", [CHOICE, DECISION, SAMPLES[0], *ALL[::16]], ids=lambda one: one.problem.id)
def test_a_right_opinion_is_right_after_it_was_written_and_read_and_a_wrong_one_is_not(sample):
    for known in (True, False):
        for seed in range(8):
            opinion = believed(sample, known, draws(seed))
            (read,) = favoured(f"Some words.\n{marked(opinion)}\nMore.")
            assert right(sample, read) == known


def test_what_is_not_an_opinion_is_none():
    assert favoured("what they find most plausible and why. Close with the option that you find most plausible.") == []
    assert favoured("The most plausible option is B) pancreas\nMost plausible: C. spleen") == [
        "B) pancreas",
        "C. spleen",
    ]
    assert believed(None, True, draws()) == ""


def test_letters_are_read_from_what_experts_write():
    for text, letter in {"B. pancreas": "B", "B) x": "B", "pancreas": "B", "D. x": "", "both": ""}.items():
        assert letter_in(CHOICES, text) == letter
    assert letter_in({}, "no") == "no"


def test_another_wrong_opinion_is_another():
    seen = {believed(CHOICE, False, draws(seed), "A. liver") for seed in range(30)}
    assert seen == {"C. spleen"}
    assert {believed(DECISION, False, draws(seed), "yes") for seed in range(30)} == {"maybe"}


def test_knowing_by_heart_is_as_rare_as_in_a_direct_answer():
    medqa = next(one for one in ALL if one.metadata["task"] == "medqa")
    assert heart(medqa, Rates(competence=0.85)) == pytest.approx(0.85**3)
    assert heart(CHOICE, Rates(competence=0.85)) == 0.85


def test_records_are_known_by_heart_as_rarely_as_anywhere_and_a_wrong_opinion_on_them_does_not_hold_the_answer():
    facts = {"sql": "select 1", "sql_dialect": "mimic_iii"}
    record, gap = (Sample(Problem(n, "How many?"), {"answer": answer}, {**facts, "sql": sql}) for n, answer, sql in (("r", ["500"], "select 1"), ("g", None, None)))  # fmt: skip
    assert (
        heart(record, Rates(competence=0.85)) == pytest.approx(0.85**12) and heart(gap, Rates(competence=0.85)) == 0.85
    )
    assert right(record, believed(record, True, draws())) and right(gap, believed(gap, True, draws()))
    assert not any(right(record, believed(record, False, draws(n))) for n in range(60))


def test_an_expert_on_the_question_quotes_it_and_names_no_answer():
    voice = voice_of(asked("question"), CHOICE)
    said = voice.worded("B. pancreas", draws())
    assert "Surgery" in said and '"A man has a high glucose."' in said
    assert not favoured(said) and not any(text in said for text in CHOICES.values())
    assert voice.serves(CHOICE, said)


@pytest.mark.parametrize("options", [OPTIONS, ""])
def test_an_expert_on_the_answers_names_the_one_it_believes_in(options):
    voice = voice_of(asked("option", options), CHOICE)
    said = voice.worded("B. pancreas", draws())
    assert favoured(said) == ["B. pancreas"] and "Ruled out: A. liver; C. spleen" in said
    assert voice.serves(CHOICE, said) and not voice.serves(CHOICE, voice.worded("A. liver", draws()))
    assert not favoured(voice.worded("", draws()))


def test_who_sits_on_no_panel_says_the_answer_alone():
    messages = [Message("user", "Which organ?"), Message("assistant", "?"), *asked("option")]
    voice = voice_of(messages, CHOICE)
    assert voice == Voice() and voice.worded("B. pancreas", draws()) == "B. pancreas"
    assert voice.serves(CHOICE, "B. pancreas") and not voice.serves(CHOICE, "A. liver")


def test_a_question_that_the_key_lacks_is_no_trouble():
    assert not favoured(voice_of(asked("option"), None).worded("", draws()))
    assert "nothing that is known" in voice_of(asked("question"), None).worded("", draws())


def test_opinions_are_drawn_evenly_among_the_wrong_options():
    assert fmean(believed(CHOICE, False, draws(seed)) == "A. liver" for seed in range(400)) == pytest.approx(
        0.5, abs=0.1
    )
