import json

import pytest

from components.building.specification import is_finite, kind, read, read_reply, schema_error
from components.core.errors import ToolError
from tests.components.building.formulas import CLEARANCE
from tests.table import each_row


def changed(**fields):
    return {**CLEARANCE, **fields}


def schema(**properties):
    return {"type": "object", "properties": properties}


def test_a_specification_is_read_with_the_kind_of_its_outputs():
    spec = read(CLEARANCE)
    assert (spec.name, spec.output, spec.required) == ("CockcroftGault", "number", ("age", "weight", "creatinine"))
    assert list(spec.properties) == ["age", "weight", "creatinine", "sex"] and len(spec.examples) == 3


def test_parameters_and_examples_may_come_as_text():
    texts = {name: json.dumps(CLEARANCE[name]) for name in ("parameters", "examples")}
    assert read(changed(**texts)) == read(CLEARANCE)


WRONG = {
    "no name": ({"name": "two words"}, "letters, digits and _ only"),
    "a keyword": ({"name": "lambda"}, "letters, digits and _ only"),
    "no description": ({"description": " "}, "description must say"),
    "no schema": ({"parameters": "none"}, "must be a JSON schema of type object"),
    "nothing to hand over": ({"parameters": schema()}, "at least one entry in properties"),
    "unknown words": ({"parameters": {**schema(x={"type": "number"}), "oneOf": []}}, "oneOf is not known here"),
    "a word that nobody tests": ({"parameters": schema(x={"type": "string", "pattern": "a"})}, "pattern is not tested"),
    "no type": ({"parameters": schema(x={"minimum": 1})}, "the type of x must be one of"),
    "a bound of a text": ({"parameters": schema(x={"type": "string", "minimum": 1})}, "stands with numbers only"),
    "an empty enum": ({"parameters": schema(x={"type": "string", "enum": []})}, "enum must list"),
    "an enum of another type": ({"parameters": schema(x={"type": "string", "enum": ["a", 1]})}, "all of type string"),
    "an enum out of bounds": (
        {"parameters": schema(x={"type": "number", "enum": [1, 9], "maximum": 5})}, "within its bounds"),
    "a default of another type": (
        {"parameters": schema(x={"type": "integer", "default": "a"})}, 'the default is "a", which is no integer'),
    "a reference": ({"parameters": schema(x={"$ref": "#/properties/x"})}, "the type of x must be one of"),
    "a list of types": ({"parameters": schema(x={"type": ["number", "null"]})}, "the type of x must be one of"),
    "required and no name": ({"parameters": {**schema(x={"type": "number"}), "required": [["x"]]}}, "required must"),
    "a bound that no number reaches": (
        {"parameters": schema(x={"type": "number", "minimum": 0, "maximum": 10**400})}, "what no JSON can"),
    "a bound that is none": ({"parameters": schema(x={"type": "number", "maximum": float("nan")})}, "what no JSON can"),
    "an output that is not finite": (
        {"examples": [{**one, "output": float("inf")} for one in CLEARANCE["examples"]]}, "what no JSON can"),
    "many levels": ({"description": "x", "parameters": "[" * 900 + "]" * 900}, "what no JSON can"),
    "half a character": ({"description": "\ud800"}, "what no JSON can"),
    "a name with a rank": ({"name": "_clearance"}, "and start with a letter"),
    "a list of lists": (
        {"parameters": schema(x={"type": "array", "items": {"type": "array"}})}, "and not an array"),
    "a strange parameter": ({"parameters": schema(**{"x y": {"type": "number"}})}, "cannot be called 'x y'"),
    "required and unknown": (
        {"parameters": {**schema(x={"type": "number"}), "required": ["y"]}}, "required must list parameters"),
    "one example": ({"examples": CLEARANCE["examples"][:1]}, "a list of 2 to 20"),
    "no output": ({"examples": [{"input": {"age": 1}}] * 2}, "with input (an object) and output"),
    "an example outside": (
        {"examples": [{"input": {"age": 5, "weight": 1, "creatinine": 1}, "output": 1}] * 2},
        "example 1 is not valid by the schema: age is 5, which is below 18"),
    "outputs of two kinds": (
        {"examples": [CLEARANCE["examples"][0], {**CLEARANCE["examples"][1], "output": "68"}]}, "of one kind"),
}  # fmt: skip


@each_row("fields, words", WRONG.values())
def test_an_untestable_specification_is_refused_with_the_reason(fields, words):
    with pytest.raises(ToolError) as raised:
        read(changed(**fields))
    assert words in str(raised.value) and raised.value.label == "bad_specification"


FAULTS = {
    "nothing": ({"age": 60, "weight": 70.5, "creatinine": 1}, ""),
    "a whole number as a float": ({"age": 60.0, "weight": 70, "creatinine": 1}, ""),
    "missing": ({"age": 60}, "'weight' is missing"),
    "unknown": ({"age": 60, "weight": 70, "creatinine": 1, "height": 2}, "there is no parameter 'height'"),
    "a text": ({"age": "60", "weight": 70, "creatinine": 1}, 'age is "60", which is no integer'),
    "a truth": ({"age": True, "weight": 70, "creatinine": 1}, "age is true, which is no integer"),
    "a half year": ({"age": 60.5, "weight": 70, "creatinine": 1}, "is no integer"),
    "not finite": ({"age": 60, "weight": float("inf"), "creatinine": 1}, "which is not finite"),
    "above": ({"age": 60, "weight": 301, "creatinine": 1}, "weight is 301, which is above 300"),
    "at an open end": ({"age": 60, "weight": 0, "creatinine": 1}, "which is not above 0"),
    "none of the values": ({"age": 60, "weight": 70, "creatinine": 1, "sex": "x"}, "is none of"),
}


@each_row("values, words", FAULTS.values())
def test_values_are_held_against_the_schema(values, words):
    fault_text = schema_error(CLEARANCE["parameters"], values)
    assert words in fault_text and bool(fault_text) == bool(words)


def test_errors_are_reported_in_few_words_for_any_request():
    for fields in ({"name": "x" * 10**5}, {"parameters": {**schema(x={"type": "number"}), "y" * 10**5: 1}}):
        with pytest.raises(ToolError) as raised:
            read(changed(**fields))
        assert len(str(raised.value)) < 700


def test_items_of_a_list_and_open_upper_ends_are_looked_at():
    numbers = schema(xs={"type": "array", "items": {"type": "number", "exclusiveMaximum": 5}})
    assert schema_error(numbers, {"xs": [1, 4.9]}) == ""
    assert "has an item that is not below 5" in schema_error(numbers, {"xs": [1, 5]})


def test_a_text_may_hold_a_specification():
    text = f"A tool is needed {{really}}.\n```json\n{json.dumps(CLEARANCE)}\n```"
    assert read_reply(text) == CLEARANCE
    for text in ('{"name": "x"} and {}', "{" * 10**5, '{"a":' * 10**5, '{"a":"' * 10**5):
        with pytest.raises(ToolError, match="holds no JSON object"):
            read_reply(text)


def test_kinds_are_those_of_json():
    kinds = [kind(value) for value in (True, 1, 1.5, "a", [1], {}, None)]
    assert kinds == ["boolean", "number", "number", "string", "array", "object", "null"]
    assert [is_finite(value) for value in (1, "x", float("nan"), 10**400)] == [True, True, False, False]
