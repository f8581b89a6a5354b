import pytest

from components.models.simulated.skills.sql_words import Unreadable, Words


def test_words_are_read_from_left_to_right_in_any_case():
    words = Words.of("SELECT t.a FROM t")
    words.expect("select")
    assert words.peek() == "t.a" and words.next() == "t.a"
    assert not words.accept("where") and words.accept("from") and words.next() == "t"
    words.expect("")


@pytest.mark.parametrize("sql,text", [("'o''hara'", "o'hara"), ("12.5", "12.5"), ("-3", "-3")])
def test_literals_lose_their_quotes(sql, text):
    assert Words.of(sql).literal() == text


@pytest.mark.parametrize("sql", ["''", "'null'", "' a'", "'a||b'", "'\"a\"'", "column", ""])
def test_what_a_filter_would_read_otherwise_is_no_literal(sql):
    with pytest.raises(Unreadable):
        Words.of(sql).literal()


@pytest.mark.parametrize("read", [Words.next, Words.fail, Words.sign, lambda words: words.expect("where")])
def test_what_does_not_fit_is_unreadable(read):
    with pytest.raises(Unreadable):
        read(Words.of(""))
