"""The log of a study."""

from runner.study import log


def test_a_run_keeps_the_digest_of_a_line_that_was_cut_after_it_saw_it(tmp_path):
    study = tmp_path / "study.yaml"
    path = log.file_of(study)
    for event in ("frozen", "look"):
        log.add(study, {"event": event})
    whole, seen = path.read_text(), log.last(study, "")
    path.write_text(whole.splitlines(keepends=True)[0])
    log.add(study, {"event": "resumed"})
    notes = {"protocol": {"study": str(study), "log": seen}}
    log.note_end(notes)
    assert notes["protocol"]["log"] == seen and not log.has(study, seen)
    path.write_text(whole)
    log.add(study, {"event": "resumed"})
    log.note_end(notes)
    assert notes["protocol"]["log"] != seen and log.has(study, notes["protocol"]["log"])
