from dataclasses import replace

import pytest

from components.core.messages import Message, ToolCall, Usage
from components.core.types import Observation, Observed, Problem, Refusal, Sample, Step, Trajectory
from components.rubrics.texts import LONGEST, shortened, texts_of, written

SAMPLE = Sample(
    Problem("p", "Which?", {"A": "Aspirin", "B": "Biopsy"}, "A man of 40.", inputs={"image": "scan"}), "B",
    {"record": {"Age": 40, "Findings": ["a node", "a cyst"]}},
)  # fmt: skip
CALL = ToolCall("1", "look", '{"at": "lung"}')


def step(text, purpose="act", committed=True, observed=(), calls=()):
    return Step(
        purpose, "main", "main", 0, 0, (Message("user", "the prompt"),), Message("assistant", text, calls), Usage(),
        committed=committed, observed=list(observed),
    )  # fmt: skip


def test_a_question_comes_with_options_and_names_of_inputs_and_a_letter_with_its_option():
    shown = texts_of(["question", "context", "reference"], SAMPLE)
    assert shown == {
        "Question": "Which?\nA. Aspirin\nB. Biopsy\n[image: scan]", "Given": "A man of 40.", "Reference": "B. Biopsy",
    }  # fmt: skip


def test_metadata_are_written_out_by_name():
    assert texts_of(["metadata.record"], SAMPLE) == {"Record": "Age: 40\nFindings:\n  - a node\n  - a cyst"}
    assert texts_of(["metadata.nothing"], SAMPLE) == {"Nothing": "(nothing)"}
    assert written({"answer": ["x"]}) == "answer:\n  - x"


@pytest.mark.parametrize(
    ("target", "shown"),
    [({"answer": ["x", 1]}, "- x\n- 1"), ({"chain": "01", "answer": "x"}, "chain: 01\nanswer: x"), (None, "(nothing)")],
)
def test_a_reference_is_shown_as_the_data_have_it(target, shown):
    assert texts_of(["reference"], replace(SAMPLE, target=target)) == {"Reference": shown}


def test_steps_tell_what_was_said_called_and_returned():
    seen = Observed(CALL, Observation("a node"))
    failed = Observed(CALL, Observation("no lung"), "not_found")
    steps = [
        step("I look.", observed=[seen], calls=(CALL,)), step("I do not.", committed=False), step("Good.", "verify"),
        step("grade: 1", "judge"), step("Again.", observed=[failed]), step("", calls=(CALL,)),
    ]  # fmt: skip
    shown = texts_of(["steps"], SAMPLE, Trajectory(steps))["What was done"]
    assert shown == (
        '[1]\nI look.\nCalled: look {"at": "lung"}\nReturned: a node\n\n'
        '[2]\nAgain.\nCalled: look {"at": "lung"}\nFailed (not_found): no lung\n\n'
        '[3]\nNot run: look {"at": "lung"}'
    )


def test_the_answer_is_the_answer_the_refusal_or_how_it_ended():
    answered, refused = Trajectory(stop="answered", answer="B"), Trajectory(refusal=Refusal({"ability": "missing"}))
    shown = [texts_of(["answer"], SAMPLE, one)["Answer"] for one in (answered, refused, Trajectory(stop="limit"))]
    assert shown == ["B. Biopsy", "The task was refused.\nability: missing", "No answer was given (limit)."]


def test_an_answer_in_words_is_shown_as_it_is():
    said = Trajectory(stop="answered", answer="C, or B")
    assert texts_of(["answer"], SAMPLE, said)["Answer"] == "C, or B"


def test_a_long_text_loses_its_middle_and_says_how_much():
    text = "a" * LONGEST + "z" * 100
    cut = shortened(text)
    assert len(cut) < LONGEST and cut.startswith("aaa") and cut.endswith("zzz") and "2,600 characters" in cut
