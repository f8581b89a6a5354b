"""Data are told by choice, with their class."""

import json

from runner.checkup import data
from tests.runner.checkup.lines import line


def test_data_are_found_by_choice_with_their_class(tmp_path, monkeypatch):
    file = tmp_path / "data" / "medqa" / "US" / "4_options" / "phrases_no_exclude_test.jsonl"
    file.parent.mkdir(parents=True)
    row = {"question": "Which?", "answer": "x", "answer_idx": "A", "options": dict.fromkeys("ABCD", "x")}
    file.write_text(json.dumps(row) + "\n")
    (tmp_path / "data" / "pubmedqa").mkdir()
    monkeypatch.setenv("CLINICAL_DATA_DIR", str(tmp_path / "data"))
    lines = data.data()
    assert (line(lines, "medqa").mark, line(lines, "medqa").found) == ("ok", "open; there")
    assert line(lines, "pubmedqa").mark == "-"
    assert line(lines, "emrqa").found == "credentialed; no $CLINICAL_DATA_DIR/emrqa"
    assert line(lines, "radabench_mini").found == "open; shipped" and line(lines, "mmlu/anatomy").mark == "-"
    assert line(lines, "perturbed").found == "open; made of another, cab_mini if none is named"
    assert line(lines, "perturbed").mark == "ok"
    assert line(lines, "CLINICAL_DATA_DIR").mark == "ok"
