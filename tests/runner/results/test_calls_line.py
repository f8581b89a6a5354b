"""How many calls a run sent, and how many the journal answered; which score decides."""

from runner.results.sections.report import calls_line, present, status_line

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


def test_resumed_run_says_how_many_samples_were_finished_before():
    notes = {"calls": {"sent": 30, "from_journal": 0}, "spent": SPENT}
    assert calls_line(notes, 1.0, 1200) == (
        "calls:      30 sent, 0 answered by the journal; 1,200 samples finished before"
    )


def test_score_that_decides_is_named_by_its_mean_of_means(capsys):
    facts = {"levels": {"score/x": ["task"]}, "lower": []}
    metrics = {name: {"value": 0.5, "ci_low": 0.1, "ci_high": 0.9, "n": 12} for name in ("score/x", "total/score/x")}
    totals = ("calls/total", "calls/per_sample", "cost/usd", "tokens/input", "tokens/output", "time/seconds_p50")
    rest = {name: {"value": 0} for name in totals}
    present("run", facts, {"metrics": metrics | rest, "strata": {}})
    assert "total/score/x decides" in capsys.readouterr().out


def test_the_status_of_a_complete_run_has_the_records_that_are_there():
    facts = {"status": "complete", "counts": {"finished": 4, "wanted": 4, "errored": 0}}
    assert status_line(facts, 4) == "Status complete: 4 of 4 episodes finished, 0 errored."
    assert status_line(facts, 0) == "Status complete: 0 of 4 episodes are in records.jsonl, 4 were finished."
