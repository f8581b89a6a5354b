from components.radiology.card_table import BOUNDS, OPTIONAL, TOOLS
from components.radiology.tasks import CATEGORIES, VARIABLES


def test_the_tables_speak_of_the_same_tools():
    assert set(BOUNDS) == set(TOOLS) >= set(OPTIONAL)
    assert {category for category, _ in TOOLS} == set(CATEGORIES) and len(TOOLS) == 15


def test_every_variable_is_one_of_memorys_but_the_references_slip():
    names = {name for inputs, outputs, _ in TOOLS.values() for name in f"{inputs} {outputs}".split()}
    optional = {name for text in OPTIONAL.values() for name in text.split()}
    assert names <= set(VARIABLES) and optional - set(VARIABLES) == {"ValueName"}


def test_only_tools_with_optional_inputs_have_a_step():
    for key, (lower, upper, bound_lower, bound_upper, step) in BOUNDS.items():
        assert (step > 0) == (key in OPTIONAL) == (upper > lower)
        assert 0 < lower <= bound_lower <= bound_upper <= 0.98
