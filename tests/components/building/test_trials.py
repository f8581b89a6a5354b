from components.building.specification import read, schema_error
from components.building.testing import MOST, trials
from tests.components.building.formulas import CLEARANCE


def of(**properties):
    example = {"input": dict.fromkeys(properties, 2), "output": 1}
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return read(
        {"name": "F", "description": "f", "parameters": parameters, "examples": [example, {**example, "output": 2}]}
    )


def test_every_trial_is_valid_and_none_is_an_example():
    spec = read(CLEARANCE)
    found = trials(spec)
    shown = [one.input for one in spec.examples]
    assert found and all(not schema_error(spec.parameters, given) and given not in shown for given in found)


def test_the_ends_of_ranges_each_value_and_what_may_be_left_out_are_tried():
    found = trials(read(CLEARANCE))
    assert {18, 64, 110} <= {given["age"] for given in found}
    assert 300 in {given["weight"] for given in found} and 3.0 in {given["weight"] for given in found}
    assert any("sex" not in given for given in found)


def test_open_ends_are_tried_just_inside_and_an_unbounded_number_is_left_alone():
    inside = of(x={"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10})
    assert [given["x"] for given in trials(inside)] == [1, 9, 5]
    assert trials(of(x={"type": "number"})) == []


def test_the_number_of_trials_is_limited():
    assert len(trials(of(x={"type": "integer", "enum": list(range(10**5))}))) == MOST
    many = {f"x{n}": {"type": "number", "minimum": 0, "maximum": 9} for n in range(40)}
    assert len(trials(of(**many))) == MOST
