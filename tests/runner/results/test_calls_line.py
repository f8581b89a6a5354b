"""How many calls a run sent, and how many the journal answered; which score decides."""

from runner.results.sections.report import calls_line, present, status_line

SPENT = {"usd": 0.5}


def notes_of(*sessions):
    names = ("sent", "from_journal", "separate", "journal_written")
    return {"sessions": [dict(zip(names, of, strict=True)) for of in sessions], "spent": SPENT}


def test_run_that_asked_no_model_names_the_journal():
    notes = notes_of((0, 42, 0, 1_700_000_000.0))
    line = calls_line(notes)
    assert line.startswith("calls:      0 sent, 42 answered by the journal, last written 2023-11-1")
    assert line.endswith(": no model was asked")


def test_run_that_asked_a_model_does_not():
    notes = notes_of((1, 41, 2, 1_700_000_000.0))
    line = "calls:      1 sent, 41 answered by the journal; 2 of them apart from the episodes; $0.5000 in all"
    assert calls_line(notes) == line
    assert calls_line(notes_of((3, 0, 0, 1.0))) == ""


def test_resumed_run_says_how_many_samples_were_finished_before():
    before = (7_000, 5, 0, 1.0)
    line = "calls:      30 sent, 0 answered by the journal; 1,200 samples finished before (7,000 calls sent)"
    assert calls_line(notes_of(before, (30, 0, 0, 1.0)), 1200) == line
    assert calls_line(notes_of(before, (0, 0, 0, 1.0)), 1200) == line.replace("30 sent", "0 sent")


def test_score_that_decides_is_named_by_its_mean_of_means(capsys):
    facts = {"levels": {"score/x": ["task"]}, "lower": []}
    metrics = {name: {"value": 0.5, "ci_low": 0.1, "ci_high": 0.9, "n": 12} for name in ("score/x", "total/score/x")}
    totals = ("calls/total", "calls/per_sample", "cost/usd", "tokens/input", "tokens/output", "time/seconds_p50")
    rest = {name: {"value": 0} for name in totals}
    present("run", facts, {"metrics": metrics | rest, "strata": {}})
    assert "total/score/x decides; " in capsys.readouterr().out
    metrics["total/score/x"] |= {"value": 0, "ceiling": 0}
    present("run", facts, {"metrics": metrics | rest, "strata": {}})
    assert "total/score/x decides (0 is all that a perfect agent reaches of it here" in capsys.readouterr().out


def test_the_status_of_a_complete_run_has_the_records_that_are_there():
    facts = {"status": "complete", "counts": {"finished": 4, "wanted": 4, "errored": 0}}
    assert status_line(facts, 4) == "Status complete: 4 of 4 episodes finished, 0 errored."
    assert status_line(facts, 0) == "Status complete: 0 of 4 episodes are in records.jsonl, 4 were finished."
