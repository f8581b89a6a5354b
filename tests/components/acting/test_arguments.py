import pytest

from components.acting.arguments import text_argument
from components.core.errors import ToolError
from components.core.messages import ToolSpec

SPEC = ToolSpec("Reader", "Reads.")


@pytest.mark.parametrize(
    ("value", "says"),
    [(7, "as a text, found int"), (None, "found NoneType"), (" ", "is empty"), ("x" * 20_001, "20,001")],
)
def test_arguments_are_texts(value, says):
    with pytest.raises(ToolError, match=says) as caught:
        text_argument(SPEC, "query", value)
    assert caught.value.label == "bad_arguments" and str(caught.value).startswith("Reader ")
    assert text_argument(SPEC, "query", " x ") == " x "
