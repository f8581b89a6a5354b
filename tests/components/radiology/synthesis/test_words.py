from components.radiology.synthesis.checks import TABLES, numbers, odd_piece, plural_aware, sentences, words
from components.radiology.synthesis.question_checks import question_flaws
from tests.components.radiology.synthesis.sound import case


def test_words_numbers_and_sentences():
    assert words("X-ray of T8, 3.5 cm") == ["x-ray", "of", "t8", "3", "5", "cm"]
    assert numbers("3.5 cm and 14 mm") == {"3.5", "14"}
    assert sentences("It is 3.5 cm. Is it? Yes") == 2


def test_a_word_is_known_in_its_plural_and_as_a_part():
    assert {"mass", "masse", "plain", "film", "films"} <= plural_aware("masses plain-films") | {"mass"}


def test_ordinary_words_of_a_name_are_not_secret():
    entry = case()
    entry["case"]["Disease"] = "Disease of the first rib"
    for text, flaw in (("Is it the first stage of a disease?", ""), ("Is it the rib of Scadding?", "'scadding'")):
        entry["QA"]["014"]["Q"] = text
        away = [one for one in question_flaws(entry["case"], entry["QA"]) if "gives away" in one]
        assert away == ([f"014: the question gives away {flaw}"] if flaw else [])
    assert "picture" not in TABLES["revealing"].split()


def test_words_outside_plain_english_are_found():
    for text, found in (("a <b>", "<b>"), ("&lt;b", "&lt;"), ("a {b", "{"), ("\u0431ok", "\u0431")):
        assert odd_piece(text) == found
    assert odd_piece("Schirmer < 5 mm, <5 mm, Löfgren, 3 µm, α1-antitrypsin & more") is None
