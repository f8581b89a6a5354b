import json

import pytest

from components.core.errors import ConfigError, ToolError
from components.core.tools import Tool
from components.tools.privacy_detector import Finding, PrivacyDetector, join_findings, redact_findings
from tests.slow import slow

DETECTOR = PrivacyDetector()


async def test_the_text_comes_back_without_identifiers():
    note = "Mrs. Quill (MRN 00-12345) was seen on 3 March 2021. Quill lives alone; quill pens are unaffected."
    seen = await DETECTOR(None, response=note)
    output = json.loads(seen.text)
    assert output["text"] == (
        "Mrs. <PERSON> (MRN <RECORD_NUMBER>) was seen on <DATE>. <PERSON> lives alone; quill pens are unaffected."
    )
    assert output["findings"] == seen.data["findings"]
    assert [note[f["start"] : f["end"]] for f in output["findings"]] == ["Quill", "00-12345", "3 March 2021", "Quill"]
    assert "Quill" not in seen.text and "12345" not in seen.text


async def test_a_text_without_identifiers_comes_back_as_it_was():
    text = "A 45-year-old man has a blood pressure of 120/80 mmHg."
    assert json.loads((await DETECTOR(None, response=text)).text) == {"text": text, "findings": []}


async def test_the_tool_refuses_input_that_is_not_text_and_names_missing_fields():
    assert isinstance(DETECTOR, Tool) and DETECTOR.effect == "pure" and DETECTOR.missing == ""
    assert DETECTOR.spec.facts == {"dimension": "trust"}
    with pytest.raises(ToolError) as caught:
        await DETECTOR(None, response=7)
    assert caught.value.label == "bad_arguments"
    lacking = PrivacyDetector(engine="presidio", model="no_such_pipeline")
    with pytest.raises(ToolError, match="not installed") as caught:
        await lacking(None, response="a")
    assert caught.value.label == "unavailable" and lacking.missing in str(caught.value)


@slow
async def test_an_installed_pipeline_is_used(pipeline):
    seen = await PrivacyDetector(engine="presidio", model=pipeline)(None, response="Ada Quill has gout. Quill is well.")
    assert json.loads(seen.text)["text"] == "<PERSON> has gout. <PERSON> is well."


def test_a_model_is_refused_without_presidio():
    with pytest.raises(ConfigError, match="model needs engine: presidio"):
        PrivacyDetector(model="x")


def test_overlapping_findings_become_one_of_the_best_kind():
    first, second = Finding("RECORD_NUMBER", 3, 6, 0.9), Finding("PHONE", 3, 15, 0.4)
    assert join_findings([second, first, Finding("DATE", 20, 25, 0.6)]) == [
        Finding("RECORD_NUMBER", 3, 15, 0.9),
        Finding("DATE", 20, 25, 0.6),
    ]
    assert join_findings([Finding("EMAIL", 0, 9, 1.0), Finding("URL", 9, 12, 0.5)])[1].kind == "URL"
    assert redact_findings("ab cde f", [Finding("X", 3, 6, 1.0)]) == "ab <X> f"
