import re
from pathlib import Path

import pytest

from components.text.analysis import STOP_WORDS, stem, terms, words
from tests.slow import slow


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


# Examples of the paper's rules, and of the two later changes (conformabli, apologi).
STEMS = {
    "caresses": "caress", "ponies": "poni", "ties": "ti", "cats": "cat", "feed": "feed", "agreed": "agre",
    "plastered": "plaster", "bled": "bled", "motoring": "motor", "sing": "sing", "conflated": "conflat",
    "troubled": "troubl", "sized": "size", "hopping": "hop", "falling": "fall", "hissing": "hiss", "fizzed": "fizz",
    "failing": "fail", "filing": "file", "happy": "happi", "sky": "sky", "relational": "relat", "conditional": "condit",
    "rational": "ration", "conformabli": "conform", "vietnamization": "vietnam", "sensibiliti": "sensibl",
    "apologi": "apolog", "geology": "geologi", "triplicate": "triplic", "formative": "form", "goodness": "good",
    "adjustment": "adjust", "adoption": "adopt", "activate": "activ", "probate": "probat", "cease": "ceas",
    "controll": "control", "roll": "roll", "is": "is", "as": "as", "y": "y", "10014078": "10014078", "β-s": "β-",
}  # fmt: skip


@pytest.mark.parametrize("word", STEMS)
def test_stems_are_those_of_the_paper(word):
    assert stem(word) == STEMS[word]


@slow
def test_an_independent_stemmer_agrees_on_many_words():
    porter = pytest.importorskip("nltk.stem.porter")
    other = porter.PorterStemmer(mode=porter.PorterStemmer.MARTIN_EXTENSIONS)
    folder = Path(__file__).resolve().parents[3] / "components"
    texts = [path.read_text("utf-8") for path in folder.rglob("*.py")]
    found = set(re.findall("[a-z0-9]+", " ".join(texts).lower()))
    assert len(found) > 5000
    assert {word: stem(word) for word in found} == {word: other.stem(word) for word in found}
