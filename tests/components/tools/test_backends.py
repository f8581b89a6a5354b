"""A tool whose backend lacks something says what."""

import pytest

from components.acting.arguments import text_spec
from components.core.errors import ToolError
from components.tools.backends import Backend, plain, ready
from components.tools.drugs import Drugs
from components.tools.openfda import OpenFda
from components.tools.passages import Passages

SPEC = text_spec("Lookup", "Looks up.", "term", "A term.", "knowledge")


def test_a_backend_that_has_all_is_ready_and_one_that_lacks_a_file_is_unavailable():
    ready(SPEC, "")
    with pytest.raises(ToolError, match=r"^Lookup is unavailable: no file x\.$") as caught:
        ready(SPEC, "no file x")
    assert caught.value.label == "unavailable"


def test_every_place_where_answers_are_found_is_a_backend_and_of_one_kind():
    assert isinstance(OpenFda(), Backend) and isinstance(OpenFda(), Drugs)
    assert not isinstance(OpenFda(), Passages)


def test_names_are_compared_in_one_case_with_single_spaces():
    assert plain("  Acetylsalicylic\n ACID ") == plain("acetylsalicylic acid") == "acetylsalicylic acid"
