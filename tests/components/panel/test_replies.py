"""The repaired readers of a panel's replies."""

import time

from components.panel.replies import (
    NO_ANALYSIS,
    Experts,
    Report,
    Vote,
    _bare,
    clean_analysis,
    read_experts,
    read_report,
    read_vote,
)
from tests.table import each_row

TWO = ("Cardiology", "Nephrology")


@each_row(
    "raw",
    [
        "Medical Field: Cardiology | Nephrology",
        "medical fields:Cardiology|Nephrology.",
        "MEDICAL FIELDS: Cardiology|Nephrology",
        "Medical Field: Surgery | Genetics\nBetter:\nMedical Field: Cardiology | Nephrology",
        "Medical Field: Cardiology | Nephrology\nNot chosen: Surgery | Genetics",
        "Here they are:\nMedical Field:\nThe two:\nCardiology | Nephrology",
        "**Medical Field:** **Cardiology** | **Nephrology**",
        "**Medical Field**: Cardiology | Nephrology",
        "| Cardiology | Nephrology |",
        "My choice: Cardiology, Nephrology",
        "Cardiology; Nephrology.",
        "Medical Field:\n- Cardiology\n- Nephrology",
        "Medical Field:\n* Cardiology\n\n* Nephrology",
        "Medical Field:\n• Cardiology\n• Nephrology",
        "Medical Field:\n– Cardiology\n◦ Nephrology",
        "Medical Field:\n1) Cardiology\n2) Nephrology",
        "Medical Field:\n(1) Cardiology\n[2] Nephrology",
        "Medical Field:\n1. **Cardiology**\n2. **Nephrology**.",
        "Medical Field:\n- 1. Cardiology\n- 2. Nephrology",
        "Medical Field: 1. Cardiology | 2. Nephrology",
        "Medical Field: a) Cardiology | b) Nephrology",
        "Medical Field: [Cardiology] | [Nephrology]",
        "Medical Field: [Cardiology | Nephrology].",
        "Medical Field: (Cardiology) | <Nephrology>",
        "Medical Field: \"Cardiology\" | 'Nephrology'",
        "Medical Field: “Cardiology.” | «Nephrology»",
        "Medical Field: Field0: Cardiology | Field1: Nephrology",
        "Medical Field: [Field 0]: Cardiology | **Field_1**: Nephrology",
        "Medical Field: Cardiology | CARDIOLOGY | Nephrology",
        "Medical Field: Cardiology | | Nephrology |",
        "Medical Field: Cardiology | Nephrology | Surgery",
    ],
)
def test_two_fields_are_read(raw):
    assert read_experts(raw, 2) == Experts(TWO, True)


@each_row(
    "raw, expected",
    [
        ("Medical Field: Cardiology", ("Cardiology",)),
        ("Medical Field: Surgery: Vascular | Surgery (Hand)", ("Surgery: Vascular", "Surgery (Hand)")),
        ("Medical Field: Ear, Nose and Throat | Allergy", ("Ear, Nose and Throat", "Allergy")),
        ("Medical Field:\nEar, Nose and Throat\nAllergy", ("Ear, Nose and Throat", "Allergy")),
        ("Medical Field: Obstetrics/Gynecology | HIV-Medicine", ("Obstetrics/Gynecology", "HIV-Medicine")),
        ("Medical Field: Cardiología | 心脏病学", ("Cardiología", "心脏病学")),
    ],
)
def test_parts_of_a_name_are_kept_and_nothing_is_added(raw, expected):
    assert read_experts(raw, 3) == Experts(expected, True)


@each_row("raw", ["", " \n", "ERROR", "ERROR.", " ERROR. ", "Medical Field:", "Medical Field: | - |"])
def test_a_reply_without_fields_gives_one_general_expert(raw):
    assert read_experts(raw, 5) == Experts(("General Medicine",), False)


@each_row(
    "raw, yes",
    [
        ("YES", True),
        ("No.", False),
        ("**No**", False),
        ("_no_", False),
        ("- [NO], because yes would be rash", False),
        ("No inconsistency: YES", False),
        ("Nothing speaks against it: yes", True),
        ("I cannot agree, so no", False),
        ("There is no inconsistency: YES", True),
        ("Yesterday's diagnosis is unknown. No.", False),
        ("I would say yes at first, but finally NO", False),
        ("Yes/No", True),
    ],
)
def test_vote_is_a_whole_word(raw, yes):
    assert read_vote(raw) == Vote(yes, True)


@each_row("raw", ["", "ERROR.", "Nothing to add", "I know the diagnosis", "eyes", "Agreed", "I do not agree"])
def test_a_reply_without_a_vote_counts_as_a_distinguishable_yes(raw):
    assert read_vote(raw) == Vote(True, False)


@each_row(
    "raw, key, total",
    [
        ("Key Knowledge: k. \nTotal Analysis: t. \n", "k.", "t."),
        ("Well.\n**Key Knowledge:** k\n\n**Total Analysis:**\nt", "k", "t"),
        ("## Key knowledge:\n- k\n## Total analysis:\n* t", "- k", "* t"),
        ("Key Knowledge: k\nTotal Analysis: t\nTotal Analysis: u", "k", "t\nTotal Analysis: u"),
        ("Total Analysis: t\nKey Knowledge: k", "", "t\nKey Knowledge: k"),
        ("Total Analysis: t", "", "t"),
        ("Key Knowledge: k", "k", ""),
        ("Key Knowledge:\nTotal Analysis: t", "", "t"),
    ],
)
def test_report_is_read_by_its_headings(raw, key, total):
    assert read_report(raw) == Report(key, total, True)


@each_row("raw", ["", "No headings here: none.", "Total Analysis:", "Key Knowledge: \n Total Analysis: "])
def test_a_report_without_headings_or_words_is_not_read(raw):
    total = "" if raw.endswith((":", ": ")) else raw
    assert read_report(raw) == Report("", total, False)


@each_row(
    "raw, cut, expected",
    [
        ("ERROR.", False, NO_ANALYSIS),
        (" ", True, NO_ANALYSIS),
        ("One. Two is not", False, "One. Two is not"),
        ("One. Two is not", True, "One."),
        ("One. Two.", True, "One. Two."),
        ("Is it? “Yes.” And th", True, "Is it? “Yes.”"),
        ("A dose of 2.5 mg is", True, "A dose of 2.5 mg is"),
        ("Findings.\n1. Fever is present.\n2. Cough", True, "Findings.\n1. Fever is present."),
        ("It is likely. Drugs, e.g. aspirin, are", True, "It is likely."),
        ("As an AI language model, I see fever.", False, "As an AI language model, I see fever."),
    ],
)
def test_analysis_is_cleaned(raw, cut, expected):
    assert clean_analysis(raw, cut) == expected


@each_row("text", ["*" * 50_000, " " * 50_000 + "x", "medical " * 6_000, "[" * 5_000, "1." * 5_000, ". " * 25_000])
def test_endless_replies_are_read_in_bounded_time(text):
    started = time.process_time()
    read_experts(text, 5), read_vote(text), read_report(text), clean_analysis(text, True)
    assert time.process_time() - started < 2  # seconds of CPU; where time grew with a power it would be hours


@each_row("piece", ["(", "[", "{", "<", "1. ", "* "])
def test_a_reply_of_brackets_is_read_quickly(piece):
    began = time.perf_counter()
    _bare(piece * 100_000)
    assert time.perf_counter() - began < 5
