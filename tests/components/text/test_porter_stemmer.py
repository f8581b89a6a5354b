import re
from pathlib import Path

import pytest

from components.text.porter_stemmer import stem
from tests.slow import slow

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
    folder = Path(__file__).resolve().parents[2] / "components"
    texts = [path.read_text("utf-8") for path in folder.glob("*.py")]
    found = set(re.findall("[a-z0-9]+", " ".join(texts).lower()))
    assert len(found) > 1000
    assert {word: stem(word) for word in found} == {word: other.stem(word) for word in found}
