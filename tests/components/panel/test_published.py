"""The published readers: their defects are kept."""

import pytest

from components.panel.replies import (
    READERS,
    Experts,
    Report,
    UnreadableReport,
    Vote,
    published_experts,
    published_report,
    published_vote,
)
from components.text.answers import published_letter
from tests.table import each_row


@each_row(
    "raw, expected",
    [
        ("Option: C", "C"), ("Answer D", "A"), ("ERROR.", "E"), ("", ""), ("Option: maybe", ""), ("B: none", ""),
        ("Option: F or D", "D"), ("Option: E\nReason: Aspirin", "A"),
    ],
)  # fmt: skip
def test_letter_is_the_first_capital_after_the_last_colon(raw, expected):
    assert published_letter(raw) == expected


@each_row(
    "raw, expected",
    [
        ("Medical Field: Cardiology | Neurology", Experts(("Cardiology", "Neurology"), True)),
        ("Medical Field: A|B |  C", Experts(("A|B", " C"), True)),
        ("Medical Field: A | A | B", Experts(("A", "A", "B"), True)),
        ("ERROR.", Experts(("General Medicine", "General Medicine"), False)),
        ("ERROR", Experts(("ERROR",), True)),
        ("", Experts(("",), True)),
    ],
)
def test_experts_are_neither_cleaned_nor_counted(raw, expected):
    assert published_experts(raw, 2) == expected


@each_row(
    "raw, yes, parsed",
    [
        ("Yes", True, True), ("A diagnosis: YES", False, True), ("YES, I know", True, True), ("eyes", True, True),
        ("maybe", True, False),
    ],
)  # fmt: skip
def test_vote_is_the_first_run_of_letters(raw, yes, parsed):
    assert published_vote(raw) == Vote(yes, parsed)


def test_report_loses_key_knowledge_and_what_follows_a_second_heading():
    raw = "Key Knowledge: k\nTotal Analysis: one\nTotal Analysis: two"
    assert published_report(raw) == Report("", "one", True)


@each_row("raw", ["", "Key Knowledge: k", "total analysis: in small letters"])
def test_report_without_the_heading_cannot_be_read(raw):
    with pytest.raises(UnreadableReport, match="no heading 'Total Analysis:'"):
        published_report(raw)


def test_profiles_differ_where_the_published_code_errs():
    repaired, published = READERS["repaired"], READERS["published"]
    assert repaired.vote("diagnosis: YES").yes and not published.vote("diagnosis: YES").yes
    assert repaired.report("all of it").total_analysis == "all of it"
    with pytest.raises(UnreadableReport):
        published.report("all of it")
    assert repaired.experts("ERROR.", 2).fields == ("General Medicine",)
    assert published.experts("ERROR.", 2).fields == ("General Medicine", "General Medicine")
