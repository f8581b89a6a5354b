import pytest

from components.acting.text_arguments import LONGEST, given_text, missing_model, text_spec
from components.core.errors import ToolError

SPEC = text_spec("Reader", "Reads.", "sentence", "What to read.", "data")


def test_a_text_is_taken_as_it_is():
    assert given_text(SPEC, " a b ") == " a b "


@pytest.mark.parametrize(
    "value,says",
    [
        (None, "found NoneType"),
        (["a"], "found list"),
        (" \n", "is empty"),
        ("a\ud800", "cannot be written"),
        ("x" * (LONGEST + 1), "100,001"),
    ],
)
def test_what_is_no_text_is_told_to_the_model(value, says):
    with pytest.raises(ToolError, match=says) as caught:
        given_text(SPEC, value)
    assert caught.value.label == "bad_arguments" and "Reader" in str(caught.value)


def test_the_spec_names_its_one_parameter_and_its_dimension():
    assert SPEC.parameters["required"] == ["sentence"] and SPEC.facts == {"dimension": "data"}


def test_a_pipeline_that_is_not_installed_is_named():
    assert missing_model("Reader", None) == "" and missing_model("Reader", "spacy") == ""
    assert "'no_such_pipeline' is not installed" in missing_model("Reader", "no_such_pipeline")
