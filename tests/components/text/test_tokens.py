"""Words and sentences as NLTK finds them; plain texts split at once, against the rules."""

from itertools import product
from random import Random

from components.text.tokens import _is_plain, _split_plain, ends_before, sentences, split_words, words
from tests.table import each_row

PIECES = [
    "dr", "ct", "nodule", "18", "2.9", "mm", "x", "e.g", "and/or", "5-10", "1,000", "3:15", "70%", "(", "[", ")", "]",
    '"', "'", "patient's", "'s", "cannot", ",", ":", ";", ".", "?", ". ", ". ", " ", " ", " ", ", ", "mid-ct", "t2",
    "+3", "-5", "/", "=", "ö",
]  # fmt: skip


def test_plain_texts_are_split_as_by_the_rules() -> None:
    rng = Random(0)
    texts = ["".join(rng.choice(PIECES) for _ in range(rng.randint(1, 12))) for _ in range(6_000)]
    plain = [text for text in texts if _is_plain(text)]
    assert len(plain) > 1_500
    assert [text for text in plain if _split_plain(text) != split_words(text)] == []


def test_ordinary_reports_are_plain() -> None:
    text = 'ct study. findings: a nodule of 18 mm (right lobe), see [anomaly mask]; it cannot be "cystic". is it new?'
    assert _is_plain(text)


def test_words_are_in_lower_case_whatever_the_text() -> None:
    assert words("The Wall.") == ("the", "wall", ".")
    assert words("It ISN'T — new") == ("it", "is", "n't", "—", "new")
    assert words("") == ()


# What NLTK 3.9.1 makes of these, with a Punkt splitter that knows the same abbreviations.
CASES = [
    ("the patient's wall isn't 5 mm thick (mild).", "the patient 's wall is n't 5 mm thick ( mild ) ."),
    ("he can't, they're sure; i'm not. we cannot.", "he ca n't , they 're sure ; i 'm not . we can not ."),
    ("dr. who saw the ct. on monday. all fine.", "dr. who saw the ct. on monday . all fine ."),
    (
        "grade 2. nodules of 2.9 cm; ratio 3:15, dose 1,000 mg.",
        "grade 2. nodules of 2.9 cm ; ratio 3:15 , dose 1,000 mg .",
    ),
    ('see [organ mask]. then "quoted text". end?', "see [ organ mask ] . then `` quoted text '' . end ?"),
    ("wait... really?! yes -- no.", "wait ... really ? ! yes -- no ."),
    ("“curly quotes” and ‘single’ ones.", "“ curly quotes ” and ‘ single ’ ones ."),
    ("he said: 'stop it'.", "he said : 'stop it ' ."),
    ("**bold** text\n\n- item one\n- item two, 70%.", "* * bold * * text - item one - item two , 70 % ."),
    ("(see fig.), then (ends here.) next one.", "( see fig . ) , then ( ends here . ) next one ."),
    ("'tis gonna be more'n enough, gimme it", "'t is gon na be more 'n enough , gim me it"),
    ("x. y ends. a u.s. state, e.g. ohio.", "x. y ends . a u.s. state , e.g. ohio ."),
    ("and/or t2-weighted, #5 @ $3.88 & <tag> {x}", "and/or t2-weighted , # 5 @ $ 3.88 & < tag > { x }"),
]


@each_row("text, expected", CASES)
def test_words(text: str, expected: str) -> None:
    assert split_words(text) == list(words(text)) == expected.split()


def test_sentences_take_their_closing_marks_along() -> None:
    assert list(sentences('(one.) two. "three?" four')) == ["(one.)", "two.", '"three?"', "four"]
    assert list(sentences("")) == list(sentences("  ")) == []


def test_sentence_endings() -> None:
    assert ends_before("wall.", "the") and ends_before("2.", "(") and ends_before("?", "the")
    for token in ("2.", "x.", "dr.", "non-dr.", "e.g.", "..."):
        assert not ends_before(token, "the")
    assert not ends_before("wall", "the") and not ends_before("2.", ",")


def test_a_blank_line_is_a_blank_to_the_rules() -> None:
    for end, start in product(
        ("mass.", "3.", "e.g.", "dr.", "a 5", "lobe", "9 mm..", "u.s."), ("the", "5 mm", "e.g. it", "(b)")
    ):
        text = f"It shows a {end}\n\n{start} is small, of 1.5 cm."
        assert list(words(text)) == split_words(text.lower()), text
