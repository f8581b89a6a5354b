import pytest

from components.text.confidence import read_percentage, split_bar, split_line
from tests.table import each_row

READ = {
    "80": 0.8, "80 %": 0.8, "80%.": 0.8, "7.5 percent": 0.075, " 95/100 ": 0.95, "<100>": 1.0, '"60"': 0.6, "0": 0.0,
    "1 %": 0.01, "0.5%": 0.005,
}  # fmt: skip


@each_row("text", READ)
def test_a_percentage_is_a_share(text):
    assert read_percentage(text) == pytest.approx(READ[text])


@each_row("text", [None, "", "high", "null", "101", "-5", "80-90", "about 80", "0.8", "1", "1.0", "true", "eighty"])
def test_what_cannot_be_read_or_could_be_a_share_is_not_stated(text):
    assert read_percentage(text) is None


def test_the_last_line_counts_and_none_is_left_in_the_text():
    assert split_line("Confidence: 10\nAnswer: B\n**Confidence:** 80 %") == ("Answer: B", "80 %")
    assert split_line("Answer: B, in confidence") == ("Answer: B, in confidence", None)


def test_only_the_end_behind_a_bar_is_cut_off():
    assert split_bar("5 | confidence: 70") == ("5", "70")
    assert split_bar("a | b") == ("a | b", None)
