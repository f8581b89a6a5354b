import re
from math import log
from pathlib import Path

import pytest

from components.text.bm25 import STOP_WORDS, Bm25, terms, words
from components.text.stemmer import stem
from tests.slow import slow
from tests.table import each_row

TEXTS = {"b": "renal failure", "a": "renal failure", "c": "heart failure and heart block", "d": "asthma"}


def test_scores_follow_the_formula():
    index = Bm25.over(TEXTS.items())
    (hit,) = index.search("hearts", 3)
    idf = log(1 + (4 - 1 + 0.5) / (1 + 0.5))
    average = (2 + 2 + 4 + 1) / 4
    assert hit.id == "c"
    assert hit.score == pytest.approx(idf * 2 / (2 + 0.9 * (1 - 0.4 + 0.4 * 4 / average)), abs=1e-8)


def test_a_repeated_query_term_counts_as_often_as_it_is_asked():
    index = Bm25.over(TEXTS.items())
    once, twice = index.search("asthma", 1)[0].score, index.search("asthma asthma", 1)[0].score
    assert twice == pytest.approx(2 * once)


def test_ties_are_in_the_order_of_ids_as_text():
    texts = {name: "serum sodium" for name in ("example_2", "example_10", "example_1")}
    index = Bm25.over(texts.items())
    assert [hit.id for hit in index.search("sodium", 9)] == ["example_1", "example_10", "example_2"]
    assert [hit.id for hit in index.search("sodium", 2)] == ["example_1", "example_10"]


def test_ties_do_not_depend_on_the_order_of_terms():
    texts = {"z": "alpha beta gamma delta", "a": "delta gamma beta alpha", "m": "gamma alpha delta beta"}
    found = Bm25.over(texts.items()).search("gamma delta alpha beta", 3)
    assert [hit.id for hit in found] == ["a", "m", "z"] and len({hit.score for hit in found}) == 1


def test_only_documents_that_share_a_term_are_found():
    index = Bm25.over(TEXTS.items())
    assert [hit.id for hit in index.search("failure", 9)] == ["a", "b", "c"]
    assert index.search("zebra", 9) == [] and index.search("", 9) == [] and index.search("failure", 0) == []


def test_an_index_may_be_empty():
    assert Bm25.over([]).search("failure", 3) == []
    assert Bm25.over([("a", ""), ("b", "the")]).search("the failure", 3) == []


def test_two_documents_of_one_id_are_refused():
    with pytest.raises(ValueError, match="id 'a'"):
        Bm25.over([("a", "x"), ("b", "x"), ("a", "y")])


@each_row(
    "text, expected",
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


def test_the_33_stop_words_are_not_terms():
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


@each_row("word", STEMS)
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
