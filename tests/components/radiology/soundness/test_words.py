from components.radiology.soundness.words import GIVEAWAY, name_words, numbers, plural_aware, sentences, words
from tests.components.radiology.soundness.sound import case


def test_words_numbers_and_sentences():
    assert words("X-ray of T8, 3.5 cm") == ["x-ray", "of", "t8", "3", "5", "cm"]
    assert numbers("3.5 cm and 14 mm") == {"3.5", "14"}
    assert sentences("It is 3.5 cm. Is it? Yes") == 2


def test_a_word_is_known_in_its_plural_and_as_a_part():
    assert {"mass", "masse", "plain", "film", "films"} <= plural_aware("masses plain-films") | {"mass"}


def test_ordinary_words_of_a_name_are_no_secret():
    record = case()["case"] | {"Disease": "Disease of the first rib"}
    assert {"scadding", "sarcoidosis"} & name_words(record) == {"scadding"}
    assert not {"disease", "first", "stage"} & name_words(record) and "picture" not in GIVEAWAY
