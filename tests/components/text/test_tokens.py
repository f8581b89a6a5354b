"""The quick way to words, against the rules."""

from random import Random

from components.text.token_rules import split_words
from components.text.tokens import _is_plain, _quick, words

PIECES = [
    "dr", "ct", "nodule", "18", "2.9", "mm", "x", "e.g", "and/or", "5-10", "1,000", "3:15", "70%", "(", "[", ")", "]",
    '"', "'", "patient's", "'s", "cannot", ",", ":", ";", ".", "?", ". ", ". ", " ", " ", " ", ", ", "mid-ct", "t2",
    "+3", "-5", "/", "=", "ö",
]  # fmt: skip


def test_plain_texts_are_split_as_by_the_rules() -> None:
    rng = Random(0)
    texts = ["".join(rng.choice(PIECES) for _ in range(rng.randint(1, 12))) for _ in range(20_000)]
    plain = [text for text in texts if _is_plain(text)]
    assert len(plain) > 5_000
    assert [text for text in plain if _quick(text) != split_words(text)] == []


def test_ordinary_reports_are_plain() -> None:
    text = 'ct study. findings: a nodule of 18 mm (right lobe), see [anomaly mask]; it cannot be "cystic". is it new?'
    assert _is_plain(text)


def test_words_are_in_lower_case_whatever_the_text() -> None:
    assert words("The Wall.") == ("the", "wall", ".")
    assert words("It ISN'T — new") == ("it", "is", "n't", "—", "new")
    assert words("") == ()
