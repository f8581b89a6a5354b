import re
from pathlib import Path

import pytest

from components.cab.scorers.texts import stem
from tests.slow import slow
from tests.table import each_row

STEMS = {
    "skies": "sky", "dying": "die", "news": "news", "dies": "die", "flies": "fli", "died": "die", "spied": "spi",
    "days": "day", "happy": "happi", "enjoy": "enjoy", "daily": "daili", "radically": "radic", "hopefully": "hope",
    "geology": "geolog", "aged": "age", "feed": "feed", "agreed": "agre", "hopping": "hop", "controll": "control",
    "is": "is", "proceed": "proceed",
}  # fmt: skip


@each_row("word", STEMS)
def test_stems(word):
    assert stem(word) == STEMS[word]


@slow
def test_the_stemmer_of_rouge_score_agrees_on_many_words():
    other = pytest.importorskip("nltk.stem.porter").PorterStemmer()
    folder = Path(__file__).resolve().parents[4] / "components"
    texts = [path.read_text("utf-8") for path in folder.rglob("*") if path.suffix in (".py", ".yaml", ".jinja")]
    found = set(re.findall("[a-z0-9]+", " ".join(texts).lower())) | set(STEMS)
    made = {
        ending + end
        for ending in found
        for end in ("s", "ed", "ing", "y", "ally", "ologies", "fully")
        if len(ending) < 5
    }
    assert len(found) > 2000
    assert {word: stem(word) for word in found | made} == {word: other.stem(word) for word in found | made}
