from components.radiology.synthesis.record_checks import (
    TABLES,
    name_words,
    numbers,
    odd_piece,
    plural_aware,
    reads_english,
    sentences,
    words,
)
from tests.components.radiology.synthesis.sound import case


def test_words_numbers_and_sentences():
    assert words("X-ray of T8, 3.5 cm") == ["x-ray", "of", "t8", "3", "5", "cm"]
    assert numbers("3.5 cm and 14 mm") == {"3.5", "14"}
    assert sentences("It is 3.5 cm. Is it? Yes") == 2


def test_a_word_is_known_in_its_plural_and_as_a_part():
    assert {"mass", "masse", "plain", "film", "films"} <= plural_aware("masses plain-films") | {"mass"}


def test_ordinary_words_of_a_name_are_no_secret():
    record = case()["case"] | {"Disease": "Disease of the first rib"}
    assert {"scadding", "sarcoidosis"} & name_words(record) == {"scadding"}
    assert not {"disease", "first", "stage"} & name_words(record) and "picture" not in TABLES["revealing"].split()


def test_what_plain_english_does_not_hold_is_found():
    for text, found in (("a <b>", "<b>"), ("&lt;b", "&lt;"), ("a {b", "{"), ("\u0431ok", "\u0431")):
        assert odd_piece(text) == found
    assert odd_piece("Schirmer < 5 mm, <5 mm, Löfgren, 3 µm, α1-antitrypsin & more") is None


def test_english_is_told_by_its_small_words():
    assert reads_english("The liver is of normal size.") and not reads_english("Die Leber hat normale Ausmaße.")
