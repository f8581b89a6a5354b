from dataclasses import replace
from time import perf_counter

import pytest

from components.core.errors import ConfigError
from components.core.messages import Message, ToolCall, Usage
from components.core.types import Observation, Observed, Problem, Refusal, Sample, Step, Trajectory
from components.rubrics.rubric import LONGEST, Draw, Field, Rubric, as_text, shorten_middle, texts_of
from tests.table import each_row

CATEGORIES = {"facts": "A fact is wrong.", "logic": "A step is wrong."}
ONE, SEVERAL = Field("Why?", CATEGORIES), Field("Why?", CATEGORIES, "several")


def rubric(**values):
    defaults = {"name": "mine", "source": "us", "question": "Why?", "shows": ["question"], "fields": {"cause": ONE}}
    return Rubric(**(defaults | values))


@each_row(
    "field, text, picked",
    [
        (ONE, "facts", ("facts",)),
        (ONE, "  Logic. ", ("logic",)),
        (ONE, "**logic**", ("logic",)),
        (SEVERAL, "logic; facts", ("facts", "logic")),
        (SEVERAL, "facts | facts", ("facts",)),
        (SEVERAL, "none", ()),
    ],
)
def test_a_value_is_read(field, text, picked):
    assert field.read(text) == picked


@each_row(
    "field, text, wrong",
    [
        (ONE, " ", "has no value; valid: facts, logic"),
        (ONE, "fact", "has 'fact', which is not allowed; valid: facts, logic"),
        (ONE, "facts; logic", "has 2 values, where one is asked for"),
        (ONE, "none", "has 'none', which is not allowed"),
        (SEVERAL, "none; facts", "has 'none' with others"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_with_those_that_are(field, text, wrong):
    with pytest.raises(ValueError, match=wrong):
        field.read(text)


@each_row(
    "reply, picked",
    [
        ("The dose is wrong.\ncause: facts", ("facts",)),
        ("cause: facts, I thought.\n- **Cause:** logic", ("logic",)),
        ("cause: facts or logic", None),
        ("because: facts", None),
        ("", None),
    ],
)
def test_the_last_line_with_the_field_name_counts_and_an_unreadable_one_gives_none(reply, picked):
    assert rubric().said(reply) == {"cause": picked}


@each_row(
    "draw, stop, scores, taken",
    [
        (Draw(), "answered", {}, True),
        (Draw(), "error", {}, False),
        (Draw(of="samples"), "error", {}, True),
        (Draw(which="failures", score="s"), "answered", {"s": 0.5}, True),
        (Draw(which="failures", score="s"), "answered", {"s": 1.0}, False),
        (Draw(which="failures", score="s"), "answered", {"s": None}, False),
    ],
)
def test_failures_are_scored_episodes_below_1(draw, stop, scores, taken):
    assert draw.takes(stop, scores) is taken


WRONG = {
    "one category": (lambda: Field("Why?", {"a": "x"}), "there must be two or more"),
    "a name with a blank": (lambda: Field("Why?", {"a b": "x", "c": "y"}), "found the name 'a b'"),
    "none next to several": (lambda: Field("Why?", {"none": "x", "c": "y"}, "several"), "already says"),
    "failures without a score": (lambda: Draw(which="failures"), "need a score"),
    "an unknown part": (lambda: rubric(shows=["model"]), "shows: found 'model'; valid: question, context"),
    "no field": (lambda: rubric(fields={}), "has fields"),
    "an answer of a sample": (lambda: rubric(shows=["answer"], draw=Draw(of="samples")), "answer belong to an episode"),
    "an unknown score": (lambda: Draw(which="failures", score="s").takes("answered", {"t": 1}), "not a score here"),
    "a score that is not a share": (
        lambda: Draw(which="failures", score="s").takes("answered", {"s": 3}),
        "from 0 to 1",
    ),
}


@each_row("make, wrong", WRONG.values())
def test_an_invalid_rubric_is_refused(make, wrong):
    with pytest.raises(ConfigError, match=wrong):
        make()


def test_the_digest_changes_only_with_what_raters_are_asked():
    same, other = rubric(draw=Draw(n=7), source="them"), rubric(note="Be kind.")
    assert rubric().digest == same.digest != other.digest


def test_a_value_with_many_spaces_is_read_in_a_moment():
    began = perf_counter()
    assert Field("Which?", {"a": "x", "b": "y"}, "several").read("a ;" + " " * 200_000 + "b\r\n| a") == ("a", "b")
    assert perf_counter() - began < 5


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


def test_a_question_shows_options_and_input_names_and_a_letter_shows_its_option():
    shown = texts_of(["question", "context", "reference"], SAMPLE)
    assert shown == {
        "Question": "Which?\nA. Aspirin\nB. Biopsy\n[image: scan]", "Given": "A man of 40.", "Reference": "B. Biopsy",
    }  # fmt: skip


def test_metadata_are_written_out_by_name():
    assert texts_of(["metadata.record"], SAMPLE) == {"Record": "Age: 40\nFindings:\n  - a node\n  - a cyst"}
    assert texts_of(["metadata.nothing"], SAMPLE) == {"Nothing": "(nothing)"}
    assert as_text({"answer": ["x"]}) == "answer:\n  - x"


@each_row(
    "target, shown",
    [({"answer": ["x", 1]}, "- x\n- 1"), ({"chain": "01", "answer": "x"}, "chain: 01\nanswer: x"), (None, "(nothing)")],
)
def test_a_reference_is_shown_as_it_is_in_the_data(target, shown):
    assert texts_of(["reference"], replace(SAMPLE, target=target)) == {"Reference": shown}


def test_steps_describe_messages_calls_and_results():
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


def test_what_a_tools_model_says_is_shown_once():
    seen = Observed(CALL, Observation("a node"))
    steps = [step("", observed=[seen], calls=(CALL,)), step(" a node", "tool"), step("select 1", "tool")]
    shown = texts_of(["steps"], SAMPLE, Trajectory(steps))["What was done"]
    assert shown.count("a node") == 1 and "[2]\nselect 1" in shown


def test_the_answer_is_the_answer_the_refusal_or_the_kind_of_ending():
    answered, refused = Trajectory(stop="answered", answer="B"), Trajectory(refusal=Refusal({"ability": "missing"}))
    shown = [texts_of(["answer"], SAMPLE, one)["Answer"] for one in (answered, refused, Trajectory(stop="limit"))]
    assert shown == ["B. Biopsy", "The task was refused.\nability: missing", "No answer was given (limit)."]


def test_an_answer_in_words_is_shown_as_it_is():
    said = Trajectory(stop="answered", answer="C, or B")
    assert texts_of(["answer"], SAMPLE, said)["Answer"] == "C, or B"


def test_a_long_text_loses_its_middle_and_says_how_much():
    text = "a" * LONGEST + "z" * 100
    cut = shorten_middle(text)
    assert len(cut) < LONGEST and cut.startswith("aaa") and cut.endswith("zzz") and "2,600 characters" in cut
