from components.core.messages import Message, ToolCall, Usage
from components.core.types import Observation, Observed, Step, Trajectory
from components.faults.marks import (
    add_mark,
    brought_down,
    changed_cards,
    fault_lines,
    marked_failure,
    marks,
    remaining_errors,
    with_mark,
)

CALL = ToolCall("1", "x", "{}")


def step(*observed):
    return Step("act", "main", "main", 0, 0, (), Message("assistant"), Usage(), observed=list(observed))


def wrote(**changes):
    found = Observation("", {"outputs": dict.fromkeys(("$A$", "$B$"), "")})
    return Observed(CALL, add_mark(found, "noisy", changes=changes) if changes else found)


def test_marks_are_added_and_read():
    once = add_mark(Observation("x", {"kept": 1}), "slow", seconds=2)
    assert once.text == "x" and once.data == {"kept": 1, "faults": [{"kind": "slow", "seconds": 2}]}
    assert [mark["kind"] for mark in marks(Observed(CALL, add_mark(once, "noisy")))] == ["slow", "noisy"]
    assert with_mark({"a": 1}, "denied", {}) == {"a": 1, "faults": [{"kind": "denied"}]}


def test_marks_are_passed_to_readers():
    found = add_mark(add_mark(Observation("x"), "slow", seconds=2), "noisy", changes={"$A$": ["29", "31"]}, amount=0.1)
    assert fault_lines(Observed(CALL, found)) == ["slow, seconds 2", "noisy, $A$: shown 31, right is 29, amount 0.1"]
    assert fault_lines(Observed(CALL, Observation("x"))) == []


def test_a_failure_is_labelled_by_its_fault():
    error = marked_failure("denied", "no")
    assert (str(error), error.label) == ("no", "denied")
    down = Observed(CALL, Observation("no", error.data), error.label)
    assert brought_down(down)
    assert not brought_down(Observed(CALL, Observation("no", {"faults": [{"kind": "renamed"}]}), "bad_arguments"))
    assert not brought_down(Observed(CALL, down.observation))


def test_a_value_is_left_wrong_until_it_is_written_again():
    wrong = wrote(**{"$A$": ["1", "2"], "$B$": ["3", "4"]})
    assert remaining_errors(Trajectory([step(wrong)])) == {"$A$": ("1", "2"), "$B$": ("3", "4")}
    assert remaining_errors(Trajectory([step(wrong), step(wrote())])) == {}
    assert remaining_errors(Trajectory([step(wrong), step(wrote(**{"$A$": ["1", "5"]}))])) == {"$A$": ("1", "5")}


def test_changed_cards_are_those_of_all_faults():
    facts = {"faults": [{"kind": "noisy"}, {"kind": "renamed", "cards": ["a"]}, {"kind": "undocumented", "cards": []}]}
    assert changed_cards(Trajectory(facts=facts)) == ["a"] and changed_cards(Trajectory()) == []
