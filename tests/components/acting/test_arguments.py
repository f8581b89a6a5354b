import pytest

from components.acting.arguments import LONGEST_ALONE, missing_model, only_text, text_argument, text_spec
from components.core.errors import ToolError
from components.core.messages import ToolSpec
from tests.table import each_row

SPEC = text_spec("Reader", "Reads.", "sentence", "What to read.", "data")


@each_row(
    "value, message",
    [(7, "as a text, found int"), (None, "found NoneType"), (" ", "is empty"), ("x" * 20_001, "20,001")],
)
def test_arguments_are_texts(value, message):
    with pytest.raises(ToolError, match=message) as caught:
        text_argument(ToolSpec("Reader", "Reads."), "query", value)
    assert caught.value.label == "bad_arguments" and str(caught.value).startswith("Reader ")
    assert text_argument(ToolSpec("Reader", "Reads."), "query", " x ") == " x "


def test_a_text_is_taken_as_it_is():
    assert only_text(SPEC, " a b ") == " a b "


@each_row(
    "value,message",
    [
        (None, "found NoneType"),
        (["a"], "found list"),
        (" \n", "is empty"),
        ("a\ud800", "cannot be written"),
        ("x" * (LONGEST_ALONE + 1), "100,001"),
    ],
)
def test_a_value_that_is_not_a_text_is_reported_to_the_model(value, message):
    with pytest.raises(ToolError, match=message) as caught:
        only_text(SPEC, value)
    assert caught.value.label == "bad_arguments" and "Reader" in str(caught.value)


def test_the_spec_names_its_one_parameter_and_its_dimension():
    assert SPEC.parameters["required"] == ["sentence"] and SPEC.facts == {"dimension": "data"}


def test_a_pipeline_that_is_not_installed_is_named():
    assert missing_model("Reader", None) == "" and missing_model("Reader", "spacy") == ""
    assert "'no_such_pipeline' is not installed" in missing_model("Reader", "no_such_pipeline")
