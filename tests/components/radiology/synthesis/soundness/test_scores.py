import pytest

from components.radiology.synthesis.soundness.scores import level_of_score, place_of_score, usual_score
from tests.components.radiology.synthesis.soundness.sound import spoilt


def test_a_score_of_another_place_is_named_with_its_own():
    (flaw,) = place_of_score(spoilt({"Indicator.Name": "Lake Louise criteria"}))
    assert flaw == "Indicator.Name is 'Lake Louise criteria', which is used for Chest, MRI; this is Chest, X-ray"
    assert not list(place_of_score(spoilt({"Indicator.Name": "A score of nobody's"})))


def test_a_disease_without_a_usual_score_may_carry_any():
    assert not list(usual_score(spoilt({"Disease": "Silicosis", "Indicator.Name": "A grade"})))
    assert list(usual_score(spoilt({"Indicator.Name": "A grade"})))


@pytest.mark.parametrize(("value", "sound"), [("Grade b", True), ("IV", True), ("Definite", True), ("high", False)])
def test_a_level_is_a_number_a_numeral_or_a_word_of_scores(value, sound):
    assert bool(list(level_of_score(spoilt({"Indicator.Value": value})))) is not sound
    assert list(level_of_score(spoilt({"Indicator.Value": value + " 1" * 40})))
