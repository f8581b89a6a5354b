import pytest

from components.core.errors import ConfigError
from components.files.file_dataset import (
    add_request,
    draw,
    draw_in_proportion,
    draw_split,
    explanation,
    row_letter,
    row_options,
    task_sample,
)
from components.files.rows import Row
from tests.table import each_row


def test_sample_names_task_and_dimension():
    sample = task_sample("medcalc", "numerical", "m-1", "How much?", {}, strata={"category": "lab"}, cluster="p")
    assert sample.metadata == {"task": "medcalc"} and sample.cluster == "p"
    assert sample.strata == {"task": "medcalc", "dimension": "numerical", "category": "lab"}


def test_question_gets_its_request():
    assert (add_request("Who?", "Be brief."), add_request("Who?", "")) == ("Who?\nBe brief.", "Who?")


def row(**values):
    return Row("data.jsonl:3", values)


def test_options_come_in_the_order_of_their_letters():
    assert list(row_options(row(options={"B": "two", "A": "one", "C": "three"}), most=3)) == ["A", "B", "C"]


@each_row(
    "options, message",
    [
        ({"A": "one"}, "options: must be 2 to 3 options, found 1"),
        (dict.fromkeys("ABCD", "x"), "options: must be 2 to 3 options, found 4"),
        ({"A": "one", "C": "two"}, "options: must be lettered from A on, found A, C"),
        ({"a": "one", "b": "two"}, "options: must be lettered from A on, found a, b"),
        ({"A": "one", "B": "\t"}, "options: option B is empty"),
        ({"A": "one", "B": None}, "options: must be an object of texts"),
        (["one", "two"], "options: must be an object of texts"),
    ],
)
def test_wrong_options_are_refused_with_their_place(options, message):
    with pytest.raises(ConfigError) as caught:
        row_options(row(options=options), most=3)
    assert str(caught.value).startswith(f"data.jsonl:3: {message}")


def test_an_exact_number_of_options_is_said_as_one():
    with pytest.raises(ConfigError, match="must be 4 options, found 2"):
        row_options(row(options={"A": "1", "B": "2"}), least=4, most=4)


def test_the_letter_is_one_of_the_options():
    assert row_letter(row(right="B"), "right", {"A": "x", "B": "y"}) == "B"
    for right in ("C", "b", "", None, 1):
        with pytest.raises(ConfigError, match=r"data\.jsonl:3: right: must be"):
            row_letter(row(right=right), "right", {"A": "x", "B": "y"})
    with pytest.raises(ConfigError, match="right: is missing"):
        row_letter(row(), "right", {"A": "x"})


def test_an_explanation_is_a_text_or_there_is_none():
    assert explanation(row(why=" So. "), "why") == {"explanation": "So."}
    assert [explanation(one, "why") for one in (row(), row(why=None), row(why=" "))] == [{}, {}, {}]
    with pytest.raises(ConfigError, match=r"why: must be a text or null, found \[\]"):
        explanation(row(why=[]), "why")


def test_draw_depends_on_the_seed_and_keeps_the_order():
    first = draw(range(100), 10, "0/a")
    assert first == draw(range(100), 10, "0/a") == sorted(first)
    assert first != draw(range(100), 10, "1/a")


def test_all_are_drawn_where_there_are_no_more():
    assert draw("abc", None, "0") == draw("abc", 3, "0") == draw("abc", 9, "0") == ["a", "b", "c"]


def test_groups_get_their_share_by_largest_remainders():
    groups = {
        "a": [("a", n) for n in range(50)],
        "b": [("b", n) for n in range(35)],
        "c": [("c", n) for n in range(15)],
    }
    chosen = draw_in_proportion(groups, 11, "0")
    assert [len(chosen[name]) for name in "abc"] == [5, 4, 2]
    assert chosen == draw_in_proportion(groups, 11, "0") != draw_in_proportion(groups, 11, "1")
    assert draw_in_proportion(groups, None, "0") == draw_in_proportion(groups, 100, "0") == groups


def test_a_split_takes_none_of_the_test_items():
    parts = {split: draw_split(range(20), 5, "0/a", split) for split in ("test", "train")}
    assert parts["test"] == draw(range(20), 5, "0/a") and len(parts["train"]) == 5
    assert not set(parts["test"]) & set(parts["train"])
    assert draw_split("abc", None, "0", "test") == ["a", "b", "c"] and draw_split("abc", None, "0", "train") == []
