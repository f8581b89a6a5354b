"""How many calls a run sent, and how many the journal answered."""

from runner.results.sections.report import calls_line

SPENT = {"usd": 0.5}


def test_run_that_asked_no_model_names_the_journal():
    notes = {"calls": {"sent": 0, "from_journal": 42, "beside": 0}, "spent": SPENT}
    line = calls_line(notes, 1_700_000_000.0)
    assert line.startswith("calls:      0 sent, 42 answered by the journal, last written 2023-11-1")
    assert line.endswith(": no model was asked")


def test_run_that_asked_a_model_does_not():
    notes = {"calls": {"sent": 1, "from_journal": 41, "beside": 2}, "spent": SPENT}
    line = "calls:      1 sent, 41 answered by the journal; 2 of them apart from the episodes; $0.5000 in all"
    assert calls_line(notes, 1_700_000_000.0) == line
    assert calls_line({"calls": {"sent": 3, "from_journal": 0}, "spent": SPENT}, 1.0) == ""
