import pytest

from components.text.analysis import STOP_WORDS, terms, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5 mg/dL, twice", ["5", "mg", "dL", "twice"]),
        ("the patient's and the patient’s", ["the", "patient's", "and", "the", "patient’s"]),
        ("U.S.A. a:b a·b x.5 5.x B12.5", ["U.S.A", "a:b", "a·b", "x", "5", "5", "x", "B12.5"]),
        ("1,000.5 1;2 12:30 1, 2", ["1,000.5", "1;2", "12", "30", "1", "2"]),
        ("a,b a;b rock'n'roll 'quoted'", ["a", "b", "a", "b", "rock'n'roll", "quoted"]),
        ("snake_case _x_ ___ -- ...", ["snake_case", "_x_"]),
        ("x² H₂O ½ cup", ["x", "H", "O", "cup"]),
        ("TNF-α cafe\u0301.x", ["TNF", "α", "cafe\u0301.x"]),
        ("心電図 a", ["心", "電", "図", "a"]),
        ("Cockcroft-Gault CHA2DS2-VASc", ["Cockcroft", "Gault", "CHA2DS2", "VASc"]),
        ("", []),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


def test_terms_are_lower_case_stems_without_possessives():
    assert terms("The PATIENT’s Operations and the patient's diagnoses") == ["patient", "oper", "patient", "diagnos"]


def test_the_33_stop_words_are_no_terms():
    assert len(STOP_WORDS) == 33
    assert terms(" ".join(STOP_WORDS).upper()) == []
    assert terms("who has it") == ["who", "ha"]


def test_a_stop_word_with_a_possessive_is_still_one():
    assert terms("it's there's") == []
