"""Choices as their files have them, above what they are based on."""

from runner.config.described import described


def test_a_choice_has_what_its_base_has_and_a_description():
    found = {one.name: one for one in described("dataset")}
    assert found["mmlu/anatomy"].node["subjects"] == ["anatomy"] and "path" in found["mmlu/anatomy"].node
    assert all(one.text and not one.text.startswith("#") for one in found.values())
